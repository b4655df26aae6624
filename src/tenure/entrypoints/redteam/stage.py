"""What a scenario is played on: a real server on a free port, a passing store, keys for everybody.

Everything that a principal does goes over HTTP with its own key. Only the keys are made from inside, as the
machine's owner makes them with `tenure key create`, and the clock is moved from inside: sessions lie days
apart.
"""

import io
import os
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from tenure.config import Log, RateLimit, Settings
from tenure.core.access import CreateKey
from tenure.core.errors import InvalidRequest
from tenure.core.identity import Moment, SourceType
from tenure.entrypoints.http_api.request_log import open_log
from tenure.entrypoints.http_api.server import Listening, serve
from tenure.entrypoints.library.client import Client
from tenure.entrypoints.redteam.script import Principal, Scenario
from tenure.usecases.access import create_key, grants_from, local_operator
from tenure.usecases.scanning import Scanning
from tenure.wiring import Node, open_store

FIRST_MORNING: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
AGENT: Final = "assistant"
PURPOSE: Final = "work"
_STARTING: Final = threading.Lock()
ADMIN: Final = "red-team"

OPEN_POLICY: Final = """version = "open-door"

[[rules]]
name = "everything"
reason = "the gate is switched off, to see what would happen"
outcome = "approve"
trust = "application_verified"
lifetime_days = 90
when = { source_types = [
    "direct_user", "application", "email", "document", "web", "tool", "other_agent"
] }
"""

_CONFINED: Final[dict[str, Any]] = {"agents": (AGENT,), "purposes": (PURPOSE,)}
CAST: Final[dict[str, Principal]] = {
    "app": Principal(
        roles=("writer", "reader"), source_types=(SourceType.DIRECT_USER, SourceType.APPLICATION), **_CONFINED
    ),
    "bot": Principal(
        roles=("writer", "reader"), source_types=(SourceType.OTHER_AGENT,), model_driven=True, **_CONFINED
    ),
    "mail": Principal(roles=("writer",), source_types=(SourceType.EMAIL,), **_CONFINED),
    "web": Principal(roles=("writer",), source_types=(SourceType.WEB,), **_CONFINED),
    "docs": Principal(roles=("writer",), source_types=(SourceType.DOCUMENT,), **_CONFINED),
    "tools": Principal(roles=("writer",), source_types=(SourceType.TOOL,), **_CONFINED),
    "ann": Principal(roles=("reviewer",)),
    "officer": Principal(roles=("privacy_officer",)),
    "ops": Principal(roles=("operator",)),
    ADMIN: Principal(roles=("reviewer", "auditor", "operator")),
}
"""Who works everywhere; a scenario may name others, and may redefine these."""


class StageClock:
    """A clock that stands still until it is moved; ids follow its time and their order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = FIRST_MORNING
        self._drawn = 0

    def move(self, by: timedelta) -> None:
        """Let time pass."""
        with self._lock:
            self._now += by

    def now(self) -> datetime:
        """The stage's time."""
        return self._now

    def moment(self) -> Moment:
        """The stage's time, with one fresh id of version 7."""
        with self._lock:
            self._drawn += 1
            drawn = self._drawn
        milliseconds = int(self._now.timestamp() * 1_000)
        return Moment(now=self._now, fresh_id=UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62 | drawn))

    def secret(self, size_bytes: int) -> bytes:
        """Unguessable bytes, here as anywhere."""
        return os.urandom(size_bytes)


class Stage:
    """One server for one scenario; the attack and its twin have tenants of their own on it."""

    def __init__(self, node: Node, clock: StageClock, url: str, scenario: Scenario) -> None:
        self.clock = clock
        self._node = node
        self._url = url
        self._cast = CAST | scenario.principals
        self._clients: dict[tuple[str, str, str | None], Client] = {}

    def principal(self, who: str) -> Principal:
        """Who that is; raises InvalidRequest for nobody."""
        if who not in self._cast:
            raise InvalidRequest(
                f"nobody is called {who}", field="scenario", hint=f"There are: {', '.join(self._cast)}."
            )
        return self._cast[who]

    def client(self, run: str, who: str, tenant: str | None = None) -> Client:
        """The principal's client; its key is made when it first acts. A run has tenants of its own."""
        place = (run, who, tenant)
        if place not in self._clients:
            one = self.principal(who)
            grants = grants_from(
                roles=list(one.roles),
                agents=list(one.agents) if one.agents is not None else None,
                purposes=list(one.purposes) if one.purposes is not None else None,
                subjects=list(one.subjects) if one.subjects is not None else None,
                source_types=list(one.source_types) if one.source_types is not None else None,
                model_driven=one.model_driven,
            )
            caller = local_operator(f"{run}-{tenant or one.tenant}")
            token = create_key(self._node.pipeline, caller, CreateKey(name=who, grants=grants)).token
            self._clients[place] = Client(
                self._url,
                token,
                one.agent or _only(one.agents) or AGENT,
                one.purpose or _only(one.purposes) or PURPOSE,
            )
        return self._clients[place]

    def close(self) -> None:
        """Hang up for everybody."""
        for client in self._clients.values():
            client.close()


def _only(names: tuple[str, ...] | None) -> str | None:
    return names[0] if names else None


@contextmanager
def staged(
    scenario: Scenario, folder: Path, *, gate: bool = True, policy: Path | None = None
) -> Iterator[Stage]:
    """A stage for as long as the block runs; without the gate everything is let in and no tool is guarded."""
    clock = StageClock()
    if not gate:
        policy = folder / "open.toml"
        policy.write_text(OPEN_POLICY, encoding="utf-8")
    settings = Settings(
        rate_limit=RateLimit(per_minute=scenario.calls_per_minute if gate else 0),
        tools=scenario.tools if gate else {},
        policy_file=str(policy) if policy is not None else None,
    )
    with ExitStack() as undo:
        node = undo.enter_context(open_store(folder / "store", settings=settings, clock=clock))
        if not gate:
            node.pipeline.scanning = Scanning(())
        listening = undo.enter_context(_served(node))
        stage = Stage(node, clock, f"http://{listening.host}:{listening.port}", scenario)
        undo.callback(stage.close)
        yield stage


@contextmanager
def _served(node: Node) -> Iterator[Listening]:
    """The node behind a port of this machine; what it would log goes nowhere."""
    listening: Future[Listening] = Future()
    log = open_log(Log(level="error"), io.BytesIO())
    with ThreadPoolExecutor(1) as thread:
        # The framework imports parts of itself when an application is made, which two threads must not do.
        with _STARTING:
            served = thread.submit(
                serve, node, host="127.0.0.1", port=0, on_listening=listening.set_result, request_log=log
            )
            either: list[Future[Any]] = [listening, served]
            wait(either, return_when=FIRST_COMPLETED)
        if served.done():
            served.result()
        try:
            yield listening.result()
        finally:
            listening.result().stop()
            served.result()
