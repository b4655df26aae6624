"""The contract of floors: what was forgotten or rejected stays known, and a write is held against it."""

from datetime import timedelta

import msgspec
import pytest
from tests.clock import START
from tests.stores.engine import Engine, Opened
from tests.stores.forgetting_items import (
    LEAF,
    NAME,
    VALUE,
    alert_raised,
    compacted,
    erasure_begun,
    hold_placed,
    key_forgotten,
    memory_forgotten,
    rejected,
)
from tests.stores.items import SUBJECT, TENANT, accepted, created, forgotten, log_of, number, put, renewed

from tenure.core.rows import FloorRow, microseconds
from tenure.core.views import key_target, value_target
from tenure.usecases.ports import Append, Appended, Overtaken

AT = microseconds(START)
OF_SUBJECT = ("subject", SUBJECT)
OF_VALUE = ("value", value_target("support", "answering", VALUE))
OF_LEAF = ("key", key_target("support", "answering", NAME, "task:t-1"))
OF_EVERY_USER = ("key", key_target("support", "answering", NAME, "user:*"))
EVERYTHING = (OF_SUBJECT, OF_VALUE, OF_LEAF, OF_EVERY_USER)


def floors(
    opened: Opened, *targets: tuple[str, str], tenant: str = TENANT, subject: str = SUBJECT
) -> dict[tuple[str, str], int]:
    """Where the floors of these targets lie, or of all that these tests know."""
    with opened.store.reading() as reading:
        found = reading.floors(tenant, subject, targets or EVERYTHING)
    assert {(row.tenant, row.subject) for row in found} <= {(tenant, subject)}
    return {(row.target_kind, row.target): row.floor_seq for row in found}


def forgot_seq(opened: Opened, tenant: str = TENANT) -> int:
    """The position of a tenant's last floor."""
    with opened.store.reading() as reading:
        return reading.forgot_seq(tenant)


def decided_at(item: Append, forgot: int) -> Append:
    """The item, decided on when nothing behind that position was forgotten."""
    return msgspec.structs.replace(item, forgot_seq=forgot)


def test_a_fresh_store_has_no_floor(opened: Opened) -> None:
    """SPEC F4a: nothing was forgotten, so the highest floor is at 0, also once something is written."""
    put(opened, created(opened.keyring, 1, fingerprint=VALUE))

    assert floors(opened) == {}
    assert forgot_seq(opened) == 0


def test_a_forgotten_subject_lies_below_a_floor_with_its_values(opened: Opened) -> None:
    """SPEC F4a, F4b: at the position and time of the event; of its tenant and subject alone."""
    keys = opened.keyring
    put(opened, created(keys, 1, fingerprint=VALUE), created(keys, 2, fingerprint=b"another value..."))
    put(opened, forgotten(keys))

    assert floors(opened) == {OF_SUBJECT: 3, OF_VALUE: 3}
    assert floors(opened, subject="customer-8") == floors(opened, tenant="globex") == {}
    with opened.store.reading() as reading:
        assert reading.floors(TENANT, SUBJECT, [OF_SUBJECT]) == [
            FloorRow(TENANT, SUBJECT, "subject", SUBJECT, 3, AT)
        ]
        assert reading.floors(TENANT, SUBJECT, []) == []


def test_a_forgotten_memory_leaves_the_floor_of_its_value(opened: Opened) -> None:
    """SPEC F4b, F9: and of the values of what was made from it; no floor of the subject."""
    keys = opened.keyring
    other = value_target("support", "answering", b"another value...")
    put(
        opened,
        created(keys, 1, fingerprint=VALUE),
        created(keys, 2, fingerprint=b"another value...", derived_from=(number(1),)),
        created(keys, 3, fingerprint=b"a third value..."),
    )
    put(opened, memory_forgotten(keys, 1))

    third = ("value", value_target("support", "answering", b"a third value..."))
    assert floors(opened, OF_SUBJECT, OF_VALUE, ("value", other), third) == {OF_VALUE: 4, ("value", other): 4}


