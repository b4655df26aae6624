"""Erasing a subject (SPEC F7-F9): out of every read, keys destroyed, what lay open taken away, and proven.

    1 begin      the old keys seal nothing more; one event takes everything out of every read
    2 rewrite    the files that held words, without those of the subject
    3 look       for contents and their words, byte by byte, while they are known
    4 destroy    the keys, durably: from here on no body of the subject can be opened
    5 purge      the sealed bodies
    6 look       for keys, rows, bodies and entries in the word index
    7 certify    what was done and found, signed, as an event of the log

Laws: whoever dies between two of these is taken up where it was, by the next call or by upkeep, and each step
may be done again; no key is destroyed before what was sealed under it was looked for; an erasure has one
certificate, whoever finishes it.
"""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from tenure.core import erasure
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided, Refused
from tenure.core.erasure import Certificate, Check, EraseFacts, Erasing, Statement
from tenure.core.errors import NotFound, OnHold, Unavailable
from tenure.core.events import ErasureBegun, Event, SubjectErased, decode_header
from tenure.core.holds import halts
from tenure.core.identity import Caller, Moment
from tenure.core.rows import ErasureRow
from tenure.core.views import indexed_text
from tenure.usecases.pipeline import Pipeline, Rules, UseCase, World
from tenure.usecases.ports import Append, Idempotency, Reading, Residue
from tenure.usecases.sealing import open_event, seal

CONTENTS_READ_MAX: Final = 400
FINAL_AFTER: Final = timedelta(days=30)
"""How long copies of the keyring may be kept (docs/forgetting.md); after that an erasure is final."""


class EraseSubject(msgspec.Struct, frozen=True, kw_only=True):
    """Everything held about one subject is to be gone for good."""

    subject: str


def erase(pipeline: Pipeline, caller: Caller, command: EraseSubject) -> Certificate:
    """Erase a subject and certify it; again, with nothing new to erase, gives the same certificate.

    Raises OnHold where a legal hold forbids it, and Unavailable where a step could not be done: what is done
    stays done, and the same call goes on from there.
    """
    erasing = pipeline.run(BEGIN, caller, command)
    if erasing.done_seq:
        return _certificate_at(pipeline, caller.tenant, erasing.done_seq)
    return finish(pipeline, caller.tenant, command.subject)


def finish(pipeline: Pipeline, tenant: str, subject: str) -> Certificate:
    """Steps 2 to 5 of an erasure that has begun; a hold that came meanwhile keeps what is left."""
    with pipeline.store.reading() as reading:
        row = reading.erasure(tenant, subject)
        if row is None:
            raise NotFound("no erasure of this subject has begun", subject=subject)
        stored = reading.event(tenant, row.begun_seq)
        hold = reading.hold(tenant, subject)
    if row.done_seq:
        return _certificate_at(pipeline, tenant, row.done_seq)
    if hold is not None:
        raise halts(hold)
    if stored is None:
        raise Unavailable("the event that began this erasure is missing", hint="Verify the log.")
    begun = open_event(stored, pipeline.keyring)
    keys = begun.data.keys if isinstance(begun.data, ErasureBegun) else ()
    look = _looked_for(pipeline, row)
    pipeline.store.rewrite_words(tenant, subject, up_to_seq=row.begun_seq)
    seen = _held([_check(one) for one in pipeline.store.search_files(*look)])
    pipeline.keyring.destroy(tenant, subject, keys)
    pipeline.store.purge(tenant, subject, up_to_seq=row.begun_seq)
    checks = _held([*_left(pipeline, row, keys), *seen])
    certificate = _signed(pipeline, _statement(pipeline, row, begun, keys, tuple(checks), stored.link))
    return _certified(pipeline, certificate, begun, row)


def finish_begun(pipeline: Pipeline, *, left_alone: timedelta = timedelta()) -> int:
    """Take up every erasure that somebody left half-way; gives back how many were finished.

    One that began less than so long ago may still be somebody's, and is left to them.

    One that cannot be finished now is in no other's way; what kept it is raised at the end, but for a hold.
    """
    before = pipeline.clock.now() - left_alone
    with pipeline.store.reading() as reading:
        rows = [row for row in reading.erasures_begun() if _began(reading, row) <= before]
    finished = 0
    failed: Unavailable | None = None
    for row in rows:
        try:
            finish(pipeline, row.tenant, row.subject)
            finished += 1
        except OnHold:
            continue
        except Unavailable as fault:
            failed = failed or fault
    if failed is not None:
        raise failed
    return finished


def destroy_again(pipeline: Pipeline) -> int:
    """Destroy the keys of erasures that an old copy of the keyring brought back (SPEC F11)."""
    destroyed = 0
    for tenant, stored in pipeline.store.forgets():
        event = open_event(stored, pipeline.keyring)
        if isinstance(event.data, ErasureBegun) and event.subject is not None and event.data.keys:
            # Almost always none is there, and then nothing is committed for it.
            back = set(pipeline.keyring.key_ids(tenant, event.subject)).intersection(event.data.keys)
            if back:
                destroyed += pipeline.keyring.destroy(tenant, event.subject, sorted(back))
    return destroyed


def _began(reading: Reading, row: ErasureRow) -> datetime:
    stored = reading.event(row.tenant, row.begun_seq)
    return decode_header(stored.header).at if stored is not None else datetime.min.replace(tzinfo=UTC)


