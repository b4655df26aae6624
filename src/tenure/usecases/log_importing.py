"""Putting an export of the log into a store that has none of its tenants (SPEC E4).

    1 verify   every chain from its first event to its end, and every checkpoint that is given
    2 know     every event is one that this program can read
    3 refuse   a tenant that has a log already: two logs are never mixed
    4 store    events, links and sealed bodies exactly as they are, with their views, and with every forget
               of these tenants that the store's own record has and the export has not (SPEC F11)

Law: all of it is stored, or nothing. Step 4 reads the file once more, and takes everything back where it is
not the file that was verified.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Final

import msgspec

from tenure.core.backup import FORMAT, Manifest, TenantPart
from tenure.core.errors import InvalidRequest, Unavailable
from tenure.core.events import LIFTS, NAMES, Header, decode_header
from tenure.usecases.backup import forget_in, put_back
from tenure.usecases.evidence import LogLine, Verified
from tenure.usecases.known_roots import GivenNote, roots_of_these_logs
from tenure.usecases.log_files import Lines, PlacedRow, placed, tenants_of, verify_file
from tenure.usecases.pipeline import Pipeline

_KNOWN: Final = frozenset({*NAMES.values(), *LIFTS})


class LogImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import put in; ``unopened`` of the sealed contents have no key in this keyring."""

    tenants: int
    events: int
    forgets: int
    sealed: int
    unopened: int


def import_log(
    pipeline: Pipeline,
    lines: Lines,
    *,
    tenant: str | None = None,
    given: Sequence[GivenNote] = (),
    without_keys: bool = False,
) -> LogImported:
    """Store an export, whole or not at all; raises InvalidRequest or Unavailable that says what is wrong."""
    lines = _SameFile(lines)
    named = tenants_of(lines(), only=tenant)
    if not named:
        raise InvalidRequest("the file has no event", field="file", hint="Give an export that has some.")
    roots = roots_of_these_logs(pipeline.keyring, given, named)
    for found in verify_file(lines, tenant=tenant, roots=roots):
        if not found.holds:
            raise _damaged(found)
    kept: set[bytes] = set()
    export = _Export(lines, tuple(_parts(lines, kept)), pipeline.clock.now())
    _refuse_mixing(pipeline, named)
    restored = put_back(pipeline, export, kept, without_keys=without_keys, only=frozenset(named))
    return LogImported(
        tenants=restored.tenants,
        events=restored.events,
        forgets=restored.forgets,
        sealed=restored.sealed,
        unopened=restored.unopened,
    )


class _SameFile:
    """The lines of a file that must stay what they were at the first reading."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._first: tuple[int, bytes] | None = None

    def __call__(self) -> Iterator[bytes]:
        """Every line; raises InvalidRequest at the last one where the file has changed meanwhile."""
        digest, number = hashlib.sha256(), 0
        for number, text in enumerate(self._lines(), start=1):
            digest.update(text)
            if self._first is not None and number == self._first[0]:
                self._compare(number, digest.digest())
            yield text
        self._compare(number, digest.digest())

    def _compare(self, number: int, digest: bytes) -> None:
        self._first = self._first or (number, digest)
        if self._first != (number, digest):
            raise InvalidRequest(
                "the file was changed while it was read",
                field="file",
                hint="Nothing was imported. Import a file that nobody writes to.",
            )


class _Export:
    """A verified export as something to put back: a log without answers."""

    def __init__(self, lines: Lines, parts: tuple[TenantPart, ...], now: datetime) -> None:
        self._lines = lines
        self.manifest = Manifest(format=FORMAT, made_at=now, log_sha256="", answers_sha256="", tenants=parts)

    def log(self) -> Iterator[bytes]:
        """The lines of the log."""
        return iter(self._lines())

    def answers(self) -> Iterator[bytes]:
        """No answers: an export has none."""
        return iter(())


def _parts(lines: Lines, kept: set[bytes]) -> Iterator[TenantPart]:
    """How much of each tenant there is, noting the forgets that go by."""
    for tenant, run in groupby(placed(lines()), key=attrgetter("tenant")):
        count, link = 0, b""
        for one in run:
            header = decode_header(one.row.header)
            _refuse_newer(one, header)
            count, link = count + 1, one.row.link
            line = LogLine(tenant=tenant, seq=one.row.seq, header=one.row.header.decode(), link=link.hex())
            forget = forget_in(line)
            kept.update([forget.link] if forget is not None else [])
        yield TenantPart(tenant=tenant, events=count, link=link.hex())


def _refuse_newer(one: PlacedRow, header: Header) -> None:
    if (header.type, header.v) not in _KNOWN:
        raise Unavailable(
            f"line {one.number}: event {header.type} version {header.v} is not known to this version",
            hint="Import it with the newer version of tenure.",
        )


def _refuse_mixing(pipeline: Pipeline, named: list[str]) -> None:
    with pipeline.store.reading() as reading:
        there = [tenant for tenant in named if reading.head(tenant)[0]]
    if there:
        raise InvalidRequest(
            f"tenant {there[0]!r} has a log in this store, and an import never mixes two logs",
            field="file",
            hint="Import into a store that has none of the tenants of the file.",
        )


def _damaged(found: Verified) -> InvalidRequest:
    return InvalidRequest(
        f"the log of tenant {found.tenant!r} is damaged at event {found.first_bad_seq}: "
        f"{found.damage}: {found.because}",
        field="file",
        hint="Nothing was imported. Export again from a log that 'tenure log verify' finds whole.",
    )