def test_a_rejected_memory_leaves_the_floor_of_its_value(opened: Opened) -> None:
    """SPEC F4b: what a reviewer turned down is not to come back either; the row stays."""
    put(opened, created(opened.keyring, 1, fingerprint=VALUE, is_held=True), rejected(opened.keyring, 1))

    assert floors(opened) == {OF_VALUE: 2}
    assert forgot_seq(opened) == 2


def test_a_forgotten_key_lies_below_a_floor_in_each_place(opened: Opened) -> None:
    """SPEC F4: kept for ever, whether or not anybody held the key."""
    put(opened, key_forgotten(opened.keyring, 9, floors=("task:t-1", "session:*", "user:*")))

    assert floors(opened) == {OF_LEAF: 1, OF_EVERY_USER: 1}
    assert forgot_seq(opened) == 1


def test_a_memory_without_a_fingerprint_leaves_no_floor_of_a_value(opened: Opened) -> None:
    """SPEC F4b: what cannot be compared cannot be refused."""
    put(opened, created(opened.keyring, 1), created(opened.keyring, 2))
    put(opened, memory_forgotten(opened.keyring, 1), forgotten(opened.keyring))

    assert floors(opened) == {OF_SUBJECT: 4}


def test_a_later_floor_lies_higher(opened: Opened) -> None:
    """SPEC F4a: the same target has one floor, where it was forgotten last."""
    keys = opened.keyring
    put(opened, created(keys, 1, fingerprint=VALUE), memory_forgotten(keys, 1))
    put(opened, created(keys, 2, fingerprint=VALUE), memory_forgotten(keys, 2, at=START + timedelta(hours=1)))

    with opened.store.reading() as reading:
        [row] = reading.floors(TENANT, SUBJECT, [OF_VALUE])
    assert (row.floor_seq, row.floor_at) == (4, AT + 3_600_000_000)


def test_the_highest_floor_is_the_tenants_own(opened: Opened) -> None:
    """SPEC M2: what another tenant forgets makes nobody here decide again."""
    keys = opened.keyring
    put(opened, forgotten(keys, tenant="globex"), created(keys, 1, tenant="globex"))
    put(opened, forgotten(keys, tenant="globex"), forgotten(keys))

    assert (forgot_seq(opened), forgot_seq(opened, "globex")) == (1, 3)


def test_a_write_that_nothing_was_forgotten_behind_is_stored(opened: Opened) -> None:
    """SPEC F4a: the same position is not behind it, and neither is any other event."""
    keys = opened.keyring
    put(opened, forgotten(keys), hold_placed(keys), compacted(keys), alert_raised(keys))

    results = put(
        opened,
        decided_at(created(keys, 1), 1),
        decided_at(renewed(keys, 1, to_version=2), 1),
        decided_at(created(keys, 2), 3),
    )

    assert accepted(results) == [5, 6, 7]


@pytest.mark.parametrize("kind", ["subject", "memory", "key", "value", "erasure"])
def test_a_write_that_something_was_forgotten_behind_is_decided_again(opened: Opened, kind: str) -> None:
    """SPEC F4a, F4b: by any kind of forgetting, or by a reviewer who rejects; nothing of it is stored."""
    keys = opened.keyring
    put(
        opened,
        created(keys, 1, fingerprint=VALUE, is_held=True),
        created(keys, 2, subject="customer-8"),
    )
    laying = {
        "subject": forgotten(keys),
        "memory": memory_forgotten(keys, 1),
        "key": key_forgotten(keys, 9, floors=("task:t-1",)),
        "value": rejected(keys, 1),
        "erasure": erasure_begun(keys, 9),
    }
    put(opened, laying[kind])

    results = put(
        opened,
        decided_at(created(keys, 3), 0),
        decided_at(created(keys, 4, tenant="globex"), 0),
        created(keys, 5),
        decided_at(created(keys, 6), 3),
    )

    assert results == [Overtaken(forgot_seq=3), Appended(seq=1), Appended(seq=4), Appended(seq=5)]


