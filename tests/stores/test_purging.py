"""The contract of what an erasure leaves: no body, no word, a chain that holds, the truth of the rest."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.clock import START
from tests.stores.engine import Engine, Opened, PostgresEngine, SqliteEngine
from tests.stores.forgetting_items import NAME, VALUE, erasure_begun
from tests.stores.items import SUBJECT, TENANT, accepted, created, log_of, number, put, renewed
from tests.stores.looking import by_words
from tests.stores.truth_items import CITY, DIET

from tenure.core.boundary_rows import place_number
from tenure.core.retrieval import Filter
from tenure.core.rows import FOREVER, microseconds
from tenure.core.wording import analyse
from tenure.usecases.evidence import verify
from tenure.usecases.ports import Residue
from tenure.usecases.sealing import fold

BEGUN = 5
"""Where the erasure begins in the log that ``lived`` makes."""
ROWS = "memory rows of the subject"
CLAIMS = "claims of the subject's memories"
BODIES = "sealed bodies of the subject in the log"
WORDS = "entries of the subject in the word index"
FILES = "contents in the files of the store"


def lived(opened: Opened, *, is_erased: bool = True) -> None:
    """Somebody, somebody else, and the first of them again after an erasure began."""
    keys = opened.keyring
    items = [
        created(keys, 1, content="Okapi in the garden", key_digest=NAME, fingerprint=VALUE, things=(DIET,)),
        created(keys, 2, content="Okapi at the lake", subject="customer-8", things=(CITY,)),
        created(keys, 3, content="Quokka in the garden", derived_from=(number(1),)),
        renewed(keys, 1, to_version=2),
        erasure_begun(keys, 30),
        created(keys, 4, content="Numbat by the road", things=(CITY,)),
        created(keys, 5, content="Okapi in the desert", tenant="globex"),
    ]
    accepted(put(opened, *(item for one, item in enumerate(items) if is_erased or one != BEGUN - 1)))


def bodies(opened: Opened, tenant: str = TENANT) -> dict[int, bool]:
    """Where the log has a sealed body."""
    return {stored.seq: stored.body is not None for stored in log_of(opened, tenant)}


def found(opened: Opened, words: str) -> set[int]:
    """The memories that are found by words, of anybody."""
    where = Filter(tenant=TENANT, agent="support", purpose="answering", now=microseconds(START))
    with opened.store.reading() as reading:
        return by_words(reading, where, analyse(words))


def failed(looked: list[Residue]) -> list[str]:
    """The checks that did not pass."""
    return [one.name for one in looked if not one.passed]


def left(opened: Opened, up_to_seq: int = BEGUN) -> list[str]:
    """What is left of the subject, by the names of the checks."""
    looked = opened.store.residue(TENANT, SUBJECT, up_to_seq=up_to_seq)
    assert [one.name for one in looked] == [ROWS, BODIES, CLAIMS, WORDS]
    return failed(looked)


def test_bodies_are_taken_away_up_to_a_position_and_the_chain_holds(opened: Opened) -> None:
    """SPEC F7, E2: of one subject of one tenant; headers and links stay byte for byte, also a second time."""
    lived(opened)
    before = log_of(opened)

    for _ in range(2):
        opened.store.purge(TENANT, SUBJECT, up_to_seq=BEGUN)

        after = log_of(opened)
        assert bodies(opened) == {1: False, 2: True, 3: False, 4: False, 5: False, 6: True}
        assert [(one.seq, one.header, one.link) for one in after] == [
            (one.seq, one.header, one.link) for one in before
        ]
        assert (after[1], after[5]) == (before[1], before[5])
        assert bodies(opened, "globex") == {1: True}
        assert verify(opened.pipeline, TENANT).holds


def test_what_came_after_an_erasure_is_read_and_rebuilt_as_before(engine: Engine) -> None:
    """SPEC F7, E1: the views and the word index come out of what is left of the log, after a restart too."""
    with engine.open() as opened:
        lived(opened)
        opened.store.purge(TENANT, SUBJECT, up_to_seq=BEGUN)
    before = engine.views()
    for _ in range(2):
        with engine.open() as opened:
            assert opened.store.rebuild().identical
            assert (found(opened, "numbat"), found(opened, "okapi quokka")) == ({4}, {2})
            with opened.store.reading() as reading:
                memory = fold(reading, opened.keyring, TENANT, number(4))
            assert memory is not None
            assert memory.content == "Numbat by the road"
            assert left(opened) == []
    assert engine.views() == before


def test_the_store_counts_what_is_left_up_to_a_position(opened: Opened) -> None:
    """SPEC F8: what came later is no residue of an erasure."""
    lived(opened)
    found(opened, "okapi")
    with opened.store.reading() as reading:
        assert [reading.bodies_left(TENANT, SUBJECT, seq) for seq in (0, 1, 3, BEGUN, 6)] == [0, 1, 2, 3, 4]
        assert [reading.words_left(TENANT, SUBJECT, seq) for seq in (BEGUN, 6)] == [0, 1]
        assert reading.standing(TENANT, SUBJECT) == {6}
        assert reading.standing(TENANT, "customer-8") == {2}
        assert reading.subject_streams(TENANT, SUBJECT, up_to_seq=BEGUN) == [number(1), number(3)]
        assert reading.subject_streams(TENANT, SUBJECT) == [number(1), number(3), number(4)]


def test_before_an_erasure_everything_is_told(opened: Opened) -> None:
    """SPEC F8: a check that could not fail would be none."""
    lived(opened, is_erased=False)
    found(opened, "okapi")

    looked = opened.store.residue(TENANT, SUBJECT, up_to_seq=4)

    assert [one.detail for one in looked] == ["2 left", "3 left", "1 left", "2 left"]
    assert failed(looked) == [ROWS, BODIES, CLAIMS, WORDS]


def test_bodies_that_are_left_are_told_and_then_taken(opened: Opened) -> None:
    """SPEC F7, F8: an erasure that began has no certificate before they are gone."""
    lived(opened)

    assert left(opened) == [BODIES]
    opened.store.purge(TENANT, SUBJECT, up_to_seq=3)
    assert left(opened) == [BODIES]
    opened.store.purge(TENANT, SUBJECT, up_to_seq=BEGUN)
    assert left(opened) == []
    assert left(opened, FOREVER) == [ROWS, BODIES, CLAIMS, WORDS]


def plant_row(engine: Engine) -> None:
    """Put a memory's row back behind the store's back."""
    change = "UPDATE memory SET created_seq = 1 WHERE tenant_id = 'acme' AND created_seq = 6"
    if isinstance(engine, SqliteEngine):
        engine.execute(change, {})
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute(change.encode())


def plant_claim(engine: Engine) -> None:
    """Put the digest of what a memory claimed something of back."""
    change = "UPDATE thing SET subject = 'customer-7' WHERE tenant_id = 'acme' AND subject = 'customer-8'"
    if isinstance(engine, SqliteEngine):
        engine.execute(change, {})
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute(change.encode())


def plant_body(engine: Engine) -> None:
    """Put a sealed body back."""
    if isinstance(engine, SqliteEngine):
        engine.execute("UPDATE event SET body = x'00' WHERE tenant_id = 'acme' AND seq = 3", {})
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute(
                "SET LOCAL session_replication_role = replica;"
                " UPDATE event SET body = 'x' WHERE tenant_id = 'acme' AND seq = 3"
            )


def plant_word(engine: Engine) -> None:
    """Put an entry back into the word index."""
    if isinstance(engine, SqliteEngine):
        engine.execute(
            "ATTACH DATABASE :path AS search;"
            " UPDATE search.document SET created_seq = 1 WHERE tenant_id = 'acme' AND created_seq = 6",
            {"path": str(engine.folder / "search.db")},
        )
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute(
                "INSERT INTO document (tenant_id, created_seq, boundary, subject, version, terms) "
                "VALUES ('acme', 1, 1, %s, 1, '{okapi}')",
                (place_number(SUBJECT),),
            )


@pytest.mark.parametrize(
    ("plant", "checks"),
    [
        (plant_row, [ROWS, CLAIMS]),
        (plant_body, [BODIES]),
        (plant_claim, [CLAIMS]),
        (plant_word, [WORDS]),
    ],
    ids=["row", "body", "claim", "word"],
)
def test_what_is_planted_after_an_erasure_is_found(
    engine: Engine, opened: Opened, plant: Callable[[Engine], None], checks: list[str]
) -> None:
    """SPEC F8: each check looks where it says, so that no certificate is given over what is left."""
    lived(opened)
    opened.store.purge(TENANT, SUBJECT, up_to_seq=BEGUN)
    found(opened, "okapi")
    assert left(opened) == []

    plant(engine)

    assert left(opened) == checks


def test_words_that_were_indexed_are_in_no_file_after_they_were_rewritten(
    engine: Engine, opened: Opened
) -> None:
    """SPEC F7: neither in the index nor in its write-ahead log; what others said is there as before."""
    lived(opened)
    found(opened, "okapi")

    opened.store.rewrite_words(TENANT, SUBJECT, up_to_seq=BEGUN)

    if isinstance(engine, SqliteEngine):
        assert _files_with(engine.folder, b"quokka") == []
        assert _files_with(engine.folder, b"okapi") != []
    elif isinstance(engine, PostgresEngine):
        words = [pages for pages in _index_pages(engine) if b"quokka" in pages]
        assert words == []
        assert any(b"okapi" in pages for pages in _index_pages(engine))
    assert (found(opened, "numbat"), found(opened, "okapi quokka")) == ({4}, {2})


def test_what_was_claimed_of_is_in_no_file_after_an_erasure(engine: Engine, opened: Opened) -> None:
    """SPEC F7: a digest is nobody's words, and yet it goes; that of somebody else stays."""
    lived(opened)
    opened.store.purge(TENANT, SUBJECT, up_to_seq=BEGUN)

    if isinstance(engine, SqliteEngine):
        assert _files_with(engine.folder, DIET) == []
        assert _files_with(engine.folder, CITY) == ["log.db"]
    with opened.store.reading() as reading:
        assert reading.things_of(TENANT, [number(1), number(3)]) == []
        assert len(reading.things_of(TENANT, [number(2), number(4)])) == 2


