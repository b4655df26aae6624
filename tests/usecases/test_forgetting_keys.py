"""Forgetting a key in a named scope: durable by default, or at the leaf alone (SPEC F4-F6)."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.stores.concurrently import at_once
from tests.usecases.asking import (
    AGENT,
    BOT,
    OFFICER,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    caller,
    happened,
    held,
    log,
    source,
    written,
)

from tenure.core.errors import Forbidden, InvalidRequest, MemoryRejected, NotFound
from tenure.core.forgetting import ForgetKey, ForgetState, Forgetting, Forgotten, Shadowed
from tenure.core.identity import Role, Scope, Tier
from tenure.core.memory import Memory
from tenure.core.vocabulary import Kind
from tenure.usecases.forgetting import ASK_FORGET, FORGET_KEY, AskForget
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.scopes import RESOLVE, ResolveKey
from tenure.usecases.upkeep import upkeep_round

KEY = "favourite"
USER = Scope(tier=Tier.USER, id=SUBJECT)
TASK = Scope(tier=Tier.TASK, id="t-1", session="s-1", user=SUBJECT)
ALONE = Scope(tier=Tier.TASK, id="t-1")
WALLS: dict[str, Any] = {"agent": AGENT, "purpose": PURPOSE, "subject": SUBJECT, "key": KEY}


def keyed(pipeline: Pipeline, content: str = "The blue one", scope: Scope = USER, **sides: Any) -> Memory:
    """A memory of the key in a scope."""
    return written(pipeline, content, key=KEY, scope=scope, **sides)


def forget(pipeline: Pipeline, scope: Scope = TASK, **sides: Any) -> Forgotten:
    """Forget the key at a scope as the privacy officer."""
    return pipeline.run(FORGET_KEY, OFFICER, ForgetKey(**(WALLS | sides), scope=scope))


def resolved(pipeline: Pipeline, scope: Scope = TASK) -> str | None:
    """What the key means at a scope; None where it means nothing."""
    try:
        return pipeline.run(RESOLVE, BOT, ResolveKey(**WALLS, scope=scope)).content
    except NotFound:
        return None


def listed(pipeline: Pipeline) -> set[UUID]:
    """The ids of all that any list shows."""
    return {memory.id for memory in pipeline.run(LIST, REVIEWER, ListMemories()).items}


def test_a_key_of_the_user_forgotten_at_a_task_is_absent_for_good(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F5: at minute 61, in a fresh task of the same name, from every scope, and for a late import."""
    keyed(pipeline)
    answer = forget(pipeline)

    assert answer == Forgotten(
        status=Forgetting.FORGOTTEN,
        forgotten=1,
        durable=True,
        anchored_at=f"user:{SUBJECT}",
        forget_id=answer.forget_id,
    )
    clock.pass_time(minutes=61)
    upkeep_round(pipeline, batch_size=10)
    written(pipeline, "A note of the new task", scope=TASK)
    assert [resolved(pipeline, scope) for scope in (TASK, ALONE, USER)] == [None] * 3
    assert pipeline.store.rebuild().identical
    assert resolved(pipeline) is None
    with pytest.raises(MemoryRejected) as refused:
        keyed(pipeline, "The navy one", source=source(observed_at=START))
    assert refused.value.details["rule"] == "forgotten-source"


def test_outer_scopes_that_are_not_named_are_every_one_of_their_tier(pipeline: Pipeline) -> None:
    """SPEC F4: a later read at the task may name any session or user; tasks beside it are left alone."""
    keyed(pipeline, "The blue one")
    keyed(pipeline, "The red one", Scope(tier=Tier.SESSION, id="s-1"))
    keyed(pipeline, "The green one", Scope(tier=Tier.SESSION, id="s-2"))
    beside = keyed(pipeline, "The grey one", Scope(tier=Tier.TASK, id="t-2"))

    answer = forget(pipeline, ALONE)

    assert (answer.forgotten, answer.anchored_at) == (3, "user:*")
    assert listed(pipeline) == {beside.id}
    with pytest.raises(MemoryRejected):
        keyed(pipeline, "The red two", Scope(tier=Tier.SESSION, id="s-9"), source=source(observed_at=START))


def test_what_was_made_from_a_forgotten_key_goes_with_it(pipeline: Pipeline) -> None:
    """SPEC F9: in whatever scope and under whatever key, through two steps."""
    parent = keyed(pipeline)
    child = written(pipeline, "Likes blue", kind=Kind.SUMMARY, derived_from=(parent.id,))
    written(pipeline, "Likes colours", kind=Kind.SUMMARY, derived_from=(child.id,), key="colours")
    stands = written(pipeline, "Pays on time")

    assert forget(pipeline).forgotten == 3
    assert listed(pipeline) == {stands.id}
    assert pipeline.store.rebuild().identical


