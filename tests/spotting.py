"""A scanner whose rules a test chooses, so that they can change between a write and a read."""

from collections.abc import Iterator

from tenure.core.scanning import Finding, FindingKind
from tenure.core.scanning.normalising import View
from tenure.usecases.scanning import Scanning


class Spotting:
    """Finds these phrases; it counts what it is given, and can be broken."""

    name = "spotting"

    def __init__(self, *phrases: str, version: str = "1", kind: FindingKind = FindingKind.ATTACK) -> None:
        self.phrases = phrases
        self.version = version
        self.kind = kind
        self.is_broken = False
        self.seen: list[str] = []

    def find(self, view: View) -> Iterator[Finding]:
        """One finding for each phrase that is there."""
        self.seen.append(view.content)
        if self.is_broken:
            raise ValueError("out of order")
        locate = view.locator()
        for phrase in self.phrases:
            place = view.text.find(phrase)
            if place >= 0:
                start, end = locate(place, place + len(phrase))
                yield self.finding(phrase, start, end)

    def finding(self, phrase: str, start: int, end: int) -> Finding:
        """What it says of a phrase at a place."""
        return Finding(
            kind=self.kind,
            rule=f"{self.kind}.{phrase.replace(' ', '-')}",
            scanner=f"{self.name}/{self.version}",
            start=start,
            end=end,
            confidence=0.9,
        )


def scanning(*scanners: Spotting) -> Scanning:
    """The scanners of a node, and no others."""
    return Scanning(scanners)
