"""Forgetting a subject, over the pipeline (SPEC F1)."""

import msgspec

from tenure.core import forgetting
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.events import Event
from tenure.core.forgetting import ForgetFacts, Forgotten
from tenure.core.identity import Caller, Moment
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.ports import Appended


class ForgetSubject(msgspec.Struct, frozen=True, kw_only=True):
    """Everything held about one subject is to be out of every read."""

    subject: str


def _gather(world: World, caller: Caller, command: ForgetSubject) -> ForgetFacts:
    return ForgetFacts(
        memories=world.reading.subject_memories(caller.tenant, command.subject),
        forgotten_before=world.reading.forgotten_before(caller.tenant, command.subject),
    )


def _decide(
    command: ForgetSubject, facts: ForgetFacts, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Forgotten]:
    return forgetting.forget_subject(command.subject, facts, caller, moment)


def _settle(answer: Forgotten, appended: Appended) -> Forgotten:
    """The count is what the transaction took, not what was read before it."""
    return msgspec.structs.replace(answer, forgotten=appended.dropped)


def _replay(_world: World, _caller: Caller, _first: Event | None, outcome: bytes) -> Forgotten:
    return msgspec.json.decode(outcome, type=Forgotten)


FORGET_SUBJECT: UseCase[ForgetSubject, ForgetFacts, Forgotten] = UseCase(
    name="forget-subject",
    permission=Permission.FORGET,
    target=lambda command: Target(subject=command.subject),
    gather=_gather,
    decide=_decide,
    settle=_settle,
    outcome=msgspec.json.encode,
    replay=_replay,
)
