"""A commit whose answer never comes: acknowledged and there, or unknown and never doubled (SPEC E5, L9).

The node is one in this process, since the fault must strike at one certain commit, or just before it, and
only the node itself knows which of its commits that is.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.faults.nodes import running, unavailable_says_so
from tests.postgres.faults import ANSWER_TO_COMMIT, Relay
from tests.postgres.server import PostgresServer
from tests.postgres.waiting import wait_until
from tests.stores.items import TENANT, accepted, created, log_of, put, receipt
from tests.usecases.asking import BOT, happened, proposal, written

from tenure.core.errors import Unavailable
from tenure.core.memory import Memory
from tenure.stores.postgres import store
from tenure.stores.postgres.connecting import Connection, committed
from tenure.usecases.evidence import verify
from tenure.usecases.ports import Append, Idempotency
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER
from tenure.wiring import Node

KEY = "the one key"
RECOVERY_SECONDS_MAX = 15.0


class HarmfulRelay(Relay):
    """A relay that does something to the server in the moment in which it loses an answer."""

    def __init__(self, server: PostgresServer) -> None:
        self.at_loss: Callable[[], None] | None = None
        super().__init__(server.port)

    def _loses(self, data: bytes) -> bool:
        lost = super()._loses(data)
        if lost and self.at_loss is not None:
            self.at_loss()
        return lost


@pytest.fixture
def relay(mortal_server: PostgresServer) -> Iterator[HarmfulRelay]:
    """A relay before the server that may be killed."""
    with HarmfulRelay(mortal_server) as relay:
        yield relay


@pytest.fixture
def node(mortal_url: str, relay: Relay, tmp_path: Path) -> Iterator[Node]:
    """A node that reaches its database through the relay, with a memory in it, so that its keys are made."""
    with running(relay.url(mortal_url.rpartition("/")[2]), tmp_path, count=1) as [node]:
        written(node.pipeline, "First of all")
        yield node


@contextlib.contextmanager
def answer_lost(node: Node, relay: Relay) -> Iterator[None]:
    """Let the answer to the commit of the one write in it be lost, not one to a read that comes before."""
    ensure = node.keyring.ensure

    def ensure_then_lose(subjects: list[tuple[str, str]]) -> None:
        ensure(subjects)
        relay.lose_next_answer(ANSWER_TO_COMMIT)

    lost = relay.answers_lost
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node.keyring, "ensure", ensure_then_lose)
        yield
    assert relay.answers_lost == lost + 1


def remember(node: Node, *, key: str | None = None) -> Memory:
    """The one write of a test."""
    answer = node.pipeline.run(REMEMBER, BOT, proposal("Prefers e-mail"), idempotency_key=key)
    assert answer.memory is not None
    return answer.memory


def assert_stored_once(node: Node, memory: Memory) -> None:
    """The memory is there, and there is none beside it but the first."""
    assert node.pipeline.run(GET, BOT, Get(memory_id=memory.id)) == memory
    assert happened(node.pipeline) == ["memory.admitted"] * 2
    assert verify(node.pipeline, TENANT).holds


@pytest.mark.parametrize("key", [None, KEY])
def test_the_store_finds_out_what_became_of_a_commit(
    node: Node, relay: HarmfulRelay, key: str | None
) -> None:
    """SPEC E5: the connection is lost, the server lives: the write is acknowledged, with a key or without."""
    with answer_lost(node, relay):
        memory = remember(node, key=key)
    assert_stored_once(node, memory)
    if key is not None:
        assert remember(node, key=key) == memory
        assert_stored_once(node, memory)


@pytest.mark.parametrize("key", [None, KEY])
def test_a_server_that_dies_between_commit_and_answer_and_comes_back_is_asked(
    node: Node, relay: HarmfulRelay, mortal_server: PostgresServer, key: str | None
) -> None:
    """SPEC E5: it is there again in time, and the write is acknowledged once it was found."""

    def restart() -> None:
        mortal_server.kill()
        mortal_server.start()

    relay.at_loss = restart
    with answer_lost(node, relay):
        memory = remember(node, key=key)
    assert_stored_once(node, memory)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_stays_away_leaves_the_outcome_unknown_and_a_retry_doubles_nothing(
    node: Node, relay: HarmfulRelay, mortal_server: PostgresServer
) -> None:
    """SPEC E5, L9: the error says that it may have been stored; the same key gets what was stored."""
    relay.at_loss = mortal_server.kill
    with answer_lost(node, relay), pytest.raises(Unavailable, match="unknown") as refused:
        remember(node, key=KEY)
    unavailable_says_so(refused.value)
    assert "idempotency key" in str(refused.value.hint)

    mortal_server.start()
    wait_until(node.store.healthy, what="the node is healthy again", seconds_max=RECOVERY_SECONDS_MAX)
    memory = remember(node, key=KEY)
    assert_stored_once(node, memory)


@pytest.fixture
def cut_before_commit(
    mortal_server: PostgresServer, mortal_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection of the next commit is cut just before."""
    database = mortal_url.rpartition("/")[2]
    cut = iter([True])

    def commit_after_a_cut(connection: Connection) -> None:
        if next(cut, False):
            mortal_server.terminate_connections(database)
        committed(connection)

    monkeypatch.setattr(store, "committed", commit_after_a_cut)


@pytest.mark.usefixtures("cut_before_commit")
def test_a_batch_that_was_not_kept_is_stored_by_the_next_try(node: Node) -> None:
    """SPEC E5: the connection dies before the commit arrives; nobody notices, and it is stored once."""
    assert accepted(put(node, created(node.keyring, 1))) == [2]
    assert len(log_of(node)) == 2


def test_an_answer_kept_for_a_key_alone_does_not_vouch_for_its_neighbours(
    node: Node, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """SPEC E5: of a batch in which the first tenant's log does not grow, the second's event is looked for."""
    answered = Append(
        tenant="aaa", events=(), idempotency=Idempotency(key=KEY, request=b"request", outcome=b"{}")
    )
    put(node, receipt(node.keyring, 7, tenant="aaa"))
    item = created(node.keyring, 1)
    monkeypatch.setattr(node.store, "_shard", lambda _: 0)
    request.getfixturevalue("cut_before_commit")
    put(node, answered, item)
    with node.store.reading() as reading:
        assert reading.first_answer("aaa", KEY) is not None
    assert len(log_of(node)) == 2
