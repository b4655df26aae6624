"""The contract of the record of forgets: every forget that happened, no other, also without the log."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import psycopg
import pytest
from tests.clock import START
from tests.stores.engine import Engine, Opened, PostgresEngine, SqliteEngine
from tests.stores.forgetting_items import (
    VALUE,
    alert_raised,
    compacted,
    erased,
    erasure_begun,
    hold_placed,
    key_forgotten,
    memory_forgotten,
    probed,
    rejected,
)
from tests.stores.items import accepted, created, forgotten, put
from tests.stores.places import NewPlace
from tests.usecases.asking import AGENT, OFFICER, PURPOSE, SUBJECT, TENANT, written

from tenure.config import Settings
from tenure.config.settings import Keys
from tenure.core.errors import Unavailable
from tenure.core.events import decode_header
from tenure.core.forgetting import ForgetKey
from tenure.core.identity import Scope, Tier
from tenure.stores.postgres import store
from tenure.stores.postgres.connecting import Connection, OutcomeUnknown, committed
from tenure.stores.sqlite import store as sqlite_store
from tenure.stores.sqlite.connection import transaction
from tenure.stores.sqlite.store import SqliteStore
from tenure.usecases.forgetting import (
    FORGET_KEY,
    FORGET_MEMORY,
    FORGET_SUBJECT,
    ForgetMemory,
    ForgetSubject,
)
from tenure.usecases.ports import StoredEvent
from tenure.wiring import Node, open_database, open_store


def forget(opened: Opened, subject: str) -> None:
    """Forget a subject of the tenant."""
    opened.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=subject))


def test_every_forget_is_recorded_in_order_as_the_log_has_it(opened: Opened) -> None:
    """SPEC F11: tenant, position, header and link; no other event is there."""
    written(opened.pipeline)
    forget(opened, SUBJECT)
    forget(opened, "customer-8")

    recorded = list(opened.store.forgets())

    assert recorded == [(TENANT, stored) for stored in opened.store.export(TENANT) if stored.seq > 1]
    assert [decode_header(stored.header).subject for _, stored in recorded] == [SUBJECT, "customer-8"]
    assert [stored.body for _, stored in recorded] == [None, None]


def test_every_kind_of_forget_is_recorded_and_nothing_else(opened: Opened) -> None:
    """SPEC F11: of a subject, a memory, a key, and an erasure; what a reviewer rejects is no forget."""
    keys = opened.keyring
    accepted(
        put(
            opened,
            created(keys, 1),
            created(keys, 2, is_held=True, fingerprint=VALUE),
            memory_forgotten(keys, 1),
            rejected(keys, 2),
            key_forgotten(keys, 20, floors=["task:t-1"], probe_at=START),
            probed(keys, 20, passed=False),
            compacted(keys),
            forgotten(keys, subject="customer-8"),
            hold_placed(keys),
            erasure_begun(keys, 30),
            erased(keys, 30, begun_seq=10),
            alert_raised(keys),
        )
    )
    put(opened, memory_forgotten(keys, 1, tenant="globex"))

    recorded = list(opened.store.forgets())

    assert [(tenant, stored.seq) for tenant, stored in sorted(recorded, key=_place)] == [
        *((TENANT, seq) for seq in (3, 5, 8, 10)),
        ("globex", 1),
    ]
    log = {(TENANT, stored.seq): stored for stored in opened.store.export(TENANT)}
    for tenant, stored in recorded:
        if tenant == TENANT:
            kept = log[(tenant, stored.seq)]
            assert (stored.header, stored.link, stored.body) == (kept.header, kept.link, None)


def test_no_content_is_in_the_record(opened: Opened) -> None:
    """SPEC F7, F11: it outlives an erasure, so it names ids, times and keyed digests only."""
    memory = written(opened.pipeline, "Likes the okapi", key="favourite animal")
    forget = ForgetKey(
        agent=AGENT,
        purpose=PURPOSE,
        subject=SUBJECT,
        key="favourite animal",
        scope=Scope(tier=Tier.USER, id=SUBJECT),
    )
    opened.pipeline.run(FORGET_KEY, OFFICER, forget)
    again = written(opened.pipeline, "Likes the quokka")
    opened.pipeline.run(FORGET_MEMORY, OFFICER, ForgetMemory(memory_id=again.id, expected_version=1))

    said = b"".join(stored.header + (stored.body or b"") for _, stored in opened.store.forgets())

    assert memory.id != again.id
    assert [word for word in (b"okapi", b"quokka", b"favourite") if word in said] == []
    assert SUBJECT.encode() in said


def test_forgets_of_another_store_are_added_to_the_record(
    engine: Engine, opened: Opened, other_engine: Engine
) -> None:
    """SPEC F11: a restore that carries them out tells of them, in their order, behind what was there."""
    with other_engine.open() as other:
        forget(other, SUBJECT)
        put(other, forgotten(other.keyring, tenant="globex"))
        theirs = list(other.store.forgets())
    forget(opened, "customer-8")
    own = list(opened.store.forgets())

    opened.store.record_forgets([])
    opened.store.record_forgets(theirs)
    opened.close()

    with engine.open() as again:
        recorded = list(again.store.forgets())
        assert [one for one in recorded if one[0] == TENANT] == own + theirs[:1]
        assert [one for one in recorded if one[0] == "globex"] == theirs[1:]
        assert again.store.rebuild().events == 1


def _place(recorded: tuple[str, StoredEvent]) -> tuple[str, int]:
    return recorded[0], recorded[1].seq


def test_the_record_is_there_when_the_store_opens_again(engine: Engine, opened: Opened) -> None:
    """SPEC F11, E5: it is durable before the forget is acknowledged."""
    forget(opened, SUBJECT)
    recorded = list(opened.store.forgets())
    opened.close()

    again = engine.open()

    assert list(again.store.forgets()) == recorded
    again.close()


def test_a_forget_that_cannot_be_recorded_is_not_done(engine: Engine, opened: Opened) -> None:
    """SPEC F11: a restore must know of whatever was acknowledged; asked again, it is done."""
    memory = written(opened.pipeline)
    harm(engine)

    with pytest.raises(Unavailable):
        forget(opened, SUBJECT)
    with opened.store.reading() as reading:
        assert reading.memory_row(TENANT, memory.id) is not None
    mend(engine)
    forget(opened, SUBJECT)

    assert [stored.seq for _, stored in opened.store.forgets()] == [2]


@contextmanager
def failing_at_the_flush(connection: apsw.Connection) -> Iterator[None]:
    """A transaction whose commit is written, and not known to be on the disk."""
    with transaction(connection):
        yield
        raise apsw.IOError


@pytest.fixture
def apart(postgres_places: NewPlace, postgres_url: str) -> Iterator[Node]:
    """A store whose keys, and with them the record, are in a database of their own."""
    engine = PostgresEngine(postgres_places())
    keys = Keys(database_url=postgres_url)
    settings = Settings(data_dir=engine.folder, database_url=engine.url, keys=keys)
    with open_database(engine.url, settings=settings) as node:
        written(node.pipeline)
        yield node


def refuse_commits(url: str) -> None:
    """From now on every commit of an event fails, at the very last."""
    with psycopg.connect(url, cursor_factory=psycopg.ClientCursor) as connection:
        connection.execute(
            "CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS"
            " $$BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END$$;"
            " CREATE CONSTRAINT TRIGGER refusing AFTER INSERT ON tenure.event DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION public.full()"
        )


def accept_commits(url: str) -> None:
    """As before."""
    with psycopg.connect(url) as connection:
        connection.execute("DROP TRIGGER refusing ON tenure.event; DROP FUNCTION public.full()")


def test_a_forget_whose_commit_failed_is_not_in_the_record(engine: Engine, opened: Opened) -> None:
    """SPEC F11: so no restore forgets somebody who was not; asked again, it is done and recorded once."""
    memory = written(opened.pipeline)
    forget(opened, "customer-8")
    if isinstance(engine, PostgresEngine):
        refuse_commits(engine.url)
        with pytest.raises(Unavailable):
            forget(opened, SUBJECT)
        accept_commits(engine.url)
    elif isinstance(opened.store, SqliteStore):
        writer = opened.store._connection  # noqa: SLF001 -- the real connection of the real store
        writer.set_commit_hook(lambda: True)
        with pytest.raises(apsw.ConstraintError):
            forget(opened, SUBJECT)
        writer.set_commit_hook(None)

    assert [stored.seq for _, stored in opened.store.forgets()] == [2]
    with opened.store.reading() as reading:
        assert reading.memory_row(TENANT, memory.id) is not None
    forget(opened, SUBJECT)
    assert [stored.seq for _, stored in opened.store.forgets()] == [2, 3]


def test_a_record_apart_takes_back_a_forget_whose_commit_failed(apart: Node) -> None:
    """SPEC F11: it was there before the commit, and is not after; asked again, it is."""
    url = str(apart.settings.database_url)
    refuse_commits(url)
    for _ in range(2):
        with pytest.raises(Unavailable):
            forget(apart, SUBJECT)
        assert list(apart.store.forgets()) == []
    accept_commits(url)

    forget(apart, SUBJECT)

    assert [(TENANT, stored) for stored in apart.store.export(TENANT) if stored.seq > 1] == list(
        apart.store.forgets()
    )


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_forget_of_unknown_outcome_stays_in_a_record_apart(
    apart: Node, monkeypatch: pytest.MonkeyPatch, *, is_kept: bool
) -> None:
    """SPEC F11: it may have happened, and one that happened is never missing; its caller was told so."""

    def lose_the_way(connection: Connection) -> None:
        if is_kept:
            committed(connection)
        else:
            connection.close()
        raise OutcomeUnknown

    with monkeypatch.context() as patched:
        patched.setattr(store, "committed", lose_the_way)
        with pytest.raises(Unavailable, match="unknown"):
            forget(apart, SUBJECT)

    assert [stored.seq for _, stored in apart.store.forgets()] == [2]


def test_a_forget_that_cannot_be_taken_back_stays_and_is_told(
    apart: Node, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC F11: when in doubt somebody is forgotten; the log says so, and not who."""
    refuse_commits(str(apart.settings.database_url))
    with psycopg.connect(str(apart.settings.keys.database_url)) as connection:
        connection.execute(
            "CREATE FUNCTION tenure_keys.full() RETURNS trigger LANGUAGE plpgsql AS"
            " $$BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END$$"
        )
        connection.execute(
            "CREATE TRIGGER harm BEFORE INSERT ON tenure_keys.forget_ledger FOR EACH ROW"
            " WHEN (NEW.is_withdrawn) EXECUTE FUNCTION tenure_keys.full()"
        )

    with caplog.at_level(logging.WARNING, "tenure.store"), pytest.raises(Unavailable):
        forget(apart, SUBJECT)

    assert [stored.seq for _, stored in apart.store.forgets()] == [2]
    assert "a forget that failed stays" in caplog.text
    assert SUBJECT not in caplog.text


def test_a_forget_that_reached_the_disk_for_all_anybody_knows_stays_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC F11, E5: the commit's flush failed, so that the next start may find it done."""
    with open_store(tmp_path / "store") as opened:
        written(opened.pipeline)

        monkeypatch.setattr(sqlite_store, "transaction", failing_at_the_flush)
        with pytest.raises(Unavailable):
            forget(opened, SUBJECT)
        monkeypatch.undo()

        assert [stored.seq for _, stored in opened.store.forgets()] == [2]


def harm(engine: Engine) -> None:
    """Make the record unwritable."""
    if isinstance(engine, SqliteEngine):
        (Path(engine.folder) / "forgets.jsonl").mkdir()
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute(
                "CREATE FUNCTION tenure_keys.full() RETURNS trigger LANGUAGE plpgsql AS"
                " $$BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END$$;"
                " CREATE TRIGGER harm BEFORE INSERT ON forget_ledger EXECUTE FUNCTION tenure_keys.full()"
            )


def mend(engine: Engine) -> None:
    """Undo the harm."""
    if isinstance(engine, SqliteEngine):
        (Path(engine.folder) / "forgets.jsonl").rmdir()
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute("DROP TRIGGER harm ON forget_ledger")
