"""From an HTTP request to a call and back: where bytes become commands, and errors problems.

The event loop only moves bytes. Authenticating, decoding, the pipeline and encoding happen in one hop into a
worker thread, so that a request costs one hand-over there and one back.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Final, NamedTuple

import msgspec
from litestar.types import Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from tenure.core.errors import InvalidRequest, TenureError, Unauthenticated
from tenure.core.identity import Caller
from tenure.entrypoints.http_api.batches import Batches
from tenure.entrypoints.http_api.calls import Answer, Ask, Call, G, Visit
from tenure.entrypoints.http_api.decoding import decode_body, decode_query
from tenure.entrypoints.http_api.limiting import Limits
from tenure.entrypoints.http_api.metrics import Metrics
from tenure.entrypoints.http_api.request_log import place
from tenure.entrypoints.http_api.transport import (
    JSON_HEADERS,
    ClientGoneError,
    Reply,
    bearer_token,
    deliver,
    header_values,
    read_body,
    refusal,
)
from tenure.entrypoints.http_api.worker_threads import WorkerThreads
from tenure.entrypoints.replies import Internal
from tenure.usecases.pipeline import Pipeline

CLIENT_GONE_STATUS: Final = 499
"""What the log says of a request that was never whole; no client sees it."""

# Sets come out sorted, so that equal records are equal text.
_ENCODER: Final = msgspec.json.Encoder(order="deterministic")
_PARAMETER_TYPE: Final = re.compile(r":\w+(?=})")


class Asked(NamedTuple):
    """A request as far as the event loop reads it."""

    token: str
    idempotency_keys: list[bytes]
    path: Mapping[str, str]
    instance: str
    address: str
    query: bytes
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """What every endpoint needs to serve its calls."""

    pipeline: Pipeline
    authenticate: Callable[[str | None], Caller]
    limits: Limits
    threads: WorkerThreads
    log: FilteringBoundLogger
    request_bytes_max: int
    metrics: Metrics

    def log_request(
        self, *, method: str, route: str, status: int, started: float, credential: str | None = None
    ) -> None:
        """The one line that a request leaves: its route's template, never its path. It is counted as well."""
        self.metrics.requested(method=method, route=route, status=status)
        self.log.info(
            "request",
            method=method,
            route=route,
            status=status,
            milliseconds=round((perf_counter() - started) * 1_000, 3),
            credential=credential,
        )

    def faulty(self, fault: Exception, *, route: str, instance: str) -> Reply:
        """A fault of ours: its kind and place go to the log, and a bare problem to the client."""
        self.log.error("fault", route=route, error=type(fault).__name__, at=place(fault))
        return refusal(Internal("the server failed; its log says where"), instance=instance)


class _Ready(NamedTuple):
    """A command on its way into the pipeline."""

    ask: Ask[Any, Any, Any]
    idempotency_key: str | None

    def answer(self, outcome: object) -> Answer | TenureError:
        """What the request is told of what the pipeline said."""
        return outcome if isinstance(outcome, TenureError) else self.ask.answer(outcome)


