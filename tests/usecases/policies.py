"""Policies that differ from the one that ships, and ways to try and to run them."""

from typing import Any, Final

from msgspec.structs import replace
from tests.clock import MovableClock
from tests.stores.engine import Engine
from tests.usecases.asking import TENANT

from tenure.core.admission import Condition, Policy, Rule, default_policy
from tenure.core.identity import SourceType
from tenure.core.policy_replay import Change
from tenure.core.vocabulary import Kind, Outcome, Trust
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.policy_replay import Over, Replayed, Walked, replay
from tenure.wiring import Node


def rule(name: str, outcome: Outcome, **when: Any) -> Rule:
    """A rule in few words; what it approves gets a person's trust."""
    trust = Trust.USER_ASSERTED if outcome is Outcome.APPROVE else Trust.UNTRUSTED
    return Rule(name=name, reason=f"by {name}", when=Condition(**when), outcome=outcome, trust=trust)


_ANYTHING: Final = rule("anything", Outcome.APPROVE, kinds=frozenset(Kind))
DEFAULT: Final = default_policy()
OPEN: Final = Policy(version="open-1", rules=(_ANYTHING,))
"""Lets in whatever the gate itself does not hold back."""
STRICT: Final = Policy(
    version="strict-2",
    rules=(
        rule("mail", Outcome.APPROVE, source_types=frozenset({SourceType.EMAIL})),
        rule("facts_wait", Outcome.QUARANTINE, kinds=frozenset({Kind.FACT, Kind.SUMMARY})),
        _ANYTHING,
    ),
)
"""Trusts mail, and holds facts back."""


def replayed(pipeline: Pipeline, policy: Policy, tenant: str = TENANT) -> tuple[list[Change], Replayed]:
    """A whole replay: what would change, and the numbers."""
    changes: list[Change] = []
    steps = replay(Over.of(pipeline), tenant, policy)
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            answer: Replayed = end.value
            return changes, answer
        if not isinstance(step, Walked):
            changes.append(step)


def run_under(pipeline: Pipeline, policy: Policy) -> None:
    """What a start with this policy's file comes to."""
    write = replace(pipeline.rules.write, policy=policy)
    pipeline.rules = replace(pipeline.rules, write=write)


def opened_under(engine: Engine, clock: MovableClock, policy: Policy) -> Node:
    """The store as it was left, under another policy."""
    node = engine.open(clock)
    run_under(node.pipeline, policy)
    return node
