"""A person's one word on many memories: what may be asked, and what is answered for each (SPEC A5, L7, L8).

Pure. Laws: each memory is decided on by the rule for one; nothing is decided on that the caller does not say
to have seen, by its version or by a position of the log behind which it did not change; every memory that was
named has its own result.
"""

from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.errors import InvalidRequest, TenureError
from tenure.core.identity import SourceType, checked_reference
from tenure.core.memory import Memory
from tenure.core.retention import checked_reason
from tenure.core.vocabulary import Status

DECIDED_MAX: Final = 500
"""So many memories one call decides on."""


class Action(StrEnum):
    """The word."""

    PROMOTE = "promote"
    REJECT = "reject"
    REVOKE = "revoke"


class Became(StrEnum):
    """What became of one memory."""

    PROMOTED = "promoted"
    ENDORSED = "endorsed"
    REJECTED = "rejected"
    REVOKED = "revoked"
    NOT_SEEN = "not_seen"
    REFUSED = "refused"


class OfSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source: what waits in quarantine from it."""

    type: SourceType
    id: str


class Seen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory, and the version of it that was looked at."""

    id: UUID
    version: int


class DecideMany(msgspec.Struct, frozen=True, kw_only=True):
    """One word on many memories: those named, or what waits from a source.

    What was seen is said by ``expected``, or by ``seen_until``: the position that a page of the queue gave.
    """

    action: Action
    reason: str
    source: OfSource | None = None
    ids: tuple[UUID, ...] = ()
    expected: tuple[Seen, ...] = ()
    seen_until: int | None = None


class NotDecided(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why nothing was decided on a memory."""

    code: str
    message: str
    hint: str | None = None
    current_version: int | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one memory: where it stands now, or why it was left as it is."""

    memory_id: UUID
    outcome: Became
    version: int | None = None
    status: Status | None = None
    because: NotDecided | None = None


class Decisions(msgspec.Struct, frozen=True, kw_only=True):
    """A result for each memory; ``more`` says that the source has more waiting than one call decides on."""

    action: Action
    items: tuple[Result, ...]
    decided: int
    not_seen: int
    refused: int
    more: bool = False


def check_decide_many(command: DecideMany) -> None:
    """Raise InvalidRequest, naming the field, unless the wish is well formed."""
    checked_reason(command.reason)
    named = tuple(seen.id for seen in command.expected)
    if command.source is None and not command.ids and not named:
        raise InvalidRequest(
            "nothing is named to decide on", field="source", hint="Give source, ids or expected."
        )
    if command.source is not None:
        if command.ids:
            raise InvalidRequest("give source or ids, not both", field="ids")
        checked_reference(command.source.id, field="source.id")
    for field, ids in (("ids", command.ids), ("expected", named)):
        if len(ids) > DECIDED_MAX:
            raise InvalidRequest(f"{field} may name at most {DECIDED_MAX} memories", field=field)
        if len(set(ids)) != len(ids):
            raise InvalidRequest(f"{field} names a memory twice", field=field)
    _check_seen(command)


def _check_seen(command: DecideMany) -> None:
    if bool(command.expected) == (command.seen_until is not None):
        raise InvalidRequest(
            "say what was seen by expected or by seen_until, one of the two",
            field="seen_until",
            hint="A page of the queue gives seen_until; expected names each memory with its version.",
        )
    if command.seen_until is not None and not 0 <= command.seen_until < 2**53:
        raise InvalidRequest("seen_until must be a position in the log", field="seen_until")
    if any(not 0 <= seen.version < 2**53 for seen in command.expected):
        raise InvalidRequest("a version must be 0 or more", field="expected")


def check_position(command: DecideMany, head: int) -> None:
    """Raise InvalidRequest where nobody can have seen so much: the log does not reach there."""
    if command.seen_until is not None and command.seen_until > head:
        raise InvalidRequest(
            "seen_until lies beyond the end of the log",
            field="seen_until",
            hint="Send the seen_until of the page that was looked at.",
        )


def done(action: Action, memory_id: UUID, answer: Memory | TenureError) -> Result:
    """The result of a word that was given on one memory."""
    if isinstance(answer, TenureError):
        return Result(memory_id=memory_id, outcome=Became.REFUSED, because=because(answer))
    if action is Action.PROMOTE and answer.status is Status.QUARANTINED:
        outcome = Became.ENDORSED
    else:
        outcome = _DONE[action]
    return Result(memory_id=memory_id, outcome=outcome, version=answer.version, status=answer.status)


def not_seen(memory_id: UUID, version: int) -> Result:
    """The result for a memory that the caller does not say to have seen as it is."""
    said = NotDecided(
        code="not-seen",
        message="this memory is newer than what was seen, or changed since; nothing was decided on it",
        hint="Look at the queue again.",
        current_version=version,
    )
    return Result(memory_id=memory_id, outcome=Became.NOT_SEEN, because=said)


def because(error: TenureError) -> NotDecided:
    """An error as it stands beside one memory."""
    current = error.details.get("current_version")
    return NotDecided(
        code=error.code,
        message=error.message,
        hint=error.hint,
        current_version=current if isinstance(current, int) else None,
    )


def decisions(action: Action, items: tuple[Result, ...], *, more: bool) -> Decisions:
    """The whole answer, counted."""
    undecided = (Became.NOT_SEEN, Became.REFUSED)
    return Decisions(
        action=action,
        items=items,
        decided=sum(one.outcome not in undecided for one in items),
        not_seen=sum(one.outcome is Became.NOT_SEEN for one in items),
        refused=sum(one.outcome is Became.REFUSED for one in items),
        more=more,
    )


_DONE: Final = {
    Action.PROMOTE: Became.PROMOTED,
    Action.REJECT: Became.REJECTED,
    Action.REVOKE: Became.REVOKED,
}
