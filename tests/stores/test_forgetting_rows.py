"""The contract of forgetting: which rows go, with their words, whoever builds the index, and which stay."""

import pytest
from tests.clock import START
from tests.stores.engine import Engine, Opened, PostgresEngine, SqliteEngine
from tests.stores.forgetting_items import (
    LEAF,
    NAME,
    VALUE,
    a_family,
    alert_raised,
    compacted,
    erased,
    erasure_begun,
    expired,
    giraffe,
    hold_placed,
    key_forgotten,
    memory_forgotten,
    placed,
    probed,
    rejected,
)
from tests.stores.items import HOUR, SUBJECT, TENANT, accepted, forgotten, number, put, renewed
from tests.stores.looking import AT, found, standing, words_left

from tenure.core.retrieval import Filter
from tenure.usecases.ports import Append, Appended, KeyedRows, Keyring, Stale

OTHER_NAME = b"the key 'city'.."
PROBE_AT = START + HOUR


def test_a_forgotten_memory_takes_what_was_made_from_it_through_every_step(opened: Opened) -> None:
    """SPEC F9: rows and words; not what it was made from itself, nor anything beside it."""
    keys = opened.keyring
    put(opened, *a_family(keys))
    assert found(opened) == {1, 2, 3, 4, 5}

    results = put(opened, memory_forgotten(keys, 1))

    assert results == [Appended(seq=6, dropped=3)]
    assert standing(opened) == found(opened) == {4, 5}
    assert words_left(opened) == 2


def test_what_was_made_in_the_same_batch_goes_too(opened: Opened) -> None:
    """SPEC F9, L8: the forgetting sees the items before it; what comes behind it is new."""
    keys = opened.keyring

    results = put(opened, *a_family(keys), memory_forgotten(keys, 2), giraffe(keys, 6))

    assert results[5] == Appended(seq=6, dropped=2)
    assert standing(opened) == found(opened) == {1, 4, 5, 6}
    assert words_left(opened) == 4


def test_of_a_circle_of_derivations_everything_goes_once(opened: Opened) -> None:
    """SPEC F9: whatever a log says, looking for what was made from what comes to an end."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1, derived_from=(number(3), number(1))),
        giraffe(keys, 2, derived_from=(number(1),)),
        giraffe(keys, 3, derived_from=(number(2),)),
    )

    assert put(opened, memory_forgotten(keys, 2)) == [Appended(seq=4, dropped=3)]
    assert standing(opened) == set()


def test_an_id_in_another_tenant_is_not_derived_from_anything_here(opened: Opened) -> None:
    """SPEC M2: the same ids there are other memories."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1),
        giraffe(keys, 1, tenant="globex"),
        giraffe(keys, 2, tenant="globex", derived_from=(number(1),)),
        giraffe(keys, 2),
    )

    assert put(opened, memory_forgotten(keys, 1)) == [Appended(seq=3, dropped=1)]
    assert standing(opened) == {2}
    assert standing(opened, tenant="globex") == found(opened, tenant="globex") == {1, 2}


def test_a_memory_that_was_forgotten_changes_no_more(opened: Opened) -> None:
    """SPEC F1, L8: nor can one of its id be made again."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1), memory_forgotten(keys, 1))

    results = put(opened, renewed(keys, 1, to_version=2), giraffe(keys, 1), giraffe(keys, 2, needs=[(1, 1)]))

    assert all(isinstance(result, Stale) for result in results)
    assert standing(opened) == found(opened) == set()


def test_forgetting_what_does_not_stand_takes_nothing(opened: Opened) -> None:
    """SPEC F1: it is gone already, or never was."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1), giraffe(keys, 2), memory_forgotten(keys, 1))

    results = put(opened, memory_forgotten(keys, 1), memory_forgotten(keys, 7))

    assert results == [Appended(seq=4), Appended(seq=5)]
    assert standing(opened) == {2}


