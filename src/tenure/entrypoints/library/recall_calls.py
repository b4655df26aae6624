"""Asking memories, looking around one of them, and reporting what was used, in embedded use and over HTTP."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeVar, overload
from uuid import UUID

import msgspec

from tenure.core.authority import filled
from tenure.core.errors import InvalidRequest
from tenure.core.identity import Caller, Scope
from tenure.core.memory import Memory
from tenure.core.neighbours import AROUND, Around
from tenure.core.retrieval import Found, Item, Recall, Skipped
from tenure.core.vocabulary import Kind, Trust
from tenure.entrypoints.library.client_request import Request, a_read, a_write, encoded, given, memory_path
from tenure.usecases import retrieval
from tenure.usecases.neighbours import NEIGHBOURS, AskNeighbours
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.recall_probing import recall

W = TypeVar("W", bound=StrEnum)


class Recollection(Sequence[Memory]):
    """What a recall found: a sequence of memories, with the context block that goes into a prompt."""

    def __init__(self, found: Found) -> None:
        self.items: tuple[Item, ...] = found.items
        self.context: str = found.context
        self.receipt_id: UUID = found.receipt_id
        self.tokens: int = found.tokens
        self.skipped: Skipped = found.skipped
        self.rankers: tuple[str, ...] = found.rankers
        self.without: tuple[str, ...] = found.without
        self.as_of: datetime | None = found.as_of
        self.valid_at: datetime | None = found.valid_at

    def __len__(self) -> int:
        """How many memories were found."""
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> Memory: ...
    @overload
    def __getitem__(self, index: slice) -> list[Memory]: ...
    def __getitem__(self, index: int | slice) -> Memory | list[Memory]:
        """A memory, or some of them."""
        if isinstance(index, slice):
            return [item.memory for item in self.items[index]]
        return self.items[index].memory

    def __iter__(self) -> Iterator[Memory]:
        """The memories, best first."""
        return iter([item.memory for item in self.items])


class RecallSession:
    """The part of a Session that asks."""

    _pipeline: Pipeline
    caller: Caller
    _subject: str | None

    def recall(
        self,
        query: str | None = None,
        *,
        queries: Iterable[str] | None = None,
        subject: str | None = None,
        scope: Scope | None = None,
        kinds: Iterable[str | Kind] = (),
        key_prefix: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        time_zone: str | None = None,
        min_trust: str | Trust | None = None,
        limit: int = 10,
        budget_tokens: int | None = None,
        tokenizer: str | None = None,
        explain: bool = False,
        probe: bool = False,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
    ) -> Recollection:
        """What is remembered and may be shown; ``.context`` is ready to put into a message.

        Ask one ``query``, or several ``queries``, of which each memory counts by its best. Without a question
        come the newest of these ``kinds``, of this ``key_prefix``, or written from ``since`` until ``until``.
        ``as_of`` asks what would have been shown then, ``valid_at`` what is said to hold at that time.
        ``probe`` has looked at what the stale ones name, where that is allowed; see ``items[…].probe``.
        """
        command = Recall(
            agent=filled(None, self.caller.grants.agents, field="agent"),
            purpose=filled(None, self.caller.grants.purposes, field="purpose"),
            subject=subject or self._subject,
            query=query,
            queries=_questions(queries) or (),
            scope=scope,
            kinds=tuple(_word(Kind, kind, "kind") for kind in kinds),
            key_prefix=key_prefix,
            since=since,
            until=until,
            time_zone=time_zone,
            min_trust=_word(Trust, min_trust, "min_trust") if min_trust is not None else None,
            limit=limit,
            budget_tokens=budget_tokens,
            tokenizer=tokenizer,
            explain=explain,
            probe=probe,
            as_of=as_of,
            valid_at=valid_at,
        )
        return Recollection(recall(self._pipeline, self.caller, command))

    def neighbours(self, memory_id: UUID, *, before: int = AROUND, after: int = AROUND) -> Recollection:
        """A memory and what stood around it in its thread, in the thread's order; nothing is ranked.

        Raises NotFound for one that no recall of this session would show now.
        """
        command = AskNeighbours(memory_id=memory_id, around=Around(before=before, after=after))
        return Recollection(self._pipeline.run(NEIGHBOURS, self.caller, command))

    def used(
        self,
        found: Recollection,
        *,
        response_id: str,
        memory_ids: Iterable[UUID],
        tool_calls: Iterable[retrieval.ToolCall] = (),
    ) -> retrieval.Noted:
        """Report which of the memories a response used, and which tool calls followed (SPEC R7)."""
        command = retrieval.Influence(
            receipt_id=found.receipt_id,
            response_id=response_id,
            used_memory_ids=tuple(memory_ids),
            tool_calls=tuple(tool_calls),
        )
        return self._pipeline.run(retrieval.INFLUENCE, self.caller, command)


class RecallRequests:
    """The same calls of a client."""

    __slots__ = ()

    def recall(
        self,
        query: str | None = None,
        *,
        queries: Iterable[str] | None = None,
        subject: str | None = None,
        scope: Scope | None = None,
        kinds: Iterable[str | Kind] = (),
        key_prefix: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        time_zone: str | None = None,
        min_trust: str | Trust | None = None,
        limit: int = 10,
        budget_tokens: int | None = None,
        tokenizer: str | None = None,
        explain: bool = False,
        probe: bool = False,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
    ) -> Request[Recollection]:
        """What is remembered and may be shown; ``.context`` is ready to put into a message.

        Ask one ``query``, or several ``queries``, of which each memory counts by its best. Without a question
        come the newest of these ``kinds``, of this ``key_prefix``, or written from ``since`` until ``until``.
        ``as_of`` asks what would have been shown then, ``valid_at`` what is said to hold at that time.
        ``probe`` has looked at what the stale ones name, where that is allowed; see ``items[…].probe``.
        """
        body = self._boundary(subject) | given(
            query=query,
            queries=_questions(queries),
            scope=scope,
            kinds=tuple(kinds),
            key_prefix=key_prefix,
            since=since,
            until=until,
            time_zone=time_zone,
            min_trust=min_trust,
            limit=limit,
            budget_tokens=budget_tokens,
            tokenizer=tokenizer,
            explain=explain,
            probe=probe,
            as_of=as_of,
            valid_at=valid_at,
        )
        # A recall leaves a receipt; asked twice it leaves two, of which one is never used.
        return Request(method="POST", path="/v1/recall", body=encoded(body), read=_recollected)

    def neighbours(
        self, memory_id: UUID, *, before: int = AROUND, after: int = AROUND
    ) -> Request[Recollection]:
        """A memory and what stood around it in its thread, in the thread's order; nothing is ranked.

        Raises NotFound for one that no recall of this credential would show now.
        """
        asked = given(before=before, after=after)
        return a_read(memory_path(memory_id, "/neighbours"), asked, read=_recollected)

    def used(
        self,
        found: Recollection,
        *,
        response_id: str,
        memory_ids: Iterable[UUID],
        tool_calls: Iterable[retrieval.ToolCall] = (),
    ) -> Request[retrieval.Noted]:
        """Report which of the memories a response used, and which tool calls followed (SPEC R7)."""
        body = given(response_id=response_id, used_memory_ids=tuple(memory_ids), tool_calls=tuple(tool_calls))
        return a_write(f"/v1/recalls/{found.receipt_id}/influence", body, read=_NOTED.decode)

    def _boundary(self, subject: str | None) -> dict[str, object]:
        raise NotImplementedError


def _questions(queries: Iterable[str] | None) -> tuple[str, ...] | None:
    """The questions; none at all among those that were to be asked is a mistake, and never a list of all."""
    if queries is None:
        return None
    if isinstance(queries, str):
        raise InvalidRequest("queries must be several questions", field="queries", hint="Use query for one.")
    asked = tuple(queries)
    if not asked:
        raise InvalidRequest(
            "queries holds no question", field="queries", hint="Leave it out where nothing is asked."
        )
    return asked


def _word(known: type[W], value: str, field: str) -> W:
    try:
        return known(value)
    except ValueError:
        words = ", ".join(member.value for member in known)
        raise InvalidRequest(f"{field} is unknown", field=field, hint=f"Known: {words}.") from None


# A new server may say more than this client knows; what it adds is passed over.
_FOUND: Final = msgspec.json.Decoder(Found)
_NOTED: Final = msgspec.json.Decoder(retrieval.Noted)


def _recollected(raw: bytes) -> Recollection:
    return Recollection(_FOUND.decode(raw))
