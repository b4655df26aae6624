"""The contract of append: items are whole or absent, versions are checked, positions are dense."""

from msgspec.structs import replace
from tests.clock import START
from tests.stores.engine import Engine, Opened
from tests.stores.items import (
    SUBJECT,
    TENANT,
    accepted,
    created,
    forgotten,
    held_anew,
    log_of,
    number,
    put,
    renewed,
    revoked,
    source_revoked,
    together,
)

from tenure.core.ledger import GENESIS, link
from tenure.core.retrieval import Filter
from tenure.core.rows import REVOKING, microseconds
from tenure.core.wording import analyse
from tenure.usecases.ports import Appended, Listing, Overtaken, Stale

NOW = microseconds(START)


def version_of(opened: Opened, memory: int, tenant: str = TENANT) -> int | None:
    """The version at which the view has a memory."""
    with opened.store.reading() as reading:
        row = reading.memory_row(tenant, number(memory))
    return row.version if row else None


def status_of(opened: Opened, memory: int, tenant: str = TENANT) -> str | None:
    """The status that the view has of a memory."""
    with opened.store.reading() as reading:
        row = reading.memory_row(tenant, number(memory))
    return row.status if row else None


def test_what_was_appended_is_in_the_log_and_in_the_view(opened: Opened) -> None:
    """SPEC L1, E1: the event and its row stand together once append has answered."""
    results = put(opened, created(opened.keyring, 1))

    assert results == [Appended(seq=1)]
    assert [stored.seq for stored in log_of(opened)] == [1]
    assert version_of(opened, 1) == 1


def test_what_was_appended_is_found_by_its_words_at_once(opened: Opened) -> None:
    """SPEC R1: a caller finds what it just wrote, as soon as append has answered."""
    put(opened, created(opened.keyring, 1))
    where = Filter(
        tenant=TENANT, agent="support", purpose="answering", subjects=frozenset({SUBJECT}), now=NOW
    )

    with opened.store.reading() as reading:
        postings = reading.search(where, analyse("Which phone?"), None).postings

    found = [(term, one.seqs.tolist(), one.frequencies.tolist()) for term, one in postings.items()]
    assert found == [("phone", [1], [1])]


def test_positions_are_dense_whatever_was_refused(opened: Opened) -> None:
    """SPEC E1: a refused item leaves no gap, within a batch or between batches."""
    keys = opened.keyring

    first = put(opened, created(keys, 1), created(keys, 1), created(keys, 2))
    second = put(opened, renewed(keys, 1, to_version=9), renewed(keys, 1, to_version=2))

    assert [type(result) for result in first] == [Appended, Stale, Appended]
    assert [type(result) for result in second] == [Stale, Appended]
    assert [stored.seq for stored in log_of(opened)] == [1, 2, 3]


def test_each_tenant_has_a_log_of_its_own(opened: Opened) -> None:
    """SPEC M2: positions and links of one tenant say nothing of another."""
    keys = opened.keyring

    results = put(
        opened, created(keys, 1), created(keys, 2, tenant="globex"), created(keys, 3), created(keys, 4)
    )

    assert accepted(results) == [1, 1, 2, 3]
    with opened.store.reading() as reading:
        assert reading.tenants() == ["acme", "globex"]
        assert reading.head("globex")[0] == 1
        assert reading.head("initech") == (0, GENESIS)


