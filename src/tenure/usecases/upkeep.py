"""The workers' rounds: bounded batches that never hold a writer up for long (SPEC T8, L11).

Of many nodes over one store one does them: whoever holds the lease, which each round prolongs. When the
holder is gone, the lease runs out and the next node that asks has it. Two holders at once would double
nothing, since the store takes an event only on the version that it was decided on.

Each step is one worker: it has its turn in each round, and one that fails is in no other's way.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias, TypeVar

import msgspec

from tenure.core.events import Event, ScopeCompacted
from tenure.core.forgetting import probe
from tenure.core.identity import Scope
from tenure.core.retention import UPKEEP, expire
from tenure.core.retrieval import Filter
from tenure.core.rows import microseconds
from tenure.core.scopes import places
from tenure.usecases.checkpoints import checkpoint_round
from tenure.usecases.embedding import Embedded, Embedding
from tenure.usecases.erasure import finish_begun
from tenure.usecases.notifying import Messenger
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.policy_switching import Switching, switch_round
from tenure.usecases.portions import Passed, Portions, at_a_standstill
from tenure.usecases.ports import Append, Appended, AppendResult, EndedScope
from tenure.usecases.pruning import Pruned, prune_round
from tenure.usecases.scopes import resolved
from tenure.usecases.sealing import fold, seal
from tenure.usecases.sources import finish_revocations
from tenure.usecases.stale_probing import check_round
from tenure.usecases.truth_upkeep import Comparing, Reinstating, compare_round, stranded_round
from tenure.usecases.watching import Watched, Watcher

T = TypeVar("T")

LEASE: Final = "upkeep"
LEASE_SECONDS_MIN: Final = 10.0
"""Longer than a round takes, and than the wait for a database that is busy."""
LEFT_ALONE: Final = timedelta(minutes=2)
"""How long an erasure, or a revocation of a source, is whose it is that began it."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What one round did. ``more`` says that a batch was full and another round should follow at once."""

    expired: int = 0
    probed: int = 0
    compacted: int = 0
    erased: int = 0
    revoked: int = 0
    signed: int = 0
    alerted: int = 0
    delivered: int = 0
    held: int = 0
    embedded: int = 0
    reinstated: int = 0
    merged: int = 0
    contradicted: int = 0
    pruned: int = 0
    checked: int = 0
    more: bool = False


class Worked(NamedTuple):
    """What one worker's turn in a round took, and whether it failed."""

    worker: str
    seconds: float
    failed: bool


OnWorked: TypeAlias = Callable[[Worked], None]


def nobody(_worked: Worked) -> None:
    """Nobody wants to know."""


def upkeep_round(
    pipeline: Pipeline,
    *,
    batch_size: int,
    lease_seconds: float = LEASE_SECONDS_MIN,
    watcher: Watcher | None = None,
    messenger: Messenger | None = None,
    embedding: Embedding | None = None,
    passed: Passed = at_a_standstill,
    on_worked: OnWorked = nobody,
) -> Round:
    """Write what time has done, keep true what stands, and finish what somebody left half-way.

    With a watcher, look for what a person should look at; with a messenger, tell the receiver of alerts;
    with an embedding, give vectors to what has none. By the time that has ``passed`` a step knows when it is
    the next one's turn; ``on_worked`` hears of each step. Does nothing where another node holds the lease.
    """
    if not pipeline.store.lease(LEASE, seconds=lease_seconds):
        return Round()
    steps = _Steps(passed, on_worked)
    portions = Portions(pipeline, events_max=batch_size, passed=passed)
    expired, is_full = steps.take("expire", lambda: _expire(pipeline, portions, batch_size), (0, False))
    watched = steps.take(
        "watch", lambda: watcher.round(batch_size=batch_size) if watcher else Watched(), Watched()
    )
    meant = steps.take("embed", lambda: embedding.round() if embedding else Embedded(), Embedded())
    switching = steps.take("policy", lambda: switch_round(pipeline, batch_size=batch_size), Switching())
    kept = _kept_true(pipeline, portions, steps, batch_size)
    done = msgspec.structs.replace(
        kept,
        expired=expired,
        held=switching.held,
        embedded=meant.embedded,
        alerted=watched.alerted,
        delivered=steps.take("deliver", lambda: messenger.round() if messenger else 0, 0),
        probed=steps.take("probe_forgets", lambda: _probe(pipeline, batch_size), 0),
        compacted=steps.take("compact", lambda: _compact(pipeline, batch_size), 0),
        revoked=steps.take("revoke", lambda: finish_revocations(pipeline, left_alone=LEFT_ALONE), 0),
        erased=steps.take("erase", lambda: finish_begun(pipeline, left_alone=LEFT_ALONE), 0),
        signed=steps.take("sign", lambda: checkpoint_round(pipeline, batch_size=batch_size), 0),
        more=kept.more or (is_full and expired > 0) or watched.more or switching.more or meant.more,
    )
    steps.end()
    return done


