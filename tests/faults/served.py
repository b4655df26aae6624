"""Nodes that are processes of their own: `tenure serve` over one database, spoken to over HTTP."""

import base64
import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import httpx
import msgspec
import psycopg
from tests.cluster.writers import Writers
from tests.faults.nodes import (
    ROOT_KEY,
    Acknowledged,
    running,
    unavailable_says_so,
    writers_through,
)
from tests.faults.nodes import assert_all_there_once as all_there_once_in
from tests.postgres.waiting import wait_until
from tests.usecases.asking import AGENT, PURPOSE, SUBJECT

from tenure.core.access import CreateKey
from tenure.core.errors import TenureError, Unavailable
from tenure.entrypoints.library.client_exchange import error_of
from tenure.usecases.access import create_key, grants_from, local_operator
from tenure.wiring import Node

PROGRAM: Final = str(Path(sys.executable).with_name("tenure"))
ROLES: Final = ("writer", "reader", "auditor")
SETTINGS: Final = {
    "TENURE_KEYS__KEK": base64.b64encode(ROOT_KEY).decode(),
    "TENURE_RATE_LIMIT__PER_MINUTE": "0",
    # Whoever looks at the log must not make it longer: these tests compare positions.
    "TENURE_EVIDENCE__READS": "recalls",
    "TENURE_UPKEEP__INTERVAL_SECONDS": "0.2",
}
ANSWER_SECONDS_MAX: Final = 60.0
"""Longer than a node may take; whoever must wait for so long has found a fault."""
END_SECONDS_MAX: Final = 30.0
LEASE_SECONDS_MAX: Final = 30.0
CONNECTIONS_MAX: Final = 64
PAGE: Final = 200
KEY_CHARACTERS_MAX: Final = 200

Json = dict[str, Any]
_NUMBERS: Final = itertools.count(1)


