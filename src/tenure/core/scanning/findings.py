"""What a scanner says of a text: where something stands and what it is, never the text itself."""

from enum import StrEnum

import msgspec


class FindingKind(StrEnum):
    """What was found; the admission policy knows these four words and no rule's name (SPEC L3-L5)."""

    CREDENTIAL = "credential"
    ATTACK = "attack"
    SENSITIVE = "sensitive"
    FAILURE = "failure"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing found; `start` and `end` are in the content as given, or all of it where that is unknown."""

    kind: FindingKind
    rule: str
    scanner: str
    start: int
    end: int
    confidence: float
