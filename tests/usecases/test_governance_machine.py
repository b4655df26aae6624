"""Random lives of many memories against a plain model: only what may be read is ever read (SPEC L, F, R1)."""

import itertools
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from tests.clock import MovableClock
from tests.stores.places import NewEngine
from tests.usecases.asking import judgement, proposal, question, source
from tests.usecases.governance_model import (
    AGENTS,
    PLACES,
    PURPOSES,
    READERS,
    REVIEWERS,
    SUBJECTS,
    TENANTS,
    Known,
    Model,
    Place,
    trust_at_the_gate,
)

from tenure.core.errors import IllegalTransition, NotFound, TenureError
from tenure.core.identity import Caller, SourceType
from tenure.core.proposals import Remember, Revise
from tenure.core.retention import Renew
from tenure.core.retrieval import Recall
from tenure.core.review_queue import AskQueue
from tenure.core.vocabulary import Kind, Status
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REJECT, RENEW, REVOKE, RenewMemory
from tenure.usecases.review_queue import QUEUE
from tenure.usecases.upkeep import upkeep_round
from tenure.wiring import Node

HOURS = st.sampled_from([1, 6, 24])
LEASE_SECONDS = 0.001
"""Shorter than any restart: the node that was closed would keep the next one from its work for longer."""


