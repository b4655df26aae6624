"""What a text hides in base64, hexadecimal, percent signs or tag characters, read once and never nested.

A decoded view is the text with each run that reads as text put in its place, so that words before, inside
and behind a run are seen together. Runs that hold bytes, such as pictures and digests, stay as they are.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from tenure.core.scanning.normalising import Form, Piece, View, plain, view_of

RUN_CHARACTERS_MIN = 16
RUNS_MAX = 128
DECODED_CHARACTERS_MAX = 32_768
_READABLE_SHARE_MIN = 0.9

# Every code begins where no character of its own alphabet stands before it, so no run is tried twice.
_HEXADECIMAL = r"(?<![0-9a-zA-Z])(?:0x)?(?:[0-9a-fA-F]{2}){8,}+(?![0-9a-zA-Z])|(?:\\x[0-9a-fA-F]{2}){4,}+"
_PERCENT = r"(?<![\w.~+!*'()-])[\w.~+!*'()-]*+(?:%[0-9a-fA-F]{2}[\w.~+!*'()-]*+){3,}+"
_BASE64 = r"[A-Za-z0-9+/_-]{16,}+={0,2}"
_RUN = re.compile(f"(?P<percent>{_PERCENT})|(?P<hexadecimal>{_HEXADECIMAL})|(?P<base64>{_BASE64})")
_TAG = re.compile("[\U000e0020-\U000e007e]")
_TAG_OFFSET = 0xE0000


def views_of(content: str) -> tuple[View, ...]:
    """The content in plain form, and one view more for each way in which something was hidden in it."""
    first = view_of(content, plain(content))
    views = [first]
    if not content.isascii() and (hidden := _tagged(content)):
        views.append(view_of(content, hidden, form=Form.TAGGED))
    if _may_hold_runs(first.text) and (decoded := _decoded(first)) is not None:
        views.append(decoded)
    return tuple(views)


def _tagged(content: str) -> str:
    """The text written in tag characters, which no reader sees and every model does."""
    return "".join(chr(ord(tag) - _TAG_OFFSET) for tag in _TAG.findall(content))


def _may_hold_runs(text: str) -> bool:
    """Whether there is a word long enough to be a run: one cheap look that ordinary text does not pass."""
    return max(map(len, text.split()), default=0) >= RUN_CHARACTERS_MIN


def _decoded(view: View) -> View | None:
    """The view with its runs read, or None when none of them reads as text."""
    pieces: list[Piece] = []
    parts: list[str] = []
    length = done = 0

    def put(part: str, below_start: int, below_end: int, *, decoded: bool) -> None:
        nonlocal length, done
        if part:
            pieces.append(
                Piece(
                    start=length,
                    end=length + len(part),
                    below_start=below_start,
                    below_end=below_end,
                    decoded=decoded,
                )
            )
            parts.append(part)
        length += len(part)
        done = below_end

    for start, end, read in _readable_runs(view.text):
        put(view.text[done:start], done, start, decoded=False)
        put(read, start, end, decoded=True)
    if not pieces:
        return None
    put(view.text[done:], done, len(view.text), decoded=False)
    return view_of(view.content, "".join(parts), form=Form.DECODED, below=view, pieces=tuple(pieces))


def _readable_runs(text: str) -> Iterator[tuple[int, int, str]]:
    """Each run that reads as text: where it stands and what it says.

    Past the bounds it raises ValueError: a text with so much hidden in it must not pass for scanned.
    """
    found = length = 0
    for match in _RUN.finditer(text):
        for start, end in _stretches(match):
            read = _read(text[start:end], match.lastgroup or "")
            if read is None:
                continue
            found += 1
            length += len(read)
            if found > RUNS_MAX or length > DECODED_CHARACTERS_MAX:
                raise ValueError("too much is hidden in the text to read all of it")
            yield start, end, read
            break


def _stretches(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The run as a whole, then its longest part: a path or a name may stand glued before the code."""
    yield match.span()
    if match.lastgroup == "base64":
        longest = max(re.finditer("[A-Za-z0-9+=]+", match[0]), key=_length, default=None)
        if longest is not None and _length(longest) >= RUN_CHARACTERS_MIN:
            yield match.start() + longest.start(), match.start() + longest.end()


def _length(match: re.Match[str]) -> int:
    return match.end() - match.start()


def _read(run: str, code: str) -> str | None:
    """What the run says, or None when that is not text."""
    try:
        if code == "percent":
            octets = unquote_to_bytes(run)
        elif code == "hexadecimal":
            octets = bytes.fromhex(run.replace("\\x", "").removeprefix("0x"))
        else:
            octets = _from_base64(run)
        read = octets.decode("utf-8")
    except (ValueError, binascii.Error):
        return None
    readable = sum(character.isprintable() or character.isspace() for character in read)
    if readable < _READABLE_SHARE_MIN * max(len(read), 1):
        return None
    return plain(read)


def _from_base64(run: str) -> bytes:
    """The octets of either base64 alphabet, with or without its padding."""
    letters = run.rstrip("=").translate(_STANDARD_ALPHABET)
    return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)


_STANDARD_ALPHABET = str.maketrans("-_", "+/")
