"""One call before it is sent: where it goes, what goes along, how its answer is read. No I/O here."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from tenure.core.errors import InvalidRequest

T = TypeVar("T")

QUERY_CHARACTERS_MAX: Final = 16_384
"""An encoded query of more holds a value that no server takes."""
_LATIN_1_LAST: Final = "\xff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """One call, before it is sent; its repr holds nothing of what a memory says."""

    method: Literal["GET", "POST", "PATCH"]
    path: str
    read: Callable[[bytes], T]
    query: str = field(default="", repr=False)
    body: bytes | None = field(default=None, repr=False)
    idempotency_key: str | None = None
    is_write: bool = False

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        return not self.is_write or self.idempotency_key is not None


def a_write(
    path: str,
    body: Mapping[str, object],
    *,
    read: Callable[[bytes], T],
    idempotency_key: str | None = None,
    method: Literal["POST", "PATCH"] = "POST",
) -> Request[T]:
    """What changes something, or reports it; only under an idempotency key may it be sent again."""
    return Request(
        method=method,
        path=path,
        read=read,
        body=encoded(body),
        idempotency_key=_travelling(idempotency_key),
        is_write=True,
    )


def a_read(path: str, asked: Mapping[str, object], *, read: Callable[[bytes], T]) -> Request[T]:
    """What only looks."""
    with suppress(UnicodeEncodeError):
        query = urlencode({name: str(value) for name, value in asked.items()})
        if len(query) <= QUERY_CHARACTERS_MAX:
            return Request(method="GET", path=path, query=query, read=read)
        raise InvalidRequest("a value in the question is too long", field="query")
    raise _unwritable(asked)


def given(**fields: object) -> dict[str, object]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value is not None}


def memory_path(memory_id: UUID, step: str = "") -> str:
    """The path of a memory. A text that is no id, which a model may have made up, never becomes a path."""
    try:
        return f"/v1/memories/{UUID(str(memory_id))}{step}"
    except ValueError:
        raise InvalidRequest("memory_id must be a UUID", field="memory_id") from None


def encoded(body: Mapping[str, object]) -> bytes:
    """The body as JSON; raises InvalidRequest, naming the field, for text that no JSON can carry."""
    # The refusal is raised outside, since the encoder's own error holds the whole text.
    with suppress(UnicodeEncodeError):
        return msgspec.json.encode(body)
    raise _unwritable(body)


def _unwritable(fields: Mapping[str, object]) -> InvalidRequest:
    at_fault = next((name for name, value in fields.items() if not _is_writable(value)), "body")
    return InvalidRequest(f"{at_fault} has a lone surrogate", field=at_fault)


def _is_writable(value: object) -> bool:
    with suppress(UnicodeEncodeError):
        return bool(msgspec.json.encode(value))
    return False


def _travelling(key: str | None) -> str | None:
    """An idempotency key that a header can carry."""
    if key is None or (key.isprintable() and key == key.strip() and all(one <= _LATIN_1_LAST for one in key)):
        return key
    raise InvalidRequest(
        "over HTTP, an idempotency key has printable Latin-1 characters, and no space around them",
        field="Idempotency-Key",
        hint="Use letters, digits and punctuation, such as a message's id.",
    )
