"""What a backup consists of, and which forgets a restore carries out again (SPEC F11). Pure.

    manifest.json   the manifest: for each tenant, in order, how much of it there is, and where its log ends
    log.jsonl       the events, tenant by tenant, each line as an export has it; contents stay sealed
    answers.jsonl   what idempotency keys stand for, tenant by tenant: digests of requests, no content

Law: a forget is known by the link of its first event, which no other event can have. A restored log either
has that event, or an event that carries it out again and names it.

Rule of change: a format that was written once is read for ever. Members are added with defaults; anything
else is a new number.
"""

from collections.abc import Container, Iterable
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from tenure.core.events import (
    FORGETS,
    NAMES,
    Event,
    Header,
    MemoryForgotten,
    ScopedKeyForgotten,
    decode_event,
)

FORMAT: Final = 1
FORGET_NAMES: Final = frozenset(NAMES[kind][0] for kind in FORGETS)
"""The types of events that forget something."""


class TenantPart(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a tenant a backup has, and the link that its log ends with."""

    tenant: str
    events: int
    link: str
    answers: int = 0


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a backup."""

    format: int
    made_at: datetime
    log_sha256: str
    answers_sha256: str
    tenants: tuple[TenantPart, ...]


class Forget(NamedTuple):
    """What was forgotten: the event that did it, and the link of the event that did it first."""

    tenant: str
    subject: str
    link: bytes
    what: str
    """What exactly was forgotten: a later forget of the same thing took whatever this one did."""
    event: Event

    def again(self, *, now: datetime, actor: str) -> Event:
        """The event that carries it out once more, at the end of a restored log."""
        data = self.event.data
        if not isinstance(data, FORGETS):
            raise TypeError("only a forgetting is carried out again")
        first_at = data.first_at or self.event.at
        return msgspec.structs.replace(
            self.event,
            at=now,
            actor=actor,
            data=msgspec.structs.replace(data, again=self.link, first_at=first_at),
        )


def forget_of(header: Header, link: bytes) -> Forget | None:
    """The forget that a stored event is, or carries out again; None for any other event."""
    if header.type not in FORGET_NAMES or header.subject is None:
        return None
    event = decode_event(header, None)
    data = event.data
    if not isinstance(data, FORGETS):
        return None
    return Forget(header.tenant, header.subject, data.again or link, _what(event), event)


def outstanding(kept: Container[bytes], sources: Iterable[Iterable[Forget]]) -> list[Forget]:
    """What has to be forgotten again in a log that keeps these forgets.

    Of each source the last forget of a thing counts: it took whatever those before it did. When in doubt,
    something is forgotten once more.
    """
    found: dict[bytes, Forget] = {}
    for source in sources:
        last = {(forget.tenant, forget.subject, forget.what): forget for forget in source}
        found |= {forget.link: forget for forget in last.values() if forget.link not in kept}
    return list(found.values())


def _what(event: Event) -> str:
    match event.data:
        case MemoryForgotten():
            return f"memory {event.stream}"
        case ScopedKeyForgotten() as data:
            return f"key {data.agent} {data.purpose} {data.key_digest.hex()} {' '.join(data.floors)}"
        case other:
            return NAMES[type(other)][0]
