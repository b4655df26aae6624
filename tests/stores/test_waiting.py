"""The contract of the queue: what waits, in order, and how a source has fared (SPEC L6)."""

from datetime import timedelta
from typing import Any

import pytest
from tests.clock import START
from tests.stores.engine import Opened
from tests.stores.forgetting_items import giraffe, memory_forgotten, rejected
from tests.stores.items import TENANT, created, put
from tests.stores.source_items import mail, promoted, revoked, source_revoked

from tenure.core.rows import microseconds
from tenure.core.vocabulary import Status
from tenure.usecases.ports import Listing, SourceCounts

NOW = microseconds(START)


def listing(**sides: Any) -> Listing:
    """A wish for everything of the tenant, unless it is narrowed."""
    whole: dict[str, Any] = {"tenant": TENANT, "now": NOW, "limit": 50}
    return Listing(**(whole | sides))


def waiting(opened: Opened, *, after_seq: int = 0, **sides: Any) -> list[int]:
    """The memories that wait, by their numbers."""
    with opened.store.reading() as reading:
        return [row.memory_id.int for row in reading.waiting(listing(**sides), after_seq=after_seq)]


def record(opened: Opened, source_id: str = "mail-1", **sides: Any) -> SourceCounts:
    """How a mail has fared."""
    with opened.store.reading() as reading:
        return reading.source_record(listing(source_type="email", source_id=source_id, **sides))


def test_only_what_waits_is_in_the_queue_that_which_waits_longest_first(opened: Opened) -> None:
    """SPEC L6, L11: neither what is active nor what was decided on, nor what has run out of time."""
    keys = opened.keyring
    put(
        opened,
        created(keys, 1),
        created(keys, 2, is_held=True),
        created(keys, 3, is_held=True, expires_at=START),
        created(keys, 4, is_held=True),
        created(keys, 5, is_held=True),
        created(keys, 6, is_held=True, tenant="globex"),
        promoted(keys, 4),
    )

    assert waiting(opened) == [2, 5]
    assert waiting(opened, limit=1) == [2]
    assert waiting(opened, after_seq=2) == [5]


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ({"agents": frozenset({"sales"})}, [3]),
        ({"purposes": frozenset({"selling"})}, [4]),
        ({"subjects": frozenset({"customer-8"})}, [5]),
        ({"subjects": frozenset()}, []),
        ({"source_type": "email"}, [2]),
        ({"source_type": "email", "source_id": "mail-1"}, [2]),
        ({"source_type": "email", "source_id": "mail-2"}, []),
        ({"kind": "skill"}, [6]),
    ],
)
def test_the_queue_is_narrowed_on_every_side(
    opened: Opened, sides: dict[str, Any], expected: list[int]
) -> None:
    """SPEC M2, A2: in the store's own query."""
    keys = opened.keyring
    put(
        opened,
        created(keys, 1, is_held=True),
        giraffe(keys, 2, is_held=True, **mail()),
        created(keys, 3, is_held=True, agent="sales"),
        created(keys, 4, is_held=True, purpose="selling"),
        created(keys, 5, is_held=True, subject="customer-8"),
        created(keys, 6, is_held=True, kind="skill"),
    )

    assert waiting(opened, **sides) == expected


def test_a_source_is_known_by_what_became_of_its_memories(opened: Opened) -> None:
    """SPEC L6: kept proposals, those that wait, and what people said to the others."""
    keys = opened.keyring
    for number in range(1, 7):
        put(opened, giraffe(keys, number, is_held=True, **mail()))
    put(opened, giraffe(keys, 7, **mail()), giraffe(keys, 8, is_held=True, **mail("mail-2")))
    put(opened, promoted(keys, 1), promoted(keys, 2), rejected(keys, 3))
    put(opened, revoked(keys, 2, to_version=3), revoked(keys, 4, to_version=2))

    assert record(opened) == SourceCounts(proposals=7, waiting=2, promoted=2, rejected=1, revoked=2)
    assert record(opened, "mail-2") == SourceCounts(proposals=1, waiting=1)
    assert record(opened, "mail-3") == SourceCounts()
    assert record(opened, now=microseconds(START + timedelta(days=31))).waiting == 0


def test_what_is_forgotten_stays_a_proposal_and_a_revoked_source_is_seen_at_once(opened: Opened) -> None:
    """SPEC F1, I1: counts only; and before the memories have their own events."""
    keys = opened.keyring
    put(opened, *(giraffe(keys, number, is_held=True, **mail()) for number in (1, 2, 3)))
    put(opened, memory_forgotten(keys, 1))
    before = record(opened)
    put(opened, source_revoked(keys))

    assert before == SourceCounts(proposals=3, waiting=2)
    assert record(opened) == SourceCounts(proposals=3, revoked=2)


def test_a_record_counts_within_what_was_granted_and_only_so_many(opened: Opened) -> None:
    """SPEC A2: who sees one agent's memories is told of no other's."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1, is_held=True, **mail()),
        giraffe(keys, 2, is_held=True, agent="sales", **mail()),
        giraffe(keys, 3, is_held=True, subject="customer-8", **mail()),
    )

    assert record(opened, agents=frozenset({"sales"})).proposals == 1
    assert record(opened, subjects=frozenset({"customer-7"})).proposals == 2
    assert record(opened, purposes=frozenset({"selling"})).proposals == 0
    assert record(opened, limit=2).proposals == 2


def test_what_is_known_of_a_source_is_the_same_after_a_rebuild(opened: Opened) -> None:
    """SPEC E1: it is told by views alone."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1, is_held=True, **mail()), giraffe(keys, 2, is_held=True, **mail()))
    put(opened, promoted(keys, 1))
    before = (record(opened), waiting(opened))

    assert opened.store.rebuild().identical
    assert (record(opened), waiting(opened)) == before == (SourceCounts(2, 1, 1, 0, 0), [2])
    with opened.store.reading() as reading:
        (row,) = reading.waiting(listing(), after_seq=0)
        assert row.status == Status.QUARANTINED
