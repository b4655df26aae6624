"""The file of forgets survives what a crash does to its end, and damage elsewhere is never passed over."""

import stat
from pathlib import Path

import pytest

from tenure.core.errors import Unavailable
from tenure.stores.sqlite.forgets import ForgetFile
from tenure.usecases.ports import StoredEvent

ONE, TWO = (("acme", StoredEvent(seq, b"{}", None, bytes(32))) for seq in (1, 2))


def test_a_line_that_a_crash_left_unfinished_is_cut_off(tmp_path: Path) -> None:
    """SPEC E5: it was never acknowledged; the next one starts where the last whole one ended."""
    file = ForgetFile(tmp_path / "forgets.jsonl")
    file.add([ONE])
    whole = (tmp_path / "forgets.jsonl").read_bytes()
    (tmp_path / "forgets.jsonl").write_bytes(whole + whole[:-5])

    assert list(file.entries()) == [ONE]
    file.add([TWO])

    assert list(file.entries()) == [ONE, TWO]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    """SPEC F11: a forget that cannot be read must not be taken for none."""
    file = ForgetFile(tmp_path / "forgets.jsonl")
    (tmp_path / "forgets.jsonl").write_bytes(b'{"tenant":"ac\n')
    file.add([TWO])

    with pytest.raises(Unavailable, match="line 1 "):
        list(file.entries())


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    """SPEC F7: it has no content, but it names who was forgotten."""
    ForgetFile(tmp_path / "forgets.jsonl").add([ONE])

    assert stat.S_IMODE((tmp_path / "forgets.jsonl").stat().st_mode) == 0o600
