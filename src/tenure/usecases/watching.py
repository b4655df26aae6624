"""Watching every tenant's log for what a person should look at (SPEC I3): the rules are in core/watching.py.

How far it got is kept with the store, what was seen lately only in memory. So a node that takes the work over
reads the last events before that place once more, without raising anything; what was raised already it finds
among the alerts. What is older than the longest window is history, and never an alert: the first start on a
store that is full of it raises none for that.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

import msgspec

from tenure.core.events import (
    NAMES,
    Admitted,
    AlertRaised,
    Event,
    Header,
    Quarantined,
    Refused,
    Revised,
    decode_event,
    decode_header,
)
from tenure.core.retention import UPKEEP
from tenure.core.rows import from_microseconds
from tenure.core.watching import Watch
from tenure.usecases.log_times import position_before, time_at
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, Appended, Idempotency, Keyring, Reading, StoredEvent
from tenure.usecases.sealing import open_event, seal

PROGRESS: Final = "watch"
WARMING_EVENTS_MAX: Final = 20_000
"""How many events are read again, at most, when a tenant's log is taken over."""
ALERTS_LOOKED_AT_MAX: Final = 1_000
TENANTS_MAX: Final = 500
"""How many tenants' recent past is kept in memory; that of others is read again when something happens."""
PAGES_MAX: Final = 10
"""How many full pages one round reads, at most, over all tenants."""
_PAGE: Final = 500
_NOT_AS_WRITTEN: Final = (ValueError, msgspec.MsgspecError)
_WATCHED: Final = frozenset(
    NAMES[shape][0] for shape in (Admitted, Quarantined, Revised, Refused, AlertRaised)
)


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """What a round found; ``more`` says that a tenant's log goes on behind what was read."""

    alerted: int = 0
    more: bool = False


class _Place:
    """How far one tenant's log was read, and what was seen there lately."""

    __slots__ = ("seq", "watch")

    def __init__(self, seq: int, watch: Watch) -> None:
        self.seq = seq
        self.watch = watch


class Watcher:
    """Reads on in every tenant's log, one page a round, and raises what is found there."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._rules = pipeline.rules.watch
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._next_tenant = ""

    def round(self, *, batch_size: int) -> Watched:
        """One page of each tenant's log behind the last, as far as a round goes."""
        if not self._rules.longest:
            return Watched()
        with self._pipeline.store.reading() as reading:
            tenants = sorted(reading.tenants())
        # Whoever was not reached in the last round is first in this one.
        ahead = [tenant for tenant in tenants if tenant >= self._next_tenant]
        watched, left = Watched(), PAGES_MAX * batch_size
        for tenant in [*ahead, *tenants[: len(tenants) - len(ahead)]]:
            self._next_tenant = tenant
            if left <= 0:
                return Watched(alerted=watched.alerted, more=True)
            alerted, read = self._read_on(tenant, batch_size)
            left -= read
            watched = Watched(alerted=watched.alerted + alerted, more=watched.more or read == batch_size)
        self._next_tenant = ""
        return watched

    def _read_on(self, tenant: str, batch_size: int) -> tuple[int, int]:
        """One page of a tenant's log: how many alerts it set off, and how many events it had."""
        # Put back at the end: after a fault on the way it is read again from what is kept.
        place = self._places.pop(tenant, None)
        with self._pipeline.store.reading() as reading:
            head, _link = reading.head(tenant)
            if place is None or place.seq != head:
                place = self._placed(reading, tenant, place, head)
            page = reading.log(tenant, after=place.seq, limit=batch_size) if place.seq < head else []
        alerted = self._raise(tenant, list(self._alerts(place.watch, page)))
        if page:
            place.seq = page[-1].seq
            self._pipeline.store.keep_progress(PROGRESS, tenant, place.seq)
        self._put_back(tenant, place)
        return alerted, len(page)

    def _put_back(self, tenant: str, place: _Place) -> None:
        self._places[tenant] = place
        if len(self._places) > TENANTS_MAX:
            self._places.popitem(last=False)

    def _alerts(self, watch: Watch, page: list[StoredEvent]) -> Iterator[tuple[int, Event]]:
        """The alerts that a page sets off, each with the position of what set it off."""
        for stored in page:
            event = _opened(stored, self._pipeline.keyring)
            if event is not None:
                for alert in watch.observe(event, stored.seq):
                    yield (
                        stored.seq,
                        Event(tenant=event.tenant, at=self._pipeline.clock.now(), actor=UPKEEP, data=alert),
                    )

    def _raise(self, tenant: str, alerts: list[tuple[int, Event]]) -> int:
        """Store alerts; of two nodes that found the same at the same place, one raises it."""
        appends = [
            Append(
                tenant=tenant,
                events=(seal(event, self._pipeline.keyring),),
                # No caller's key has a character like this one.
                idempotency=Idempotency(key=f"\x1falert {seq} {_what(event)}", request=b""),
            )
            for seq, event in alerts
        ]
        results = self._pipeline.append(appends) if appends else []
        return sum(isinstance(result, Appended) for result in results)

    def _placed(self, reading: Reading, tenant: str, place: _Place | None, head: int) -> _Place:
        """Where to read on: where this node stopped, if no other has read on since; else warmed up."""
        kept = min(reading.progress(PROGRESS, tenant), head)
        if place is not None and place.seq == kept:
            return place
        oldest = self._pipeline.clock.now() - self._rules.longest
        begin = position_before(reading, tenant, oldest, low=kept, high=head)
        return _Place(begin, self._warmed(reading, tenant, begin))

    def _warmed(self, reading: Reading, tenant: str, begin: int) -> Watch:
        """A watch that has seen what lies before a place, as far as it can still count."""
        watch = Watch(self._rules)
        for alert in reading.alerts(tenant, subjects=None, before_seq=None, limit=ALERTS_LOOKED_AT_MAX):
            watch.note(alert.kind, alert.about, from_microseconds(alert.raised_at))
        at = time_at(reading, tenant, begin)
        if at is None:
            return watch
        earliest = max(0, begin - WARMING_EVENTS_MAX)
        after = position_before(reading, tenant, at - self._rules.longest, low=earliest, high=begin)
        for stored in _pages(reading, tenant, after=after, up_to=begin):
            event = _opened(stored, self._pipeline.keyring)
            if event is not None:
                watch.recollect(event, stored.seq)
        return watch


def _what(event: Event) -> str:
    return f"{event.data.kind} {event.data.about}" if isinstance(event.data, AlertRaised) else ""


def _opened(stored: StoredEvent, keyring: Keyring) -> Event | None:
    """An event that is watched for; one whose secret was tampered with counts without it."""
    header = _header(stored)
    if header is None or header.type not in _WATCHED:
        return None
    try:
        return open_event(stored, keyring)
    except _NOT_AS_WRITTEN:
        return _without_secret(header)


def _without_secret(header: Header) -> Event | None:
    try:
        return decode_event(header, None)
    except _NOT_AS_WRITTEN:
        return None


def _header(stored: StoredEvent) -> Header | None:
    """None for what is no event any more: 'tenure log verify' tells of it, and the watch goes on."""
    try:
        return decode_header(stored.header)
    except _NOT_AS_WRITTEN:
        return None


def _pages(reading: Reading, tenant: str, *, after: int, up_to: int) -> Iterator[StoredEvent]:
    while after < up_to:
        page = reading.log(tenant, after=after, limit=min(_PAGE, up_to - after))
        if not page:
            return
        yield from page
        after = page[-1].seq
