"""The past as it was recorded: which memories stood at a moment, and what a recall passed then (SPEC R8, T4).

    row = stood(events of one memory, at)       as the views had it, or None where it was in no read
    Past(those that stood)                      answers a recall as the store answers it of the present

Two clocks are told apart: ``as_of`` is when something was recorded ("what did we believe then"), ``valid_at``
is when it holds ("what was true then"). Pure.

What was true earlier may stand in a memory that was corrected since: it held until the correction begins.

Laws: a past row comes of the same projection as a present one, and passes the same hard filters; the
revocation of a source counts from its own moment, not from that of each memory's event; what was forgotten or
erased since is in no past.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np

from tenure.core.boundary_rows import Column, Postings, Searched, as_rows
from tenure.core.errors import InvalidRequest
from tenure.core.events import Event, MemoryForgotten, Revoked, Superseded
from tenure.core.memory import Memory
from tenure.core.proposals import check_time
from tenure.core.retrieval import Filter, Recall
from tenure.core.rows import DropPruned, FloorRow, MemoryRow, Put, SuppressionRow, microseconds
from tenure.core.scopes import ANY, Place
from tenure.core.truth_events import Merged
from tenure.core.views import key_target, project, value_target
from tenure.core.vocabulary import Status
from tenure.core.wording import Language, analyse


class Recorded(NamedTuple):
    """One event and its place in the log."""

    seq: int
    event: Event


class Then(msgspec.Struct, frozen=True, kw_only=True):
    """One memory as it stood: its row, its record, the text that it was found by, and where it stands now."""

    row: MemoryRow
    memory: Memory
    text: str
    now: Memory
    corrected: bool = False
    """Whether it was superseded by then, and held until a known time."""


def check_moments(command: Recall, now: datetime) -> None:
    """Raise InvalidRequest, naming the field, unless both times can be asked about."""
    for field in ("as_of", "valid_at"):
        value = getattr(command, field)
        if value is not None:
            check_time(value, field=field)
    if command.as_of is not None and command.as_of > now:
        raise InvalidRequest(
            "as_of lies in the future: nobody knows yet what will be recorded until then",
            field="as_of",
            hint="Ask what is said to hold then with valid_at.",
        )
    if command.valid_at is not None and microseconds(command.valid_at) < 0:
        raise InvalidRequest("valid_at must be 1970 or later", field="valid_at")


def until(recorded: Sequence[Recorded], at: datetime) -> Sequence[Recorded]:
    """What had happened to a memory by a moment."""
    count = 0
    for one in recorded:
        if one.event.at > at:
            break
        count += 1
    return recorded[:count]


def stood(recorded: Sequence[Recorded], at: datetime) -> MemoryRow | None:
    """A memory's row as the views had it at a moment; None where it was not there yet, or is forgotten."""
    if any(isinstance(one.event.data, MemoryForgotten) for one in recorded):
        return None
    row: MemoryRow | None = None
    for seq, event in until(recorded, at):
        for change in project(event, seq, row):
            if isinstance(change, Put) and isinstance(change.row, MemoryRow):
                row = change.row
            elif isinstance(change, DropPruned):
                row = None
    return row


def was_corrected(recorded: Sequence[Recorded], at: datetime) -> bool:
    """Whether what last took the memory's place by then said until when it had held.

    What was merged says the same as another, which stands for both; of what was corrected without a time
    nobody knows how long it had held.
    """
    data = [one.event.data for one in until(recorded, at) if isinstance(one.event.data, Superseded | Merged)]
    last = data[-1] if data else None
    return isinstance(last, Superseded) and last.valid_to is not None


def revoked_with(recorded: Sequence[Recorded]) -> frozenset[int]:
    """Where the revocations of sources began that took the memory along."""
    return frozenset(
        one.event.data.because_of
        for one in recorded
        if isinstance(one.event.data, Revoked) and one.event.data.because_of is not None
    )


