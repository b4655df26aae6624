"""Replaying a policy: what it would say of what is stored, and that nothing is written (SPEC I4)."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from tests.clock import MovableClock
from tests.usecases.asking import (
    BOT,
    OFFICER,
    REVIEWER,
    TENANT,
    held,
    judgement,
    log,
    proposal,
    source,
    written,
)
from tests.usecases.policies import DEFAULT, OPEN, STRICT, replayed, rule, run_under

from tenure.core.admission import Policy, Proposal
from tenure.core.custom_rules import Objection
from tenure.core.errors import InvalidRequest, MemoryRejected
from tenure.core.identity import SourceType
from tenure.core.policy_documents import encode
from tenure.core.policy_replay import Effect
from tenure.core.proposals import Revise
from tenure.core.vocabulary import Claim, Kind, Outcome, Status, Trust
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.policy_replay import CustomCounted, candidate
from tenure.usecases.policy_switching import switch_round
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.review import PROMOTE

PERSON = {"kind": Kind.PREFERENCE, "source": source(SourceType.DIRECT_USER, "msg-1")}


def refused(pipeline: Pipeline, content: str, **sides: Any) -> None:
    """A proposal that the gate turns away."""
    with pytest.raises(MemoryRejected):
        pipeline.run(REMEMBER, BOT, proposal(content, **sides))


def test_each_memory_that_would_change_is_named_with_what_would_come_of_it(pipeline: Pipeline) -> None:
    """SPEC I4: held, left waiting, or left with its trust; the rest is only counted."""
    fact = written(pipeline)
    waiting = held(pipeline)
    preference = written(pipeline, "Prefers tea", kind=Kind.PREFERENCE)
    written(pipeline, "Prefers coffee", **PERSON)
    before = log(pipeline)

    changes, answer = replayed(pipeline, STRICT)

    found = {one.memory_id: (one.before_rule, one.after, one.after_rule, one.effect) for one in changes}
    assert found == {
        fact.id: ("application", "quarantine", "facts_wait", Effect.HELD),
        waiting.id: ("external_source", "approve", "mail", Effect.STAYS_QUARANTINED),
        preference.id: ("application", "approve", "anything", Effect.KEEPS_TRUST),
    }
    assert (answer.examined, answer.held, answer.stays_quarantined, answer.keeps_trust) == (4, 1, 1, 1)
    assert sum(one.count for one in answer.memories) == 4
    assert (answer.in_force.version, answer.candidate.version) == ("default-1", "strict-2")
    assert log(pipeline) == before


def test_what_a_reviewer_let_in_is_the_reviewers(pipeline: Pipeline) -> None:
    """SPEC I4, L7: no policy has a word in it; it is counted apart."""
    waiting = held(pipeline)
    pipeline.run(PROMOTE, REVIEWER, judgement(waiting.id, 1))

    changes, answer = replayed(pipeline, Policy(version="none", rules=()))

    assert (changes, answer.examined, answer.reviewed, answer.memories) == ([], 1, 1, ())


def test_what_waits_for_contradicting_more_trust_waits_under_any_policy(pipeline: Pipeline) -> None:
    """SPEC I4, T3: the policy that decided changes nothing, and none lets it in."""
    written(pipeline, "The proxy is nginx")
    written(pipeline, "The proxy is caddy", **PERSON)

    changes, answer = replayed(pipeline, pipeline.rules.write.policy)

    assert (changes, answer.examined, answer.stays_quarantined) == ([], 2, 0)


def test_what_does_not_stand_is_not_asked_about(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC I4, L11, F1: superseded, run out, forgotten."""
    old = written(pipeline, ttl_seconds=60)
    written(pipeline, "Prefers the phone", supersedes=old.id)
    written(pipeline, "Is away today", ttl_seconds=60)
    written(pipeline, subject="customer-8")
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject="customer-8"))
    clock.pass_time(seconds=60)

    assert replayed(pipeline, DEFAULT)[1].examined == 1


