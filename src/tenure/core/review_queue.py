"""What waits for a reviewer, in which order, and how a source has fared so far (SPEC L6). Pure.

Laws: an order is total, so that pages neither miss nor repeat what waits; risk is told by the gate's own
findings and the memory's kind and source, never by its text.
"""

from enum import StrEnum
from typing import Final

import msgspec

from tenure.core.admission import EXTERNAL
from tenure.core.errors import InvalidRequest
from tenure.core.identity import SourceType, checked_name, checked_reference
from tenure.core.memory import Memory
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind

QUEUE_ITEMS_MAX: Final = 200
RULE_CHARACTERS_MAX: Final = 200


class Order(StrEnum):
    """Which of what waits comes first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    RISKIEST = "riskiest"


class AskQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A page of what waits. Sides left open are not narrowed; ``finding`` is a kind of finding."""

    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    source_type: SourceType | None = None
    source_id: str | None = None
    kind: Kind | None = None
    rule: str | None = None
    finding: FindingKind | None = None
    order: Order = Order.NEWEST
    limit: int = 50
    cursor: str | None = None


class SourceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a source's proposals, of those that the caller may see.

    ``proposals`` are all that were kept; what the gate rejected left no memory and is not among them. A
    memory that a reviewer let in counts as promoted whatever became of it later, and so may count twice.
    ``is_whole`` is False where there are more than were counted.
    """

    proposals: int = 0
    waiting: int = 0
    promoted: int = 0
    rejected: int = 0
    revoked: int = 0
    is_whole: bool = True


FINDING_RISK: Final = {
    FindingKind.ATTACK: 800,
    FindingKind.CREDENTIAL: 600,
    FindingKind.SENSITIVE: 400,
    FindingKind.FAILURE: 200,
}
SENSITIVE_KIND_RISK: Final = 400
DISPLACING_RISK: Final = 100
EXTERNAL_RISK: Final = 50
CERTAINTY_RISK: Final = 40
RISK_MAX: Final = 999


def risk(memory: Memory) -> int:
    """How much harm a wrong yes could do, from 0 to 999: the worst finding weighs most."""
    worst = max((_finding_risk(found.kind, found.confidence) for found in memory.findings), default=0)
    if memory.kind is Kind.SENSITIVE_CHANGE:
        worst = max(worst, SENSITIVE_KIND_RISK)
    displacing = DISPLACING_RISK if memory.supersedes is not None else 0
    external = EXTERNAL_RISK if memory.source.type in EXTERNAL else 0
    return min(RISK_MAX, worst + displacing + external)


def fits(memory: Memory, ask: AskQueue) -> bool:
    """Whether the rule and the findings are those that are asked for."""
    if ask.rule is not None and memory.decision.rule != ask.rule:
        return False
    return ask.finding is None or any(found.kind == ask.finding for found in memory.findings)


def check_queue(ask: AskQueue) -> None:
    """Raise InvalidRequest, naming the field, unless the wish is well formed."""
    if not 1 <= ask.limit <= QUEUE_ITEMS_MAX:
        raise InvalidRequest(f"limit must be 1 to {QUEUE_ITEMS_MAX}", field="limit")
    for field in ("agent", "purpose", "subject"):
        if (value := getattr(ask, field)) is not None:
            checked_name(value, field=field)
    if ask.source_id is not None:
        checked_reference(ask.source_id, field="source_id")
    if ask.rule is not None and not (0 < len(ask.rule) <= RULE_CHARACTERS_MAX and ask.rule.isprintable()):
        raise InvalidRequest(f"rule must be 1 to {RULE_CHARACTERS_MAX} printable characters", field="rule")


def _finding_risk(kind: str, confidence: float) -> int:
    weight = FINDING_RISK.get(FindingKind(kind), 0) if kind in _KINDS else 0
    return weight + int(CERTAINTY_RISK * confidence)


_KINDS: Final = frozenset(FindingKind)
