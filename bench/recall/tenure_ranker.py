"""Tenure's own answers, by way of the public library: a conversation is a subject, a turn a memory."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from bench.recall.conversations import Conversation, Question
from bench.recall.scoring import CUTS, Answer
from bench.stores import BATCH
from tenure import Tenure
from tenure.config import Settings, load
from tenure.core.errors import MemoryRejected, TenureError
from tenure.core.proposals import Remember
from tenure.core.remembering import Written
from tenure.core.token_estimate import estimate_tokens
from tenure.core.vocabulary import Kind, Outcome
from tenure.entrypoints.library.sessions import Session
from tenure.entrypoints.library.sources import Source
from tenure.usecases.importing import parsed_date, valid_name
from tenure.usecases.remembering import REMEMBER

TENANT: Final = "bench"
BUDGET_TOKENS: Final = 2_000
ITEMS_MAX: Final = 100
CONTENT_CHARACTERS_MAX: Final = 100_000
"""The default, 2,000 characters, is less than many an assistant's answer has."""
ADMITTED: Final = "admitted"


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate made of the turns of a conversation, counted by its rules."""

    turns: int
    outcomes: dict[str, int]

    def plus(self, other: "Told") -> "Told":
        """Both together."""
        return Told(
            turns=self.turns + other.turns,
            outcomes=dict(Counter(self.outcomes) + Counter(other.outcomes)),
        )


def settings(engine: str) -> Settings:
    """What the environment says, but for the embedder and for limits that this measurement must reach beyond.

    Raises ConfigError.
    """
    overrides = {
        "embedding.engine": engine,
        "admission.content_characters_max": CONTENT_CHARACTERS_MAX,
        "recall.items_max": ITEMS_MAX,
    }
    return load(environment=os.environ, overrides=overrides).settings


def session(store: Tenure) -> Session:
    """Who writes and asks."""
    return store.session(
        tenant=TENANT, agent="assistant", purpose="conversation", source_types=["application"]
    )


def tell(store: Tenure, conversation: Conversation) -> Told:
    """Propose every turn, some hundreds at a time; what the gate keeps out is counted, and stays out."""
    caller = session(store).caller
    commands: list[tuple[Remember, str | None]] = [(one, None) for one in _proposals(conversation)]
    outcomes: Counter[str] = Counter()
    for first in range(0, len(commands), BATCH):
        batch = commands[first : first + BATCH]
        answers = store.node.pipeline.run_many(REMEMBER, caller, batch)
        outcomes.update(_outcome(answer) for answer in answers)
    return Told(turns=len(commands), outcomes=dict(outcomes))


def wait_for_vectors(store: Tenure) -> None:
    """Have everything embedded that an engine did not embed with the write; raises RuntimeError."""
    embedding = store.node.embedding
    if embedding is None:
        return
    while (done := embedding.round()).more:
        pass
    if done.failure is not None:
        raise RuntimeError(f"the embedder gave no vectors: {done.failure}")


def answered(asker: Session, conversation: Conversation, question: Question, limit: int | None) -> Answer:
    """What two recalls give back: one of so many memories, one within the budget; or one of twenty."""
    subject = valid_name(conversation.id)
    found = asker.recall(question.question, subject=subject, limit=limit or CUTS[-1])
    answer = Answer(
        category=question.category,
        evidence=frozenset(question.evidence),
        ranked=tuple(memory.source.id for memory in found[: CUTS[-1]]),
    )
    if limit is None:
        return answer
    in_budget = asker.recall(question.question, subject=subject, limit=limit, budget_tokens=BUDGET_TOKENS)
    fitting = packed([estimate_tokens(memory.content or "") for memory in found])
    return msgspec.structs.replace(
        answer,
        within_budget=frozenset(found[place].source.id for place in fitting),
        in_context=frozenset(memory.source.id for memory in in_budget),
    )


def items(conversation: Conversation) -> int:
    """So many turns as surely fill the budget: twice as many as fit in, at least twenty."""
    tokens = [estimate_tokens(turn.content) for turn in conversation.turns]
    return min(ITEMS_MAX, max(CUTS[-1], 2 * BUDGET_TOKENS * len(tokens) // max(1, sum(tokens))))


def packed(tokens: Sequence[int]) -> list[int]:
    """The places whose bare texts fit into the budget, in their order; one that does not fit is skipped."""
    left, kept = BUDGET_TOKENS, []
    for place, cost in enumerate(tokens):
        if cost <= left:
            left -= cost
            kept.append(place)
    return kept


def _proposals(conversation: Conversation) -> Iterator[Remember]:
    positions: Counter[str] = Counter()
    for turn in conversation.turns:
        thread = valid_name(f"{conversation.id}/session-{turn.session}")
        yield Remember(
            agent="assistant",
            purpose="conversation",
            subject=valid_name(conversation.id),
            kind=Kind.FACT,
            content=turn.content,
            source=Source.application(
                turn.id,
                observed_at=parsed_date(turn.date) if turn.date else None,
                thread=thread,
                position=positions[thread],
            ),
        )
        positions[thread] += 1


def _outcome(answer: Written | TenureError) -> str:
    match answer:
        case Written(decision=decision):
            return ADMITTED if decision.outcome is Outcome.APPROVE else f"{decision.outcome}: {decision.rule}"
        case MemoryRejected(rule=rule):
            return f"reject: {rule}"
        case _:
            raise answer


def kept_out(told: Told) -> dict[str, int]:
    """How many turns the gate did not let in, by its rules."""
    return {name: count for name, count in sorted(told.outcomes.items()) if name != ADMITTED}
