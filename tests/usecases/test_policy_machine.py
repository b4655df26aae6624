"""Random lives under random policies: a replay predicts exactly what switching on does (SPEC I4)."""

import itertools
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from tests.clock import MovableClock
from tests.stores.places import NewEngine
from tests.usecases.asking import BOT, REVIEWER, judgement, log, proposal, source
from tests.usecases.policies import DEFAULT, OPEN, STRICT, opened_under, replayed

from tenure.core.admission import Condition, Policy, Rule, bounded
from tenure.core.errors import IllegalTransition, MemoryRejected
from tenure.core.identity import SourceType
from tenure.core.incident_events import Held
from tenure.core.memory import Memory
from tenure.core.policy_replay import Effect
from tenure.core.proposals import Revise
from tenure.core.vocabulary import Kind, Outcome, Status, Trust
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.policy_switching import switch_round
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.review import PROMOTE

KINDS = (Kind.FACT, Kind.PREFERENCE, Kind.SUMMARY)
SOURCES = (SourceType.APPLICATION, SourceType.DIRECT_USER, SourceType.EMAIL)
TRUSTS = (Trust.USER_ASSERTED, Trust.APPLICATION_VERIFIED)


def some(words: Any) -> Any:
    """None, or some of these words."""
    return st.none() | st.frozensets(st.sampled_from(words), min_size=1)


conditions = st.builds(
    Condition,
    empty_or_longer_than_characters=st.none() | st.integers(min_value=1, max_value=40),
    kinds=some(KINDS),
    source_types=some(SOURCES),
)
random_policies = st.lists(
    st.builds(
        Rule,
        name=st.sampled_from("abcd"),
        reason=st.just("because"),
        when=conditions,
        outcome=st.sampled_from(Outcome),
        trust=st.sampled_from(TRUSTS),
    ),
    max_size=4,
).map(lambda rules: Policy(version=f"v{len(rules)}", rules=tuple(rules)))
policies = st.sampled_from([DEFAULT, OPEN, STRICT]) | random_policies


class Switching(RuleBasedStateMachine):
    """Whatever was written under whatever policies, the next one does what its replay said."""

    def __init__(self, new_engine: NewEngine) -> None:
        super().__init__()
        self.engine = new_engine()

    @initialize()
    def start(self) -> None:
        """Something of each sort."""
        self.clock, self.words = MovableClock(), itertools.count()
        self.policy, self.switched = DEFAULT, False
        self.node = opened_under(self.engine, self.clock, DEFAULT)
        for kind, type_ in itertools.product(KINDS, SOURCES):
            self.remember(kind, type_, 10)

    def teardown(self) -> None:
        """The policy in force changes nothing, and the views are what the log says."""
        try:
            self.look_ahead_at_the_same()
            assert self.node.store.rebuild().identical
        finally:
            self.node.close()

    @property
    def pipeline(self) -> Pipeline:
        """The one way through."""
        return self.node.pipeline

    def standing(self) -> dict[Any, Memory]:
        """Every memory, whatever its status."""
        page = self.pipeline.run(LIST, REVIEWER, ListMemories(limit=200))
        return {one.id: one for one in page.items}

    def pick(self, data: st.DataObject, status: Status) -> Memory | None:
        """A memory of a status."""
        found = [one for one in self.standing().values() if one.status is status]
        return data.draw(st.sampled_from(sorted(found, key=lambda one: one.id))) if found else None

    def written(self, **sides: Any) -> None:
        """A proposal, whatever comes of it."""
        try:
            self.pipeline.run(REMEMBER, BOT, proposal(**sides))
        except MemoryRejected:
            return

    @rule(kind=st.sampled_from(KINDS), type_=st.sampled_from(SOURCES), length=st.integers(10, 60))
    def remember(self, kind: Kind, type_: SourceType, length: int) -> None:
        """A new memory."""
        self.written(content=self.text(length), kind=kind, source=source(type_))

    @rule(data=st.data(), kind=st.sampled_from(KINDS), type_=st.sampled_from(SOURCES), corrects=st.booleans())
    def make_of(self, data: st.DataObject, kind: Kind, type_: SourceType, corrects: bool) -> None:  # noqa: FBT001
        """A memory made of another, or one that takes its place."""
        one = self.pick(data, Status.ACTIVE)
        if one is not None:
            beside = {"supersedes": one.id} if corrects else {"derived_from": (one.id,)}
            self.written(content=self.text(20), kind=kind, source=source(type_), **beside)

    @rule(data=st.data(), type_=st.sampled_from(SOURCES), length=st.none() | st.integers(10, 60))
    def revise(self, data: st.DataObject, type_: SourceType, length: int | None) -> None:
        """A new version, of the text or of what is said about it."""
        one = self.pick(data, Status.ACTIVE)
        if one is None:
            return
        content = self.text(length) if length is not None else None
        change = Revise(
            expected_version=one.version, source=source(type_, "other"), content=content, confidence=0.5
        )
        try:
            self.pipeline.run(REVISE, BOT, ReviseMemory(memory_id=one.id, revise=change))
        except MemoryRejected:
            return

    @rule(data=st.data())
    def promote(self, data: st.DataObject) -> None:
        """A reviewer lets something in."""
        one = self.pick(data, Status.QUARANTINED)
        if one is not None:
            try:
                self.pipeline.run(PROMOTE, REVIEWER, judgement(one.id, one.version))
            except IllegalTransition:
                return

    @rule(hours=st.sampled_from([1, 30 * 24]))
    def let_time_pass(self, hours: int) -> None:
        """Nothing but time."""
        self.clock.pass_time(hours=hours)

    @rule(policy=policies, batch_size=st.integers(1, 5))
    def switch(self, policy: Policy, batch_size: int) -> None:
        """A restart with another policy does what its replay said, and nothing else."""
        policy = bounded(policy, content_characters_max=2_000)
        self.look_ahead_at_the_same()
        changes, said = replayed(self.pipeline, policy)
        before, events = self.standing(), len(log(self.pipeline))
        self.node.close()
        self.node = opened_under(self.engine, self.clock, policy)
        while switch_round(self.pipeline, batch_size=batch_size).more:
            pass
        self.switched, self.policy = self.switched or policy != self.policy, policy
        predicted = {one.memory_id: one.after_rule for one in changes if one.effect is Effect.HELD}
        held = [one for one in log(self.pipeline)[events:] if isinstance(one.data, Held)]
        assert {one.stream: one.data.rule for one in held if isinstance(one.data, Held)} == predicted
        assert len(held) == said.held
        for memory_id, memory in self.standing().items():
            if memory_id not in predicted:
                assert memory == before[memory_id]
            else:
                assert memory.status is Status.QUARANTINED

    def look_ahead_at_the_same(self) -> None:
        """The policy in force holds nothing; where none was switched on, it says what was said."""
        changes, _ = replayed(self.pipeline, self.policy)
        assert [one for one in changes if one.effect is Effect.HELD or not self.switched] == []

    def text(self, length: int) -> str:
        """A harmless text of about this length, with a word that no other has."""
        return f"said word{next(self.words)} {'very ' * 20}"[:length].strip()


def test_a_replay_predicts_what_switching_on_does(new_engine: NewEngine) -> None:
    """SPEC I4: for every history, and the policy that decided changes nothing."""

    class OnThisEngine(Switching):
        """Each history in a store of its own."""

        def __init__(self) -> None:
            super().__init__(new_engine)

    chosen = settings(
        max_examples=12, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(OnThisEngine, settings=chosen)
