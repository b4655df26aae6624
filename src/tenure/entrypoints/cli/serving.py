"""`tenure serve`: the API, the workers and the control socket in one process (SPEC S1)."""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from tenure.core.errors import Unavailable
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import say
from tenure.entrypoints.replies import EXIT_FINE

if TYPE_CHECKING:
    from tenure.wiring import Node

BOOTSTRAP_TENANT: Final = "default"
BOOTSTRAP_KEY_NAME: Final = "bootstrap"
BOOTSTRAP_FILE: Final = "bootstrap-key"


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

    A fresh data folder is set up, with an operator's key in it.
    """
    from tenure.entrypoints.control.server import ControlServer
    from tenure.entrypoints.http_api.request_log import open_process_log, place
    from tenure.entrypoints.http_api.server import Listening
    from tenure.entrypoints.http_api.server import serve as serve_http
    from tenure.wiring import open_node

    settings = options.loaded(data, database_url, host=host, port=port).settings
    folder = Path(settings.data_dir)
    log = open_process_log(settings.log, sys.stderr.buffer)

    def on_fault(operation: str, fault: Exception) -> None:
        log.error("command failed", operation=operation, error=type(fault).__name__, at=place(fault))

    def on_listening(listening: Listening) -> None:
        _announce(listening.host, listening.port, folder, as_json=as_json)

    _stop_in_order()
    with open_node(settings) as node:
        _bootstrap(node, folder)
        with ControlServer(node, folder, on_fault=on_fault):
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
    """Give a store whose first tenant has no key yet one for its operator."""
    from tenure.core.access import CreateKey
    from tenure.core.identity import Grants, Role
    from tenure.usecases.access import LIST_KEYS, ListKeys, create_key, local_operator

    operator = local_operator(BOOTSTRAP_TENANT)
    if node.pipeline.run(LIST_KEYS, operator, ListKeys()):
        return
    command = CreateKey(name=BOOTSTRAP_KEY_NAME, grants=Grants(roles=frozenset({Role.OPERATOR})))
    created = create_key(node.pipeline, operator, command)
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
