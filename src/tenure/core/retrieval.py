"""What a recall is, how candidates are ranked and packed (SPEC R1-R4). Pure.

Laws: only what passed the hard filters is ranked; every statistic comes from the rows that passed;
similarity is
relevance, never trust; equal requests give equal answers (ties are broken by id); an item that does not fit
the
budget is skipped and the smaller ones behind it still enter.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np

from tenure.core.boundary_rows import Rows
from tenure.core.errors import InvalidRequest
from tenure.core.identity import NAME_CHARACTERS_MAX, Scope, checked_name
from tenure.core.memory import Memory
from tenure.core.probe_advice import Advice
from tenure.core.proposals import check_text, check_time
from tenure.core.ranking import Ranking
from tenure.core.rendering import render_context, render_item
from tenure.core.rows import from_microseconds
from tenure.core.time_zones import time_zone
from tenure.core.token_estimate import estimate_tokens
from tenure.core.truth import PLAIN, Doubt, HalfLives, banner, freshness, is_stale
from tenure.core.vocabulary import Kind, Status, Trust

QUERY_CHARACTERS_MAX: Final = 10_000
QUERIES_MAX: Final = 8
BUDGET_TOKENS_MAX: Final = 1_000_000
SCORE_DIGITS: Final = 6
FRESHNESS_DIGITS: Final = 4


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the memories of one boundary."""

    agent: str
    purpose: str
    query: str | None = None
    queries: tuple[str, ...] = ()
    """Several questions at once instead of one: a memory counts by the one that it answers best."""
    subject: str | None = None
    scope: Scope | None = None
    kinds: tuple[Kind, ...] = ()
    min_trust: Trust | None = None
    limit: int = 10
    budget_tokens: int | None = None
    explain: bool = False
    probe: bool = False
    """Look at what the stale ones of the answer name, where that is allowed (SPEC T6)."""
    as_of: datetime | None = None
    """Answer as it would have been answered then; None for now (SPEC R8)."""
    valid_at: datetime | None = None
    """Show what is said to hold at this time; None for the time of the question (SPEC T4)."""
    key_prefix: str | None = None
    """Only memories whose key begins so."""
    since: datetime | None = None
    """Only what was written at this time or later; with ``until``, which is out."""
    until: datetime | None = None
    time_zone: str | None = None
    """Where the asker's days begin, for dates in the question: a name of the IANA's; None for UTC."""
    tokenizer: str | None = None
    """By which vocabulary the budget is counted; None for the estimate."""

    @property
    def questions(self) -> tuple[str, ...]:
        """What is asked; nothing, where the newest of a narrowed boundary are wanted."""
        return self.queries or ((self.query,) if self.query is not None else ())

    @property
    def is_of_another_time(self) -> bool:
        """Whether another time than now is asked about, of which a look now says nothing."""
        return self.as_of is not None or self.valid_at is not None

    @property
    def is_narrowed(self) -> bool:
        """Whether it says, without a question, which memories are wanted."""
        return bool(self.kinds) or any(side is not None for side in (self.key_prefix, self.since, self.until))


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """The hard filters; the store applies all of them inside its query (SPEC R1)."""

    tenant: str
    agent: str
    purpose: str
    now: int
    subjects: frozenset[str] | None = None
    kinds: tuple[str, ...] = ()
    trust_min: int = 0
    scopes: tuple[tuple[str, str], ...] = ()
    hidden: frozenset[int] = frozenset()
    """Positions of memories that another of the same key stands before, or that were forgotten here."""
    valid_at: int | None = None
    key_prefix: str | None = None
    written_from: int | None = None
    written_until: int | None = None

    @property
    def asks_of_before(self) -> bool:
        """Whether what held before the record's own moment is asked: it may be corrected meanwhile."""
        return self.valid_at is not None and self.valid_at < self.now

    @property
    def is_wide(self) -> bool:
        """Whether nothing is narrowed but the boundary, and the present is asked."""
        narrowed = (self.kinds, self.trust_min, self.scopes, self.hidden, self.key_prefix)
        times = (self.valid_at, self.written_from, self.written_until)
        return not any(narrowed) and all(time is None for time in times)

    @property
    def widened(self) -> "Filter":
        """Without what is asked of single memories: which of a key stands before others is decided first."""
        return msgspec.structs.replace(
            self, kinds=(), trust_min=0, key_prefix=None, written_from=None, written_until=None
        )

    @property
    def true_at(self) -> int:
        """When what is said must hold: at another time than now, where one was asked for (SPEC T4)."""
        return self.now if self.valid_at is None else self.valid_at


class Candidate(NamedTuple):
    """A row that passed the filters, as far as showing it needs it."""

    created_seq: int
    memory_id: UUID
    kind: str
    written_at: int


