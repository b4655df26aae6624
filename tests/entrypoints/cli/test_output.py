"""What commands say goes where it belongs."""

import os
import pty
import sys
from contextlib import suppress

import pytest

from tenure.entrypoints.cli.output import columns, progress


def _all_of(terminal: int) -> str:
    """All that was written to a terminal whose other end is closed, which Linux says with an error."""
    shown = b""
    with suppress(OSError):
        while piece := os.read(terminal, 65_536):
            shown += piece
    os.close(terminal)
    return shown.decode()


def test_columns_are_aligned_and_nothing_is_cut_off() -> None:
    """SPEC S1: lines that can be searched as well as read."""
    lines = columns(("id", "name"), [("1", "x" * 300), ("22", "y")])

    assert lines == ["id  name", "1   " + "x" * 300, "22  y"]


def test_progress_says_nothing_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """SPEC S1: logs and pipes stay clean."""
    with progress("importing", unit="turns") as advance:
        advance(1, 2)

    assert capfd.readouterr() == ("", "")


def test_progress_shows_on_standard_error_where_that_is_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """SPEC S1: what is done, in its unit."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        with progress("importing", unit="turns") as advance:
            advance(50, 100, 1_234)
    shown = _all_of(ours)

    assert "importing" in shown
    assert "1,234 turns" in shown
    assert capfd.readouterr().out == ""
