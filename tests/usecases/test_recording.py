"""Reads leave an event each: who, what, when, how much; never what was asked or shown (SPEC E2, E6)."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, Final
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.stores.engine import Engine
from tests.usecases.asking import (
    AGENT,
    AUDITOR,
    BOT,
    OFFICER,
    OPERATOR,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    TENANT,
    caller,
    happened,
    held,
    log,
    looked,
    proposal,
    question,
    written,
)

import tenure.usecases
from tenure.config import Evidence, Settings
from tenure.core.access_events import AccessDenied
from tenure.core.bulk_review import Action, DecideMany
from tenure.core.errors import Forbidden, InvalidRequest, NotFound
from tenure.core.events import Recalled
from tenure.core.forgetting import ForgetKey
from tenure.core.holds import PlaceHold
from tenure.core.identity import Caller, Role, Scope, Tier
from tenure.core.incident_events import Looked
from tenure.core.review_queue import AskQueue
from tenure.core.review_statistics import AskStatistics
from tenure.core.vocabulary import Claim
from tenure.usecases.access import LIST_KEYS, ListKeys
from tenure.usecases.alerts import READ_ALERTS, ReadAlerts
from tenure.usecases.bulk_review import SELECT
from tenure.usecases.contradictions import CONTRADICTIONS, ListContradictions
from tenure.usecases.evidence import READ_LOG, ReadLog
from tenure.usecases.exporting import EXPORT_SUBJECT, ExportSubject
from tenure.usecases.forgetting import ASK_FORGET, FORGET_KEY, AskForget
from tenure.usecases.holds import ASK_HOLD, PLACE_HOLD, AskHold
from tenure.usecases.pipeline import Pipeline, UseCase
from tenure.usecases.reading import GET, HISTORY, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review_queue import QUEUE
from tenure.usecases.review_statistics import STATISTICS
from tenure.usecases.scopes import RESOLVE, ResolveKey
from tenure.wiring import Node

WORDS: Final = ("Okapi", "Quokka", "Axolotl", "Pangolin")
USER: Final = Scope(tier=Tier.USER, id=SUBJECT)
LEAVE_EVENTS_OF_THEIR_OWN: Final = frozenset(
    {
        "authorize-tool", "create-key", "erase-subject", "forget-key", "forget-memory", "forget-subject",
        "influence", "neighbours", "place-hold", "promote", "recall", "reject", "release-hold", "remember",
        "renew", "resolve-contradiction", "revise", "revoke", "revoke-key", "revoke-source", "unmerge",
    }
)  # fmt: skip
"""Every use case that is no mere read. One that is missing here must say what it shows."""

Asked = tuple[UseCase[Any, Any, Any], Caller, Any]


def _told(pipeline: Pipeline) -> tuple[UUID, UUID]:
    """A store in which every read finds something; gives back a memory and a forget."""
    memory = written(
        pipeline,
        f"Likes the {WORDS[0]}",
        key="contact",
        claim=Claim(entity=WORDS[1], attribute="is", value="x"),
    )
    held(pipeline, f"Pays by {WORDS[2]}")
    pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason=f"said {WORDS[3]}"))
    command = ForgetKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key="other", scope=USER)
    forgotten = pipeline.run(FORGET_KEY, OFFICER, command)
    assert forgotten.forget_id is not None
    return memory.id, forgotten.forget_id


READS: Final[dict[str, Callable[[UUID, UUID], Asked]]] = {
    "get": lambda memory, _forget: (GET, BOT, Get(memory_id=memory)),
    "history": lambda memory, _forget: (HISTORY, BOT, Get(memory_id=memory)),
    "list": lambda _memory, _forget: (LIST, BOT, ListMemories(subject=SUBJECT, key="contact")),
    "resolve-key": lambda _memory, _forget: (
        RESOLVE,
        BOT,
        ResolveKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key="contact", scope=USER),
    ),
    "review-queue": lambda _memory, _forget: (QUEUE, REVIEWER, AskQueue()),
    "review-selection": lambda memory, _forget: (
        SELECT,
        REVIEWER,
        DecideMany(action=Action.REJECT, reason="no", ids=(memory,), seen_until=0),
    ),
    "review-statistics": lambda _memory, _forget: (STATISTICS, AUDITOR, AskStatistics()),
    "contradictions": lambda _memory, _forget: (
        CONTRADICTIONS,
        REVIEWER,
        ListContradictions(subject=SUBJECT),
    ),
    "read-log": lambda _memory, _forget: (READ_LOG, AUDITOR, ReadLog(limit=2)),
    "read-alerts": lambda _memory, _forget: (READ_ALERTS, AUDITOR, ReadAlerts()),
    "export-subject": lambda _memory, _forget: (EXPORT_SUBJECT, OFFICER, ExportSubject(subject=SUBJECT)),
    "ask-forget": lambda _memory, forget: (ASK_FORGET, OFFICER, AskForget(forget_id=forget)),
    "ask-hold": lambda _memory, _forget: (ASK_HOLD, OFFICER, AskHold(subject=SUBJECT)),
    "list-keys": lambda _memory, _forget: (LIST_KEYS, OPERATOR, ListKeys()),
}
"""Every use case that only reads, by its name, and how it is asked here."""
LEFT: Final = {
    "get": (1, True, None),
    "history": (1, True, None),
    "list": (1, False, SUBJECT),
    "resolve-key": (1, True, SUBJECT),
    "review-queue": (1, False, None),
    "review-selection": (1, False, None),
    "review-statistics": (0, False, None),
    "contradictions": (0, False, SUBJECT),
    "read-log": (2, False, None),
    "read-alerts": (0, False, None),
    "export-subject": (2, False, SUBJECT),
    "ask-forget": (1, False, None),
    "ask-hold": (1, False, SUBJECT),
    "list-keys": (0, False, None),
}
"""What each leaves: how many things it showed, whether it names the memory, whose subject was asked for."""


def use_cases() -> Iterator[UseCase[Any, Any, Any]]:
    """Every use case of the package."""
    for module in pkgutil.iter_modules(tenure.usecases.__path__):
        found = vars(importlib.import_module(f"tenure.usecases.{module.name}")).values()
        yield from (one for one in found if isinstance(one, UseCase))


def opened_with(engine: Engine, clock: MovableClock, reads: Any) -> Node:
    """The store under another setting."""
    return engine.open(clock, Settings(evidence=Evidence(reads=reads)))


@pytest.mark.parametrize("name", READS)
def test_a_read_leaves_its_event(pipeline: Pipeline, name: str) -> None:
    """SPEC E2: who read what and when, and how much was shown."""
    memory_id, forget_id = _told(pipeline)
    use_case, who, command = READS[name](memory_id, forget_id)

    pipeline.run(use_case, who, command)

    (event,) = looked(pipeline)
    returned, is_of_memory, subject = LEFT[name]
    assert event.data == Looked(what=name, returned=returned, memory_id=memory_id if is_of_memory else None)
    assert (event.actor, event.at, event.subject, event.tenant) == (who.id, START, subject, TENANT)
    assert (event.stream, event.version, event.secret) == (None, None, None)


def test_whatever_only_reads_says_what_it_shows() -> None:
    """SPEC E2: a use case that leaves no event of its own leaves that of a read, or is not built."""
    reads = {one.name for one in use_cases() if one.showed is not None}
    others = {one.name for one in use_cases() if one.showed is None}

    assert set(READS) <= reads
    assert others - LEAVE_EVENTS_OF_THEIR_OWN == set()


def test_no_read_leaves_what_was_asked_or_shown(pipeline: Pipeline) -> None:
    """SPEC E6: neither content, nor claims, nor keys, nor reasons stand in the events of reads."""
    found = _told(pipeline)
    for ask in READS.values():
        pipeline.run(*ask(*found))

    pipeline.store.settle()
    said = b"".join(
        stored.header + (stored.body or b"")
        for stored in pipeline.store.export(TENANT)
        if b'"read.answered"' in stored.header
    )
    assert said.count(b'"read.answered"') == len(READS)
    for word in (*WORDS, "contact"):
        assert word.encode() not in said


def test_a_denied_read_is_recorded_as_a_denial(pipeline: Pipeline) -> None:
    """SPEC A2: and as nothing else."""
    for name, ask in READS.items():
        use_case, _, command = ask(UUID(int=1), UUID(int=2))
        with pytest.raises(Forbidden):
            pipeline.run(use_case, caller(Role.WRITER, name=name), command)

    denials = [event for event in log(pipeline) if isinstance(event.data, AccessDenied)]
    assert [event.actor for event in denials] == [f"key:{name}" for name in READS]
    assert looked(pipeline) == []


def test_a_read_that_finds_nothing_leaves_nothing(pipeline: Pipeline) -> None:
    """SPEC E2: what is absent was not shown to anybody."""
    with pytest.raises(NotFound):
        pipeline.run(GET, BOT, Get(memory_id=UUID(int=1)))

    assert log(pipeline) == []


def test_a_subject_that_can_be_no_name_is_refused(pipeline: Pipeline) -> None:
    """SPEC S2, E6: else any text could be put into the log in the open."""
    with pytest.raises(InvalidRequest) as refusal:
        pipeline.run(LIST, BOT, ListMemories(subject="the\x00moon"))

    assert refusal.value.field == "subject"
    assert log(pipeline) == []


def test_a_dry_run_is_no_read(pipeline: Pipeline) -> None:
    """SPEC L1: what would be decided is told, and nothing is stored."""
    pipeline.preview(REMEMBER, BOT, proposal())

    assert log(pipeline) == []


def test_the_default_answers_first_and_writes_soon() -> None:
    """SPEC E2: reads do not wait for the disk unless they are told to."""
    assert Settings().evidence.reads == "batched"


def test_durable_reads_are_in_the_log_when_they_are_answered(engine: Engine, clock: MovableClock) -> None:
    """SPEC E2: each read, and each recall, is there before its answer."""
    with opened_with(engine, clock, "durable") as node:
        memory_id, forget_id = _told(node.pipeline)
        for ask in READS.values():
            node.pipeline.run(*ask(memory_id, forget_id))
            with node.store.reading() as reading:
                (last,) = reading.log(TENANT, after=reading.head(TENANT)[0] - 1, limit=1)
            assert b'"read.answered"' in last.header
        node.pipeline.run(RECALL, BOT, question())
        with node.store.reading() as reading:
            (last,) = reading.log(TENANT, after=reading.head(TENANT)[0] - 1, limit=1)
        assert b'"recall.answered"' in last.header


def test_where_recalls_alone_are_recorded_other_reads_leave_nothing(
    engine: Engine, clock: MovableClock
) -> None:
    """SPEC R7, E2: receipts are always written."""
    with opened_with(engine, clock, "recalls") as node:
        memory_id, forget_id = _told(node.pipeline)
        for ask in READS.values():
            node.pipeline.run(*ask(memory_id, forget_id))
        node.pipeline.run(RECALL, BOT, question())

        assert looked(node.pipeline) == []
        assert isinstance(log(node.pipeline)[-1].data, Recalled)


def test_reads_change_no_view(pipeline: Pipeline) -> None:
    """SPEC E1: a rebuild passes over them."""
    found = _told(pipeline)
    for ask in READS.values():
        pipeline.run(*ask(*found))
    pipeline.store.settle()

    assert pipeline.store.rebuild().identical
    assert len(looked(pipeline)) == len(READS)
    assert "read.answered" not in happened(pipeline)
