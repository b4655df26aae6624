"""Two memories that cannot both be true, as a recall shows them until a person has decided (SPEC T3)."""

from itertools import combinations
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.clock import MovableClock
from tests.stores.engine import Opened
from tests.usecases.asking import (
    BOT,
    OFFICER,
    OPERATOR,
    REVIEWER,
    TENANT,
    held,
    judgement,
    question,
    source,
    written,
)

from tenure.core.contradictions import Conflict, Effect, Showing, pair_id
from tenure.core.duplicates import Because
from tenure.core.events import Event
from tenure.core.identity import Scope, Tier
from tenure.core.memory import Memory
from tenure.core.neighbours import Around
from tenure.core.retrieval import Found, Item
from tenure.core.statements import standing_of
from tenure.core.truth_rules import TruthRules
from tenure.core.truth_steps import contradiction_found, contradiction_resolved
from tenure.core.vocabulary import Status
from tenure.usecases.contradiction_notes import OPPOSING_MAX
from tenure.usecases.forgetting import FORGET_MEMORY, ForgetMemory
from tenure.usecases.neighbours import NEIGHBOURS, AskNeighbours
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, Appended
from tenure.usecases.reading import GET, Get
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import REJECT, REVOKE
from tenure.usecases.sealing import seal

TASK = Scope(tier=Tier.TASK, id="t-1")


@pytest.fixture(autouse=True)
def compared_by_hand(pipeline: Pipeline) -> None:
    """What contradicts what is said by the tests."""
    shows(pipeline, Showing.TRUSTED)


def shows(pipeline: Pipeline, showing: Showing) -> None:
    """What an operator set."""
    write = replace(pipeline.rules.write, truth=TruthRules(compares=False, showing=showing))
    pipeline.rules = replace(pipeline.rules, write=write)


def recorded(node: Opened, *events: Event) -> None:
    """These events, as something that the log has."""
    sealed = tuple(seal(event, node.keyring) for event in events)
    [outcome] = node.store.append([Append(tenant=TENANT, events=sealed)])
    assert isinstance(outcome, Appended)


def contradict(node: Opened, believed: Memory, doubted: Memory) -> UUID:
    """The two are found to contradict each other; gives back the contradiction's id."""
    conflict = Conflict(
        id=pair_id(believed.id, doubted.id),
        believed=believed.id,
        doubted=doubted.id,
        effect=Effect.BOTH,
        because=Because.VALUE,
    )
    recorded(node, contradiction_found(conflict, believed, actor="key:bot", at=node.pipeline.clock.now()))
    return conflict.id


def decided(node: Opened, contradiction_id: UUID, memory: Memory) -> None:
    """A person found that both are right."""
    at = node.pipeline.clock.now()
    recorded(
        node,
        contradiction_resolved(contradiction_id, memory, kept=None, reason="both", actor="key:ann", at=at),
    )


def recalled(pipeline: Pipeline, **sides: Any) -> Found:
    """What is found about the proxy."""
    return pipeline.run(RECALL, BOT, question("which proxy has the shop?", **sides))


def ids(found: Found) -> set[UUID]:
    """Which memories were shown."""
    return {item.memory.id for item in found.items}


def beside(found: Found, memory: Memory) -> Item:
    """The memory as it was shown."""
    return next(item for item in found.items if item.memory.id == memory.id)


def test_of_two_that_stand_the_one_that_is_believed_is_shown_with_a_note(
    node: Opened, clock: MovableClock
) -> None:
    """SPEC T3: the other one is counted, and its place is the next one's."""
    older = written(node.pipeline, "The proxy of the shop is nginx")
    clock.pass_time(hours=1)
    newer = written(node.pipeline, "The proxy of the shop is Caddy")
    third = written(node.pipeline, "A shop was opened")
    contradiction = contradict(node, newer, older)

    found = recalled(node.pipeline, limit=2)

    assert ids(found) == {newer.id, third.id}
    assert found.skipped.contradicted == 1
    shown = beside(found, newer)
    note = f"Contradicted by memory {older.id} (not shown); a person has not decided yet."
    assert shown.note == note
    [opposing] = shown.contradictions
    assert (opposing.id, opposing.other, opposing.shown) == (contradiction, older.id, False)
    assert note in found.context
    assert "nginx" not in found.context
    assert (beside(found, third).note, beside(found, third).contradictions) == (None, ())


