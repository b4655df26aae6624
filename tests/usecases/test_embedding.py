"""Vectors for what has none yet: later, anew, after a fault, and never in a writer's way (SPEC R2, T8)."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pytest
from tests.clock import MovableClock
from tests.stores.engine import Opened, PostgresEngine
from tests.stores.places import NewPlace
from tests.usecases.asking import (
    BOT,
    OFFICER,
    REVIEWER,
    SUBJECT,
    TENANT,
    caller,
    held,
    judgement,
    proposal,
    source,
    written,
)

from tenure.core.proposals import Revise
from tenure.core.vectors import Vector
from tenure.usecases.embedding import FIRST_PAUSE, LOOK_AGAIN, PAUSE_MAX, Embedded, Embedding
from tenure.usecases.embedding_ports import EmbeddingFailed
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.review import PROMOTE

SECRET = "the colour of the vault"


class Later:
    """An engine that is asked in the background: each text by the letters in it."""

    is_immediate = False

    def __init__(self, model: str = "letters/1", dimensions: int = 8) -> None:
        self.model = model
        self.asked: list[list[str]] = []
        self.is_down = False
        self._dimensions = dimensions

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors, unless it is down."""
        self.asked.append(list(texts))
        if self.is_down:
            raise EmbeddingFailed("letters/1 did not answer: it is down")
        return [self._vector(text) for text in texts]

    def query(self, text: str) -> Vector:
        """The same for a question."""
        return self.passages([text])[0]

    def _vector(self, text: str) -> Vector:
        counts = np.bincount([ord(letter) % self._dimensions for letter in text], minlength=self._dimensions)
        return (counts / max(1.0, float(np.linalg.norm(counts)))).astype(np.float32)


@pytest.fixture
def engine_of_meaning() -> Later:
    """An engine that is up."""
    return Later()


@pytest.fixture
def rounds(pipeline: Pipeline, engine_of_meaning: Later) -> Embedding:
    """The worker, two texts at a time."""
    return Embedding(pipeline, engine_of_meaning, batch_size=2)


def models(pipeline: Pipeline, tenant: str = TENANT) -> dict[str, int]:
    """How many memories of a tenant have vectors of which model, but for the one that ships."""
    with pipeline.store.reading() as reading:
        return {name: n for name, n in reading.models(tenant).items() if not name.startswith("static")}


def all_of(rounds: Embedding) -> int:
    """How many were embedded until nothing was left."""

    def until_done() -> Iterator[Embedded]:
        done = rounds.round()
        yield done
        while done.more:
            done = rounds.round()
            yield done

    return sum(done.embedded for done in until_done())


def test_what_was_written_is_embedded_some_at_a_time(
    pipeline: Pipeline, rounds: Embedding, engine_of_meaning: Later
) -> None:
    """SPEC R2: as it is found by, and each once."""
    for number in range(5):
        written(pipeline, f"Note {number} on tea")

    assert all_of(rounds) == 5
    assert models(pipeline) == {"letters/1": 5}
    assert [len(texts) for texts in engine_of_meaning.asked] == [2, 2, 1]
    assert engine_of_meaning.asked[0][0].startswith("Note 0 on tea")
    assert rounds.round() == Embedded()


def test_what_is_written_later_is_embedded_in_the_next_round(
    pipeline: Pipeline, rounds: Embedding, engine_of_meaning: Later
) -> None:
    """SPEC R2: and nothing is embedded twice."""
    written(pipeline, "First")
    all_of(rounds)
    written(pipeline, "Second")

    assert all_of(rounds) == 1
    assert [[text.split("\n")[0] for text in texts] for texts in engine_of_meaning.asked] == [
        ["First"],
        ["Second"],
    ]


def test_every_tenant_is_served(pipeline: Pipeline, rounds: Embedding) -> None:
    """SPEC T1: each under its own keys."""
    written(pipeline, "Ours")
    other = caller(tenant="globex")
    pipeline.run(REMEMBER, other, proposal("Theirs"))

    assert all_of(rounds) == 2
    assert (models(pipeline), models(pipeline, "globex")) == ({"letters/1": 1}, {"letters/1": 1})


def test_an_engine_that_is_down_is_left_alone_longer_each_time(
    pipeline: Pipeline, rounds: Embedding, engine_of_meaning: Later, clock: MovableClock
) -> None:
    """SPEC R2: writes go on; what was written meanwhile is embedded when it is back; the reason is told."""
    engine_of_meaning.is_down = True
    written(pipeline, SECRET)

    failed = rounds.round()
    quiet = rounds.round()
    written(pipeline, "Another")
    clock.pass_time(seconds=FIRST_PAUSE.total_seconds())
    again = rounds.round()
    clock.pass_time(seconds=FIRST_PAUSE.total_seconds())
    still_quiet = rounds.round()

    assert failed.failure is not None
    assert SECRET not in failed.failure
    assert (quiet, still_quiet) == (Embedded(), Embedded())
    assert again.failure is not None
    assert len(engine_of_meaning.asked) == 2
    engine_of_meaning.is_down = False
    clock.pass_time(seconds=PAUSE_MAX.total_seconds())
    assert all_of(rounds) == 2


