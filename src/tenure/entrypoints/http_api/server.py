"""Serving the application with uvicorn: one process, one store, background rounds, an orderly end."""

import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Final

import uvicorn
from structlog.typing import FilteringBoundLogger

from tenure.core.errors import Unavailable
from tenure.entrypoints.embedding_thread import LOOKS_SECONDS, PAUSE_SECONDS, EmbeddingThread
from tenure.entrypoints.http_api.app import build_app
from tenure.entrypoints.http_api.metrics import Metrics
from tenure.entrypoints.http_api.request_log import open_process_log, place
from tenure.entrypoints.rounds_thread import RoundsThread
from tenure.entrypoints.upkeep_thread import UpkeepThread
from tenure.usecases.embedding import Embedded
from tenure.usecases.upkeep import Worked
from tenure.wiring import Node

SHUTDOWN_SECONDS_MAX: Final = 10
_BACKLOG_CONNECTIONS: Final = 2_048


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server now answers, and how to end it from another thread."""

    host: str
    port: int
    stop: Callable[[], None]


def serve(
    node: Node,
    *,
    host: str,
    port: int,
    on_listening: Callable[[Listening], None] | None = None,
    request_log: FilteringBoundLogger | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM or ``Listening.stop``; what was accepted is answered first.

    Prints nothing. Raises Unavailable when the address cannot be listened on. Port 0 takes any free one, and
    ``on_listening`` is told which.
    """
    log = request_log or open_process_log(node.settings.log, sys.stderr.buffer)
    listener, metrics = _listen(host, port), Metrics()
    config = uvicorn.Config(
        build_app(node, request_log=log, metrics=metrics),
        access_log=False,
        log_config=None,
        log_level="critical",
        lifespan="on",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS_MAX,
    )
    server = _Server(config, lambda: _announce(server, listener, on_listening))
    threads: list[RoundsThread] = [
        _rounds(node, log, metrics),
        *_embedding_rounds(node, log, metrics),
    ]
    for thread in threads:
        thread.start()
    try:
        server.run(sockets=[listener])
    finally:
        for thread in threads:
            thread.stop()
        listener.close()


def _rounds(node: Node, log: FilteringBoundLogger, metrics: Metrics) -> UpkeepThread:
    upkeep = node.settings.upkeep

    def on_failure(fault: Exception) -> None:
        metrics.upkeep_failed()
        log.error("upkeep failed", error=type(fault).__name__, at=place(fault))

    def on_worked(worked: Worked) -> None:
        metrics.upkeep_worked(worked)
        if worked.failed:
            log.error("a worker of upkeep failed", worker=worked.worker)

    return UpkeepThread(
        node.pipeline,
        interval_seconds=upkeep.interval_seconds,
        batch_size=upkeep.batch_size,
        watcher=node.watcher,
        messenger=node.messenger,
        on_round=lambda _round: metrics.upkeep_done(),
        on_failure=on_failure,
        on_worked=on_worked,
    )


def _embedding_rounds(node: Node, log: FilteringBoundLogger, metrics: Metrics) -> list[EmbeddingThread]:
    """The thread that embeds what has no vector, unless no engine is set."""
    if node.embedding is None:
        return []

    def on_round(done: Embedded) -> None:
        metrics.embedded(done.embedded)
        if done.failure is not None:
            metrics.embedding_failed()
            log.warning("embedding failed", because=done.failure)

    def on_failure(fault: Exception) -> None:
        metrics.embedding_failed()
        log.error("embedding failed", error=type(fault).__name__, at=place(fault))

    pause = LOOKS_SECONDS if node.embedding.is_immediate else PAUSE_SECONDS
    return [EmbeddingThread(node.embedding, pause_seconds=pause, on_round=on_round, on_failure=on_failure)]


class _Server(uvicorn.Server):
    """A server that says when it has begun to answer."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_so = announce

    def handle_exit(self, sig: int, _frame: FrameType | None) -> None:
        """End in order and let the caller go on; uvicorn would send itself the signal again and die."""
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, then say so."""
        await super().startup(sockets)
        if self.started:
            self._say_so()


def _announce(
    server: uvicorn.Server, listener: socket.socket, on_listening: Callable[[Listening], None] | None
) -> None:
    if on_listening is None:
        return

    def stop() -> None:
        server.should_exit = True

    host, port = listener.getsockname()[:2]
    on_listening(Listening(host, port, stop))


def _listen(host: str, port: int) -> socket.socket:
    """Take the address now, so that an address in use is an error of ours and not an exit."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG_CONNECTIONS)
    except (OSError, OverflowError) as fault:
        because = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise Unavailable(
            f"cannot listen on {host} port {port}: {because}",
            hint="Stop what uses the port, or choose another with --port.",
        ) from fault