def _kept_true(pipeline: Pipeline, portions: Portions, steps: "_Steps", batch_size: int) -> Round:
    """The steps of keeping memory true: what stood behind others, what is alike, what is old (SPEC T)."""
    passed = steps.passed
    again = steps.take(
        "reinstate", lambda: stranded_round(pipeline, portions, batch_size=batch_size), Reinstating()
    )
    alike = steps.take(
        "compare",
        lambda: compare_round(pipeline, portions, batch_size=batch_size, passed=passed),
        Comparing(),
    )
    old = steps.take(
        "prune", lambda: prune_round(pipeline, portions, batch_size=batch_size, passed=passed), Pruned()
    )
    return Round(
        reinstated=again.reinstated,
        merged=alike.merged,
        contradicted=alike.contradicted,
        pruned=old.pruned,
        checked=steps.take("check", lambda: check_round(pipeline, batch_size=batch_size, passed=passed), 0),
        more=again.more or alike.more or old.more,
    )


class _Steps:
    """One that fails is in no other's way; what kept the first that failed is raised at the end."""

    def __init__(self, passed: Passed, on_worked: OnWorked) -> None:
        self.passed = passed
        self._on_worked = on_worked
        self._failed: Exception | None = None

    def take(self, worker: str, step: Callable[[], T], otherwise: T) -> T:
        """What a step gives back, or the other value where it failed."""
        began, failed = self.passed(), True
        try:
            done = step()
            failed = False
        except Exception as fault:  # noqa: BLE001 -- kept, and raised once the other steps were taken
            self._failed = self._failed or fault
            done = otherwise
        self._on_worked(Worked(worker, self.passed() - began, failed))
        return done

    def end(self) -> None:
        """Raise what kept the first step that failed."""
        if self._failed is not None:
            raise self._failed


def _expire(pipeline: Pipeline, portions: Portions, batch_size: int) -> tuple[int, bool]:
    """The explicit expired event for memories whose time has passed; reads skipped them already."""
    now = pipeline.clock.now()
    appends: list[Append] = []
    with pipeline.store.reading() as reading:
        due = reading.due(microseconds(now), batch_size)
        for row in due:
            memory = fold(reading, pipeline.keyring, row.tenant, row.memory_id)
            event = expire(memory, now) if memory is not None else None
            if event is not None:
                appends.append(Append(tenant=row.tenant, events=(seal(event, pipeline.keyring),)))
    return _count(portions.append(appends)), len(due) == batch_size


def _probe(pipeline: Pipeline, batch_size: int) -> int:
    """Ask for keys that were forgotten at a leaf alone, as a read there would (SPEC F6)."""
    now, ladder = pipeline.clock.now(), pipeline.rules.write.ladder
    appends: list[Append] = []
    with pipeline.store.reading() as reading:
        for row in reading.probes_due(microseconds(now), batch_size):
            where = Filter(
                tenant=row.tenant,
                agent=row.agent,
                purpose=row.purpose,
                subjects=frozenset({row.subject}),
                now=microseconds(now),
            )
            scope = msgspec.json.decode(row.scope, type=Scope)
            around = places(scope, row.subject, ladder.inherits)
            found = resolved(reading, where, around, row.key_digest, ignoring=row)
            events = probe(row, found, now, ladder)
            sealed = tuple(seal(event, pipeline.keyring) for event in events)
            appends.append(Append(tenant=row.tenant, events=sealed))
    return _stored(pipeline, appends)


def _compact(pipeline: Pipeline, batch_size: int) -> int:
    """Take what ended in task and session scopes out of the working set; the log keeps it (SPEC F3)."""
    now = pipeline.clock.now()
    with pipeline.store.reading() as reading:
        ended = reading.scopes_ended(microseconds(now), batch_size)
    return _stored(
        pipeline,
        [Append(tenant=one.tenant, events=(seal(_compacted(one, now), pipeline.keyring),)) for one in ended],
    )


def _compacted(ended: EndedScope, now: datetime) -> Event:
    return Event(
        tenant=ended.tenant,
        at=now,
        actor=UPKEEP,
        subject=ended.subject,
        data=ScopeCompacted(
            agent=ended.agent, purpose=ended.purpose, tier=ended.tier, scope_id=ended.scope_id
        ),
    )


def _stored(pipeline: Pipeline, appends: list[Append]) -> int:
    return _count(pipeline.append(appends)) if appends else 0


def _count(results: list[AppendResult]) -> int:
    return sum(isinstance(result, Appended) for result in results)
