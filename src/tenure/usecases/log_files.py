"""Checking an export of the log from its file alone: no store and no secret key (SPEC E2, E4).

Every line is one event, tenant by tenant, oldest first. The file is read line by line and never kept; where a
chain breaks, it is read once more to say what was done, and to name the line.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from tenure.core import tampering
from tenure.core.errors import InvalidRequest
from tenure.core.ledger import ChainedEvent
from tenure.core.tampering import UNREADABLE, Damage
from tenure.usecases.evidence import LogLine, Verified, verdict
from tenure.usecases.known_roots import Roots

Lines = Callable[[], Iterable[bytes]]
"""The lines of a file, each time from its start, with their ends."""

_LINE: Final = msgspec.json.Decoder(LogLine)


class PlacedRow(NamedTuple):
    """An event of a file: whose it is, on which line it stands, and the row that the line says."""

    tenant: str
    number: int
    row: ChainedEvent
    is_torn: bool = False


def verify_file(lines: Lines, *, tenant: str | None = None, roots: Roots | None = None) -> list[Verified]:
    """Whether the log in a file is what was written, tenant by tenant.

    Raises InvalidRequest for a file that is no export, and for a line of another tenant than the one named.
    """
    found: dict[str, Verified] = {}
    apart: dict[str, PlacedRow] = {}
    known = roots or {}
    for whose, run in groupby(placed(lines(), only=tenant), key=attrgetter("tenant")):
        if whose in found:
            apart.setdefault(whose, next(run))
            continue
        found[whose] = _verified(lines, whose, run, known)
    for whose, first in apart.items():
        found[whose] = _scattered(lines, whose, first, known)
    for whose in sorted(set(known) - set(found)):
        found[whose] = _verified(lines, whose, iter(()), known)
    return list(found.values())


def tenants_of(lines: Iterable[bytes], *, only: str | None = None) -> list[str]:
    """Whose logs a file has, in the order in which they come."""
    return list(dict.fromkeys(one.tenant for one in placed(lines, only=only)))


def placed(lines: Iterable[bytes], *, only: str | None = None) -> Iterator[PlacedRow]:
    """Every line as the event that it is. A line that cannot be read is one of the tenant it stands among."""
    current: str | None = None
    waiting: list[tuple[int, bool]] = []
    for number, text in enumerate(lines, start=1):
        line = _read(text)
        if line is None:
            waiting.append((number, not text.endswith(b"\n")))
            continue
        if only is not None and line.tenant != only:
            raise _foreign(number, line.tenant, only)
        is_next = current is not None and (line.tenant == current or line.seq == 1)
        owner = current if is_next and current is not None else line.tenant
        yield from (PlacedRow(owner, at, _NO_ROW, is_torn) for at, is_torn in waiting)
        waiting.clear()
        current = line.tenant
        yield PlacedRow(current, number, _row(line))
    if waiting and current is None:
        raise InvalidRequest(
            f"line {waiting[0][0]} is no event of a log",
            field="file",
            hint="Give a file that 'tenure log export' wrote.",
        )
    yield from (PlacedRow(current or "", at, _NO_ROW, is_torn) for at, is_torn in waiting)


_NO_ROW: Final = ChainedEvent(UNREADABLE, b"", None, b"")


def _verified(lines: Lines, tenant: str, run: Iterator[PlacedRow], roots: Roots) -> Verified:
    """What one tenant's lines come to; the first way through them is the one that goes on already."""
    first = [run]

    def rows() -> Iterator[ChainedEvent]:
        return (one.row for one in (first.pop() if first else _only(lines, tenant)))

    found = verdict(tenant, tampering.verify(tenant, rows, roots=roots.get(tenant, ())))
    return found if found.holds else _at_its_line(found, _only(lines, tenant))


def _scattered(lines: Lines, tenant: str, first: PlacedRow, roots: Roots) -> Verified:
    """The lines of a tenant do not stand together: what they come to, and at least that."""
    found = _verified(lines, tenant, _only(lines, tenant), roots)
    if not found.holds:
        return found
    rows = enumerate(_only(lines, tenant), start=1)
    seq = next(seq for seq, one in rows if one.number == first.number)
    return Verified(
        tenant=tenant,
        holds=False,
        events=seq - 1,
        first_bad_seq=seq,
        because=f"line {first.number}: it stands apart from the other lines of its tenant",
        damage=Damage.REORDERED,
    )


def _only(lines: Lines, tenant: str) -> Iterator[PlacedRow]:
    return (one for one in placed(lines()) if one.tenant == tenant)


def _at_its_line(found: Verified, rows: Iterator[PlacedRow]) -> Verified:
    """The same with the line on which it shows."""
    seq, last = found.first_bad_seq or 1, 0
    for at, one in enumerate(rows, start=1):
        last = one.number
        if at != seq:
            continue
        if one.is_torn:
            because = f"line {last} is cut off: export again, or remove it"
            return msgspec.structs.replace(found, because=because, damage=Damage.TRUNCATED)
        return msgspec.structs.replace(found, because=f"line {last}: {found.because}")
    return msgspec.structs.replace(
        found, because=f"behind line {last}: {found.because}" if last else found.because
    )


def _read(text: bytes) -> LogLine | None:
    try:
        line = _LINE.decode(text)
        bytes.fromhex(line.link)
        bytes.fromhex(line.body or "")
        line.header.encode()
    except ValueError:
        return None
    return line


def _row(line: LogLine) -> ChainedEvent:
    body = bytes.fromhex(line.body) if line.body is not None else None
    return ChainedEvent(line.seq, line.header.encode(), body, bytes.fromhex(line.link))


def _foreign(number: int, tenant: str, only: str) -> InvalidRequest:
    return InvalidRequest(
        f"line {number} is of tenant {tenant!r}, and only {only!r} was asked for",
        field="tenant",
        hint="Leave --tenant out, or give an export of this tenant alone.",
    )
