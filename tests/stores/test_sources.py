"""The contract of revoked sources: what is withdrawn at once, what is left, and what can be told of it."""

import pytest
from tests.clock import START
from tests.stores.engine import Engine, Opened
from tests.stores.forgetting_items import LEAF, compacted, expired, giraffe, memory_forgotten
from tests.stores.items import TENANT, accepted, created, number, put, renewed
from tests.stores.looking import found, standing, words_left
from tests.stores.source_items import (
    ids,
    influenced,
    mail,
    recalled,
    revised,
    revocation_finished,
    revoked,
    source_revoked,
    superseded,
)

from tenure.core.rows import REVOKING
from tenure.core.views import NO_SUBJECT, source_target
from tenure.usecases.ports import Append, Appended, Keyring, Overtaken, Stale


def statuses(opened: Opened, *memories: int) -> dict[int, str]:
    """The status of the row of each of these memories that has one."""
    with opened.store.reading() as reading:
        return {row.memory_id.int: row.status for row in reading.rows_of(TENANT, ids(*memories))}


def sourced(opened: Opened, source_id: str = "mail-1", source_type: str | None = "email") -> set[int]:
    """The memories that a source has a part in."""
    with opened.store.reading() as reading:
        return {one.memory_id.int for one in reading.source_memories(TENANT, source_type, source_id)}


def a_diamond(keyring: Keyring) -> list[Append]:
    """A mail, two made from it, one made from both; beside them one of another source, and one from that."""
    return [
        giraffe(keyring, 1, **mail()),
        giraffe(keyring, 2, derived_from=(number(1),)),
        giraffe(keyring, 3, derived_from=(number(1),)),
        giraffe(keyring, 4, derived_from=(number(2), number(3))),
        giraffe(keyring, 5, **mail("mail-2")),
        giraffe(keyring, 6, derived_from=(number(5),)),
    ]


def test_one_event_takes_a_source_and_all_made_from_it_out_of_every_read(opened: Opened) -> None:
    """SPEC I1, L12: through a diamond, each once; the rows are marked, and nothing else is touched."""
    put(opened, *a_diamond(opened.keyring))
    assert found(opened) == {1, 2, 3, 4, 5, 6}

    [result] = put(opened, source_revoked(opened.keyring))

    assert result == Appended(seq=7, dropped=4)
    assert found(opened) == {5, 6}
    assert statuses(opened, *range(1, 7)) == {
        **dict.fromkeys((1, 2, 3, 4), REVOKING),
        5: "active",
        6: "active",
    }


def test_in_the_same_batch_what_came_before_is_withdrawn(opened: Opened) -> None:
    """SPEC I1, L8: a revocation sees the items before it."""
    results = put(opened, *a_diamond(opened.keyring), source_revoked(opened.keyring))

    assert results[-1] == Appended(seq=7, dropped=4)
    assert found(opened) == {5, 6}


def test_of_a_circle_of_derivations_everything_is_withdrawn_once(opened: Opened) -> None:
    """SPEC I1: whatever a log says, looking for what was made from what comes to an end."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1, derived_from=(number(3), number(1)), **mail()),
        giraffe(keys, 2, derived_from=(number(1),)),
        giraffe(keys, 3, derived_from=(number(2),)),
    )

    assert put(opened, source_revoked(keys)) == [Appended(seq=4, dropped=3)]


@pytest.mark.parametrize(
    ("source_id", "source_type", "expected"),
    [
        ("mail-1", "email", {1, 2}),
        ("mail-1", None, {1, 2, 3}),
        ("mail-1", "web", set()),
        ("crm-1", "application", {2}),
        ("bot", "connector", {1, 2, 3}),
        ("bot", None, set()),
        ("mail-1", "connector", set()),
        ("mail-%", None, set()),
    ],
)
def test_a_source_is_named_by_type_and_id_by_id_alone_or_by_its_connector(
    opened: Opened, source_id: str, source_type: str | None, expected: set[int]
) -> None:
    """SPEC I1, M4: a message, a document, a call, or the credential that brought things in."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1, **mail()),
        giraffe(keys, 2, derived_from=(number(1),)),
        giraffe(keys, 3, **(mail() | {"source_type": "document"})),
    )

    assert sourced(opened, source_id, source_type) == expected


