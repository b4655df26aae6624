"""The order and the filters of the queue (SPEC L6)."""

from typing import Any

import pytest
from tests.core.examples import held_memory, id_of

from tenure.core.errors import InvalidRequest
from tenure.core.identity import SourceType
from tenure.core.review_queue import RISK_MAX, AskQueue, check_queue, fits, risk
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind, Source, Verdict


def found(kind: str, confidence: float = 1.0) -> Verdict:
    """A finding of a kind."""
    return Verdict(kind=kind, rule="some", scanner="some/1", start=0, end=1, confidence=confidence)


PLAIN: dict[str, Any] = {
    "kind": Kind.FACT,
    "source": Source(type=SourceType.DIRECT_USER, id="m-1"),
    "findings": (),
}
ASCENDING: list[dict[str, Any]] = [
    {},
    {"source": Source(type=SourceType.WEB, id="page-1")},
    {"supersedes": id_of(3)},
    {"findings": (found("failure"),)},
    {"kind": Kind.SENSITIVE_CHANGE},
    {"findings": (found("sensitive", 0.5),)},
    {"findings": (found("sensitive", 1.0),)},
    {"findings": (found("sensitive"),), "source": Source(type=SourceType.WEB, id="page-1")},
    {"findings": (found("credential"),)},
    {"findings": (found("attack", 0.2),)},
    {"findings": (found("attack", 0.9), found("sensitive"))},
    {
        "findings": (found("attack"),),
        "source": Source(type=SourceType.WEB, id="page-1"),
        "supersedes": id_of(3),
        "kind": Kind.SENSITIVE_CHANGE,
    },
]


def test_the_worst_finding_weighs_most_and_the_rest_decides_between_equals() -> None:
    """SPEC L6: in this order, and each is riskier than the one before it."""
    told = [risk(held_memory(**(PLAIN | sides))) for sides in ASCENDING]

    assert told == sorted(set(told))
    assert (told[0], told[-1] <= RISK_MAX) == (0, True)


def test_a_kind_of_finding_that_is_not_known_is_no_risk_of_its_own() -> None:
    """SPEC E3: what a newer version wrote does not break the order of an older one."""
    assert risk(held_memory(**(PLAIN | {"findings": (found("novel", 0.0),)}))) == 0


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (AskQueue(), True),
        (AskQueue(rule="external_source"), True),
        (AskQueue(rule="other"), False),
        (AskQueue(finding=FindingKind.ATTACK), True),
        (AskQueue(finding=FindingKind.SENSITIVE), False),
        (AskQueue(finding=FindingKind.ATTACK, rule="other"), False),
    ],
)
def test_a_filter_asks_for_the_rule_and_for_a_kind_of_finding(ask: AskQueue, *, expected: bool) -> None:
    """SPEC L6: one of its findings is enough."""
    one = held_memory(findings=(found("attack"),))
    one = held_memory(findings=one.findings, decision=decided(one.decision, "external_source"))

    assert fits(one, ask) == expected


def decided(decision: Any, rule: str) -> Any:
    """The decision, by another rule."""
    return type(decision)(
        outcome=decision.outcome, rule=rule, reason=decision.reason, policy_version=decision.policy_version
    )


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"agent": "\n"}, "agent"),
        ({"subject": ""}, "subject"),
        ({"source_id": " x"}, "source_id"),
        ({"rule": ""}, "rule"),
        ({"rule": "x" * 201}, "rule"),
        ({"rule": "a\x00"}, "rule"),
    ],
)
def test_a_wish_that_cannot_be_is_refused_by_its_field(wish: dict[str, Any], field: str) -> None:
    """SPEC S2: bad input is told from an empty queue."""
    with pytest.raises(InvalidRequest) as refusal:
        check_queue(AskQueue(**wish))

    assert refusal.value.details["field"] == field
