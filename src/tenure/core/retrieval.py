"""What a recall is, how candidates are ranked and packed (SPEC R1-R4). Pure.

Laws: only what passed the hard filters is ranked; every statistic comes from the rows that passed;
similarity is
relevance, never trust; equal requests give equal answers (ties are broken by id); an item that does not fit
the
budget is skipped and the smaller ones behind it still enter.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from tenure.core.errors import InvalidRequest
from tenure.core.identity import Scope
from tenure.core.memory import Memory
from tenure.core.proposals import check_text
from tenure.core.rendering import render_context, render_item
from tenure.core.rows import from_microseconds
from tenure.core.truth import Doubt, banner, freshness, is_stale
from tenure.core.vocabulary import Kind, Status, Trust
from tenure.core.wording import estimate_tokens

QUERY_CHARACTERS_MAX: Final = 10_000
BUDGET_TOKENS_MAX: Final = 1_000_000
BM25_K1: Final = 1.2
BM25_B: Final = 0.75
WORDS, TRUST, FRESHNESS, CONFIDENCE = 0.8, 0.1, 0.05, 0.05
"""The weights of a score's parts: words find, the rest only orders what words leave equal."""
PARTS: Final = ("words", "trust", "freshness", "confidence")


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the memories of one boundary."""

    agent: str
    purpose: str
    query: str
    subject: str | None = None
    scope: Scope | None = None
    kinds: tuple[Kind, ...] = ()
    min_trust: Trust | None = None
    limit: int = 10
    budget_tokens: int | None = None
    explain: bool = False
    as_of: datetime | None = None
    """Answer as it would have been answered then; None for now (SPEC R8)."""
    valid_at: datetime | None = None
    """Show what is said to hold at this time; None for the time of the question (SPEC T4)."""


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

    @property
    def true_at(self) -> int:
        """When what is said must hold: at another time than now, where one was asked for (SPEC T4)."""
        return self.now if self.valid_at is None else self.valid_at


class Candidate(NamedTuple):
    """A row that passed the filters, as far as ranking needs it."""

    created_seq: int
    memory_id: UUID
    kind: str
    trust: int
    confidence: float
    written_at: int
    tokens: int


class Hit(NamedTuple):
    """One query term in one row that passed the filters; the row's tokens are its length."""

    term: str
    frequency: int
    created_seq: int
    tokens: int


class Statistics(NamedTuple):
    """How many rows passed the filters, and their tokens in all."""

    rows: int
    tokens: int


class Ranked(NamedTuple):
    """A candidate with its score and the score's parts."""

    candidate: Candidate
    score: float
    parts: tuple[float, float, float, float]


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as a recall shows it."""

    memory: Memory
    score: float
    stale: bool
    banner: str | None = None
    why: Mapping[str, float] | None = None
    status_now: Status | None = None
    """Where a memory of the past stands now; None where the present was asked."""


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """How many candidates were held back, and why."""

    budget: int = 0
    scan: int = 0
    together: int = 0


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a recall."""

    receipt_id: UUID
    items: tuple[Item, ...]
    context: str
    tokens: int
    skipped: Skipped
    as_of: datetime | None = None
    valid_at: datetime | None = None


def check_recall(command: Recall, *, items_max: int) -> None:
    """Raise InvalidRequest, naming the field, unless the question is well formed."""
    check_text(command.query, field="query")
    if not command.query.strip() or len(command.query) > QUERY_CHARACTERS_MAX:
        raise InvalidRequest(f"query must have 1 to {QUERY_CHARACTERS_MAX:,} characters", field="query")
    if not 1 <= command.limit <= items_max:
        raise InvalidRequest(f"limit must be 1 to {items_max}", field="limit")
    if command.budget_tokens is not None and not 1 <= command.budget_tokens <= BUDGET_TOKENS_MAX:
        raise InvalidRequest(f"budget_tokens must be 1 to {BUDGET_TOKENS_MAX:,}", field="budget_tokens")


