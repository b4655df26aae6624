"""Scanning again what is about to be shown: each item by itself, then all of them as one (SPEC R5).

    1 take the best candidates, and ask for the verdicts on them that do not stand yet
    2 leave out what must not be shown; the next candidates take the places
    3 pack; what contradicts an item that is believed before it gives way, and again from 1
    4 read what is packed as one text, in each of its orders
    5 something stands across several items: one gives way, and again from 1

What was found in an active memory of the present goes back to quarantine with the same events as the receipt,
so that it is durable before the answer. A look at the past only leaves out, and so does one at what was
superseded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Final
from uuid import UUID

import msgspec

from tenure.core import read_scanning
from tenure.core.events import AlertRaised, Event
from tenure.core.memory import Memory
from tenure.core.read_scanning import SPLIT_PAYLOAD, Crossing, Judged, Word
from tenure.core.retrieval import Beside, Found, Probed, Ranked, Recall, Skipped, not_probed, pack
from tenure.core.rows import from_microseconds
from tenure.core.scanning import Finding, FindingKind
from tenure.core.vocabulary import Status
from tenure.usecases.contradiction_notes import ContradictionNotes
from tenure.usecases.pipeline import World
from tenure.usecases.tokenizing import counter
from tenure.usecases.verdicts import Key

Candidate = tuple[Ranked, Memory]

REFILLS_MAX: Final = 20
"""How often a place that was given up is filled again; afterwards items only give way."""
FAILED_MAX: Final = 3
"""After so many scans that failed, a recall asks for no more: what has no verdict then is not shown."""
_DIGESTED: Final = "scanned"
ALERT_EVERY: Final = timedelta(days=1)
ALERTS_MAX: Final = 5
"""The alerts that one answer raises at most."""
ALERTS_LOOKED_AT_MAX: Final = 1_000


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, and the events of what is not in it."""

    found: Found
    events: tuple[Event, ...]


def show(
    world: World,
    command: Recall,
    tenant: str,
    batches: Iterable[Iterable[Candidate]],
    *,
    wanted: int,
    standing: Mapping[UUID, Status] | None = None,
    probed: Probed = not_probed,
) -> Shown:
    """The answer made of the best candidates that may be shown; what is behind the first batch fills up."""
    is_past = command.as_of is not None
    sieve = Sieve(world, tenant, is_past=is_past)
    offered = _Offered(sieve, batches, at_once=command.limit)
    contradicting = ContradictionNotes(world, tenant, as_of=command.as_of)
    beside = Beside(standing={} if standing is None else standing, probed=probed)
    out: set[UUID] = set()
    hidden: set[UUID] = set()
    rounds = 0
    alerts: dict[str, Event] = {}
    count = counter(world.tokenizers, command.tokenizer)
    while True:
        found = pack(
            offered.first(wanted, without=out | hidden),
            command,
            world.moment.fresh_id,
            world.moment.now,
            world.rules.doubt,
            half_lives=world.rules.truth.half_lives,
            beside=beside,
            count=count,
        )
        told_of = contradicting.among([item.memory for item in found.items])
        if told_of.hidden or told_of.contradicted != beside.contradicted:
            hidden |= told_of.hidden
            beside = msgspec.structs.replace(beside, contradicted=told_of.contradicted)
            rounds += 1
            # Notes take room in a budget, and what that leaves out can change the notes.
            if rounds >= REFILLS_MAX:
                offered.close({item.memory.id for item in found.items})
            continue
        memories = [item.memory for item in found.items if item.memory.content is not None]
        told = sieve.together(memories)
        if told is None:
            break
        crossing, parts = told
        giving_way = read_scanning.gives_way(parts)
        out.add(giving_way.id)
        if crossing.kind is not FindingKind.FAILURE and not is_past and len(alerts) < ALERTS_MAX:
            event = read_scanning.alert(parts, crossing, giving_way, world.moment.now)
            alerts.setdefault(read_scanning.about(parts), event)
        if len(out) == REFILLS_MAX:
            offered.close({item.memory.id for item in found.items})
    skipped = Skipped(
        budget=found.skipped.budget, scan=sieve.left_out, together=len(out), contradicted=len(hidden)
    )
    return Shown(
        found=msgspec.structs.replace(found, skipped=skipped),
        events=(*sieve.events, *_not_raised_yet(world, tenant, alerts)),
    )


def keep(world: World, tenant: str, text: str, findings: tuple[Finding, ...]) -> None:
    """Let a verdict on a text stand, so that whoever shows it next need not ask again."""
    if _is_whole(findings):
        versions = (world.scanning.version, world.rules.write.policy.version)
        world.verdicts.texts.put((*versions, world.keyring.digest(tenant, _DIGESTED, text)), findings)