class Ranked(NamedTuple):
    """A candidate with its score and what that is made of."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]


class Opposing(msgspec.Struct, frozen=True, kw_only=True, rename={"other": "with"}):
    """A contradiction that waits for a person, seen from one of the two memories (SPEC T3)."""

    id: UUID
    other: UUID
    """The memory that says otherwise."""
    shown: bool
    """Whether that one is in the answer as well."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as a recall shows it."""

    memory: Memory
    score: float
    freshness: float
    """How likely it is, by its age alone, that it still holds: 1 when just written (SPEC T1)."""
    stale: bool
    banner: str | None = None
    note: str | None = None
    """What is said beside a memory that others contradict."""
    contradictions: tuple[Opposing, ...] = ()
    why: Mapping[str, float] | None = None
    status_now: Status | None = None
    """Where a memory of the past stands now; None where the present was asked."""
    probe: Advice | None = None
    """What a look at what it names has found, where it is stale and was looked at (SPEC T6)."""


class Contradicted(NamedTuple):
    """What is said beside a memory that others contradict, and which they are."""

    note: str
    opposing: tuple[Opposing, ...]


Probed = Callable[[Memory], Advice | None]
"""What is known of what a memory names; None where nothing is."""


def not_probed(_memory: Memory) -> None:
    """Nothing is known of any memory."""


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of the memories of an answer and does not stand in them, by their ids."""

    standing: Mapping[UUID, Status] = MappingProxyType({})
    """Where those of the past stand now."""
    contradicted: Mapping[UUID, Contradicted] = MappingProxyType({})
    probed: Probed = not_probed


NOTHING_BESIDE: Final = Beside()


class Aged(NamedTuple):
    """From which moment memories are looked at, and how fast they are doubted."""

    now: datetime
    doubt: Doubt
    half_lives: HalfLives


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """How many candidates were held back, and why."""

    budget: int = 0
    scan: int = 0
    together: int = 0
    contradicted: int = 0
    """Those that contradict another of the answer that is believed before them (SPEC T3)."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a recall."""

    receipt_id: UUID
    items: tuple[Item, ...]
    context: str
    tokens: int
    skipped: Skipped
    as_of: datetime | None = None
    valid_at: datetime | None = None
    rankers: tuple[str, ...] = ()
    """What put the items in order: words, meaning with its model, place. Nothing where nothing was asked."""
    without: tuple[str, ...] = ()
    """What should have taken part and could not, such as meaning while its engine is down."""


def check_recall(command: Recall, *, items_max: int) -> None:
    """Raise InvalidRequest, naming the field, unless the question is well formed."""
    _check_questions(command)
    check_narrowing(command)
    if command.probe and command.is_of_another_time:
        raise InvalidRequest(
            "a probe looks at the present, and another time is asked about",
            field="probe",
            hint="Leave probe out, or as_of and valid_at.",
        )
    if not 1 <= command.limit <= items_max:
        raise InvalidRequest(f"limit must be 1 to {items_max}", field="limit")
    if command.budget_tokens is not None and not 1 <= command.budget_tokens <= BUDGET_TOKENS_MAX:
        raise InvalidRequest(f"budget_tokens must be 1 to {BUDGET_TOKENS_MAX:,}", field="budget_tokens")


def _check_questions(command: Recall) -> None:
    """One question or several, each of them worded; or none, where what is wanted is narrowed otherwise."""
    if command.query is not None and command.queries:
        raise InvalidRequest(
            "query and queries cannot both be given",
            field="queries",
            hint="Put every question into queries.",
        )
    if len(command.queries) > QUERIES_MAX:
        raise InvalidRequest(f"queries must be 1 to {QUERIES_MAX} questions", field="queries")
    field = "queries" if command.queries else "query"
    for question in command.questions:
        check_text(question, field=field)
        if not question.strip() or len(question) > QUERY_CHARACTERS_MAX:
            raise InvalidRequest(f"{field} must have 1 to {QUERY_CHARACTERS_MAX:,} characters", field=field)
    if not command.questions and not command.is_narrowed:
        raise InvalidRequest(
            "query is missing",
            field="query",
            hint="Ask something; or name kinds, a key_prefix, since or until, and the newest of those come.",
        )


def check_narrowing(command: Recall) -> None:
    """Raise InvalidRequest, naming the field, for a key prefix, a window or a time zone that can be none."""
    if command.key_prefix is not None:
        # A key's inner space may be where the prefix ends.
        checked_name(command.key_prefix.rstrip(" "), field="key_prefix")
        if len(command.key_prefix) > NAME_CHARACTERS_MAX:
            raise InvalidRequest(f"key_prefix may have {NAME_CHARACTERS_MAX} characters", field="key_prefix")
    for field in ("since", "until"):
        if (value := getattr(command, field)) is not None:
            check_time(value, field=field)
    if command.since is not None and command.until is not None and command.until <= command.since:
        raise InvalidRequest(
            "until must be later than since", field="until", hint="A memory of until itself is out."
        )
    if command.time_zone is not None:
        time_zone(command.time_zone)


