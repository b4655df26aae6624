"""Running the scanners over a text: the answer is always findings, and no scanner can break that (SPEC L5).

A scanner that finds nothing says nothing about trust (SPEC M5b). A scanner that raises, or answers something
that is not findings inside the text, becomes one finding of kind failure, which never admits. So is one that
took longer than its limit twice, beside what it found; it runs in its caller's thread: nothing stops it.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from tenure.core.scanning.credentials import CREDENTIALS
from tenure.core.scanning.decoding import views_of
from tenure.core.scanning.findings import Finding, FindingKind
from tenure.core.scanning.hidden import HiddenCharacters
from tenure.core.scanning.instructions import INSTRUCTIONS
from tenure.core.scanning.matching import Scanner
from tenure.core.scanning.normalising import VERSION as NORMALISING
from tenure.core.scanning.normalising import View
from tenure.core.scanning.sensitive import SENSITIVE

DEFAULT_SCANNERS: tuple[Scanner, ...] = (HiddenCharacters(), CREDENTIALS, INSTRUCTIONS, SENSITIVE)
# Longer texts are refused by size before they matter; scanning them would only cost time.
SCANNED_CHARACTERS_MAX = 65_536
FINDINGS_PER_SCANNER_MAX = 1_024
RUNNING = "scanning/1"
UNNAMED = "unnamed/0"
_PLAIN = re.compile(r"[A-Za-z0-9._/+-]{1,120}")


class Limit(NamedTuple):
    """How long one scanner may take over a text, by a watch that counts seconds."""

    watch: Callable[[], float]
    seconds_max: float


def version_of(scanners: Sequence[Scanner]) -> str:
    """One string that changes with the version of any of these scanners or of what prepares their views."""
    return "+".join((NORMALISING, *sorted(f"{scanner.name}/{scanner.version}" for scanner in scanners)))


SCANNER_VERSION = version_of(DEFAULT_SCANNERS)


def scan(
    content: str, scanners: Sequence[Scanner] = DEFAULT_SCANNERS, *, limit: Limit | None = None
) -> tuple[Finding, ...]:
    """Everything that the scanners find in the content, in the order of its place; never raises."""
    if len(content) > SCANNED_CHARACTERS_MAX:
        return (failure(RUNNING, content, rule="size"),)
    try:
        views = views_of(content)
    except Exception:  # noqa: BLE001 - whatever went wrong, the text was not scanned, and that is the answer
        return (failure(NORMALISING, content),)
    found: list[Finding] = []
    for scanner in scanners:
        found += _ask(scanner, views, content) if limit is None else _timed(scanner, views, content, limit)
    if len(found) > 1:
        found = sorted(set(found), key=_place)
    return tuple(found)


def is_sound(finding: object, length: int) -> bool:
    """Whether the answer is a finding inside the content, with plain words of the scanner's own.

    What it calls itself and its rules is stored in the open, so that it must not be a place for content.
    """
    return (
        isinstance(finding, Finding)
        and type(finding.kind) is FindingKind
        and {type(finding.start), type(finding.end)} == {int}
        and 0 <= finding.start <= finding.end <= length
        and type(finding.confidence) in {int, float}
        and 0 <= finding.confidence <= 1
        and all(type(word) is str and _PLAIN.fullmatch(word) for word in (finding.rule, finding.scanner))
    )


def failure(scanner: str, content: str, *, rule: str = "") -> Finding:
    """What stands for the findings that could not be had."""
    return Finding(
        kind=FindingKind.FAILURE,
        rule=f"failure.{rule or scanner.partition('/')[0]}",
        scanner=scanner,
        start=0,
        end=len(content),
        confidence=1.0,
    )


def _timed(scanner: Scanner, views: tuple[View, ...], content: str, limit: Limit) -> list[Finding]:
    """What one scanner finds, and a failure beside it when that took too long.

    One that was late is asked once more: what it has to make ready when it is first needed, such as patterns
    and a model, is none of the text's doing.
    """
    found: list[Finding] = []
    for _attempt in range(2):
        started = limit.watch()
        found = _ask(scanner, views, content)
        if limit.watch() - started <= limit.seconds_max:
            return found
    return [*found, failure(_named(scanner), content, rule="time")]


def _named(scanner: Scanner) -> str:
    try:
        return f"{scanner.name}/{scanner.version}"
    except Exception:  # noqa: BLE001 - not even the name of a plug-in is sure
        return UNNAMED


def _ask(scanner: Scanner, views: tuple[View, ...], content: str) -> list[Finding]:
    """What one scanner finds in every view, or its failure."""
    found: list[Finding] = []
    name = UNNAMED
    try:
        name = f"{scanner.name}/{scanner.version}"
        for view in views:
            found += islice(scanner.find(view), FINDINGS_PER_SCANNER_MAX)
        if all(is_sound(finding, len(content)) for finding in found):
            return found
    except Exception:  # noqa: BLE001 - a scanner is a plug-in: it may raise anything, and must never admit by it
        found.clear()
    return [failure(name, content)]


def _place(finding: Finding) -> tuple[int, int, str, str]:
    return finding.start, finding.end, finding.kind, finding.rule