def test_both_are_shown_where_that_is_set(node: Opened) -> None:
    """SPEC T3: each with a note that says that the other is there."""
    shows(node.pipeline, Showing.BOTH)
    one, other = (written(node.pipeline, f"The proxy of the shop is {name}") for name in ("nginx", "Caddy"))
    contradict(node, other, one)

    found = recalled(node.pipeline)

    assert ids(found) == {one.id, other.id}
    assert found.skipped.contradicted == 0
    for memory, against in ((one, other), (other, one)):
        item = beside(found, memory)
        assert f"{against.id} (shown as well)" in (item.note or "")
        assert [opposing.shown for opposing in item.contradictions] == [True]


def test_what_waits_is_named_and_nothing_of_its_text_is_shown(node: Opened) -> None:
    """SPEC L6, T3: two hundred copies of a rumour fill neither the answer nor the note."""
    trusted = written(node.pipeline, "The proxy of the shop is nginx")
    rumours = [held(node.pipeline, f"The proxy of the shop is Envoy, says page {page}") for page in range(25)]
    for rumour in rumours:
        contradict(node, trusted, rumour)

    [item] = recalled(node.pipeline).items

    assert item.memory.id == trusted.id
    assert "and 22 more" in (item.note or "")
    assert len(item.contradictions) == OPPOSING_MAX
    assert [one.other for one in item.contradictions] == sorted(one.id for one in rumours)[:OPPOSING_MAX]
    assert "Envoy" not in recalled(node.pipeline).context


def reject(pipeline: Pipeline, memory: Memory) -> None:
    """A reviewer turns it down."""
    pipeline.run(REJECT, REVIEWER, judgement(memory.id, memory.version))


def revoke(pipeline: Pipeline, memory: Memory) -> None:
    """It is withdrawn."""
    pipeline.run(REVOKE, OPERATOR, judgement(memory.id, memory.version))


def forget(pipeline: Pipeline, memory: Memory) -> None:
    """It is forgotten."""
    command = ForgetMemory(memory_id=memory.id, expected_version=memory.version)
    pipeline.run(FORGET_MEMORY, OFFICER, command)


def expire(pipeline: Pipeline, memory: Memory) -> None:
    """Its time passes; no worker has written that down."""
    clock = pipeline.clock
    assert isinstance(clock, MovableClock)
    clock.pass_time(seconds=(memory.expires_at - clock.now()).total_seconds())


@pytest.mark.parametrize("way", [reject, revoke, forget, expire])
def test_what_can_no_longer_be_right_is_named_beside_nothing(node: Opened, way: Any) -> None:
    """SPEC T3: nor is the other one hidden behind it."""
    stands = written(node.pipeline, "The proxy of the shop is nginx")
    waits = held(node.pipeline, "The proxy of the shop is Envoy", kind="external_claim")
    contradict(node, stands, waits)
    assert beside(recalled(node.pipeline), stands).note is not None

    way(node.pipeline, waits)

    item = beside(recalled(node.pipeline), stands)
    assert (item.note, item.contradictions) == (None, ())


def test_a_persons_word_ends_the_note(node: Opened, clock: MovableClock) -> None:
    """SPEC T3: both are right, so both are shown."""
    older = written(node.pipeline, "The proxy of the shop is nginx")
    clock.pass_time(hours=1)
    newer = written(node.pipeline, "The proxy of the task is Caddy", scope=TASK)
    contradiction = contradict(node, newer, older)
    assert ids(recalled(node.pipeline)) == {newer.id}

    decided(node, contradiction, newer)

    found = recalled(node.pipeline)
    assert ids(found) == {newer.id, older.id}
    assert [item.note for item in found.items] == [None, None]


def test_a_past_shows_what_was_known_then_to_contradict(node: Opened, clock: MovableClock) -> None:
    """SPEC R8, T3: from when it was found until it was decided, whatever the two came to since."""
    older = written(node.pipeline, "The proxy of the shop is nginx")
    newer = written(node.pipeline, "The proxy of the shop is Caddy")
    moments = [clock.now()]
    clock.pass_time(hours=1)
    contradiction = contradict(node, newer, older)
    moments.append(clock.now())
    live = recalled(node.pipeline)
    clock.pass_time(hours=1)
    decided(node, contradiction, newer)
    moments.append(clock.now())
    clock.pass_time(hours=1)
    revoke(node.pipeline, older)

    before, open_, after = (recalled(node.pipeline, as_of=moment) for moment in moments)

    assert (ids(before), before.skipped.contradicted) == ({older.id, newer.id}, 0)
    assert (ids(open_), open_.skipped.contradicted) == ({newer.id}, 1)
    assert [(item.note, item.contradictions) for item in open_.items] == [
        (item.note, item.contradictions) for item in live.items
    ]
    assert (ids(after), after.skipped.contradicted) == ({older.id, newer.id}, 0)


