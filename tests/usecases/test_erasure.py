"""Erasing a subject: gone for good, proven, and taken up again wherever somebody died (SPEC F7-F9)."""

from collections.abc import Callable

import msgspec
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    BOT,
    OFFICER,
    REVIEWER,
    SUBJECT,
    TENANT,
    caller,
    happened,
    held,
    judgement,
    log,
    proposal,
    question,
    source,
    written,
)
from tests.usecases.overtaking import overtaken_by

from tenure.core.erasure import METADATA_KEPT, OUT_OF_REACH, Certificate, signed_bytes
from tenure.core.errors import Forbidden, InvalidRequest, MemoryRejected, NotFound, OnHold, Unavailable
from tenure.core.holds import PlaceHold
from tenure.core.identity import Role
from tenure.core.vocabulary import Kind
from tenure.usecases.erasure import BEGIN, FINAL_AFTER, EraseSubject, erase, finish
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.holds import PLACE_HOLD, RELEASE_HOLD, ReleaseHold
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import REJECT
from tenure.usecases.upkeep import upkeep_round

ERASE = EraseSubject(subject=SUBJECT)
OTHER = "customer-8"


def readable(pipeline: Pipeline, subject: str | None = SUBJECT) -> set[str | None]:
    """Whatever a list or a recall still shows of a subject."""
    listed = pipeline.run(LIST, REVIEWER, ListMemories(subject=subject)).items
    found = pipeline.run(RECALL, BOT, question(subject=subject)).items
    return {memory.content for memory in listed} | {item.memory.content for item in found}


def opened(pipeline: Pipeline, subject: str = SUBJECT) -> list[str]:
    """The contents of a subject that the log can still be opened to."""
    return [
        event.secret.content
        for event in log(pipeline)
        if event.subject == subject and event.secret is not None and event.secret.content is not None
    ]


def names(pipeline: Pipeline) -> list[str]:
    """What happened, but for the receipts of recalls."""
    return [name for name in happened(pipeline) if not name.startswith("recall.")]


def keys(pipeline: Pipeline, subject: str = SUBJECT) -> int:
    """How many keys a subject has."""
    return len(pipeline.keyring.key_ids(TENANT, subject))


def test_nothing_of_an_erased_subject_is_readable(pipeline: Pipeline) -> None:
    """SPEC F7: in no read, not in the opened log; other subjects are untouched, and the log verifies."""
    memory = written(pipeline)
    waiting = held(pipeline)
    rejected = held(pipeline, "Pays by card now")
    pipeline.run(REJECT, REVIEWER, judgement(rejected.id, 1))
    written(pipeline, "Prefers the phone", subject=OTHER)

    certificate = erase(pipeline, OFFICER, ERASE)

    assert (readable(pipeline), opened(pipeline), keys(pipeline)) == (set(), [], 0)
    for gone in (memory, waiting, rejected):
        with pytest.raises(NotFound):
            pipeline.run(GET, REVIEWER, Get(memory_id=gone.id))
    assert (readable(pipeline, OTHER), keys(pipeline, OTHER)) == ({"Prefers the phone"}, 1)
    assert verify(pipeline, TENANT).holds
    assert pipeline.store.rebuild().identical
    assert readable(pipeline, None) == {"Prefers the phone"}
    assert certificate.statement.memory_ids == (memory.id, waiting.id, rejected.id)


