"""What every peer is asked to do, and how it says what it did: one JSON object a line, in and out.

Runs in the peer's own environment, so it needs nothing but Python. A peer is a class with the methods of
`Peer`; its module ends with `work.serve(ItsClass)`. Calls are timed in here, so the pipe costs nothing.

    {"do": "add", "first": 0, "count": 800, "callers": 8, "seconds_max": 20}
    {"added": 800, "elapsed_seconds": 1.2, "seconds": [...], "errors": {}}
"""

import array
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

WORK_FILE = "work.json"
VECTORS_FILE = "vectors.bin"

T = TypeVar("T")


class Memory(NamedTuple):
    """A text to keep, whom it is about, and its id, which is unlike all others."""

    user: str
    id: str
    text: str


class Question(NamedTuple):
    """What to ask, and about whom."""

    user: str
    text: str


class Vectors:
    """The vector of every text of the work, computed before: a peer's embedder has nothing to do but look."""

    def __init__(self, texts: Sequence[str], numbers: "array.array[float]") -> None:
        self.dimensions = len(numbers) // max(1, len(texts))
        self._rows = {text: row for row, text in enumerate(texts)}
        self._numbers = numbers

    def of(self, text: str) -> list[float]:
        """The vector of a text of the work; raises KeyError for another."""
        start = self._rows[text] * self.dimensions
        return self._numbers[start : start + self.dimensions].tolist()


class Peer(Protocol):
    """One memory for agents, opened on a folder of its own. All methods may be called by many threads."""

    version: str

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        """Open it, or open it anew after its process was killed."""

    def add(self, memory: Memory) -> str:
        """Keep one memory; gives back by what it can be had again. To return is to acknowledge."""

    def fill(self, memories: Sequence[Memory]) -> None:
        """Keep many, in the way that is fastest."""

    def find(self, question: Question, limit: int) -> list[str]:
        """The ids of the best memories of the user, best first."""

    def holds(self, user: str, handle: str) -> bool:
        """Whether it still has a memory that it acknowledged."""

    def close(self) -> None:
        """Close it in order."""


class Work(NamedTuple):
    """Everything to keep and to ask."""

    memories: list[Memory]
    questions: list[Question]
    vectors: Vectors


def written(folder: Path, memories: Sequence[Memory], questions: Sequence[Question], vectors: bytes) -> None:
    """Put the work into a folder; the vectors are 32-bit floats of the memories, then of the questions."""
    (folder / WORK_FILE).write_text(json.dumps({"memories": memories, "questions": questions}), "utf-8")
    (folder / VECTORS_FILE).write_bytes(vectors)


def read(folder: Path) -> Work:
    """The work that lies in a folder."""
    stored = json.loads((folder / WORK_FILE).read_text("utf-8"))
    memories = [Memory(*one) for one in stored["memories"]]
    questions = [Question(*one) for one in stored["questions"]]
    numbers = array.array("f")
    numbers.frombytes((folder / VECTORS_FILE).read_bytes())
    texts = [one.text for one in memories] + [one.text for one in questions]
    return Work(memories, questions, Vectors(texts, numbers))


def serve(make: Callable[[Path, Vectors], Peer]) -> None:
    """`python -m bench.peers.NAME WORK_FOLDER STORE_FOLDER`: do what comes in, until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr
    work = read(Path(sys.argv[1]))
    peer = make(Path(sys.argv[2]), work.vectors)
    server = _Server(peer, work, answers)
    server.say({"ready": True, "version": peer.version})
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "close":
            break
        server.say(server.done(command))
    peer.close()
    server.say({"closed": True})


class _Server:
    """Carries out one command after the other."""

    def __init__(self, peer: Peer, work: Work, answers: Any) -> None:
        self._peer = peer
        self._work = work
        self._answers = answers
        self._lock = threading.Lock()

    def say(self, answer: dict[str, Any]) -> None:
        """One line out."""
        with self._lock:
            self._answers.write(json.dumps(answer) + "\n")
            self._answers.flush()

    def done(self, command: dict[str, Any]) -> dict[str, Any]:
        """Do it, and say how it went."""
        match command["do"]:
            case "add":
                return self._add(command)
            case "fill":
                started = time.perf_counter()
                self._peer.fill(self._memories(command))
                return {"elapsed_seconds": time.perf_counter() - started}
            case "find":
                return self._find(command)
            case "acknowledge":
                timed(command["callers"], self._acknowledged, self._memories(command))
                return {"done": True}
            case _:
                held = [self._peer.holds(user, handle) for user, handle in command["handles"]]
                return {"held": sum(held)}

    def _memories(self, command: dict[str, Any]) -> list[Memory]:
        return self._work.memories[command["first"] : command["first"] + command["count"]]

    def _add(self, command: dict[str, Any]) -> dict[str, Any]:
        calls = timed(
            command["callers"], self._peer.add, self._memories(command), seconds_max=command["seconds_max"]
        )
        return {
            "taken": calls.taken,
            "added": len(calls.seconds),
            "elapsed_seconds": calls.elapsed_seconds,
            "seconds": calls.seconds,
            "errors": calls.errors,
        }

    def _find(self, command: dict[str, Any]) -> dict[str, Any]:
        found: dict[int, list[str]] = {}

        def ask(at: int) -> None:
            found[at] = self._peer.find(self._work.questions[at], command["limit"])

        calls = timed(command["callers"], ask, command["questions"])
        return {
            "elapsed_seconds": calls.elapsed_seconds,
            "seconds": calls.seconds,
            "errors": calls.errors,
            "found": [found.get(at, []) for at in command["questions"]],
        }

    def _acknowledged(self, memory: Memory) -> None:
        handle = self._peer.add(memory)
        self.say({"acknowledged": [memory.user, handle]})


class Calls(NamedTuple):
    """How long each call that succeeded took, how long all together, how many were begun, what failed."""

    seconds: list[float]
    elapsed_seconds: float
    taken: int
    errors: dict[str, int]


def timed(
    callers: int, call: Callable[[T], object], items: Sequence[T], *, seconds_max: float = float("inf")
) -> Calls:
    """Call once for each item, in order, from so many threads at once, until the time is up."""
    waiting, lock = iter(items), threading.Lock()
    seconds: list[float] = []
    errors: Counter[str] = Counter()
    taken = 0
    started = time.perf_counter()

    def work() -> None:
        nonlocal taken
        while time.perf_counter() < started + seconds_max:
            with lock:
                item = next(waiting, None)
                if item is None:
                    return
                taken += 1
            before = time.perf_counter()
            try:
                call(item)
            except Exception as error:  # noqa: BLE001 -- whatever a peer raises is counted under its name
                errors[type(error).__name__] += 1
            else:
                seconds.append(time.perf_counter() - before)

    with ThreadPoolExecutor(callers) as pool:
        for running in [pool.submit(work) for _ in range(callers)]:
            running.result()
    return Calls(seconds, time.perf_counter() - started, taken, dict(errors))
