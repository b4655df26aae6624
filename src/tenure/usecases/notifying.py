"""Telling the receiver of alerts: each alert at least once, those of a tenant in their order (SPEC I3).

How far it got is kept with the store, so that another node goes on there; only the node with the lease of
the upkeep sends. A failed delivery is tried again after a pause that doubles. What could not be delivered in
a day is given up, which is said aloud; the alert stays in the list.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from tenure.core.rows import AlertRow, from_microseconds
from tenure.usecases.outward import Notice, Notifier
from tenure.usecases.pipeline import Pipeline

PROGRESS: Final = "webhook"
GIVEN_UP_AFTER: Final = timedelta(days=1)
PAUSE_MIN: Final = timedelta(seconds=5)
PAUSE_MAX: Final = timedelta(minutes=15)
DELIVERIES_MAX: Final = 50
"""How many are sent in one round, at most; the next round goes on."""
ROUND_SECONDS_MAX: Final = timedelta(seconds=3)
"""After this long no further delivery is begun, so that a slow receiver holds the other rounds up little."""
_PAGE: Final = 20
_ID_BYTES: Final = 16


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the receiver reads of an alert: ids and counts, never content."""

    type: str
    tenant: str
    seq: int
    kind: str
    message: str
    about: str | None
    raised_at: datetime


class _Pause(NamedTuple):
    """When a tenant's next alert is tried again, and how often it failed."""

    until: datetime
    failures: int


class Messenger:
    """Sends what was raised, in rounds that are bounded in number and in time."""

    def __init__(self, pipeline: Pipeline, notifier: Notifier) -> None:
        self._pipeline = pipeline
        self._notifier = notifier
        self._pauses: dict[str, _Pause] = {}
        self._next_tenant = ""

    def round(self) -> int:
        """Send what waits; gives back how many were taken."""
        with self._pipeline.store.reading() as reading:
            tenants = sorted(reading.tenants())
        ends, delivered = self._pipeline.clock.now() + ROUND_SECONDS_MAX, 0
        # Whoever was not reached in this round is first in the next.
        ahead = [tenant for tenant in tenants if tenant >= self._next_tenant]
        for tenant in [*ahead, *tenants[: len(tenants) - len(ahead)]]:
            self._next_tenant = tenant
            if delivered >= DELIVERIES_MAX or self._pipeline.clock.now() >= ends:
                return delivered
            delivered += self._send(tenant, ends, DELIVERIES_MAX - delivered)
        self._next_tenant = ""
        return delivered

    def _send(self, tenant: str, ends: datetime, number_max: int) -> int:
        """Send a tenant's alerts until one fails."""
        pause = self._pauses.get(tenant)
        if pause is not None and self._pipeline.clock.now() < pause.until:
            return 0
        delivered = 0
        for row in self._waiting(tenant, number_max):
            if delivered and self._pipeline.clock.now() >= ends:
                break
            because = self._notifier.deliver(self._notice(row))
            self._count("failed" if because is not None else "delivered")
            if because is not None:
                self._failed(tenant, because)
                break
            delivered += 1
            self._pauses.pop(tenant, None)
            self._pipeline.store.keep_progress(PROGRESS, tenant, row.seq)
        return delivered

    def _waiting(self, tenant: str, number_max: int) -> list[AlertRow]:
        with self._pipeline.store.reading() as reading:
            after = reading.progress(PROGRESS, tenant)
            rows = reading.alerts_behind(tenant, after=after, limit=min(_PAGE, number_max))
        if after == 0 and tenant not in self._pauses and self._is_too_old(rows):
            self._give_up(tenant, "they were raised long before a receiver was named")
            return self._waiting(tenant, number_max)
        return rows

    def _is_too_old(self, rows: list[AlertRow]) -> bool:
        """Whether the first of them is one that nobody waits for any more."""
        before = self._pipeline.clock.now() - GIVEN_UP_AFTER
        return bool(rows) and from_microseconds(rows[0].raised_at) <= before

    def _failed(self, tenant: str, because: str) -> None:
        """Wait longer than the last time, and give up what is too old to matter to anybody there."""
        now = self._pipeline.clock.now()
        before = self._pauses.get(tenant)
        failures = before.failures + 1 if before is not None else 1
        pause = min(PAUSE_MAX, PAUSE_MIN * 2 ** min(failures - 1, 10))
        self._pauses[tenant] = _Pause(now + pause, failures)
        self._give_up(tenant, because)

    def _give_up(self, tenant: str, because: str) -> None:
        """Pass over the alerts at the head of the line that are too old, and say how many they were."""
        number = 0
        with self._pipeline.store.reading() as reading:
            last = reading.progress(PROGRESS, tenant)
            rows = reading.alerts_behind(tenant, after=last, limit=_PAGE)
            while self._is_too_old(rows):
                number, last, rows = number + 1, rows[0].seq, rows[1:]
                rows = rows or reading.alerts_behind(tenant, after=last, limit=_PAGE)
        if number:
            self._pipeline.store.keep_progress(PROGRESS, tenant, last)
            self._count("given_up", number)
            self._notifier.gave_up(number, because)

    def _notice(self, row: AlertRow) -> Notice:
        raised_at = from_microseconds(row.raised_at)
        told = Told(
            type="alert.raised",
            tenant=row.tenant,
            seq=row.seq,
            kind=row.kind,
            message=row.message,
            about=row.about,
            raised_at=raised_at,
        )
        digest = self._pipeline.keyring.digest(row.tenant, "webhook", str(row.seq))
        return Notice(
            id=f"msg_{digest[:_ID_BYTES].hex()}",
            at=self._pipeline.clock.now(),
            body=msgspec.json.encode(told),
        )

    def _count(self, result: str, number: int = 1) -> None:
        if self._pipeline.observer is not None:
            self._pipeline.observer.delivered(result, number)