def test_a_certificate_says_what_was_done_and_by_whom(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F8: counts, ids, keys, what remains and why, which checks ran; content nowhere."""
    memory = written(pipeline, "Likes hazelnuts")
    (key,) = pipeline.keyring.key_ids(TENANT, SUBJECT)
    asked_at = clock.pass_time(hours=1)

    certificate = erase(pipeline, OFFICER, ERASE)

    statement = certificate.statement
    assert (statement.tenant, statement.subject, statement.requested_by) == (TENANT, SUBJECT, OFFICER.id)
    assert statement.begun_at == statement.completed_at == asked_at
    assert statement.final_after == asked_at + FINAL_AFTER
    assert (statement.memories_erased, statement.memory_ids) == (1, (memory.id,))
    assert statement.keys_destroyed == (key,)
    assert (statement.metadata_kept, statement.out_of_reach) == (METADATA_KEPT, OUT_OF_REACH)
    assert len(statement.checks) >= 4
    assert all(check.passed for check in statement.checks)
    assert b"hazelnut" not in msgspec.json.encode(certificate)
    begun = list(pipeline.store.export(TENANT))[statement.log_position - 1]
    assert b'"erasure.begun"' in begun.header
    assert statement.log_link == begun.link.hex()
    assert names(pipeline) == ["memory.admitted", "erasure.begun", "subject.erased"]


def test_a_certificate_is_verified_with_the_public_key_alone(pipeline: Pipeline) -> None:
    """SPEC F8: by a stranger; one byte altered, and it is refused."""
    written(pipeline)

    certificate = erase(pipeline, OFFICER, ERASE)

    public_key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(certificate.public_key))
    signature, text = bytes.fromhex(certificate.signature), signed_bytes(certificate.statement)
    assert bytes.fromhex(certificate.public_key) == pipeline.keyring.public_key()
    public_key.verify(signature, text)
    for position in range(0, len(text), 97):
        altered = text[:position] + bytes([text[position] ^ 1]) + text[position + 1 :]
        with pytest.raises(InvalidSignature):
            public_key.verify(signature, altered)


def test_erasing_again_gives_the_same_certificate(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F8: nothing new in the log either."""
    written(pipeline)
    first = erase(pipeline, OFFICER, ERASE)
    before = names(pipeline)
    clock.pass_time(days=3)

    again = erase(pipeline, OFFICER, ERASE)

    assert again == first
    assert names(pipeline) == before


def test_a_fresh_write_is_sealed_anew_and_a_second_erasure_has_a_certificate_of_its_own(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F4a, F7: also of the very value that was erased, of which no digest was kept."""
    old = written(pipeline)
    first = erase(pipeline, OFFICER, ERASE)
    clock.pass_time(minutes=1)
    fresh = written(pipeline)

    assert readable(pipeline) == {fresh.content}
    assert opened(pipeline) == [fresh.content]
    second = erase(pipeline, OFFICER, ERASE)
    assert second.statement.certificate_id != first.statement.certificate_id
    assert second.statement.memory_ids == (old.id, fresh.id)
    assert set(second.statement.keys_destroyed).isdisjoint(first.statement.keys_destroyed)
    assert (readable(pipeline), opened(pipeline), keys(pipeline)) == (set(), [], 0)
    assert erase(pipeline, OFFICER, ERASE) == second
    assert pipeline.store.rebuild().identical


def test_what_was_observed_before_an_erasure_stays_out(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F4a, F5: the floor of the subject is kept, so old data cannot come back."""
    written(pipeline)
    erase(pipeline, OFFICER, ERASE)
    clock.pass_time(days=1)

    with pytest.raises(MemoryRejected) as refused:
        written(pipeline, "Prefers letters", source=source(observed_at=START))

    assert refused.value.details["rule"] == "forgotten-source"
    written(pipeline, "Prefers letters", source=source(observed_at=clock.now()))


def test_what_was_made_from_an_erased_memory_is_erased_with_it(pipeline: Pipeline) -> None:
    """SPEC F9: through however many steps."""
    parent = written(pipeline)
    child = written(pipeline, "Writes much", kind=Kind.SUMMARY, derived_from=(parent.id,))
    grandchild = written(pipeline, "Is a writer", kind=Kind.SUMMARY, derived_from=(child.id,))

    certificate = erase(pipeline, OFFICER, ERASE)

    assert certificate.statement.memory_ids == (parent.id, child.id, grandchild.id)
    assert opened(pipeline) == []


def test_a_subject_that_is_forgotten_already_is_erased_all_the_same(pipeline: Pipeline) -> None:
    """SPEC F2: logical absence is not erasure: until then the content could be opened."""
    memory = written(pipeline)
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))
    assert opened(pipeline) == [memory.content]

    certificate = erase(pipeline, OFFICER, ERASE)

    assert certificate.statement.memories_erased == 1
    assert opened(pipeline) == []


def test_a_subject_of_whom_nothing_is_known_is_certified_to_have_nothing(pipeline: Pipeline) -> None:
    """SPEC F8: the same certificate again; one event of each kind."""
    certificate = erase(pipeline, OFFICER, ERASE)

    assert certificate.statement.memories_erased == 0
    assert erase(pipeline, OFFICER, ERASE) == certificate
    assert names(pipeline) == ["erasure.begun", "subject.erased"]


