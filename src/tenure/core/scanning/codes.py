"""The codes in which a run of characters can say something else, and what each says.

A run is found by its shape and read only where what it says is text: pictures, digests and long words that
merely look like a code stay as they are.
"""

import base64
import binascii
import html
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from tenure.core.scanning.normalising import START_CHARACTERS, View, plain

RUN_CHARACTERS_MIN = 16
RUNS_MAX = 128
DECODED_CHARACTERS_MAX = 32_768
_READABLE_SHARE_MIN = 0.9
_NUMBERS_MIN = 3
_MORSE_MARKS_MIN = 4

# Every code begins where no character of its own alphabet stands before it, so no run is tried twice.
_OCTET = "[0-9a-fA-F]{2}"
_PERCENT = rf"(?<![\w.~+!*'()-])[\w.~+!*'()-]*+(?:%{_OCTET}[\w.~+!*'()-]*+){{3,}}+"
_QUOTED = r"(?<![\w.,;:!?'()-])[\w.,;:!?'()-]*+(?:=[0-9A-F]{2}[\w.,;:!?'()-]*+){3,}+"
_ENTITY = r"(?:&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});)++"
_ESCAPED = rf"(?:\\x{_OCTET}|\\u[0-9a-fA-F]{{4}}|\\u\{{[0-9a-fA-F]{{1,6}}\}}|(?<![A-Za-z]:)\\[nrt])++"
_HEXADECIMAL = rf"(?<![0-9a-zA-Z])(?:0x)?(?:{_OCTET}){{8,}}+(?![0-9a-zA-Z])"
_BASE64 = r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{16,}+={0,6}|[A-Za-z0-9+/_-]{12,15}+={1,2})"
# Each code with a sign that all its runs have, so that a text without the sign is not searched for it.
_SIGNED = (
    ("%", f"(?P<percent>{_PERCENT})"),
    ("=", f"(?P<quoted>{_QUOTED})"),
    ("&", f"(?P<entity>{_ENTITY})"),
    ("\\", f"(?P<escaped>{_ESCAPED})"),
)
_UNSIGNED = f"(?P<hexadecimal>{_HEXADECIMAL})|(?P<base64>{_BASE64})"
# Codes whose characters stand apart: octets, numbers of characters, Morse.
_NUMBERS_APART = re.compile(
    rf"(?P<binary>(?<![0-9])[01]{{8}}(?:[\s,]{{0,2}}+[01]{{8}}){{3,}}+(?![0-9]))"
    rf"|(?P<octets>(?<![0-9a-zA-Z])(?:0x)?{_OCTET}(?:[\s:,]{{1,2}}+(?:0x)?{_OCTET}){{7,}}+(?![0-9a-zA-Z]))"
    r"|(?P<numbers>(?<![0-9a-zA-Z])[0-9]{2,3}(?:[\s,;]{1,3}+[0-9]{2,3}){7,}+(?![0-9a-zA-Z]))"
)
_MORSE_APART = re.compile(r"(?P<morse>(?<![.-])[.-]{1,5}(?:[ /|]{1,4}+[.-]{1,5}){5,}+(?![.-]))")
_OCTETS = frozenset(f"{octet:02x}" for octet in range(256))
# How a word begins that can be a part of such a code.
_APART_STARTS = (
    _OCTETS
    | {f"0x{octet}" for octet in _OCTETS}
    | {f"{number:0{digits}}" for digits in (2, 3) for number in range(10**digits)}
    | {f"{bits:0{START_CHARACTERS}b}" for bits in range(2**START_CHARACTERS)}
)
_ESCAPE = re.compile(r"\\(?:x(?P<octet>..)|u\{?(?P<point>[0-9a-fA-F]+)\}?|(?P<blank>[nrt]))")
_BASE32 = re.compile("[A-Z2-7]{16,}={0,6}")
_MARKS_OF_ONE = frozenset(("entity", "escaped"))
_STANDARD_ALPHABET = str.maketrans("-_", "+/")
_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..-"
    " -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
)
_MORSE = dict(zip(_SIGNS.split(), "abcdefghijklmnopqrstuvwxyz0123456789", strict=True))


def may_hold_runs(view: View) -> bool:
    """Whether there may be a run: cheap looks that ordinary text does not pass."""
    text = view.text
    return _has_long_run(text) or "&" in text or "\\" in text or _may_stand_apart(view)


def _has_long_run(text: str) -> bool:
    return max(map(len, text.split()), default=0) >= RUN_CHARACTERS_MIN


