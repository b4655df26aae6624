"""Scanners outside, played in this process: they do what a test says, and keep what they were told."""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tenure.core.scanning import Finding, FindingKind


def finding(*, kind: Any = FindingKind.ATTACK, start: Any = 0, end: Any = 4, **other: Any) -> Finding:
    """What a remote scanner says of the first four characters, or what is no finding at all."""
    whole: dict[str, Any] = {"rule": f"{kind}.stub", "scanner": "stub/1", "confidence": 0.9}
    return Finding(kind=kind, start=start, end=end, **(whole | other))


class Stub:
    """A remote scanner that answers, raises, lies or hangs."""

    version = "1"

    def __init__(
        self, answer: object | Callable[[Sequence[str]], object] = None, *, name: str = "stub"
    ) -> None:
        self.name = name
        self.answer = answer
        self.told: list[tuple[str, ...]] = []
        self.closed = False
        self.hangs = threading.Event()
        self.hangs.set()
        self.threads: list[threading.Thread] = []

    def scan(self, texts: Sequence[str], *, seconds_max: float) -> Iterable[Iterable[Finding]]:
        """As the test says, once nothing holds it up any more."""
        assert seconds_max >= 0
        self.threads.append(threading.current_thread())
        self.told.append(tuple(texts))
        self.hangs.wait()
        answer = self.answer(texts) if callable(self.answer) else self.answer
        if isinstance(answer, Exception):
            raise answer
        return [() for _ in texts] if answer is None else answer  # type: ignore[return-value]  # it may lie

    def close(self) -> None:
        """Let go."""
        self.hangs.set()
        self.closed = True

    @property
    def texts(self) -> list[str]:
        """Everything that it was told."""
        return [text for texts in self.told for text in texts]
