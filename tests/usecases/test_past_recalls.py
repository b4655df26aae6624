"""Random histories: asked later as of each moment, a recall answers what it answered then (SPEC R8)."""

import itertools
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.clock import MovableClock
from tests.stores.engine import Engine, Opened
from tests.usecases.asking import AGENT, JUDGES, PURPOSE, caller, judgement, proposal, question, source

from tenure.core.errors import IllegalTransition, MemoryRejected
from tenure.core.forgetting import ForgetKey
from tenure.core.identity import Role, Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.retrieval import Found, Recall
from tenure.core.vocabulary import Claim, Kind, Status, Trust
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.forgetting import (
    FORGET_KEY,
    FORGET_MEMORY,
    FORGET_SUBJECT,
    ForgetMemory,
    ForgetSubject,
)
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL
from tenure.usecases.sealing import fold
from tenure.usecases.upkeep import upkeep_round

ITEMS = 20
HOUR = timedelta(hours=1)
SUBJECTS = ("ann", "bob")
WORDS = ("nginx", "envoy", "leeds", "york")
SCOPES = (
    None,
    Scope(tier=Tier.TASK, id="t-1", session="s-1"),
    Scope(tier=Tier.SESSION, id="s-1"),
)
CLAIMS = [Claim(entity="shop", attribute="proxy", value=word) for word in WORDS[:2]]
"""Two of them cannot both be true."""
_numbers = itertools.count()


class Asked(msgspec.Struct, frozen=True):
    """A recall and its answer, when it was asked."""

    at: datetime
    command: Recall
    found: Found


