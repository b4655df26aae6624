"""Long logs for a measurement: memories through the gate, receipts and reads appended straight to the store.

What is appended directly is what the pipeline would have appended, event for event; only the work of
answering so many recalls and reads is left out.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from uuid import UUID

from bench.corpus import Corpus
from bench.stores import AGENT, PURPOSE, TENANT, subject_name
from tenure.core.errors import TenureError
from tenure.core.events import Event, Recalled
from tenure.core.identity import Caller, Grants, Role, SourceType
from tenure.core.incident_events import CalledTool, Influenced, Looked
from tenure.core.proposals import Remember
from tenure.core.vocabulary import Kind, Source
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.sealing import seal
from tenure.wiring import Node

EVENTS_AT_ONCE: Final = 1_000
MEMORIES_AT_ONCE: Final = 500
SHOWN_EACH: Final = 5
"""How many memories a receipt says it returned."""
REPORTED_EVERY: Final = 10
"""Of so many recalls one is reported to have shaped a response, with a tool call."""
WRITER: Final = Caller(
    tenant=TENANT, id="key:writer", name="writer", grants=Grants(roles=frozenset({Role.WRITER, Role.READER}))
)


def remembered(node: Node, source_id: str, count: int, *, seed: int) -> list[UUID]:
    """So many memories of one source, spread over the subjects, all of them admitted."""
    commands: list[tuple[Remember, str | None]] = [
        (
            Remember(
                agent=AGENT,
                purpose=PURPOSE,
                subject=subject_name(at),
                kind=Kind.FACT,
                content=sentence.text,
                source=Source(type=SourceType.APPLICATION, id=source_id),
            ),
            None,
        )
        for at, sentence in enumerate(Corpus(seed).sentences(count))
    ]
    made: list[UUID] = []
    for first in range(0, count, MEMORIES_AT_ONCE):
        for answer in node.pipeline.run_many(REMEMBER, WRITER, commands[first : first + MEMORIES_AT_ONCE]):
            if isinstance(answer, TenureError) or answer.memory is None:
                raise AssertionError(f"the gate held a sentence back: {answer}")
            made.append(answer.memory.id)
    return made


def append_receipts(node: Node, memories: Sequence[UUID], count: int) -> None:
    """So many receipts of recalls that returned some of these memories; a part of them was reported on."""
    chance = random.Random(17)
    _append(node.pipeline, _told(node.pipeline, memories, count, chance))


def append_reads(node: Node, count: int) -> None:
    """So many events of reads."""
    pipeline = node.pipeline
    read = _event_of(pipeline)
    _append(pipeline, (read(Looked(what="list", returned=20), None) for _ in range(count)))


def _told(pipeline: Pipeline, memories: Sequence[UUID], count: int, chance: random.Random) -> Iterator[Event]:
    tell = _event_of(pipeline)
    for number in range(count):
        receipt_id = UUID(int=chance.getrandbits(128))
        shown = tuple(chance.sample(memories, SHOWN_EACH))
        yield tell(
            Recalled(
                agent=AGENT,
                purpose=PURPOSE,
                query_fingerprint=bytes(32),
                memory_ids=shown,
                limit=SHOWN_EACH,
            ),
            receipt_id,
        )
        if number % REPORTED_EVERY == 0:
            call = CalledTool(id=f"call-{number}", name="send_mail")
            yield tell(
                Influenced(response_id=f"response-{number}", used_memory_ids=shown[:2], tool_calls=(call,)),
                receipt_id,
            )


def _event_of(pipeline: Pipeline) -> Callable[[Recalled | Influenced | Looked, UUID | None], Event]:
    """What makes an event of today by the writer, about no subject in particular."""
    now = pipeline.clock.now()

    def made(data: Recalled | Influenced | Looked, stream: UUID | None) -> Event:
        return Event(tenant=TENANT, at=now, actor=WRITER.id, stream=stream, data=data)

    return made


def _append(pipeline: Pipeline, events: Iterator[Event]) -> None:
    batch: list[Event] = []
    for event in events:
        batch.append(event)
        if len(batch) == EVENTS_AT_ONCE:
            _store(pipeline, batch)
            batch = []
    _store(pipeline, batch)


def _store(pipeline: Pipeline, events: Sequence[Event]) -> None:
    if events:
        sealed = tuple(seal(event, pipeline.keyring) for event in events)
        pipeline.store.append([Append(tenant=TENANT, events=sealed)])