def test_a_forgetting_overtakes_what_comes_behind_it_in_its_batch(opened: Opened) -> None:
    """SPEC F4a, L8: an item sees what the items before it did; those before the forgetting stand."""
    keys = opened.keyring

    results = put(
        opened,
        decided_at(created(keys, 1, is_held=True, fingerprint=VALUE), 0),
        forgotten(keys, subject="customer-8"),
        decided_at(created(keys, 2), 0),
        decided_at(created(keys, 3), 2),
        rejected(keys, 1),
        decided_at(created(keys, 4), 2),
        decided_at(created(keys, 5), 4),
    )

    assert results == [
        Appended(seq=1),
        Appended(seq=2),
        Overtaken(forgot_seq=2),
        Appended(seq=3),
        Appended(seq=4),
        Overtaken(forgot_seq=4),
        Appended(seq=5),
    ]
    assert len(log_of(opened)) == 5


def test_a_retry_of_what_was_stored_is_answered_whatever_was_forgotten_since(opened: Opened) -> None:
    """SPEC L9: the key is looked up first; a command that was done is not done, nor refused, again."""
    keys = opened.keyring
    item = decided_at(created(keys, 1, key="k-1"), 0)
    put(opened, item, forgotten(keys))

    [result] = put(opened, item)

    assert type(result).__name__ == "Replayed"


def test_a_rejection_that_is_stale_overtakes_nobody(opened: Opened) -> None:
    """SPEC L8, F4a: what was not stored was not forgotten."""
    keys = opened.keyring
    put(opened, created(keys, 1, is_held=True, fingerprint=VALUE))

    results = put(opened, rejected(keys, 1, to_version=3), decided_at(created(keys, 2), 0))

    assert [type(result).__name__ for result in results] == ["Stale", "Appended"]


def test_an_erasure_takes_values_and_leaves_the_subject_and_its_keys_below_floors(opened: Opened) -> None:
    """SPEC F4b, F7: a digest of a value is taken along; ids and digests of keys stay for ever."""
    keys = opened.keyring
    put(
        opened,
        created(keys, 1, fingerprint=VALUE),
        created(keys, 2, fingerprint=VALUE, subject="customer-8"),
        created(keys, 3, fingerprint=b"another value..."),
        key_forgotten(keys, 9, floors=("task:t-1",), scope=LEAF),
        memory_forgotten(keys, 1),
        memory_forgotten(keys, 2, subject="customer-8"),
    )
    assert floors(opened) == {OF_LEAF: 4, OF_VALUE: 5}

    results = put(opened, erasure_begun(keys, 10))

    assert results == [Appended(seq=7, dropped=1)]
    assert floors(opened) == {OF_SUBJECT: 7, OF_LEAF: 4}
    assert floors(opened, subject="customer-8") == {OF_VALUE: 6}
    assert forgot_seq(opened) == 7


def test_floors_are_there_after_a_restart_and_after_a_rebuild(engine: Engine) -> None:
    """SPEC F5, E1: they are of the log, not of whoever had it open."""
    with engine.open() as opened:
        keys = opened.keyring
        put(
            opened,
            created(keys, 1, fingerprint=VALUE, is_held=True),
            key_forgotten(keys, 9, floors=("task:t-1", "user:*")),
            rejected(keys, 1),
            forgotten(keys),
        )
        before = floors(opened)

    with engine.open() as again:
        assert floors(again) == before == {OF_SUBJECT: 4, OF_VALUE: 4, OF_LEAF: 2, OF_EVERY_USER: 2}
        assert again.store.rebuild().identical
        assert floors(again) == before
        assert put(again, decided_at(created(again.keyring, 2), 3)) == [Overtaken(forgot_seq=4)]
