"""The folder outside: whole files, never written twice, and no fault that stops anything (SPEC E2)."""

import logging
from pathlib import Path

import pytest

from tenure.engines.checkpoint_folder import CheckpointFolder

NOTE = "tenure.example/acme\n7\nAAAA\n\n\u2014 tenure.example/acme AAAA\n"


def test_a_note_is_one_file_under_its_tenant_and_size(tmp_path: Path) -> None:
    """SPEC E2: the folder is made where it is missing, and nothing else is left in it."""
    place = CheckpointFolder(tmp_path / "outside")

    assert place.put("acme", 7, NOTE)
    assert place.put("acme", 12, "later")

    files = {path.name: path.read_text("utf-8") for path in (tmp_path / "outside" / "acme").iterdir()}
    assert files == {"00000000000000000007.note": NOTE, "00000000000000000012.note": "later"}


@pytest.mark.parametrize("tenant", ["..", "a/b", "x y", "über", "a" * 256, "ü" * 256, "%2E%2E"])
def test_whatever_a_tenant_is_called_its_notes_stay_inside(tmp_path: Path, tenant: str) -> None:
    """SPEC M2: one folder of its own, inside the one that was named."""
    place = CheckpointFolder(tmp_path / "outside")

    assert place.put(tenant, 1, NOTE)
    assert place.put("acme", 1, NOTE)

    assert len(list((tmp_path / "outside").iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]


def test_the_same_note_again_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """SPEC E2: a round that did not get to note what it did puts it again."""
    place = CheckpointFolder(tmp_path)

    assert place.put("acme", 7, NOTE)
    assert place.put("acme", 7, NOTE)
    assert caplog.records == []


def test_another_note_of_the_same_size_stays_outside_and_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC E2: what lies there is evidence; whoever wrote the log anew cannot have it overwritten."""
    place = CheckpointFolder(tmp_path)
    place.put("acme", 7, NOTE)

    assert place.put("acme", 7, "rewritten")

    assert (tmp_path / "acme" / f"{7:020}.note").read_text("utf-8") == NOTE
    assert [(record.levelno, "ANOTHER" in record.message) for record in caplog.records] == [
        (logging.ERROR, True)
    ]


def test_a_folder_that_cannot_be_written_is_told_and_raises_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC E2, T8: the next round tries again."""
    (tmp_path / "outside").write_text("a file stands in the way")
    place = CheckpointFolder(tmp_path / "outside")

    assert not place.put("acme", 7, NOTE)
    assert "tried again in the next round" in caplog.text

    (tmp_path / "outside").unlink()
    assert place.put("acme", 7, NOTE)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """SPEC E2: something lies under the name that is no file."""
    (tmp_path / "acme" / f"{7:020}.note").mkdir(parents=True)

    assert not CheckpointFolder(tmp_path).put("acme", 7, NOTE)
    assert "cannot be read" in caplog.text


def test_a_place_is_told_from_another_by_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was put into one folder is not taken for being in another."""
    monkeypatch.chdir(tmp_path)

    assert CheckpointFolder("outside").name == CheckpointFolder(tmp_path / "outside").name
    assert CheckpointFolder("outside").name != CheckpointFolder("inside").name
