"""The contract of an upgrade: a store with an earlier schema opens, is brought up, and forgets as today."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from psycopg import sql
from tests.clock import START, MovableClock
from tests.stores.earlier import (
    BEFORE_TRUTH,
    FIRST,
    Then,
    as_superuser,
    put_back_database,
    put_back_folder,
)
from tests.stores.engine import Engine, Opened, PostgresEngine, SqliteEngine
from tests.stores.forgetting_items import a_family, memory_forgotten
from tests.stores.items import TENANT, created, log_of, number, put
from tests.stores.looking import standing
from tests.stores.truth_items import merged, superseded
from tests.usecases.asking import (
    BOT,
    OFFICER,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    caller,
    held,
    judgement,
    proposal,
    question,
    source,
    written,
)

from tenure.core.access import CreateKey
from tenure.core.errors import MemoryRejected, Unavailable
from tenure.core.identity import Grants, Role
from tenure.core.rows import microseconds
from tenure.stores.postgres import store as postgres_store
from tenure.stores.postgres.connecting import APP_ROLE
from tenure.stores.sqlite import store as sqlite_store
from tenure.usecases.access import create_key
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import REJECT

NOW = START + timedelta(microseconds=123_457)
"""A time that nobody may round."""
GONE = "customer-9"


def lived(opened: Opened) -> None:
    """All that happened before the upgrade, in two tenants."""
    way = opened.pipeline
    first = written(way, "The giraffe is called Melman", key="name")
    written(way, "It lives in the north", derived_from=(first.id,))
    written(way, "The zebra is called Marty", supersedes=first.id)
    turned_down = held(way, "Pays by invoice now")
    way.run(REJECT, REVIEWER, judgement(turned_down.id, 1))
    for tenant in (TENANT, "globex"):
        bot, officer = caller(tenant=tenant), caller(Role.PRIVACY_OFFICER, name="pia", tenant=tenant)
        way.run(REMEMBER, bot, proposal("Has a hippo", subject=GONE))
        way.run(FORGET_SUBJECT, officer, ForgetSubject(subject=GONE))
        way.run(REMEMBER, bot, proposal("Has a lion", subject=GONE))
    create_key(way, OPERATOR, CreateKey(name="ci", grants=Grants(roles=frozenset({Role.READER}))))


@pytest.fixture
def lived_in(engine: Engine) -> Engine:
    """A store of today in which all that happened."""
    with engine.open(MovableClock(NOW)) as opened:
        lived(opened)
    return engine


@pytest.fixture
def earlier(lived_in: Engine, request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """The same store with the first schema."""
    return put_back(lived_in, FIRST, request, tmp_path)


def put_back(today: Engine, then: Then, request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """A store with an earlier schema; over a database, of an owner who is no superuser."""
    if isinstance(today, SqliteEngine):
        folder = SqliteEngine(tmp_path / "earlier")
        put_back_folder(today, folder, then)
        return folder
    assert isinstance(today, PostgresEngine)
    url: str = request.getfixturevalue("postgres_url")
    owned = PostgresEngine(f"{url.replace('postgres@', 'upgrader@')}#{tmp_path / 'earlier'}")
    with as_superuser(owned).superuser() as connection:
        if connection.execute("SELECT FROM pg_roles WHERE rolname = 'upgrader'").fetchone() is None:
            connection.execute("CREATE ROLE upgrader LOGIN")
        connection.execute(
            sql.SQL("GRANT {role} TO upgrader; GRANT CREATE ON DATABASE {database} TO upgrader").format(
                role=sql.Identifier(APP_ROLE), database=sql.Identifier(connection.info.dbname)
            )
        )
    put_back_database(today, owned, then)
    return owned


def rows(engine: Engine, query: str) -> list[tuple[Any, ...]]:
    """What a query past the store finds."""
    if isinstance(engine, SqliteEngine):
        file = apsw.Connection(str(engine.folder / "log.db"))
        try:
            found: list[Any] = file.execute(query).fetchall()
        finally:
            file.close()
        return found
    assert isinstance(engine, PostgresEngine)
    with as_superuser(engine).superuser() as connection:
        return connection.execute(query.encode()).fetchall()


def test_the_first_schema_was_the_first(earlier: Engine) -> None:
    """SPEC S5: the test has what it says: events without a subject, floors without a time."""
    columns = set(rows(earlier, "SELECT * FROM forget_floor")[0])

    assert columns == {TENANT, "subject", GONE, 8}


def test_every_event_is_about_its_subject_after_an_upgrade(earlier: Engine, lived_in: Engine) -> None:
    """SPEC F9, S5: so that what is held of somebody can be exported and erased, from before as well."""
    earlier.open().close()

    query = "SELECT tenant_id, seq, subject FROM event ORDER BY tenant_id, seq"
    assert rows(earlier, query) == rows(lived_in, query)
    assert {subject for _, _, subject in rows(earlier, query)} == {SUBJECT, GONE, None}


def test_every_floor_has_its_subject_and_time_after_an_upgrade(earlier: Engine) -> None:
    """SPEC F4a, S5: to the microsecond, or what was observed just then would come back."""
    earlier.open().close()

    query = (
        "SELECT tenant_id, subject, target, floor_seq, floor_at FROM forget_floor"
        " WHERE target_kind = 'subject' ORDER BY tenant_id"
    )
    at = microseconds(NOW)
    assert rows(earlier, query) == [(TENANT, GONE, GONE, 8, at), ("globex", GONE, GONE, 2, at)]


def test_a_store_holds_what_it_held_after_an_upgrade(earlier: Engine, lived_in: Engine) -> None:
    """SPEC S5, E2: the log byte for byte, and every memory, by its words too."""
    with lived_in.open(MovableClock(NOW)) as today:
        log, listed = log_of(today), today.pipeline.run(LIST, BOT, ListMemories(limit=50)).items
    with earlier.open(MovableClock(NOW)) as opened:
        assert log_of(opened) == log
        assert opened.pipeline.run(LIST, BOT, ListMemories(limit=50)).items == listed
        items = opened.pipeline.run(RECALL, BOT, question("zebra", subject=None, explain=True)).items
        assert [item.memory.content for item in items if item.why and item.why["words"] > 0] == [
            "The zebra is called Marty"
        ]
        assert verify(opened.pipeline, TENANT).holds
        assert verify(opened.pipeline, "globex").holds


def test_a_rebuild_after_an_upgrade_finds_nothing_to_mend(earlier: Engine, lived_in: Engine) -> None:
    """SPEC E1, S5: the views are what the log says as today's program reads it."""
    with earlier.open(MovableClock(NOW)) as opened:
        assert opened.store.rebuild().identical

    assert _views(earlier) == _views(lived_in)


