"""What is wired: the ladder of scopes, the keyring beside its log, and what a start that cannot be says."""

import sys
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from psycopg import errors
from tests.clock import MovableClock
from tests.stores.engine import PostgresEngine
from tests.stores.places import NewPlace
from tests.usecases.asking import BOT, TENANT, proposal

from tenure.config import Keys, Retention, Settings
from tenure.core.errors import InvalidRequest, NotFound, Unavailable
from tenure.core.identity import Caller, Grants, Role, Tier
from tenure.core.retrieval import Recall
from tenure.stores.postgres import keys as postgres_keys
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.wiring import Node, open_database, open_store, rotate_root_key, rules

KEK = bytes(range(32))
ERASER = Caller(
    tenant=TENANT, id="key:pia", name="pia", grants=Grants(roles=frozenset({Role.PRIVACY_OFFICER}))
)


@pytest.fixture
def clock() -> MovableClock:
    """A clock that stands still."""
    return MovableClock()


@pytest.fixture
def folder(tmp_path: Path, clock: MovableClock) -> Path:
    """A store with one memory."""
    path = tmp_path / "store"
    with open_store(path, clock=clock) as node:
        node.pipeline.run(REMEMBER, BOT, proposal())
    return path


def recalled(node: Node) -> int:
    """How many memories a question brings."""
    command = Recall(agent="support", purpose="answering", query="e-mail or phone", subject="customer-7")
    return len(node.pipeline.run(RECALL, BOT, command).items)


def refused(folder: Path, settings: Settings | None = None) -> Unavailable:
    """What opening a store is refused with."""
    with pytest.raises(Unavailable) as caught:
        open_store(folder, settings=settings)
    return caught.value


@pytest.mark.parametrize(
    ("retention", "inherits"),
    [
        (Retention(), {Tier.TASK, Tier.SESSION}),
        (Retention(task_inherits=False), {Tier.SESSION}),
        (Retention(session_inherits=False), {Tier.TASK}),
        (Retention(task_inherits=False, session_inherits=False), set()),
    ],
)
def test_the_settings_say_which_scopes_inherit(retention: Retention, inherits: set[Tier]) -> None:
    """SPEC F3: the ladder of the rules is the one of the settings."""
    assert rules(Settings(retention=retention)).write.ladder.inherits == inherits


def test_the_settings_say_when_a_forget_is_probed() -> None:
    """SPEC F6: a margin behind the leaf's own time."""
    ladder = rules(Settings(retention=Retention(probe_margin_seconds=5))).write.ladder

    assert ladder.probe_margin == timedelta(seconds=5)


def test_an_empty_keyring_beside_a_log_is_refused(folder: Path, clock: MovableClock) -> None:
    """SPEC E5, F7: a new keyring would answer with nothing, as if nothing had ever been there."""
    kept = (folder / "keyring.db").read_bytes()
    (folder / "keyring.db").unlink()

    refusal = refused(folder)

    assert "the keyring is empty, but the log has events" in refusal.message
    assert "Put the keyring back" in str(refusal.hint)
    assert "--without-keys" in str(refusal.hint)
    (folder / "keyring.db").write_bytes(kept)
    with open_store(folder, clock=clock) as node:
        assert recalled(node) == 1


def test_an_empty_keyring_beside_a_log_in_postgres_is_refused(
    postgres_places: NewPlace, clock: MovableClock
) -> None:
    """SPEC E5, F7: the same over a database; a fresh one is opened, one whose keys are gone is not."""
    engine = PostgresEngine(postgres_places())
    with engine.open(clock) as node:
        node.pipeline.run(REMEMBER, BOT, proposal())
    with engine.superuser() as connection:
        connection.execute("DELETE FROM tenant_key")

    with pytest.raises(Unavailable, match="the keyring is empty, but the log has events"):
        engine.open(clock)

    with engine.superuser() as connection:
        assert connection.execute("SELECT count(*) FROM tenant_key").fetchone() == (0,)


def test_a_refused_start_makes_no_key(folder: Path) -> None:
    """SPEC F7: not in the keyring, and not beside it."""
    (folder / "keyring.db").unlink()
    (folder / "root.key").unlink()

    refused(folder)

    assert not (folder / "root.key").exists()
    connection = apsw.Connection(str(folder / "keyring.db"))
    assert connection.execute("SELECT count(*) FROM tenant_key").fetchone() == (0,)
    connection.close()


def test_a_keyring_that_waits_for_its_log_is_opened(folder: Path, clock: MovableClock) -> None:
    """SPEC F11: before a restore the keyring is put back, and no log is there yet."""
    for file in folder.glob("log.db*"):
        file.unlink()

    with open_store(folder, clock=clock) as node:
        assert recalled(node) == 0


