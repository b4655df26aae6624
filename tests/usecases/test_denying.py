"""Denials: audited with who asked for what, and nothing else happens (SPEC A2)."""

from typing import Any

import msgspec
import pytest
from tests.usecases.asking import (
    BOT,
    caller,
    happened,
    log,
    proposal,
    question,
    source,
)

from tenure.core.access_events import AccessDenied
from tenure.core.authority import Permission, Target
from tenure.core.errors import (
    Forbidden,
)
from tenure.core.identity import Caller, Role, SourceType
from tenure.core.remembering import Written
from tenure.usecases.evidence import READ_LOG, ReadLog
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline, UseCase
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL

NARROW = caller(
    Role.WRITER,
    Role.READER,
    agents={"support"},
    purposes={"answering"},
    subjects={"customer-7"},
    source_types={SourceType.APPLICATION},
)


class Nothing(msgspec.Struct, frozen=True):
    """A command that asks for nothing in particular."""


def never(*_arguments: Any) -> Any:
    """A step that must not be reached."""
    raise AssertionError("this step comes only after the ones before it held")


UNREACHED: UseCase[Nothing, None, None] = UseCase(
    name="unreached",
    permission=Permission.MANAGE_KEYS,
    target=lambda _command: Target(),
    gather=never,
    decide=never,
)


@pytest.mark.parametrize(
    ("who", "use_case", "command", "permission", "field"),
    [
        (caller(Role.READER), REMEMBER, proposal(), "memory:propose", "role"),
        (caller(Role.WRITER), RECALL, question(), "memory:recall", "role"),
        (BOT, FORGET_SUBJECT, ForgetSubject(subject="customer-7"), "subject:forget", "role"),
        (BOT, READ_LOG, ReadLog(), "log:read", "role"),
        (NARROW, REMEMBER, proposal(agent="sales"), "memory:propose", "agent"),
        (NARROW, REMEMBER, proposal(purpose="selling"), "memory:propose", "purpose"),
        (NARROW, REMEMBER, proposal(subject="customer-8"), "memory:propose", "subject"),
        (NARROW, REMEMBER, proposal(source=source(SourceType.WEB)), "memory:propose", "source.type"),
        (NARROW, RECALL, question(agent="sales"), "memory:recall", "agent"),
        (NARROW, LIST, ListMemories(subject="customer-8"), "memory:read", "subject"),
    ],
    ids=lambda value: getattr(value, "name", None) if isinstance(value, UseCase) else None,
)
def test_a_denial_is_recorded_and_nothing_else_happens(
    pipeline: Pipeline,
    who: Caller,
    use_case: UseCase[Any, Any, Any],
    command: Any,
    permission: str,
    field: str,
) -> None:
    """SPEC A2: asking beyond one's grants is refused with the field, and audited with who asked for what."""
    with pytest.raises(Forbidden) as refusal:
        pipeline.run(use_case, who, command)

    [event] = log(pipeline)
    assert isinstance(event.data, AccessDenied)
    assert (event.actor, event.data.permission, event.data.field) == (who.id, permission, field)
    assert refusal.value.details["field"] == field
    assert event.secret is None


def test_a_denied_command_is_neither_gathered_for_nor_decided_on(pipeline: Pipeline) -> None:
    """SPEC L1: authority comes before everything else, in previews too."""
    for ask in (pipeline.run, pipeline.preview):
        with pytest.raises(Forbidden):
            ask(UNREACHED, BOT, Nothing())

    assert happened(pipeline) == ["access.denied"] * 2


def test_a_denied_command_leaves_its_idempotency_key_free(pipeline: Pipeline) -> None:
    """SPEC L9, A2: what was not decided on has no first answer."""
    with pytest.raises(Forbidden):
        pipeline.run(REMEMBER, caller(Role.READER), proposal(), idempotency_key="k")

    assert pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k").memory is not None


def test_a_denial_holds_no_text_of_the_request(pipeline: Pipeline) -> None:
    """SPEC E6, L13: neither content nor the name that was asked for is kept."""
    with pytest.raises(Forbidden) as refusal:
        pipeline.run(REMEMBER, NARROW, proposal("Likes the Okapi", subject="Quokka"))

    said = repr((refusal.value.args, refusal.value.hint, refusal.value.details, log(pipeline)))
    assert "Okapi" not in said
    assert "Quokka" not in said


def test_a_batch_may_hold_several_denials(pipeline: Pipeline) -> None:
    """SPEC A2: each is recorded, and who may is served."""
    commands = [(proposal(str(one), subject=f"customer-{one}"), None) for one in range(6, 9)]

    answers = pipeline.run_many(REMEMBER, NARROW, commands)

    assert [type(answer) for answer in answers] == [Forbidden, Written, Forbidden]
    assert sorted(happened(pipeline)) == ["access.denied", "access.denied", "memory.admitted"]
