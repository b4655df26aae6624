"""The story of a proxy, as docs/truth.md tells it: every row of its table happens (SPEC T1-T6, L10)."""

import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.clock import MovableClock
from tests.usecases.asking import BOT, REVIEWER, TENANT, caller, question, source, written

from tenure.config import Probes, Settings
from tenure.core.identity import Role, SourceType
from tenure.core.memory import Memory
from tenure.core.resolving import Resolve
from tenure.core.retrieval import Item
from tenure.core.vocabulary import Claim, Status, Trust
from tenure.usecases.alerts import READ_ALERTS, ReadAlerts
from tenure.usecases.contradictions import CONTRADICTIONS, RESOLVE, ListContradictions
from tenure.usecases.reading import GET, Get
from tenure.usecases.recall_probing import recall
from tenure.usecases.upkeep import upkeep_round
from tenure.wiring import Node, open_store

COPIES = 20
OPERATOR = caller(Role.OPERATOR, Role.REVIEWER, name="olga")


def march(day: int) -> datetime:
    """Noon of a day of the story."""
    return datetime(2031, 3, day, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> MovableClock:
    """It stands at noon on 2 March."""
    return MovableClock(march(2))


@pytest.fixture
def edge() -> Iterator[socket.socket]:
    """The port of the proxy, open until somebody closes it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def node(tmp_path: Path, clock: MovableClock) -> Iterator[Node]:
    """A store of an operator who lets the shop's tenant look at ports of this machine."""
    probes = Probes(
        allow=(f"{TENANT} tcp://127.0.0.1:1024-65535",), open_networks=("127.0.0.1/32",), cache_seconds=0
    )
    with open_store(tmp_path, settings=Settings(probes=probes), clock=clock) as opened:
        yield opened


def proxy(value: str) -> Claim:
    """What the shop's proxy is said to be."""
    return Claim(entity="shop", attribute="proxy", value=value)


def shown(node: Node, **sides: Any) -> Item:
    """The one memory that a recall shows."""
    (item,) = recall(node.pipeline, BOT, question("what is the shop's proxy?", **sides)).items
    return item


def now(node: Node, memory: Memory) -> Memory:
    """A memory as a reviewer sees it now."""
    return node.pipeline.run(GET, REVIEWER, Get(memory_id=memory.id))


def until(clock: MovableClock, day: int) -> None:
    """It is noon on that day."""
    clock.pass_time(seconds=(march(day) - clock.now()).total_seconds())


def decays(node: Node, clock: MovableClock, port: int) -> Memory:
    """Of 2 March; ten days later it carries its banner."""
    nginx = written(
        node.pipeline,
        f"The shop's proxy is nginx. The proxy is at 127.0.0.1:{port}.",
        claim=proxy("nginx"),
        source=source(id_="deployments"),
    )
    assert nginx.trust is Trust.APPLICATION_VERIFIED
    assert (shown(node).freshness, shown(node).stale) == (1.0, False)

    until(clock, 12)
    decayed = shown(node)
    assert (round(decayed.freshness, 2), decayed.stale) == (0.61, True)
    assert decayed.banner == (
        "Written 2031-03-02 (10 days ago), source application. It may no longer be true: verify it before "
        "acting on it."
    )
    return nginx


def is_probed(node: Node, clock: MovableClock, edge: socket.socket, nginx: Memory) -> None:
    """On the 18th the port is closed, which a recall notices that looks."""
    until(clock, 18)
    holds = shown(node, probe=True)
    assert holds.probe is not None
    assert holds.probe.outcome == "holds"
    edge.close()
    unlooked = shown(node)
    assert (round(unlooked.freshness, 2), unlooked.probe) == (0.45, None)
    refused = shown(node, probe=True)
    assert refused.memory.id == nginx.id
    assert refused.probe is not None
    assert refused.probe.outcome == "fails"
    assert "do not act on this" in refused.probe.note.lower()
    told = node.pipeline.run(READ_ALERTS, OPERATOR, ReadAlerts()).items
    assert [alert.kind for alert in told] == ["probe_failed"]


def is_contradicted(node: Node, clock: MovableClock, nginx: Memory) -> None:
    """A wiki page and its copies say otherwise, and wait."""
    until(clock, 19)
    crowd = [
        written(
            node.pipeline,
            "The shop's proxy is Envoy",
            claim=proxy("Envoy"),
            source=source(SourceType.WEB, f"page-{number}"),
        )
        for number in range(COPIES)
    ]
    assert {one.status for one in crowd} == {Status.QUARANTINED}
    assert now(node, nginx).status is Status.ACTIVE
    crowded = shown(node)
    assert crowded.memory.id == nginx.id
    assert f"and {COPIES - 3} more" in (crowded.note or "")


def is_corrected(node: Node, clock: MovableClock, nginx: Memory) -> Memory:
    """The deployment tool says what has been true since the 18th."""
    until(clock, 20)
    caddy = written(
        node.pipeline,
        "The shop's proxy is Caddy",
        claim=proxy("Caddy"),
        source=source(id_="deployments"),
        valid_from=march(18),
    )
    corrected = now(node, nginx)
    assert (corrected.status, corrected.superseded_by) == (Status.SUPERSEDED, caddy.id)
    assert corrected.valid_to == march(18)
    today = shown(node)
    assert (today.memory.id, str(nginx.id) in (today.note or "")) == (caddy.id, True)
    upkeep_round(node.pipeline, batch_size=100)
    assert shown(node).memory.id == caddy.id
    return caddy


def is_decided(node: Node, clock: MovableClock, nginx: Memory, caddy: Memory) -> None:
    """A reviewer keeps Caddy."""
    until(clock, 21)
    every = node.pipeline.run(CONTRADICTIONS, REVIEWER, ListContradictions(limit=100)).items
    (between,) = [one for one in every if {one.believed.id, one.doubted.id} == {nginx.id, caddy.id}]
    node.pipeline.run(
        RESOLVE,
        REVIEWER,
        Resolve(
            contradiction_id=between.id,
            keep=caddy.id,
            reason="The change was announced in the operations channel",
        ),
    )
    assert str(nginx.id) not in (shown(node).note or "")


def test_the_proxy_of_the_shop(node: Node, clock: MovableClock, edge: socket.socket) -> None:
    """SPEC T1-T6, L10: written, decayed, bannered, probed, contradicted, corrected, asked about."""
    nginx = decays(node, clock, edge.getsockname()[1])
    is_probed(node, clock, edge, nginx)
    is_contradicted(node, clock, nginx)
    caddy = is_corrected(node, clock, nginx)
    is_decided(node, clock, nginx, caddy)

    until(clock, 25)
    asked: list[tuple[dict[str, Any], Memory]] = [
        ({}, caddy),
        ({"as_of": march(15)}, nginx),
        ({"as_of": march(19)}, nginx),
        ({"valid_at": march(10)}, nginx),
        ({"valid_at": march(19)}, caddy),
        ({"as_of": march(19), "valid_at": march(19)}, nginx),
    ]
    assert [shown(node, **sides).memory.id for sides, _ in asked] == [memory.id for _, memory in asked]
