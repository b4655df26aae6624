"""The contract of rebuild: the log is the truth, and the views are what it says, byte for byte."""

from collections.abc import Callable
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.clock import MovableClock
from tests.stores.engine import Engine
from tests.stores.items import TENANT, created, put, renewed
from tests.stores.places import NewEngine
from tests.usecases.asking import (
    AGENT,
    BOT,
    JUDGES,
    OFFICER,
    OPERATOR,
    PURPOSE,
    REVIEWER,
    judgement,
    proposal,
    question,
    source,
)

from tenure.core.access import CreateKey
from tenure.core.errors import TenureError
from tenure.core.forgetting import ForgetKey
from tenure.core.holds import PlaceHold
from tenure.core.identity import Grants, Role, Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.retention import Renew
from tenure.core.vocabulary import Kind
from tenure.usecases.access import REVOKE_KEY, RevokeKey, create_key
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import (
    FORGET_KEY,
    FORGET_MEMORY,
    FORGET_SUBJECT,
    ForgetMemory,
    ForgetSubject,
)
from tenure.usecases.holds import PLACE_HOLD, RELEASE_HOLD, ReleaseHold
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import RENEW, RenewMemory
from tenure.usecases.upkeep import upkeep_round

SUBJECTS = ("ann", "bob")


class History:
    """Carries out a random history; what the rules refuse is refused, and the story goes on."""

    def __init__(self, pipeline: Pipeline, clock: MovableClock, chance: Callable[[int], int]) -> None:
        self._pipeline = pipeline
        self._clock = clock
        self._chance = chance
        self._ids = [memory.id for memory in _memories(pipeline)]
        self.steps: tuple[Callable[[], object], ...] = (
            self.remember,
            self.remember,
            self.correct,
            self.revise,
            self.judge,
            self.renew,
            self.forget,
            self.let_time_pass,
            self.recall,
            self.exchange_keys,
            self.derive,
            self.derive,
            self.forget_memory,
            self.forget_key,
            self.hold_or_release,
            self.erase,
        )

    def step(self, which: int) -> None:
        """One step of the story."""
        try:
            self.steps[which % len(self.steps)]()
        except TenureError:
            return

    def remember(self) -> None:
        """Something new, from any source, so that some of it waits in quarantine."""
        source_type = list(SourceType)[self._chance(len(SourceType))]
        command = proposal(
            f"Note number {self._chance(1_000)}",
            subject=SUBJECTS[self._chance(2)],
            kind=list(Kind)[self._chance(len(Kind))],
            source=source(source_type, thread="t", position=self._chance(9)),
            key="name" if self._chance(2) else None,
            scope=self._scope(),
            ttl_seconds=3_600 * (1 + self._chance(24)),
        )
        written = self._pipeline.run(REMEMBER, BOT, command, idempotency_key=f"k-{self._chance(50)}")
        if written.memory is not None:
            self._ids.append(written.memory.id)

    def correct(self) -> None:
        """Something in the place of something else."""
        old = self._one()
        command = proposal("A correction", subject=old.subject, kind=old.kind, supersedes=old.id)
        written = self._pipeline.run(REMEMBER, BOT, command)
        if written.memory is not None:
            self._ids.append(written.memory.id)

    def revise(self) -> None:
        """A new version."""
        old = self._one()
        revise = Revise(expected_version=old.version, source=source(), content="A revision", confidence=0.25)
        self._pipeline.run(REVISE, BOT, ReviseMemory(memory_id=old.id, revise=revise))

    def judge(self) -> None:
        """A reviewer's word."""
        old = self._one()
        judge = sorted(JUDGES)[self._chance(3)]
        self._pipeline.run(JUDGES[judge], REVIEWER, judgement(old.id, old.version))

    def renew(self) -> None:
        """A longer life."""
        old = self._one()
        renew = Renew(expected_version=old.version, reason="still true", ttl_seconds=86_400)
        self._pipeline.run(RENEW, REVIEWER, RenewMemory(memory_id=old.id, renew=renew))

    def forget(self) -> None:
        """A whole subject."""
        self._pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECTS[self._chance(2)]))

    def derive(self) -> None:
        """Something made from something else, wherever that lies."""
        old = self._one()
        command = proposal(
            f"Made of note {self._chance(1_000)}",
            subject=old.subject,
            kind=old.kind,
            scope=self._scope(),
            derived_from=(old.id,),
        )
        self._pipeline.run(REMEMBER, BOT, command)

    def forget_memory(self) -> None:
        """One memory, with what was made from it."""
        old = self._one()
        command = ForgetMemory(memory_id=old.id, expected_version=old.version)
        self._pipeline.run(FORGET_MEMORY, OFFICER, command)

    def forget_key(self) -> None:
        """A key, at a scope and outward or at the leaf alone."""
        command = ForgetKey(
            agent=AGENT,
            purpose=PURPOSE,
            subject=SUBJECTS[self._chance(2)],
            key="name",
            scope=self._scope() or Scope(tier=Tier.USER, id="ann"),
            leaf_only=bool(self._chance(2)),
        )
        self._pipeline.run(FORGET_KEY, OFFICER, command)

    def hold_or_release(self) -> None:
        """A legal hold comes, or goes."""
        subject = SUBJECTS[self._chance(2)]
        if self._chance(3):
            self._pipeline.run(RELEASE_HOLD, OFFICER, ReleaseHold(subject=subject, reason="over"))
        else:
            self._pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=subject, reason="a lawsuit"))

    def erase(self) -> None:
        """A whole subject, for good."""
        erase(self._pipeline, OFFICER, EraseSubject(subject=SUBJECTS[self._chance(2)]))

    def let_time_pass(self) -> None:
        """Some hours, and a round of upkeep."""
        self._clock.pass_time(hours=self._chance(12))
        upkeep_round(self._pipeline, batch_size=3)

    def recall(self) -> None:
        """A question, of which a receipt stays."""
        self._pipeline.run(RECALL, BOT, question(subject=None))

    def exchange_keys(self) -> None:
        """One credential comes and goes."""
        made = create_key(
            self._pipeline,
            OPERATOR,
            CreateKey(name="ci", grants=Grants(roles=frozenset({Role.WRITER, Role.READER}))),
        )
        if self._chance(2):
            self._pipeline.run(REVOKE_KEY, OPERATOR, RevokeKey(key_id=made.key.id))

    def _scope(self) -> Scope | None:
        """A task's, a session's, or the subject's own, which is left out."""
        scopes = (None, Scope(tier=Tier.TASK, id="t", session="s"), Scope(tier=Tier.SESSION, id="s"))
        return scopes[self._chance(3)]

    def _one(self) -> Memory:
        memories = _memories(self._pipeline)
        return memories[self._chance(len(memories))] if memories else self._missing()

    def _missing(self) -> Memory:
        raise TenureError("there is nothing yet to act on")


