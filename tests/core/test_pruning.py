"""What is no longer kept at hand."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.core.examples import NOW, admitted, event

from tenure.core.pruning import Pruning, prunable
from tenure.core.rows import MemoryRow, Put, microseconds
from tenure.core.truth import PLAIN
from tenure.core.views import project
from tenure.core.vocabulary import Kind, Status

AT_ONCE = Pruning(kept_for=timedelta(0))


def row(**changes: object) -> MemoryRow:
    """The row of a fact that was written now."""
    change = project(event(admitted(kind=Kind.FACT)), 1, None)[0]
    assert isinstance(change, Put)
    assert isinstance(change.row, MemoryRow)
    return replace(change.row, **changes)


def is_pruned(found: MemoryRow, days: int, rules: Pruning = AT_ONCE, **changes: bool) -> bool:
    """Whether it is pruned so many days after it was written."""
    return prunable(found, microseconds(NOW + timedelta(days=days)), rules, PLAIN, **changes)


@pytest.mark.parametrize(
    ("status", "days", "expected"),
    [
        (Status.SUPERSEDED, 0, True),
        (Status.ACTIVE, 60, False),
        (Status.ACTIVE, 61, True),
        (Status.EXPIRED, 61, True),
        (Status.REVOKED, 61, True),
        (Status.REJECTED, 61, True),
        (Status.QUARANTINED, 900, False),
        (Status.EXPIRED, 60, False),
    ],
)
def test_superseded_and_fully_decayed_memories_are_pruned(
    status: Status, days: int, *, expected: bool
) -> None:
    """SPEC T7: below .05, which a fact reaches after 61 days; what waits for a person never."""
    assert is_pruned(row(status=status), days) is expected


def test_holds_needs_and_audits_come_first() -> None:
    """SPEC T7, F10: nothing under a hold, nothing that stands behind another, nothing before its time."""
    old = row(status=Status.SUPERSEDED)

    assert not is_pruned(old, 900, is_held=True)
    assert not is_pruned(old, 900, is_needed=True)
    assert [is_pruned(old, days, Pruning()) for days in (89, 90)] == [False, True]