class ServedNode:
    """One node: it runs, answers, and can be killed; what it cannot do it must say as promised."""

    def __init__(self, url: str, folder: Path, tokens: dict[str, str]) -> None:
        self._command = [PROGRAM, "serve", "--database-url", url, "--data", str(folder), "--port", "0"]
        self._log = folder.with_suffix(".log")
        self._tokens = tokens
        self._was_killed = False
        limits = httpx.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX)
        self._http = httpx.Client(timeout=ANSWER_SECONDS_MAX, limits=limits, trust_env=False)
        self.start()

    def start(self) -> None:
        """Run it, and give back when it answers."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TENURE_")}
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self._command, "--json"], stdout=subprocess.PIPE, stderr=log, env=environment | SETTINGS
            )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said, self._log.read_text(encoding="utf-8")[-2_000:]
        self.url = msgspec.json.decode(said)["url"]

    def kill(self) -> None:
        """SIGKILL: it says nothing more to anybody, not even to those whom it owes an answer."""
        self._was_killed = True
        self.process.kill()
        self._end()

    def close(self) -> None:
        """End it as operators do; whatever it has been through, it still ends in order."""
        self.process.terminate()
        code = self._end()
        self._http.close()
        assert code == 0, self._log.read_text(encoding="utf-8")[-2_000:]

    def runs(self) -> bool:
        """Whether the process still lives."""
        return self.process.poll() is None

    def readiness(self) -> httpx.Response:
        """What it says of itself to a balancer."""
        return self._http.get(f"{self.url}/readyz")

    def is_ready(self) -> bool:
        """Whether it says that it can serve."""
        return self.readiness().status_code == httpx.codes.OK

    def call(
        self, tenant: str, method: str, path: str, body: object = None, *, key: str | None = None
    ) -> Any:
        """Ask it as the bot of a tenant; raises the TenureError that it answered with.

        A fault of the connection is the test's own failure, unless the node was killed: then it is an
        Unavailable too, which says whether the request may have been done.
        """
        headers = {"Authorization": f"Bearer {self._tokens[tenant]}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        try:
            answer = self._http.request(method, f"{self.url}/v1/{path}", headers=headers, json=body)
        except httpx.TransportError as fault:
            if not self._was_killed:
                raise
            raise _lost(fault) from fault
        if not answer.is_success:
            raise _told(answer)
        return answer.json()

    def remember(self, tenant: str, content: str) -> UUID:
        """Store one memory, with what its content begins with as idempotency key; gives its id."""
        body = {
            "subject": SUBJECT,
            "kind": "fact",
            "content": content,
            "source": {"type": "application", "id": "crm-1"},
        }
        answer = self.call(tenant, "POST", "memories", body, key=content[:KEY_CHARACTERS_MAX])
        return UUID(answer["memory"]["id"])

    def recalled(self, tenant: str, query: str) -> list[str]:
        """What it finds by words, in alphabetical order; what it shows beside is not."""
        body = {"query": query, "subject": SUBJECT, "explain": True}
        items = self.call(tenant, "POST", "recall", body)["items"]
        return sorted(item["memory"]["content"] for item in items if item["why"]["words"])

    def memories(self, tenant: str) -> list[Json]:
        """Every memory of a tenant."""
        found: list[Json] = []
        cursor = ""
        while True:
            page = self.call(tenant, "GET", f"memories?limit={PAGE}{cursor}")
            found += page["items"]
            if page.get("next_cursor") is None:
                return found
            cursor = f"&cursor={page['next_cursor']}"

    def positions(self, tenant: str) -> list[int]:
        """The places in the log that are taken."""
        return [entry["seq"] for entry in self.call(tenant, "GET", "log?limit=1000")["items"]]

    def _end(self) -> int:
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(END_SECONDS_MAX)


class Served:
    """Nodes over one database, each in a process of its own, and as many tenants as tests ask for."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.nodes: list[ServedNode] = []
        self._tokens: dict[str, str] = {}

    @property
    def database(self) -> str:
        """The name of the database."""
        return self.url.rpartition("/")[2]

    def tenants(self, count: int = 1) -> list[str]:
        """Fresh tenants, to each of which every node has the bot's token."""
        fresh = [f"tenant-{next(_NUMBERS)}" for _ in range(count)]
        command = CreateKey(
            name="bot", grants=grants_from(roles=list(ROLES), agents=[AGENT], purposes=[PURPOSE])
        )
        with self.looked_into() as node:
            for tenant in fresh:
                self._tokens[tenant] = create_key(node.pipeline, local_operator(tenant), command).token
        return fresh

    def add_node(self) -> ServedNode:
        """One node more; it is ended by ``close``."""
        node = ServedNode(self.url, self.folder / f"served-{len(self.nodes)}", self._tokens)
        self.nodes.append(node)
        return node

    @contextlib.contextmanager
    def looked_into(self) -> Iterator[Node]:
        """The same database through a node in this process, to see what no caller is shown."""
        with running(self.url, self.folder, count=1) as [node]:
            yield node

    def wait_until_ready(self, *, seconds_max: float) -> None:
        """Give back when every node can serve, without anybody's help."""
        for node in self.nodes:
            wait_until(node.is_ready, what="the node can serve", seconds_max=seconds_max)

    def holder(self) -> str | None:
        """Who does the rounds, by the database's word; nobody once the lease is out."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute(
                "SELECT holder FROM tenure.lease WHERE name = 'upkeep' AND held_until > now()"
            ).fetchone()
        return row[0] if row else None

    def end_lease(self) -> None:
        """Set the lease back, as if its time had passed."""
        with psycopg.connect(self.url) as connection:
            connection.execute("UPDATE tenure.lease SET held_until = now() WHERE name = 'upkeep'")

    def close(self) -> None:
        """End every node."""
        with contextlib.ExitStack() as ends:
            for node in self.nodes:
                ends.callback(node.close)


@contextlib.contextmanager
def serving(url: str, folder: Path) -> Iterator[Served]:
    """Two nodes over a database: a first, which does the rounds, and then a second."""
    folder.mkdir(exist_ok=True)
    with contextlib.closing(Served(url, folder)) as served:
        served.add_node()
        wait_until(served.holder, what="the first node does the rounds", seconds_max=LEASE_SECONDS_MAX)
        served.add_node()
        yield served


def writers_on(served: Served, acknowledged: Acknowledged) -> Writers:
    """Eight writers for each node, which turn to another node when theirs does not serve."""
    return writers_through([node.remember for node in served.nodes], acknowledged)


def assert_all_there_once(served: Served, acknowledged: Acknowledged) -> None:
    """SPEC E5, L9, S5: every node shows once what any acknowledged, and the log behind them agrees."""
    for tenant in acknowledged.tenants:
        expected = acknowledged.of(tenant)
        for node in served.nodes:
            shown = [(memory["content"], UUID(memory["id"])) for memory in node.memories(tenant)]
            assert len(dict(shown)) == len(shown)
            assert expected.items() - dict(shown).items() == set()
    with served.looked_into() as inside:
        all_there_once_in(inside, acknowledged)


def _told(answer: httpx.Response) -> TenureError:
    error = error_of(answer)
    if isinstance(error, Unavailable):
        unavailable_says_so(error)
        assert answer.status_code == error.status
        assert int(answer.headers["retry-after"]) == error.details["retry_after_seconds"]
    return error


def _lost(fault: httpx.TransportError) -> Unavailable:
    refused = isinstance(fault, httpx.ConnectError)
    return Unavailable("the node is dead" if refused else "the node died: whether it did this is unknown")