class Endpoint:
    """Serves one call, as an ASGI application."""

    def __init__(self, entrance: Entrance, call: Call[Any]) -> None:
        self.entrance = entrance
        self.call = call
        self.route = route_template(call.path)
        self.batches: Batches[Asked, Reply] = Batches(entrance.threads, self._work)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever happens, the answer is a record or a problem."""
        started = perf_counter()
        try:
            reply = await self._reply(scope, receive)
            await deliver(reply, send)
            status, credential = reply.status, reply.credential
        except ClientGoneError:
            status, credential = CLIENT_GONE_STATUS, None
        self.entrance.log_request(
            method=self.call.method, route=self.route, status=status, started=started, credential=credential
        )

    async def _reply(self, scope: Scope, receive: Receive) -> Reply:
        try:
            asked = await self._read(scope, receive)
            # With scanners outside each request has a thread: none waits for what another has scanned.
            if self.call.in_batches and not self.entrance.pipeline.scanning.asks_outside:
                return await self.batches.put(asked.token, asked)
            return (await self.entrance.threads.run(partial(self._work, [asked])))[0]
        except TenureError as error:
            return refusal(error, instance=scope["path"])
        except ClientGoneError:
            raise
        except Exception as fault:  # noqa: BLE001 -- whatever it is, the client gets a problem
            return self.entrance.faulty(fault, route=self.route, instance=scope["path"])

    async def _read(self, scope: Scope, receive: Receive) -> Asked:
        """Read what was sent; who brings no token at all is turned away before their body is read."""
        headers = scope["headers"]
        client = scope["client"]
        address = client[0] if client else ""
        token = bearer_token(headers)
        if token is None:
            raise self._unknown(address)
        body = b""
        if self.call.has_body:
            body = await read_body(receive, headers, size_bytes_max=self.entrance.request_bytes_max)
        return Asked(
            token=token,
            idempotency_keys=header_values(headers, b"idempotency-key"),
            path=scope.get("path_params", {}),
            instance=scope["path"],
            address=address,
            query=scope["query_string"],
            body=body,
        )

    def _work(self, batch: list[Asked]) -> list[Reply]:
        """All that requests of one call and one token cost, in a worker thread."""
        try:
            caller = self.entrance.authenticate(batch[0].token)
        except Unauthenticated:
            return [refusal(self._unknown(asked.address), instance=asked.instance) for asked in batch]
        except TenureError as error:
            return [refusal(error, instance=asked.instance) for asked in batch]
        prepared = [self._prepare(asked, caller) for asked in batch]
        answers = iter(self._carry(caller, [one for one in prepared if isinstance(one, _Ready)]))
        return [
            _reply(one.answer(next(answers)) if isinstance(one, _Ready) else one, asked, caller)
            for one, asked in zip(prepared, batch, strict=True)
        ]

    def _prepare(self, asked: Asked, caller: Caller) -> "_Ready | Answer | TenureError":
        """What one request asks of the pipeline, or what it is told without it."""
        try:
            self.entrance.limits.admit(caller)
            key = _idempotency_key(self.call, asked.idempotency_keys)
            visit = Visit(
                pipeline=self.entrance.pipeline,
                caller=caller,
                given=_given(self.call, asked),
                path=asked.path,
                idempotency_key=key,
            )
            wanted = self.call.work(visit)
        except TenureError as error:
            return error
        return wanted if isinstance(wanted, Answer) else _Ready(wanted, key)

    def _carry(self, caller: Caller, ready: "list[_Ready]") -> list[Any]:
        """Carry the commands through the pipeline; gives an answer or an error for each."""
        if not ready:
            return []
        commands = [(one.ask.command, one.idempotency_key) for one in ready]
        try:
            return self.entrance.pipeline.run_many(ready[0].ask.use_case, caller, commands)
        except TenureError as error:
            return [error] * len(ready)

    def _unknown(self, address: str) -> TenureError:
        """The same words for no token, a wrong one and an old one."""
        error = Unauthenticated(
            "this request carries no valid credential",
            hint="Send the header 'Authorization: Bearer TOKEN' with a token from 'tenure key create'.",
        )
        return self.entrance.limits.failed(address, error)


def route_template(path: str) -> str:
    """A path as people write it: ``/v1/memories/{memory_id}``."""
    return _PARAMETER_TYPE.sub("", path)


def _reply(answer: Answer | TenureError, asked: Asked, caller: Caller) -> Reply:
    if isinstance(answer, TenureError):
        return refusal(answer, instance=asked.instance, credential=caller.id)
    return Reply(answer.status, JSON_HEADERS, _ENCODER.encode(answer.record), caller.id)


def _given(call: Call[G], asked: Asked) -> G:
    if call.has_body:
        is_left_out = not asked.body and not call.is_body_needed
        return decode_body(b"{}" if is_left_out else asked.body, call.takes, call.decoder)
    return decode_query(asked.query, call.takes)


def _idempotency_key(call: Call[Any], sent: list[bytes]) -> str | None:
    if not call.takes_idempotency_key or not sent:
        return None
    if len(sent) > 1:
        raise InvalidRequest("Idempotency-Key stands twice in the request", field="Idempotency-Key")
    return sent[0].decode("latin-1")
