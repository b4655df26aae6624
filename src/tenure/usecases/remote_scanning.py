"""Asking scanners outside this process: a time limit for each, and so many questions at once (SPEC L5).

Laws: whatever a scanner does or does not do, there is an answer within its time: what it found, or a failure
for each text. At most ``together_max`` questions are out at once, those included that nobody
waits for any more; a question that finds no room in its time is a failure too. Nothing here raises.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from tenure.core.scanning import Finding
from tenure.core.scanning.running import FINDINGS_PER_SCANNER_MAX, failure, is_sound
from tenure.usecases.scanning_ports import RemoteScanner

TEXTS_TOGETHER_MAX: Final = 5
"""How many texts one question is about at most."""

Answer = list[tuple[Finding, ...]]


class RemoteScanning:
    """The remote scanners of a node."""

    def __init__(
        self,
        scanners: Sequence[RemoteScanner],
        *,
        seconds_max: float,
        together_max: int,
        passed: Callable[[], float],
    ) -> None:
        self._scanners = tuple(scanners)
        self._seconds_max = seconds_max
        self._together_max = together_max
        self._passed = passed
        self._room = threading.Semaphore(together_max)

    def findings(self, texts: Sequence[str]) -> Answer:
        """Everything that they find in each of the texts."""
        found: list[list[Finding]] = [[] for _ in texts]
        questions = [
            _Question(scanner, start, texts[start : start + TEXTS_TOGETHER_MAX])
            for start in range(0, len(texts), TEXTS_TOGETHER_MAX)
            for scanner in self._scanners
        ]
        for start in range(0, len(questions), self._together_max):
            self._ask(questions[start : start + self._together_max])
        for question in questions:
            for place, findings in enumerate(question.findings(), start=question.start):
                found[place] += findings
        return [tuple(one) for one in found]

    def close(self) -> None:
        """Let go of every scanner."""
        for scanner in self._scanners:
            scanner.close()

    def _ask(self, questions: Sequence["_Question"]) -> None:
        """Put the questions at once, and wait until each is answered or late."""
        until = self._passed() + self._seconds_max
        for question in questions:
            if self._room.acquire(timeout=self._left(until)):
                question.put(seconds_max=self._left(until), afterwards=self._room.release)
        for question in questions:
            question.wait(self._left(until))

    def _left(self, until: float) -> float:
        return max(0.0, until - self._passed())


class _Question:
    """Some texts that one scanner is asked about, in a thread that nobody has to wait for."""

    def __init__(self, scanner: RemoteScanner, start: int, texts: Sequence[str]) -> None:
        self.start = start
        self._scanner = scanner
        self._texts = texts
        self._said: Answer | None = None
        self._answered = threading.Event()
        self._is_late = False

    def put(self, *, seconds_max: float, afterwards: Callable[[], None]) -> None:
        """Ask, without waiting for the answer."""

        def ask() -> None:
            try:
                self._said = _heard(self._scanner.scan(self._texts, seconds_max=seconds_max), self._texts)
            except Exception:  # noqa: BLE001 -- whatever went wrong, nothing was said, and that is a failure
                self._said = None
            finally:
                afterwards()
                self._answered.set()

        try:
            threading.Thread(target=ask, name="tenure-scan", daemon=True).start()
        except RuntimeError:
            # The machine has no room for another thread.
            afterwards()
            self._answered.set()

    def wait(self, seconds_max: float) -> None:
        """Until it is answered, or the time is over; what comes later counts for nothing."""
        self._is_late = not self._answered.wait(seconds_max)

    def findings(self) -> Answer:
        """What was found in each of the texts, or a failure for each."""
        if self._said is not None and not self._is_late:
            return self._said
        try:
            name = f"{self._scanner.name}/{self._scanner.version}"
        except Exception:  # noqa: BLE001 -- not even its name is sure
            name = "unnamed/0"
        return [(failure(name, text, rule="time" if self._is_late else ""),) for text in self._texts]


def _heard(said: Iterable[Iterable[Finding]], texts: Sequence[str]) -> Answer | None:
    """The answer, if it is one: findings inside each of the texts, for as many texts as were asked about."""
    answer = [tuple(islice(one, FINDINGS_PER_SCANNER_MAX)) for one in islice(said, len(texts) + 1)]
    if len(answer) != len(texts):
        return None
    sound = all(
        is_sound(finding, len(text)) for one, text in zip(answer, texts, strict=True) for finding in one
    )
    return answer if sound else None
