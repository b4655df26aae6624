"""Looking at what memories name: so long for each look, so long for all, and so many at once (SPEC T6).

Laws:

- What a tenant may not have looked at is not looked at, and nothing outside learns that it was asked for.
- There is a verdict for every target within the time of all, whatever a prober does or does not do. Nothing
  here raises.
- A look begins only where there is time for all of it: that a hurried look found nothing is no failure.
- At most so many looks are under way on this node, those included that nobody waits for any more. What is
  being looked at is not looked at a second time; who asks meanwhile waits for the same look.
- What was found is kept for a short time, for that tenant alone.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from tenure.core.probe_rules import Allowances
from tenure.core.probing import ProbeOutcome, ProbeVerdict, Reason, Target, TargetKind, outcome_of
from tenure.usecases.probing_ports import Prober

KEPT_MAX: Final = 10_000
TARGETS_MAX: Final = 100
"""How many things one call looks at."""
# A prober has a little less time than it is waited for, so that "there was no answer" is heard in time.
_PROBER_SHARE: Final = 0.9


class ProbeLimits(NamedTuple):
    """How long and how many."""

    seconds_max: float
    """For one look."""
    all_seconds_max: float
    """For everything that one call asks for; no shorter than one look."""
    at_once_max: int
    cache_seconds: float


class Probing:
    """The probers of a node."""

    def __init__(
        self,
        probers: Iterable[Prober],
        allowances: Allowances,
        *,
        limits: ProbeLimits,
        now: Callable[[], datetime],
        passed: Callable[[], float],
    ) -> None:
        self._probers = {prober.kind: prober for prober in probers}
        self._allowances = allowances
        self._limits = limits
        self._now = now
        self._passed = passed
        self._room = threading.Semaphore(limits.at_once_max)
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Asked, tuple[float, ProbeVerdict]] = OrderedDict()
        self._under_way: dict[_Asked, _Look] = {}
        self._counts: Counter[tuple[TargetKind, ProbeOutcome]] = Counter()
        self._refused: Counter[TargetKind] = Counter()

    def probe(self, tenant: str, targets: Iterable[Target]) -> dict[Target, ProbeVerdict]:
        """A verdict on each of the targets, within the time for all of them."""
        until = self._passed() + self._limits.all_seconds_max
        asked = list(dict.fromkeys(targets))
        begun = {one: self._begun(_Asked(tenant, one), until) for one in asked[:TARGETS_MAX]}
        found = {one: self._awaited(look, until) for one, look in begun.items()}
        return found | {one: self._unseen(one, Reason.NO_ROOM) for one in asked[TARGETS_MAX:]}

    def counts(self) -> Mapping[tuple[TargetKind, ProbeOutcome], int]:
        """How many looks came to which outcome since the start; what was kept is not counted again."""
        with self._lock:
            return dict(self._counts)

    def refused(self) -> Mapping[TargetKind, int]:
        """How many of them were not made, or not to their end, because they are not allowed."""
        with self._lock:
            return dict(self._refused)

    def close(self) -> None:
        """Let go of every prober."""
        for prober in self._probers.values():
            prober.close()

    def _begun(self, asked: "_Asked", until: float) -> "ProbeVerdict | _Look":
        """A verdict, where there is one without looking; else a look that is under way."""
        prober = self._probers.get(asked.target.kind)
        if not self._allowances.permits(asked.tenant, asked.target):
            return self._unseen(asked.target, Reason.NOT_ALLOWED)
        if prober is None:
            return self._unseen(asked.target, Reason.NO_PROBER)
        with self._lock:
            known = self._known(asked)
        if known is not None:
            return known
        wait = until - self._limits.seconds_max - self._passed()
        if not self._room.acquire(timeout=max(0.0, wait)):
            return self._unseen(asked.target, Reason.NO_ROOM)
        return self._started(asked, prober)

    def _known(self, asked: "_Asked") -> "ProbeVerdict | _Look | None":
        """What was found a short while ago, or is being looked at; whoever calls holds the lock."""
        kept_until, verdict = self._kept.get(asked, (0.0, None))
        if verdict is not None and self._passed() < kept_until:
            return verdict
        return self._under_way.get(asked)

    def _started(self, asked: "_Asked", prober: Prober) -> "ProbeVerdict | _Look":
        """Begin the look that there is room for, unless somebody else did so meanwhile."""
        look = _Look(until=self._passed() + self._limits.seconds_max)
        with self._lock:
            known = self._known(asked)
            if known is None:
                self._under_way[asked] = look
        if known is not None:
            self._room.release()
            return known
        try:
            threading.Thread(
                target=self._made, args=(asked, prober, look), name="tenure-probe", daemon=True
            ).start()
        except RuntimeError:
            # The machine has no room for another thread.
            self._ended(asked, look, Reason.NO_ROOM)
        return look

    def _made(self, asked: "_Asked", prober: Prober, look: "_Look") -> None:
        """The look itself, in a thread that nobody has to wait for."""
        reason = Reason.FAULT
        try:
            reason = Reason(
                prober.look(
                    asked.target,
                    permits=lambda one: self._allowances.permits(asked.tenant, one),
                    seconds_max=self._limits.seconds_max * _PROBER_SHARE,
                )
            )
        except Exception:  # noqa: BLE001 -- whatever went wrong, nothing is known of the target
            reason = Reason.FAULT
        finally:
            self._ended(asked, look, reason)

    def _ended(self, asked: "_Asked", look: "_Look", reason: Reason) -> None:
        """Keep what was found, late or not, and make room."""
        verdict = ProbeVerdict(reason=reason, probed_at=self._now())
        with self._lock:
            self._under_way.pop(asked, None)
            self._kept[asked] = (self._passed() + self._limits.cache_seconds, verdict)
            self._kept.move_to_end(asked)
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)
            self._count(asked.target.kind, reason)
        look.found = verdict
        self._room.release()
        look.ended.set()

    def _awaited(self, look: "ProbeVerdict | _Look", until: float) -> ProbeVerdict:
        if isinstance(look, ProbeVerdict):
            return look
        look.ended.wait(max(0.0, min(until, look.until) - self._passed()))
        return look.found or ProbeVerdict(reason=Reason.LATE, probed_at=self._now())

    def _unseen(self, target: Target, reason: Reason) -> ProbeVerdict:
        with self._lock:
            self._count(target.kind, reason)
        return ProbeVerdict(reason=reason, probed_at=self._now())

    def _count(self, kind: TargetKind, reason: Reason) -> None:
        """Count a look; whoever calls holds the lock."""
        self._counts[kind, outcome_of(reason)] += 1
        if reason in _REFUSALS:
            self._refused[kind] += 1


_REFUSALS: Final = frozenset({Reason.NOT_ALLOWED, Reason.INTERNAL_ADDRESS, Reason.LEADS_ELSEWHERE})


class _Asked(NamedTuple):
    tenant: str
    target: Target


class _Look:
    """One look that is under way, for everybody who waits for it."""

    def __init__(self, *, until: float) -> None:
        self.until = until
        self.ended = threading.Event()
        self.found: ProbeVerdict | None = None
