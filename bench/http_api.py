"""Durable writes over HTTP: `tenure serve` in one process, 32 clients in another, on the same cores."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from bench import library
from bench.load import Answered, Asked
from bench.machine import cores
from bench.processes import processor_seconds
from bench.results import Row, middle, milliseconds, rate, share
from bench.running import ROOT, Run
from bench.stores import AGENT, PURPOSE, TENANT, Proposal, proposals

LEAVES_OUT = """\
http: `POST /v1/memories` over loopback, without TLS; the request log goes to a file, and the rate limit,
which would stop one credential at 100 a second, is off. Server and clients share the machine's cores, so
the share of a core that the clients take, printed beside the rate, is missing to the server. Rounds of
the library and of HTTP take turns."""

CLIENTS: Final = 32
LIBRARY_SHARE_MIN: Final = 0.6
READY_SECONDS_MAX: Final = 30
LOAD_SECONDS_MAX: Final = 90
LOG_CHARACTERS_MAX: Final = 1_000


class Served(NamedTuple):
    """A server that answers, and what opens it."""

    process: int
    host: str
    port: int
    token: str


class Round(NamedTuple):
    """One round of requests, and the cores' time that each side took of it."""

    answered: Answered
    server_seconds: float


def measure(run: Run) -> Iterator[Row]:
    """The library and HTTP, turn by turn, each on a fresh store."""
    mine, beside = [], []
    for turn in range(run.size(2, 1)):
        items = proposals(seed=60 + turn, count=run.size(6_000, 2_000))
        beside.append(library.callers(run, CLIENTS, items).per_second)
        mine.append(_round(run, items))
    rates = [sum(one.answered.statuses.values()) / one.answered.elapsed_seconds for one in mine]
    http, direct = middle(rates), middle(beside)
    yield Row(
        measured=f"durable write, HTTP, {CLIENTS} clients ({_latency(mine)})",
        figure=rate(http),
        beside=f"library, {CLIENTS} callers: {rate(direct)}",
        ratio=http / direct,
        target=f"≥ {LIBRARY_SHARE_MIN} × the library",
        reached=http / direct >= LIBRARY_SHARE_MIN,
        values={"per_second": http, "library_per_second": direct},
    )
    clients, server = (
        middle([one.answered.processor_seconds / one.answered.elapsed_seconds for one in mine]),
        middle([one.server_seconds / one.answered.elapsed_seconds for one in mine]),
    )
    yield Row(
        measured="HTTP: cores used by the clients",
        figure=f"{clients:.2f}",
        beside=f"by the server {server:.2f}, of {cores()}",
        values={"clients": clients, "server": server},
    )
    each = middle([one.server_seconds / len(one.answered.seconds) for one in mine])
    yield Row(
        measured="HTTP: core time of the server for one write",
        figure=milliseconds(each),
        values={"processor_seconds": each},
    )


def _latency(rounds: list[Round]) -> str:
    return f"p99 {milliseconds(share([one for each in rounds for one in each.answered.seconds], 0.99))}"


def _round(run: Run, items: list[Proposal]) -> Round:
    folder = run.fresh_folder("served")
    with served(folder) as server:
        asked = Asked(
            host=server.host,
            port=server.port,
            path="/v1/memories",
            token=server.token,
            clients=CLIENTS,
            seconds_max=2 * run.round_seconds_max,
            warming=[_body(one) for one in proposals(seed=3, count=200)],
            bodies=[_body(one) for one in items],
        )
        before = processor_seconds(server.process)
        done = subprocess.run(
            [sys.executable, "-m", "bench.load"],
            cwd=ROOT,
            check=True,
            input=msgspec.json.encode(asked),
            stdout=subprocess.PIPE,
            timeout=LOAD_SECONDS_MAX,
        )
        used = processor_seconds(server.process) - before
    answered = msgspec.json.decode(done.stdout, type=Answered)
    if set(answered.statuses) != {201}:
        raise AssertionError(f"not every write was answered with 201: {answered.statuses}")
    # The warm-up took its part of the server's time.
    done_of_all = len(answered.seconds) / (len(answered.seconds) + len(asked.warming))
    return Round(answered, used * done_of_all)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Served]:
    """`tenure serve` on a free port over a fresh store, with one credential; ended in order."""
    environment = {**os.environ, "TENURE_RATE_LIMIT__PER_MINUTE": "0"}
    data = folder / "data"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [_tenure(), "serve", "--data", str(data), "--port", "0", "--json"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            place = urlsplit(str(_said(process, folder / "log")["url"]))
            yield Served(process.pid, place.hostname or "", place.port or 0, _token(data))
        finally:
            process.terminate()
            try:
                process.wait(READY_SECONDS_MAX)
            finally:
                process.kill()


def _said(process: "subprocess.Popen[bytes]", log: Path) -> dict[str, object]:
    """What the server says once it answers."""
    if process.stdout is None:
        raise AssertionError("the process was given a pipe")
    said = b""
    started = time.perf_counter()
    while time.perf_counter() - started < READY_SECONDS_MAX:
        line = process.stdout.readline()
        said += line
        with contextlib.suppress(json.JSONDecodeError):
            answer: dict[str, object] = json.loads(said)
            return answer
        if not line:
            break
    ends_with = log.read_text("utf-8", errors="replace")[-LOG_CHARACTERS_MAX:]
    raise RuntimeError(f"`tenure serve` did not begin to answer; its log ends with: {ends_with}")


def _token(data: Path) -> str:
    """A credential that may write as an application."""
    command = [
        _tenure(), "key", "create", "--data", str(data), "--json", "--tenant", TENANT, "--name", "bench",
        "--role", "writer", "--role", "reader", "--source-type", "application",
    ]  # fmt: skip
    done = subprocess.run(command, check=True, capture_output=True, timeout=READY_SECONDS_MAX)
    return str(json.loads(done.stdout)["token"])


def _tenure() -> str:
    """The command that stands beside this interpreter."""
    return str(Path(sys.executable).with_name("tenure"))


def _body(one: Proposal) -> str:
    return json.dumps(
        {
            "agent": AGENT,
            "purpose": PURPOSE,
            "subject": one.subject,
            "kind": "fact",
            "content": one.content,
            "source": {"type": "application", "id": one.source_id},
        }
    )
