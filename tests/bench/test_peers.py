"""The line protocol that peers speak, held with Tenure as the peer; and what becomes of one that fails."""

import sys
from pathlib import Path

import pytest
from bench.peers import environments, measuring, work
from bench.peers.measuring import Sizes
from bench.peers.running import PeerFailed, Running
from bench.recall import conversations

TINY = Sizes(None, 90, 10, 20, 30.0, 6, 1, 10)


@pytest.fixture
def given(tmp_path: Path) -> measuring.Task:
    """A little work, written where a peer finds it; vectors that say nothing, for Tenure makes its own."""
    told = conversations.made_up(3, conversations=1, turns=30, questions=6)
    made = measuring.task(told, TINY)
    vectors = bytes(4 * (len(made.memories) + len(made.questions)))
    work.written(tmp_path, made.memories, made.questions, vectors)
    return made


def test_the_work_has_the_conversations_behind_texts_of_others(given: measuring.Task) -> None:
    """So many memories as were asked for, every id once, all evidence among them."""
    ids = [memory.id for memory in given.memories]

    assert len(ids) == len(set(ids)) == 90
    assert {turn for evidence in given.evidence for turn in evidence} <= set(ids[60:])


def test_tenure_does_the_work_of_a_peer_and_loses_nothing_to_a_kill(
    given: measuring.Task, tmp_path: Path
) -> None:
    """Adds, recalls with known answers, a kill -9, and every acknowledged write is there again (SPEC E5)."""
    found = measuring.measure("tenure", Path(sys.executable), tmp_path, given, TINY)

    assert (found.memories, found.add_errors, found.find_errors) == (90, {}, {})
    assert found.recall_at_10 > 0.5
    assert found.acknowledged >= 10
    assert found.lost == 0


def test_a_peer_that_cannot_start_says_why(given: measuring.Task, tmp_path: Path) -> None:
    """Its last words are in the error, so that it is reported and not left out in silence."""
    assert given.memories
    with pytest.raises(PeerFailed, match="No module named"):
        Running("no_such_peer", Path(sys.executable), work=tmp_path, store=tmp_path / "store")


def test_an_environment_that_cannot_be_made_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installer's last lines are in the error; what was made of the same list is taken as it is."""
    installer = tmp_path / "python"
    installer.write_text("#!/bin/sh\necho no room left >&2\nexit 3\n")
    installer.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(installer))
    monkeypatch.setattr(environments, "REQUIREMENTS", tmp_path)
    (tmp_path / "mem.txt").write_text("mem==1\n")
    place = tmp_path / "made" / "mem"

    with pytest.raises(environments.NotInstalled, match="no room left"):
        environments.interpreter("mem", tmp_path / "made")
    place.mkdir(parents=True)
    (place / environments.MADE_OF).write_text("mem==1\n")

    assert environments.interpreter("mem", tmp_path / "made") == place / "bin" / "python"
    assert environments.interpreter("tenure", tmp_path) == installer


def test_calls_stop_when_the_time_is_up_and_count_what_failed() -> None:
    """Errors are counted by their names and cost no time in the figures."""

    def call(number: int) -> None:
        if number == 2:
            raise KeyError(number)

    done = work.timed(2, call, [1, 2, 3])

    assert (len(done.seconds), done.taken, done.errors) == (2, 3, {"KeyError": 1})
    assert work.timed(1, call, [1, 2, 3], seconds_max=0.0).taken == 0