def test_a_memory_that_was_revised_still_comes_from_its_earlier_source(opened: Opened) -> None:
    """SPEC I1: what was believed of it before, and what was made of that, may be all over the place."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1, **mail()), revised(keys, 1, "mail-2", actor="other"))

    assert sourced(opened, "mail-1") == sourced(opened, "mail-2") == {1}
    assert sourced(opened, "bot", "connector") == sourced(opened, "other", "connector") == {1}
    assert put(opened, source_revoked(keys, "mail-1")) == [Appended(seq=3, dropped=1)]
    assert put(opened, source_revoked(keys, "mail-2")) == [Appended(seq=4, dropped=0)]


def test_every_status_that_may_still_be_believed_is_withdrawn_and_no_other(opened: Opened) -> None:
    """SPEC I1, M6: also what waits or was superseded; what is revoked already keeps its event."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1, **mail()),
        giraffe(keys, 2, is_held=True, **mail()),
        giraffe(keys, 3, **mail()),
        superseded(keys, 3, by=1),
        giraffe(keys, 4, **mail()),
        revoked(keys, 4, to_version=2),
        giraffe(keys, 5, **mail()),
        memory_forgotten(keys, 5),
    )

    assert put(opened, source_revoked(keys)) == [Appended(seq=9, dropped=3)]
    assert statuses(opened, 1, 2, 3, 4, 5) == {1: REVOKING, 2: REVOKING, 3: REVOKING, 4: "revoked"}
    assert sourced(opened) == {1, 2, 3, 4, 5}


def test_a_withdrawn_memory_takes_its_own_event_and_nothing_else(opened: Opened) -> None:
    """SPEC I1, L8: whoever decided something else about it before has to decide again."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1, **mail()), giraffe(keys, 2, **mail()), source_revoked(keys))

    results = put(
        opened,
        renewed(keys, 1, to_version=2),
        superseded(keys, 1, by=2),
        revoked(keys, 1, to_version=2, because_of=3),
        revoked(keys, 1, to_version=2, because_of=3),
        memory_forgotten(keys, 2),
    )

    assert [type(result) for result in results] == [Stale, Stale, Appended, Stale, Appended]
    assert statuses(opened, 1, 2) == {1: "revoked"}
    assert words_left(opened) == 0


def test_a_withdrawn_memory_waits_for_its_own_event_when_its_scope_is_compacted(opened: Opened) -> None:
    """SPEC F3, I1: its history has to say who revoked it; afterwards it may go with the others."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1, scope=LEAF, **mail()), giraffe(keys, 2, scope=LEAF, expires_at=START))
    put(opened, expired(keys, 2), source_revoked(keys))

    assert put(opened, compacted(keys)) == [Appended(seq=5, dropped=1)]
    assert statuses(opened, 1, 2) == {1: REVOKING}
    put(opened, revoked(keys, 1, to_version=2, because_of=4))
    assert put(opened, compacted(keys)) == [Appended(seq=7, dropped=1)]
    assert opened.store.rebuild().identical


def test_a_write_that_was_decided_before_the_revocation_is_decided_again(opened: Opened) -> None:
    """SPEC I1, F4a: on any node, since the store says where the tenant's last floor lies."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1, **mail()))
    late = created(keys, 2, **mail())

    put(opened, source_revoked(keys))

    overtaken = put(opened, Append(tenant=TENANT, events=late.events, forgot_seq=0))
    assert overtaken == [Overtaken(forgot_seq=2)]
    with opened.store.reading() as reading:
        asked = [("source", source_target("email", "mail-1")), ("source", source_target(None, "mail-1"))]
        (floor,) = reading.floors(TENANT, NO_SUBJECT, asked)
    assert (floor.target, floor.floor_seq) == (source_target("email", "mail-1"), 2)


def test_revocations_that_wait_are_told_in_order_until_they_are_finished(opened: Opened) -> None:
    """SPEC I1, T8: of one tenant, or of all; who comes next knows what is left to do."""
    keys = opened.keyring
    put(
        opened,
        source_revoked(keys),
        source_revoked(keys, "mail-2", None),
        source_revoked(keys, tenant="globex"),
        revocation_finished(keys, 1, 0),
    )

    with opened.store.reading() as reading:
        assert [(row.seq, row.source_type) for row in reading.revocations_begun(TENANT)] == [(2, "")]
        begun = {(row.tenant, row.seq) for row in reading.revocations_begun()}
        first, second = (
            reading.revoked_source(TENANT, "email", "mail-1"),
            reading.revoked_source(TENANT, None, "mail-2"),
        )
        nothing = reading.revoked_source(TENANT, "email", "mail-2")
    assert begun == {(TENANT, 2), ("globex", 1)}
    assert first is not None
    assert second is not None
    assert (first.finished_seq, second.finished_seq, nothing) == (3, 0, None)


def test_another_tenants_source_of_the_same_name_is_another(opened: Opened) -> None:
    """SPEC M2: revoking it there withdraws nothing here."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1, **mail()), giraffe(keys, 1, tenant="globex", **mail()))

    assert put(opened, source_revoked(keys, tenant="globex")) == [Appended(seq=2, dropped=1)]
    assert standing(opened) == found(opened) == {1}
    assert found(opened, tenant="globex") == set()