def test_the_pause_has_a_longest(
    pipeline: Pipeline, rounds: Embedding, engine_of_meaning: Later, clock: MovableClock
) -> None:
    """SPEC R2: however long it was down, it is asked again within minutes."""
    engine_of_meaning.is_down = True
    written(pipeline)
    for _ in range(20):
        rounds.round()
        clock.pass_time(seconds=PAUSE_MAX.total_seconds())
    engine_of_meaning.is_down = False

    assert all_of(rounds) == 1


def test_the_vectors_of_before_are_dropped_once_the_new_ones_are_complete(pipeline: Pipeline) -> None:
    """SPEC R2: side by side until then."""
    for number in range(3):
        written(pipeline, f"Note {number} on tea")
    all_of(Embedding(pipeline, Later("old/1"), batch_size=2))
    changed = Embedding(pipeline, Later("new/1", dimensions=5), batch_size=2)

    changed.round()
    halfway = models(pipeline)
    all_of(changed)

    assert halfway == {"old/1": 3, "new/1": 2}
    assert models(pipeline) == {"new/1": 3}


def test_what_is_forgotten_is_not_embedded_and_has_no_vector(pipeline: Pipeline, rounds: Embedding) -> None:
    """SPEC F1: the vector goes with the memory."""
    written(pipeline, "Before")
    all_of(rounds)
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    assert all_of(rounds) == 0
    assert models(pipeline) == {}


def test_what_was_forgotten_while_it_was_embedded_gets_no_vector(pipeline: Pipeline) -> None:
    """SPEC F4: nothing comes back by way of a worker."""
    engine = Later()
    rounds = Embedding(pipeline, engine, batch_size=2)
    written(pipeline, "Before")
    forgetting(engine, partial(pipeline.run, FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT)))

    all_of(rounds)

    assert models(pipeline) == {}


def test_search_data_made_anew_is_embedded_again(
    node: Opened, pipeline: Pipeline, rounds: Embedding, clock: MovableClock
) -> None:
    """SPEC E5: vectors are no part of the log; a tenant that stands still is looked through now and then."""
    written(pipeline)
    all_of(rounds)
    node.store.rebuild()
    assert models(pipeline) == {}

    clock.pass_time(seconds=LOOK_AGAIN.total_seconds())

    assert all_of(rounds) == 1


def forgetting(engine: Later, forget: Callable[[], object]) -> None:
    """Let an engine take so long that somebody forgets meanwhile."""
    compute = engine.passages

    def passages(texts: Sequence[str]) -> list[Vector]:
        forget()
        return compute(texts)

    engine.passages = passages  # type: ignore[method-assign]


def test_a_revised_memory_is_embedded_as_it_says_now(
    pipeline: Pipeline, rounds: Embedding, engine_of_meaning: Later, clock: MovableClock
) -> None:
    """SPEC R2: its place is before what was looked through, so the next look at everything finds it."""
    memory = written(pipeline, "Before")
    all_of(rounds)
    change = Revise(expected_version=memory.version, source=source(), content="After")
    pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=change))

    clock.pass_time(seconds=LOOK_AGAIN.total_seconds())

    assert all_of(rounds) == 1
    assert engine_of_meaning.asked[-1][0].startswith("After")
    assert models(pipeline) == {"letters/1": 1}


def test_what_waits_in_quarantine_is_told_to_no_engine_until_it_is_let_in(
    pipeline: Pipeline, rounds: Embedding, engine_of_meaning: Later, clock: MovableClock
) -> None:
    """SPEC E6, L6: it may be a secret; the reviewer's yes is what makes it findable."""
    waiting = held(pipeline, SECRET)
    before = all_of(rounds)
    pipeline.run(PROMOTE, REVIEWER, judgement(waiting.id, 1))
    clock.pass_time(seconds=LOOK_AGAIN.total_seconds())

    assert (before, engine_of_meaning.asked) == (0, [])
    assert all_of(rounds) == 1


def test_of_two_nodes_one_embeds_and_the_other_goes_on_when_it_closes(
    postgres_places: NewPlace, clock: MovableClock
) -> None:
    """SPEC T8: nothing is embedded twice, and nobody waits until a lease is out."""
    place = PostgresEngine(postgres_places())
    one, two = place.open(clock), place.open(clock)
    first, second = Later(), Later()
    here = Embedding(one.pipeline, first, batch_size=10)
    there = Embedding(two.pipeline, second, batch_size=10)
    written(one.pipeline, "First")
    done = here.round()
    written(one.pipeline, "Second")
    left = there.round()

    one.close()
    taken_over = there.round()
    two.close()

    assert (done.embedded, left.embedded, taken_over.embedded) == (1, 0, 1)
    assert [text.split("\n")[0] for texts in second.asked for text in texts] == ["Second"]
