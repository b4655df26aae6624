"""The story of a memory over a real store: names, sources, rules, and what stays withheld (SPEC L2, L6)."""

import msgspec
from tests.clock import MovableClock
from tests.stores.engine import Opened
from tests.usecases.asking import (
    BOT,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    TENANT,
    held,
    judgement,
    source,
    written,
)

from tenure.core.access import CreateKey
from tenure.core.events import Event, Revoked
from tenure.core.identity import Caller, Grants, Role
from tenure.core.incident_events import SourceRevoked
from tenure.core.memory import Memory
from tenure.core.vocabulary import Trust
from tenure.usecases.access import create_key
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, Appended
from tenure.usecases.reading import HISTORY, Get, Happened
from tenure.usecases.review import PROMOTE, REJECT, REVOKE
from tenure.usecases.sealing import seal


def story(pipeline: Pipeline, who: Caller, memory: Memory) -> tuple[Happened, ...]:
    """What happened to a memory."""
    return pipeline.run(HISTORY, who, Get(memory_id=memory.id)).items


def test_a_promotion_names_the_reviewer_by_credential_and_id(pipeline: Pipeline) -> None:
    """SPEC L7, A1: who, what, why, and the trust that came of it."""
    grants = Grants(roles=frozenset({Role.REVIEWER}))
    key = create_key(pipeline, OPERATOR, CreateKey(name="ann", grants=grants)).key
    ann = msgspec.structs.replace(REVIEWER, id=str(key.id))
    memory = held(pipeline, "The proxy is nginx")
    pipeline.run(PROMOTE, ann, judgement(memory.id, 1))

    waited, promoted = story(pipeline, BOT, memory)

    assert promoted.text == (
        f"ann ({key.id}) promoted it: checked with the customer (trust is now reviewer_verified)"
    )
    assert promoted.trust is Trust.REVIEWER_VERIFIED
    assert waited.source == memory.source
    assert waited.policy_version == memory.policy_version
    assert f"held back by rule {memory.decision.rule} of policy {memory.policy_version}" in waited.text


def test_a_correction_is_told_on_both_sides(pipeline: Pipeline) -> None:
    """SPEC L10: each leads to the other."""
    old = written(pipeline, "The proxy is nginx")
    new = written(pipeline, "The proxy is envoy", supersedes=old.id)

    [first] = story(pipeline, BOT, new)
    last = story(pipeline, BOT, old)[-1]

    assert (first.supersedes, last.superseded_by) == (old.id, new.id)
    assert str(old.id) in first.text
    assert str(new.id) in last.text


def test_no_sentence_of_a_withheld_memory_quotes_its_text_or_a_reason(pipeline: Pipeline) -> None:
    """SPEC L6, L13: the story says that it happened, and no more."""
    memory = held(pipeline, "The proxy is Axolotl")
    reason = "it says Axolotl"
    command = judgement(memory.id, 1, reason)
    pipeline.run(REJECT, REVIEWER, command)

    for who in (BOT, REVIEWER):
        items = story(pipeline, who, memory)
        assert "Axolotl" not in repr(items)
        assert items[-1].text == f"{REVIEWER.id} turned it down"


def test_a_memory_that_went_with_its_source_names_the_incident(node: Opened, clock: MovableClock) -> None:
    """SPEC I1, L6: to whoever may read it with its reason, to others without."""
    memory = written(node.pipeline, "The proxy is nginx", source=source(id_="crm-9"))
    revoked = SourceRevoked(source_type="application", source_id="crm-9", reason="hacked")
    event = Event(tenant=TENANT, at=clock.now(), actor="ops", data=revoked)
    [done] = node.store.append([Append(tenant=TENANT, events=(seal(event, node.keyring),))])
    assert isinstance(done, Appended)
    own = msgspec.structs.replace(
        event, data=Revoked(because_of=done.seq), stream=memory.id, version=2, subject=SUBJECT
    )
    node.store.append([Append(tenant=TENANT, events=(seal(own, node.keyring),))])
    told = "withdrawn with its source application crm-9, which ops revoked"

    judged, read = (story(node.pipeline, who, memory)[-1] for who in (REVIEWER, BOT))

    assert (judged.text, judged.because_of) == (f"{told}: hacked", done.seq)
    assert read.text == told


def test_a_withheld_source_keeps_its_address_to_itself(pipeline: Pipeline) -> None:
    """SPEC L6: an address may say what the text says."""
    place = source(id_="crm-9", uri="https://crm.example.com/axolotl")
    memory = written(pipeline, "The proxy is nginx", source=place)
    assert story(pipeline, BOT, memory)[0].source == place

    pipeline.run(REVOKE, REVIEWER, judgement(memory.id, 1))

    assert "axolotl" not in repr(story(pipeline, BOT, memory))