def test_each_link_follows_from_the_one_before_it(opened: Opened) -> None:
    """SPEC E2: the chain goes from the first event to the head, across batches."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2))
    put(opened, renewed(keys, 1, to_version=2))

    previous = GENESIS
    for stored in log_of(opened):
        previous = link(previous, stored.seq, stored.header)
        assert stored.link == previous
    with opened.store.reading() as reading:
        assert reading.head(TENANT) == (3, previous)


def test_a_version_is_checked_against_what_stands(opened: Opened) -> None:
    """SPEC L8: another version than the next one is stale, says the current one, and changes nothing."""
    keys = opened.keyring
    put(opened, created(keys, 1), renewed(keys, 1, to_version=2))

    results = put(opened, renewed(keys, 1, to_version=2), renewed(keys, 1, to_version=4))

    assert results == [
        Stale(memory_id=number(1), expected=1, current=2),
        Stale(memory_id=number(1), expected=3, current=2),
    ]
    assert version_of(opened, 1) == 2


def test_an_item_sees_what_the_items_before_it_did(opened: Opened) -> None:
    """SPEC L8: within one batch the first of two writers with one expectation wins."""
    keys = opened.keyring

    results = put(
        opened,
        created(keys, 1),
        renewed(keys, 1, to_version=2, days=41),
        renewed(keys, 1, to_version=2, days=42),
        renewed(keys, 1, to_version=3, days=43),
    )

    assert results == [
        Appended(seq=1),
        Appended(seq=2),
        Stale(memory_id=number(1), expected=1, current=2),
        Appended(seq=3),
    ]


def test_a_memory_that_does_not_exist_has_version_0(opened: Opened) -> None:
    """SPEC L8: a second version of nothing is stale."""
    results = put(opened, renewed(opened.keyring, 1, to_version=2))

    assert results == [Stale(memory_id=number(1), expected=1, current=0)]


def test_an_item_of_which_one_event_is_stale_leaves_nothing(opened: Opened) -> None:
    """SPEC L8, L10: a correction and the end of what it corrects stand together or not at all."""
    keys = opened.keyring
    put(opened, created(keys, 1))

    results = put(opened, together(created(keys, 2), renewed(keys, 1, to_version=3)))

    assert results == [Stale(memory_id=number(1), expected=2, current=1)]
    assert version_of(opened, 2) is None
    assert len(log_of(opened)) == 1


def test_what_an_item_needs_must_still_stand(opened: Opened) -> None:
    """SPEC L8, M5a: a derived memory is kept only while its inputs are at the version that was read."""
    keys = opened.keyring
    put(opened, created(keys, 1))

    results = put(
        opened,
        created(keys, 2, needs=[(1, 1)]),
        renewed(keys, 1, to_version=2),
        created(keys, 3, needs=[(1, 1)]),
        created(keys, 4, needs=[(9, 1)]),
    )

    assert results == [
        Appended(seq=2),
        Appended(seq=3),
        Stale(memory_id=number(1), expected=1, current=2),
        Stale(memory_id=number(9), expected=1, current=0),
    ]


def test_a_forgetting_counts_the_rows_that_it_took(opened: Opened) -> None:
    """SPEC F1: the count is of what stood at that moment, the items before it in the batch included."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2, is_held=True), created(keys, 3, subject="customer-8"))

    results = put(opened, created(keys, 4), forgotten(keys), created(keys, 5), forgotten(keys))

    assert results == [
        Appended(seq=4),
        Appended(seq=5, dropped=3),
        Appended(seq=6),
        Appended(seq=7, dropped=1),
    ]
    assert version_of(opened, 3) == 1


def test_an_id_that_was_forgotten_is_never_used_again(opened: Opened) -> None:
    """SPEC F4a, L8: the log still has the stream, so that a new memory of the same id is stale."""
    keys = opened.keyring
    put(opened, created(keys, 1), renewed(keys, 1, to_version=2))
    put(opened, forgotten(keys))

    results = put(opened, created(keys, 1), renewed(keys, 1, to_version=3))

    assert results == [
        Stale(memory_id=number(1), expected=0, current=2),
        Stale(memory_id=number(1), expected=2, current=2),
    ]
    assert version_of(opened, 1) is None


