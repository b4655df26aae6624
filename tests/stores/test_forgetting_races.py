"""The contract under real threads: what is written while it is forgotten was before that, or behind it."""

from functools import partial
from typing import Any, Final

import msgspec
import pytest
from tests.clock import MovableClock
from tests.stores.concurrently import at_once
from tests.stores.engine import Engine, Opened
from tests.stores.forgetting_items import NAME, erasure_begun, key_forgotten, memory_forgotten, rejected
from tests.stores.items import SUBJECT, TENANT, created, forgotten, log_of, number, put
from tests.usecases.asking import AGENT, BOT, OFFICER, PURPOSE, proposal, source

from tenure.core.errors import MemoryRejected
from tenure.core.forgetting import ForgetKey, Forgotten
from tenure.core.identity import Scope, Tier
from tenure.core.remembering import Written
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_KEY
from tenure.usecases.ports import Append, Appended, AppendResult, Overtaken
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER

ROUNDS: Final = 30
USER: Final = Scope(tier=Tier.USER, id=SUBJECT)


@pytest.fixture
def nodes(engine: Engine, opened: Opened, clock: MovableClock) -> Any:
    """Those who act at once: two nodes over a database, or one embedded store twice."""
    if engine.name == "sqlite":
        yield (opened, opened)
        return
    with engine.open(clock) as other:
        yield (opened, other)


def decided(opened: Opened, item: Append) -> Append:
    """The item, decided on as things are now."""
    with opened.store.reading() as reading:
        return msgspec.structs.replace(item, forgot_seq=reading.forgot_seq(TENANT))


def stands(opened: Opened, memory: int) -> bool:
    """Whether a memory has a row."""
    with opened.store.reading() as reading:
        return reading.memory_row(TENANT, number(memory)) is not None


def put_one(opened: Opened, item: Append) -> AppendResult:
    """Append one item."""
    [result] = put(opened, item)
    return result


@pytest.mark.parametrize("kind", ["key", "subject", "erasure", "value", "another memory"])
def test_a_write_and_a_forgetting_happen_in_one_of_two_orders(
    nodes: tuple[Opened, Opened], kind: str
) -> None:
    """SPEC F4a, L8: stored before and taken with it, or told that it was overtaken and not stored at all."""
    one, two = nodes
    orders = set()
    for turn in range(ROUNDS):
        memory, other = 2 * turn + 1, 2 * turn + 2
        put(one, created(one.keyring, other, is_held=True, fingerprint=b"%16d" % turn, subject="customer-8"))
        takes_it = kind in {"key", "subject", "erasure"}
        forgetting = {
            "key": key_forgotten(two.keyring, 1_000 + turn, floors=["user:*"]),
            "subject": forgotten(two.keyring),
            "erasure": erasure_begun(two.keyring, 1_000 + turn),
            "value": rejected(two.keyring, other, subject="customer-8"),
            "another memory": memory_forgotten(two.keyring, other, subject="customer-8"),
        }[kind]
        write = decided(one, created(one.keyring, memory, key_digest=NAME, scope=USER))

        stored, gone = at_once(partial(put_one, one, write), partial(put_one, two, forgetting))

        assert isinstance(gone, Appended)
        if isinstance(stored, Overtaken):
            orders.add("overtaken")
            assert stored == Overtaken(forgot_seq=gone.seq)
            assert not stands(two, memory)
        else:
            orders.add("stored first")
            assert isinstance(stored, Appended)
            assert stored.seq < gone.seq
            assert stands(two, memory) == (not takes_it)
        assert gone.dropped == (takes_it and isinstance(stored, Appended)) + (kind == "another memory")
    assert verify(one.pipeline, TENANT).holds
    assert one.store.rebuild().identical
    assert orders


def test_a_key_that_is_remembered_while_it_is_forgotten_is_gone_or_newer(
    nodes: tuple[Opened, Opened], clock: MovableClock
) -> None:
    """SPEC F4a: an old source comes through before the forget, which takes it, or is refused."""
    one, two = nodes
    for turn in range(ROUNDS):
        key = f"name-{turn}"
        seen = clock.now()
        clock.pass_time(seconds=1)
        write = proposal(f"Called {turn}", key=key, scope=USER, source=source(observed_at=seen))
        forget = ForgetKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key=key, scope=USER)

        written, gone = at_once(
            partial(one.pipeline.run, REMEMBER, BOT, write),
            partial(two.pipeline.run, FORGET_KEY, OFFICER, forget),
        )

        assert isinstance(gone, Forgotten)
        assert isinstance(written, Written | MemoryRejected)
        assert gone.forgotten == isinstance(written, Written)
        assert two.pipeline.run(LIST, BOT, ListMemories(subject=SUBJECT)).items == ()
    assert verify(two.pipeline, TENANT).holds
    assert two.store.rebuild().identical


def test_of_many_writes_beside_a_forgetting_each_is_before_or_behind_it(
    nodes: tuple[Opened, Opened],
) -> None:
    """SPEC F4a, L8: also of those that one commit stores together; the log says which were before."""
    one, two = nodes
    for turn in range(ROUNDS // 3):
        writes = [
            (node, decided(node, created(node.keyring, 100 * turn + 10 * which + each, key_digest=NAME)))
            for which, node in enumerate(nodes, start=1)
            for each in range(4)
        ]
        *stored, gone = at_once(
            *(partial(put_one, node, item) for node, item in writes),
            partial(put_one, two, key_forgotten(two.keyring, 5_000 + turn, floors=["user:*"])),
        )

        before = [result for result in stored if isinstance(result, Appended)]
        assert all(result.seq < gone.seq for result in before)
        assert gone.dropped == len(before)
        assert [result for result in stored if not isinstance(result, Appended)] == [
            Overtaken(forgot_seq=gone.seq)
        ] * (len(stored) - len(before))
        with one.store.reading() as reading:
            assert reading.standing(TENANT, SUBJECT) == frozenset()
    seqs = [event.seq for event in log_of(one)]
    assert seqs == list(range(1, len(seqs) + 1))
    assert one.store.rebuild().identical
