"""Keys that resolve outward through their scopes, for one key and for all that a recall sees (SPEC F3)."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.clock import MovableClock
from tests.stores.engine import Opened
from tests.usecases.asking import (
    AGENT,
    BOT,
    OFFICER,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    caller,
    held,
    judgement,
    question,
    source,
    written,
)

from tenure.core.errors import Forbidden, InvalidRequest, NotFound
from tenure.core.forgetting import ForgetKey
from tenure.core.identity import Role, Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.vocabulary import Kind, Trust
from tenure.usecases.forgetting import FORGET_KEY
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REVOKE
from tenure.usecases.scopes import RESOLVE, ResolveKey

KEY = "favourite"
USER = Scope(tier=Tier.USER, id=SUBJECT)
SESSION = Scope(tier=Tier.SESSION, id="s-1")
TASK = Scope(tier=Tier.TASK, id="t-1", session="s-1")
OTHER_TASK = Scope(tier=Tier.TASK, id="t-2", session="s-1")
OTHER_SESSION = Scope(tier=Tier.TASK, id="t-1", session="s-2")


def keyed(pipeline: Pipeline, content: str, scope: Scope | None = USER, **sides: Any) -> Memory:
    """A memory of the key in a scope."""
    return written(pipeline, content, key=KEY, scope=scope, **sides)


def resolved(pipeline: Pipeline, scope: Scope, **sides: Any) -> str | None:
    """What the key means at a scope; None where it means nothing."""
    whole: dict[str, Any] = {"agent": AGENT, "purpose": PURPOSE, "subject": SUBJECT, "key": KEY}
    try:
        return pipeline.run(RESOLVE, BOT, ResolveKey(**(whole | sides), scope=scope)).content
    except NotFound:
        return None


def recalled(pipeline: Pipeline, scope: Scope | None, **sides: Any) -> set[str | None]:
    """What a recall at a scope shows."""
    found = pipeline.run(RECALL, BOT, question("notebook", scope=scope, **sides))
    return {item.memory.content for item in found.items}


def test_a_key_is_read_outward_and_the_innermost_memory_wins(pipeline: Pipeline) -> None:
    """SPEC F3: task, then session, then user."""
    keyed(pipeline, "The blue notebook")
    assert resolved(pipeline, TASK) == "The blue notebook"
    keyed(pipeline, "The red notebook", SESSION)
    keyed(pipeline, "The green notebook", TASK)

    found = {scope: resolved(pipeline, scope) for scope in (TASK, OTHER_TASK, OTHER_SESSION, SESSION, USER)}

    assert found == {
        TASK: "The green notebook",
        OTHER_TASK: "The red notebook",
        OTHER_SESSION: "The green notebook",
        SESSION: "The red notebook",
        USER: "The blue notebook",
    }


def test_a_read_never_looks_inward(pipeline: Pipeline) -> None:
    """SPEC F3: what a task holds is nothing to its session or its user."""
    keyed(pipeline, "The green notebook", TASK)

    assert [resolved(pipeline, scope) for scope in (SESSION, USER, OTHER_TASK)] == [None] * 3


def test_a_memory_without_a_scope_lies_in_its_subjects_own(pipeline: Pipeline) -> None:
    """SPEC F3: it is served to everything inside it."""
    keyed(pipeline, "The blue notebook", scope=None)

    assert resolved(pipeline, USER) == resolved(pipeline, TASK) == "The blue notebook"
    assert resolved(pipeline, replace(TASK, user="customer-8")) is None


def test_of_one_place_the_newest_memory_is_served(pipeline: Pipeline) -> None:
    """SPEC F3: a key written again means what was written last."""
    keyed(pipeline, "The blue notebook")
    keyed(pipeline, "The red notebook")

    assert resolved(pipeline, TASK) == "The red notebook"


def test_what_no_read_is_served_stands_before_nothing(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L6, L11, L12: waiting, revoked and expired memories are looked past."""
    keyed(pipeline, "The blue notebook")
    keyed(pipeline, "The red notebook", TASK, ttl_seconds=60)
    waiting = held(pipeline, "The green notebook", key=KEY, scope=TASK)
    assert resolved(pipeline, TASK) == "The red notebook"

    clock.pass_time(seconds=60)
    assert resolved(pipeline, TASK) == "The blue notebook"
    pipeline.run(PROMOTE, REVIEWER, judgement(waiting.id, 1))
    assert resolved(pipeline, TASK) == "The green notebook"
    pipeline.run(REVOKE, REVIEWER, judgement(waiting.id, 2))
    assert resolved(pipeline, TASK) == "The blue notebook"


@pytest.mark.parametrize("side", ["agent", "purpose", "subject"])
def test_no_key_is_read_through_a_wall(pipeline: Pipeline, side: str) -> None:
    """SPEC M2: the same key and scope of another agent, purpose or subject is another key."""
    keyed(pipeline, "The blue notebook", TASK)

    assert resolved(pipeline, TASK, **{side: "another"}) is None


