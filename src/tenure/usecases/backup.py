"""Backing a store up, and restoring it with every forget made since (SPEC F11, L9).

A backup is the log itself with the answers that idempotency keys stand for: no key, no view, no word index.
For each tenant it is consistent: the answers and the end of the log are read from one look, and the log is
read up to there.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol, TypeVar
from uuid import UUID

import msgspec

from tenure.core import ledger, tampering
from tenure.core.backup import FORGET_NAMES, Forget, Manifest, TenantPart, forget_of, outstanding
from tenure.core.errors import InvalidRequest, Unavailable
from tenure.core.events import ErasureBegun, Event, UnknownEvent, decode_header
from tenure.core.ledger import GENESIS, ChainedEvent
from tenure.core.tampering import Break
from tenure.usecases.access import LOCAL_OPERATOR
from tenure.usecases.erasure import finish_begun
from tenure.usecases.evidence import LogLine, line_of, stored_of
from tenure.usecases.paging import batched
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import FirstAnswer, ReturnedPage, StoredEvent
from tenure.usecases.sealing import open_event, seal

PAGE: Final = 1_000
LOG_NAME: Final = "log.jsonl"
ANSWERS_NAME: Final = "answers.jsonl"
_MARKS: Final = tuple(f'"{name}"' for name in FORGET_NAMES)
"""One of these is in the header of every forget; which other headers have one too is found by decoding."""

S = TypeVar("S")


class AnswerLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the answers: an idempotency key, what it was used for, and what was answered."""

    tenant: str
    key: str
    request: bytes
    seq: int
    outcome: bytes