def test_who_died_after_the_beginning_is_taken_up_by_upkeep(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F7, T8: everything is out of every read by then, and the next round finishes."""
    memory = written(pipeline)
    pipeline.run(BEGIN, OFFICER, ERASE)
    assert (readable(pipeline), opened(pipeline), keys(pipeline)) == (set(), [memory.content], 1)
    clock.pass_time(minutes=5)

    rounds = [upkeep_round(pipeline, batch_size=10).erased for _ in range(2)]

    assert rounds == [1, 0]
    assert (opened(pipeline), keys(pipeline)) == ([], 0)
    certificate = erase(pipeline, OFFICER, ERASE)
    assert (certificate.statement.begun_at, certificate.statement.completed_at) == (START, clock.now())
    assert certificate.statement.requested_by == OFFICER.id
    assert names(pipeline) == ["memory.admitted", "erasure.begun", "subject.erased"]


def _dies_before_it_destroys(pipeline: Pipeline) -> None:
    pipeline.run(BEGIN, OFFICER, ERASE)


def _dies_before_it_purges(pipeline: Pipeline) -> None:
    pipeline.run(BEGIN, OFFICER, ERASE)
    pipeline.keyring.destroy(TENANT, SUBJECT, pipeline.keyring.key_ids(TENANT, SUBJECT))


def _dies_before_it_certifies(pipeline: Pipeline) -> None:
    _dies_before_it_purges(pipeline)
    with pipeline.store.reading() as reading:
        row = reading.erasure(TENANT, SUBJECT)
    assert row is not None
    pipeline.store.purge(TENANT, SUBJECT, up_to_seq=row.begun_seq)


@pytest.mark.parametrize(
    "death", [_dies_before_it_destroys, _dies_before_it_purges, _dies_before_it_certifies]
)
def test_who_died_anywhere_is_taken_up_by_the_next_call_and_by_upkeep(
    pipeline: Pipeline, death: Callable[[Pipeline], None]
) -> None:
    """SPEC F7: each step may be done again; in the end there is one certificate to be had."""
    written(pipeline)
    death(pipeline)

    certificate = erase(pipeline, OFFICER, ERASE)

    assert upkeep_round(pipeline, batch_size=10).erased == 0
    assert (opened(pipeline), keys(pipeline), readable(pipeline)) == ([], 0, set())
    assert certificate.statement.memories_erased == 1
    assert erase(pipeline, OFFICER, ERASE) == certificate
    assert verify(pipeline, TENANT).holds
    assert pipeline.store.rebuild().identical


def test_a_write_between_the_beginning_and_the_end_is_sealed_under_a_new_key(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F7: no new use of the old keys; the fresh memory outlives the erasure."""
    written(pipeline)
    pipeline.run(BEGIN, OFFICER, ERASE)
    fresh = written(pipeline, "Prefers the phone")
    clock.pass_time(minutes=5)

    upkeep_round(pipeline, batch_size=10)

    assert (readable(pipeline), opened(pipeline)) == ({fresh.content}, [fresh.content])


def test_a_check_that_fails_gives_no_certificate(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC F7, F8: what is done stays done, and the same call goes on from there."""
    written(pipeline)
    monkeypatch.setattr(type(pipeline.store), "purge", lambda *_args, **_sides: None)

    with pytest.raises(Unavailable, match="sealed bodies of the subject in the log"):
        erase(pipeline, OFFICER, ERASE)

    assert (keys(pipeline), names(pipeline)[-1]) == (0, "erasure.begun")
    monkeypatch.undo()
    assert erase(pipeline, OFFICER, ERASE).statement.memories_erased == 1


def test_an_erasure_that_never_began_cannot_be_finished(pipeline: Pipeline) -> None:
    """SPEC S2: there is nothing to go on from."""
    with pytest.raises(NotFound):
        finish(pipeline, TENANT, SUBJECT)


def test_a_write_that_an_erasure_overtakes_is_decided_again_and_sealed_under_a_new_key(
    pipeline: Pipeline,
) -> None:
    """SPEC F7, F4a: it comes after the erasure, and can be read."""
    written(pipeline)
    slow = overtaken_by(pipeline, lambda: erase(pipeline, OFFICER, ERASE))

    fresh = slow.run(REMEMBER, BOT, proposal("Prefers the phone")).memory

    assert fresh is not None
    assert (readable(pipeline), opened(pipeline)) == ({fresh.content}, [fresh.content])
    assert keys(pipeline) == 1


def test_a_hold_that_overtakes_an_erasure_stops_it(pipeline: Pipeline) -> None:
    """SPEC F10: nothing is erased under a hold, however close the two were."""
    memory = written(pipeline)
    slow = overtaken_by(
        pipeline,
        lambda: pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason="a claim in court")),
    )

    with pytest.raises(OnHold, match="while it was being erased"):
        erase(slow, OFFICER, ERASE)

    assert opened(pipeline) == [memory.content]


def test_a_hold_that_comes_after_the_beginning_keeps_the_keys(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F10: upkeep finishes nothing under a hold; what began is out of every read all the same."""
    memory = written(pipeline)
    pipeline.run(BEGIN, OFFICER, ERASE)
    pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason="a claim in court"))
    clock.pass_time(minutes=5)

    assert upkeep_round(pipeline, batch_size=10).erased == 0

    assert (readable(pipeline), opened(pipeline)) == (set(), [memory.content])
    pipeline.run(RELEASE_HOLD, OFFICER, ReleaseHold(subject=SUBJECT, reason="the claim was settled"))
    assert upkeep_round(pipeline, batch_size=10).erased == 1
    assert opened(pipeline) == []


