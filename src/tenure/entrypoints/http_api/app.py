"""The HTTP application: every call of every capability on one Litestar app, over one store."""

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final, cast
from urllib.parse import quote

import msgspec
from litestar import Litestar, Request, Response
from litestar.enums import ScopeType
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.types import (
    ASGIApp,
    HTTPScope,
    LifeSpanReceive,
    LifeSpanScope,
    LifeSpanSend,
    Method,
    Receive,
    Scope,
    Send,
)
from structlog.typing import FilteringBoundLogger

from tenure.core.errors import InvalidRequest, NotFound
from tenure.entrypoints.http_api import (
    alerts,
    checkpoints,
    contradictions,
    forgetting,
    keys,
    log,
    memories,
    policies,
    recall,
    resolving,
    review,
    sources,
    subjects,
    tools,
)
from tenure.entrypoints.http_api.calls import Call
from tenure.entrypoints.http_api.endpoint import Endpoint, Entrance
from tenure.entrypoints.http_api.health import Alive, fixed_page, metrics_page, readiness_page
from tenure.entrypoints.http_api.limiting import Limits
from tenure.entrypoints.http_api.metrics import Metrics
from tenure.entrypoints.http_api.openapi import describe
from tenure.entrypoints.http_api.request_log import open_log
from tenure.entrypoints.http_api.transport import Reply, refusal
from tenure.entrypoints.http_api.worker_threads import WorkerThreads
from tenure.entrypoints.replies import MethodNotAllowed
from tenure.wiring import Node, authenticator

CALLS: Final[tuple[Call[Any], ...]] = (
    *memories.CALLS,
    *review.CALLS,
    *contradictions.CALLS,
    *recall.CALLS,
    *resolving.CALLS,
    *forgetting.CALLS,
    *subjects.CALLS,
    *sources.CALLS,
    *alerts.CALLS,
    *keys.CALLS,
    *log.CALLS,
    *tools.CALLS,
    *checkpoints.CALLS,
    *policies.CALLS,
)

UNKNOWN_ROUTE: Final = "unknown"
_OPTIONS: Final = "OPTIONS"


class Application(Litestar):
    """Routes by the path as it was sent, so that a name in it may hold an encoded slash."""

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        """Serve one request; what stands between slashes is decoded where it is read."""
        if scope["type"] == ScopeType.HTTP:
            request = cast("HTTPScope", scope)
            # Some servers put the query behind it.
            sent = request.get("raw_path", b"").partition(b"?")[0].decode("latin-1")
            request["path"] = sent or quote(request["path"])
        await super().__call__(scope, receive, send)


def build_app(
    node: Node, *, request_log: FilteringBoundLogger | None = None, metrics: Metrics | None = None
) -> Litestar:
    """The application over an open store, which stays the caller's to close after the shutdown."""
    settings, metrics = node.settings, metrics or Metrics()
    node.pipeline.observer = metrics
    metrics.read_probes(node.pipeline.probes)
    threads = WorkerThreads(settings.server.threads)
    entrance = Entrance(
        pipeline=node.pipeline,
        authenticate=authenticator(node),
        limits=Limits(per_minute=settings.rate_limit.per_minute, now=node.pipeline.clock.now),
        threads=threads,
        log=request_log or open_log(settings.log, sys.stderr.buffer),
        request_bytes_max=settings.server.request_bytes_max,
        metrics=metrics,
    )

    async def finish_requests() -> None:
        """What was accepted is answered before the threads end."""
        threads.close()

    return Application(
        route_handlers=_routes(entrance),
        exception_handlers={HTTPException: _refusing(entrance), Exception: _failing(entrance)},
        on_shutdown=[finish_requests],
        openapi_config=None,
        logging_config=None,
    )


def _routes(entrance: Entrance) -> list[HTTPRouteHandler]:
    by_path: defaultdict[str, dict[str, ASGIApp]] = defaultdict(dict)
    for call in CALLS:
        by_path[call.path][call.method] = Endpoint(entrance, call)
    for page in (
        fixed_page(entrance, "/healthz", msgspec.json.encode(Alive())),
        fixed_page(entrance, "/openapi.json", describe(CALLS)),
        readiness_page(entrance, "/readyz"),
        metrics_page(entrance, "/metrics"),
    ):
        by_path[page.path]["GET"] = page
    return [_route(path, apps) for path, apps in by_path.items()]


def _route(path: str, apps: Mapping[str, ASGIApp]) -> HTTPRouteHandler:
    """Litestar routes; what it routes to reads the request itself, so that nothing is parsed twice."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        app = apps.get(cast("HTTPScope", scope)["method"])
        if app is None:
            raise MethodNotAllowedException(headers={"allow": ", ".join(apps)})
        await app(scope, receive, send)

    async def handler() -> ASGIApp:
        return serve

    # Left alone, Litestar would answer OPTIONS by itself; here it is one more method that is not taken.
    methods = cast("list[Method]", [*apps, _OPTIONS])
    return HTTPRouteHandler(path, http_method=methods, status_code=200)(handler)


def _refusing(entrance: Entrance) -> Callable[[Request[Any, Any, Any], HTTPException], Response[bytes]]:
    def refuse(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
        """What the router refuses by itself: an unknown address or method, a host name that is none."""
        instance = request.scope["path"]
        match error:
            case NotFoundException():
                absent = NotFound(
                    "there is nothing at this address", hint="/openapi.json lists all there is."
                )
                reply = refusal(absent, instance=instance)
            case MethodNotAllowedException():
                methods = (error.headers or {}).get("allow", "").split(", ")
                allowed = ", ".join(sorted(set(methods) - {_OPTIONS}))
                wrong = MethodNotAllowed(
                    "this address does not take this method", hint=f"It takes: {allowed}."
                )
                reply = refusal(wrong, instance=instance, more=((b"allow", allowed.encode()),))
            case _:
                odd = InvalidRequest("the Host header is not a host name", field="Host")
                reply = refusal(odd, instance=instance)
        return _logged(entrance, request, reply)

    return refuse


def _failing(entrance: Entrance) -> Callable[[Request[Any, Any, Any], Exception], Response[bytes]]:
    def fail(request: Request[Any, Any, Any], fault: Exception) -> Response[bytes]:
        """A fault before any endpoint was reached."""
        reply = entrance.faulty(fault, route=UNKNOWN_ROUTE, instance=request.scope["path"])
        return _logged(entrance, request, reply)

    return fail


def _logged(entrance: Entrance, request: Request[Any, Any, Any], reply: Reply) -> Response[bytes]:
    entrance.log_request(
        method=request.method, route=UNKNOWN_ROUTE, status=reply.status, started=perf_counter()
    )
    headers = {name.decode(): value.decode() for name, value in reply.headers}
    media_type = headers.pop("content-type")
    return Response(reply.body, status_code=reply.status, media_type=media_type, headers=headers)