def _memories(pipeline: Pipeline) -> tuple[Memory, ...]:
    return pipeline.run(LIST, BOT, ListMemories(limit=200)).items


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(st.integers(0, 15), min_size=10, max_size=60), random=st.randoms(use_true_random=False))
def test_after_any_history_a_rebuild_gives_the_same_bytes(
    new_engine: NewEngine, steps: list[int], random: Random
) -> None:
    """SPEC E1: views dropped and replayed are identical, and the chain holds; after a restart too."""
    clock = MovableClock()
    engine = new_engine()
    opened = engine.open(clock)
    history = History(opened.pipeline, clock, random.randrange)
    for step in steps:
        history.step(step)
    opened.store.settle()
    live = engine.views()

    first = opened.store.rebuild()
    rebuilt = engine.views()
    verified = verify(opened.pipeline, TENANT)
    opened.close()
    again = engine.open(clock)
    second = again.store.rebuild()
    again.close()

    assert (first.identical, second.identical) == (True, True)
    assert rebuilt == live
    assert engine.views() == live
    assert (verified.holds, verified.events) == (True, first.events)


def test_a_rebuild_repairs_a_row_that_was_tampered_with(engine: Engine) -> None:
    """SPEC E1: the difference is reported once, and the log's version stands from then on."""
    opened = engine.open()
    put(
        opened,
        created(opened.keyring, 1),
        created(opened.keyring, 2),
        renewed(opened.keyring, 1, to_version=2),
    )
    opened.close()
    before = engine.views()
    engine.alter_view(TENANT)
    assert engine.views() != before

    again = engine.open()
    try:
        first, second = again.store.rebuild(), again.store.rebuild()
    finally:
        again.close()

    assert (first.events, first.identical, second.identical) == (3, False, True)
    assert engine.views() == before


