"""The calls that ask memories and report what came of it (SPEC R1-R7)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from tenure.core.authority import filled
from tenure.core.errors import NotFound
from tenure.core.identity import NAME_CHARACTERS_MAX, Caller
from tenure.core.memory import Memory
from tenure.core.neighbours import AROUND, AROUND_MAX, Around
from tenure.core.probe_advice import Advice
from tenure.core.rendering import POLICY_TEXT
from tenure.core.retrieval import (
    BUDGET_TOKENS_MAX,
    QUERIES_MAX,
    QUERY_CHARACTERS_MAX,
    Found,
    Item,
    Opposing,
    Recall,
    Skipped,
)
from tenure.core.time_zones import TIME_ZONE_CHARACTERS_MAX
from tenure.core.vocabulary import Kind, Status, Trust
from tenure.entrypoints.http_api.calls import Answer, Ask, Call, Visit, plainly
from tenure.entrypoints.http_api.fields import GivenScope, utc
from tenure.usecases import retrieval
from tenure.usecases.neighbours import NEIGHBOURS, AskNeighbours
from tenure.usecases.recall_probing import recalling
from tenure.usecases.retrieval import INFLUENCE_IDS_MAX, Influence, Noted, ToolCall

Probe = Annotated[
    bool, Meta(description="Look at what the stale ones name, where that is allowed; of the present alone.")
]
AsOf = Annotated[
    datetime,
    Meta(tz=True, description="Answer as it would have been answered then: RFC 3339, not in the future."),
]
ValidAt = Annotated[
    datetime, Meta(tz=True, description="Show what is said to hold at this time: RFC 3339, from 1970 on.")
]
Question = Annotated[str, Meta(min_length=1, max_length=QUERY_CHARACTERS_MAX)]
KeyPrefix = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=NAME_CHARACTERS_MAX,
        description="Only memories whose key begins so, such as `address.`.",
    ),
]
Since = Annotated[
    datetime, Meta(tz=True, description="Only what was written at this time or later: RFC 3339.")
]
Until = Annotated[datetime, Meta(tz=True, description="Only what was written before this time: RFC 3339.")]
TimeZone = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=TIME_ZONE_CHARACTERS_MAX,
        description="Where the asker's days begin, for dates in the question: an IANA name; UTC if left out.",
    ),
]
Tokenizer = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=NAME_CHARACTERS_MAX,
        description="What counts the tokens of the budget; `estimate`, or left out, errs to the safe side.",
    ),
]


class RecallBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question: ``query``, or several in ``queries``, of which each memory counts by its best.

    With neither, something must narrow what is wanted: ``kinds``, ``key_prefix``, ``since`` or ``until``; the
    newest come first. Agent and purpose may be left out where the credential grants exactly one.
    """

    query: Question | None = None
    queries: Annotated[tuple[Question, ...], Meta(min_length=1, max_length=QUERIES_MAX)] | None = None
    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    scope: GivenScope | None = None
    kinds: Annotated[tuple[Kind, ...], Meta(max_length=len(Kind))] | None = None
    key_prefix: KeyPrefix | None = None
    since: Since | None = None
    until: Until | None = None
    time_zone: TimeZone | None = None
    min_trust: Trust | None = None
    limit: Annotated[int, Meta(ge=1)] = 10
    budget_tokens: Annotated[int, Meta(ge=1, le=BUDGET_TOKENS_MAX)] | None = None
    tokenizer: Tokenizer | None = None
    as_of: AsOf | None = None
    valid_at: ValidAt | None = None
    probe: Probe = False
    explain: bool = False

    def command(self, caller: Caller) -> Recall:
        """The question as the rules take it, asked by this caller."""
        return Recall(
            agent=filled(self.agent, caller.grants.agents, field="agent"),
            purpose=filled(self.purpose, caller.grants.purposes, field="purpose"),
            query=self.query,
            queries=self.queries or (),
            subject=self.subject,
            scope=self.scope.scope() if self.scope else None,
            kinds=self.kinds or (),
            min_trust=self.min_trust,
            limit=self.limit,
            budget_tokens=self.budget_tokens,
            explain=self.explain,
            probe=self.probe,
            as_of=utc(self.as_of, field="as_of"),
            valid_at=utc(self.valid_at, field="valid_at"),
            key_prefix=self.key_prefix,
            since=utc(self.since, field="since"),
            until=utc(self.until, field="until"),
            time_zone=self.time_zone,
            tokenizer=self.tokenizer,
        )


