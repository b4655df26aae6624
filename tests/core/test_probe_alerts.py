"""Which probes a person is told of, as pure rules (SPEC T6, I3)."""

from datetime import datetime, timedelta

import pytest
from tests.core.examples import NOW, memory

from tenure.core.events import AlertRaised
from tenure.core.probe_alerts import (
    ALERT_EVERY,
    PROBE_FAILED,
    PROBE_HOLDS_AGAIN,
    alert,
    kind_of,
    last_of,
)
from tenure.core.probing import ProbeOutcome, TargetKind
from tenure.core.rows import AlertRow, microseconds

DAY_BEFORE = NOW - ALERT_EVERY
JUST_NOW = NOW - timedelta(seconds=1)


def row(kind: str, at: datetime, *, seq: int = 1, about: str = "m") -> AlertRow:
    """An alert as the store has it."""
    return AlertRow("acme", seq, "customer-7", kind, "said", about, microseconds(at))


@pytest.mark.parametrize(
    ("outcome", "last", "told"),
    [
        (ProbeOutcome.FAILS, None, PROBE_FAILED),
        (ProbeOutcome.FAILS, row(PROBE_FAILED, DAY_BEFORE - timedelta(days=30)), None),
        (ProbeOutcome.FAILS, row(PROBE_HOLDS_AGAIN, DAY_BEFORE), PROBE_FAILED),
        (ProbeOutcome.FAILS, row(PROBE_HOLDS_AGAIN, JUST_NOW), None),
        (ProbeOutcome.HOLDS, None, None),
        (ProbeOutcome.HOLDS, row(PROBE_FAILED, JUST_NOW), PROBE_HOLDS_AGAIN),
        (ProbeOutcome.HOLDS, row(PROBE_HOLDS_AGAIN, DAY_BEFORE), None),
        (ProbeOutcome.UNKNOWN, None, None),
        (ProbeOutcome.UNKNOWN, row(PROBE_FAILED, DAY_BEFORE), None),
        (ProbeOutcome.UNKNOWN, row(PROBE_HOLDS_AGAIN, DAY_BEFORE), None),
    ],
)
def test_a_person_is_told_of_each_turn_once(
    outcome: ProbeOutcome, last: AlertRow | None, told: str | None
) -> None:
    """SPEC I3: not again while it is the latest word, nor twice a day; unknown says nothing."""
    assert kind_of(outcome, last, NOW) == told


def test_the_last_word_about_a_memory_counts() -> None:
    """SPEC I3: by the log's order, and of that memory alone."""
    rows = [
        row(PROBE_FAILED, NOW, seq=3),
        row(PROBE_HOLDS_AGAIN, DAY_BEFORE, seq=7),
        row(PROBE_FAILED, NOW, seq=9, about="other"),
    ]

    assert last_of(rows, "m") == rows[1]
    assert last_of(rows, "nobody") is None


@pytest.mark.parametrize("kind", [PROBE_FAILED, PROBE_HOLDS_AGAIN])
def test_an_alert_names_the_memory_and_never_what_was_looked_at(kind: str) -> None:
    """SPEC E6: the kind of thing alone."""
    one = memory(content="The docs are at https://docs.example.com/.")

    raised = alert(kind, one, TargetKind.URL, NOW)

    assert isinstance(raised.data, AlertRaised)
    assert (raised.subject, raised.data.kind, raised.data.about) == (one.subject, kind, str(one.id))
    assert str(one.id) in raised.data.message
    assert "an address on the web" in raised.data.message
    assert "docs" not in raised.data.message
