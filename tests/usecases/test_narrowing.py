"""What narrows a recall, over a real store, in the present and in the past (SPEC R1, R7, R8)."""

from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.usecases.asking import BOT, PURPOSE, SUBJECT, log, proposal, question, source, written

from tenure.core.events import Recalled, encode_header
from tenure.core.identity import Scope, Tier
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.retrieval import Found, Recall
from tenure.core.vocabulary import Kind
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL


def recalled(pipeline: Pipeline, query: str | None = None, **sides: Any) -> Found:
    """What is found, of a question or of none."""
    return pipeline.run(RECALL, BOT, question(query=query, **sides))


def ids(found: Found) -> list[UUID]:
    """What was shown, in its order."""
    return [item.memory.id for item in found.items]


def spread(pipeline: Pipeline, clock: MovableClock, *keys: str | None, **sides: object) -> list[Memory]:
    """A memory for each key, an hour apart."""
    memories = []
    for number, key in enumerate(keys):
        memories.append(written(pipeline, f"Note {number}", key=key, **sides))
        clock.pass_time(hours=1)
    return memories


@pytest.mark.parametrize("query", [None, "note"], ids=["no question", "a question"])
@pytest.mark.parametrize("when", ["present", "past"])
def test_a_key_prefix_is_exact(pipeline: Pipeline, clock: MovableClock, query: str | None, when: str) -> None:
    """SPEC R1: case, order and everything that a pattern would mean something by."""
    keys = [
        "address.home",
        "address.work",
        "Address.home",
        "address",
        "addressee",
        "address_",
        None,
        "x.address.",
    ]
    notes = spread(pipeline, clock, *keys)
    sides: dict[str, Any] = {"as_of": clock.now()} if when == "past" else {}

    def found(prefix: str) -> set[int]:
        shown = ids(recalled(pipeline, query, key_prefix=prefix, **sides))
        return {number for number, note in enumerate(notes) if note.id in shown}

    assert found("address.") == {0, 1}
    assert found("address") == {0, 1, 3, 4, 5}
    assert found("address_") == {5}
    assert found("a") == {0, 1, 3, 4, 5}
    assert found("address.home") == {0}
    assert found("address.home.") == set()


@pytest.mark.parametrize("query", [None, "note"], ids=["no question", "a question"])
@pytest.mark.parametrize("when", ["present", "past"])
def test_a_window_has_its_beginning_and_not_its_end(
    pipeline: Pipeline, clock: MovableClock, query: str | None, when: str
) -> None:
    """SPEC R1: so that windows side by side show each memory once."""
    start = clock.now()
    notes = spread(pipeline, clock, None, None, None)
    sides: dict[str, Any] = {"as_of": clock.now()} if when == "past" else {}
    hours = [start + timedelta(hours=number) for number in range(4)]

    def found(**window: object) -> set[int]:
        shown = ids(recalled(pipeline, query, **window, **sides))
        return {number for number, note in enumerate(notes) if note.id in shown}

    assert [found(since=one, until=next_) for one, next_ in pairwise(hours)] == [
        {0},
        {1},
        {2},
    ]
    assert (found(since=hours[1]), found(until=hours[1])) == ({1, 2}, {0})
    assert found(since=hours[3]) == set()