def _may_stand_apart(view: View) -> bool:
    """Whether there are numbers enough for a code in them, or the marks of Morse."""
    return _may_hold_numbers(view) or _may_hold_morse(view)


def _may_hold_numbers(view: View) -> bool:
    starts = view.starts
    if len(starts) - sum(map(str.isalpha, starts)) < _NUMBERS_MIN:
        return False
    return not starts.isdisjoint(_APART_STARTS)


def _may_hold_morse(view: View) -> bool:
    return view.text.count(".-") + view.text.count("-.") >= _MORSE_MARKS_MIN


def readable_runs(view: View) -> Iterator[tuple[int, int, str]]:
    """Each run that reads as text: where it stands and what it says, from left to right, none inside another.

    Past the bounds it raises ValueError: a text with so much hidden in it must not pass for scanned.
    """
    found = length = done = 0
    for match in _matches(view):
        code = match.lastgroup or ""
        for start, end in _stretches(match):
            read = _read(view.text[start:end], code) if start >= done else None
            if read is None:
                continue
            done = end
            found += code not in _MARKS_OF_ONE
            length += len(read)
            if found > RUNS_MAX or length > DECODED_CHARACTERS_MAX:
                raise ValueError("too much is hidden in the text to read all of it")
            yield start, end, read
            break


@lru_cache(maxsize=1 << len(_SIGNED))
def _runs_with(signs: str) -> re.Pattern[str]:
    """The shapes of the runs that a text with these signs may hold."""
    return re.compile("|".join([*(shape for sign, shape in _SIGNED if sign in signs), _UNSIGNED]))


def _matches(view: View) -> list[re.Match[str]]:
    """What has the shape of a run, by its place."""
    text = view.text
    signs = "".join(sign for sign, _ in _SIGNED if sign in text)
    found: list[re.Match[str]] = []
    if _may_hold_numbers(view):
        found += _NUMBERS_APART.finditer(text)
    if _may_hold_morse(view):
        found += _MORSE_APART.finditer(text)
    # Without a sign a run is long: what is shorter has one at its end.
    if signs or _has_long_run(text):
        found += _runs_with(signs).finditer(text)
    return sorted(found, key=re.Match.start)


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
        read = _READERS[code](run)
    except (ValueError, OverflowError, binascii.Error):
        return None
    readable = sum(character.isprintable() or character.isspace() for character in read)
    if readable < _READABLE_SHARE_MIN * max(len(read), 1):
        return None
    return plain(read)


def _from_base(run: str) -> str:
    """What the run says in base32, else in either base64 alphabet, with or without its padding."""
    letters = run.rstrip("=")
    if _BASE32.fullmatch(run):
        try:
            return base64.b32decode(letters + "=" * (-len(letters) % 8)).decode("utf-8")
        except (ValueError, binascii.Error):
            pass
    letters = letters.translate(_STANDARD_ALPHABET)
    return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True).decode("utf-8")


def _from_escapes(run: str) -> str:
    """What a string literal's escapes say; octets are those of UTF-8."""
    octets = bytearray()
    for escape in _ESCAPE.finditer(run):
        if escape["octet"]:
            octets.append(int(escape["octet"], 16))
        elif escape["point"]:
            octets += chr(int(escape["point"], 16)).encode("utf-8")
        else:
            octets += b"\n"
    return octets.decode("utf-8")


def _from_numbers(run: str) -> str:
    """What the numbers of characters say."""
    return bytes(map(int, re.findall("[0-9]+", run))).decode("ascii")


def _from_morse(run: str) -> str:
    """What the dots and dashes say; a stroke parts two words."""
    words = re.split(r"\s*[/|]\s*| {3,}", run)
    return " ".join("".join(_MORSE.get(sign, "?") for sign in word.split()) for word in words)


def _from_octets(run: str) -> str:
    return bytes(int(octet, 16) for octet in re.findall(f"(?:0x)?({_OCTET})", run)).decode("utf-8")


_READERS = {
    "percent": lambda run: unquote_to_bytes(run).decode("utf-8"),
    "quoted": lambda run: unquote_to_bytes(run.replace("=", "%")).decode("utf-8"),
    "entity": html.unescape,
    "escaped": _from_escapes,
    "hexadecimal": lambda run: bytes.fromhex(run.removeprefix("0x")).decode("utf-8"),
    "base64": _from_base,
    "binary": lambda run: bytes(int(octet, 2) for octet in re.findall("[01]{8}", run)).decode("utf-8"),
    "octets": _from_octets,
    "numbers": _from_numbers,
    "morse": _from_morse,
}
