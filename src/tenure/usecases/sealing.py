"""Between events as the rules see them and events as they are stored: sealing and opening (SPEC E1, F7)."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import msgspec

from tenure.core import ledger
from tenure.core.events import (
    NAMES,
    Event,
    Header,
    Secret,
    decode_event,
    decode_header,
    decode_secret,
    encode_header,
    encode_secret,
)
from tenure.core.memory import Memory, evolve
from tenure.core.rows import REVOKING, MemoryRow
from tenure.core.vocabulary import Status
from tenure.usecases.ports import Keyring, Reading, SealedEvent, StoredEvent


def seal(event: Event, keyring: Keyring) -> SealedEvent:
    """The bytes of an event; what is secret is sealed under its subject's key and bound to its place."""
    if event.secret is None or event.subject is None:
        return SealedEvent(event, encode_header(event, dek=None, body_sha256=None), None)
    name, schema = NAMES[type(event.data)]
    dek, body = keyring.seal(
        event.tenant,
        event.subject,
        encode_secret(event.secret),
        _context(name, schema, event.stream, event.version),
    )
    return SealedEvent(event, encode_header(event, dek=dek, body_sha256=ledger.body_digest(body)), body)


def open_event(stored: StoredEvent, keyring: Keyring) -> Event:
    """The event as the rules see it; its secret is None once its key or its body is gone."""
    return _opened(decode_header(stored.header), stored.body, keyring)


def load(reading: Reading, keyring: Keyring, tenant: str, memory_id: UUID) -> Memory | None:
    """A memory as its events make it, or None where no read may reach it."""
    row = reading.memory_row(tenant, memory_id)
    return standing(reading, keyring, row) if row is not None else None


def standing(reading: Reading, keyring: Keyring, row: MemoryRow) -> Memory | None:
    """The memory of a row; one whose source was just revoked is revoked before its own event says so."""
    memory = fold(reading, keyring, row.tenant, row.memory_id)
    if memory is not None and row.status == REVOKING:
        return msgspec.structs.replace(memory, status=Status.REVOKED)
    return memory


def fold(
    reading: Reading, keyring: Keyring, tenant: str, memory_id: UUID, *, up_to_seq: int | None = None
) -> Memory | None:
    """Fold a memory's events, all or those up to a position."""
    memory: Memory | None = None
    for stored in reading.stream(tenant, memory_id):
        if up_to_seq is None or stored.seq <= up_to_seq:
            memory = evolve(memory, open_event(stored, keyring))
    return memory


def fold_each(
    reading: Reading, keyring: Keyring, tenant: str, memory_ids: Sequence[UUID]
) -> Iterator[Memory | None]:
    """Fold the events of each of these memories, in their order: read at once, opened one by one."""
    streams: dict[UUID | None, list[tuple[Header, bytes | None]]] = {}
    for stored in reading.events_of(tenant, memory_ids) if memory_ids else ():
        header = decode_header(stored.header)
        streams.setdefault(header.stream, []).append((header, stored.body))
    for memory_id in memory_ids:
        memory: Memory | None = None
        for header, body in streams.get(memory_id, ()):
            memory = evolve(memory, _opened(header, body, keyring))
        yield memory


def _opened(header: Header, body: bytes | None, keyring: Keyring) -> Event:
    return decode_event(header, _secret(header, body, keyring))


def _secret(header: Header, body: bytes | None, keyring: Keyring) -> Secret | None:
    if body is None or header.dek is None or header.subject is None:
        return None
    plaintext = keyring.open(
        header.tenant,
        header.subject,
        header.dek,
        body,
        _context(header.type, header.v, header.stream, header.version),
    )
    return decode_secret(plaintext) if plaintext is not None else None


def _context(name: str, schema: int, stream: UUID | None, version: int | None) -> bytes:
    return f"{stream.hex if stream else ''}|{version or 0}|{name}|{schema}".encode()
