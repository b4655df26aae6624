"""Bytes in and bytes out: headers, bodies up to their limit, replies. Nothing here knows a call."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
from litestar.types import Receive, Send

from tenure.core.errors import TenureError, TooLarge, Unauthenticated
from tenure.entrypoints.replies import PROBLEM_MEDIA_TYPE, problem, retry_after_seconds

Headers = tuple[tuple[bytes, bytes], ...]
RawHeaders = Iterable[tuple[bytes, bytes]]

_ALWAYS: Final[Headers] = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
JSON_HEADERS: Final[Headers] = ((b"content-type", b"application/json"), *_ALWAYS)
_PROBLEM_HEADERS: Final[Headers] = ((b"content-type", PROBLEM_MEDIA_TYPE.encode()), *_ALWAYS)
_SCHEME: Final = b"bearer "


class ClientGoneError(Exception):
    """The client hung up before its request was whole; nothing is done and nobody is answered."""


class Reply(NamedTuple):
    """What is sent back, and whose request it was, for the log."""

    status: int
    headers: Headers
    body: bytes
    credential: str | None = None


def refusal(error: TenureError, *, instance: str, credential: str | None = None, more: Headers = ()) -> Reply:
    """The problem that an error is answered with, and the headers that belong to it."""
    headers = [*_PROBLEM_HEADERS, *more]
    wait = retry_after_seconds(error)
    if wait is not None:
        headers.append((b"retry-after", str(wait).encode()))
    if isinstance(error, Unauthenticated):
        headers.append((b"www-authenticate", b'Bearer realm="tenure"'))
    if isinstance(error, TooLarge):
        # What was not read is not worth reading: the connection ends with the answer.
        headers.append((b"connection", b"close"))
    body = msgspec.json.encode(problem(error, instance=instance))
    return Reply(error.status, tuple(headers), body, credential)


async def deliver(reply: Reply, send: Send) -> None:
    """Send a reply, whole."""
    length = (b"content-length", str(len(reply.body)).encode())
    await send({"type": "http.response.start", "status": reply.status, "headers": [*reply.headers, length]})
    await send({"type": "http.response.body", "body": reply.body, "more_body": False})


async def read_body(receive: Receive, headers: RawHeaders, *, size_bytes_max: int) -> bytes:
    """The whole body; raises TooLarge as soon as it is known to exceed the limit, chunked or not."""
    declared = header_values(headers, b"content-length")
    if declared and declared[0].isdigit() and int(declared[0]) > size_bytes_max:
        raise _too_large(size_bytes_max)
    chunks: list[bytes] = []
    size_bytes, is_more = 0, True
    while is_more:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGoneError
        chunks.append(message["body"])
        size_bytes += len(message["body"])
        if size_bytes > size_bytes_max:
            raise _too_large(size_bytes_max)
        is_more = message["more_body"]
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def header_values(headers: RawHeaders, name: bytes) -> list[bytes]:
    """Every value of a header; names are lower case in ASGI."""
    return [value for one, value in headers if one == name]


def bearer_token(headers: RawHeaders) -> str | None:
    """The token of a request that carries exactly one."""
    values = header_values(headers, b"authorization")
    if len(values) != 1 or values[0][: len(_SCHEME)].lower() != _SCHEME:
        return None
    return values[0][len(_SCHEME) :].strip().decode("latin-1") or None


def _too_large(size_bytes_max: int) -> TooLarge:
    return TooLarge(
        f"the request body has more than {size_bytes_max:,} bytes",
        hint="Send less at once; a memory is short.",
        limit_bytes=size_bytes_max,
    )
