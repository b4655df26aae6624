"""Recall: hard filters in the store's query, then ranking, packing and a receipt (SPEC R1-R8)."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple
from uuid import UUID

import msgspec

from tenure.core import retrieval
from tenure.core.asked_dates import asked_dates
from tenure.core.authority import Permission, Target, shown_now
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest
from tenure.core.events import Event, Recalled
from tenure.core.identity import Caller, Moment, checked_name, checked_reference
from tenure.core.incident_events import CalledTool, Influenced
from tenure.core.memory import Memory
from tenure.core.proposals import check_scope
from tenure.core.ranking import Question, rank
from tenure.core.retrieval import Filter, Found, Probed, Ranked, Recall, newest, not_probed, ranked
from tenure.core.rows import microseconds
from tenure.core.scopes import Place, places
from tenure.core.source_share import shared_out
from tenure.core.time_travel import Past, check_moments
from tenure.core.time_zones import time_zone
from tenure.core.vocabulary import Status
from tenure.core.wording import analyse
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.read_scanning import Shown, show
from tenure.usecases.receipts import answered, receipt
from tenure.usecases.scopes import within_scopes
from tenure.usecases.sealing import fold_each
from tenure.usecases.searching import Searching
from tenure.usecases.time_travel import look_back
from tenure.usecases.tokenizing import counter

QUERY_TERMS_MAX = 64
OPENED_PER_ITEM = 4
"""How many candidates are opened for each item wanted, when a token budget may skip some."""
REACHES = (1, 4, 16)
"""How many times the rows that are wanted are looked for, while what was found may not be shown."""
INFLUENCE_IDS_MAX = 100
FOREIGN_NAMED_MAX = 5
"""So many ids that a recall did not return an error names; it counts the others."""


class RecallFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, the events of what was kept out of it, and the query's digest for the receipt."""

    shown: Shown
    query_fingerprints: tuple[bytes, ...]
    key_prefix_digest: bytes | None = None


class Placed(NamedTuple):
    """The rows that passed, best first, and what put them in order."""

    rows: Iterator[Ranked]
    rankers: tuple[str, ...]
    without: tuple[str, ...]


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that followed from a response, as the caller reports it."""

    id: str
    name: str
    arguments_fingerprint: str | None = None


class Influence(msgspec.Struct, frozen=True, kw_only=True):
    """Which of a recall's memories a response used."""

    receipt_id: UUID
    response_id: str
    used_memory_ids: tuple[UUID, ...]
    tool_calls: tuple[ToolCall, ...] = ()


class Noted(msgspec.Struct, frozen=True, kw_only=True):
    """The report is kept."""

    receipt_id: UUID
    response_id: str
    recorded_at: datetime


def _target(command: Recall) -> Target:
    return Target(agent=command.agent, purpose=command.purpose, subject=command.subject)


def where(command: Recall, caller: Caller, now: datetime) -> Filter:
    """The hard filters of a question: what was asked, never more than was granted."""
    subjects = frozenset({command.subject}) if command.subject is not None else caller.grants.subjects
    return Filter(
        tenant=caller.tenant,
        agent=command.agent,
        purpose=command.purpose,
        subjects=subjects,
        kinds=tuple(kind.value for kind in command.kinds),
        trust_min=command.min_trust.rank if command.min_trust else 0,
        now=microseconds(command.as_of or now),
        valid_at=microseconds(command.valid_at) if command.valid_at else None,
        key_prefix=command.key_prefix,
        written_from=microseconds(command.since) if command.since else None,
        written_until=microseconds(command.until) if command.until else None,
    )


