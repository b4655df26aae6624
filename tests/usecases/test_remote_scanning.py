"""Asking scanners outside: there is an answer within the time, whatever they do, and none admits (L5)."""

import threading
import time
from collections.abc import Iterator, Sequence
from itertools import count, repeat
from typing import Any

import pytest
from tests.usecases.remote import Stub, finding

from tenure.core.scanning import Finding, FindingKind
from tenure.usecases.remote_scanning import TEXTS_TOGETHER_MAX, RemoteScanning
from tenure.usecases.scanning_ports import RemoteScanner

TEXTS = ("pays by invoice", "prefers e-mail")
PATIENCE_SECONDS = 10.0


def asking(
    *scanners: RemoteScanner, seconds_max: float = PATIENCE_SECONDS, together_max: int = 4
) -> RemoteScanning:
    """What asks these scanners."""
    return RemoteScanning(scanners, seconds_max=seconds_max, together_max=together_max, passed=time.monotonic)


def kinds(found: Sequence[Sequence[Finding]]) -> list[list[str]]:
    """The kinds of what was found in each text."""
    return [[one.kind.value for one in findings] for findings in found]


def halfway() -> Iterator[tuple[Finding, ...]]:
    """One answer, and then a fault."""
    yield (finding(),)
    raise RuntimeError("the second half is missing")


def test_each_text_has_what_every_scanner_found_in_it() -> None:
    """SPEC L3: in the order of the texts."""
    first = Stub(lambda _texts: [(), (finding(),)])
    second = Stub(lambda _texts: [(finding(kind=FindingKind.SENSITIVE),), ()], name="other")

    assert kinds(asking(first, second).findings(TEXTS)) == [["sensitive"], ["attack"]]


def test_a_scanner_is_told_texts_and_nothing_else() -> None:
    """SPEC E6: a few at a time, each once."""
    stub = Stub()
    texts = [f"text {number}" for number in range(2 * TEXTS_TOGETHER_MAX + 1)]

    assert asking(stub).findings(texts) == [()] * len(texts)

    assert sorted(stub.texts) == sorted(texts)
    assert max(map(len, stub.told)) == TEXTS_TOGETHER_MAX


@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("it is broken"),
        [],
        [()],
        [(), (), ()],
        repeat(()),
        [(finding(end=99),), ()],
        [(finding(start=-1),), ()],
        [(finding(end=4.0),), ()],
        [(finding(start=False),), ()],
        [(finding(kind="attack"),), ()],
        [(finding(rule="the text itself"),), ()],
        [(finding(scanner="x" * 200),), ()],
        [(finding(confidence=2.0),), ()],
        [(finding(confidence=float("nan")),), ()],
        [("attack",), ()],
        [(None,), ()],
        [None, None],
        42,
        {"attack": True},
    ],
    ids=str,
)
def test_a_fault_or_a_bad_answer_is_a_failure_for_each_text(answer: object) -> None:
    """SPEC L5: too few, too many, beside the text, or no findings at all."""
    found = asking(Stub(answer)).findings(TEXTS)

    assert kinds(found) == [["failure"], ["failure"]]
    assert [(one.rule, one.scanner, one.end) for (one,) in found] == [
        ("failure.stub", "stub/1", len(text)) for text in TEXTS
    ]


def test_half_an_answer_is_none() -> None:
    """SPEC L5: what came before the fault does not count for the rest."""
    assert kinds(asking(Stub(lambda _texts: halfway())).findings(TEXTS)) == [["failure"], ["failure"]]


def test_an_endless_answer_ends() -> None:
    """SPEC L5: of the findings in one text so many are taken, and no more."""
    endless = Stub(lambda _texts: [(finding(rule=f"attack.{number}") for number in count()), ()])

    first, second = asking(endless).findings(TEXTS)

    assert (len(first), second) == (1_024, ())


def test_a_scanner_without_a_name_fails_as_well() -> None:
    """SPEC L5: nothing of it is relied on."""

    class Nameless(Stub):
        """It cannot say who it is."""

        def __getattribute__(self, attribute: str) -> Any:
            """Everything but its name."""
            if attribute == "name":
                raise RuntimeError("who?")
            return super().__getattribute__(attribute)

    ((one,), _other) = asking(Nameless(RuntimeError("broken"))).findings(TEXTS)

    assert (one.kind, one.scanner) == (FindingKind.FAILURE, "unnamed/0")


def test_a_late_scanner_is_a_failure_and_holds_up_nobody_else() -> None:
    """SPEC L5: its time is over, what the other one found stands, and what comes later counts for nothing."""
    late, quick = Stub(lambda _texts: [(), ()], name="late"), Stub(lambda _texts: [(), (finding(),)])
    late.hangs.clear()

    started = time.monotonic()
    found = asking(late, quick, seconds_max=0.1).findings(TEXTS)
    late.close()

    assert kinds(found) == [["failure"], ["failure", "attack"]]
    assert found[0][0].rule == "failure.time"
    assert time.monotonic() - started < PATIENCE_SECONDS


def test_only_so_many_questions_are_out_at_once() -> None:
    """SPEC L5: one that nobody waits for any more still takes its room; without room there is a failure."""
    stub = Stub()
    stub.hangs.clear()
    remote = asking(stub, seconds_max=0.05, together_max=2)

    first, second, third = (remote.findings(["one text"]) for _ in range(3))

    assert kinds([*first, *second, *third]) == [["failure"]] * 3
    assert len(stub.told) == 2
    stub.close()
    for thread in stub.threads:
        thread.join(PATIENCE_SECONDS)
    assert remote.findings(["one text"]) == [()]


def test_a_machine_without_room_for_a_thread_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC L5: also when it cannot even be asked; the room is given back."""
    remote = asking(Stub(), together_max=1)

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", _no_room)
        assert kinds(remote.findings(["text"])) == [["failure"]]
        assert kinds(remote.findings(["text"])) == [["failure"]]

    assert remote.findings(["text"]) == [()]


def _no_room(_thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_closing_lets_go_of_every_scanner() -> None:
    """SPEC T8: nothing is left behind."""
    stubs = Stub(), Stub(name="other")

    asking(*stubs).close()

    assert [stub.closed for stub in stubs] == [True, True]
