"""Recall: hard filters in the store's query, then ranking, packing and a receipt (SPEC R1-R7)."""

from datetime import datetime
from uuid import UUID

import msgspec

from tenure.core import retrieval
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest, NotFound
from tenure.core.events import Event, Influenced, Recalled
from tenure.core.identity import Caller, Moment, checked_name, checked_reference
from tenure.core.memory import Memory
from tenure.core.proposals import check_scope
from tenure.core.retrieval import Filter, Found, Ranked, Recall
from tenure.core.rows import microseconds
from tenure.core.scopes import places
from tenure.core.wording import analyse
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.scopes import within_scopes
from tenure.usecases.sealing import fold, open_event

RANKED_PER_OPENED = 4
"""How many rows that share words are ranked for each one opened: a score's other parts may reorder them."""
QUERY_TERMS_MAX = 64
OPENED_PER_ITEM = 4
"""How many candidates are opened for each item wanted, when a token budget may skip some."""
INFLUENCE_IDS_MAX = 100


class RecallFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The candidates that may be shown, best first, opened; and the query's digest for the receipt."""

    shown: tuple[tuple[Ranked, Memory], ...]
    query_fingerprint: bytes


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
        now=microseconds(now),
    )


def _gather(world: World, caller: Caller, command: Recall) -> RecallFacts:
    retrieval.check_recall(command, items_max=world.rules.recall_items_max)
    for field in ("agent", "purpose", "subject"):
        if (value := getattr(command, field)) is not None:
            checked_name(value, field=field)
    if command.scope is not None:
        check_scope(command.scope)
    asked = where(command, caller, world.moment.now)
    if command.scope is not None:
        inherits = world.rules.write.ladder.inherits
        asked = within_scopes(world.reading, asked, places(command.scope, command.subject, inherits))
    terms = list(dict.fromkeys(analyse(command.query)))[:QUERY_TERMS_MAX]
    reading = world.reading
    wanted = command.limit * (OPENED_PER_ITEM if command.budget_tokens is not None else 1)
    scores = retrieval.words(reading.hits(asked, terms), reading.statistics(asked))
    sharing = reading.candidates(asked, retrieval.best_rows(scores, wanted * RANKED_PER_OPENED))
    ranked = retrieval.rank({*sharing, *reading.recent(asked, wanted)}, scores, asked.now)
    opened = [
        (one, fold(reading, world.keyring, caller.tenant, one.candidate.memory_id)) for one in ranked[:wanted]
    ]
    return RecallFacts(
        shown=tuple(
            (one, memory) for one, memory in opened if memory is not None and memory.content is not None
        ),
        query_fingerprint=world.keyring.digest(caller.tenant, "query", command.query),
    )


def _decide(
    command: Recall, facts: RecallFacts, caller: Caller, moment: Moment, rules: Rules
) -> Decided[Found]:
    found = retrieval.pack(facts.shown, command, moment.fresh_id, moment.now, rules.doubt)
    receipt = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        stream=moment.fresh_id,
        subject=command.subject,
        data=Recalled(
            agent=command.agent,
            purpose=command.purpose,
            query_fingerprint=facts.query_fingerprint,
            memory_ids=tuple(item.memory.id for item in found.items),
            limit=command.limit,
            kinds=command.kinds,
            min_trust=command.min_trust,
            budget_tokens=command.budget_tokens,
        ),
    )
    return Decided(answer=found, events=(receipt,))


def _receipt(world: World, caller: Caller, command: Influence) -> Event:
    for stored in world.reading.stream(caller.tenant, command.receipt_id):
        event = open_event(stored, world.keyring)
        if isinstance(event.data, Recalled) and event.actor == caller.id:
            return event
    raise NotFound("there is no receipt of this id for this caller", receipt_id=str(command.receipt_id))


def _influence(
    command: Influence, receipt: Event, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Noted]:
    checked_reference(command.response_id, field="response_id")
    for call in command.tool_calls:
        checked_reference(call.id, field="tool_calls.id")
        checked_reference(call.name, field="tool_calls.name")
    returned = receipt.data.memory_ids if isinstance(receipt.data, Recalled) else ()
    if len(command.tool_calls) > INFLUENCE_IDS_MAX:
        raise InvalidRequest(f"at most {INFLUENCE_IDS_MAX} tool calls a report", field="tool_calls")
    foreign = [memory_id for memory_id in command.used_memory_ids if memory_id not in returned]
    if foreign:
        raise InvalidRequest(
            f"the receipt did not return {foreign[0]}; report only ids that this recall returned",
            field="used_memory_ids",
        )
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        stream=command.receipt_id,
        subject=receipt.subject,
        data=Influenced(
            response_id=command.response_id,
            used_memory_ids=command.used_memory_ids,
            tool_call_ids=tuple(call.id for call in command.tool_calls),
            tool_names=tuple(call.name for call in command.tool_calls),
        ),
    )
    noted = Noted(receipt_id=command.receipt_id, response_id=command.response_id, recorded_at=moment.now)
    return Decided(answer=noted, events=(event,))


RECALL: UseCase[Recall, RecallFacts, Found] = UseCase(
    name="recall",
    permission=Permission.RECALL,
    target=_target,
    gather=_gather,
    decide=_decide,
    loss_bounded=True,
)

INFLUENCE: UseCase[Influence, Event, Noted] = UseCase(
    name="influence",
    permission=Permission.RECALL,
    target=lambda _command: Target(),
    gather=_receipt,
    decide=_influence,
    after_receipts=True,
)
