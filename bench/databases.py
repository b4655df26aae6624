"""Throw-away PostgreSQL servers for measurements, the ones that the tests use, and nodes over them."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.postgres.processes import children
from tests.postgres.server import PostgresServer

from bench.processes import processor_seconds
from bench.running import Run
from tenure import Tenure
from tenure.config import Settings

SHARED_BUFFERS: Final = {"shared_buffers": "256MB"}
"""A quarter of a small machine's memory, as PostgreSQL's manual advises."""
PLAIN: Final = "sslmode=disable&gssencmode=disable"


@contextlib.contextmanager
def server(place: Path, settings: Mapping[str, str]) -> Iterator[PostgresServer]:
    """A server of this measurement's own, in a place, which goes with its data at the end."""
    with PostgresServer(settings={**SHARED_BUFFERS, **settings}, place=place) as running:
        yield running


def node(run: Run, running: PostgresServer, database: str, *, port: int | None = None) -> Tenure:
    """One node over a database, by way of another port if that is given."""
    return node_in(run.fresh_folder("node"), running, database, port=port)


def node_in(folder: Path, running: PostgresServer, database: str, *, port: int | None = None) -> Tenure:
    """One node whose root key lies in this folder, so that it can be opened again."""
    url = running.url(database).replace(f":{running.port}/", f":{port or running.port}/")
    return Tenure.open(f"{url}?{PLAIN}", settings=Settings(data_dir=str(folder)))


def server_seconds(running: PostgresServer) -> float:
    """How long the server's processes that run now have been on a core."""
    return sum(processor_seconds(process) for process in (running.pid, *children(running.pid)))
