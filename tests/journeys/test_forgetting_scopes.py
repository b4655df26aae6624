"""A key forgotten at a task stays forgotten, whatever time, upkeep, rebuild or restore do (SPEC F4, F5)."""

from pathlib import Path

import pytest
from tests.journeys.installation import Installation
from tests.journeys.keys import (
    CONTENT,
    KEY,
    SESSION,
    TASK,
    USER,
    forget_key,
    kept,
    recalled,
    resolved,
    seen,
    ways,
)
from tests.usecases.asking import REVIEWER, SUBJECT, held, judgement, source, written

from tenure.core.errors import InvalidRequest, MemoryRejected
from tenure.core.forgetting import Forgetting, Forgotten
from tenure.core.identity import Scope, Tier
from tenure.usecases.evidence import verify
from tenure.usecases.review import REJECT
from tenure.usecases.upkeep import upkeep_round

LEAVES = {
    "named in full": TASK,
    "outer scopes not named": Scope(tier=Tier.TASK, id="task-1"),
    "session alone named": Scope(tier=Tier.TASK, id="task-1", session="session-1"),
}
LEAF = pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)


@pytest.fixture
def forgotten(installation: Installation) -> Installation:
    """A key of the user's scope that is forgotten at a task; every way led to it before."""
    kept(installation.pipeline)
    assert seen(installation.pipeline) == set(ways(installation.pipeline))
    forget_key(installation.pipeline)
    return installation


def hour_and_a_minute_later(installation: Installation) -> None:
    """The task's retention is over, and a new task of the same name is at work."""
    installation.clock.pass_time(minutes=61)
    written(installation.pipeline, "Works on the new order", key="work", scope=TASK)


@LEAF
def test_a_key_of_the_user_is_absent_from_the_forgetting_on(installation: Installation, leaf: Scope) -> None:
    """SPEC F4: the tombstone lies at the outermost scope that can serve the key, named or not."""
    kept(installation.pipeline)

    answer = forget_key(installation.pipeline, leaf)

    assert (answer.status, answer.forgotten, answer.durable) == (Forgetting.FORGOTTEN, 1, True)
    assert answer.anchored_at == f"user:{SUBJECT if leaf.user else '*'}"
    assert (answer.shadowed, answer.probe_at) == ((), None)
    assert seen(installation.pipeline) == set()


@LEAF
def test_a_fresh_task_of_the_same_name_does_not_find_it_at_minute_61(
    installation: Installation, leaf: Scope
) -> None:
    """SPEC F5: the worked example, at the leaf, by wildcard and from the scopes around it."""
    kept(installation.pipeline)
    forget_key(installation.pipeline, leaf)

    hour_and_a_minute_later(installation)

    assert recalled(installation.pipeline, TASK) == {"Works on the new order"}
    assert seen(installation.pipeline) == set()


def test_a_key_held_in_every_scope_is_taken_from_all_that_can_serve_it(installation: Installation) -> None:
    """SPEC F4: task, session and user each held it; another session, not this task's, keeps its own."""
    elsewhere = Scope(tier=Tier.SESSION, id="session-2", user=SUBJECT)
    for scope in (TASK, SESSION, USER):
        kept(installation.pipeline, scope)
    kept(installation.pipeline, elsewhere, "Prefers a letter, in this session")

    assert forget_key(installation.pipeline).forgotten == 3

    assert seen(installation.pipeline) == set()
    assert resolved(installation.pipeline, elsewhere) == "Prefers a letter, in this session"


def test_the_task_expired_and_was_compacted_in_between(forgotten: Installation) -> None:
    """SPEC F5, F3: nothing that upkeep takes away was what held the key down."""
    written(forgotten.pipeline, "Is on the third page of the form", key="page", scope=TASK)
    forgotten.clock.pass_time(minutes=60)

    done = upkeep_round(forgotten.pipeline, batch_size=10)
    hour_and_a_minute_later(forgotten)

    assert (done.expired, done.compacted) == (1, 1)
    assert seen(forgotten.pipeline) == set()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_rebuild_changes_nothing_about_it(forgotten: Installation, when: str) -> None:
    """SPEC F5, E1: the views come out of the log as they were, before and after the task ends."""
    if when == "after":
        hour_and_a_minute_later(forgotten)
        upkeep_round(forgotten.pipeline, batch_size=10)

    assert forgotten.pipeline.store.rebuild().identical
    forgotten.restart()

    assert seen(forgotten.pipeline) == set()


def test_an_older_backup_does_not_bring_it_back(installation: Installation, tmp_path: Path) -> None:
    """SPEC F11, F5: the floors of the forgetting are laid again, at the time at which it was asked for."""
    kept(installation.pipeline)
    copy = installation.back_up(tmp_path / "backup")
    forget_key(installation.pipeline)
    observed_at = installation.clock.now()
    installation.clock.pass_time(minutes=61)

    restored = installation.restore(copy)

    assert restored.forgets == 1
    assert seen(installation.pipeline) == set()
    with pytest.raises(MemoryRejected, match="observed before"):
        kept(installation.pipeline, TASK, "Likes letters", source=source(observed_at=observed_at))
    kept(
        installation.pipeline, TASK, "Prefers the phone", source=source(observed_at=installation.clock.now())
    )
    assert resolved(installation.pipeline, TASK) == "Prefers the phone"
    assert verify(installation.pipeline, "acme").holds
    assert installation.pipeline.store.rebuild().identical