class Sieve:
    """What passes of memories that are about to be shown, and what comes of the others."""

    def __init__(self, world: World, tenant: str, *, is_past: bool = False) -> None:
        self._world = world
        self._tenant = tenant
        self._is_past = is_past
        self._versions = (world.scanning.version, world.rules.write.policy.version)
        self._digests: dict[UUID, bytes] = {}
        self._own: dict[UUID, frozenset[str]] = {}
        self._failed = 0
        self.left_out = 0
        self.events: list[Event] = []

    def passing(self, memories: Sequence[Memory]) -> list[bool]:
        """Which of these may be shown; one whose text is withheld has nothing that could be found."""
        texts = {
            memory.id: read_scanning.text_of(memory) for memory in memories if memory.content is not None
        }
        found = self._found(texts)
        return [memory.content is None or self._passes(memory, found.get(memory.id)) for memory in memories]

    def together(self, memories: Sequence[Memory]) -> tuple[Crossing, list[Memory]] | None:
        """The first thing that these say only together, in whichever order, and those that take part."""
        if len(memories) <= 1:
            return None
        for order in read_scanning.orders(memories):
            line = [memories[at] for at in order]
            for crossing in self._crossings(line):
                return crossing, [line[at] for at in crossing.parts]
        return None

    def _passes(self, memory: Memory, findings: tuple[Finding, ...] | None) -> bool:
        said = Judged(Word.HOLD_BACK)
        if findings is not None:
            said = read_scanning.judged(memory, findings, self._world.rules.write.policy)
        if said.word is Word.SHOW:
            self._own[memory.id] = frozenset(finding.rule for finding in findings or ())
            return True
        self.left_out += 1
        if said.word is Word.QUARANTINE and not self._is_past and memory.status is Status.ACTIVE:
            event = read_scanning.holding(memory, findings or (), said, self._world.moment.now)
            self.events.append(event)
        return False

    def _found(self, texts: Mapping[UUID, str]) -> dict[UUID, tuple[Finding, ...]]:
        """The verdicts on these texts: those that stand, and the others, which are asked for."""
        found: dict[UUID, tuple[Finding, ...]] = {}
        asking: list[UUID] = []
        for memory_id, text in texts.items():
            self._digests[memory_id] = self._world.keyring.digest(self._tenant, _DIGESTED, text)
            verdict = self._world.verdicts.texts.get(self._key(self._digests[memory_id]))
            if verdict is None:
                asking.append(memory_id)
            else:
                found[memory_id] = verdict
        if asking:
            self._ask({memory_id: texts[memory_id] for memory_id in asking}, found)
        return found

    def _ask(self, texts: Mapping[UUID, str], found: dict[UUID, tuple[Finding, ...]]) -> None:
        scanning = self._world.scanning
        outside: list[tuple[Finding, ...]] = [()] * len(texts)
        if scanning.asks_outside and self._failed < FAILED_MAX:
            outside = scanning.from_outside(list(texts.values()))
        for (memory_id, text), remote in zip(texts.items(), outside, strict=True):
            if self._failed >= FAILED_MAX:
                return
            verdict = (*scanning.findings(text), *remote)
            found[memory_id] = verdict
            if _is_whole(verdict):
                self._world.verdicts.texts.put(self._key(self._digests[memory_id]), verdict)
            else:
                self._failed += 1

    def _crossings(self, line: Sequence[Memory]) -> tuple[Crossing, ...]:
        """What stands across these when they are read in this order, by the scanners that run here."""
        key = self._key(b"".join(self._digests[memory.id] for memory in line))
        told = self._world.verdicts.joined.get(key)
        if told is None:
            told = self._read_as_one(line)
            if not any(crossing.kind is FindingKind.FAILURE for crossing in told):
                self._world.verdicts.joined.put(key, told)
        return told

    def _read_as_one(self, line: Sequence[Memory]) -> tuple[Crossing, ...]:
        contents = [memory.content or "" for memory in line]
        own = [self._own.get(memory.id, frozenset()) for memory in line]
        return read_scanning.crossings_of(contents, own, self._world.scanning.findings_across)

    def _key(self, digest: bytes) -> Key:
        return (*self._versions, digest)


class _Offered:
    """Candidates, best first, of which only what passes is offered; they are opened when they are needed."""

    def __init__(self, sieve: Sieve, batches: Iterable[Iterable[Candidate]], *, at_once: int) -> None:
        self._sieve = sieve
        self._batches = iter(batches)
        self._waiting: Iterator[Candidate] = iter(next(self._batches, ()))
        self._at_once = at_once
        self._passed: list[Candidate] = []

    def first(self, count: int, *, without: set[UUID]) -> Iterator[Candidate]:
        """As many as are wanted of those that pass, leaving these out."""
        place = 0
        while count > 0:
            if place == len(self._passed) and not self._draw(
                min(count, self._at_once), gave_way=bool(without)
            ):
                return
            for candidate in self._passed[place:]:
                place += 1
                if candidate[1].id not in without and count > 0:
                    count -= 1
                    yield candidate

    def close(self, ids: set[UUID]) -> None:
        """Offer these alone from now on."""
        self._passed = [candidate for candidate in self._passed if candidate[1].id in ids]
        self._waiting, self._batches = iter(()), iter(())

    def _draw(self, count: int, *, gave_way: bool) -> bool:
        """Look at the next candidates; whether there were any."""
        drawn = list(islice(self._waiting, count))
        # Another batch is asked for only in the place of what was left out.
        while not drawn and (gave_way or self._sieve.left_out):
            batch = next(self._batches, None)
            if batch is None:
                break
            self._waiting = iter(batch)
            drawn = list(islice(self._waiting, count))
        passing = self._sieve.passing([memory for _, memory in drawn])
        self._passed += [one for one, passes in zip(drawn, passing, strict=True) if passes]
        return bool(drawn)


def _is_whole(verdict: Iterable[Finding]) -> bool:
    return all(finding.kind is not FindingKind.FAILURE for finding in verdict)


def _not_raised_yet(world: World, tenant: str, alerts: Mapping[str, Event]) -> list[Event]:
    """Those of the alerts that nobody raised about the same memories within a day."""
    if not alerts:
        return []
    raised = world.reading.alerts(
        tenant, subjects=None, before_seq=None, limit=ALERTS_LOOKED_AT_MAX, kind=SPLIT_PAYLOAD
    )
    since = world.moment.now - ALERT_EVERY
    known = {row.about for row in raised if from_microseconds(row.raised_at) > since}
    return [
        event
        for event in alerts.values()
        if not (isinstance(event.data, AlertRaised) and event.data.about in known)
    ]
