"""What a node knows of what memories name: it looks, and keeps for a short time what it found (SPEC T6).

Laws: what was found is kept for its tenant and for the very version of the memory; that nothing could be
found out is not kept, and takes the place of nothing; so many recalls look at once and no more.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from tenure.core.memory import Memory
from tenure.core.probe_advice import Advice, ProbeOutcome, TargetKind
from tenure.core.probe_targets import named_by
from tenure.core.probing import ProbeVerdict, Reason, Target, advice
from tenure.usecases.outward import Looked
from tenure.usecases.probing import Probing

KEPT_MAX: Final = 10_000
RECALLS_MAX: Final = 4
"""How many recalls look at once: each waits in a thread that other requests need as well."""


class MemoryProbes:
    """The probes of a node, as memories need them; the Probes that a pipeline has."""

    def __init__(
        self,
        probing: Probing,
        *,
        cache_seconds: float,
        passed: Callable[[], float],
        recalls_max: int = RECALLS_MAX,
    ) -> None:
        self._probing = probing
        self._cache_seconds = cache_seconds
        self._passed = passed
        self._room = threading.BoundedSemaphore(recalls_max)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, UUID, int], tuple[float, Advice]] = OrderedDict()

    @property
    def keeps_any(self) -> bool:
        """Whether anything was found a short while ago, so that there is something to ask for."""
        return bool(self._kept)

    def look(self, tenant: str, memories: Iterable[Memory]) -> list[Looked]:
        """Look at what these name, within the time for all; those that name nothing are left out."""
        named = _named(memories)
        found = self._probing.probe(tenant, (one for _, targets in named for one in targets))
        return [_looked(memory, targets, found) for memory, targets in named]

    def look_if_room(self, tenant: str, memories: Iterable[Memory], now: datetime) -> list[Looked]:
        """The same for a recall: where too many of them look already, it is told so instead of waiting."""
        if self._room.acquire(blocking=False):
            try:
                return self.look(tenant, memories)
            finally:
                self._room.release()
        busy = ProbeVerdict(reason=Reason.NO_ROOM, probed_at=now)
        return [
            _looked(memory, targets, dict.fromkeys(targets, busy)) for memory, targets in _named(memories)
        ]

    def known(self, memory: Memory) -> Advice | None:
        """What was found a short while ago, without looking."""
        with self._lock:
            until, kept = self._kept.get(_key(memory), (0.0, None))
        return kept if self._passed() < until else None

    def keep(self, looked: Iterable[Looked], now: datetime) -> None:
        """Keep what was found for the rest of its time."""
        passed = self._passed()
        with self._lock:
            for one in looked:
                if one.advice.outcome is ProbeOutcome.UNKNOWN:
                    continue
                age = (now - one.advice.probed_at).total_seconds()
                self._kept[_key(one.memory)] = (passed + self._cache_seconds - age, one.advice)
                self._kept.move_to_end(_key(one.memory))
            while self._kept and (len(self._kept) > KEPT_MAX or next(iter(self._kept.values()))[0] <= passed):
                self._kept.popitem(last=False)

    def counts(self) -> Mapping[tuple[TargetKind, ProbeOutcome], int]:
        """How many looks came to which outcome since the start."""
        return self._probing.counts()

    def refused(self) -> Mapping[TargetKind, int]:
        """How many of them were refused."""
        return self._probing.refused()

    def close(self) -> None:
        """Let go of every prober."""
        self._probing.close()


def _key(memory: Memory) -> tuple[str, UUID, int]:
    return memory.tenant, memory.id, memory.version


def _named(memories: Iterable[Memory]) -> list[tuple[Memory, tuple[Target, ...]]]:
    """Those of the memories that name something, with what they name."""
    return [(memory, targets) for memory in memories if (targets := named_by(memory))]


def _looked(memory: Memory, targets: Iterable[Target], found: Mapping[Target, ProbeVerdict]) -> Looked:
    """The worst of what was found, and the first thing that it is true of."""
    verdicts = {one: found[one] for one in targets}
    said = advice(verdicts.values())
    if said is None:
        raise AssertionError("whatever names something has a verdict")
    about = next(one.kind for one, verdict in verdicts.items() if verdict.outcome is said.outcome)
    return Looked(memory, said, about)