def test_refused_proposals_are_replayed_from_what_the_log_has_of_them(pipeline: Pipeline) -> None:
    """SPEC I4, L13: kind, source, findings and length; the content is not needed."""
    refused(pipeline, "the password is Xk29-fje8-22lq", kind=Kind.FACT)
    refused(pipeline, "x" * 2_001)
    written(pipeline, subject="customer-8")
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject="customer-8"))
    refused(pipeline, "Prefers e-mail to phone", subject="customer-8")

    found = {(one.before_rule, one.after, one.after_rule) for one in replayed(pipeline, STRICT)[1].refused}
    same = {(one.before_rule, one.after, one.after_rule) for one in replayed(pipeline, DEFAULT)[1].refused}

    assert found == {
        ("credential", "quarantine", "facts_wait"),
        ("content_length", "quarantine", "facts_wait"),
        ("forgotten-value", "reject", "forgotten-value"),
    }
    assert ("credential", "reject", "credential") in same


def test_a_policy_lets_nothing_in_that_a_scanner_flagged(pipeline: Pipeline) -> None:
    """SPEC L4, M5b: whatever its rules say, they cannot approve it."""
    refused(pipeline, "the password is Xk29-fje8-22lq")

    assert [(one.after, one.after_rule) for one in replayed(pipeline, OPEN)[1].refused] == [
        ("quarantine", "found_by_scanner")
    ]


def test_a_memory_is_judged_by_what_its_inputs_were_when_it_was_written(pipeline: Pipeline) -> None:
    """SPEC I4, M5a: what became of them since is another question."""
    parent = written(pipeline, ttl_seconds=60)
    waits = held(pipeline)
    written(pipeline, "A summary", kind=Kind.SUMMARY, derived_from=(parent.id,))
    untrusted = written(pipeline, "Of what waits", kind=Kind.SUMMARY, derived_from=(waits.id,))
    written(pipeline, "The phone now", supersedes=parent.id)

    changes, answer = replayed(pipeline, DEFAULT)
    opened, _ = replayed(pipeline, OPEN)

    assert (changes, answer.examined) == ([], 4)
    assert untrusted.decision.rule == "derived_from_untrusted"
    assert [one.after_rule for one in opened if one.memory_id == untrusted.id] == []


@pytest.mark.parametrize(
    ("change", "by"),
    [
        ({"content": "Prefers letters"}, SourceType.APPLICATION),
        ({"content": "Prefers letters"}, SourceType.EMAIL),
        ({"claim": Claim(entity="c", attribute="channel", value="post")}, SourceType.EMAIL),
        ({"claim": Claim(entity="c", attribute="channel", value="post")}, SourceType.APPLICATION),
        ({"confidence": 0.5}, SourceType.EMAIL),
        ({"confidence": 0.5}, SourceType.APPLICATION),
    ],
)
@pytest.mark.parametrize("sides", [{}, PERSON], ids=["of an application", "of a person"])
def test_a_revision_is_judged_by_who_attested_it(
    pipeline: Pipeline, change: dict[str, Any], by: SourceType, sides: dict[str, Any]
) -> None:
    """SPEC I4, L10, A3: the text may be an older source's; the policy that decided changes nothing."""
    memory = written(pipeline, **sides)
    revise = Revise(expected_version=1, source=source(by, "other"), **change)
    pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=revise))

    changes, answer = replayed(pipeline, DEFAULT)

    assert [(one.after_rule, one.effect) for one in changes] == []
    assert answer.examined == (1 if by is SourceType.APPLICATION else 2)


def test_a_correction_is_not_asked_again_what_it_displaced(pipeline: Pipeline) -> None:
    """SPEC I4, L10: what was let in has displaced it; only its own text is judged again."""
    old = written(pipeline, kind=Kind.PREFERENCE)
    correction = written(pipeline, "Prefers letters", kind=Kind.PREFERENCE, supersedes=old.id)

    changes, _ = replayed(pipeline, STRICT)

    assert [(one.memory_id, one.effect) for one in changes] == [(correction.id, Effect.KEEPS_TRUST)]


def test_a_document_is_tried_as_this_store_would_run_it(pipeline: Pipeline) -> None:
    """SPEC I4, L5: behind the limit of what is scanned; mistakes are named."""
    tried = candidate(encode(OPEN), pipeline.rules)

    with pytest.raises(InvalidRequest, match=r"line 1: version must be a text"):
        candidate("version = 1", pipeline.rules)
    assert [one.name for one in tried.rules] == ["content_bound", "anything"]