def test_an_erasure_that_cannot_be_finished_is_in_no_others_way(
    pipeline: Pipeline, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T8, F7: the round says that one failed, and has finished all the others."""
    subjects = ("customer-6", SUBJECT, OTHER)
    for subject in subjects:
        written(pipeline, subject=subject)
        pipeline.run(BEGIN, OFFICER, EraseSubject(subject=subject))
    clock.pass_time(minutes=5)
    purge = pipeline.store.purge

    def torn(tenant: str, subject: str, *, up_to_seq: int) -> None:
        if subject == "customer-6":
            raise Unavailable("the disk is full")
        purge(tenant, subject, up_to_seq=up_to_seq)

    monkeypatch.setattr(pipeline.store, "purge", torn)
    with pytest.raises(Unavailable, match="the disk is full"):
        upkeep_round(pipeline, batch_size=10)

    assert names(pipeline).count("subject.erased") == 2
    monkeypatch.undo()
    assert upkeep_round(pipeline, batch_size=10).erased == 1


def test_an_erasure_that_upkeep_finishes_is_looked_after_like_any_other(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F8: its certificate says how many byte sequences were looked for, and that is not none."""
    written(pipeline)
    pipeline.run(BEGIN, OFFICER, ERASE)
    clock.pass_time(minutes=5)
    upkeep_round(pipeline, batch_size=10)

    checks = erase(pipeline, OFFICER, ERASE).statement.checks

    assert not any(check.detail.startswith("0 byte sequences") for check in checks)


@pytest.mark.parametrize("content", ["hazelnut", "customer-7", "crm-1 agent"])
def test_words_that_others_use_too_are_no_residue(pipeline: Pipeline, content: str) -> None:
    """SPEC F7: a content of one word stays in the index where another subject says it, and in ids."""
    written(pipeline, content)
    written(pipeline, f"Likes {content}", subject=OTHER)

    assert erase(pipeline, OFFICER, ERASE).statement.memories_erased == 1


def test_one_tenants_erasure_is_no_other_tenants(pipeline: Pipeline) -> None:
    """SPEC M2: the same name in another tenant is somebody else."""
    memory = written(pipeline)

    erase(pipeline, caller(Role.PRIVACY_OFFICER, tenant="globex"), ERASE)

    assert readable(pipeline) == {memory.content}


def test_a_person_may_have_themselves_erased_and_nobody_else(pipeline: Pipeline) -> None:
    """SPEC L14, A5: no other role may, and nothing that a model drives; nothing is changed by trying."""
    memory = written(pipeline)
    driven = caller(*Role, model_driven=True)

    for who in (BOT, REVIEWER, driven, caller(Role.SUBJECT, subjects={OTHER})):
        with pytest.raises(Forbidden):
            erase(pipeline, who, ERASE)

    assert readable(pipeline) == {memory.content}
    person = caller(Role.SUBJECT, name="customer", subjects={SUBJECT})
    assert erase(pipeline, person, ERASE).statement.requested_by == person.id


def test_a_name_that_is_no_name_is_refused(pipeline: Pipeline) -> None:
    """SPEC S2: the field is named, and nothing is written."""
    with pytest.raises(InvalidRequest) as refusal:
        erase(pipeline, OFFICER, EraseSubject(subject="two\nlines"))

    assert refusal.value.field == "subject"
    assert happened(pipeline) == []


def test_a_certificate_is_read_from_the_log_as_it_was_given(pipeline: Pipeline) -> None:
    """SPEC F8: the auditor who was not there has the same one."""
    written(pipeline)

    certificate = erase(pipeline, OFFICER, ERASE)

    (event,) = [event for event in log(pipeline) if event.subject == SUBJECT and "certificate" in repr(event)]
    text = event.data.certificate  # type: ignore[union-attr]
    assert msgspec.json.decode(text, type=Certificate) == certificate