def scattered(keyring: Keyring) -> list[Append]:
    """One key in many places, and what differs from it in one thing."""
    return [
        giraffe(keyring, 1, key_digest=NAME, scope=placed("task", "t-1")),
        giraffe(keyring, 2, key_digest=NAME, scope=placed("task", "t-2")),
        giraffe(keyring, 3, key_digest=NAME, scope=placed("session", "s-1")),
        giraffe(keyring, 4, key_digest=NAME, scope=placed("session", "s-2")),
        giraffe(keyring, 5, key_digest=NAME, scope=placed("user", SUBJECT)),
        giraffe(keyring, 6, key_digest=OTHER_NAME, scope=placed("task", "t-1")),
        giraffe(keyring, 7, scope=placed("task", "t-1")),
        giraffe(keyring, 8, key_digest=NAME, scope=placed("task", "t-1"), agent="sales"),
        giraffe(keyring, 9, key_digest=NAME, scope=placed("task", "t-1"), purpose="selling"),
        giraffe(keyring, 10, key_digest=NAME, scope=placed("task", "t-1"), subject="customer-8"),
        giraffe(keyring, 11, key_digest=NAME, scope=placed("task", "t-1"), is_held=True),
        giraffe(keyring, 12, key_digest=NAME, scope=placed("session", "t-1")),
    ]


