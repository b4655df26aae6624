"""What a revoked source may do no more: write, revise, or come back through a summary (SPEC I1)."""

from typing import Any

import pytest
from tests.usecases.asking import (
    BOT,
    OPERATOR,
    REVIEWER,
    TENANT,
    held,
    judgement,
    log,
    proposal,
    source,
    written,
)
from tests.usecases.sourcing import REVOKE, a_summary, over

from tenure.core.errors import (
    IllegalTransition,
    MemoryRejected,
)
from tenure.core.events import Refused
from tenure.core.identity import SourceType
from tenure.core.incidents import RevokeSource
from tenure.core.proposals import Revise
from tenure.core.retention import Renew
from tenure.core.review_queue import AskQueue
from tenure.core.vocabulary import Status
from tenure.usecases.importing import Proposed, import_batch
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.review import PROMOTE, RENEW, RenewMemory
from tenure.usecases.review import REVOKE as REVOKE_ONE
from tenure.usecases.review_queue import QUEUE
from tenure.usecases.sources import revoke_source


@pytest.mark.parametrize(
    ("revoke", "sides"),
    [
        (REVOKE, {}),
        (RevokeSource(source_id="crm-1", reason="x"), {}),
        (RevokeSource(source_id="crm-1", reason="x"), {"source": source(SourceType.WEB, "crm-1")}),
        (
            RevokeSource(source_type="connector", source_id=BOT.id, reason="x"),
            {"source": source(id_="crm-9")},
        ),
    ],
    ids=["its type", "every type", "another type of it", "its connector"],
)
def test_what_a_revoked_source_writes_later_is_refused(
    pipeline: Pipeline, revoke: RevokeSource, sides: dict[str, Any]
) -> None:
    """SPEC I1, L13: with an audit record that has no content; a dry run says the same."""
    revoke_source(pipeline, OPERATOR, revoke)
    command = proposal("Wants a refund", **sides)

    with pytest.raises(MemoryRejected) as refusal:
        pipeline.run(REMEMBER, BOT, command)

    assert refusal.value.rule == "source_revoked"
    assert pipeline.preview(REMEMBER, BOT, command).answer.decision.rule == "source_revoked"
    last = log(pipeline)[-1]
    assert isinstance(last.data, Refused)
    assert (last.data.rule, last.secret) == ("source_revoked", None)


def test_other_sources_write_on(pipeline: Pipeline) -> None:
    """SPEC I1: another id, the same id of another type, another connector."""
    revoke_source(pipeline, OPERATOR, REVOKE)
    revoke_source(pipeline, OPERATOR, RevokeSource(source_type="connector", source_id="key:x", reason="x"))

    assert written(pipeline, source=source(id_="crm-2")).status is Status.ACTIVE
    assert held(pipeline, content="From the web").status is Status.QUARANTINED
    pipeline.run(REMEMBER, BOT, proposal("Of that type", source=source(SourceType.DOCUMENT, "crm-1")))


def test_an_old_node_that_knows_of_no_revocation_refuses_too(pipeline: Pipeline) -> None:
    """SPEC I1, F4a: its first write is decided again, since the store says that there is a floor."""
    other = over(pipeline, pipeline.store)
    written(other, "Before")
    revoke_source(pipeline, OPERATOR, REVOKE)

    with pytest.raises(MemoryRejected):
        written(other, "After")


def test_a_batch_and_an_import_take_the_same_way(pipeline: Pipeline) -> None:
    """SPEC L1, I1: of many writes those of the revoked source are refused, and the others are not."""
    revoke_source(pipeline, OPERATOR, REVOKE)
    commands = [proposal("One"), proposal("Two", source=source(id_="crm-2"))]

    answers = pipeline.run_many(REMEMBER, BOT, [(command, None) for command in commands])
    imported = import_batch(
        pipeline,
        TENANT,
        [Proposed(command=command, idempotency_key=command.content) for command in commands],
    )

    assert isinstance(answers[0], MemoryRejected)
    assert not isinstance(answers[1], MemoryRejected)
    assert (imported.rejected, imported.admitted) == ({"source_revoked": 1}, 1)


def test_a_revision_by_a_revoked_source_is_refused(pipeline: Pipeline) -> None:
    """SPEC I1: whatever it would change of a memory that came from elsewhere."""
    memory = written(pipeline, source=source(id_="crm-2"))
    revoke_source(pipeline, OPERATOR, REVOKE)

    for change in ({"content": "Prefers the phone"}, {"confidence": 0.2}):
        revise = Revise(expected_version=1, source=source(id_="crm-1"), **change)
        with pytest.raises(MemoryRejected) as refusal:
            pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=revise))
        assert refusal.value.rule == "source_revoked"
    assert pipeline.run(GET, BOT, Get(memory_id=memory.id)).version == 1


def test_what_is_made_from_what_was_revoked_is_refused(pipeline: Pipeline) -> None:
    """SPEC I1, M5a: by whom and from what source it may come."""
    memory = written(pipeline)
    alone = written(pipeline, "Withdrawn alone", source=source(id_="crm-2"))
    pipeline.run(REVOKE_ONE, REVIEWER, judgement(alone.id, 1))
    revoke_source(pipeline, OPERATOR, REVOKE)

    for parent, rule in ((memory, "source_revoked"), (alone, "derived_from_revoked")):
        with pytest.raises(MemoryRejected) as refusal:
            a_summary(pipeline, parent)
        assert refusal.value.rule == rule


def test_nothing_else_happens_to_what_was_revoked(pipeline: Pipeline) -> None:
    """SPEC M6, I1: not promoted, not renewed, not corrected, not queued; found as revoked by who may look."""
    waiting = held(pipeline)
    mail = RevokeSource(source_type="email", source_id="mail-1", reason="phished")
    revoke_source(pipeline, OPERATOR, mail)

    with pytest.raises(IllegalTransition):
        pipeline.run(PROMOTE, REVIEWER, judgement(waiting.id, 2))
    with pytest.raises(IllegalTransition):
        written(pipeline, supersedes=waiting.id)
    renewal = Renew(expected_version=2, reason="x", ttl_seconds=60)
    with pytest.raises(IllegalTransition):
        pipeline.run(RENEW, REVIEWER, RenewMemory(memory_id=waiting.id, renew=renewal))
    assert pipeline.run(QUEUE, REVIEWER, AskQueue()).items == ()
    (listed,) = pipeline.run(LIST, REVIEWER, ListMemories(status=Status.REVOKED)).items
    assert (listed.id, listed.status) == (waiting.id, Status.REVOKED)
