"""Liveness, readiness and figures, open to everybody (SPEC S3, S4)."""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Literal

import msgspec
from litestar.types import Receive, Scope, Send

from tenure.core.errors import Unavailable
from tenure.entrypoints.http_api.endpoint import Entrance
from tenure.entrypoints.http_api.metrics import HEADERS as METRICS_HEADERS
from tenure.entrypoints.http_api.transport import JSON_HEADERS, Reply, deliver, refusal


class Alive(msgspec.Struct, frozen=True, kw_only=True):
    """The process runs."""

    status: Literal["alive"] = "alive"


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The store can be read and written."""

    status: Literal["ready"] = "ready"


class OpenPage:
    """A page that needs no credential, as an ASGI application."""

    def __init__(self, entrance: Entrance, path: str, look: Callable[[], Awaitable[Reply]]) -> None:
        self.entrance = entrance
        self.path = path
        self.look = look

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with what there is to see now."""
        started = perf_counter()
        reply = await self.look()
        await deliver(reply, send)
        self.entrance.log_request(method="GET", route=self.path, status=reply.status, started=started)


def fixed_page(entrance: Entrance, path: str, body: bytes) -> OpenPage:
    """A page that always says the same."""

    async def look() -> Reply:
        return Reply(200, JSON_HEADERS, body)

    return OpenPage(entrance, path, look)


def metrics_page(entrance: Entrance, path: str) -> OpenPage:
    """A page with what this process has counted."""

    async def look() -> Reply:
        return Reply(200, METRICS_HEADERS, await entrance.threads.run(entrance.metrics.text))

    return OpenPage(entrance, path, look)


def readiness_page(entrance: Entrance, path: str) -> OpenPage:
    """A page that says whether the store can serve now."""

    async def look() -> Reply:
        try:
            is_healthy = await entrance.threads.run(entrance.pipeline.store.healthy)
        except Exception as fault:  # noqa: BLE001 -- a store that cannot even say so is not ready
            entrance.faulty(fault, route=path, instance=path)
            is_healthy = False
        if is_healthy:
            return Reply(200, JSON_HEADERS, msgspec.json.encode(Ready()))
        return refusal(Unavailable("the store cannot read and write now"), instance=path)

    return OpenPage(entrance, path, look)
