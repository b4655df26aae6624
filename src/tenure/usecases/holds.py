"""Legal holds, over the pipeline (SPEC F10)."""

import msgspec

from tenure.core import holds
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import NotFound
from tenure.core.holds import Hold, PlaceHold
from tenure.core.identity import Caller, checked_name
from tenure.core.rows import HoldRow
from tenure.usecases.pipeline import UseCase, World
from tenure.usecases.recording import Showed


class ReleaseHold(msgspec.Struct, frozen=True, kw_only=True):
    """A hold is to end, for a reason."""

    subject: str
    reason: str


class AskHold(msgspec.Struct, frozen=True, kw_only=True):
    """The hold on a subject."""

    subject: str


def _gather(world: World, caller: Caller, command: PlaceHold | ReleaseHold) -> HoldRow | None:
    return world.reading.hold(caller.tenant, checked_name(command.subject, field="subject"))


def _standing(world: World, caller: Caller, command: AskHold) -> Hold:
    row = world.reading.hold(caller.tenant, checked_name(command.subject, field="subject"))
    if row is None:
        raise NotFound("there is no hold on this subject", subject=command.subject)
    return holds.standing(row)


PLACE_HOLD: UseCase[PlaceHold, HoldRow | None, Hold] = UseCase(
    name="place-hold",
    permission=Permission.HOLD,
    target=lambda command: Target(subject=command.subject),
    gather=_gather,
    decide=lambda command, _present, caller, moment, _rules: holds.place(command, caller, moment),
)

RELEASE_HOLD: UseCase[ReleaseHold, HoldRow | None, Hold] = UseCase(
    name="release-hold",
    permission=Permission.HOLD,
    target=lambda command: Target(subject=command.subject),
    gather=_gather,
    decide=lambda command, present, caller, moment, _rules: holds.release(
        command.subject, command.reason, present, caller, moment
    ),
)

ASK_HOLD: UseCase[AskHold, Hold, Hold] = UseCase(
    name="ask-hold",
    permission=Permission.HOLD,
    target=lambda command: Target(subject=command.subject),
    gather=_standing,
    decide=lambda _command, hold, _caller, _moment, _rules: Decided(answer=hold),
    showed=lambda _hold: Showed(1),
)
