"""Looking at what memories name while somebody recalls them, and in the background (SPEC T6).

    1 recall as if nothing were looked at, and store nothing
    2 look at what the stale ones in the answer name; nothing of the store is held meanwhile
    3 raise an alert for each that failed, durable before the answer
    4 recall again, with what was found beside each memory: the mark is in the context and counts

What was found is kept for a short time, so a recall that does not ask for a look shows it too.

Laws: no reading and no turn of the store is open while something is looked at; only stale memories of the
present are looked at; a probe changes no memory.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.identity import Caller
from tenure.core.memory import Memory
from tenure.core.probe_advice import Advice, ProbeOutcome
from tenure.core.probe_alerts import KINDS, alert, kind_of, last_of
from tenure.core.retrieval import Found, Recall
from tenure.usecases.outward import Looked, Probes
from tenure.usecases.pipeline import Pipeline, UseCase, World
from tenure.usecases.ports import Append, Idempotency
from tenure.usecases.retrieval import RECALL, RecallFacts, gather
from tenure.usecases.sealing import seal

PROBES: Final = "probes"
"""What an answer is without where probes are off."""
ALERTS_LOOKED_AT_MAX: Final = 1_000


def recall(pipeline: Pipeline, caller: Caller, command: Recall) -> Found:
    """The answer to a question, with probes where it asks for them."""
    return pipeline.run(recalling(pipeline, caller, command), caller, command)


def recalling(pipeline: Pipeline, caller: Caller, command: Recall) -> UseCase[Recall, RecallFacts, Found]:
    """The recall that answers this question: where it asks for probes, they are made here, before it."""
    probes = pipeline.probes
    if probes is None:
        return _WITHOUT_PROBES if command.probe else RECALL
    found: dict[tuple[UUID, int], Advice] = {}
    if command.probe:
        first = pipeline.preview(RECALL, caller, command).answer
        stale = [item.memory for item in first.items if item.stale]
        looked = probes.look_if_room(caller.tenant, stale, pipeline.clock.now())
        _tell(pipeline, probes, caller.tenant, looked)
        found = {(one.memory.id, one.memory.version): one.advice for one in looked}
    elif command.is_of_another_time or not probes.keeps_any:
        return RECALL

    def probed(memory: Memory) -> Advice | None:
        # What was looked at was named by that version; it may have been corrected meanwhile.
        return found.get((memory.id, memory.version)) or probes.known(memory)

    return replace(RECALL, gather=partial(gather, probed=probed))


def probe_memories(pipeline: Pipeline, tenant: str, memories: Iterable[Memory]) -> dict[UUID, Advice]:
    """Look at what these memories name, and raise an alert for each that failed or holds again.

    Gives what is to be said of each by its id. A memory that names nothing is not in it, and none is where
    probes are off (``pipeline.probes is None``). Takes up to ``probes.all_seconds_max`` and looks at the
    first 100 things, so give it small batches of stale memories, opened, of one tenant. No reading may be
    open meanwhile.
    """
    probes = pipeline.probes
    if probes is None:
        return {}
    looked = probes.look(tenant, memories)
    _tell(pipeline, probes, tenant, looked)
    return {one.memory.id: one.advice for one in looked}


def _tell(pipeline: Pipeline, probes: Probes, tenant: str, looked: Sequence[Looked]) -> None:
    """Tell a person of what is new, and keep what was found; a failure to tell is the caller's to hear of."""
    new = [
        one
        for one in looked
        if one.advice.outcome is not ProbeOutcome.UNKNOWN and probes.known(one.memory) != one.advice
    ]
    if new:
        _raise_alerts(pipeline, tenant, new)
        probes.keep(new, pipeline.clock.now())


def _raise_alerts(pipeline: Pipeline, tenant: str, looked: Sequence[Looked]) -> None:
    """An alert about each memory of which something else is to be said than the last one says."""
    now = pipeline.clock.now()
    with pipeline.store.reading() as reading:
        told = [
            row
            for kind in KINDS
            for row in reading.alerts(
                tenant, subjects=None, before_seq=None, limit=ALERTS_LOOKED_AT_MAX, kind=kind
            )
        ]
        rows = reading.rows_of(tenant, [one.memory.id for one in looked])
        forgot_seq = reading.forgot_seq(tenant)
    versions = {row.memory_id: row.version for row in rows}
    appends = []
    for one in looked:
        about = str(one.memory.id)
        kind = kind_of(one.advice.outcome, last_of(told, about), now)
        if kind is None or versions.get(one.memory.id) != one.memory.version:
            continue
        event = alert(kind, one.memory, one.about, now)
        appends.append(
            Append(
                tenant=tenant,
                events=(seal(event, pipeline.keyring),),
                # Not about what is forgotten meanwhile; the next look tells of what is still there.
                forgot_seq=forgot_seq,
                # Two nodes that find the same raise it once, and no day has two of them. No caller's key has
                # a character like the first.
                idempotency=Idempotency(key=f"\x1f{kind} {about} {now:%Y-%m-%d}", request=b""),
            )
        )
    if appends:
        pipeline.append(appends)


def _without(world: World, caller: Caller, command: Recall) -> RecallFacts:
    """A recall that asks for probes where they are off: answered without, and it says so."""
    facts = gather(world, caller, command)
    found = facts.shown.found
    lacking = msgspec.structs.replace(found, without=(*found.without, PROBES))
    return msgspec.structs.replace(facts, shown=msgspec.structs.replace(facts.shown, found=lacking))


_WITHOUT_PROBES: Final = replace(RECALL, gather=_without)