def test_a_store_from_before_claims_were_kept_opens_without_a_replay_and_merges(
    engine: Engine, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T2, S5: nothing that was stored then claims anything; from now on it may stand behind another."""
    with engine.open(MovableClock(NOW)) as today:
        keys = today.keyring
        put(today, *a_family(keys), created(keys, 6, supersedes=number(4)), superseded(keys, 4, 6))
        before = engine.views()
    earlier = put_back(engine, BEFORE_TRUTH, request, tmp_path)

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_store, "rebuild", None)
        patched.setattr(postgres_store, "rebuild", None)
        earlier.open().close()

    assert _views(earlier) == before
    with earlier.open(MovableClock(NOW)) as opened:
        put(opened, merged(opened.keyring, 5, 1, to_version=2), memory_forgotten(opened.keyring, 1))
        assert standing(opened) == {4, 6}
        assert opened.store.rebuild().identical


def _views(engine: Engine) -> bytes:
    return (as_superuser(engine) if isinstance(engine, PostgresEngine) else engine).views()


def test_what_was_forgotten_before_an_upgrade_stays_so(earlier: Engine) -> None:
    """SPEC F4a, F4b: an old source, a value that was forgotten, and one that a reviewer turned down."""
    with earlier.open(MovableClock(NOW + timedelta(days=1))) as opened:
        for command in (
            proposal("Has a rhino", subject=GONE, source=source(observed_at=NOW)),
            proposal("Has a hippo", subject=GONE),
            proposal("Pays by invoice now"),
        ):
            with pytest.raises(MemoryRejected, match="before"):
                opened.pipeline.run(REMEMBER, BOT, command)
        later = source(observed_at=NOW + timedelta(microseconds=1))
        assert written(opened.pipeline, "Has a rhino", subject=GONE, source=later).content == "Has a rhino"


def test_an_upgrade_that_was_interrupted_is_taken_up(
    earlier: Engine, lived_in: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E5, S5: whoever died between the new schema and the replay is followed by one who replays."""

    def interrupted(*_: object) -> None:
        raise Unavailable("interrupted")

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_store, "rebuild", interrupted)
        patched.setattr(postgres_store, "rebuild", interrupted)
        with pytest.raises(Unavailable, match="interrupted"):
            earlier.open()
    assert _views(earlier) != _views(lived_in)

    earlier.open().close()

    assert _views(earlier) == _views(lived_in)


def test_forgetting_and_upgrading_again_change_nothing_more(earlier: Engine) -> None:
    """SPEC S5: the second start finds the work done."""
    with earlier.open(MovableClock(NOW)) as opened:
        opened.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))
    before = _views(earlier)

    with earlier.open(MovableClock(NOW)) as opened:
        assert opened.pipeline.run(LIST, BOT, ListMemories(subject=SUBJECT)).items == ()
        assert opened.store.rebuild().identical
    assert _views(earlier) == before
