"""The one way through: denials are recorded, previews store nothing, batches keep their places."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from tests.usecases.asking import (
    BOT,
    REVIEWER,
    TENANT,
    happened,
    held,
    judgement,
    proposal,
    source,
    written,
)

from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided, Refused
from tenure.core.errors import (
    IdempotencyMismatch,
    InvalidRequest,
    MemoryRejected,
    NotFound,
    TenureError,
    VersionConflict,
)
from tenure.core.identity import Caller, Moment, SourceType
from tenure.core.remembering import Written
from tenure.core.vocabulary import Outcome
from tenure.usecases.pipeline import ATTEMPTS_MAX, Pipeline, Rules, UseCase, World
from tenure.usecases.ports import Append, AppendResult, Stale
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import PROMOTE

SECRET = "AKIA" + "IOSFODNN7EXAMPLQ"


class Nothing(msgspec.Struct, frozen=True):
    """A command that asks for nothing in particular."""


def refusing(command: Nothing, _facts: None, _caller: Caller, _moment: Moment, _rules: Rules) -> Refused:
    """A rule that always says no."""
    return Refused(NotFound(f"no: {command}"))


def test_a_rule_that_refuses_leaves_nothing(pipeline: Pipeline) -> None:
    """SPEC L1: a refusal is an answer; the log does not grow."""
    use_case: UseCase[Nothing, None, None] = UseCase(
        name="refusing",
        permission=Permission.READ,
        target=lambda _command: Target(),
        gather=lambda _world, _caller, _command: None,
        decide=refusing,
    )

    with pytest.raises(NotFound):
        pipeline.run(use_case, BOT, Nothing())
    with pytest.raises(NotFound):
        pipeline.preview(use_case, BOT, Nothing())

    assert happened(pipeline) == []


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        (proposal(), Outcome.APPROVE),
        (proposal(source=source(SourceType.WEB)), Outcome.QUARANTINE),
        (proposal(f"The access key is {SECRET}"), Outcome.REJECT),
    ],
    ids=str,
)
def test_a_preview_decides_and_stores_nothing(pipeline: Pipeline, command: Any, outcome: Outcome) -> None:
    """SPEC L1, L2: the same gate, whatever it says; neither an event nor a memory comes of it."""
    answer = pipeline.preview(REMEMBER, BOT, command).answer

    assert answer.decision.outcome is outcome
    assert (answer.memory is None) == (outcome is Outcome.REJECT)
    assert bool(answer.findings) == (outcome is Outcome.REJECT)
    assert happened(pipeline) == []
    assert pipeline.run(LIST, BOT, ListMemories()).items == ()


def test_a_batch_keeps_answers_and_refusals_in_their_places(pipeline: Pipeline) -> None:
    """SPEC L1, S1: one refusal takes nothing else along."""
    first = written(pipeline)
    commands = [
        (proposal("One"), None),
        (proposal("Two", confidence=2.0), None),
        (proposal(f"Three, the access key is {SECRET}"), None),
        (proposal("Four", id=first.id), None),
        (proposal("Five", subject="customer-8"), "k"),
        (proposal("Five", subject="customer-8"), "k"),
        (proposal("Six"), "k"),
        (proposal("Seven", subject="customer-9"), None),
    ]

    answers = pipeline.run_many(REMEMBER, BOT, commands)

    kinds = [Written, InvalidRequest, MemoryRejected, VersionConflict, Written, Written]
    assert [type(answer) for answer in answers] == [*kinds, IdempotencyMismatch, Written]
    assert answers[4] == answers[5]
    contents = [memory.content for memory in pipeline.run(LIST, BOT, ListMemories()).items]
    assert contents == ["Seven", "Five", "One", "Prefers e-mail to phone"]


def test_two_corrections_in_one_batch_are_decided_one_after_the_other(pipeline: Pipeline) -> None:
    """SPEC L8, L10: the second is decided again, on what is true then, and is refused."""
    first = written(pipeline)
    commands = [(proposal(text, supersedes=first.id), None) for text in ("One", "Two")]

    answers = pipeline.run_many(REMEMBER, BOT, commands)

    assert [type(answer).__name__ for answer in answers] == ["Written", "IllegalTransition"]


def test_an_empty_batch_has_no_answers(pipeline: Pipeline) -> None:
    """SPEC L1: nothing asked, nothing answered."""
    assert pipeline.run_many(REMEMBER, BOT, []) == []


@pytest.mark.parametrize(
    "key", ["", "k" * 201, "line\nbreak", "nul\x00"], ids=["empty", "long", "line", "nul"]
)
def test_a_key_that_cannot_be_kept_is_refused(pipeline: Pipeline, key: str) -> None:
    """SPEC L9, S2: the field is named, and nothing is stored."""
    with pytest.raises(InvalidRequest) as refusal:
        pipeline.run(REMEMBER, BOT, proposal(), idempotency_key=key)

    assert refusal.value.field == "Idempotency-Key"
    assert happened(pipeline) == []


class AlwaysStale:
    """A store in which somebody else was always first."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.attempts = 0

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """Nothing is stored."""
        self.attempts += 1
        streams = [item.events[0].event.stream for item in items]
        return [Stale(memory_id=stream, expected=0, current=9) for stream in streams if stream]

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self._store, name)


def test_who_is_never_first_is_told_so_after_a_few_attempts(pipeline: Pipeline) -> None:
    """SPEC L8, S3: a conflict that says the current version, never an endless loop."""
    store = AlwaysStale(pipeline.store)
    contended = Pipeline(store=store, keyring=pipeline.keyring, clock=pipeline.clock, rules=pipeline.rules)

    with pytest.raises(VersionConflict) as conflict:
        contended.run(REMEMBER, BOT, proposal())

    assert store.attempts == ATTEMPTS_MAX
    assert conflict.value.current_version == 9
    assert happened(pipeline) == []


def test_an_answer_is_given_only_for_what_is_durable(pipeline: Pipeline) -> None:
    """SPEC E5, S3: a store that fails in the middle answers nothing and keeps nothing."""

    class Failing(AlwaysStale):
        def append(self, items: Sequence[Append]) -> list[AppendResult]:
            raise TenureError(f"{len(items)} items were not stored")

    memory = held(pipeline)
    failing = Pipeline(
        store=Failing(pipeline.store), keyring=pipeline.keyring, clock=pipeline.clock, rules=pipeline.rules
    )
    with pytest.raises(TenureError):
        failing.run(PROMOTE, REVIEWER, judgement(memory.id, 1))

    assert pipeline.run(GET, REVIEWER, Get(memory_id=memory.id)).version == 1
    assert happened(pipeline) == ["memory.quarantined"]


def test_a_gather_sees_one_moment(pipeline: Pipeline) -> None:
    """SPEC L8: facts, time and a fresh id come together, once for each decision."""
    moments: list[Moment] = []

    def decide(
        _command: Nothing, world: World, _caller: Caller, moment: Moment, _rules: Rules
    ) -> Decided[bool]:
        moments.extend([world.moment, moment])
        return Decided(answer=True)

    use_case: UseCase[Nothing, World, bool] = UseCase(
        name="looking",
        permission=Permission.READ,
        target=lambda _command: Target(),
        gather=lambda world, _caller, _command: world,
        decide=decide,
    )

    pipeline.run(use_case, BOT, Nothing())
    pipeline.run(use_case, BOT, Nothing())

    assert moments[0] == moments[1]
    assert moments[2] == moments[3]
    assert moments[0].fresh_id < moments[2].fresh_id
    assert happened(pipeline, TENANT) == []
