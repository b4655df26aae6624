"""Nodes over one database are one memory: what one did, the others see at once (SPEC S5, L8, A4, F1)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from tests.clock import MovableClock
from tests.postgres.server import PostgresServer
from tests.postgres.waiting import wait_until
from tests.stores.concurrently import at_once
from tests.stores.engine import Opened, PostgresEngine
from tests.stores.items import TENANT, created, log_of, put, renewed
from tests.usecases.asking import (
    BOT,
    JUDGES,
    OFFICER,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    judgement,
    proposal,
    question,
    source,
    written,
)

from tenure.core.access import CreateKey
from tenure.core.errors import IdempotencyMismatch, NotFound, Unauthenticated, VersionConflict
from tenure.core.identity import Grants, Role
from tenure.core.proposals import Revise
from tenure.core.remembering import Written
from tenure.core.vocabulary import Status
from tenure.usecases.access import REVOKE_KEY, RevokeKey, authenticate, create_key
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.ports import Appended, Stale
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL
from tenure.usecases.upkeep import upkeep_round

ROUNDS = 8
THREADS = 8
LEASE_SECONDS = 0.5
TAKEN_OVER_SECONDS_MAX = 20.0
Nodes = tuple[Opened, Opened]


@pytest.fixture
def nodes(database: PostgresEngine, clock: MovableClock) -> Iterator[Nodes]:
    """Two nodes over one database, with nothing else in common."""
    one, two = database.open(clock), database.open(clock)
    yield one, two
    one.close()
    two.close()


def recalled(node: Opened, words: str) -> list[str]:
    """What a node recalls by these words, which it must have found in the index."""
    items = node.pipeline.run(RECALL, BOT, question(words, explain=True)).items
    return [item.memory.content or "" for item in items if item.why is not None and item.why["words"] > 0]


def of_kind(outcomes: list[Any], kind: type) -> list[Any]:
    """The outcomes of one kind."""
    return [outcome for outcome in outcomes if isinstance(outcome, kind)]


def test_what_one_wrote_the_other_recalls_at_once(nodes: Nodes) -> None:
    """SPEC R1, S5: there and back again, a subject that neither has a key for at hand included."""
    one, two = nodes
    for turn, (writer, reader) in enumerate([(one, two), (two, one)] * ROUNDS):
        memory = written(writer.pipeline, f"Giraffe number {turn}", subject=SUBJECT)

        assert f"Giraffe number {turn}" in recalled(reader, f"giraffe {turn}")
        assert reader.pipeline.run(GET, BOT, Get(memory_id=memory.id)) == memory


def test_a_key_that_was_revoked_on_one_is_refused_on_the_other_at_once(nodes: Nodes) -> None:
    """SPEC A4, S5: no cache serves it, however often it was shown before."""
    one, two = nodes
    create = CreateKey(name="ci", grants=Grants(roles=frozenset({Role.READER})))
    for _ in range(ROUNDS):
        made = create_key(one.pipeline, OPERATOR, create)
        assert {authenticate(node.pipeline, made.token).name for node in nodes} == {"ci"}

        one.pipeline.run(REVOKE_KEY, OPERATOR, RevokeKey(key_id=made.key.id))

        for node in (two, one):
            with pytest.raises(Unauthenticated):
                authenticate(node.pipeline, made.token)


def test_what_was_forgotten_on_one_is_absent_on_the_other_at_once(nodes: Nodes) -> None:
    """SPEC F1, S5: no read path of the other shows it, though it has just shown it."""
    one, two = nodes
    for turn in range(ROUNDS):
        memory = written(one.pipeline, f"Giraffe number {turn}")
        assert recalled(two, "giraffe") == [memory.content]

        forgotten = one.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

        assert forgotten.forgotten == 1
        assert two.pipeline.run(RECALL, BOT, question("giraffe")).items == ()
        assert two.pipeline.run(LIST, BOT, ListMemories(subject=SUBJECT)).items == ()
        with pytest.raises(NotFound):
            two.pipeline.run(GET, BOT, Get(memory_id=memory.id))


def test_what_was_revoked_on_one_is_not_recalled_on_the_other_at_once(nodes: Nodes) -> None:
    """SPEC L6, S5: as on the node where it was revoked."""
    one, two = nodes
    for turn in range(ROUNDS):
        memory = written(one.pipeline, f"Giraffe number {turn}")
        assert recalled(two, "giraffe") == [memory.content]

        one.pipeline.run(JUDGES["revoke"], REVIEWER, judgement(memory.id, 1))

        assert two.pipeline.run(RECALL, BOT, question("giraffe")).items == ()
        assert two.pipeline.run(GET, BOT, Get(memory_id=memory.id)).status is Status.REVOKED


def test_of_two_nodes_with_one_expectation_exactly_one_wins(nodes: Nodes) -> None:
    """SPEC L8: the other learns the version that stands now, and its text is nowhere."""
    for _ in range(ROUNDS):
        memory = written(nodes[0].pipeline)
        outcomes = at_once(
            *(
                partial(
                    node.pipeline.run,
                    REVISE,
                    BOT,
                    ReviseMemory(
                        memory_id=memory.id,
                        revise=Revise(expected_version=1, source=source(), content=f"Text {one}"),
                    ),
                )
                for one, node in enumerate(nodes)
            )
        )

        [winner], [loser] = of_kind(outcomes, Written), of_kind(outcomes, VersionConflict)
        assert (loser.expected_version, loser.current_version) == (1, 2)
        for node in nodes:
            standing = node.pipeline.run(GET, BOT, Get(memory_id=memory.id))
            assert (standing.version, standing.content) == (2, winner.memory.content)


def test_of_many_appends_on_two_nodes_exactly_one_wins(nodes: Nodes) -> None:
    """SPEC L8: also within the batches that each node makes of what comes at once."""
    put(nodes[0], created(nodes[0].keyring, 1))
    for version in range(2, 2 + ROUNDS):
        writes = [
            partial(put, node, renewed(node.keyring, 1, to_version=version, days=30 + thread))
            for node in nodes
            for thread in range(THREADS)
        ]

        results = [result for [result] in at_once(*writes)]

        assert len(of_kind(results, Appended)) == 1
        assert {stale.current for stale in of_kind(results, Stale)} == {version}
        assert len(of_kind(results, Stale)) == len(writes) - 1


def test_a_retry_on_the_other_node_gets_the_first_answer(nodes: Nodes) -> None:
    """SPEC L9: after the first try, and beside it; another command under the key is an error everywhere."""
    one, two = nodes
    for turn in range(ROUNDS):
        key, said = f"k-{turn}", proposal(subject=f"customer-{turn}")
        calls = [partial(node.pipeline.run, REMEMBER, BOT, said, idempotency_key=key) for node in nodes]

        answers = at_once(*calls * 2)

        assert len(of_kind(answers, Written)) == len(calls) * 2
        assert len({answer.memory.id for answer in answers}) == 1
        assert two.pipeline.run(REMEMBER, BOT, said, idempotency_key=key) == answers[0]
        with pytest.raises(IdempotencyMismatch):
            one.pipeline.run(REMEMBER, BOT, proposal("Another text"), idempotency_key=key)
    assert len(log_of(one)) == ROUNDS


def test_positions_are_dense_and_the_chain_holds_whoever_writes(nodes: Nodes) -> None:
    """SPEC E1, E2, L8: two nodes of eight threads each; nothing lost, doubled or out of place."""
    batches = [
        (node, [created(node.keyring, 1_000 * which + 100 * thread + one) for one in range(1, 11)])
        for which, node in enumerate(nodes)
        for thread in range(THREADS)
    ]

    results = at_once(*(partial(put, node, *items) for node, items in batches))

    positions = sorted(result.seq for batch in results for result in batch)
    assert positions == list(range(1, 10 * len(batches) + 1))
    for node in nodes:
        assert verify(node.pipeline, TENANT).holds
        assert [stored.seq for stored in log_of(node)] == positions
    assert nodes[1].store.rebuild().identical


def test_nodes_that_meet_a_subject_at_once_seal_under_one_key(nodes: Nodes) -> None:
    """SPEC F7: what one sealed opens on the other, and one key to destroy is all there is."""
    for turn in range(ROUNDS):
        subject = f"new-{turn}"
        sealed = at_once(
            *(
                partial(node.keyring.seal, TENANT, subject, b"likes tea", b"place")
                for node in nodes
                for _ in range(2)
            )
        )

        assert len({dek for dek, _ in sealed}) == 1
        for node in nodes:
            opened = {node.keyring.open(TENANT, subject, dek, body, b"place") for dek, body in sealed}
            assert opened == {b"likes tea"}


def test_a_job_is_one_nodes_until_its_time_is_up(nodes: Nodes) -> None:
    """SPEC T8: whoever holds it may prolong it; when nobody does, as who was killed, the next has it."""
    one, two = nodes

    assert sorted(at_once(*(partial(node.store.lease, "job", seconds=60.0) for node in nodes))) == [
        False,
        True,
    ]
    assert one.store.lease("short", seconds=LEASE_SECONDS)
    assert one.store.lease("short", seconds=LEASE_SECONDS)
    assert not two.store.lease("short", seconds=LEASE_SECONDS)
    wait_until(
        lambda: two.store.lease("short", seconds=60.0),
        what="the other node has the lease",
        seconds_max=TAKEN_OVER_SECONDS_MAX,
    )
    assert two.store.lease("short", seconds=60.0)


def test_one_node_does_the_upkeep_and_the_other_goes_on_when_it_is_gone(
    nodes: Nodes, clock: MovableClock
) -> None:
    """SPEC T8, L11: what is due is marked once, by whoever is there."""
    one, two = nodes
    assert upkeep_round(one.pipeline, batch_size=10, lease_seconds=LEASE_SECONDS).expired == 0
    memory = written(one.pipeline, ttl_seconds=3_600)
    clock.pass_time(hours=2)

    assert upkeep_round(one.pipeline, batch_size=10, lease_seconds=60.0).expired == 1
    assert upkeep_round(two.pipeline, batch_size=10, lease_seconds=60.0).expired == 0
    assert two.pipeline.run(GET, BOT, Get(memory_id=memory.id)).status is Status.EXPIRED

    assert upkeep_round(one.pipeline, batch_size=10, lease_seconds=LEASE_SECONDS).expired == 0
    written(two.pipeline, ttl_seconds=3_600)
    clock.pass_time(hours=2)
    done = wait_until(
        lambda: upkeep_round(two.pipeline, batch_size=10, lease_seconds=60.0).expired,
        what="the other node does the upkeep",
        seconds_max=TAKEN_OVER_SECONDS_MAX,
    )
    assert done == 1


def test_a_node_is_healthy_while_it_can_write(nodes: Nodes) -> None:
    """SPEC S6: each by itself; one that is closed is not."""
    one, two = nodes
    assert [node.store.healthy() for node in nodes] == [True, True]

    one.close()

    assert (one.store.healthy(), two.store.healthy()) == (False, True)


def test_to_ask_whether_a_node_is_healthy_leaves_nothing_behind(
    nodes: Nodes, database: PostgresEngine
) -> None:
    """SPEC S6, T8: however often and of however many nodes it is asked, and a job keeps its holder."""
    one, two = nodes
    assert one.store.lease("job", seconds=60.0)

    assert [node.store.healthy() for node in nodes * 3] == [True] * 6

    with database.superuser() as connection:
        assert connection.execute("SELECT name FROM lease").fetchall() == [("job",)]
    assert not two.store.lease("job", seconds=60.0)


def test_a_node_that_closes_gives_its_jobs_up_at_once_and_no_others(
    nodes: Nodes, database: PostgresEngine
) -> None:
    """SPEC T8: the next who asks does not wait for the lease to run out."""
    one, two = nodes
    assert one.store.lease("job", seconds=3_600.0)
    assert two.store.lease("another job", seconds=3_600.0)
    assert not two.store.lease("job", seconds=3_600.0)

    one.close()

    with database.superuser() as connection:
        assert connection.execute("SELECT name FROM lease").fetchall() == [("another job",)]
    assert two.store.lease("job", seconds=3_600.0)


def test_a_node_closes_while_its_database_is_away(
    nodes: Nodes, database: PostgresEngine, postgres_server: PostgresServer
) -> None:
    """SPEC T8, S6: with every connection cut, its lease runs out by itself."""
    one, _ = nodes
    assert one.store.lease("job", seconds=3_600.0)
    assert postgres_server.terminate_connections(database.url.rpartition("/")[2]) > 0

    one.close()

    assert not one.store.healthy()


def test_a_rebuild_on_one_node_disturbs_no_writer_on_the_other(nodes: Nodes) -> None:
    """SPEC E1, L8: rebuilt between two writes, never across one."""
    one, two = nodes
    for turn in range(ROUNDS // 2):
        writes = [partial(written, two.pipeline, f"Giraffe {turn} of {thread}") for thread in range(THREADS)]

        rebuilt, *_ = at_once(one.store.rebuild, *writes)

        assert rebuilt.identical
    assert one.store.rebuild().identical
    assert len(one.pipeline.run(LIST, BOT, ListMemories(limit=200)).items) == THREADS * (ROUNDS // 2)