def test_what_was_observed_before_is_refused_and_what_is_fresh_is_allowed(forgotten: Installation) -> None:
    """SPEC F4a: a late write of old news comes below the floor; the name stays usable."""
    before = forgotten.clock.now()
    forgotten.clock.pass_time(minutes=5)

    for scope in (USER, SESSION, TASK):
        with pytest.raises(MemoryRejected, match="observed before the key was forgotten") as refused:
            kept(forgotten.pipeline, scope, "Likes letters", source=source(observed_at=before))
        assert refused.value.details["rule"] == "forgotten-source"
    assert seen(forgotten.pipeline) == set()

    kept(forgotten.pipeline, content="Prefers the phone", source=source(observed_at=forgotten.clock.now()))
    assert resolved(forgotten.pipeline, TASK) == "Prefers the phone"


def test_the_late_write_leaves_a_record_without_content(forgotten: Installation) -> None:
    """SPEC L13, F4a: it is refused at the gate, as anything that is not wanted."""
    old = source(observed_at=forgotten.clock.now())
    with pytest.raises(MemoryRejected):
        kept(forgotten.pipeline, content="Likes letters", source=old)

    stored = list(forgotten.pipeline.store.export("acme"))[-1]
    assert b"forgotten-source" in stored.header
    assert stored.body is None


def test_the_forgotten_value_is_refused_under_another_id_key_and_wording(forgotten: Installation) -> None:
    """SPEC F4b: case, width and spacing make no other value; another value under the key is allowed."""
    forgotten.clock.pass_time(minutes=5)
    for sides in ({"key": KEY}, {"key": "reach"}, {}):
        with pytest.raises(MemoryRejected, match="forgotten here before"):
            written(
                forgotten.pipeline, "  PREFERS  e-mail to \uff50\uff48\uff4f\uff4e\uff45 ".strip(), **sides
            )
    assert seen(forgotten.pipeline) == set()

    written(forgotten.pipeline, CONTENT, subject="customer-8", key=KEY)
    assert kept(forgotten.pipeline, content="Prefers a letter").content == "Prefers a letter"


def test_a_value_that_a_reviewer_rejected_is_refused_under_another_id(installation: Installation) -> None:
    """SPEC F4b: the no of a person stands, whoever brings the value again."""
    waiting = held(installation.pipeline, "Pays by invoice now")
    installation.pipeline.run(REJECT, REVIEWER, judgement(waiting.id, 1))

    for content in ("Pays by invoice now", "pays by INVOICE  now"):
        with pytest.raises(MemoryRejected, match="rejected or forgotten here before"):
            written(installation.pipeline, content)
    assert installation.pipeline.store.rebuild().identical
    with pytest.raises(MemoryRejected):
        written(installation.pipeline, "Pays by invoice now")


def test_a_key_that_nobody_holds_is_forgotten_for_later(installation: Installation) -> None:
    """SPEC F4a: the answer says that there was nothing, floors lie all the same, and are laid once."""
    first = forget_key(installation.pipeline)
    again = forget_key(installation.pipeline)
    observed_at = installation.clock.now()
    installation.clock.pass_time(minutes=5)

    assert (first.status, first.forgotten, first.durable) == (Forgetting.ALREADY_FORGOTTEN, 0, True)
    assert again == Forgotten(
        status=Forgetting.ALREADY_FORGOTTEN, forgotten=0, anchored_at=f"user:{SUBJECT}", forget_id=None
    )
    names = [stored.header for stored in installation.pipeline.store.export("acme")]
    assert sum(b'"scoped_key.forgotten"' in header for header in names) == 1
    with pytest.raises(MemoryRejected):
        kept(installation.pipeline, source=source(observed_at=observed_at))


def test_forgetting_again_takes_what_was_written_since(forgotten: Installation) -> None:
    """SPEC F1, F4a: a fresh memory is forgotten by a fresh forgetting, and by none that came before."""
    forgotten.clock.pass_time(minutes=5)
    kept(forgotten.pipeline, content="Prefers the phone")

    again = forget_key(forgotten.pipeline)

    assert (again.status, again.forgotten) == (Forgetting.FORGOTTEN, 1)
    assert resolved(forgotten.pipeline, USER) is None


@pytest.mark.parametrize("name", ["", "*", "two\nlines", "x" * 300])
def test_a_scope_without_a_name_is_refused(installation: Installation, name: str) -> None:
    """SPEC F4, S2: a scope is never implied, and nothing is changed."""
    kept(installation.pipeline)

    with pytest.raises(InvalidRequest) as refused:
        forget_key(installation.pipeline, Scope(tier=Tier.TASK, id=name))

    assert refused.value.field == "scope.id"
    assert seen(installation.pipeline) == set(ways(installation.pipeline))


def test_other_walls_keep_their_key(forgotten: Installation) -> None:
    """SPEC M2: another agent, purpose and subject hold keys of the same name and are not touched."""
    sides = ({"agent": "sales"}, {"purpose": "selling"}, {"subject": "customer-8"})
    others = [written(forgotten.pipeline, CONTENT, key=KEY, **side) for side in sides]

    forget_key(forgotten.pipeline)

    with forgotten.pipeline.store.reading() as reading:
        assert all(reading.memory_row("acme", other.id) is not None for other in others)