def gather(world: World, caller: Caller, command: Recall, *, probed: Probed = not_probed) -> RecallFacts:
    """All that the answer is made of; ``probed`` tells what looks at what memories name have found."""
    _check(world, command)
    asked = where(command, caller, world.moment.now)
    inherits = world.rules.write.ladder.inherits
    around = places(command.scope, command.subject, inherits) if command.scope is not None else ()
    wanted = command.limit * (OPENED_PER_ITEM if command.budget_tokens is not None else 1)
    then: dict[UUID, Status] | None = None
    at = command.as_of or (world.moment.now if asked.asks_of_before else None)
    if at is None:
        placed = _placed(world, world.reading, asked, around, command)
        offered = (
            opened(world, caller.tenant, batch, at_once=command.limit)
            for batch in _batches(placed.rows, wanted)
        )
    else:
        then, past = {}, look_back(world, asked, at, places=around)
        placed = _placed(world, past, asked, around, command)
        offered = (
            _then(past, caller, batch, then, world.moment.now) for batch in _batches(placed.rows, wanted)
        )
    shown = show(world, command, caller.tenant, offered, wanted=wanted, standing=then, probed=probed)
    found = msgspec.structs.replace(shown.found, rankers=placed.rankers, without=placed.without)
    return RecallFacts(
        shown=msgspec.structs.replace(shown, found=found),
        query_fingerprints=_fingerprints(world, caller.tenant, command),
        key_prefix_digest=_prefix_digest(world, caller.tenant, command),
    )


def _fingerprints(world: World, tenant: str, command: Recall) -> tuple[bytes, ...]:
    return tuple(world.keyring.digest(tenant, "query", question) for question in command.questions)


def _prefix_digest(world: World, tenant: str, command: Recall) -> bytes | None:
    prefix = command.key_prefix
    return world.keyring.digest(tenant, "key-prefix", prefix) if prefix is not None else None


def _batches(rows: Iterator[Ranked], wanted: int) -> Iterator[list[Ranked]]:
    """The rows that may be shown, best first; further batches reach further, where places were given up."""
    seen = 0
    for times in REACHES:
        batch = list(islice(rows, wanted * times - seen))
        if not batch:
            return
        seen += len(batch)
        yield batch


def _then(
    past: Past, caller: Caller, ranked: Iterable[Ranked], standing: dict[UUID, Status], now: datetime
) -> Iterator[tuple[Ranked, Memory]]:
    """These memories as they stood; what is withheld of one as it stands now is withheld then (SPEC L6)."""
    for one in ranked:
        then = past.then(one.candidate.memory_id)
        standing[then.memory.id] = then.now.status_at(now)
        yield one, shown_now(caller, then.memory, then.now)


def opened(
    world: World, tenant: str, ranked: Iterable[Ranked], *, at_once: int
) -> Iterator[tuple[Ranked, Memory]]:
    """The memories of these rows that can be read: read so many at once, opened as they are asked for."""
    waiting = iter(ranked)
    while batch := list(islice(waiting, at_once)):
        ids = [one.candidate.memory_id for one in batch]
        for one, memory in zip(batch, fold_each(world.reading, world.keyring, tenant, ids), strict=True):
            if memory is not None and memory.content is not None:
                yield one, memory


def _check(world: World, command: Recall) -> None:
    retrieval.check_recall(command, items_max=world.rules.recall_items_max)
    check_moments(command, world.moment.now)
    counter(world.tokenizers, command.tokenizer)
    for field in ("agent", "purpose", "subject"):
        if (value := getattr(command, field)) is not None:
            checked_name(value, field=field)
    if command.scope is not None:
        check_scope(command.scope)


def _terms(world: World, command: Recall) -> list[list[str]]:
    """What each question is looked for by: its words, and those of the dates that it names (SPEC R2)."""
    now, language = command.as_of or world.moment.now, world.rules.language
    zone = time_zone(command.time_zone) if command.time_zone is not None else UTC
    terms = []
    for question in command.questions:
        words = list(dict.fromkeys(analyse(question, language)))[:QUERY_TERMS_MAX]
        dates = " ".join(asked_dates(question, now=now, zone=zone).words)
        terms.append(list(dict.fromkeys((*words, *analyse(dates, language)))))
    return terms