def test_what_memories_were_shown_in_and_used_by_is_found(opened: Opened) -> None:
    """SPEC I2, R7: each receipt and report once, however many of the memories it names, and no other."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1),
        giraffe(keys, 2),
        giraffe(keys, 3),
        recalled(keys, 101, [1, 2, 3]),
        recalled(keys, 102, [3]),
        recalled(keys, 103, [2]),
        influenced(keys, 101, "r-1", [1, 2], ["c-1", "c-2"]),
        influenced(keys, 102, "r-2", [3]),
    )

    with opened.store.reading() as reading:
        assert reading.shown_in(TENANT, ids(1, 2)) == [4, 6]
        assert reading.recalls_of(TENANT, ids(1, 2), limit=10) == (2, ids(101, 103))
        assert reading.recalls_of(TENANT, ids(1, 2, 3), limit=2) == (3, ids(101, 102))
        assert reading.recalls_of(TENANT, ids(9), limit=2) == (0, [])
        assert reading.used_in(TENANT, ids(1, 2)) == [(7, 2)]
        assert reading.used_in(TENANT, ids(3)) == [(8, 0)]
        assert not reading.shown_in("globex", ids(1))
        assert not reading.used_in("globex", ids(1))
        assert [event.seq for event in reading.events_at(TENANT, [8, 4, 99])] == [4, 8]


def test_only_what_really_took_a_place_displaced_something(opened: Opened) -> None:
    """SPEC L10, I1: a correction that is held back displaces nothing; one made from what it corrects does."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1),
        giraffe(keys, 2),
        giraffe(keys, 3),
        giraffe(keys, 4, supersedes=number(1), **mail()),
        superseded(keys, 1, by=4),
        giraffe(keys, 5, supersedes=number(2), is_held=True, **mail()),
        giraffe(keys, 6, supersedes=number(3), derived_from=(number(3),), **mail()),
        superseded(keys, 3, by=6),
        giraffe(keys, 7, supersedes=number(2)),
        superseded(keys, 2, by=7),
    )

    with opened.store.reading() as reading:
        assert set(reading.displaced(TENANT, ids(4, 5, 6))) == set(ids(1, 3))
        assert reading.displaced(TENANT, ids(5)) == []
    # What was corrected is not made from its correction.
    assert put(opened, source_revoked(keys)) == [Appended(seq=11, dropped=3)]
    assert statuses(opened, 1, 2, 3) == dict.fromkeys((1, 2, 3), "superseded")


def test_rows_and_words_are_the_same_after_a_rebuild_in_every_phase(engine: Engine) -> None:
    """SPEC E1, I1: while a source is whole, withdrawn, half recorded, and finished."""
    with engine.open() as opened:
        keys = opened.keyring
        phases = [
            [*a_diamond(keys), recalled(keys, 101, [1, 5]), influenced(keys, 101, "r-1", [1], ["c-1"])],
            [source_revoked(keys)],
            [revoked(keys, 1, to_version=2, because_of=9), revoked(keys, 2, to_version=2, because_of=9)],
            [revoked(keys, 3, to_version=2, because_of=9), revoked(keys, 4, to_version=2, because_of=9)],
            [revocation_finished(keys, 9, 4)],
        ]
        left = []
        for phase in phases:
            accepted(put(opened, *phase))
            before = found(opened), words_left(opened), statuses(opened, *range(1, 7))
            assert opened.store.rebuild().identical
            assert (found(opened), words_left(opened), statuses(opened, *range(1, 7))) == before
            left.append((len(before[0]), before[1]))
        # Words go with the own event of each memory; until then the filter keeps them out.
        assert left == [(6, 6), (2, 6), (2, 4), (2, 2), (2, 2)]