def candidate(rows: Rows, place: int) -> Candidate:
    """The row in this place."""
    return Candidate(int(rows.seqs[place]), rows.ids[place], rows.kinds[place], int(rows.written_at[place]))


def ranked(rows: Rows, ranking: Ranking) -> Iterator[Ranked]:
    """The rows, best first, each made when it is asked for."""
    for place in ranking.order.tolist():
        parts = {name: float(part[place]) for name, part in ranking.parts.items()}
        yield Ranked(candidate(rows, place), float(ranking.scores[place]), parts)


def newest(rows: Rows) -> Iterator[Ranked]:
    """The rows, the last written first, where no question was asked."""
    for place in np.lexsort((-rows.seqs, -rows.written_at)).tolist():
        yield unranked(rows, place)


def unranked(rows: Rows, place: int) -> Ranked:
    """The row in this place, where no question was asked."""
    return Ranked(candidate(rows, place), 0.0, {})


def pack(
    shown: Iterable[tuple[Ranked, Memory]],
    command: Recall,
    receipt_id: UUID,
    now: datetime,
    doubt: Doubt,
    *,
    half_lives: HalfLives = PLAIN,
    beside: Beside = NOTHING_BESIDE,
    count: Callable[[str], int] = estimate_tokens,
) -> Found:
    """Fill the limit and the token budget, best first, and render what entered (SPEC R4, R6).

    ``count`` tells how many tokens a text has. No more is taken of what may be shown than there are places.
    A memory of the past whose text is withheld since takes its place among the items, and has none in the
    context.
    """
    nonce, aged = receipt_id.hex[-16:], Aged(command.as_of or now, doubt, half_lives)
    filled: list[tuple[Item, str]] = []
    spent, skipped = count(render_context([""], nonce=nonce, as_of=command.as_of)), 0
    for ranked, memory in shown:
        item = _item(ranked, memory, aged, beside, explain=command.explain)
        line = _line(ranked, item)
        cost = count(line) + 2 if line and command.budget_tokens is not None else 0
        if command.budget_tokens is not None and spent + cost > command.budget_tokens:
            skipped += 1
            continue
        filled.append((item, line))
        spent += cost
        if len(filled) == command.limit:
            break
    context, tokens = _rendered(filled, command, nonce, count)
    # Lines that are counted one by one may come to a little less than the whole.
    while command.budget_tokens is not None and tokens > command.budget_tokens:
        del filled[max(place for place, (_, line) in enumerate(filled) if line)]
        skipped += 1
        context, tokens = _rendered(filled, command, nonce, count)
    return Found(
        receipt_id=receipt_id,
        items=tuple(item for item, _ in filled),
        context=context,
        tokens=tokens,
        skipped=Skipped(budget=skipped),
        as_of=command.as_of,
        valid_at=command.valid_at,
    )


def _rendered(
    filled: Iterable[tuple[Item, str]], command: Recall, nonce: str, count: Callable[[str], int]
) -> tuple[str, int]:
    """The block of these lines and its tokens."""
    lines = [line for _, line in filled if line]
    context = render_context(lines, nonce=nonce, as_of=command.as_of)
    return context, count(context) if context else 0


def _line(ranked: Ranked, item: Item) -> str:
    """An item in the context; empty where its text is withheld."""
    if item.memory.content is None:
        return ""
    return render_item(
        item.memory,
        written_at=from_microseconds(ranked.candidate.written_at),
        stale_banner=item.banner,
        note=item.note,
        status_now=item.status_now,
        probe=item.probe,
    )


def _item(ranked: Ranked, memory: Memory, aged: Aged, beside: Beside, *, explain: bool) -> Item:
    now, source_type = aged.now, memory.source.type
    written_at = from_microseconds(ranked.candidate.written_at)
    age, half_life = now - written_at, aged.half_lives.of(memory.kind, source_type)
    stale = is_stale(age, half_life, aged.doubt)
    contradicted = beside.contradicted.get(memory.id)
    return Item(
        memory=memory,
        score=round(ranked.score, SCORE_DIGITS),
        freshness=round(freshness(age, half_life), FRESHNESS_DIGITS),
        stale=stale,
        banner=banner(source_type=source_type, written_at=written_at, now=now) if stale else None,
        note=contradicted.note if contradicted is not None else None,
        contradictions=contradicted.opposing if contradicted is not None else (),
        why=_why(ranked) if explain else None,
        status_now=beside.standing.get(memory.id),
        probe=beside.probed(memory) if stale else None,
    )


def _why(ranked: Ranked) -> dict[str, float]:
    """The parts of a score as they are shown: the largest takes what rounding leaves over, so they add up."""
    shown = {name: round(part, SCORE_DIGITS) for name, part in ranked.parts.items()}
    if shown:
        most = max(shown, key=shown.__getitem__)
        left_over = round(ranked.score, SCORE_DIGITS) - sum(shown.values())
        shown[most] = round(shown[most] + left_over, SCORE_DIGITS)
    return shown
