"""Probes as an operator allows them, against real servers on this machine (SPEC T6, S3)."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from tests.clock import MovableClock
from tests.engines.probing.talker import Talker, talker, with_status
from tests.usecases.asking import BOT, question, written

from tenure.config import ConfigError, Probes, Settings
from tenure.core.probe_advice import Advice, ProbeOutcome
from tenure.core.vocabulary import Claim
from tenure.usecases.recall_probing import recall
from tenure.wiring import Node, open_store

HERE = ("127.0.0.1/32",)


@pytest.fixture
def server() -> Iterator[Talker]:
    """A server on this machine."""
    with talker() as it:
        yield it


def opened(folder: Path, clock: MovableClock, **allowed: object) -> Node:
    """A store of an operator who allowed this."""
    return open_store(folder, settings=Settings(probes=Probes(**allowed)), clock=clock)  # type: ignore[arg-type]


def looked(node: Node, clock: MovableClock, attribute: str, value: str) -> Advice:
    """What a recall says of a stale memory that claims this."""
    written(node.pipeline, "It is where it was", claim=Claim(entity="shop", attribute=attribute, value=value))
    clock.pass_time(days=8)
    (item,) = recall(node.pipeline, BOT, question("where is it?", probe=True)).items
    assert item.probe is not None
    return item.probe


@pytest.mark.parametrize(
    ("status", "outcome", "note"),
    [
        ("200 OK", ProbeOutcome.HOLDS, "the address answers"),
        ("404 Gone", ProbeOutcome.FAILS, "it does not exist"),
        ("401 Who", ProbeOutcome.UNKNOWN, "asks for more"),
    ],
)
def test_an_address_on_the_web_is_asked(
    tmp_path: Path, server: Talker, status: str, outcome: ProbeOutcome, note: str
) -> None:
    """SPEC T6: where it was allowed, the private network opened by its numbers."""
    clock = MovableClock()
    server.says = lambda _request: [with_status(status)]

    with opened(tmp_path, clock, allow=(f"acme {server.url}",), open_networks=HERE) as node:
        advice = looked(node, clock, "url", f"{server.url}/health")

    assert (advice.outcome, note in advice.note) == (outcome, True)
    assert server.got[0].startswith(b"HEAD /health HTTP/1.1\r\n")


def test_a_network_that_is_not_opened_is_not_reached_whatever_the_rule_says(
    tmp_path: Path, server: Talker
) -> None:
    """SPEC T6: a rule allows a name, and never an address inside."""
    clock = MovableClock()

    with opened(tmp_path, clock, allow=(f"acme {server.url}",)) as node:
        advice = looked(node, clock, "url", f"{server.url}/health")

    assert advice.outcome is ProbeOutcome.UNKNOWN
    assert server.got == []


def test_a_redirect_to_the_inside_is_not_followed(tmp_path: Path, server: Talker) -> None:
    """SPEC T6: neither to what clouds answer on, nor to what the tenant may not look at."""
    clock = MovableClock()
    server.says = lambda _request: [with_status("302 Found", "Location: http://169.254.169.254/latest/")]

    with opened(tmp_path, clock, allow=(f"* {server.url}",), open_networks=HERE) as node:
        advice = looked(node, clock, "url", server.url)

    assert advice.outcome is ProbeOutcome.UNKNOWN
    assert "leads to where looking is not allowed" in advice.note


def test_a_slow_server_holds_a_recall_up_no_longer_than_is_set(tmp_path: Path, server: Talker) -> None:
    """SPEC T6: time-boxed; no answer in time is a failure."""
    clock = MovableClock()
    over = threading.Event()

    def slowly(_request: bytes) -> Iterator[bytes]:
        over.wait(10)
        yield b""

    server.says = slowly
    limits = {"seconds_max": 0.2, "all_seconds_max": 0.3}
    with opened(tmp_path, clock, allow=(f"acme {server.url}",), open_networks=HERE, **limits) as node:
        began = monotonic()
        advice = looked(node, clock, "url", server.url)
        seconds = monotonic() - began
    over.set()

    assert advice.outcome is ProbeOutcome.FAILS
    assert seconds < 5


def test_a_port_that_refuses_fails_and_one_that_takes_connections_holds(
    tmp_path: Path, server: Talker
) -> None:
    """SPEC T6: the story of the proxy that was switched off."""
    clock = MovableClock()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        rules = ("acme tcp://127.0.0.1:1024-65535",)
        with opened(tmp_path / "a", clock, allow=rules, open_networks=HERE) as node:
            refused = looked(node, clock, "address", f"127.0.0.1:{port}")
        with opened(tmp_path / "b", clock, allow=rules, open_networks=HERE) as node:
            taken = looked(node, clock, "address", f"127.0.0.1:{server.port}")

    assert refused.outcome is ProbeOutcome.FAILS
    assert "the connection was refused" in refused.note
    assert taken.outcome is ProbeOutcome.HOLDS


def test_a_file_is_looked_for_in_its_root(tmp_path: Path) -> None:
    """SPEC T6: it exists or does not, and is not opened."""
    clock, root = MovableClock(), tmp_path / "etc"
    root.mkdir()

    with opened(tmp_path / "store", clock, allow=(f"acme file:{root}/*",), roots=(str(root),)) as node:
        advice = looked(node, clock, "configuration", f"{root}/nginx.conf")

    assert advice.outcome is ProbeOutcome.FAILS


def test_without_the_packages_for_flags_a_rule_about_them_is_a_mistake_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S3: said at the start, with what to install; the folder is given back."""
    for name in {"openfeature", *(one for one in sys.modules if one.startswith("openfeature."))}:
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(ConfigError, match=r"probes\.allow: .*pip install 'tenure\[flags\]'"):
        opened(tmp_path, MovableClock(), allow=("acme flag:*",))
    with opened(tmp_path, MovableClock()) as node:
        assert node.pipeline.probes is None


def test_a_prober_that_nobody_installed_is_a_mistake_in_the_settings(tmp_path: Path) -> None:
    """SPEC S3: never silently without."""
    with pytest.raises(ConfigError, match=r"probes\.plugins: no installed package has 'house'"):
        opened(tmp_path, MovableClock(), allow=("acme dns:a.example",), plugins=("house",))


def test_probes_that_are_off_load_and_start_nothing(tmp_path: Path) -> None:
    """SPEC T8: a store that allows nothing opens, writes and recalls as if there were no probes."""
    program = f"""
import sys, threading
from tests.usecases.asking import BOT, proposal, question
from tenure.usecases.recall_probing import recall
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.upkeep import upkeep_round
from tenure.wiring import open_store
with open_store({str(tmp_path / "store")!r}) as node:
    upkeep_round(node.pipeline, batch_size=10)
    node.pipeline.run(REMEMBER, BOT, proposal())
    assert recall(node.pipeline, BOT, question()).items
    assert recall(node.pipeline, BOT, question(probe=True)).without == ("probes",)
loaded = [
    name for name in sys.modules
    if name.startswith(("tenure.engines.probing", "tenure.core.probe_", "tenure.core.probing", "openfeature"))
    or name in ("tenure.usecases.probing", "tenure.usecases.looking")
]
print(sorted(loaded), [one.name for one in threading.enumerate() if "probe" in one.name])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert done.stdout.split("\n")[0] == "['tenure.core.probe_advice', 'tenure.core.probe_alerts'] []"
