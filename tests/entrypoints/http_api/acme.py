"""A tenant called acme behind a real application over a real store, for tests that speak HTTP."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

import httpx
import msgspec
from litestar import Litestar
from litestar.testing import TestClient
from tests.stores.engine import Engine

from tenure.config import Log, RateLimit, Settings
from tenure.core.access import CreateKey
from tenure.core.identity import Moment
from tenure.engines.clock import SystemClock
from tenure.entrypoints.http_api.app import build_app
from tenure.entrypoints.http_api.request_log import open_log
from tenure.usecases.access import create_key, grants_from, local_operator
from tenure.wiring import Node

Json = dict[str, Any]

EVERY_ROLE: Final = ["writer", "reader", "reviewer", "privacy_officer", "auditor", "operator"]

UNLIMITED: Final = Settings(rate_limit=RateLimit(per_minute=0))

GRANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "bot": {"roles": ["writer", "reader"], "agents": ["support"], "purposes": ["support"]},
    "ann": {"roles": ["reviewer"]},
    "officer": {"roles": ["privacy_officer"]},
    "auditor": {"roles": ["auditor"]},
    "operator": {"roles": ["operator"]},
    "sales": {"roles": ["writer", "reader"], "agents": ["sales"], "purposes": ["sales"]},
}
"""Who works at acme. The bot and sales may leave agent and purpose out."""


class MovableClock(SystemClock):
    """The machine's clock, set forward by a test."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = timedelta()

    def now(self) -> datetime:
        """The time that the test chose."""
        return super().now() + self.ahead

    def moment(self) -> Moment:
        """That time, with a fresh id."""
        return msgspec.structs.replace(super().moment(), now=self.now())


class Acme:
    """One store, one application, and everybody's token."""

    def __init__(
        self, node: Node, clock: MovableClock, client: TestClient[Litestar], log: io.BytesIO
    ) -> None:
        self.node = node
        self.clock = clock
        self.client = client
        self.log = log
        self.tokens = {name: self.token(name, "acme", **grants) for name, grants in GRANTS.items()}

    def token(self, name: str, tenant: str, **grants: Any) -> str:
        """A fresh token of some tenant."""
        command = CreateKey(name=name, grants=grants_from(**grants))
        return create_key(self.node.pipeline, local_operator(tenant), command).token

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        who: str = "bot",
        token: str | None = None,
        key: str | None = None,
        raw: bytes | None = None,
    ) -> httpx.Response:
        """Send one request as somebody."""
        headers = {"Authorization": f"Bearer {token or self.tokens[who]}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        content = raw if raw is not None else msgspec.json.encode(body) if body is not None else None
        return self.client.request(method, path, headers=headers, content=content)

    def remember(self, content: str = "Prefers e-mail to phone", **more: object) -> Json:
        """Have the bot write one memory; gives the answer's memory."""
        answer = self.call("POST", "/v1/memories", proposal(content=content, **more))
        assert answer.status_code == 201, answer.text
        memory: Json = answer.json()["memory"]
        return memory

    def log_head(self) -> int:
        """How long acme's event log is, but for what was only read."""
        return log_head(self.node)

    def log_lines(self) -> list[Json]:
        """What the server has logged, line by line."""
        return [msgspec.json.decode(line) for line in self.log.getvalue().splitlines()]


def log_head(node: Node) -> int:
    """How long acme's event log is, but for what was only read."""
    node.store.settle()
    return sum(b'"read.answered"' not in stored.header for stored in node.store.export("acme"))


def proposal(**changes: object) -> Json:
    """A body of POST /v1/memories that is admitted, with changes; a change to None leaves the field out."""
    body: Json = {
        "subject": "customer-7",
        "kind": "preference",
        "content": "Prefers e-mail to phone",
        "source": {"type": "direct_user", "id": "message-1"},
    }
    body.update(changes)
    return {name: value for name, value in body.items() if value is not None}


def problem_code(answer: httpx.Response) -> str:
    """The stable code of a problem, once it was checked to be one (RFC 9457)."""
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["status"] == answer.status_code
    assert document["title"]
    assert document["detail"]
    prefix, _, code = document["type"].rpartition("/")
    assert prefix == "https://tenure.dev/problems"
    return str(code)


@contextmanager
def running(engine: Engine, settings: Settings = UNLIMITED) -> Iterator[Acme]:
    """Acme, open for business, on a store of some kind."""
    clock = MovableClock()
    log = io.BytesIO()
    with engine.open(clock, settings) as node:
        app = build_app(node, request_log=open_log(Log(level="debug"), log))
        with TestClient(app) as client:
            yield Acme(node, clock, client, log)