def _files_with(folder: Path, piece: bytes) -> list[str]:
    return [path.name for path in sorted(folder.iterdir()) if path.is_file() and piece in path.read_bytes()]


def _index_pages(engine: PostgresEngine) -> list[bytes]:
    """The files of the word index, as they lie on the server's disk."""
    with engine.superuser() as connection:
        connection.execute("CHECKPOINT")
        rows = connection.execute(
            "SELECT pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class"
            " WHERE relnamespace = 'tenure'::regnamespace"
            " AND (relname LIKE 'document%' OR relname LIKE 'posting%')"
        ).fetchall()
    return [pages for (pages,) in rows if isinstance(pages, bytes)]


def test_bytes_in_any_file_of_the_store_are_found(engine: Engine, opened: Opened) -> None:
    """SPEC F8: whatever file it is; where none is within reach, none is spoken of."""
    lived(opened)
    needles = [b"a secret sentence", b"another one"]
    looked = opened.store.search_files(needles, [])
    if not isinstance(engine, SqliteEngine):
        assert looked == []
        return
    assert [(one.name, one.passed) for one in looked] == [(FILES, True)]

    (engine.folder / "copy-of-log.db").write_bytes(bytes(5_000) + needles[1] + bytes(5_000))

    [looked_again] = opened.store.search_files(needles, [])
    assert not looked_again.passed
    assert "copy-of-log.db" in looked_again.detail
    assert needles[1].decode() not in looked_again.detail


def test_words_as_they_were_indexed_are_found_unless_another_memory_has_the_same(
    engine: Engine, opened: Opened
) -> None:
    """SPEC F8: before the rewrite they lie there; words that somebody else has too are not the subject's."""
    lived(opened, is_erased=False)
    found(opened, "okapi")
    if not isinstance(engine, SqliteEngine):
        assert opened.store.search_files([], [b"okapi"]) == []
        return
    theirs = b'["1","crm","crm-1","garden","quokka"]'
    assert _files_with(engine.folder, theirs) != []

    [still_there] = opened.store.search_files([], [theirs])
    put(opened, erasure_begun(opened.keyring, 30))
    opened.store.rewrite_words(TENANT, SUBJECT, up_to_seq=9)
    [gone] = opened.store.search_files([], [theirs])

    assert (still_there.passed, gone.passed) == (True, True)
    (engine.folder / "copy-of-search.db").write_bytes(theirs)
    [copied] = opened.store.search_files([], [theirs])
    assert not copied.passed
