"""Durable reads under kill -9: whatever was answered is in the log (SPEC E2, E5)."""

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from tests.stores.engine import Engine
from tests.usecases.asking import log

from tenure.core.events import Recalled
from tenure.core.incident_events import Looked

ROOT = Path(__file__).resolve().parents[2]
SECONDS_MAX = 60.0


def answered_until_killed(engine: Engine, answers: int) -> Counter[str]:
    """Start readers, kill them after so many answers, and give back how often each read was answered."""
    command = [sys.executable, "-m", "tests.stores.crashing_reader", engine.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        watchdog = threading.Timer(SECONDS_MAX, process.kill)
        watchdog.start()
        said = [process.stdout.readline() for _ in range(answers)]
        process.kill()
        said += process.stdout.readlines()
        watchdog.cancel()
    assert process.returncode == -9, "the readers ended by themselves"
    return Counter(line.decode().rstrip("\n") for line in said if line.endswith(b"\n"))


@pytest.mark.parametrize("answers", [1, 100])
def test_no_durable_read_that_was_answered_is_lost_in_a_crash(engine: Engine, answers: int) -> None:
    """SPEC E2: killed right after an answer, the events of reads and the receipts of recalls are there."""
    answered = answered_until_killed(engine, answers)

    with engine.open() as opened:
        events = log(opened.pipeline)
    found = Counter(event.data.what for event in events if isinstance(event.data, Looked))
    found["recall"] = sum(isinstance(event.data, Recalled) for event in events)
    assert answered - found == Counter()
    assert answered.total() >= answers