def test_what_is_forgotten_since_is_named_in_no_past(node: Opened, clock: MovableClock) -> None:
    """SPEC R8, F1: its id neither."""
    stands = written(node.pipeline, "The proxy of the shop is nginx")
    waits = held(node.pipeline, "The proxy of the shop is Envoy")
    contradict(node, stands, waits)
    at = clock.now()
    clock.pass_time(hours=1)
    assert str(waits.id) in recalled(node.pipeline, as_of=at).context
    reject(node.pipeline, waits)
    assert str(waits.id) in recalled(node.pipeline, as_of=at).context

    forget(node.pipeline, node.pipeline.run(GET, REVIEWER, Get(memory_id=waits.id)))

    assert str(waits.id) not in recalled(node.pipeline, as_of=at).context


def test_a_note_takes_its_room_in_the_budget(node: Opened) -> None:
    """SPEC R4: the block as it is given out never has more tokens than there may be."""
    one = written(node.pipeline, "The proxy of the shop is nginx")
    other = held(node.pipeline, "The proxy of the shop is Envoy")
    bare = recalled(node.pipeline).tokens
    contradict(node, one, other)
    whole = recalled(node.pipeline).tokens

    fits, does_not = (recalled(node.pipeline, budget_tokens=budget) for budget in (whole + 5, bare + 5))

    assert (ids(fits), fits.tokens) == ({one.id}, whole)
    assert (ids(does_not), does_not.skipped.budget) == (set(), 1)


def test_neighbours_carry_their_notes_too(node: Opened) -> None:
    """SPEC R2a, T3: what stood around a memory is shown as a recall shows it."""
    stands = written(node.pipeline, "The proxy is nginx", source=source(thread="t", position=1))
    waits = held(node.pipeline, "The proxy is Envoy")
    contradict(node, stands, waits)

    [item] = node.pipeline.run(NEIGHBOURS, BOT, AskNeighbours(memory_id=stands.id, around=Around())).items

    assert str(waits.id) in (item.note or "")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_however_many_contradict_each_other_an_answer_comes_to_rest(
    node: Opened, clock: MovableClock, data: st.DataObject
) -> None:
    """SPEC T3, R4: notes are those of what is shown, and nothing is hidden that nothing contradicts."""
    subject = f"customer-{clock.moment().fresh_id}"
    memories = []
    for number in range(7):
        clock.pass_time(seconds=1)
        text = f"The proxy of the shop is number {number}" + " or so" * data.draw(st.integers(0, 20))
        memories.append(written(node.pipeline, text, subject=subject))
    pairs = data.draw(st.sets(st.sampled_from(list(combinations(range(7), 2))), min_size=1, max_size=10))
    for one, other in pairs:
        contradict(node, memories[other], memories[one])
    showing = data.draw(st.sampled_from(Showing))
    shows(node.pipeline, showing)
    budget = data.draw(st.none() | st.integers(50, 1_500))

    found = recalled(node.pipeline, subject=subject, budget_tokens=budget, limit=data.draw(st.integers(1, 7)))

    against = {
        memory.id: {memories[other].id for pair in pairs if at in pair for other in pair if other != at}
        for at, memory in enumerate(memories)
    }
    assert budget is None or found.tokens <= budget
    for item in found.items:
        assert {opposing.other for opposing in item.contradictions} == against[item.memory.id]
        assert (item.note is not None) == bool(against[item.memory.id])
        for opposing in item.contradictions:
            assert opposing.shown == (opposing.other in ids(found))
            assert not opposing.shown or showing is Showing.BOTH
    if showing is Showing.BOTH:
        assert found.skipped.contradicted == 0
    if budget is None and found.skipped.contradicted == 0:
        assert found.items
    believed_most = max(memories, key=standing_of)
    if budget is None and len(found.items) + found.skipped.contradicted == len(memories):
        assert believed_most.id in ids(found)
    assert all(item.memory.status is Status.ACTIVE for item in found.items)
