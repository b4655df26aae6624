"""Running the scanners over a text: the answer is always findings, and no scanner can break that (SPEC L5).

A scanner that finds nothing says nothing about trust (SPEC M5b). A scanner that raises, or answers something
that is not findings inside the text, becomes one finding of kind failure, which never admits.
"""

from collections.abc import Sequence
from itertools import islice

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
_KINDS = frozenset(FindingKind)


def version_of(scanners: Sequence[Scanner]) -> str:
    """One string that changes with the version of any of these scanners or of what prepares their views."""
    return "+".join((NORMALISING, *sorted(f"{scanner.name}/{scanner.version}" for scanner in scanners)))


SCANNER_VERSION = version_of(DEFAULT_SCANNERS)


def scan(content: str, scanners: Sequence[Scanner] = DEFAULT_SCANNERS) -> tuple[Finding, ...]:
    """Everything that the scanners find in the content, in the order of its place; never raises."""
    if len(content) > SCANNED_CHARACTERS_MAX:
        return (_failure(RUNNING, content, rule="size"),)
    try:
        views = views_of(content)
    except Exception:  # noqa: BLE001 - whatever went wrong, the text was not scanned, and that is the answer
        return (_failure(NORMALISING, content),)
    found: list[Finding] = []
    for scanner in scanners:
        found += _ask(scanner, views, content)
    if len(found) > 1:
        found = sorted(set(found), key=_place)
    return tuple(found)


def _ask(scanner: Scanner, views: tuple[View, ...], content: str) -> list[Finding]:
    """What one scanner finds in every view, or its failure."""
    found: list[Finding] = []
    name = UNNAMED
    try:
        name = f"{scanner.name}/{scanner.version}"
        for view in views:
            found += islice(scanner.find(view), FINDINGS_PER_SCANNER_MAX)
        if all(_is_sound(finding, len(content)) for finding in found):
            return found
    except Exception:  # noqa: BLE001 - a scanner is a plug-in: it may raise anything, and must never admit by it
        found.clear()
    return [_failure(name, content)]


def _is_sound(finding: object, length: int) -> bool:
    """Whether the answer is a finding inside the content."""
    return (
        isinstance(finding, Finding)
        and finding.kind in _KINDS
        and 0 <= finding.start <= finding.end <= length
        and 0 <= finding.confidence <= 1
    )


def _failure(scanner: str, content: str, *, rule: str = "") -> Finding:
    """What stands for the findings that could not be had."""
    return Finding(
        kind=FindingKind.FAILURE,
        rule=f"failure.{rule or scanner.partition('/')[0]}",
        scanner=scanner,
        start=0,
        end=len(content),
        confidence=1.0,
    )


def _place(finding: Finding) -> tuple[int, int, str, str]:
    return finding.start, finding.end, finding.kind, finding.rule