def passes(row: MemoryRow, where: Filter, *, corrected: bool = False) -> bool:
    """Whether a row passes the hard filters: the same ones as in the store's queries (SPEC R1).

    Where what held earlier is asked, what was ``corrected`` passes for the time until which it held.
    """
    held = corrected and where.asks_of_before and row.status == Status.SUPERSEDED
    return all(
        (
            (row.tenant, row.agent, row.purpose) == (where.tenant, where.agent, where.purpose),
            held or row.status == Status.ACTIVE,
            where.subjects is None or row.subject in where.subjects,
            row.expires_at > where.now,
            row.valid_from <= where.true_at < row.valid_to,
            row.trust >= where.trust_min,
            not where.kinds or row.kind in where.kinds,
            not where.scopes or (row.scope_tier, row.scope_id) in where.scopes,
            row.created_seq not in where.hidden,
            (where.written_from or 0) <= row.written_at,
            where.written_until is None or row.written_at < where.written_until,
        )
    )


def floor_targets(row: MemoryRow, values: Iterable[bytes]) -> list[tuple[str, str]]:
    """The floors that a memory which is in no view may lie below: of its subject, its key, its values."""
    agent, purpose = row.agent, row.purpose
    found = [("subject", row.subject)]
    found += [("value", value_target(agent, purpose, value)) for value in values]
    if row.key_digest is not None:
        places = (str(Place(row.scope_tier, name)) for name in (row.scope_id, ANY))
        found += [("key", key_target(agent, purpose, row.key_digest, place)) for place in places]
    return found


def lies_below(row: MemoryRow, floors: Iterable[FloorRow]) -> bool:
    """Whether a floor was laid after the memory was written: it is forgotten, and not only out of the way."""
    return any(floor.floor_seq >= row.created_seq for floor in floors)


class Past:
    """The memories of a boundary as they stood; answers what the store answers of the present."""

    def __init__(
        self,
        memories: Iterable[Then],
        suppressions: Iterable[SuppressionRow] = (),
        vectors: Mapping[int, bytes] | None = None,
        language: Language = Language.ENGLISH,
    ) -> None:
        """``vectors`` by position, of the model that will be asked for."""
        self._vectors: Final = vectors or {}
        self._language: Final = language
        self._memories: Final = {one.row.created_seq: one for one in memories}
        self._ids: Final = {one.row.memory_id: one for one in self._memories.values()}
        self._suppressions: Final = tuple(suppressions)
        self._words: dict[int, Counter[str]] = {}

    def then(self, memory_id: UUID) -> Then:
        """One of them."""
        return self._ids[memory_id]

    def search(self, where: Filter, terms: Sequence[str], model: str | None) -> Searched:
        """Every row that passed, with its vector of this model, and where the terms stand."""
        passing = [self._memories[row.created_seq] for row in self._passing(where)]
        rows = as_rows([_column(one, self._vectors.get(one.row.created_seq)) for one in passing], model)
        counted = sorted((one.row.created_seq, self._counted(one.row)) for one in passing)
        postings = {}
        for term in sorted(set(terms)):
            found = [(seq, counts[term]) for seq, counts in counted if term in counts]
            if found:
                seqs, counts_ = zip(*found, strict=True)
                postings[term] = Postings(term, np.array(seqs), np.array(counts_))
        return Searched(rows, postings)

    def keyed(self, where: Filter, key_digest: bytes | None = None) -> list[MemoryRow]:
        """The rows with a key, or with this one, that pass the filters."""
        rows = [row for row in self._passing(where) if row.key_digest is not None]
        return [row for row in rows if key_digest is None or row.key_digest == key_digest]

    def suppressions(self, tenant: str, subject: str, now: int) -> list[SuppressionRow]:
        """The forgets of leaves alone that held then for a subject."""
        return [
            row
            for row in self._suppressions
            if (row.tenant, row.subject) == (tenant, subject) and row.holds_until > now
        ]

    def _passing(self, where: Filter) -> list[MemoryRow]:
        begins = where.key_prefix
        return [
            one.row
            for one in self._memories.values()
            if passes(one.row, where, corrected=one.corrected)
            and (begins is None or (one.memory.key or "").startswith(begins))
        ]

    def _counted(self, row: MemoryRow) -> Counter[str]:
        if row.created_seq not in self._words:
            text = self._memories[row.created_seq].text
            self._words[row.created_seq] = Counter(analyse(text, self._language))
        return self._words[row.created_seq]


def _column(then: Then, vector: bytes | None) -> Column:
    row = then.row
    return Column(
        row.created_seq,
        row.memory_id,
        row.kind,
        row.trust,
        row.confidence,
        row.written_at,
        row.tokens,
        row.subject,
        row.thread,
        row.position,
        row.source_type,
        row.source_id,
        vector,
    )