def test_an_old_copy_of_the_keyring_brings_nobody_back(
    folder: Path, clock: MovableClock, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC F8, F11: the keys of erased subjects are destroyed again before anybody is served."""
    old = (folder / "keyring.db").read_bytes()
    with open_store(folder, clock=clock) as node:
        erase(node.pipeline, ERASER, EraseSubject(subject="customer-7"))
    for file in folder.glob("keyring.db*"):
        file.unlink()
    (folder / "keyring.db").write_bytes(old)

    with open_store(folder, clock=clock) as node:
        assert node.keyring.key_ids(TENANT, "customer-7") == ()

    assert "destroyed again" in caplog.text
    caplog.clear()
    with open_store(folder, clock=clock):
        assert caplog.text == ""


def test_the_root_key_is_rotated_and_everything_opens(folder: Path, clock: MovableClock) -> None:
    """SPEC F7: the old root key is gone, the keyring of before opens nothing, no content was touched."""
    old = (folder / "root.key").read_text("ascii")
    keyring = (folder / "keyring.db").read_bytes()
    log = (folder / "log.db").read_bytes()

    rotated = rotate_root_key(Settings(data_dir=str(folder)))

    assert rotated.wrapped_by == str(folder / "root.key")
    assert rotated.keys > 1
    assert (folder / "root.key").read_text("ascii") != old
    assert (folder / "log.db").read_bytes() == log
    with open_store(folder, clock=clock) as node:
        assert recalled(node) == 1
    for file in folder.glob("keyring.db*"):
        file.unlink()
    (folder / "keyring.db").write_bytes(keyring)
    assert "does not open this keyring" in refused(folder).message


def test_a_file_of_ones_own_is_rotated_in_its_place(tmp_path: Path, clock: MovableClock) -> None:
    """SPEC F7, S3: wherever the settings say that it lies."""
    folder, kek_file = tmp_path / "store", tmp_path / "keys" / "kek"
    kek_file.parent.mkdir()
    kek_file.write_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "ascii")
    settings = Settings(data_dir=str(folder), keys=Keys(kek_file=str(kek_file)))
    with open_store(folder, settings=settings, clock=clock) as node:
        node.pipeline.run(REMEMBER, BOT, proposal())

    rotate_root_key(settings)

    assert not (folder / "root.key").exists()
    assert [path.name for path in kek_file.parent.iterdir()] == ["kek"]
    with open_store(folder, settings=settings, clock=clock) as node:
        assert recalled(node) == 1


def test_a_key_in_the_settings_is_rotated_by_moving_to_a_file(tmp_path: Path, clock: MovableClock) -> None:
    """SPEC S3: no program changes the environment of the next start; the hint says what goes."""
    folder = tmp_path / "store"
    settings = Settings(data_dir=str(folder), keys=Keys(kek=KEK))
    with open_store(folder, settings=settings, clock=clock) as node:
        node.pipeline.run(REMEMBER, BOT, proposal())

    with pytest.raises(InvalidRequest, match="no program can change") as caught:
        rotate_root_key(settings)
    assert "--to-file" in str(caught.value.hint)
    rotate_root_key(settings, to_file=True)

    assert "does not open" in refused(folder, settings).message
    with open_store(folder, clock=clock) as node:
        assert recalled(node) == 1


def test_a_store_that_is_open_is_not_rotated(folder: Path, clock: MovableClock) -> None:
    """SPEC S5: the running process would wrap new keys by the old root key."""
    with (
        open_store(folder, clock=clock),
        pytest.raises(Unavailable, match="in use by another process"),
    ):
        rotate_root_key(Settings(data_dir=str(folder)))


def test_where_no_keyring_is_nothing_is_rotated(tmp_path: Path) -> None:
    """SPEC S3: a slip in the folder's name says so, and makes no root key."""
    with pytest.raises(NotFound, match="no keyring here"):
        rotate_root_key(Settings(data_dir=str(tmp_path / "other")))

    assert not (tmp_path / "other" / "root.key").exists()


def test_two_ways_to_go_are_refused(folder: Path) -> None:
    """SPEC S3: a rotation ends in one place."""
    with pytest.raises(InvalidRequest):
        rotate_root_key(Settings(data_dir=str(folder)), to_kms="alias/tenure", to_file=True)


def test_a_service_whose_package_is_missing_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: the extra is named, and the folder is free again."""
    monkeypatch.delitem(sys.modules, "tenure.engines.kms_aws", raising=False)
    for name in ("boto3", "boto3.session"):
        monkeypatch.setitem(sys.modules, name, None)
    settings = Settings(keys=Keys(kms_aws_key_id="alias/tenure", kms_aws_region="eu-west-1"))

    assert "tenure[kms-aws]" in str(refused(folder, settings).hint)
    open_store(folder).close()


@pytest.mark.parametrize(
    ("fault", "message", "hint"),
    [
        (errors.InsufficientPrivilege("permission denied"), "lacks a right", "CREATE ROLE tenure_app"),
        (errors.UndefinedTable("no tenant_key"), "forgets what a connection has set up", "pooler"),
        (errors.DuplicatePreparedStatement("_pg3_0"), "forgets what a connection has set up", "pooler"),
    ],
    ids=["no right", "no search path", "prepared by another"],
)
def test_a_database_that_is_not_set_up_for_it_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, message: str, hint: str
) -> None:
    """SPEC S3: what an administrator has to do, and not that the program has a fault."""

    def opened(*_arguments: object, **_named: object) -> None:
        raise fault

    monkeypatch.setattr(postgres_keys, "PostgresKeyTable", opened)
    settings = Settings(data_dir=str(tmp_path), database_url="postgresql://nobody@127.0.0.1:1/none")

    for action in (
        lambda: open_database("postgresql://nobody@127.0.0.1:1/none", settings=settings),
        lambda: rotate_root_key(settings),
    ):
        with pytest.raises(Unavailable) as caught:
            action()
        assert message in caught.value.message
        assert hint in str(caught.value.hint)