class NeighboursQuery(Around, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many memories are wanted before one in its thread, and how many after it."""

    before: Annotated[int, Meta(ge=0, le=AROUND_MAX)] = AROUND
    after: Annotated[int, Meta(ge=0, le=AROUND_MAX)] = AROUND


class RecalledItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that was found, how well it fits, and whether to doubt it."""

    memory: Memory
    score: float
    freshness: Annotated[
        float,
        Meta(description="How likely it is, by its age alone, that it still holds: 1 when just written."),
    ]
    stale: bool
    why: Mapping[str, float] | None = None
    banner: str | None = None
    note: Annotated[
        str | None, Meta(description="Which memories contradict it, while no person has decided.")
    ] = None
    contradictions: tuple[Opposing, ...] = ()
    status_now: Status | None = None
    probe: Advice | None = None


class RecallAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was found; ``context`` is a block of untrusted data, ``policy`` says how to treat it.

    ``rankers`` are what put the items in order, and ``without`` what should have taken part and could not:
    ``meaning`` while its engine is down, ``probes`` where they are off.
    ``as_of`` and ``valid_at`` are those of the question, where it had any.
    """

    receipt_id: UUID
    items: tuple[RecalledItem, ...]
    context: str
    policy: str
    tokens: int
    skipped: Skipped
    rankers: tuple[str, ...]
    without: tuple[str, ...] = ()
    as_of: datetime | None = None
    valid_at: datetime | None = None


class GivenToolCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool call that followed from the response."""

    id: str
    name: str
    arguments_fingerprint: str | None = None


class InfluenceBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the recall's memories a response used, and which tool calls followed."""

    response_id: str
    used_memory_ids: Annotated[tuple[UUID, ...], Meta(max_length=INFLUENCE_IDS_MAX)]
    tool_calls: Annotated[tuple[GivenToolCall, ...], Meta(max_length=INFLUENCE_IDS_MAX)] | None = None


def _recall(visit: Visit[RecallBody]) -> Ask[Any, Any, Any]:
    command = visit.given.command(visit.caller)
    return Ask(recalling(visit.pipeline, visit.caller, command), command, _found)


def _neighbours(visit: Visit[NeighboursQuery]) -> Ask[Any, Any, Any]:
    around = Around(before=visit.given.before, after=visit.given.after)
    return Ask(NEIGHBOURS, AskNeighbours(memory_id=visit.id("memory_id"), around=around), _found)


def _found(found: Found) -> Answer:
    answer = RecallAnswer(
        receipt_id=found.receipt_id,
        items=tuple(_item(item) for item in found.items),
        context=found.context,
        policy=POLICY_TEXT,
        tokens=found.tokens,
        skipped=found.skipped,
        rankers=found.rankers,
        without=found.without,
        as_of=found.as_of,
        valid_at=found.valid_at,
    )
    return Answer(200, answer)


def _item(item: Item) -> RecalledItem:
    return RecalledItem(
        memory=item.memory,
        score=item.score,
        freshness=item.freshness,
        stale=item.stale,
        why=item.why,
        banner=item.banner,
        note=item.note,
        contradictions=item.contradictions,
        status_now=item.status_now,
        probe=item.probe,
    )


def _influence(visit: Visit[InfluenceBody]) -> Ask[Any, Any, Any]:
    given = visit.given
    calls = tuple(
        ToolCall(id=call.id, name=call.name, arguments_fingerprint=call.arguments_fingerprint)
        for call in given.tool_calls or ()
    )
    command = Influence(
        receipt_id=visit.id("receipt_id"),
        response_id=given.response_id,
        used_memory_ids=given.used_memory_ids,
        tool_calls=calls,
    )
    return Ask(retrieval.INFLUENCE, command, plainly)


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/recall",
        name="recall",
        summary="Ask the memories of one boundary; the answer carries a receipt.",
        work=_recall,
        takes=RecallBody,
        answers={200: RecallAnswer},
    ),
    Call(
        method="GET",
        path="/v1/memories/{memory_id:str}/neighbours",
        name="memory_neighbours",
        summary="A memory and what stood around it in its thread, in the thread's order, with a receipt.",
        work=_neighbours,
        takes=NeighboursQuery,
        answers={200: RecallAnswer},
        problems=(NotFound,),
    ),
    Call(
        method="POST",
        path="/v1/recalls/{receipt_id:str}/influence",
        name="report_influence",
        summary="Report which of a recall's memories a response used.",
        work=_influence,
        takes=InfluenceBody,
        answers={200: Noted},
        problems=(NotFound,),
    ),
)
