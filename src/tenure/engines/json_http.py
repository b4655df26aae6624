"""JSON over HTTP to a service that the operator named, with one time limit over all attempts (SPEC L5).

Laws: nothing takes longer than its time, whether the service is silent or sends a byte a second; what may
pass (429, 5xx, a lost connection) is tried again while that fits, as late as the service asks; no redirect is
followed; an answer has a size. No reason that is given holds the address, a header or a body.

Connections are kept, since a handshake costs more than an answer. The address is the operator's word: it may
lead to a private address, as a private endpoint does, and TLS checks its name.
"""

import asyncio
import ipaddress
import threading
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import httpx

ANSWER_BYTES_MAX: Final = 65_536
FIRST_PAUSE_SECONDS: Final = 0.1
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
_CLOSING_SECONDS_MAX: Final = 5.0


class NotAnswered(Exception):
    """There is no answer that could be used; the text says why, and nothing of what was asked."""

    def __init__(self, because: str, *, status: int | None = None) -> None:
        super().__init__(because)
        self.status = status


class _Got(NamedTuple):
    """One attempt's end: a status, or none where the connection was lost; and how long to wait."""

    status: int | None
    because: str
    body: bytes = b""
    pause_seconds: float | None = None


class JsonHttp:
    """Asks one address; any number of threads may ask at once."""

    def __init__(self, url: str, *, answer_bytes_max: int = ANSWER_BYTES_MAX) -> None:
        self._url = url
        self._answer_bytes_max = answer_bytes_max
        self._state = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: httpx.AsyncClient | None = None

    def post(
        self, contents: Sequence[bytes], headers: Mapping[str, str], *, seconds_max: float
    ) -> list[bytes]:
        """The bodies of the answers, asked for one after the other in one time; raises NotAnswered."""
        loop = self._running()
        return asyncio.run_coroutine_threadsafe(self._within(contents, headers, seconds_max), loop).result()

    def close(self) -> None:
        """End what is under way, and close the connections."""
        with self._state:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._finish(), loop).result(_CLOSING_SECONDS_MAX)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        """The loop that speaks for all threads, started when somebody asks first."""
        with self._state:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="tenure-json-http", daemon=True
                )
                self._thread.start()
            return self._loop

    async def _within(
        self, contents: Sequence[bytes], headers: Mapping[str, str], seconds_max: float
    ) -> list[bytes]:
        until = asyncio.get_running_loop().time() + seconds_max
        try:
            async with asyncio.timeout_at(until):
                return [await self._attempts(content, headers, until) for content in contents]
        except TimeoutError:
            raise NotAnswered(f"there was no answer within {seconds_max:.1f} seconds") from None

    async def _attempts(self, content: bytes, headers: Mapping[str, str], until: float) -> bytes:
        pause = FIRST_PAUSE_SECONDS
        while True:
            got = await self._once(content, headers)
            if got.status == httpx.codes.OK:
                return got.body
            wait = pause if got.pause_seconds is None else got.pause_seconds
            may_pass = got.status is None or got.status in _PASSING
            if not may_pass or asyncio.get_running_loop().time() + wait >= until:
                raise NotAnswered(got.because, status=got.status)
            await asyncio.sleep(wait)
            pause *= 2

    async def _once(self, content: bytes, headers: Mapping[str, str]) -> _Got:
        try:
            async with self._opened().stream("POST", self._url, content=content, headers=headers) as answer:
                status, pause = answer.status_code, _pause_seconds(answer.headers)
                body = bytearray()
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) > self._answer_bytes_max:
                        raise NotAnswered(f"it answered with more than {self._answer_bytes_max} bytes")
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as fault:
            return _Got(None, f"the exchange failed ({type(fault).__name__})")
        return _Got(status, f"it answered with status {status}", bytes(body), pause)

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(
                timeout=None,  # noqa: S113 -- one limit stands over everything
                follow_redirects=False,
                trust_env=not _is_loopback(httpx.URL(self._url).host),
            )
        return self._client

    async def _finish(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def _pause_seconds(headers: httpx.Headers) -> float | None:
    """How long the service asks to wait; a date instead of a number is taken as if it said nothing."""
    asked = headers.get("Retry-After", "").strip()
    return float(asked) if asked.isascii() and asked.isdigit() else None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