def test_who_may_not_read_there_resolves_nothing(pipeline: Pipeline) -> None:
    """SPEC A2: a key is read within what was granted; another tenant has its own."""
    keyed(pipeline, "The blue notebook")
    ask = ResolveKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key=KEY, scope=USER)

    for who in (caller(Role.WRITER), caller(Role.READER, subjects={"customer-8"})):
        with pytest.raises(Forbidden):
            pipeline.run(RESOLVE, who, ask)
    with pytest.raises(NotFound):
        pipeline.run(RESOLVE, caller(Role.READER, tenant="globex"), ask)


@pytest.mark.parametrize(
    ("sides", "field"),
    [
        ({"agent": ""}, "agent"),
        ({"purpose": "a\n"}, "purpose"),
        ({"subject": " "}, "subject"),
        ({"key": ""}, "key"),
        ({"scope": Scope(tier=Tier.TASK, id="")}, "scope.id"),
    ],
)
def test_a_name_that_is_no_name_is_refused(pipeline: Pipeline, sides: dict[str, Any], field: str) -> None:
    """SPEC S2: the field is named."""
    whole: dict[str, Any] = {
        "agent": AGENT,
        "purpose": PURPOSE,
        "subject": SUBJECT,
        "key": KEY,
        "scope": TASK,
    }

    with pytest.raises(InvalidRequest) as refusal:
        pipeline.run(RESOLVE, BOT, ResolveKey(**(whole | sides)))

    assert refusal.value.field == field


def test_a_recall_at_a_scope_sees_what_a_key_means_there_and_no_other(pipeline: Pipeline) -> None:
    """SPEC F3: one resolver; memories without a key are all seen, wherever they lie on the way."""
    keyed(pipeline, "The blue notebook")
    keyed(pipeline, "The green notebook", TASK)
    written(pipeline, "A notebook without a key")
    written(pipeline, "A notebook of the task", scope=TASK)
    written(pipeline, "A notebook of another task", scope=OTHER_TASK)

    assert recalled(pipeline, TASK) == {
        "The green notebook",
        "A notebook without a key",
        "A notebook of the task",
    }
    assert recalled(pipeline, USER) == {"The blue notebook", "A notebook without a key"}
    assert len(recalled(pipeline, None)) == 5


def test_a_memory_that_is_not_asked_for_still_stands_before_one_that_is(pipeline: Pipeline) -> None:
    """SPEC F3, R1: what a key means is decided before kinds and trust are asked for."""
    keyed(pipeline, "The blue notebook")
    keyed(
        pipeline,
        "The green notebook",
        TASK,
        kind=Kind.PREFERENCE,
        source=source(SourceType.DIRECT_USER),
    )

    assert recalled(pipeline, TASK, kinds=(Kind.FACT,)) == set()
    assert recalled(pipeline, TASK, min_trust=Trust.APPLICATION_VERIFIED) == set()
    assert recalled(pipeline, USER, kinds=(Kind.FACT,)) == {"The blue notebook"}


def test_keys_of_several_subjects_do_not_stand_before_one_another(pipeline: Pipeline) -> None:
    """SPEC M2: a recall that asks for every subject resolves each for itself."""
    keyed(pipeline, "The blue notebook", TASK)
    keyed(pipeline, "The green notebook", TASK, subject="customer-8")

    assert recalled(pipeline, TASK, subject=None) == {"The blue notebook", "The green notebook"}


def test_a_forget_of_the_leaf_alone_ends_the_way_outward_in_a_recall_too(pipeline: Pipeline) -> None:
    """SPEC F3, F4: within its boundary alone; a fresh write at the leaf is served."""
    keyed(pipeline, "The blue notebook")
    keyed(pipeline, "The yellow notebook", agent="sales")
    command = ForgetKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key=KEY, scope=TASK, leaf_only=True)
    pipeline.run(FORGET_KEY, OFFICER, command)

    assert (recalled(pipeline, TASK), resolved(pipeline, TASK)) == (set(), None)
    assert recalled(pipeline, OTHER_TASK) == {"The blue notebook"}
    assert recalled(pipeline, TASK, agent="sales") == {"The yellow notebook"}
    keyed(pipeline, "The green notebook", TASK)
    assert recalled(pipeline, TASK) == {"The green notebook"}


def test_inheritance_is_configuration(node: Opened) -> None:
    """SPEC F3: a ladder that inherits nothing serves each scope its own."""
    pipeline = node.pipeline
    keyed(pipeline, "The blue notebook")
    rules = pipeline.rules
    apart = replace(
        rules, write=replace(rules.write, ladder=replace(rules.write.ladder, inherits=frozenset()))
    )
    alone = Pipeline(store=pipeline.store, keyring=pipeline.keyring, clock=pipeline.clock, rules=apart)

    assert (resolved(alone, TASK), recalled(alone, TASK)) == (None, set())
    assert resolved(alone, USER) == "The blue notebook"