def test_a_tenant_sees_its_own_and_lifetimes_change_nothing(pipeline: Pipeline) -> None:
    """SPEC I4, M2: what was let in for longer stays for longer."""
    written(pipeline)
    short = replace(
        DEFAULT, rules=tuple(replace(one, lifetime=timedelta(seconds=1)) for one in DEFAULT.rules)
    )

    assert replayed(pipeline, short)[0] == []
    assert replayed(pipeline, short, tenant="globex")[1].examined == 0
    assert replayed(pipeline, short, tenant=TENANT)[1].examined == 1


class Skills:
    """A custom rule that wants facts by a credential called so looked at, and fails for preferences."""

    name, version = "facts", "7"

    def judge(self, proposal: Proposal) -> Objection | None:
        """Something against facts."""
        if proposal.kind is Kind.PREFERENCE:
            raise LookupError
        if proposal.kind is Kind.FACT and proposal.source_type is SourceType.APPLICATION:
            return Objection(outcome=Outcome.QUARANTINE, reason="facts are looked at")
        return None


def test_the_custom_rules_of_the_node_are_replayed_too(pipeline: Pipeline) -> None:
    """SPEC I4: a replay says what a switch would hold, and where a rule in code has no word."""
    fact = written(pipeline)
    written(pipeline, "Prefers tea", kind=Kind.PREFERENCE)
    waiting = held(pipeline)
    pipeline.rules = replace(pipeline.rules, write=replace(pipeline.rules.write, custom=(Skills(),)))

    changes, answer = replayed(pipeline, OPEN)

    found = {one.memory_id: (one.after, one.after_rule, one.effect) for one in changes}
    assert found == {
        fact.id: ("quarantine", "custom.facts", Effect.HELD),
        waiting.id: ("approve", "anything", Effect.STAYS_QUARANTINED),
    }
    assert answer.custom_rules == (CustomCounted(name="facts", version="7", decided=1, untold=0, failed=1),)
    assert ("application", "unknown") in {(one.before_rule, one.after_rule) for one in answer.memories}


def test_a_switch_holds_what_the_custom_rules_hold(pipeline: Pipeline) -> None:
    """SPEC I4: exactly what the replay said."""
    fact = written(pipeline)
    preference = written(pipeline, "Prefers tea", kind=Kind.PREFERENCE)
    run_under(pipeline, OPEN)
    pipeline.rules = replace(pipeline.rules, write=replace(pipeline.rules.write, custom=(Skills(),)))
    _changes, answer = replayed(pipeline, OPEN)

    switch_round(pipeline, batch_size=100)

    statuses = {
        one: pipeline.run(GET, OFFICER, Get(memory_id=one)).status for one in (fact.id, preference.id)
    }
    assert answer.held == 1
    assert statuses == {fact.id: Status.QUARANTINED, preference.id: Status.ACTIVE}


def test_what_a_custom_rule_would_need_of_a_refusal_was_not_kept(pipeline: Pipeline) -> None:
    """SPEC I4, L13: the claim of a refused proposal is content, so a rule that asks for it cannot tell."""

    class Claims:
        name, version = "claims", "1"

        def judge(self, proposal: Proposal) -> Objection | None:
            return Objection(outcome=Outcome.REJECT, reason="claims") if proposal.claim else None

    refused(pipeline, "The password is hunter2-x9")
    pipeline.rules = replace(pipeline.rules, write=replace(pipeline.rules.write, custom=(Claims(),)))

    _changes, answer = replayed(pipeline, Policy(version="none", rules=()))

    assert answer.custom_rules[0].untold == 1
    assert [(one.after, one.after_rule) for one in answer.refused] == [("unknown", "unknown")]


def test_the_trust_that_would_be_given_is_said(pipeline: Pipeline) -> None:
    """SPEC I4, M5: today's and then's."""
    written(pipeline)
    lower = Policy(version="low", rules=(rule("low", Outcome.APPROVE, kinds=frozenset(Kind)),))

    one = replayed(pipeline, lower)[0][0]

    assert (one.before_trust, one.after_trust) == (Trust.APPLICATION_VERIFIED, Trust.USER_ASSERTED)
