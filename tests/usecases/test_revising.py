"""A new version of a memory, through the same gate as a new one (SPEC L1, L8, L10)."""

from typing import Any
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    BOT,
    REVIEWER,
    caller,
    judgement,
    proposal,
    question,
    source,
    written,
)

from tenure.core.errors import (
    Forbidden,
    InvalidRequest,
    MemoryRejected,
    VersionConflict,
)
from tenure.core.identity import Role, SourceType
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.vocabulary import Claim, Status
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE

SECRET = "AKIA" + "IOSFODNN7EXAMPLQ"


def revised(pipeline: Pipeline, memory: Memory, **change: Any) -> Memory:
    """A new version of a memory, as the gate left it."""
    whole: dict[str, Any] = {"expected_version": memory.version, "source": source()}
    command = ReviseMemory(memory_id=memory.id, revise=Revise(**(whole | change)))
    kept = pipeline.run(REVISE, BOT, command).memory
    assert kept is not None
    return kept


def read(pipeline: Pipeline, memory_id: UUID) -> Memory:
    """A memory as a reviewer sees it."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory_id))


def test_a_revision_is_a_new_version_of_the_same_memory(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L8, L1: through the same gate; what is left out stays, the expiry among it."""
    claim = Claim(entity="contact", attribute="by", value="phone")
    memory = written(pipeline, key="contact", claim=claim, confidence=0.5)
    clock.pass_time(hours=1)
    new = revised(pipeline, memory, content="Prefers letters", source=source(id_="crm-2"))

    assert (new.id, new.version, new.content) == (memory.id, 2, "Prefers letters")
    assert (new.claim, new.key, new.confidence) == (claim, "contact", 0.5)
    assert (new.source.id, new.expires_at, new.created_at) == ("crm-2", memory.expires_at, START)
    assert new.fingerprint != memory.fingerprint
    assert read(pipeline, memory.id) == new


def test_the_old_words_of_a_revised_memory_find_nothing(pipeline: Pipeline) -> None:
    """SPEC R1: the index follows the content."""
    memory = written(pipeline, "The giraffe is called Melman")
    revised(pipeline, memory, content="The lion is called Alex")

    def shared(word: str) -> float:
        [item] = pipeline.run(RECALL, BOT, question(word, explain=True)).items
        return item.why["words"] if item.why else 0.0

    assert shared("giraffe") == 0
    assert shared("lion") > 0


def test_a_revision_that_is_held_back_waits_beside_the_memory(pipeline: Pipeline) -> None:
    """SPEC L10, L1: the memory stands as it was until the new text is promoted, which then replaces it."""
    memory = written(pipeline)
    waiting = revised(pipeline, memory, content="Pays by invoice", source=source(SourceType.EMAIL, "m-1"))

    assert waiting.id != memory.id
    assert (waiting.status, waiting.supersedes) == (Status.QUARANTINED, memory.id)
    assert read(pipeline, memory.id) == memory
    pipeline.run(PROMOTE, REVIEWER, judgement(waiting.id, 1))
    assert read(pipeline, memory.id).superseded_by == waiting.id


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({}, InvalidRequest),
        ({"content": "x", "expected_version": 3}, VersionConflict),
        ({"content": "", "confidence": 1.0}, MemoryRejected),
        ({"content": f"The access key is {SECRET}"}, MemoryRejected),
        ({"confidence": 1.5}, InvalidRequest),
        ({"content": "nul \x00"}, InvalidRequest),
        ({"claim": Claim(entity="", attribute="a", value="v")}, InvalidRequest),
    ],
    ids=["nothing", "version", "empty", "credential", "confidence", "nul", "claim"],
)
def test_a_revision_that_is_refused_changes_nothing(
    pipeline: Pipeline, change: dict[str, Any], error: type[Exception]
) -> None:
    """SPEC L1, L3: the gate is the same as for a new memory."""
    memory = written(pipeline)

    with pytest.raises(error):
        revised(pipeline, memory, **change)

    assert read(pipeline, memory.id) == memory


def test_a_source_type_that_was_not_granted_cannot_be_attested(pipeline: Pipeline) -> None:
    """SPEC A3: a mail connector writes e-mail; it cannot revise in an application's name either."""
    connector = caller(Role.WRITER, name="mail", source_types={SourceType.EMAIL})
    memory = written(pipeline)
    revise = Revise(expected_version=1, source=source(), content="Pay me")

    with pytest.raises(Forbidden):
        pipeline.run(REMEMBER, connector, proposal())
    with pytest.raises(Forbidden):
        pipeline.run(REVISE, connector, ReviseMemory(memory_id=memory.id, revise=revise))

    assert read(pipeline, memory.id) == memory