def _placed(world: World, rows: Searching, asked: Filter, around: Sequence[Place], command: Recall) -> Placed:
    """All rows that pass, best first: of the present or of a past, in the same way."""

    def within() -> Filter:
        return within_scopes(rows, asked, around) if around else asked

    if not command.questions:
        return Placed(newest(rows.search(within(), (), None).rows), rankers=(), without=())
    terms = _terms(world, command)
    every = list(dict.fromkeys(term for asked_for in terms for term in asked_for))
    now = world.moment.now
    meant = world.meaning.search(command.questions, lambda model: rows.search(within(), every, model), now)
    found, postings = meant.searched
    questions = [
        Question(
            [postings[term] for term in asked_for if term in postings],
            meant.vectors[number] if meant.vectors else None,
        )
        for number, asked_for in enumerate(terms)
    ]
    ranking = rank(found, questions, asked.now, world.rules.truth.half_lives)
    order = shared_out(
        ranking.order,
        ranking.scores,
        found.sources,
        share_max=world.rules.source_share_max,
        first=command.limit * OPENED_PER_ITEM,
    )
    meaning = (f"meaning:{meant.model}",) if meant.vectors else ()
    return Placed(
        ranked(found, ranking._replace(order=order)),
        rankers=("words", *meaning, "place"),
        without=("meaning",) if meant.has_failed else (),
    )


def _decide(
    command: Recall, facts: RecallFacts, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Found]:
    found = facts.shown.found
    receipt = Recalled(
        agent=command.agent,
        purpose=command.purpose,
        query_fingerprint=next(iter(facts.query_fingerprints), b""),
        further_fingerprints=facts.query_fingerprints[1:],
        memory_ids=tuple(item.memory.id for item in found.items),
        limit=command.limit,
        kinds=command.kinds,
        min_trust=command.min_trust,
        budget_tokens=command.budget_tokens,
        as_of=command.as_of,
        valid_at=command.valid_at,
        key_prefix_digest=facts.key_prefix_digest,
        scope=command.scope,
        since=command.since,
        until=command.until,
        tokenizer=command.tokenizer,
    )
    return answered(found, receipt, caller, moment, subject=command.subject, beside=facts.shown.events)


def _influence(
    command: Influence, receipt: Event, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Noted]:
    checked_reference(command.response_id, field="response_id")
    for call in command.tool_calls:
        checked_reference(call.id, field="tool_calls.id")
        checked_reference(call.name, field="tool_calls.name")
        if call.arguments_fingerprint is not None:
            checked_reference(call.arguments_fingerprint, field="tool_calls.arguments_fingerprint")
    returned = receipt.data.memory_ids if isinstance(receipt.data, Recalled) else ()
    if len(command.tool_calls) > INFLUENCE_IDS_MAX:
        raise InvalidRequest(f"at most {INFLUENCE_IDS_MAX} tool calls a report", field="tool_calls")
    _check_used(command.used_memory_ids, returned)
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        stream=command.receipt_id,
        subject=receipt.subject,
        data=Influenced(
            response_id=command.response_id,
            used_memory_ids=command.used_memory_ids,
            tool_calls=tuple(
                CalledTool(id=call.id, name=call.name, arguments_fingerprint=call.arguments_fingerprint)
                for call in command.tool_calls
            ),
        ),
    )
    noted = Noted(receipt_id=command.receipt_id, response_id=command.response_id, recorded_at=moment.now)
    return Decided(answer=noted, events=(event,))


def _check_used(used: Sequence[UUID], returned: Sequence[UUID]) -> None:
    """Raise InvalidRequest that says which ids the recall did not return, or which one stands twice."""
    known = frozenset(returned)
    foreign = [memory_id for memory_id in dict.fromkeys(used) if memory_id not in known]
    if foreign:
        named = ", ".join(str(memory_id) for memory_id in foreign[:FOREIGN_NAMED_MAX])
        more = f" and {len(foreign) - FOREIGN_NAMED_MAX} more" if len(foreign) > FOREIGN_NAMED_MAX else ""
        raise InvalidRequest(
            f"the receipt did not return {named}{more}",
            field="used_memory_ids",
            hint="Report only ids that this recall returned.",
        )
    twice = next((one for at, one in enumerate(used) if one in used[:at]), None)
    if twice is not None:
        raise InvalidRequest(
            f"{twice} stands twice in the report", field="used_memory_ids", hint="Name each memory once."
        )


RECALL: UseCase[Recall, RecallFacts, Found] = UseCase(
    name="recall",
    permission=Permission.RECALL,
    target=_target,
    gather=gather,
    decide=_decide,
)

INFLUENCE: UseCase[Influence, Event, Noted] = UseCase(
    name="influence",
    permission=Permission.RECALL,
    target=lambda _command: Target(),
    gather=lambda world, caller, command: receipt(world, caller, command.receipt_id),
    decide=_influence,
    after_receipts=True,
)
