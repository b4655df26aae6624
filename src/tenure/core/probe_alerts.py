"""What a person is told of memories whose probes failed, and hold again later (SPEC T6, I3). Pure.

Laws: an alert names the memory and the kind of thing that was looked at, and never what it was; a failure is
told once, until it is told that the memory holds again; and so at most once a day.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from tenure.core.events import AlertRaised, Event
from tenure.core.memory import Memory
from tenure.core.probe_advice import ProbeOutcome, TargetKind
from tenure.core.retention import UPKEEP
from tenure.core.rows import AlertRow, from_microseconds

PROBE_FAILED: Final = "probe_failed"
PROBE_HOLDS_AGAIN: Final = "probe_holds_again"
KINDS: Final = (PROBE_FAILED, PROBE_HOLDS_AGAIN)
ALERT_EVERY: Final = timedelta(days=1)

_THINGS: Final = MappingProxyType(
    {
        TargetKind.URL: "an address on the web",
        TargetKind.ENDPOINT: "a host and port",
        TargetKind.DNS_NAME: "a DNS name",
        TargetKind.PATH: "a file or folder",
        TargetKind.FLAG: "a feature flag",
    }
)


def kind_of(outcome: ProbeOutcome, last: AlertRow | None, now: datetime) -> str | None:
    """Which alert an outcome is, after the last one about the same memory; None where nobody needs it."""
    was_failing = last is not None and last.kind == PROBE_FAILED
    if outcome is ProbeOutcome.HOLDS:
        return PROBE_HOLDS_AGAIN if was_failing else None
    if outcome is not ProbeOutcome.FAILS or was_failing:
        return None
    is_late_enough = last is None or now - from_microseconds(last.raised_at) >= ALERT_EVERY
    return PROBE_FAILED if is_late_enough else None


def last_of(rows: Iterable[AlertRow], about: str) -> AlertRow | None:
    """The last of these alerts about a memory."""
    return max((row for row in rows if row.about == about), key=lambda row: row.seq, default=None)


def alert(kind: str, memory: Memory, looked_at: TargetKind, now: datetime) -> Event:
    """The alert of this kind about a memory."""
    thing = _THINGS[looked_at]
    said = (
        f"a probe of memory {memory.id} failed: {thing} that it names is not as it says; look at the memory"
        if kind == PROBE_FAILED
        else f"memory {memory.id} holds again: {thing} that it names was found"
    )
    return Event(
        tenant=memory.tenant,
        at=now,
        actor=UPKEEP,
        subject=memory.subject,
        data=AlertRaised(kind=kind, message=said, about=str(memory.id)),
    )
