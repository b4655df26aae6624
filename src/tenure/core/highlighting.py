"""What a reviewer is shown of a text: what was found where, nothing invisible, no credential (SPEC L6). Pure.

Laws: the shown text has an escape for each character that shows nothing or turns others round, and for each
backslash that would pose as one; a credential is masked in it, character for character, before anything is
cut out; every excerpt is bounded, whatever a finding covers.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import msgspec

from tenure.core.memory import Memory
from tenure.core.read_scanning import text_of
from tenure.core.scanning import FindingKind
from tenure.core.scanning.normalising import INVISIBLE
from tenure.core.vocabulary import Claim, Verdict

MASK: Final = "•"
AROUND_CHARACTERS_MAX: Final = 60
MARKED_CHARACTERS_MAX: Final = 200
HIGHLIGHTS_MAX: Final = 50
"""So many findings of one memory are shown; the memory itself names all."""

_CUT: Final = "…"
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]")
_POSING: Final = re.compile(r"\\(?=u\{)")
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LINES: Final = "\n\t"


class Highlight(Verdict, frozen=True, kw_only=True, gc=False):
    """A finding with the stretch of the shown text that it is about, ready to be put before a person.

    ``start`` and ``end`` are places in what was scanned, as they are stored; ``shown_start`` and
    ``shown_end`` are places in the shown text. The excerpt is what stands before, what is marked, and what
    follows.
    """

    shown_start: int
    shown_end: int
    excerpt: tuple[str, str, str]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What was scanned of a memory, as a person may look at it, with what was found in it."""

    text: str
    highlights: tuple[Highlight, ...]


def show(memory: Memory) -> Shown:
    """The text that a memory's findings are about, and the findings in it."""
    text = _without_credentials(text_of(memory), memory.findings)
    pieces = [visible(character) for character in text] if _has_hidden(text) else list(text)
    # A backslash poses as an escape only together with what follows it.
    for posing in _POSING.finditer(text):
        pieces[posing.start()] = _escape("\\")
    places = [0, *accumulate(map(len, pieces))]
    shown = "".join(pieces)
    found = [_highlight(one, shown, places) for one in memory.findings[:HIGHLIGHTS_MAX]]
    return Shown(text=shown, highlights=tuple(found))


def masked(memory: Memory) -> Memory:
    """The memory with its credentials masked, character for character, wherever they stand in it."""
    if all(finding.kind != FindingKind.CREDENTIAL for finding in memory.findings):
        return memory
    parts = _parts(memory)
    text = _without_credentials("\n".join(parts), memory.findings)
    rest = iter(_apart(text, parts))
    claim, source = memory.claim, memory.source
    content = next(rest) if memory.content is not None else None
    if claim is not None:
        claim = Claim(entity=next(rest), attribute=next(rest), value=next(rest))
    key = next(rest) if memory.key is not None else None
    if source.uri is not None:
        source = msgspec.structs.replace(source, uri=next(rest))
    return msgspec.structs.replace(memory, content=content, claim=claim, key=key, source=source)


def visible(character: str) -> str:
    """The character, or an escape where it shows nothing or turns others round."""
    return _escape(character) if _is_hidden(character) else character


def _parts(memory: Memory) -> list[str]:
    """What that text is joined of, a line apart, in its order."""
    claim = memory.claim
    claimed = () if claim is None else (claim.entity, claim.attribute, claim.value)
    parts = (memory.content, *claimed, memory.key, memory.source.uri)
    return [part for part in parts if part is not None]


def _apart(text: str, parts: Sequence[str]) -> list[str]:
    """The stretches of a joined text that lie where these parts lay."""
    starts = [0, *accumulate(len(part) + 1 for part in parts)]
    return [text[start : start + len(part)] for start, part in zip(starts, parts, strict=False)]


def _without_credentials(text: str, findings: Sequence[Verdict]) -> str:
    for finding in findings:
        if finding.kind == FindingKind.CREDENTIAL:
            stretch = text[finding.start : finding.end]
            cover = "".join(letter if letter == "\n" else MASK for letter in stretch)
            text = text[: finding.start] + cover + text[finding.start + len(stretch) :]
    return text


def _highlight(finding: Verdict, shown: str, places: Sequence[int]) -> Highlight:
    last = len(places) - 1
    start, end = places[min(finding.start, last)], places[min(finding.end, last)]
    marked = shown[start:end]
    if len(marked) > MARKED_CHARACTERS_MAX:
        marked = marked[:MARKED_CHARACTERS_MAX] + _CUT
    low, high = max(0, start - AROUND_CHARACTERS_MAX), end + AROUND_CHARACTERS_MAX
    before = (_CUT if low else "") + shown[low:start]
    after = shown[end:high] + (_CUT if high < len(shown) else "")
    return Highlight(
        **msgspec.structs.asdict(finding), shown_start=start, shown_end=end, excerpt=(before, marked, after)
    )


def _has_hidden(text: str) -> bool:
    return not text.isprintable() or _INVISIBLE.search(text) is not None


def _is_hidden(character: str) -> bool:
    if character in _LINES:
        return False
    is_hidden = unicodedata.category(character) in _HIDDEN_CATEGORIES
    return is_hidden or _INVISIBLE.match(character) is not None


def _escape(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"