def words(hits: Sequence[Hit], statistics: Statistics) -> dict[int, float]:
    """BM25 of every row that shares a word, the best being 1 (Robertson and Zaragoza, 2009).

    Document frequencies and lengths come from the rows that passed the filters, and from nothing else (SPEC
    R1).
    """
    documents = Counter(hit[0] for hit in hits)
    average = (statistics.tokens / statistics.rows if statistics.rows else 0.0) or 1.0
    gains = {
        term: (BM25_K1 + 1) * math.log(1 + (max(statistics.rows - count, 0) + 0.5) / (count + 0.5))
        for term, count in documents.items()
    }
    flat, slope = BM25_K1 * (1 - BM25_B), BM25_K1 * BM25_B / average
    scores: dict[int, float] = {}
    for term, frequency, created_seq, tokens in hits:
        gain = gains[term] * frequency / (frequency + flat + slope * tokens)
        scores[created_seq] = scores.get(created_seq, 0.0) + gain
    best = max(scores.values(), default=1.0)
    return {created_seq: score / best for created_seq, score in scores.items()}


def best_rows(scores: Mapping[int, float], count: int) -> list[int]:
    """The rows that share the most words, best first; equal ones in the order in which they were written."""
    return heapq.nsmallest(count, scores, key=lambda created_seq: (-scores[created_seq], created_seq))


def rank(candidates: Iterable[Candidate], scores: Mapping[int, float], now: int) -> list[Ranked]:
    """Every candidate with its score, best first; ties are broken by id. ``now`` is in microseconds."""
    ranked = [_scored(candidate, scores.get(candidate.created_seq, 0.0), now) for candidate in candidates]
    ranked.sort(key=lambda one: (-one.score, one.candidate.memory_id.int))
    return ranked


def _scored(candidate: Candidate, shared: float, now: int) -> Ranked:
    fresh = freshness(Kind(candidate.kind), (now - candidate.written_at) / 1_000_000)
    parts = (
        WORDS * shared,
        TRUST * candidate.trust / Trust.REVIEWER_VERIFIED.rank,
        FRESHNESS * fresh,
        CONFIDENCE * candidate.confidence,
    )
    return Ranked(candidate, sum(parts), parts)


def pack(
    shown: Iterable[tuple[Ranked, Memory]],
    command: Recall,
    receipt_id: UUID,
    now: datetime,
    doubt: Doubt,
    *,
    standing: Mapping[UUID, Status] | None = None,
) -> Found:
    """Fill the limit and the token budget, best first, and render what entered (SPEC R4, R6).

    No more is taken of what may be shown than there are places.
    ``standing`` says of memories of the past where they stand now. One whose text is withheld since takes
    its place among the items, and has none in the context.
    """
    nonce, moment = receipt_id.hex[-16:], command.as_of or now
    items: list[Item] = []
    lines: list[str] = []
    spent, skipped = estimate_tokens(render_context([""], nonce=nonce, as_of=command.as_of)), 0
    for ranked, memory in shown:
        item = _item(ranked, memory, moment, doubt, command, (standing or {}).get(memory.id))
        line = _line(ranked, item)
        cost = estimate_tokens(line) + 2 if line and command.budget_tokens is not None else 0
        if command.budget_tokens is not None and spent + cost > command.budget_tokens:
            skipped += 1
            continue
        items.append(item)
        lines += [line] if line else []
        spent += cost
        if len(items) == command.limit:
            break
    context = render_context(lines, nonce=nonce, as_of=command.as_of)
    return Found(
        receipt_id=receipt_id,
        items=tuple(items),
        context=context,
        tokens=estimate_tokens(context) if context else 0,
        skipped=Skipped(budget=skipped),
        as_of=command.as_of,
        valid_at=command.valid_at,
    )


def _line(ranked: Ranked, item: Item) -> str:
    """An item in the context; empty where its text is withheld."""
    if item.memory.content is None:
        return ""
    return render_item(
        item.memory,
        written_at=from_microseconds(ranked.candidate.written_at),
        stale_banner=item.banner,
        status_now=item.status_now,
    )


def _item(
    ranked: Ranked, memory: Memory, now: datetime, doubt: Doubt, command: Recall, status_now: Status | None
) -> Item:
    written_at = from_microseconds(ranked.candidate.written_at)
    stale = is_stale(memory.kind, written_at, now, doubt)
    return Item(
        memory=memory,
        score=round(ranked.score, 6),
        stale=stale,
        banner=banner(source_type=memory.source.type, written_at=written_at, now=now) if stale else None,
        why={name: round(part, 6) for name, part in zip(PARTS, ranked.parts, strict=True)}
        if command.explain
        else None,
        status_now=status_now,
    )