def test_rebuilding_again_and_again_between_writes_changes_nothing(engine: Engine) -> None:
    """SPEC E1: whatever a connection has at hand from the writes before, a replay goes beside the views."""
    opened = engine.open(MovableClock())
    try:
        for turn in range(4):
            for one in range(12):
                opened.pipeline.run(REMEMBER, BOT, proposal(f"Note {one} of turn {turn}"))
            opened.store.settle()
            before = engine.views()

            assert opened.store.rebuild().identical
            assert engine.views() == before
    finally:
        opened.close()


def test_an_empty_store_rebuilds_to_itself(engine: Engine) -> None:
    """SPEC E1: nothing replayed, nothing different."""
    opened = engine.open()
    try:
        rebuilt = opened.store.rebuild()
    finally:
        opened.close()

    assert (rebuilt.events, rebuilt.identical) == (0, True)


def test_what_was_forgotten_is_not_brought_back_by_a_rebuild(engine: Engine) -> None:
    """SPEC F5, E1: the replay passes the forgetting at its own place in the log."""
    opened = engine.open(MovableClock())
    try:
        for subject in SUBJECTS:
            opened.pipeline.run(REMEMBER, BOT, proposal(subject=subject))
        opened.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject="ann"))
        opened.store.rebuild()

        found = opened.pipeline.run(RECALL, BOT, question(subject=None))
        assert [memory.subject for memory in _memories(opened.pipeline)] == ["bob"]
        assert [item.memory.subject for item in found.items] == ["bob"]
    finally:
        opened.close()


def test_a_recall_after_a_rebuild_gives_the_same_answer(engine: Engine) -> None:
    """SPEC E1, R2: the words are found as before, with the same scores."""
    opened = engine.open(MovableClock())
    try:
        for one in range(30):
            opened.pipeline.run(REMEMBER, BOT, proposal(f"Ticket {one} was about printer model {one % 7}"))
        asked = question("which printer model was it, 3?", limit=5, explain=True)
        before = opened.pipeline.run(RECALL, BOT, asked)
        opened.store.rebuild()
        after = opened.pipeline.run(RECALL, BOT, asked)
    finally:
        opened.close()

    assert [(item.memory.id, item.score, item.why) for item in before.items] == [
        (item.memory.id, item.score, item.why) for item in after.items
    ]


def test_what_is_written_after_a_rebuild_is_found_by_its_words(engine: Engine) -> None:
    """SPEC E1, R1: readers follow the rebuilt word index, so that nothing written since is missed."""
    opened = engine.open(MovableClock())
    try:
        opened.pipeline.run(RECALL, BOT, question())
        opened.store.rebuild()
        opened.pipeline.run(REMEMBER, BOT, proposal("The giraffe is called Melman"))

        found = opened.pipeline.run(RECALL, BOT, question("giraffe", explain=True))
    finally:
        opened.close()

    assert [item.why is not None and item.why["words"] > 0 for item in found.items] == [True]
