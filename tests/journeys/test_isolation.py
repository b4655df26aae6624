"""Two tenants, agents, purposes and subjects: sixteen places, and each sees exactly its own (SPEC M2)."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.stores.engine import Engine

from tenure import NotFound, Source, Tenure
from tenure.core.memory import Memory
from tenure.entrypoints.library.sessions import Session

Place = tuple[str, str, str, str]
PLACES: list[Place] = list(
    itertools.product(("acme", "globex"), ("support", "sales"), ("answering", "selling"), ("ann", "bob"))
)
TEXT = "The customer prefers the phone"
TALK: Any = {"thread": "talk-7", "position": 3}
READING = ("writer", "reader", "reviewer", "auditor")


class World:
    """A store with, in each place, one memory that is active and one that waits, all of the same words."""

    def __init__(self, store: Tenure) -> None:
        self.store = store
        self.active = {place: self.written(place, Source.application("crm-1", **TALK)) for place in PLACES}
        self.waiting = {place: self.written(place, Source.email("mail-1", **TALK)) for place in PLACES}

    def written(self, place: Place, source: Source) -> Memory:
        """One memory, with a key and an idempotency key that are the same everywhere."""
        tenant, agent, purpose, subject = place
        session = self.store.session(tenant, agent, purpose, subject, name="bot")
        key = f"{source.type}-{agent}-{purpose}-{subject}"
        return session.remember(TEXT, kind="fact", source=source, key="contact", idempotency_key=key)

    def session(self, place: Place) -> Session:
        """Somebody who may do everything there, and nothing elsewhere."""
        return self.store.session(*place, roles=READING, name="ann")

    def own(self, place: Place) -> set[UUID]:
        """What stands in a place."""
        return {self.active[place].id, self.waiting[place].id}


@pytest.fixture(scope="module")
def world(shared_engine: Engine) -> Iterator[World]:
    """One store for the sixteen."""
    with Tenure(shared_engine.open()) as store:
        yield World(store)


EACH = pytest.mark.parametrize("place", PLACES, ids="-".join)


@EACH
def test_recall_shows_exactly_its_own(world: World, place: Place) -> None:
    """SPEC R1, L6: the one that is active, and neither what waits nor anything of another place."""
    found = world.session(place).recall(TEXT, limit=20, explain=True)

    assert [memory.id for memory in found] == [world.active[place].id]
    assert found.context.count(TEXT) == 1


@EACH
def test_neighbours_are_exactly_its_own(world: World, place: Place) -> None:
    """SPEC M2, R2a: one thread has the same name in all sixteen, and only its own memory stands in each."""
    session = world.session(place)

    assert [memory.id for memory in session.neighbours(world.active[place].id)] == [world.active[place].id]
    assert [memory.id for memory in session.recall(key_prefix="con")] == [world.active[place].id]
    for other in PLACES:
        if other != place:
            with pytest.raises(NotFound):
                session.neighbours(world.active[other].id)


@EACH
def test_scores_are_the_same_as_if_it_were_alone(world: World, place: Place, tmp_path: Path) -> None:
    """SPEC R1: no statistic crosses a wall, and no score depends on the engine."""
    [shown] = world.session(place).recall(TEXT, explain=True).items
    with Tenure.open(tmp_path / "alone") as store:
        alone = store.session(*place)
        alone.remember(TEXT, kind="fact", source=Source.application("crm-1"))
        [expected] = alone.recall(TEXT, explain=True).items

    assert shown.why is not None
    assert expected.why is not None
    assert shown.why["words"] == expected.why["words"]


@EACH
def test_a_list_shows_exactly_its_own(world: World, place: Place) -> None:
    """SPEC M2: also by a key that is the same everywhere."""
    session = world.session(place)

    assert {memory.id for memory in session.memories(limit=200).items} == world.own(place)
    assert {memory.id for memory in session.memories(limit=200, key="contact").items} == world.own(place)


@EACH
def test_the_queue_shows_exactly_its_own(world: World, place: Place) -> None:
    """SPEC L6, M2: with neighbours from the same place alone."""
    [waiting] = world.session(place).review(limit=200).items

    assert waiting.memory.id == world.waiting[place].id
    assert [near.id for near in waiting.neighbours] == [world.active[place].id]


@EACH
def test_by_id_each_reads_exactly_its_own(world: World, place: Place) -> None:
    """SPEC M2: memories and histories of the fifteen other places are absent."""
    session = world.session(place)
    reads: list[Callable[[UUID], object]] = [session.get, session.history]
    for other in PLACES:
        for memory_id, read in itertools.product(world.own(other), reads):
            if other == place:
                read(memory_id)
                continue
            with pytest.raises(NotFound):
                read(memory_id)


def attempts(session: Session, waiting: UUID, active: UUID) -> list[Callable[[], object]]:
    """Everything that somebody could try on two memories whose ids they learned."""
    source = Source.application("crm-2")
    return [
        lambda: session.promote(waiting, expected_version=1, reason="x"),
        lambda: session.reject(waiting, expected_version=1, reason="x"),
        lambda: session.revoke(active, expected_version=1, reason="x"),
        lambda: session.renew(active, expected_version=1, reason="x", ttl_seconds=60),
        lambda: session.revise(active, expected_version=1, content="x", source=source),
        lambda: session.remember("x", kind="fact", source=source, supersedes=active),
        lambda: session.remember("x", kind="summary", source=source, derived_from=(active,)),
    ]


@EACH
def test_nobody_changes_what_is_not_theirs(world: World, place: Place) -> None:
    """SPEC M2, L8: whoever knows an id of another place still finds nothing there."""
    session = world.session(place)
    for other in PLACES:
        if other == place:
            continue
        for attempt in attempts(session, world.waiting[other].id, world.active[other].id):
            with pytest.raises(NotFound):
                attempt()
    assert {memory.version for memory in session.memories(limit=200).items} == {1}


@pytest.mark.parametrize("tenant", ["acme", "globex"])
def test_the_log_of_a_tenant_names_no_other(world: World, tenant: str) -> None:
    """SPEC M2, E2: each has a log of its own, dense and whole, with the same keys in both."""
    auditor = world.store.session(tenant, "support", "answering", roles=("auditor",), name="aud")
    written = [entry for entry in auditor.log(limit=1_000).items if entry.memory_version == 1]

    own = {memory_id for place in PLACES if place[0] == tenant for memory_id in world.own(place)}
    assert {entry.memory_id for entry in written} == own
    assert len(written) == 16
    assert world.store.verify(tenant).holds


def test_forgetting_in_one_tenant_leaves_the_other(engine: Engine) -> None:
    """SPEC F1, M2: a subject is forgotten for every agent and purpose of its own tenant, and for no other."""
    with Tenure(engine.open()) as store:
        world = World(store)
        officer = store.session("acme", "support", "answering", roles=("privacy_officer",), name="pia")
        answer = officer.forget(subject="ann")
        left = {place for place in PLACES if list(world.session(place).recall(TEXT))}

    assert answer.forgotten == 8
    assert left == {place for place in PLACES if (place[0], place[3]) != ("acme", "ann")}
