"""What every rule answers: decided, with events to append, or refused, with the reason."""

from typing import Generic, TypeVar
from uuid import UUID

import msgspec

from tenure.core.errors import TenureError
from tenure.core.events import Event

A = TypeVar("A")


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that must still stand at this version when the events are appended (SPEC L8)."""

    memory_id: UUID
    version: int


class Decided(msgspec.Struct, Generic[A], frozen=True, kw_only=True):
    """Append these events, if all that was read still holds, then give this answer.

    An ``error`` is raised instead of answering, once the events are durable: a rejection leaves its
    audit record first (SPEC L13).
    """

    answer: A
    events: tuple[Event, ...] = ()
    needs: tuple[Needs, ...] = ()
    forgot_seq: int | None = None
    """Where forgetting stood when this was decided: if it has moved on, it is decided again (SPEC F4a)."""
    error: TenureError | None = None


class Refused(msgspec.Struct, frozen=True):
    """Nothing is appended; this is what the caller is told."""

    error: TenureError