def test_memories_of_every_status_are_taken(pipeline: Pipeline) -> None:
    """SPEC F1, F4: what waits under the key is gone too, so that no promotion brings it back."""
    old = keyed(pipeline)
    keyed(pipeline, "The red one", supersedes=old.id)
    held(pipeline, "The green one", key=KEY, scope=TASK)

    assert forget(pipeline).forgotten == 3
    assert listed(pipeline) == set()


@pytest.mark.parametrize("side", ["agent", "purpose", "subject"])
def test_the_same_key_behind_another_wall_is_another_key(pipeline: Pipeline, side: str) -> None:
    """SPEC M2: neither its memories nor its floors."""
    elsewhere: dict[str, Any] = {side: "another"}
    stands = keyed(pipeline, **elsewhere)

    assert forget(pipeline, ALONE).forgotten == 0
    assert listed(pipeline) == {stands.id}
    keyed(pipeline, "The red one", source=source(observed_at=START), **elsewhere)


def test_a_fresh_write_after_the_forget_is_a_new_memory(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F4a: the name stays usable; the value that was forgotten is not."""
    keyed(pipeline)
    forget(pipeline)
    clock.pass_time(minutes=1)

    keyed(pipeline, "The red one")
    assert resolved(pipeline) == "The red one"
    keyed(pipeline, "The green one", source=source(observed_at=clock.now()))
    with pytest.raises(MemoryRejected) as refused:
        keyed(pipeline, "the BLUE one")
    assert refused.value.details["rule"] == "forgotten-value"
    assert forget(pipeline).forgotten == 2


def test_a_key_that_nobody_holds_lays_its_floors_once(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F4a, F1: already forgotten, both times; the second writes nothing."""
    first, second = forget(pipeline), forget(pipeline)
    clock.pass_time(minutes=1)

    assert (first.status, second.status) == (Forgetting.ALREADY_FORGOTTEN, Forgetting.ALREADY_FORGOTTEN)
    assert (first.forgotten, second.forgotten, second.forget_id) == (0, 0, None)
    assert happened(pipeline) == ["scoped_key.forgotten"]
    with pytest.raises(MemoryRejected):
        keyed(pipeline, source=source(observed_at=START))


def test_no_event_of_a_forget_quotes_the_key(pipeline: Pipeline) -> None:
    """SPEC F4a, E6: floors are keyed digests."""
    forget(pipeline, key="blood-group")

    assert "blood" not in repr(log(pipeline))


def test_at_the_leaf_alone_the_answer_says_that_it_will_not_hold(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F4, F5, F6: absent for the leaf's retention, then it comes back, and the forget has failed."""
    outer = keyed(pipeline)
    inner = keyed(pipeline, "The red one", TASK)

    answer = forget(pipeline, leaf_only=True)

    assert answer == Forgotten(
        status=Forgetting.FORGOTTEN,
        forgotten=1,
        durable=False,
        anchored_at="task:t-1",
        shadowed=(Shadowed(scope=f"user:{SUBJECT}", holds_until=outer.expires_at),),
        probe_at=START + timedelta(minutes=61),
        forget_id=answer.forget_id,
    )
    assert (resolved(pipeline), resolved(pipeline, USER)) == (None, "The blue one")
    assert inner.id not in listed(pipeline)
    assert pipeline.store.rebuild().identical
    assert resolved(pipeline) is None
    clock.pass_time(minutes=61)
    upkeep_round(pipeline, batch_size=10)
    assert resolved(pipeline) == "The blue one"
    assert answer.forget_id is not None
    standing = pipeline.run(ASK_FORGET, OFFICER, AskForget(forget_id=answer.forget_id))
    assert (standing.state, standing.found_in) == (ForgetState.FAILED, f"user:{SUBJECT}")


def test_forgetting_the_leaf_again_tells_of_the_first_forget(pipeline: Pipeline) -> None:
    """SPEC F1: its id and its probe; nothing is written. A durable forget after it takes the rest."""
    keyed(pipeline)
    first = forget(pipeline, leaf_only=True)

    again = forget(pipeline, leaf_only=True)

    assert again.status is Forgetting.ALREADY_FORGOTTEN
    assert (again.forget_id, again.probe_at, again.shadowed) == (
        first.forget_id,
        first.probe_at,
        first.shadowed,
    )
    assert happened(pipeline).count("scoped_key.forgotten") == 1
    assert (forget(pipeline).forgotten, resolved(pipeline, USER)) == (1, None)


def test_a_durable_forget_is_complete_at_once(pipeline: Pipeline) -> None:
    """SPEC F6: there is nothing to probe."""
    keyed(pipeline)
    forget_id = forget(pipeline).forget_id
    assert forget_id is not None

    standing = pipeline.run(ASK_FORGET, OFFICER, AskForget(forget_id=forget_id))

    assert (standing.state, standing.durable, standing.probe_at) == (ForgetState.COMPLETE, True, None)


def test_a_forget_is_told_of_to_whom_it_was_granted_alone(pipeline: Pipeline) -> None:
    """SPEC A2: beyond the grants it is absent; so is any id that is no forget of a key."""
    memory = keyed(pipeline)
    forget_id = forget(pipeline).forget_id
    assert forget_id is not None
    strangers = (
        caller(Role.PRIVACY_OFFICER, tenant="globex"),
        caller(Role.SUBJECT, subjects={"customer-8"}),
        caller(Role.PRIVACY_OFFICER, agents={"sales"}),
        caller(Role.PRIVACY_OFFICER, purposes={"selling"}),
    )

    for who in strangers:
        with pytest.raises(NotFound):
            pipeline.run(ASK_FORGET, who, AskForget(forget_id=forget_id))
    for other in (memory.id, UUID(int=1)):
        with pytest.raises(NotFound):
            pipeline.run(ASK_FORGET, OFFICER, AskForget(forget_id=other))
    with pytest.raises(Forbidden):
        pipeline.run(ASK_FORGET, BOT, AskForget(forget_id=forget_id))


def test_the_first_answer_is_given_again_even_where_nothing_was_written(pipeline: Pipeline) -> None:
    """SPEC L9: whatever has been written under the key since."""
    command = ForgetKey(**WALLS, scope=TASK)
    keyed(pipeline)
    first = pipeline.run(FORGET_KEY, OFFICER, command, idempotency_key="k-1")
    second = pipeline.run(FORGET_KEY, OFFICER, command, idempotency_key="k-2")
    fresh = keyed(pipeline, "The red one")

    assert pipeline.run(FORGET_KEY, OFFICER, command, idempotency_key="k-1") == first
    assert pipeline.run(FORGET_KEY, OFFICER, command, idempotency_key="k-2") == second
    assert (first.forgotten, second.status) == (1, Forgetting.ALREADY_FORGOTTEN)
    assert listed(pipeline) == {fresh.id}


def test_a_write_and_a_forget_of_one_key_at_once_come_in_one_order_or_the_other(
    pipeline: Pipeline,
) -> None:
    """SPEC F4a: the write was first and is gone, or it was second and stands; never half."""
    for number in range(8):
        write = partial(keyed, pipeline, f"Number {number}")
        calls: list[Callable[[], Memory | Forgotten]] = [write, partial(forget, pipeline)]
        memory, answer = at_once(*calls)
        assert isinstance(memory, Memory)
        assert isinstance(answer, Forgotten)
        if answer.forgotten:
            assert (answer.status, resolved(pipeline)) == (Forgetting.FORGOTTEN, None)
        else:
            assert resolved(pipeline) == memory.content
            forget(pipeline)
    assert pipeline.store.rebuild().identical


@pytest.mark.parametrize(
    ("sides", "field"),
    [
        ({"agent": ""}, "agent"),
        ({"purpose": "a\n"}, "purpose"),
        ({"subject": " "}, "subject"),
        ({"key": ""}, "key"),
    ],
)
def test_a_name_that_is_no_name_is_refused(pipeline: Pipeline, sides: dict[str, Any], field: str) -> None:
    """SPEC S2: the field is named, and nothing is written."""
    with pytest.raises(InvalidRequest) as refusal:
        forget(pipeline, **sides)

    assert refusal.value.field == field
    assert happened(pipeline) == []


@pytest.mark.parametrize("name", ["", "*", "two\nlines"])
def test_a_scope_is_named_and_never_by_a_wildcard(pipeline: Pipeline, name: str) -> None:
    """SPEC F4: forget must name its scope; what floors mean by every one is no name."""
    with pytest.raises(InvalidRequest):
        forget(pipeline, Scope(tier=Tier.TASK, id=name))
    with pytest.raises(InvalidRequest):
        forget(pipeline, Scope(tier=Tier.TASK, id="t-1", session=name or " "))

    assert happened(pipeline) == []


def test_who_was_not_granted_a_side_forgets_no_key_there(pipeline: Pipeline) -> None:
    """SPEC A2, L14: a person only their own; a writer or reviewer none."""
    keyed(pipeline)
    command = ForgetKey(**WALLS, scope=TASK)
    strangers = (
        BOT,
        REVIEWER,
        caller(Role.SUBJECT, subjects={"customer-8"}),
        caller(Role.PRIVACY_OFFICER, agents={"sales"}),
    )

    for who in strangers:
        with pytest.raises(Forbidden):
            pipeline.run(FORGET_KEY, who, command)

    assert resolved(pipeline) == "The blue one"
    assert pipeline.run(FORGET_KEY, caller(Role.SUBJECT, subjects={SUBJECT}), command).forgotten == 1
