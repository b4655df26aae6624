"""What in a tenant's log a person should look at: detection as a fold over its events (SPEC I3). Pure.

    watch = Watch(rules)
    for seq, event in the_log:
        alerts = watch.observe(event, seq)

Laws: time is that of the events; the same events give the same alerts; at most one alert of a kind about one
thing within its window, those counted that the log already has; memory has an upper limit.

What is kept of one thing is exactly what its threshold needs: the newest so many entries. Of each kind
``KEYS_MAX`` things are kept, those that were seen last: whoever floods a tenant with ever new sources can
make it forget slow ones; what floods is then an alert itself, by its connector.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from tenure.core.admission import EXTERNAL
from tenure.core.events import Admitted, AlertRaised, Event, Quarantined, Refused, Revised
from tenure.core.rows import CONNECTOR
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind, Verdict

KEYS_MAX: Final = 10_000
"""Most things of one kind that are watched at once in a tenant."""
FINGERPRINT_DIGITS: Final = 16
"""How much of a fingerprint, which is a keyed digest, an alert names."""

_SENSITIVE: Final = frozenset({FindingKind.SENSITIVE, FindingKind.CREDENTIAL, FindingKind.ATTACK})

K = TypeVar("K")


class AlertKind(StrEnum):
    """What is watched for."""

    WRITE_SURGE = "write_surge"
    REPEATED_SENSITIVE = "repeated_sensitive"
    SPREAD_FINGERPRINT = "spread_fingerprint"
    WIDE_SOURCE = "wide_source"


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """How many within how long; 0 watches for nothing."""

    count: int
    within: timedelta


class WatchRules(msgspec.Struct, frozen=True, kw_only=True):
    """From where on something is an alert: more writes than so many, else so many or more."""

    write_surge: Threshold = Threshold(count=300, within=timedelta(minutes=1))
    repeated_sensitive: Threshold = Threshold(count=5, within=timedelta(minutes=10))
    spread_fingerprint: Threshold = Threshold(count=5, within=timedelta(days=1))
    wide_source: Threshold = Threshold(count=3, within=timedelta(days=1))

    def of(self, kind: AlertKind) -> Threshold:
        """The threshold of one kind."""
        threshold: Threshold = getattr(self, kind.value)
        return threshold

    @property
    def longest(self) -> timedelta:
        """How far back anything counts; nothing where all is off."""
        thresholds = [self.of(kind) for kind in AlertKind]
        return max((one.within for one in thresholds if one.count), default=timedelta())


class _Sighting(NamedTuple):
    """One event counts once for one thing: what is counted are different members."""

    kind: AlertKind
    about: str
    member: int | str


_MESSAGES: Final = MappingProxyType(
    {
        AlertKind.WRITE_SURGE: "{about} wrote more than {count:,} proposals from outside within {within}",
        AlertKind.REPEATED_SENSITIVE: "{count:,} sensitive proposals came from {about} within {within}",
        AlertKind.SPREAD_FINGERPRINT: "one text was proposed for {count:,} subjects within {within}",
        AlertKind.WIDE_SOURCE: "{about} reached {count:,} agents within {within}",
    }
)


class Watch:
    """What a tenant's log has shown lately."""

    def __init__(self, rules: WatchRules, *, keys_max: int = KEYS_MAX) -> None:
        self._rules = rules
        self._seen = {kind: _Recent(rules.of(kind), _needed(rules, kind), keys_max) for kind in AlertKind}
        self._raised: _Newest[tuple[str, str]] = _Newest(len(AlertKind) * keys_max)

    def observe(self, event: Event, seq: int) -> tuple[AlertRaised, ...]:
        """Take in the next event of the log; gives the alerts that it sets off."""
        alerts: list[AlertRaised] = []
        for one in self._take(event, seq):
            threshold = self._rules.of(one.kind)
            if not self._was_raised(one, event.at, threshold.within):
                self.note(one.kind, one.about, event.at)
                alerts.append(_alert(one, threshold))
        return tuple(alerts)

    def recollect(self, event: Event, seq: int) -> None:
        """Take in an event that was observed before, without setting anything off."""
        for _ in self._take(event, seq):
            pass

    def note(self, kind: str, about: str | None, at: datetime) -> None:
        """Take in that an alert was raised."""
        self._raised.put((kind, about or ""), at)

    def _take(self, event: Event, seq: int) -> Iterator[_Sighting]:
        """Count an event; gives what is at its threshold with it."""
        if isinstance(event.data, AlertRaised):
            self.note(event.data.kind, event.data.about, event.at)
            return
        for one in _sightings(event, seq):
            if self._rules.of(one.kind).count and self._seen[one.kind].put(one.about, one.member, event.at):
                yield one

    def _was_raised(self, one: _Sighting, at: datetime, within: timedelta) -> bool:
        before = self._raised.get((one.kind.value, one.about))
        return before is not None and at < before + within