@pytest.mark.parametrize(
    ("floors", "gone"),
    [
        (["task:t-1"], {1, 11}),
        (["task:t-9"], set()),
        (["task:*"], {1, 2, 11}),
        (["session:s-1"], {3}),
        (["task:t-1", "session:*", "user:*"], {1, 3, 4, 5, 11, 12}),
        (["task:t-1", "session:s-1", f"user:{SUBJECT}"], {1, 3, 5, 11}),
        (["user:*"], {5}),
        (["user:customer-8"], set()),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_a_forgotten_key_is_gone_in_the_places_that_are_covered(
    opened: Opened, floors: list[str], gone: set[int]
) -> None:
    """SPEC F4: every status of it, and no other key, place, agent, purpose or subject."""
    put(opened, *scattered(opened.keyring))

    results = put(opened, key_forgotten(opened.keyring, 20, floors=floors))

    assert results == [Appended(seq=13, dropped=len(gone))]
    assert standing(opened) == set(range(1, 13)) - gone
    assert found(opened) == set(range(1, 13)) - gone - {8, 9, 11}


def test_a_forgotten_key_takes_what_was_made_from_it(opened: Opened) -> None:
    """SPEC F4, F9: in whatever place that lies, with a key or without."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1, key_digest=NAME, scope=LEAF),
        giraffe(keys, 2, derived_from=(number(1),)),
        giraffe(keys, 3, derived_from=(number(2),), key_digest=OTHER_NAME, scope=placed("session", "s-1")),
        giraffe(keys, 4, key_digest=NAME, scope=placed("user", SUBJECT)),
    )

    assert put(opened, key_forgotten(keys, 20, floors=["task:t-1"])) == [Appended(seq=5, dropped=3)]
    assert standing(opened) == found(opened) == {4}


def test_the_rows_of_a_key_are_those_within_four_walls(opened: Opened) -> None:
    """SPEC M5, F4: in any status and place; of nobody else."""
    put(opened, *scattered(opened.keyring))
    wanted = KeyedRows(tenant=TENANT, agent="support", purpose="answering", subject=SUBJECT, key_digest=NAME)
    where = Filter(tenant=TENANT, agent="support", purpose="answering", subjects=frozenset({SUBJECT}), now=AT)

    with opened.store.reading() as reading:
        rows = {row.memory_id.int for row in reading.key_rows(wanted)}
        one_key = {row.memory_id.int for row in reading.keyed(where, NAME)}
        any_key = {row.memory_id.int for row in reading.keyed(where)}

    assert rows == {1, 2, 3, 4, 5, 11, 12}
    assert one_key == {1, 2, 3, 4, 5, 12}
    assert any_key == {1, 2, 3, 4, 5, 6, 12}


def everything(keyring: Keyring) -> list[Append]:
    """Every kind of event that takes rows or words away, with rows that stay beside each."""
    return [
        *a_family(keyring),
        memory_forgotten(keyring, 2),
        giraffe(keyring, 6, key_digest=NAME, scope=LEAF),
        giraffe(keyring, 7, key_digest=NAME, scope=placed("task", "t-2")),
        key_forgotten(keyring, 20, floors=["task:t-1"], probe_at=PROBE_AT),
        key_forgotten(keyring, 21, floors=["task:t-5"], probe_at=PROBE_AT),
        probed(keyring, 21, passed=False),
        giraffe(keyring, 8, scope=LEAF, expires_at=START),
        giraffe(keyring, 9, scope=LEAF),
        expired(keyring, 8),
        compacted(keyring),
        giraffe(keyring, 10, subject="customer-8", fingerprint=VALUE),
        forgotten(keyring, subject="customer-8"),
        giraffe(keyring, 11, subject="customer-8"),
        giraffe(keyring, 12, subject="customer-9", fingerprint=VALUE),
        memory_forgotten(keyring, 12, subject="customer-9"),
        giraffe(keyring, 13, subject="customer-9"),
        erasure_begun(keyring, 30, subject="customer-9"),
        giraffe(keyring, 14, subject="customer-9"),
        erased(keyring, 30, begun_seq=22, subject="customer-9"),
        giraffe(keyring, 15, is_held=True, fingerprint=VALUE),
        rejected(keyring, 15),
        hold_placed(keyring),
        alert_raised(keyring),
    ]


LEFT = {1, 4, 5, 7, 9, 11, 14}
"""What can be found after everything."""


def make_index_behind(engine: Engine) -> None:
    """Take the word index away, as a crash may: whoever opens the store next builds it from the log."""
    if isinstance(engine, SqliteEngine):
        for file in engine.folder.glob("search.db*"):
            file.unlink()
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute("TRUNCATE posting, document, search_built")


@pytest.mark.parametrize("batches", ["one batch", "a batch each"])
def test_whatever_was_forgotten_rows_and_words_say_the_same(engine: Engine, batches: str) -> None:
    """SPEC E1, F5: in one batch or many, from the writer, from the log, or from a rebuild."""
    with engine.open() as opened:
        items = everything(opened.keyring)
        if batches == "one batch":
            accepted(put(opened, *items))
        else:
            for item in items:
                accepted(put(opened, item))
        assert (standing(opened), found(opened)) == (LEFT | {15}, LEFT)
        left = {subject: words_left(opened, subject) for subject in (SUBJECT, "customer-8", "customer-9")}
        assert left == {SUBJECT: 5, "customer-8": 1, "customer-9": 1}
    before = engine.views()

    make_index_behind(engine)
    with engine.open() as opened:
        assert found(opened) == LEFT
        assert {subject: words_left(opened, subject) for subject in left} == left
        assert opened.store.rebuild().identical
        assert (standing(opened), found(opened)) == (LEFT | {15}, LEFT)
        assert {subject: words_left(opened, subject) for subject in left} == left
    assert engine.views() == before


def test_what_was_forgotten_is_not_found_by_an_index_that_knew_it(engine: Engine) -> None:
    """SPEC F5, E1: an index that was built before the forgettings catches up with them."""
    with engine.open() as opened:
        items = everything(opened.keyring)
        for item in items[:5]:
            put(opened, item)
        assert found(opened) == {1, 2, 3, 4, 5}
    kept = _keep_index(engine)
    with engine.open() as opened:
        accepted(put(opened, *items[5:]))
    _put_index_back(engine, kept)

    with engine.open() as opened:
        assert found(opened) == LEFT
        assert words_left(opened) == 5


def _keep_index(engine: Engine) -> dict[str, bytes]:
    """A copy of the word index, as an old one may come back; over a database there is none to copy."""
    if isinstance(engine, SqliteEngine):
        return {file.name: file.read_bytes() for file in engine.folder.glob("search.db*")}
    return {}


def _put_index_back(engine: Engine, kept: dict[str, bytes]) -> None:
    if isinstance(engine, SqliteEngine):
        for name, whole in kept.items():
            (engine.folder / name).write_bytes(whole)
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute("UPDATE search_built SET seq = 5")
