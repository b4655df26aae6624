"""One call before it is sent: where it goes, what goes along, how its answer is read. No I/O here."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar
from urllib.parse import quote, urlencode
from uuid import UUID

import msgspec

from tenure.core.errors import InvalidRequest

T = TypeVar("T")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

QUERY_CHARACTERS_MAX: Final = 16_384
"""An encoded query of more holds a value that no server takes."""
PATH_PART_CHARACTERS_MAX: Final = 4_096
"""The same of a name in a path."""
_LATIN_1_LAST: Final = "\xff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """One call, before it is sent; its repr holds nothing of what a memory says."""

    method: Method
    path: str
    read: Callable[[bytes], T]
    query: str = field(default="", repr=False)
    body: bytes | None = field(default=None, repr=False)
    idempotency_key: str | None = None
    is_write: bool = False
    goes_on: bool = False
    """Whether the same call, sent again, takes up what an earlier one began, and gives its answer."""

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        return not self.is_write or self.goes_on or self.idempotency_key is not None


def a_write(
    path: str,
    body: Mapping[str, object],
    *,
    read: Callable[[bytes], T],
    idempotency_key: str | None = None,
    method: Literal["POST", "PUT", "PATCH"] = "POST",
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
    return Request(method="GET", path=path, query=_query(asked), read=read)


def a_removal(path: str, asked: Mapping[str, object], *, read: Callable[[bytes], T]) -> Request[T]:
    """What ends something; what is said of it stands in the query, since such a body may be lost."""
    return Request(method="DELETE", path=path, query=_query(asked), read=read, is_write=True)


def given(**fields: object) -> dict[str, object]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value is not None}


def memory_path(memory_id: UUID, step: str = "") -> str:
    """The path of a memory."""
    return id_path("/v1/memories", memory_id, field="memory_id", step=step)


def id_path(before: str, value: UUID, *, field: str, step: str = "") -> str:
    """A path with an id in it. A text that is no id, which a model may have made up, never becomes one."""
    try:
        return f"{before}/{UUID(str(value))}{step}"
    except ValueError:
        raise InvalidRequest(f"{field} must be a UUID", field=field) from None


def named_path(before: str, name: str, *, field: str, step: str = "") -> str:
    """A path with a name in it, as one part of it whatever the name holds; raises InvalidRequest for none."""
    with suppress(UnicodeEncodeError):
        # Two dots by themselves would be a step upward.
        part = quote(name, safe="").replace(".", "%2E")
        if 0 < len(part) <= PATH_PART_CHARACTERS_MAX:
            return f"{before}/{part}{step}"
        raise InvalidRequest(f"{field} is empty or too long", field=field)
    raise InvalidRequest(f"{field} has a lone surrogate", field=field)


def encoded(body: Mapping[str, object]) -> bytes:
    """The body as JSON; raises InvalidRequest, naming the field, for text that no JSON can carry."""
    # The refusal is raised outside, since the encoder's own error holds the whole text.
    with suppress(UnicodeEncodeError):
        return msgspec.json.encode(body)
    raise _unwritable(body)


def _query(asked: Mapping[str, object]) -> str:
    with suppress(UnicodeEncodeError):
        query = urlencode({name: str(value) for name, value in asked.items()})
        if len(query) <= QUERY_CHARACTERS_MAX:
            return query
        raise InvalidRequest("a value in the question is too long", field="query")
    raise _unwritable(asked)


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
