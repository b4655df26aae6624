"""What was seen while a script was played: the only thing that verdicts are made from."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import msgspec

from tenure.core.memory import Memory
from tenure.entrypoints.redteam.script import Call


class Barrier(StrEnum):
    """Where an attack can be stopped, in the order in which it meets them."""

    ADMISSION = "admission"
    REVIEW = "review"
    ISOLATION = "isolation"
    REVOCATION = "revocation"
    EXPIRY = "expiry"
    RECALL = "recall"
    RENDERING = "rendering"
    GUARD = "tool guard"


class Stop(NamedTuple):
    """A barrier that stood, and what it said."""

    barrier: Barrier
    said: str


class Kept(NamedTuple):
    """A memory that was kept, and where."""

    memory_id: UUID
    tenant: str
    agent: str
    trust: str


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody was given to read, and at which step."""

    who: str
    at: int
    memories: tuple[Memory, ...]
    context: str = ""


class Done(NamedTuple):
    """A tool call that was really made."""

    who: str
    call: Call


class Refusal(NamedTuple):
    """A proposal of which nothing was kept."""

    tenant: str
    source_id: str
    code: str


@dataclass
class Ledger:
    """Everything that happened in one run."""

    run: str
    kept: dict[str, list[Kept]] = field(default_factory=dict)
    refusals: dict[str, list[Refusal]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    sources: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    given: list[Given] = field(default_factory=list)
    calls: list[Done] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    succeeded: dict[str, int] = field(default_factory=dict)
    placed: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seconds_longest: float = 0.0
    proposed: int = 0
    admitted: int = 0
    """Of the poison: how many proposals there were, and how many the gate let in by itself."""

    def ids(self, name: str) -> set[UUID]:
        """The memories of a name, and copies that an agent made of them."""
        return {one.memory_id for one in self.kept.get(name, ())}

    def stop(self, barrier: Barrier, said: str) -> None:
        """Note that a barrier stood."""
        self.stops.append(Stop(barrier, said))

    def barriers(self) -> tuple[Barrier, ...]:
        """Every barrier that stood, in the order of time, each once."""
        return tuple(dict.fromkeys(one.barrier for one in self.stops))

    def shown(self) -> Iterator[tuple[Given, Memory]]:
        """Every memory that anybody was given."""
        for given in self.given:
            for memory in given.memories:
                yield given, memory