class History:
    """What happens in one tenant; it remembers what it asked and what it forgot."""

    def __init__(self, node: Opened, clock: MovableClock) -> None:
        self.node, self.clock = node, clock
        self.pipeline = node.pipeline
        tenant = f"tenant-{next(_numbers)}"
        self.bot = caller(Role.WRITER, Role.READER, Role.REVIEWER, tenant=tenant)
        self.judge = caller(Role.REVIEWER, Role.PRIVACY_OFFICER, name="ann", tenant=tenant)
        self.known: dict[UUID, Memory] = {}
        self.asked: list[Asked] = []
        self.forgotten: set[UUID] = set()

    def memory(self, data: st.DataObject, *statuses: Status) -> Memory | None:
        """One of the memories, as it stands, if there is one of these statuses."""
        with self.node.store.reading() as reading:
            folded = [fold(reading, self.node.keyring, self.bot.tenant, one) for one in self.known]
        found = [
            one
            for one in folded
            if one is not None
            and one.id not in self.forgotten
            and (not statuses or one.status_at(self.clock.now()) in statuses)
        ]
        return data.draw(st.sampled_from(found)) if found else None

    def write(self, data: st.DataObject, **sides: Any) -> None:
        """A new memory; some wait, some have keys, scopes or times at which they hold."""
        now = self.clock.now()
        words = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
        scope = data.draw(st.sampled_from(SCOPES))
        own: dict[str, Any] = {
            "subject": data.draw(st.sampled_from(SUBJECTS)),
            "agent": AGENT,
            "kind": data.draw(st.sampled_from([Kind.FACT, Kind.SKILL, Kind.WORKING_NOTE])),
            "source": source(data.draw(st.sampled_from([SourceType.APPLICATION] * 3 + [SourceType.EMAIL]))),
            "scope": scope,
            "key": data.draw(st.sampled_from([None, None, "proxy"])),
            "confidence": data.draw(st.sampled_from([0.5, 1.0])),
            "valid_from": data.draw(st.sampled_from([None, None, now, now + HOUR])),
            "valid_to": data.draw(st.sampled_from([None, None, now + 3 * HOUR])),
            "claim": data.draw(st.sampled_from([None, None, *CLAIMS])),
        }
        command = proposal(f"The proxy {next(_numbers)} is {' '.join(words)}", **(own | sides))
        try:
            memory = self.pipeline.run(REMEMBER, self.bot, command).memory
        except (MemoryRejected, IllegalTransition):
            return
        assert memory is not None
        self.known[memory.id] = memory

    def correct(self, data: st.DataObject) -> None:
        """A memory in another's place, within the same walls."""
        if (old := self.memory(data, Status.ACTIVE)) is not None:
            sides = {"subject": old.subject, "kind": old.kind, "scope": old.scope, "key": old.key}
            self.write(data, **sides, supersedes=old.id)

    def derive(self, data: st.DataObject) -> None:
        """A memory made from another."""
        if (parent := self.memory(data, Status.ACTIVE)) is not None:
            self.write(data, subject=parent.subject, derived_from=(parent.id,))

    def revise(self, data: st.DataObject) -> None:
        """Another text for the same memory."""
        old = self.memory(data, Status.ACTIVE)
        if old is not None and old.trust is not Trust.REVIEWER_VERIFIED:
            change = Revise(
                expected_version=old.version, source=source(), content=f"Now {next(_numbers)} nginx york"
            )
            self.pipeline.run(REVISE, self.bot, ReviseMemory(memory_id=old.id, revise=change))

    def judged(self, data: st.DataObject) -> None:
        """A person's word on a memory."""
        word, status = data.draw(
            st.sampled_from(
                [
                    ("promote", Status.QUARANTINED),
                    ("reject", Status.QUARANTINED),
                    ("revoke", Status.ACTIVE),
                ]
            )
        )
        if (memory := self.memory(data, status)) is not None:
            try:
                self.pipeline.run(JUDGES[word], self.judge, judgement(memory.id, memory.version))
            except IllegalTransition:
                return

    def forget(self, data: st.DataObject) -> None:
        """A subject, a memory or a key goes out of every read, and out of every past."""
        memory = self.memory(data)
        way = data.draw(st.sampled_from(["subject", "memory", "memory", "key", "leaf", "erase"]))
        if memory is None:
            return
        if way == "subject":
            self.pipeline.run(FORGET_SUBJECT, self.judge, ForgetSubject(subject=memory.subject))
        elif way == "erase":
            erase(self.pipeline, self.judge, EraseSubject(subject=memory.subject))
        elif way == "memory":
            command = ForgetMemory(memory_id=memory.id, expected_version=memory.version)
            self.pipeline.run(FORGET_MEMORY, self.judge, command)
        else:
            key = ForgetKey(
                agent=AGENT,
                purpose=PURPOSE,
                subject=memory.subject,
                key="proxy",
                scope=memory.scope,
                leaf_only=way == "leaf",
            )
            self.pipeline.run(FORGET_KEY, self.judge, key)
        self.forgotten |= self.reached(way, memory)

    def reached(self, way: str, memory: Memory) -> set[UUID]:
        """What a forget takes, and what was made from it."""
        places = (
            (memory.scope.tier,) if way == "leaf" else tuple(Tier)[tuple(Tier).index(memory.scope.tier) :]
        )
        taken = {
            one.id
            for one in self.known.values()
            if one.subject == memory.subject
            and (
                way in {"subject", "erase"}
                or (way == "memory" and one.id == memory.id)
                or (way in {"key", "leaf"} and one.key == "proxy" and one.scope.tier in places)
            )
        }
        while True:
            made = {one.id for one in self.known.values() if not taken.isdisjoint(one.derived_from)}
            if made <= taken:
                return taken
            taken |= made

    def recall(self, data: st.DataObject) -> None:
        """A question, kept with its answer."""
        subject = data.draw(st.sampled_from([None, *SUBJECTS]))
        command = question(
            f"which proxy is {data.draw(st.sampled_from(WORDS))}?",
            subject=subject,
            scope=data.draw(st.sampled_from([None, *SCOPES])),
            kinds=data.draw(st.sampled_from([(), (Kind.FACT, Kind.SKILL)])),
            min_trust=data.draw(st.sampled_from([None, Trust.REVIEWER_VERIFIED])),
            valid_at=data.draw(st.sampled_from([None, None, self.clock.now() - HOUR])),
            limit=data.draw(st.sampled_from([2, ITEMS, ITEMS])),
            explain=True,
        )
        found = self.pipeline.run(RECALL, self.bot, command)
        self.asked.append(Asked(self.clock.now(), command, found))

    def wait(self, data: st.DataObject) -> None:
        """Time goes by, and a worker may write down what it has done."""
        self.clock.pass_time(hours=data.draw(st.sampled_from([0.5, 2, 30])))
        if data.draw(st.booleans()):
            for _round in range(2):
                upkeep_round(self.pipeline, batch_size=200)