class Piece(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a backup is made of, in the order in which it comes; one member is set, a tenant's part last."""

    log: LogLine | None = None
    answer: AnswerLine | None = None
    tenant: TenantPart | None = None


class Copy(Protocol):
    """A backup that can be read again and again."""

    @property
    def manifest(self) -> Manifest:
        """What is in it."""

    def log(self) -> Iterator[bytes]:
        """The lines of the log."""

    def answers(self) -> Iterator[bytes]:
        """The lines of the answers."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What a restore put back; ``unopened`` of the sealed contents have no key in this keyring."""

    tenants: int
    events: int
    answers: int
    forgets: int
    sealed: int
    unopened: int


def back_up(pipeline: Pipeline) -> Iterator[Piece]:
    """Everything that a backup holds, tenant by tenant."""
    pipeline.store.settle()
    with pipeline.store.reading() as reading:
        tenants = reading.tenants()
    for tenant in tenants:
        kept, after = 0, ""
        with pipeline.store.reading() as reading:
            seq, link = reading.head(tenant)
            while page := reading.answers(tenant, after=after, limit=PAGE):
                for key, first in page:
                    yield Piece(answer=_answer_line(tenant, key, first))
                kept, after = kept + len(page), page[-1][0]
        for stored in islice(pipeline.store.export(tenant), seq):
            yield Piece(log=line_of(tenant, stored))
        if seq or kept:
            yield Piece(tenant=TenantPart(tenant=tenant, events=seq, link=link.hex(), answers=kept))


def check(copy: Copy, *, hint: str) -> set[bytes]:
    """Whether a backup is whole and its chains hold; gives back the links of the forgets that it keeps.

    Raises Unavailable that says where it is not; ``hint`` is what to do then.
    """
    try:
        return _checked(copy)
    except _Broken as fault:
        raise Unavailable(str(fault), hint=hint) from None


def forgets_in(lines: Iterable[bytes], name: str) -> list[Forget]:
    """The forgets among the lines of an export, or of the log of a backup; ``name`` is for the message."""
    try:
        return [forget for line in _lines(lines, LogLine, name) for forget in _forget(line)]
    except _Broken as fault:
        raise InvalidRequest(
            str(fault), field="forgets", hint="Give a whole export ('tenure log export') or a backup."
        ) from None


def forget_in(line: LogLine) -> Forget | None:
    """The forget that a line is, if it is one."""
    return next(iter(_forget(line)), None)


def restore(
    pipeline: Pipeline, copy: Copy, later: Iterable[Iterable[Forget]] = (), *, without_keys: bool = False
) -> Restored:
    """Put a backup into an empty store, forgetting again whoever was forgotten since; whole, or not at all.

    What was forgotten since is known from the store's own record beside the log, and from what is given.
    """
    kept = check(copy, hint="Restore another backup; nothing was changed.")
    with pipeline.store.reading() as reading:
        if any(reading.head(tenant)[0] for tenant in reading.tenants()):
            raise InvalidRequest(
                "this store is not empty, and a restore never mixes two logs",
                hint="Restore before the first start of a server, into a new folder or a new database.",
            )
    return put_back(pipeline, copy, kept, later, without_keys=without_keys)


def put_back(
    pipeline: Pipeline,
    copy: Copy,
    kept: set[bytes],
    later: Iterable[Iterable[Forget]] = (),
    *,
    without_keys: bool,
    only: frozenset[str] | None = None,
) -> Restored:
    """Store what was checked, with the forgets that it lacks; ``only`` those of these tenants."""
    recorded = [
        forget for tenant, stored in pipeline.store.forgets() for forget in _forget(line_of(tenant, stored))
    ]
    lacking = outstanding(kept, [recorded, *map(list, later)])
    missing = [forget for forget in lacking if only is None or forget.tenant in only]
    _record(pipeline, recorded, missing)
    tally = _Tally()
    pipeline.store.restore(_pages(pipeline, copy, missing, tally, without_keys=without_keys))
    finish_begun(pipeline)
    return Restored(
        tenants=len(copy.manifest.tenants),
        events=sum(part.events for part in copy.manifest.tenants),
        answers=sum(part.answers for part in copy.manifest.tenants),
        forgets=len(missing),
        sealed=tally.sealed,
        unopened=tally.unopened,
    )


def _record(pipeline: Pipeline, recorded: list[Forget], missing: list[Forget]) -> None:
    """Put forgets that were only given into the store's own record: the next restore knows of them."""
    known = {forget.link for forget in recorded}
    unknown = [forget for forget in missing if forget.link not in known]
    pipeline.store.record_forgets(
        [
            (
                forget.tenant,
                StoredEvent(0, seal(_carried_out(pipeline, forget), pipeline.keyring).header, None, b""),
            )
            for forget in unknown
        ]
    )


def _carried_out(pipeline: Pipeline, forget: Forget) -> Event:
    return forget.again(now=pipeline.clock.now(), actor=LOCAL_OPERATOR)


class _Broken(Exception):
    """A file of a backup is not what was written."""


@dataclass(slots=True)
class _Tally:
    """How many contents went by, and how many of them no key here opens."""

    sealed: int = 0
    unopened: int = 0
    erased: int = 0
    """Of those that do not open, how many were sealed under keys that an erasure since destroyed."""


def _answer_line(tenant: str, key: str, first: FirstAnswer) -> AnswerLine:
    return AnswerLine(tenant=tenant, key=key, request=first.request, seq=first.seq, outcome=first.outcome)


def _checked(copy: Copy) -> set[bytes]:
    kept: set[bytes] = set()
    log, answers, before = _log_of(copy), _answers_of(copy), 0
    for part in copy.manifest.tenants:
        rows = _from_here_first(_chain(part, log, kept), _again_from(copy, part, before))
        found = tampering.verify(part.tenant, rows, head=(part.events, _link(part)))
        if isinstance(found, Break):
            where = f"the log of tenant {part.tenant!r} breaks at event {found.seq}"
            raise _Broken(f"{where}: {found.damage}: {found.because}")
        before += part.events
        theirs = sum(answer.tenant == part.tenant for answer in islice(answers, part.answers))
        if theirs != part.answers:
            raise _Broken(f"{ANSWERS_NAME} has not all answers of tenant {part.tenant!r}")
    for name, rest in ((LOG_NAME, log), (ANSWERS_NAME, answers)):
        if next(rest, None) is not None:
            raise _Broken(f"{name} has more in it than the manifest says")
    return kept


def _from_here_first(
    here: Iterator[ChainedEvent], again: Callable[[], Iterator[ChainedEvent]]
) -> Callable[[], Iterator[ChainedEvent]]:
    """What is read on from here the first time, and from its start whenever it is asked for again."""
    first = [here]
    return lambda: first.pop() if first else again()


def _again_from(copy: Copy, part: TenantPart, before: int) -> Callable[[], Iterator[ChainedEvent]]:
    """A tenant's events, read anew."""
    return lambda: _chain(part, islice(_log_of(copy), before, None), None)


def _chain(part: TenantPart, log: Iterator[LogLine], kept: set[bytes] | None) -> Iterator[ChainedEvent]:
    """A tenant's events for the walk along its chain, noting the forgets that go by."""
    for line in islice(log, part.events):
        if line.tenant != part.tenant:
            return
        stored = stored_of(line)
        yield ChainedEvent(stored.seq, stored.header, stored.body, stored.link)
        if kept is not None:
            # The walk goes on only where the event was sound, so its header can be read.
            kept.update(forget.link for forget in _forget(line))


def _forget(line: LogLine) -> list[Forget]:
    """The forget that a line is, if it is one."""
    if not any(mark in line.header for mark in _MARKS):
        return []
    forget = forget_of(decode_header(line.header), bytes.fromhex(line.link))
    return [forget] if forget is not None else []


def _pages(
    pipeline: Pipeline, copy: Copy, missing: list[Forget], tally: _Tally, *, without_keys: bool
) -> Iterator[ReturnedPage]:
    """The backup, each tenant's log with the forgets that it lacks at its end."""
    log, answers = _log_of(copy), _answers_of(copy)
    known = {part.tenant for part in copy.manifest.tenants}
    unknown = [
        TenantPart(tenant=tenant, events=0, link=GENESIS.hex())
        for tenant in dict.fromkeys(forget.tenant for forget in missing)
        if tenant not in known
    ]
    destroyed = frozenset(key for forget in missing for key in _destroyed(forget))
    for part in (*copy.manifest.tenants, *unknown):
        for lines in batched(islice(log, part.events), PAGE):
            events = tuple(map(stored_of, lines))
            _count(events, pipeline, tally, destroyed)
            yield ReturnedPage(tenant=part.tenant, events=events)
        again = _again(pipeline, part, [forget for forget in missing if forget.tenant == part.tenant])
        yield ReturnedPage(tenant=part.tenant, events=again)
        for kept in batched(islice(answers, part.answers), PAGE):
            yield ReturnedPage(tenant=part.tenant, answers=tuple(map(_first_answer, kept)))
    if tally.unopened > tally.erased and tally.sealed == tally.unopened and not without_keys:
        raise InvalidRequest(
            f"none of the {tally.sealed:,} sealed contents opens with the keys that are here; "
            "nothing was restored",
            hint="A backup holds no keys: put the keyring and the root key of its store here first "
            "(docs/operations.md). --without-keys restores the log as evidence, without any content.",
        )


def _again(pipeline: Pipeline, part: TenantPart, missing: list[Forget]) -> tuple[StoredEvent, ...]:
    """The events that carry forgets out again, linked to the end of a tenant's log."""
    seq, link, events = part.events, _link(part), []
    for forget in missing:
        seq, header = seq + 1, seal(_carried_out(pipeline, forget), pipeline.keyring).header
        link = ledger.link(link, seq, header)
        events.append(StoredEvent(seq, header, None, link))
    return tuple(events)


def _destroyed(forget: Forget) -> tuple[UUID, ...]:
    data = forget.event.data
    return data.keys if isinstance(data, ErasureBegun) else ()


def _count(
    events: tuple[StoredEvent, ...], pipeline: Pipeline, tally: _Tally, destroyed: frozenset[UUID]
) -> None:
    for stored in events:
        if stored.body is None:
            continue
        try:
            opened = open_event(stored, pipeline.keyring).secret is not None
        except UnknownEvent as fault:
            raise Unavailable(str(fault), hint="Restore it with the newer version of tenure.") from None
        tally.sealed += 1
        tally.unopened += not opened
        if not opened and destroyed:
            tally.erased += decode_header(stored.header).dek in destroyed


def _first_answer(line: AnswerLine) -> tuple[str, FirstAnswer]:
    return line.key, FirstAnswer(request=line.request, seq=line.seq, outcome=line.outcome)


def _link(part: TenantPart) -> bytes:
    try:
        return bytes.fromhex(part.link)
    except ValueError:
        raise _Broken(f"the manifest's link of tenant {part.tenant!r} is damaged") from None


def _log_of(copy: Copy) -> Iterator[LogLine]:
    return _lines(copy.log(), LogLine, LOG_NAME)


def _answers_of(copy: Copy) -> Iterator[AnswerLine]:
    return _lines(copy.answers(), AnswerLine, ANSWERS_NAME)


def _lines(lines: Iterable[bytes], kind: type[S], name: str) -> Iterator[S]:
    """Decode line by line; raises _Broken that names the first line that cannot be read."""
    decoder = msgspec.json.Decoder(kind)
    for number, text in enumerate(lines, start=1):
        try:
            line = decoder.decode(text)
            if isinstance(line, LogLine):
                stored_of(line)
        except ValueError:
            raise _Broken(f"line {number} of {name} cannot be read") from None
        yield line