class _Newest(Generic[K]):
    """The last time of each of the things that were seen last."""

    def __init__(self, keys_max: int) -> None:
        self._keys_max = keys_max
        self._times: OrderedDict[K, datetime] = OrderedDict()

    def get(self, key: K) -> datetime | None:
        """Its last time."""
        return self._times.get(key)

    def put(self, key: K, at: datetime) -> None:
        """A later time of it; an earlier one changes nothing."""
        self._times[key] = max(at, self._times.get(key, at))
        self._times.move_to_end(key)
        if len(self._times) > self._keys_max:
            self._times.popitem(last=False)


class _Recent:
    """Of each of the things that were seen last, the newest members, as many as are needed."""

    def __init__(self, threshold: Threshold, needed: int, keys_max: int) -> None:
        self._within = threshold.within
        self._needed = needed
        self._keys_max = keys_max
        self._keys: OrderedDict[str, dict[int | str, datetime]] = OrderedDict()

    def put(self, key: str, member: int | str, at: datetime) -> bool:
        """Add a member; whether as many as are needed were there within the window."""
        members = self._keys.setdefault(key, {})
        self._keys.move_to_end(key)
        members.pop(member, None)
        members[member] = at
        if len(members) > self._needed:
            del members[next(iter(members))]
        self._let_go(at)
        return len(members) == self._needed and next(iter(members.values())) > at - self._within

    def _let_go(self, at: datetime) -> None:
        """Forget what no later event can count with, and what is too much."""
        while len(self._keys) > self._keys_max or self._is_over(at):
            self._keys.popitem(last=False)

    def _is_over(self, at: datetime) -> bool:
        oldest = next(iter(self._keys.values()))
        return next(reversed(oldest.values())) <= at - self._within


def _needed(rules: WatchRules, kind: AlertKind) -> int:
    """How many members set an alert off: of writes one more than are let pass."""
    count = rules.of(kind).count
    return count + 1 if kind is AlertKind.WRITE_SURGE else count


def _sightings(event: Event, seq: int) -> Iterator[_Sighting]:
    """What an event counts for: proposals alone, corrections and refused ones among them."""
    data = event.data
    if not isinstance(data, Admitted | Quarantined | Revised | Refused):
        return
    connector = f"{CONNECTOR}:{event.actor}"
    if data.source_type in EXTERNAL:
        yield _Sighting(AlertKind.WRITE_SURGE, connector, seq)
    if _is_sensitive(data):
        yield _Sighting(AlertKind.REPEATED_SENSITIVE, connector, seq)
        yield _Sighting(AlertKind.REPEATED_SENSITIVE, f"{data.source_type}:{data.source_id}", seq)
    fingerprint = _fingerprint(event)
    if fingerprint is not None and event.subject is not None:
        about = f"fingerprint:{fingerprint.hex()[:FINGERPRINT_DIGITS]}"
        yield _Sighting(AlertKind.SPREAD_FINGERPRINT, about, event.subject)
    if isinstance(data, Admitted | Quarantined):
        for about in sorted(_sources_outside(data)):
            yield _Sighting(AlertKind.WIDE_SOURCE, about, data.agent)


def _is_sensitive(data: Admitted | Quarantined | Revised | Refused) -> bool:
    found: Iterable[Verdict] = data.findings
    kind = None if isinstance(data, Revised) else data.kind
    return kind is Kind.SENSITIVE_CHANGE or any(one.kind in _SENSITIVE for one in found)


def _fingerprint(event: Event) -> bytes | None:
    if isinstance(event.data, Refused):
        return event.data.fingerprint
    return event.secret.fingerprint if event.secret is not None else None


def _sources_outside(data: Admitted | Quarantined) -> set[str]:
    """The sources from outside that a memory has text from, whoever passed it on."""
    named = [(data.source_type, data.source_id), *((one.type, one.id) for one in data.origins)]
    return {f"{source_type}:{source_id}" for source_type, source_id in named if source_type in EXTERNAL}


def _alert(one: _Sighting, threshold: Threshold) -> AlertRaised:
    message = _MESSAGES[one.kind].format(
        about=one.about, count=threshold.count, within=_in_words(threshold.within)
    )
    return AlertRaised(kind=one.kind.value, message=message, about=one.about)


def _in_words(within: timedelta) -> str:
    seconds = round(within.total_seconds())
    for unit, size in (("hour", 3_600), ("minute", 60)):
        if seconds % size == 0:
            return _plural(seconds // size, unit)
    return _plural(seconds, "second")


def _plural(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"