def test_the_same_id_in_two_tenants_is_two_memories(opened: Opened) -> None:
    """SPEC M2: nothing of one tenant stands in the way of another."""
    keys = opened.keyring

    accepted(put(opened, created(keys, 1), created(keys, 1, tenant="globex")))
    put(opened, forgotten(keys, tenant="globex"))

    assert version_of(opened, 1) == 1
    assert version_of(opened, 1, "globex") is None


def test_an_empty_batch_changes_nothing(opened: Opened) -> None:
    """SPEC E1: nothing asked, nothing stored."""
    assert put(opened) == []
    assert log_of(opened) == []


def test_everything_is_there_after_a_restart(engine: Engine) -> None:
    """SPEC E5: what was acknowledged is durable."""
    opened = engine.open()
    put(opened, created(opened.keyring, 1), renewed(opened.keyring, 1, to_version=2))
    before = log_of(opened)
    opened.close()

    again = engine.open()
    try:
        assert log_of(again) == before
        assert version_of(again, 1) == 2
        assert accepted(put(again, renewed(again.keyring, 1, to_version=3))) == [3]
    finally:
        again.close()


def test_a_reading_sees_one_moment(opened: Opened) -> None:
    """SPEC L8: what is committed while a reading is open is not in it, in no part of it."""
    keys = opened.keyring
    put(opened, created(keys, 1))

    with opened.store.reading() as reading:
        before = reading.head(TENANT)
        put(opened, created(keys, 2), renewed(keys, 1, to_version=2))

        row = reading.memory_row(TENANT, number(1))
        assert reading.head(TENANT) == before
        assert row is not None
        assert row.version == 1
        assert len(reading.listing(Listing(tenant=TENANT, now=NOW, limit=10))) == 1


def test_nothing_but_its_own_revocation_happens_to_a_memory_whose_source_was_revoked(opened: Opened) -> None:
    """SPEC I1, L8: what was decided before the revocation is stale, though no version moved by it."""
    keys = opened.keyring
    put(opened, *(created(keys, memory) for memory in (1, 2, 3)), created(keys, 4, source_id="crm-2"))
    made = created(keys, 5, source_id="crm-2", derived_from=(number(2),))
    put(opened, made, source_revoked(keys, "crm-1"))

    results = put(
        opened,
        renewed(keys, 1, to_version=2),
        held_anew(keys, 2, to_version=2),
        renewed(keys, 4, to_version=2),
        renewed(keys, 5, to_version=2),
        revoked(keys, 1, to_version=2, because_of=6),
    )

    assert [type(result) for result in results] == [Stale, Stale, Appended, Stale, Appended]
    assert results[0] == Stale(memory_id=number(1), expected=1, current=1)
    assert status_of(opened, 2) == status_of(opened, 3) == status_of(opened, 5) == REVOKING
    assert (status_of(opened, 1), status_of(opened, 4)) == ("revoked", "active")


def test_within_one_batch_a_revoked_source_counts_for_what_comes_behind_it(opened: Opened) -> None:
    """SPEC I1: as between batches; a write that was decided before is decided again."""
    keys = opened.keyring

    results = put(
        opened,
        created(keys, 1),
        source_revoked(keys, "crm-1"),
        renewed(keys, 1, to_version=2),
        replace(created(keys, 2), forgot_seq=0),
        forgotten(keys),
    )

    assert results == [
        Appended(seq=1),
        Appended(seq=2, dropped=1),
        Stale(memory_id=number(1), expected=1, current=1),
        Overtaken(forgot_seq=2),
        Appended(seq=3, dropped=1),
    ]


def test_a_source_of_another_type_or_tenant_is_not_the_one_that_was_revoked(opened: Opened) -> None:
    """SPEC I1, M2: no type stands for every type; another tenant's source of that name is another source."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2, tenant="globex"))

    put(opened, source_revoked(keys, "crm-1", source_type="email"))
    put(opened, source_revoked(keys, "crm-1", source_type=None, tenant="globex"))

    assert status_of(opened, 1) == "active"
    assert status_of(opened, 2, "globex") == REVOKING