def _looked_for(pipeline: Pipeline, row: ErasureRow) -> tuple[list[bytes], list[bytes]]:
    """What contents would show as in files, and how the word index wrote their words; the newest, some."""
    contents: list[str] = []
    texts: list[str] = []
    with pipeline.store.reading() as reading:
        streams = reading.subject_streams(row.tenant, row.subject, up_to_seq=row.begun_seq)
        for memory_id in streams[-CONTENTS_READ_MAX:]:
            for stored in reading.stream(row.tenant, memory_id):
                event = open_event(stored, pipeline.keyring)
                text = indexed_text(event)
                if text is not None and event.secret is not None and event.secret.content is not None:
                    contents.append(event.secret.content)
                    texts.append(text)
    indexed = erasure.indexed(erasure.sampled(texts), pipeline.rules.language)
    return erasure.needles(erasure.sampled(contents)), indexed


def _check(found: Residue) -> Check:
    return Check(name=found.name, passed=found.passed, detail=found.detail)


def _held(checks: list[Check]) -> list[Check]:
    """The checks, if every one holds; raises Unavailable that names those that do not."""
    failed = ", ".join(check.name for check in checks if not check.passed)
    if failed:
        raise Unavailable(
            f"the subject is out of every read, but its erasure is not complete: {failed}",
            hint="Ask again: the erasure goes on from there. A certificate is given when every check holds.",
        )
    return checks


def _left(pipeline: Pipeline, row: ErasureRow, keys: tuple[UUID, ...]) -> list[Check]:
    left = set(pipeline.keyring.key_ids(row.tenant, row.subject)).intersection(keys)
    found = pipeline.store.residue(row.tenant, row.subject, up_to_seq=row.begun_seq)
    return [
        Check(name="keys of the subject", passed=not left, detail=f"{len(left):,} left"),
        *(_check(one) for one in found),
    ]


def _certified(pipeline: Pipeline, certificate: Certificate, begun: Event, row: ErasureRow) -> Certificate:
    """The certificate as the log has it: this one, or that of whoever was first to finish."""
    event = erasure.completed(certificate, begun, row.begun_seq, pipeline.clock.moment())
    # No caller's key has a character like this one.
    once = Idempotency(key=f"\x1ferased {row.erasure_id.hex}", request=b"")
    sealed = seal(event, pipeline.keyring)
    pipeline.append([Append(tenant=row.tenant, events=(sealed,), idempotency=once)])
    with pipeline.store.reading() as reading:
        first = reading.first_answer(row.tenant, once.key)
    if first is None:
        raise Unavailable("the certificate was not stored", hint="Ask again.")
    return _certificate_at(pipeline, row.tenant, first.seq)


def _statement(
    pipeline: Pipeline,
    row: ErasureRow,
    begun: Event,
    keys: tuple[UUID, ...],
    checks: tuple[Check, ...],
    link: bytes,
) -> Statement:
    with pipeline.store.reading() as reading:
        ids = reading.subject_streams(row.tenant, row.subject, up_to_seq=row.begun_seq)
    now = pipeline.clock.now()
    return Statement(
        format=erasure.FORMAT,
        certificate_id=row.erasure_id,
        tenant=row.tenant,
        subject=row.subject,
        requested_by=begun.actor,
        begun_at=begun.at,
        completed_at=now,
        final_after=now + FINAL_AFTER,
        memories_erased=len(ids),
        memory_ids=tuple(ids),
        sealed_bodies_removed_up_to=row.begun_seq,
        keys_destroyed=keys,
        log_position=row.begun_seq,
        log_link=link.hex(),
        metadata_kept=erasure.METADATA_KEPT,
        checks=checks,
        out_of_reach=erasure.OUT_OF_REACH,
    )


def _signed(pipeline: Pipeline, statement: Statement) -> Certificate:
    signature = pipeline.keyring.sign(erasure.signed_bytes(statement))
    return Certificate(
        statement=statement,
        public_key=pipeline.keyring.public_key().hex(),
        signature=signature.hex(),
    )


def _certificate_at(pipeline: Pipeline, tenant: str, seq: int) -> Certificate:
    with pipeline.store.reading() as reading:
        stored = reading.event(tenant, seq)
    event = open_event(stored, pipeline.keyring) if stored is not None else None
    if event is None or not isinstance(event.data, SubjectErased):
        raise Unavailable("the certificate of this erasure is missing", hint="Verify the log.")
    return erasure.decoded(event.data.certificate)


def _gather(world: World, caller: Caller, command: EraseSubject) -> EraseFacts:
    reading = world.reading
    hold = reading.hold(caller.tenant, command.subject)
    return EraseFacts(
        hold=hold,
        last=reading.erasure(caller.tenant, command.subject),
        # Nothing more is sealed under these; what they sealed they open until they are destroyed.
        keys=world.keyring.retire(caller.tenant, command.subject) if hold is None else (),
        memories=reading.subject_memories(caller.tenant, command.subject),
    )


def _begin(
    command: EraseSubject, facts: EraseFacts, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Erasing] | Refused:
    return erasure.begin(command.subject, facts, caller, moment)


BEGIN: UseCase[EraseSubject, EraseFacts, Erasing] = UseCase(
    name="erase-subject",
    permission=Permission.ERASE,
    target=lambda command: Target(subject=command.subject),
    gather=_gather,
    decide=_begin,
)
