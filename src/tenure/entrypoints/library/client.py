"""Clients of a Tenure server: the same methods as a Session, over HTTP, waited for or awaited.

What each method sends and reads stands once, in client_calls.py; what an answer means, in client_exchange.py.
The transports are used without httpx's own clients: those would log addresses, in which subjects stand, keep
cookies, follow where they are sent, and take proxies and passwords from the environment.
"""

import functools
import inspect
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing, closing
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar, get_args

import anyio
import httpx

from tenure.core.errors import InvalidRequest, Unavailable
from tenure.entrypoints.library.client_calls import Calls
from tenure.entrypoints.library.client_exchange import Again, Exchange
from tenure.entrypoints.library.client_request import Request

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

TIMEOUT_SECONDS: Final = 30.0
CONNECTIONS_MAX: Final = 32
"""As many requests as a server works on at once; further ones wait here for their turn."""
URL_CHARACTERS_MAX: Final = 2_000
IDLE_SECONDS_MAX: Final = 3.0
"""An idle connection is left before a server ends it, so that no write is sent into one that is closing."""


def _sent(
    describe: Callable[Concatenate[Calls, P], Request[T]],
) -> "Callable[Concatenate[Client, P], T]":
    """The method that sends what a call describes, and waits for the answer."""

    @functools.wraps(describe)
    def method(client: "Client", /, *args: P.args, **named: P.kwargs) -> T:
        return client.send(describe(client.calls, *args, **named))

    return _signed(method, describe)


def _awaited(
    describe: Callable[Concatenate[Calls, P], Request[T]],
) -> "Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]":
    """The method that sends what a call describes, and is awaited."""

    @functools.wraps(describe)
    async def method(client: "AsyncClient", /, *args: P.args, **named: P.kwargs) -> T:
        return await client.send(describe(client.calls, *args, **named))

    return _signed(method, describe)


def _signed(method: F, describe: Callable[..., Request[Any]]) -> F:
    """The method with the signature that callers see: what the call takes, and what its answer is read as."""
    described = inspect.signature(describe)
    (answer,) = get_args(described.return_annotation)
    vars(method)["__signature__"] = described.replace(return_annotation=answer)
    return method


