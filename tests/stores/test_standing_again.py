"""The contract of what is found once a memory stands again: its words, key and vector (SPEC T2, R2)."""

import pytest
from msgspec.structs import replace
from tests.clock import START
from tests.stores.engine import Engine, Opened
from tests.stores.forgetting_items import giraffe, memory_forgotten
from tests.stores.items import SUBJECT, TENANT, created, item_of, number, put
from tests.stores.looking import by_words
from tests.stores.truth_items import merged, reinstated, superseded, unmerged, valid_until

from tenure.core.events import Secret
from tenure.core.retrieval import Filter
from tenure.core.rows import microseconds
from tenure.core.wording import analyse
from tenure.engines.embedding.static import shipped_table
from tenure.usecases.ports import Append, Keyring, Reading

MODEL = shipped_table().model
WHERE = Filter(
    tenant=TENANT,
    agent="support",
    purpose="answering",
    subjects=frozenset({SUBJECT}),
    now=microseconds(START),
)
EVERYBODY = replace(WHERE, subjects=None)
SAID = Secret(content="The okapi eats leaves", key="zoo.okapi")


def okapi(keys: Keyring, memory: int = 2) -> Append:
    """A memory with a key, and a word that no other has."""
    [sealed] = created(keys, memory).events
    secret = replace(SAID, key_digest=b"k" * 16)
    return item_of(keys, replace(sealed.event, secret=secret))


def ended_and_back(keys: Keyring, how: str) -> tuple[Append, Append]:
    """How memory 2 came behind memory 1, and how it stands again."""
    if how == "merged":
        return merged(keys, 2, 1), unmerged(keys, 2, 1, secret=SAID)
    return superseded(keys, 2, 1), reinstated(keys, 2, 1, secret=SAID)


def passing(reading: Reading, where: Filter = WHERE) -> dict[int, bool]:
    """The memories that pass, and whether each has a vector."""
    rows = reading.search(where, (), MODEL).rows
    assert rows.vectors is not None
    return {one.int: bool(scale) for one, scale in zip(rows.ids, rows.vectors.scales, strict=True)}


def okapis(reading: Reading, where: Filter = WHERE) -> set[int]:
    """The memories that are found by the word."""
    return by_words(reading, where, analyse("okapi"))


@pytest.mark.parametrize("how", ["merged", "superseded"])
@pytest.mark.parametrize("where", [WHERE, EVERYBODY], ids=["subject", "everybody"])
def test_what_stands_again_is_found_again_as_it_was_found_before(
    opened: Opened, how: str, where: Filter
) -> None:
    """SPEC T2, T3, R2: by word, key and meaning, also where its place was searched while it was gone."""
    keys = opened.keyring
    gone, back = ended_and_back(keys, how)
    put(opened, giraffe(keys, 1), okapi(keys))
    keyed = replace(where, key_prefix="zoo.")
    with opened.store.reading() as reading:
        assert (passing(reading, where), okapis(reading, where)) == ({1: True, 2: True}, {2})

    put(opened, gone)
    with opened.store.reading() as reading:
        assert (passing(reading, where), okapis(reading, where)) == ({1: True}, set())
        assert passing(reading, keyed) == {}

    put(opened, back)
    with opened.store.reading() as reading:
        assert (passing(reading, where), okapis(reading, where)) == ({1: True, 2: True}, {2})
        assert passing(reading, keyed) == {2: True}


@pytest.mark.parametrize("how", ["merged", "superseded"])
def test_the_words_of_what_stands_again_come_out_of_the_log(engine: Engine, how: str) -> None:
    """SPEC E1: an index that is made anew finds what stands, and nothing that stands behind it."""
    with engine.open() as opened:
        keys = opened.keyring
        gone, back = ended_and_back(keys, how)
        put(opened, giraffe(keys, 1), okapi(keys), gone)
        opened.store.rebuild()
        with opened.store.reading() as reading:
            assert (passing(reading), okapis(reading)) == ({1: True}, set())

        put(opened, back)
        opened.store.rebuild()

        with opened.store.reading() as reading:
            assert (passing(reading), okapis(reading)) == ({1: True, 2: True}, {2})
            assert passing(reading, replace(WHERE, key_prefix="zoo.")) == {2: True}


def test_what_ends_and_stands_again_in_one_batch_is_found(opened: Opened) -> None:
    """SPEC T2: and what stands again and ends is not."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1), okapi(keys))

    put(opened, merged(keys, 2, 1), unmerged(keys, 2, 1, secret=SAID))
    with opened.store.reading() as reading:
        assert (passing(reading), okapis(reading)) == ({1: True, 2: True}, {2})

    put(opened, merged(keys, 2, 1, to_version=4), unmerged(keys, 2, 1, to_version=5, secret=SAID))
    put(opened, merged(keys, 2, 1, to_version=6))
    with opened.store.reading() as reading:
        assert (passing(reading), okapis(reading)) == ({1: True}, set())


def test_a_vector_that_is_made_later_belongs_to_the_version_that_stands_again(opened: Opened) -> None:
    """SPEC R2: what was embedded while the memory was gone, or before, is not kept for it."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1), okapi(keys))
    put(opened, merged(keys, 2, 1), unmerged(keys, 2, 1, secret=SAID))
    other = "another-model/1"
    with opened.store.reading() as reading:
        waiting = {
            one.memory_id.int: (one.created_seq, one.version)
            for one in reading.unembedded(TENANT, other, after=0, limit=50)
        }
    assert waiting == {1: (1, 1), 2: (2, 3)}
    vector = b"\x00\x00\x80\x3f" + b"\x01" * 8

    opened.store.put_vectors(TENANT, other, [(2, 1, vector), (2, 2, vector)])
    with opened.store.reading() as reading:
        assert reading.models(TENANT) == {MODEL: 2}
    opened.store.put_vectors(TENANT, other, [(2, 3, vector)])

    with opened.store.reading() as reading:
        assert reading.models(TENANT) == {MODEL: 2, other: 1}


def test_what_is_closed_stays_in_the_index_for_the_time_in_which_it_held(opened: Opened) -> None:
    """SPEC T4: it passes for a question about then, and not for one about now."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1), okapi(keys), valid_until(keys, 2, 1))

    with opened.store.reading() as reading:
        before = replace(WHERE, valid_at=WHERE.now - 1)
        assert (passing(reading, before), okapis(reading, before)) == ({1: True, 2: True}, {2})
        assert (passing(reading), okapis(reading)) == ({1: True}, set())


def test_what_was_forgotten_while_it_stood_behind_another_leaves_no_word(opened: Opened) -> None:
    """SPEC F9, T2: its words were out of the index before, and none comes back by a rebuild."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1), okapi(keys), merged(keys, 2, 1), memory_forgotten(keys, 1))

    for _ in range(2):
        with opened.store.reading() as reading:
            assert (passing(reading), okapis(reading)) == ({}, set())
            assert reading.words_left(TENANT, SUBJECT, 1_000) == 0
            assert reading.memory_row(TENANT, number(2)) is None
        opened.store.rebuild()
