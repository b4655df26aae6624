"""`tenure serve`: the API, the workers and the control socket in one process (SPEC S1).

Over a database it is one node of any number, without a control socket: commands open the database too.
"""

import os
import signal
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from tenure.core.errors import Unavailable
from tenure.entrypoints.cli import driver_log, options
from tenure.entrypoints.cli.output import say
from tenure.entrypoints.replies import EXIT_FINE

if TYPE_CHECKING:
    from tenure.wiring import Node

BOOTSTRAP_TENANT: Final = "default"
BOOTSTRAP_KEY_NAME: Final = "bootstrap"
BOOTSTRAP_FILE: Final = "bootstrap-key"
BOOTSTRAP_LEASE: Final = "bootstrap"
BOOTSTRAP_LEASE_SECONDS: Final = 30.0
"""Longer than making the key can take: a database that does not answer is given up before."""
BOOTSTRAP_POLL_SECONDS: Final = 0.1


def serve(
    *,
    data: options.Data = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="Address to listen on. [default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="PORT", help="Port; 0 takes any free one. [default: 8080]"),
    ] = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Serve the HTTP API until it is stopped.

    A fresh store is set up, with an operator's key in the data folder. Any number of servers may share a
    database.
    """
    from tenure.entrypoints.http_api.request_log import open_process_log, place
    from tenure.entrypoints.http_api.server import Listening
    from tenure.entrypoints.http_api.server import serve as serve_http
    from tenure.wiring import open_node

    settings = options.loaded(data, database_url, host=host, port=port).settings
    folder = Path(settings.data_dir)
    log = open_process_log(settings.log, sys.stderr.buffer)
    driver_log.pass_on(log)

    def on_fault(operation: str, fault: Exception) -> None:
        log.error("command failed", operation=operation, error=type(fault).__name__, at=place(fault))

    def commands(node: "Node") -> AbstractContextManager[object]:
        if settings.database_url is not None:
            return nullcontext()
        from tenure.entrypoints.control.server import ControlServer

        return ControlServer(node, folder, on_fault=on_fault)

    def on_listening(listening: Listening) -> None:
        _announce(listening.host, listening.port, folder, as_json=as_json)

    _stop_in_order()
    with open_node(settings) as node:
        _bootstrap(node, folder)
        with commands(node):
            serve_http(
                node,
                host=settings.server.host,
                port=settings.server.port,
                on_listening=on_listening,
                request_log=log,
            )


def _stop_in_order() -> None:
    """Make a signal end the program from inside out, so that every file is closed and the socket removed."""

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        sys.exit(EXIT_FINE)

    # The HTTP server takes both over while it runs, ends in its own order, and then raises what it was sent.
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def _announce(host: str, port: int, folder: Path, *, as_json: bool) -> None:
    """Say where everything is; the key itself is never printed."""
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    key_file = folder / BOOTSTRAP_FILE
    said = {"url": url, "data_dir": str(folder), "bootstrap_key_file": None}
    lines = [f"Tenure is listening on {url}", f"data folder   {folder}"]
    if key_file.exists():
        said["bootstrap_key_file"] = str(key_file)
        lines.append(f"operator key  {key_file}")
    say(said, lines, as_json=as_json)
    sys.stdout.flush()


def _bootstrap(node: "Node", folder: Path) -> None:
    """Give a store whose first tenant never had a key one for its operator.

    One key in all, however many nodes start at once: they take turns, and each looks first.
    """
    while not _had_a_key(node):
        if node.store.lease(BOOTSTRAP_LEASE, seconds=BOOTSTRAP_LEASE_SECONDS):
            # Whoever had its turn before may have made one after the look above.
            if not _had_a_key(node):
                _make_key(node, folder)
            node.store.lease(BOOTSTRAP_LEASE, seconds=0)
            return
        time.sleep(BOOTSTRAP_POLL_SECONDS)


def _had_a_key(node: "Node") -> bool:
    """Whether the first tenant ever had one; what was revoked counts."""
    with node.store.reading() as reading:
        return bool(reading.keys(BOOTSTRAP_TENANT))


def _make_key(node: "Node", folder: Path) -> None:
    from tenure.core.access import CreateKey
    from tenure.core.identity import Grants, Role
    from tenure.usecases.access import create_key, local_operator

    command = CreateKey(name=BOOTSTRAP_KEY_NAME, grants=Grants(roles=frozenset({Role.OPERATOR})))
    created = create_key(node.pipeline, local_operator(BOOTSTRAP_TENANT), command)
    _write_secret(folder / BOOTSTRAP_FILE, created.token + "\n")


def _write_secret(path: Path, text: str) -> None:
    """Put a secret into a file that only its owner can read, from its first byte on."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as fault:
        raise Unavailable(
            f"the operator's key cannot be written to {path} ({fault.strerror})",
            hint="Make the data folder writable, then make a key with 'tenure key create'.",
        ) from None
