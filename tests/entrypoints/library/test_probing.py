"""Recalls that have what stale memories name looked at, from a session and from a client (SPEC S1, T6)."""

from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest
from tests.clock import MovableClock
from tests.engines.probing.talker import Talker, talker, with_status
from tests.entrypoints.http_api.acme import UNLIMITED
from tests.entrypoints.http_api.live import serving
from tests.entrypoints.library.client_stage import KINDS, opened, token_of
from tests.stores.engine import Engine

from tenure import Source, Tenure
from tenure.config import Probes, Settings
from tenure.core.probe_advice import ProbeOutcome

WHERE = ("acme", "support", "support", "customer-7")


@pytest.fixture
def server() -> Iterator[Talker]:
    """A server on this machine, on which nothing is found."""
    with talker() as it:
        it.says = lambda _request: [with_status("404 Gone")]
        yield it


def allowing(server: Talker) -> Settings:
    """The settings of an operator who allows acme that server."""
    probes = Probes(allow=(f"acme {server.url}",), open_networks=("127.0.0.1/32",))
    return msgspec.structs.replace(UNLIMITED, probes=probes)


def test_a_session_has_it_looked_at(engine: Engine, server: Talker) -> None:
    """SPEC T6: the mark is beside the memory and in the context."""
    clock = MovableClock()
    with Tenure(engine.open(clock, allowing(server))) as store:
        bot = store.session(*WHERE)
        bot.remember(f"The docs are at {server.url}/.", kind="fact", source=Source.application("crm-1"))
        clock.pass_time(days=8)

        plain, found = bot.recall("the docs"), bot.recall("the docs", probe=True)

    assert plain.items[0].probe is None
    assert found.items[0].probe is not None
    assert found.items[0].probe.outcome is ProbeOutcome.FAILS
    assert found.items[0].probe.note in found.context


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_has_it_looked_at(engine: Engine, server: Talker, kind: str) -> None:
    """SPEC T6: the same over HTTP."""
    with serving(engine, allowing(server)) as live:
        token = token_of(live, "bot", "writer", "reader")
        with opened(kind, live.url, token, subject="customer-7") as bot:
            bot.remember(f"The docs are at {server.url}/.", kind="fact", source=Source.application("crm-1"))
            live.node.pipeline.clock.ahead = timedelta(days=8)  # type: ignore[attr-defined]

            found = bot.recall("the docs", probe=True)

    assert found.items[0].probe is not None
    assert found.items[0].probe.outcome is ProbeOutcome.FAILS
    assert found.items[0].probe.note in found.context
