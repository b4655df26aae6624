"""A peer in a process of its own, spoken to by lines; it can be killed and started again on its folder."""

import contextlib
import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from bench.running import ROOT

ANSWER_SECONDS_MAX: Final = 900.0
END_SECONDS_MAX: Final = 30.0
LINES_SHOWN: Final = 3


class PeerFailed(Exception):
    """A peer ended, or did not answer in time; the message has the last that it said."""


class Running:
    """One process of a peer. Use it as a context; what still runs at the end is killed."""

    def __init__(self, name: str, python: Path, *, work: Path, store: Path) -> None:
        self._name = name
        self._store = store
        store.mkdir(exist_ok=True)
        self._said = store.with_suffix(".log")
        self._log = self._said.open("ab")
        # A home of its own: no peer finds or leaves anything outside the run's folder.
        environment = os.environ | {"HOME": str(store.parent)}
        self._process = subprocess.Popen(
            [str(python), "-m", f"bench.peers.{name}", str(work), str(store)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            text=True,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            self.version = str(self._answer()["version"])
        except PeerFailed:
            self._end()
            raise

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Have something done; raises PeerFailed."""
        self._say(do, arguments)
        return self._answer()

    def acknowledged(self, wanted: int, **arguments: Any) -> Iterator[list[str]]:
        """Have memories added, and give back so many acknowledgements as they come; then kill it."""
        self._say("acknowledge", arguments)
        for _ in range(wanted):
            answer = self._answer()
            if "acknowledged" not in answer:
                break
            yield answer["acknowledged"]
        self.kill()
        # What it had acknowledged before it died counts as well.
        while (line := self._lines.get(timeout=END_SECONDS_MAX)) is not None:
            if line.endswith("\n") and "acknowledged" in (answer := json.loads(line)):
                yield answer["acknowledged"]

    def kill(self) -> None:
        """As `kill -9` does."""
        self._process.kill()
        self._process.wait(END_SECONDS_MAX)

    def close(self) -> None:
        """In order."""
        self._say("close", {})
        self._answer()
        self._process.wait(END_SECONDS_MAX)

    @property
    def process(self) -> str:
        """The id of the process."""
        return str(self._process.pid)

    def __enter__(self) -> Self:
        """The process itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left running."""
        self._end()

    def _end(self) -> None:
        if self._process.poll() is None:
            self.kill()
        self._listener.join(END_SECONDS_MAX)
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                # What was still on its way to a process that is dead is not wanted any more.
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _say(self, do: str, arguments: dict[str, Any]) -> None:
        if self._process.stdin is None:
            raise AssertionError("the process was given a pipe")
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerFailed(f"{self._name} has ended: {self._last_words()}") from error

    def _answer(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=ANSWER_SECONDS_MAX)
        except queue.Empty as error:
            raise PeerFailed(f"{self._name} did not answer within {ANSWER_SECONDS_MAX:.0f} s") from error
        if line is None:
            raise PeerFailed(f"{self._name} has ended: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _listen(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def _last_words(self) -> str:
        lines = self._said.read_text("utf-8", errors="replace").splitlines()
        return " / ".join(line.strip() for line in lines[-LINES_SHOWN:]) or "without a word"
