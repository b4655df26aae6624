"""The scanner for characters that a reader cannot see and a model can (SPEC M5b, L3).

Some invisible characters are ordinary: joiners inside emoji and in scripts that need them, the selector
behind an emoji, the tags of the three regional flags, marks of direction beside letters that run from right
to left.
"""

import re

from tenure.core.scanning.findings import Finding, FindingKind
from tenure.core.scanning.normalising import Form, View

NAME = "hidden"
VERSION = "1"
RULE = "attack.hidden-characters"
# One joiner inside a Latin word is a slip of a web page; two are a disguise.
JOINERS_MIN = 2


def _tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(character)) for character in text)


_REGIONS = "|".join(map(_tags, ("gbeng", "gbsct", "gbwls")))
_FLAG = f"\U0001f3f4(?:{_REGIONS})\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_ALWAYS = re.compile(f"(?P<ordinary>{_FLAG})|[\U000e0000-\U000e007f]+|[\u202d\u202e]|[{_SELECTORS}]{{3,}}")
_DIRECTION = re.compile("[\u202a-\u202c\u2066-\u2069]")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_JOINER = re.compile("(?<=[A-Za-z0-9])[\u200b-\u200d\u2060-\u2064\ufeff]+(?=[A-Za-z0-9])")


class HiddenCharacters:
    """Finds tag characters, reordering, smuggled selectors and joiners inside Latin words."""

    name = NAME
    version = VERSION

    def find(self, view: View) -> list[Finding]:
        """At most one finding, from the first such character to the last."""
        content = view.content
        if view.form is not Form.PLAIN or content.isascii():
            return []
        spans = [match.span() for match in _ALWAYS.finditer(content) if match.lastgroup is None]
        if not _RIGHT_TO_LEFT.search(content):
            spans += [match.span() for match in _DIRECTION.finditer(content)]
        joined = [match.span() for match in _JOINER.finditer(content)]
        if len(joined) >= JOINERS_MIN:
            spans += joined
        if not spans:
            return []
        return [
            Finding(
                kind=FindingKind.ATTACK,
                rule=RULE,
                scanner=f"{NAME}/{VERSION}",
                start=min(start for start, _ in spans),
                end=max(end for _, end in spans),
                confidence=0.95,
            )
        ]