def test_a_revised_memory_counts_by_its_revision(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L8: its present text was written then."""
    start = clock.now()
    note = written(pipeline, "Note 0")
    later = clock.pass_time(hours=1)
    revise = Revise(expected_version=1, source=source(), content="Note 1")
    pipeline.run(REVISE, BOT, ReviseMemory(memory_id=note.id, revise=revise))

    assert ids(recalled(pipeline, since=later)) == [note.id]
    assert ids(recalled(pipeline, since=start, until=later)) == []


@pytest.mark.parametrize("when", ["present", "past"])
def test_without_a_question_the_newest_come_first(pipeline: Pipeline, clock: MovableClock, when: str) -> None:
    """SPEC R3: nothing was asked, so nothing fits better, whatever it is trusted or where it came from."""
    notes = spread(pipeline, clock, *[None] * 8, kind=Kind.FACT, confidence=0.1)
    sure = written(pipeline, "Surely", kind=Kind.PREFERENCE)
    sides: dict[str, Any] = {"as_of": clock.now()} if when == "past" else {}

    found = recalled(pipeline, kinds=(Kind.FACT,), limit=5, **sides)

    assert ids(found) == [note.id for note in reversed(notes[3:])]
    assert sure.id not in ids(found)
    assert (found.rankers, found.without) == ((), ())


def test_narrowed_at_a_scope_the_ladder_is_climbed_as_ever(pipeline: Pipeline) -> None:
    """SPEC F3: the innermost memory of a key stands before the outer ones, with a prefix too."""
    task = Scope(tier=Tier.TASK, id="t-1", user=SUBJECT)
    outer = written(pipeline, "Outer", key="address.home", scope=Scope(tier=Tier.USER, id=SUBJECT))
    inner = written(pipeline, "Inner", key="address.home", scope=task)

    assert ids(recalled(pipeline, key_prefix="address.", scope=task)) == [inner.id]
    assert set(ids(recalled(pipeline, key_prefix="address."))) == {inner.id, outer.id}


@pytest.mark.parametrize("when", ["present", "past"])
def test_what_is_narrowed_away_still_stands_before_an_outer_memory(
    pipeline: Pipeline, clock: MovableClock, when: str
) -> None:
    """SPEC F3: an outer value is not what the key means here, whenever it was written."""
    task = Scope(tier=Tier.TASK, id="t-1", user=SUBJECT)
    written(pipeline, "Inner", key="address.home", scope=task)
    since = clock.pass_time(minutes=1)
    written(pipeline, "Outer", key="address.home", scope=Scope(tier=Tier.USER, id=SUBJECT))
    sides: dict[str, Any] = {"as_of": clock.now()} if when == "past" else {}

    assert ids(recalled(pipeline, since=since, scope=task, **sides)) == []
    assert len(ids(recalled(pipeline, since=since, **sides))) == 1


def test_several_questions_count_by_the_best(pipeline: Pipeline) -> None:
    """SPEC R2: each memory is there once, and equal requests give equal answers."""
    zebra, lion = written(pipeline, "The zebra is called Marty"), written(pipeline, "The lion is called Alex")
    for number in range(10):
        written(pipeline, f"Ticket {number} was closed without a word")

    def found(*queries: str) -> list[UUID]:
        return ids(pipeline.run(RECALL, BOT, question(query=None, queries=queries, limit=2)))

    assert set(found("zebra", "lion")) == {zebra.id, lion.id}
    assert found("zebra", "lion") == found("zebra", "lion")
    assert found("zebra")[0] == ids(recalled(pipeline, "zebra"))[0] == zebra.id


def test_the_receipt_says_how_it_was_narrowed_and_quotes_nothing(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC R7, E6: keyed digests of the questions and of the prefix, the rest as it was given."""
    since, until = clock.now(), clock.now() + timedelta(hours=1)
    scope = Scope(tier=Tier.USER, id=SUBJECT)
    command = Recall(
        agent="support",
        purpose=PURPOSE,
        subject=SUBJECT,
        queries=("Okapi?", "Quokka?"),
        key_prefix="axolotl.",
        scope=scope,
        since=since,
        until=until,
    )

    pipeline.run(RECALL, BOT, command)

    [event] = log(pipeline)
    digest = pipeline.keyring.digest
    assert event.data == Recalled(
        agent="support",
        purpose=PURPOSE,
        query_fingerprint=digest("acme", "query", "Okapi?"),
        further_fingerprints=(digest("acme", "query", "Quokka?"),),
        memory_ids=(),
        limit=10,
        key_prefix_digest=digest("acme", "key-prefix", "axolotl."),
        scope=scope,
        since=since,
        until=until,
    )
    header = encode_header(event, dek=None, body_sha256=None).decode().lower()
    assert [word for word in ("okapi", "quokka", "axolotl") if word in header] == []
    assert proposal().content.lower() not in header