def plainly(found: Found) -> list[tuple[Any, ...]]:
    """What an answer says of each item, but for what has become of it since."""
    return [
        (
            item.memory,
            item.score,
            item.freshness,
            item.stale,
            item.banner,
            item.note,
            item.contradictions,
            item.why,
        )
        for item in found.items
    ]


def ids(found: Found) -> set[UUID]:
    """What was shown."""
    return {item.memory.id for item in found.items}


def again(history: History, one: Asked) -> Found:
    """The same question, as of when it was asked."""
    command = msgspec.structs.replace(one.command, as_of=one.at)
    return history.pipeline.run(RECALL, history.bot, command)


STEPS = ["write"] * 5 + ["recall"] * 3 + ["wait"] * 2 + ["correct", "derive", "revise", "judged", "judged"]


@pytest.fixture(scope="module")
def clock() -> MovableClock:
    """One clock for all histories of the file."""
    return MovableClock()


@pytest.fixture(scope="module")
def shared(shared_engine: Engine, clock: MovableClock) -> Iterator[Opened]:
    """One store for all histories of the file; each has a tenant of its own."""
    opened = shared_engine.open(clock)
    yield opened
    opened.close()


def lived(shared: Opened, clock: MovableClock, data: st.DataObject, steps: list[str]) -> History:
    """A history of these steps; the clock never stands still between two of them."""
    history = History(shared, clock)
    history.write(data)
    for step in steps:
        getattr(history, step)(data)
        clock.pass_time(microseconds=1)
    history.recall(data)
    clock.pass_time(microseconds=1)
    return history


STEPS_THAT_FORGET = [*STEPS, "forget", "forget"]

RANDOM = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@RANDOM
@given(data=st.data(), steps=st.lists(st.sampled_from(STEPS), min_size=10, max_size=40))
def test_a_past_recall_answers_what_it_answered_then(
    shared: Opened, clock: MovableClock, data: st.DataObject, steps: list[str]
) -> None:
    """SPEC R8: the same memories as they were, in the same order, with the same scores and doubts."""
    history = lived(shared, clock, data, steps)
    history.wait(data)

    for one in history.asked:
        assert plainly(again(history, one)) == plainly(one.found)


@RANDOM
@given(data=st.data(), steps=st.lists(st.sampled_from(STEPS_THAT_FORGET), min_size=10, max_size=40))
def test_a_past_recall_leaves_out_what_was_forgotten_since_and_nothing_else(
    shared: Opened, clock: MovableClock, data: st.DataObject, steps: list[str]
) -> None:
    """SPEC R8, F: whatever was shown and not forgotten is shown, and nothing that was forgotten ever is."""
    history = lived(shared, clock, data, steps)
    history.wait(data)

    for one in history.asked:
        found = again(history, one)
        assert ids(found).isdisjoint(history.forgotten)
        assert len(ids(found)) == len(found.items)
        if one.command.limit == ITEMS:
            left = ids(one.found) - history.forgotten
            # What a forgotten memory stood before may be seen again behind it.
            assert left <= ids(found) if one.command.scope else left == ids(found)
