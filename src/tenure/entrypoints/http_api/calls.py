"""What a call of the HTTP interface is: where it lives, what it takes, what it asks for, and what it answers.

Each capability's file declares its calls with these values. ``endpoint.py`` serves them and ``openapi.py``
describes them, both from the same declaration, so that the description cannot drift from what is served.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

import msgspec

from tenure.core.errors import InvalidRequest, TenureError
from tenure.core.identity import Caller, checked_name
from tenure.entrypoints.http_api.decoding import decode_part
from tenure.usecases.pipeline import Pipeline, UseCase

G = TypeVar("G", bound=msgspec.Struct)
C = TypeVar("C", bound=msgspec.Struct)
F = TypeVar("F")
A = TypeVar("A")

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Shape = type[msgspec.Struct] | UnionType
"""What a call answers with: a record, or one of several that each say of which kind they are."""


class Nothing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a call takes that takes nothing; as a body it is ``{}`` or left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit(Generic[G]):
    """One authenticated request: who asks, what was given, and about which thing in the path."""

    pipeline: Pipeline
    caller: Caller
    given: G
    path: Mapping[str, str]
    idempotency_key: str | None = None

    def id(self, name: str) -> UUID:
        """The id that stands in the path; raises InvalidRequest when it is none."""
        try:
            return msgspec.convert(decode_part(self.path[name], field=name), UUID)
        except msgspec.ValidationError:
            raise InvalidRequest(f"{name} must be a UUID", field=name) from None

    def name(self, field: str) -> str:
        """The name that stands in the path; raises InvalidRequest when it can be none."""
        return checked_name(decode_part(self.path[field], field=field), field=field)


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and the record that is sent with it."""

    status: int
    record: msgspec.Struct


@dataclass(frozen=True, slots=True)
class Ask(Generic[C, F, A]):
    """A command for the pipeline, and what to make of its answer."""

    use_case: UseCase[C, F, A]
    command: C
    answer: Callable[[A], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[G]):
    """One method at one path. ``takes`` is the query of a GET and the body of everything else.

    ``work`` makes a visit into what to ask of the pipeline, or answers it at once. What waits ``in_batches``
    is carried through the pipeline together, so it asks one use case only.
    """

    method: Method
    path: str
    name: str
    summary: str
    work: Callable[[Visit[G]], Ask[Any, Any, Any] | Answer]
    takes: type[G]
    answers: Mapping[int, Shape]
    problems: tuple[type[TenureError], ...] = ()
    takes_idempotency_key: bool = False
    in_batches: bool = False
    decoder: "msgspec.json.Decoder[G]" = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "decoder", msgspec.json.Decoder(self.takes))

    @property
    def has_body(self) -> bool:
        """Whether a request body is read."""
        return self.method in {"POST", "PUT", "PATCH"}

    @property
    def is_body_needed(self) -> bool:
        """Whether the body may not be left out."""
        return self.has_body and self.takes is not Nothing


def plainly(record: msgspec.Struct) -> Answer:
    """The record as it is."""
    return Answer(200, record)
