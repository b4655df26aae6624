"""No sequence of untrusted writes changes what a trusted memory says: a machine that tries."""

from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace
from tests.core.examples import NOW, id_of
from tests.core.said import Belief, Beliefs, intervals, said, values

from tenure.core.duplicates import Contradiction, verdict
from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.statements import Statement
from tenure.core.validity import Interval
from tenure.core.vocabulary import Kind, Origin, Status, Trust

TRUSTED = st.sampled_from([trust for trust in Trust if trust is not Trust.UNTRUSTED])


class Writes(RuleBasedStateMachine):
    """One trusted memory, and somebody who may write whatever they like, as often as they like, untrusted."""

    @initialize(value=values, trust=TRUSTED, valid=intervals.filter(lambda one: not one.is_empty))
    def a_trusted_memory_stands(self, value: str, trust: Trust, valid: Interval) -> None:
        """It is all that there is at first."""
        self.beliefs = Beliefs()
        self.number = 1
        self.trusted: Statement = said(1, value, trust=trust, valid=valid)
        self.beliefs.write(self.trusted)

    @rule(
        value=values,
        age=st.integers(-30, 30),
        valid=st.just(Interval()) | intervals,
        copies=st.integers(1, 3),
        is_narrow=st.booleans(),
        kind=st.sampled_from((Kind.FACT, Kind.EXTERNAL_CLAIM)),
    )
    def somebody_writes(
        self, *, value: str, age: int, valid: Interval, copies: int, is_narrow: bool, kind: Kind
    ) -> None:
        """Another value or the same one, dated as they like, for as long as they like, many times over."""
        for _ in range(copies):
            self.number += 1
            scope = Scope(tier=Tier.TASK, id="t1") if is_narrow else self.trusted.scope
            self.beliefs.write(
                said(
                    self.number,
                    value,
                    trust=Trust.UNTRUSTED,
                    said_at=NOW + timedelta(days=age),
                    valid=valid,
                    scope=scope,
                    kind=kind,
                    origins=(Origin(type=SourceType.WEB, id=f"page-{self.number}"),),
                )
            )

    @rule()
    def somebody_copies_it_to_the_letter(self) -> None:
        """In everything but its trust and its id."""
        self.number += 1
        self.beliefs.write(replace(self.trusted, id=id_of(self.number), trust=Trust.UNTRUSTED))

    @invariant()
    def the_trusted_memory_says_what_it_said(self) -> None:
        """SPEC T3, L10, M5: it stands, with its text, trust and time, and nothing that stands denies it."""
        assert self.beliefs.held[id_of(1)] == Belief(statement=self.trusted, status=Status.ACTIVE)
        standing = [one.statement for one in self.beliefs.held.values() if one.status is Status.ACTIVE]
        assert not any(isinstance(verdict(self.trusted, one, cosine=1.0), Contradiction) for one in standing)

    @invariant()
    def nothing_that_stands_has_gained_trust(self) -> None:
        """SPEC M5: repeating something is no evidence that it is true."""
        others = [one.statement for one in self.beliefs.held.values() if one.statement != self.trusted]
        assert all(one.trust is Trust.UNTRUSTED for one in others)


def test_no_sequence_of_untrusted_writes_changes_what_a_trusted_memory_says() -> None:
    """SPEC T3, L10: however similar, however often repeated, whatever dates and places they give."""
    run_state_machine_as_test(
        Writes, settings=settings(max_examples=40, stateful_step_count=12, deadline=None)
    )