class Client:
    """A Tenure server as one credential sees it; safe to use from many threads.

    ``agent``, ``purpose`` and ``subject`` are sent with every call that takes them; what is left out the
    server fills where the credential grants exactly one. ``timeout_seconds`` bounds connecting, sending and
    each wait for a part of the answer. Raises InvalidRequest when the address or the token cannot be one.
    """

    def __init__(
        self,
        url: str,
        token: str,
        agent: str | None = None,
        purpose: str | None = None,
        subject: str | None = None,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.calls = Calls(agent=agent, purpose=purpose, subject=subject)
        self._server = _Server(url, token, timeout_seconds)
        self._transport = httpx.HTTPTransport(
            verify=self._server.is_verified, trust_env=False, limits=_LIMITS
        )
        self._door = _Door()

    def send(self, request: Request[T]) -> T:
        """Send one call as it was described, again where that is safe, and give back its answer."""
        exchange = Exchange(request)
        self._door.enter()
        try:
            while isinstance(settled := exchange.settle(self._attempt(request)), Again):
                time.sleep(settled.seconds)
            return settled
        finally:
            if self._door.leave():
                self._transport.close()

    def _attempt(self, request: Request[Any]) -> httpx.Response | httpx.RequestError:
        try:
            with closing(self._transport.handle_request(self._server.addressed(request))) as response:
                response.read()
                return response
        except httpx.RequestError as fault:
            return fault

    remember = _sent(Calls.remember)
    try_out = _sent(Calls.try_out)
    correct = _sent(Calls.correct)
    revise = _sent(Calls.revise)
    recall = _sent(Calls.recall)
    neighbours = _sent(Calls.neighbours)
    used = _sent(Calls.used)
    get = _sent(Calls.get)
    memories = _sent(Calls.memories)
    history = _sent(Calls.history)
    review = _sent(Calls.review)
    decide_many = _sent(Calls.decide_many)
    review_statistics = _sent(Calls.review_statistics)
    contradictions = _sent(Calls.contradictions)
    resolve_contradiction = _sent(Calls.resolve_contradiction)
    unmerge = _sent(Calls.unmerge)
    promote = _sent(Calls.promote)
    reject = _sent(Calls.reject)
    revoke = _sent(Calls.revoke)
    renew = _sent(Calls.renew)
    forget = _sent(Calls.forget)
    forget_status = _sent(Calls.forget_status)
    resolve = _sent(Calls.resolve)
    erase = _sent(Calls.erase)
    export = _sent(Calls.export)
    hold = _sent(Calls.hold)
    release = _sent(Calls.release)
    hold_of = _sent(Calls.hold_of)
    source_impact = _sent(Calls.source_impact)
    revoke_source = _sent(Calls.revoke_source)
    alerts = _sent(Calls.alerts)
    log = _sent(Calls.log)
    checkpoint = _sent(Calls.checkpoint)
    log_proof = _sent(Calls.log_proof)
    authorize_tool = _sent(Calls.authorize_tool)

    def close(self) -> None:
        """Take no more calls, and hang up with the last one that is under way; waits for none of them."""
        if self._door.close():
            self._transport.close()

    def __repr__(self) -> str:
        """The address, without the token."""
        return f"Client({self._server.url!r})"

    def __enter__(self) -> Self:
        """The client itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


class AsyncClient:
    """The same as Client, awaited, within one event loop. A cancelled write is whole or absent."""

    def __init__(
        self,
        url: str,
        token: str,
        agent: str | None = None,
        purpose: str | None = None,
        subject: str | None = None,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.calls = Calls(agent=agent, purpose=purpose, subject=subject)
        self._server = _Server(url, token, timeout_seconds)
        self._transport = httpx.AsyncHTTPTransport(
            verify=self._server.is_verified, trust_env=False, limits=_LIMITS
        )
        self._door = _Door()

    async def send(self, request: Request[T]) -> T:
        """Send one call as it was described, again where that is safe, and give back its answer."""
        exchange = Exchange(request)
        self._door.enter()
        try:
            while True:
                settled = exchange.settle(await self._attempt(request))
                if not isinstance(settled, Again):
                    return settled
                await anyio.sleep(settled.seconds)
        finally:
            if self._door.leave():
                await self._transport.aclose()

    async def _attempt(self, request: Request[Any]) -> httpx.Response | httpx.RequestError:
        try:
            response = await self._transport.handle_async_request(self._server.addressed(request))
            async with aclosing(response):
                await response.aread()
                return response
        except httpx.RequestError as fault:
            return fault

    remember = _awaited(Calls.remember)
    try_out = _awaited(Calls.try_out)
    correct = _awaited(Calls.correct)
    revise = _awaited(Calls.revise)
    recall = _awaited(Calls.recall)
    neighbours = _awaited(Calls.neighbours)
    used = _awaited(Calls.used)
    get = _awaited(Calls.get)
    memories = _awaited(Calls.memories)
    history = _awaited(Calls.history)
    review = _awaited(Calls.review)
    decide_many = _awaited(Calls.decide_many)
    review_statistics = _awaited(Calls.review_statistics)
    contradictions = _awaited(Calls.contradictions)
    resolve_contradiction = _awaited(Calls.resolve_contradiction)
    unmerge = _awaited(Calls.unmerge)
    promote = _awaited(Calls.promote)
    reject = _awaited(Calls.reject)
    revoke = _awaited(Calls.revoke)
    renew = _awaited(Calls.renew)
    forget = _awaited(Calls.forget)
    forget_status = _awaited(Calls.forget_status)
    resolve = _awaited(Calls.resolve)
    erase = _awaited(Calls.erase)
    export = _awaited(Calls.export)
    hold = _awaited(Calls.hold)
    release = _awaited(Calls.release)
    hold_of = _awaited(Calls.hold_of)
    source_impact = _awaited(Calls.source_impact)
    revoke_source = _awaited(Calls.revoke_source)
    alerts = _awaited(Calls.alerts)
    log = _awaited(Calls.log)
    checkpoint = _awaited(Calls.checkpoint)
    log_proof = _awaited(Calls.log_proof)
    authorize_tool = _awaited(Calls.authorize_tool)

    async def aclose(self) -> None:
        """Take no more calls, and hang up with the last one that is under way; waits for none of them."""
        if self._door.close():
            await self._transport.aclose()

    def __repr__(self) -> str:
        """The address, without the token."""
        return f"AsyncClient({self._server.url!r})"

    async def __aenter__(self) -> Self:
        """The client itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()


_PORTS: Final = range(1, 65_536)
_LIMITS: Final = httpx.Limits(
    max_connections=CONNECTIONS_MAX,
    max_keepalive_connections=CONNECTIONS_MAX,
    keepalive_expiry=IDLE_SECONDS_MAX,
)


class _Door:
    """Counts the calls under way: a socket that is closed under a thread may already be another's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._is_closed = False

    def enter(self) -> None:
        """Begin a call; raises Unavailable once the door is closed."""
        with self._lock:
            if self._is_closed:
                raise Unavailable(
                    "this client is closed; nothing was sent", hint="Make a new one.", outcome_unknown=False
                )
            self._inside += 1

    def leave(self) -> bool:
        """End a call; gives whether it was the last one of a closed client."""
        with self._lock:
            self._inside -= 1
            return self._is_closed and not self._inside

    def close(self) -> bool:
        """Let nobody in any more; gives whether nobody is inside."""
        with self._lock:
            self._is_closed = True
            return not self._inside


class _Server:
    """Where requests go, and what goes with each; httpx hides the token in its headers' repr."""

    def __init__(self, url: str, token: str, timeout_seconds: float) -> None:
        self.url = _checked_url(url)
        # Reading the certificates of all authorities takes longer than many calls; only TLS needs them.
        self.is_verified = not self.url.startswith("http:")
        self._headers = httpx.Headers(
            {"Authorization": f"Bearer {_checked_token(token)}", "Accept": "application/json"}
        )
        self._extensions = {"timeout": httpx.Timeout(timeout_seconds).as_dict()}

    def addressed(self, request: Request[Any]) -> httpx.Request:
        """The request as it goes over the wire."""
        headers = self._headers.copy()
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if request.idempotency_key is not None:
            headers.update({b"Idempotency-Key": request.idempotency_key.encode("latin-1")})
        address = f"{self.url}{request.path}" + (f"?{request.query}" if request.query else "")
        return httpx.Request(
            request.method, address, headers=headers, content=request.body, extensions=self._extensions
        )


def _checked_url(url: str) -> str:
    """The address without its last slash; no error repeats it, since a password may stand in it."""
    hint = "Give the server's address, such as https://tenure.example.com, and the token apart from it."
    if len(url) > URL_CHARACTERS_MAX:
        raise InvalidRequest("url is too long", field="url", hint=hint)
    try:
        parsed = httpx.URL(url)
        # Some names that can be written cannot be looked up; better said now than at the first call.
        parsed.host.encode("idna")
    except (httpx.InvalidURL, ValueError):
        raise InvalidRequest("url is not an address", field="url", hint=hint) from None
    if parsed.scheme not in {"http", "https"} or not parsed.host or (parsed.port or 1) not in _PORTS:
        raise InvalidRequest("url must be http:// or https:// and a host", field="url", hint=hint)
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise InvalidRequest("url must hold no user, query or fragment", field="url", hint=hint)
    return str(parsed).rstrip("/")


def _checked_token(token: str) -> str:
    """The token, without the space that a file leaves around it; no error repeats it."""
    bare = token.strip()
    if not bare or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise InvalidRequest(
            "token is not one", field="token", hint="Give the token that 'tenure key create' showed."
        )
    return bare
