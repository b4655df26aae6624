"""What merges, contradictions and pruning leave in the views: whole rows, and no content."""

import pytest
from msgspec.structs import replace
from tests.core.examples import NOW, SECRET, admitted, event, id_of, quarantined, revised
from tests.core.projected import AT, row

from tenure.core.events import EventData, Superseded
from tenure.core.rows import (
    CORROBORATES,
    FOREVER,
    MERGED,
    Change,
    ContradictionRow,
    DerivationRow,
    DropEdge,
    DropPruned,
    EndContradiction,
    Put,
    SupportRow,
    ThingRow,
    microseconds,
)
from tenure.core.truth_events import (
    ContradictionFound,
    ContradictionResolved,
    Corroborated,
    Merged,
    Pruned,
    Reinstated,
    Unmerged,
    ValidUntil,
)
from tenure.core.views import project

THINGS = (b"the thing 'diet'", b"the thing 'city'")
CLAIMED = [Put(ThingRow("acme", thing, id_of(1), "customer-7")) for thing in THINGS]
FOUND = ContradictionFound(
    agent="support",
    purpose="service",
    believed=id_of(2),
    doubted=id_of(3),
    effect="superseded",
    because="claim",
)
CONTRADICTION = ContradictionRow(
    "acme",
    id_of(1),
    "support",
    "service",
    "customer-7",
    id_of(2),
    id_of(3),
    "superseded",
    "claim",
    FOREVER,
    12,
    AT,
)


@pytest.mark.parametrize("data", [admitted(), quarantined()], ids=["admitted", "quarantined"])
def test_a_new_memory_has_a_row_for_each_thing_that_it_claims_something_of(data: EventData) -> None:
    """SPEC T3: by keyed digest alone; also what waits, for the day it is promoted."""
    _, _, *claimed = project(event(data, secret=replace(SECRET, things=THINGS)), 11, None)

    assert claimed == CLAIMED
    assert len(project(event(data), 11, None)) == 2


def test_a_revision_adds_what_the_new_version_claims_something_of() -> None:
    """SPEC T3: whoever compares reads the memory itself, so that a row of an earlier version does no harm."""
    again = event(revised(), version=2, secret=replace(SECRET, things=THINGS))

    _, _, *claimed = project(again, 12, row())

    assert claimed == CLAIMED


def test_without_the_key_of_its_subject_a_memory_claims_nothing() -> None:
    """SPEC F7: a replay after an erasure finds no digest."""
    assert len(project(event(admitted(), secret=None), 11, None)) == 2


def test_a_merge_ends_the_memory_and_is_an_edge_to_what_stands_for_it() -> None:
    """SPEC T2: what stands has the count of who says so, and no more trust for it."""
    changes = project(event(Merged(into=id_of(2), voices=3, trusted_voices=1), version=2), 12, row())

    assert changes == (
        Put(replace(row(), status="superseded", version=2)),
        Put(DerivationRow("acme", id_of(2), id_of(1), "customer-7", MERGED)),
        Put(SupportRow("acme", id_of(2), "customer-7", 3, 1)),
    )


def test_undoing_a_merge_takes_the_edge_away_and_counts_again() -> None:
    """SPEC T2: the memory's row is as it was before."""
    undone = Unmerged(out_of=id_of(2), voices=2, trusted_voices=1, source_id="message-1")
    before = row(status="superseded", version=2)

    changes = project(event(undone, version=3), 12, before)

    assert changes == (
        Put(replace(row(), version=3)),
        DropEdge("acme", id_of(2), id_of(1)),
        Put(SupportRow("acme", id_of(2), "customer-7", 2, 1)),
    )


@pytest.mark.parametrize(
    ("data", "status", "valid_to"),
    [
        (ValidUntil(because_of=id_of(2), valid_to=NOW), "active", AT),
        (ValidUntil(because_of=id_of(2)), "active", FOREVER),
        (Superseded(by=id_of(2), valid_to=NOW), "active", AT),
        (Superseded(by=id_of(2)), "active", 7),
        (Reinstated(instead_of=id_of(2), source_id="message-1"), "superseded", FOREVER),
        (Reinstated(instead_of=id_of(2), source_id="message-1", valid_to=NOW), "superseded", AT),
    ],
)
def test_the_end_of_what_a_memory_says_is_moved_by_another_memory(
    data: EventData, status: str, valid_to: int
) -> None:
    """SPEC T3, T4: closed, opened again, or left where no end is named and none was taken back."""
    [moved] = project(event(data, version=2), 12, row(status=status, valid_to=7))

    assert isinstance(moved, Put)
    assert moved.row == replace(
        row(),
        status="superseded" if isinstance(data, Superseded) else "active",
        version=2,
        valid_to=valid_to,
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            Corroborated(memory_id=id_of(2), by=id_of(3), voices=2, trusted_voices=2),
            (
                Put(DerivationRow("acme", id_of(2), id_of(3), "customer-7", CORROBORATES)),
                Put(SupportRow("acme", id_of(2), "customer-7", 2, 2)),
            ),
        ),
        (FOUND, (Put(CONTRADICTION),)),
        (
            replace(FOUND, valid_to_before=NOW),
            (Put(replace(CONTRADICTION, valid_to_before=microseconds(NOW))),),
        ),
        (ContradictionResolved(kept=id_of(2)), (EndContradiction("acme", id_of(1), 12, id_of(2)),)),
        (ContradictionResolved(), (EndContradiction("acme", id_of(1), 12, None),)),
        (Pruned(because="superseded"), (DropPruned("acme", id_of(1)),)),
    ],
)
def test_what_stands_between_memories_changes_by_whole_rows(
    data: EventData, expected: tuple[Change, ...]
) -> None:
    """SPEC E1, T2, T3, T7: functions of the log alone; none of them moves a memory."""
    assert expected == project(event(data), 12, None)


@pytest.mark.parametrize("data", [FOUND, ContradictionResolved(), Pruned(because="superseded")])
def test_an_event_that_names_nothing_changes_nothing(data: EventData) -> None:
    """SPEC E5: a log that nobody wrote like this is read all the same."""
    assert project(event(data, stream=None), 12, None) == ()
