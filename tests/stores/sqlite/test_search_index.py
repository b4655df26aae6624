"""The word index is disposable: whatever happens to its file, words are found again after the next start."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.stores.sqlite.word_index import found, index_files, open_at
from tests.usecases.asking import OFFICER, SUBJECT, written

from tenure.stores.sqlite import search
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject

TEXTS = ("The giraffe is called Melman", "The lion is called Alex", "The zebra is called Marty")


def image(folder: Path, target: Path) -> Path:
    """A copy of the files of a store that is in use, as a crash would leave them."""
    return Path(shutil.copytree(folder, target))


def lose_a_word(folder: Path, word: str) -> None:
    """Take one word out of the index, as a page that never reached the disk would."""
    connection = apsw.Connection(str(folder / "search.db"))
    connection.execute("DELETE FROM posting WHERE term = ?", (word,))
    assert connection.changes() == 1
    connection.close()


def test_words_are_found_after_the_index_was_deleted(folder: Path) -> None:
    """SPEC E1: the index is rebuilt from the log while the keys are there."""
    with open_at(folder) as opened:
        for text in TEXTS:
            written(opened.pipeline, text)
    for file in index_files(folder):
        file.unlink()

    with open_at(folder) as opened:
        assert found(opened, "giraffe") == [TEXTS[0]]
        assert found(opened, "zebra") == [TEXTS[2]]


def test_words_that_another_thread_is_writing_are_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC R1: what was just written is found, also where somebody has taken its words up and is not done."""
    begun, may_go_on = threading.Event(), threading.Event()
    apply = search.SearchIndex.apply

    def slowly(index: search.SearchIndex, *args: Any) -> None:
        begun.set()
        may_go_on.wait(10)
        apply(index, *args)

    monkeypatch.setattr(search.SearchIndex, "apply", slowly)
    with open_at(folder) as opened, ThreadPoolExecutor(1) as asking:
        written(opened.pipeline, TEXTS[0])
        assert begun.wait(10)

        answer = asking.submit(found, opened, "giraffe")
        waited = not wait([answer], timeout=0.2).done
        may_go_on.set()

        assert answer.result(10) == [TEXTS[0]]
        assert waited


def test_words_are_found_after_the_index_fell_behind(folder: Path, tmp_path: Path) -> None:
    """SPEC E1: the index says how far it is built, and catches up, with supersessions and forgettings."""
    with open_at(folder) as opened:
        old = written(opened.pipeline, TEXTS[0])
        written(opened.pipeline, TEXTS[1], subject="other")
    kept = [(file, shutil.copy(file, tmp_path)) for file in index_files(folder)]
    with open_at(folder) as opened:
        written(opened.pipeline, "The giraffe is called Gloria", supersedes=old.id)
        opened.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject="other"))
        written(opened.pipeline, TEXTS[2])
    for file, copy in kept:
        shutil.copy(copy, file)

    with open_at(folder) as opened:
        assert found(opened, "giraffe") == ["The giraffe is called Gloria"]
        assert found(opened, "zebra") == [TEXTS[2]]
        assert found(opened, "lion") == []


def test_an_index_that_is_ahead_of_its_log_starts_anew(folder: Path, tmp_path: Path) -> None:
    """SPEC E1: the log is the truth; words of events that it does not have are not kept."""
    with open_at(folder) as opened:
        written(opened.pipeline, TEXTS[0])
    kept = shutil.copy(folder / "log.db", tmp_path)
    with open_at(folder) as opened:
        written(opened.pipeline, TEXTS[1])
    shutil.copy(kept, folder / "log.db")

    with open_at(folder) as opened:
        written(opened.pipeline, TEXTS[2])
        assert [found(opened, word) for word in ("giraffe", "lion", "zebra")] == [[TEXTS[0]], [], [TEXTS[2]]]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that says since when the machine runs."""
    file = tmp_path / "boot_id"
    file.write_text("first start\n", encoding="ascii")
    monkeypatch.setattr(search, "_MACHINE_START", file)
    return file


@pytest.mark.usefixtures("machine")
def test_after_a_crash_of_the_process_the_index_is_trusted(folder: Path, tmp_path: Path) -> None:
    """SPEC S5: what a killed process wrote is in the system's hands, so that the start stays fast."""
    with open_at(folder) as opened:
        written(opened.pipeline, TEXTS[0])
        assert found(opened, "giraffe") == [TEXTS[0]]
        crashed = image(folder, tmp_path / "crashed")
    lose_a_word(crashed, "giraff")

    with open_at(crashed) as opened:
        assert found(opened, "giraffe") == []


def test_after_a_crash_of_the_machine_the_index_starts_anew(
    folder: Path, tmp_path: Path, machine: Path
) -> None:
    """SPEC E5, E1: the index is written without syncs, so it is not believed after another machine start."""
    with open_at(folder) as opened:
        written(opened.pipeline, TEXTS[0])
        assert found(opened, "giraffe") == [TEXTS[0]]
        crashed = image(folder, tmp_path / "crashed")
    lose_a_word(crashed, "giraff")
    machine.write_text("second start\n", encoding="ascii")

    with open_at(crashed) as opened:
        assert found(opened, "giraffe") == [TEXTS[0]]


def test_an_index_that_was_closed_in_order_is_trusted_after_a_restart_of_the_machine(
    folder: Path, machine: Path
) -> None:
    """SPEC S5: only what was in use when the machine stopped is doubted."""
    with open_at(folder) as opened:
        written(opened.pipeline, TEXTS[0])
    lose_a_word(folder, "giraff")
    machine.write_text("second start\n", encoding="ascii")

    with open_at(folder) as opened:
        assert found(opened, "giraffe") == []


@pytest.mark.usefixtures("machine")
def test_where_the_machine_does_not_say_when_it_started_the_index_is_doubted(
    folder: Path, tmp_path: Path, machine: Path
) -> None:
    """SPEC E5: without a sign that the machine ran on, an index left in use starts anew."""
    machine.unlink()
    with open_at(folder) as opened:
        written(opened.pipeline, TEXTS[0])
        assert found(opened, "giraffe") == [TEXTS[0]]
        crashed = image(folder, tmp_path / "crashed")
    lose_a_word(crashed, "giraff")

    with open_at(crashed) as opened:
        assert found(opened, "giraffe") == [TEXTS[0]]


@pytest.mark.parametrize("damage", ["garbage", "cut short", "a damaged page"])
def test_a_damaged_index_starts_anew(folder: Path, damage: str) -> None:
    """SPEC E5, E1: the index is written without syncs, so a power cut may leave anything in its file."""
    with open_at(folder) as opened:
        for text in TEXTS:
            written(opened.pipeline, text)
    file = folder / "search.db"
    whole = file.read_bytes()
    file.write_bytes(
        {
            "garbage": b"\xa5" * len(whole),
            "cut short": whole[: len(whole) // 2],
            "a damaged page": whole[:4096] + b"\xa5" * 4096 + whole[8192:],
        }[damage]
    )

    with open_at(folder) as opened:
        assert found(opened, "giraffe") == [TEXTS[0]]


def test_forgetting_takes_the_words_too(folder: Path) -> None:
    """SPEC F1: no word of the subject is left in the index, nor the subject's name."""
    with open_at(folder) as opened:
        for text in TEXTS:
            written(opened.pipeline, text)
        opened.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    left = b"".join(file.read_bytes() for file in index_files(folder))
    assert [word for word in (b"giraff", b"melman", b"zebra", SUBJECT.encode()) if word in left] == []
