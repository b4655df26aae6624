"""Whoever may not be trusted writes whatever they like: what is trusted stands as it was (SPEC T3, L10, M5).

The same laws as in tests/core/test_beliefs.py, through the gate and into real stores.
"""

from datetime import timedelta
from itertools import permutations
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from tests.clock import START, MovableClock
from tests.stores.places import NewEngine
from tests.usecases.asking import BOT, REVIEWER, TENANT, proposal, question, source

from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.vocabulary import Claim, Kind, Status, Trust
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.upkeep import upkeep_round

VALUES: Final = ("nginx", "caddy", "envoy")
OUTSIDE: Final = (SourceType.WEB, SourceType.EMAIL, SourceType.DOCUMENT, SourceType.OTHER_AGENT)
STEPS: Final = settings(
    max_examples=8, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)


class Untrusted(RuleBasedStateMachine):
    """One memory that an application verified, and somebody outside who writes about the same."""

    def __init__(self, new_engine: NewEngine) -> None:
        super().__init__()
        self.clock = MovableClock()
        self.node = new_engine().open(self.clock)
        self.pipeline: Pipeline = self.node.pipeline
        self.trusted = self.write("The proxy is nginx", claim=proxy("nginx"))
        self.first = self.now()

    def teardown(self) -> None:
        """Close the store."""
        self.node.close()

    def write(self, content: str, **sides: Any) -> Memory:
        """A memory as the gate left it."""
        memory = self.pipeline.run(REMEMBER, BOT, proposal(content, **sides)).memory
        assert memory is not None
        return memory

    def now(self) -> tuple[object, ...]:
        """All of the trusted memory that anybody relies on."""
        one = self.pipeline.run(GET, REVIEWER, Get(memory_id=self.trusted.id))
        said = (one.content, one.claim, one.source, one.trust, one.confidence)
        return (*said, one.status, one.version, one.valid_from, one.valid_to, one.expires_at)

    @rule(
        value=st.sampled_from(VALUES),
        from_where=st.sampled_from(OUTSIDE),
        claims=st.booleans(),
        is_narrow=st.booleans(),
        days=st.none() | st.integers(-9, 9),
        copies=st.integers(1, 3),
        corrects=st.booleans(),
    )
    def somebody_writes(
        self,
        *,
        value: str,
        from_where: SourceType,
        claims: bool,
        is_narrow: bool,
        days: int | None,
        copies: int,
        corrects: bool,
    ) -> None:
        """Another value or the same, of whatever date and place, many times over, even as a correction."""
        for number in range(copies):
            sides: dict[str, Any] = {"claim": proxy(value) if claims else None}
            if is_narrow:
                sides["scope"] = Scope(tier=Tier.TASK, id="t1", user="customer-7")
            if days is not None:
                sides["valid_from"] = START + timedelta(days=days)
            if corrects:
                sides["supersedes"] = self.trusted.id
            self.write(f"The proxy is {value}", source=source(from_where, f"page-{number}"), **sides)

    @rule(hours=st.integers(1, 5))
    def time_passes_and_upkeep_runs(self, hours: int) -> None:
        """The workers look at what came before."""
        self.clock.pass_time(hours=hours)
        upkeep_round(self.pipeline, batch_size=100)

    @invariant()
    def the_trusted_memory_is_what_it_was(self) -> None:
        """SPEC T3, L10: it stands, with its words, trust and times."""
        assert self.now() == self.first

    @invariant()
    def nothing_else_is_recalled(self) -> None:
        """SPEC L6: agents are shown it alone."""
        found = self.pipeline.run(RECALL, BOT, question("what is the proxy?"))
        assert [item.memory.id for item in found.items] == [self.trusted.id]

    @invariant()
    def nobody_has_gained_trust(self) -> None:
        """SPEC M5: however often it was said."""
        with self.pipeline.store.reading() as reading:
            rows = reading.memory_page(TENANT, after=0, limit=1_000)
        assert {row.trust for row in rows if row.memory_id != self.trusted.id} <= {Trust.UNTRUSTED.rank}


def proxy(value: str) -> Claim:
    """What the shop's proxy is said to be."""
    return Claim(entity="shop", attribute="proxy", value=value)


def test_no_path_of_untrusted_writes_changes_what_a_trusted_memory_says(new_engine: NewEngine) -> None:
    """SPEC T3, L10, M5: whatever is written in whatever order, and however often upkeep looks."""

    class OnThisEngine(Untrusted):
        """Each history in a store of its own."""

        def __init__(self) -> None:
            super().__init__(new_engine)

    run_state_machine_as_test(OnThisEngine, settings=STEPS)


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.PREFERENCE], ids=str)
def test_the_order_of_writes_does_not_change_what_is_believed(new_engine: NewEngine, kind: Kind) -> None:
    """SPEC T3: with equal times and trusts the ids decide, and not who came first."""
    ids = {name: UUID(int=at) for at, name in enumerate(VALUES, start=1)}
    believed = set()
    for order in permutations(VALUES):
        node = new_engine().open(MovableClock())
        memories = [
            node.pipeline.run(
                REMEMBER,
                BOT,
                proposal(f"The proxy is {name}", claim=proxy(name), kind=kind, id=ids[name]),
            ).memory
            for name in order
        ]
        stand = {
            one.content
            for one in (
                node.pipeline.run(GET, BOT, Get(memory_id=memory.id)) for memory in memories if memory
            )
            if one.status is Status.ACTIVE
        }
        believed.add(frozenset(stand))
        node.close()

    assert believed == {frozenset({f"The proxy is {VALUES[-1]}"})}