class Governance(RuleBasedStateMachine):
    """Whatever is asked in whatever order, the store shows what the model says, no more and no less."""

    def __init__(self, new_engine: NewEngine) -> None:
        super().__init__()
        self.engine = new_engine()

    @initialize()
    def start(self) -> None:
        """In each place one memory that is active and one that waits: something to act on."""
        self.clock = MovableClock()
        self.model = Model()
        self.node = self.opened()
        self.words = itertools.count()
        for place in PLACES:
            for source_type in (SourceType.APPLICATION, SourceType.EMAIL):
                self.remember(place, Kind.FACT, source_type, 24)

    def opened(self) -> Node:
        """The store, as it was left."""
        return self.engine.open(self.clock)

    def teardown(self) -> None:
        """The log of every tenant holds, and the views are what it says."""
        try:
            self.look_for_the_forgotten()
            for tenant in TENANTS:
                self.look_at_the_lists(tenant)
            assert all(verify(self.pipeline, tenant).holds for tenant in TENANTS)
            assert self.node.store.rebuild().identical
        finally:
            self.node.close()

    @property
    def pipeline(self) -> Pipeline:
        """The one way through."""
        return self.node.pipeline

    def pick(self, data: st.DataObject, *statuses: Status) -> Known | None:
        """One of the memories that stand, of a status if it matters."""
        now = self.clock.now()
        known = [one for one in self.model.known.values() if not statuses or one.status_at(now) in statuses]
        return data.draw(st.sampled_from(known)) if known else None

    def text(self) -> str:
        """A harmless text, with a word that no other has."""
        return f"The customer said word{next(self.words)} about the phone"

    def proposed(self, place: Place, **sides: Any) -> Remember:
        """A proposal in a place."""
        _tenant, agent, purpose, subject = place
        return proposal(self.text(), agent=agent, purpose=purpose, subject=subject, **sides)

    @rule(
        place=st.sampled_from(PLACES),
        kind=st.sampled_from(Kind),
        source_type=st.sampled_from([*SourceType, SourceType.APPLICATION, SourceType.APPLICATION]),
        hours=HOURS,
    )
    def remember(self, place: Place, kind: Kind, source_type: SourceType, hours: int) -> None:
        """A new memory, from any source, of any kind, anywhere."""
        sides = {"kind": kind, "source": source(source_type), "ttl_seconds": hours * 3_600}
        command = self.proposed(place, **sides)
        memory = self.pipeline.run(REMEMBER, READERS[place[0]], command).memory
        assert memory is not None
        assert memory.expires_at == self.clock.now() + timedelta(hours=hours)
        self.model.remember(memory, trust_at_the_gate(kind, source_type))

    @rule(data=st.data(), source_type=st.sampled_from([*SourceType, SourceType.APPLICATION]))
    def correct(self, data: st.DataObject, source_type: SourceType) -> None:
        """A new memory in the place of an old one."""
        old = self.pick(data)
        if old is None:
            return
        tenant = old.place[0]
        sides = {"kind": old.kind, "source": source(source_type), "supersedes": old.id}
        command = self.proposed(old.place, **sides)
        if old.status_at(self.clock.now()) is not Status.ACTIVE:
            self.refused(IllegalTransition, REMEMBER, READERS[tenant], command)
            return
        memory = self.pipeline.run(REMEMBER, READERS[tenant], command).memory
        assert memory is not None
        self.model.correct(memory, old, trust_at_the_gate(old.kind, source_type))

    @rule(data=st.data(), source_type=st.sampled_from([SourceType.APPLICATION, SourceType.WEB]))
    def revise(self, data: st.DataObject, source_type: SourceType) -> None:
        """A new version, or where it is held back, a correction that waits."""
        old = self.pick(data)
        if old is None:
            return
        change = Revise(expected_version=old.version, source=source(source_type), content=self.text())
        command = ReviseMemory(memory_id=old.id, revise=change)
        if old.status_at(self.clock.now()) is not Status.ACTIVE:
            self.refused(IllegalTransition, REVISE, READERS[old.place[0]], command)
            return
        memory = self.pipeline.run(REVISE, READERS[old.place[0]], command).memory
        assert memory is not None
        gate = trust_at_the_gate(old.kind, source_type)
        if gate and gate >= old.trust:
            assert memory.id == old.id
            old.version, old.content, old.trust = old.version + 1, memory.content or "", gate
        else:
            self.model.remember(memory, 0)

    @rule(data=st.data())
    def promote(self, data: st.DataObject) -> None:
        """Whatever it is: it must be refused unless it waits."""
        one = self.pick(data, *data.draw(st.sampled_from([(), (Status.QUARANTINED,)])))
        if one is None:
            return
        command = judgement(one.id, one.version)
        if not self.model.may_promote(one, self.clock.now()):
            self.refused(IllegalTransition, PROMOTE, REVIEWERS[one.place[0]], command)
            return
        self.pipeline.run(PROMOTE, REVIEWERS[one.place[0]], command)
        self.model.promote(one, self.clock.now())

    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        """Whatever it is: it must be refused unless it waits."""
        one = self.pick(data)
        if one is None:
            return
        command = judgement(one.id, one.version)
        if one.status_at(self.clock.now()) is not Status.QUARANTINED:
            self.refused(IllegalTransition, REJECT, REVIEWERS[one.place[0]], command)
            return
        self.pipeline.run(REJECT, REVIEWERS[one.place[0]], command)
        one.to(Status.REJECTED)

    @rule(data=st.data())
    def revoke(self, data: st.DataObject) -> None:
        """Anything but what was turned down or withdrawn already."""
        one = self.pick(data)
        if one is None:
            return
        command = judgement(one.id, one.version)
        if one.status in {Status.REJECTED, Status.REVOKED}:
            self.refused(IllegalTransition, REVOKE, REVIEWERS[one.place[0]], command)
            return
        self.pipeline.run(REVOKE, REVIEWERS[one.place[0]], command)
        one.to(Status.REVOKED)

    @rule(data=st.data(), hours=HOURS)
    def renew(self, data: st.DataObject, hours: int) -> None:
        """Only what is active, and has not run out a moment ago."""
        one = self.pick(data)
        if one is None:
            return
        change = Renew(expected_version=one.version, reason="still true", ttl_seconds=hours * 3_600)
        command = RenewMemory(memory_id=one.id, renew=change)
        if one.status_at(self.clock.now()) is not Status.ACTIVE:
            self.refused(IllegalTransition, RENEW, REVIEWERS[one.place[0]], command)
            return
        self.pipeline.run(RENEW, REVIEWERS[one.place[0]], command)
        one.version, one.expires_at = one.version + 1, self.clock.now() + timedelta(hours=hours)

    @rule(tenant=st.sampled_from(TENANTS), subject=st.sampled_from(SUBJECTS))
    def forget(self, tenant: str, subject: str) -> None:
        """Everything of one subject."""
        command = ForgetSubject(subject=subject)
        answer = self.pipeline.run(FORGET_SUBJECT, REVIEWERS[tenant], command)
        assert answer.forgotten == self.model.forget(tenant, subject)
        self.look_for_the_forgotten()

    @rule(hours=HOURS)
    def let_time_pass(self, hours: int) -> None:
        """Nothing but time."""
        self.clock.pass_time(hours=hours)

    @rule()
    def keep_up(self) -> None:
        """What has expired is written down, once."""
        kept = upkeep_round(self.pipeline, batch_size=1_000, lease_seconds=LEASE_SECONDS)
        assert kept.expired == self.model.expire(self.clock.now())

    @rule()
    def restart(self) -> None:
        """Close and open."""
        self.node.close()
        self.node = self.opened()

    @rule()
    def rebuild(self) -> None:
        """Every view anew."""
        assert self.node.store.rebuild().identical

    def refused(self, error: type[TenureError], use_case: Any, who: Caller, command: Any) -> None:
        """It is refused, and nothing changes: the invariants look at everything right after."""
        with pytest.raises(error):
            self.pipeline.run(use_case, who, command)

    @invariant()
    def each_place_recalls_what_is_active_there_and_nothing_else(self) -> None:
        """SPEC R1, M2, L6, L11: everything that should be found is, and nothing that should not."""
        for tenant, agent, purpose in itertools.product(TENANTS, AGENTS, PURPOSES):
            places = [(tenant, agent, purpose, subject) for subject in SUBJECTS]
            self.recalls(question("the phone", agent=agent, purpose=purpose, subject=None), places)

    @rule(place=st.sampled_from(PLACES))
    def recall_of_one_subject(self, place: Place) -> None:
        """A question about one person finds nothing about another."""
        _tenant, agent, purpose, subject = place
        self.recalls(question("the phone", agent=agent, purpose=purpose, subject=subject), [place])

    def recalls(self, asked: Recall, places: list[Place]) -> None:
        """Everything that is active in these places is found, up to the limit, as it stands now."""
        command = msgspec.structs.replace(asked, limit=20)
        expected = set().union(*(self.model.active(place, self.clock.now()) for place in places))
        found = self.pipeline.run(RECALL, READERS[places[0][0]], command).items
        assert {item.memory.id for item in found} <= expected
        assert len(found) == min(20, len(expected))
        for item in found:
            assert item.memory.content == self.model.known[item.memory.id].content

    @invariant()
    def each_tenant_has_what_the_model_knows(self) -> None:
        """SPEC M6, F1: every id, status, version and trust; the counts match, since both sides are whole."""
        for tenant in TENANTS:
            listed = self.pipeline.run(LIST, REVIEWERS[tenant], ListMemories(limit=200)).items
            expected = {
                one.id: (one.status_at(self.clock.now()), one.version, one.trust)
                for one in self.model.known.values()
                if one.place[0] == tenant
            }
            assert {one.id: (one.status, one.version, one.trust.rank) for one in listed} == expected

    @rule(tenant=st.sampled_from(TENANTS))
    def look_at_the_lists(self, tenant: str) -> None:
        """SPEC L6: what is listed as active is active, and the queue holds what waits."""
        now = self.clock.now()
        known = [one for one in self.model.known.values() if one.place[0] == tenant]
        for status in Status:
            asked = ListMemories(status=status, limit=200)
            listed = self.pipeline.run(LIST, READERS[tenant], asked).items
            assert {one.id for one in listed} == {one.id for one in known if one.status_at(now) is status}
        queue = self.pipeline.run(QUEUE, REVIEWERS[tenant], AskQueue(limit=200)).items
        waiting = {one.id for one in known if one.status_at(now) is Status.QUARANTINED}
        assert {one.memory.id for one in queue} == waiting

    def look_for_the_forgotten(self) -> None:
        """SPEC F1: each is absent, as if it had never been."""
        for memory_id in self.model.forgotten:
            for tenant in TENANTS:
                with pytest.raises(NotFound):
                    self.pipeline.run(GET, REVIEWERS[tenant], Get(memory_id=memory_id))


def test_what_may_be_read_is_what_the_model_says(new_engine: NewEngine) -> None:
    """SPEC L, F, R1: after every step of every history, and when the views were built anew."""

    class OnThisEngine(Governance):
        """Each history in a store of its own."""

        def __init__(self) -> None:
            super().__init__(new_engine)

    chosen = settings(
        max_examples=12, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(OnThisEngine, settings=chosen)
