"""The contract of the record of forgets: it has every forget that was acknowledged, and outlives the log."""

from pathlib import Path

import pytest
from tests.stores.engine import Engine, Opened, PostgresEngine, SqliteEngine
from tests.usecases.asking import OFFICER, SUBJECT, TENANT, written

from tenure.core.errors import Unavailable
from tenure.core.events import decode_header
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject


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
