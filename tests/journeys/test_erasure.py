"""Erased is erased: whatever comes back, whoever died half-way, and under a hold not at all (SPEC F7-F11)."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.journeys.installation import CopyOfFiles, CopyOfKeys, Installation
from tests.journeys.keys import forget_key, kept
from tests.stores.engine import SqliteEngine
from tests.usecases.asking import (
    BOT,
    OFFICER,
    SUBJECT,
    TENANT,
    caller,
    held,
    log,
    question,
    source,
    written,
)

from tenure.core.erasure import Certificate
from tenure.core.errors import Forbidden, InvalidRequest, MemoryRejected, NotFound, OnHold, Unavailable
from tenure.core.events import NAMES, Recalled
from tenure.core.forgetting import Forgetting
from tenure.core.holds import PlaceHold
from tenure.core.identity import Role
from tenure.core.incident_events import Looked
from tenure.core.vocabulary import Kind
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.evidence import export, verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.holds import ASK_HOLD, PLACE_HOLD, RELEASE_HOLD, AskHold, ReleaseHold
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.retrieval import RECALL
from tenure.usecases.upkeep import upkeep_round

ERASE = EraseSubject(subject=SUBJECT)
OTHER = "customer-8"


def erased(installation: Installation) -> Certificate:
    """Erase the subject as the privacy officer."""
    return erase(installation.pipeline, OFFICER, ERASE)


def left(pipeline: Pipeline, subject: str = SUBJECT) -> set[str | None]:
    """What any list or recall still shows of a subject."""
    listed = pipeline.run(LIST, BOT, ListMemories(subject=subject)).items
    shown = pipeline.run(RECALL, BOT, question(subject=subject)).items
    return {memory.content for memory in listed} | {item.memory.content for item in shown}


def happened(pipeline: Pipeline) -> list[str]:
    """The names of everything that happened, but for what was only read."""
    return [
        NAMES[type(event.data)][0] for event in log(pipeline) if not isinstance(event.data, Recalled | Looked)
    ]


def bodies(pipeline: Pipeline) -> int:
    """How many events of the subject still have a sealed body."""
    with pipeline.store.reading() as reading:
        return reading.bodies_left(TENANT, SUBJECT, reading.head(TENANT)[0])


def keys(pipeline: Pipeline) -> int:
    """How many keys of the subject there are."""
    return len(pipeline.keyring.key_ids(TENANT, SUBJECT))


def opened_contents(pipeline: Pipeline) -> list[str]:
    """Whatever can still be opened of the subject in the log."""
    return [
        event.secret.content
        for event in log(pipeline)
        if event.subject == SUBJECT and event.secret is not None and event.secret.content is not None
    ]


def test_everything_of_the_subject_is_gone_and_nothing_of_another(installation: Installation) -> None:
    """SPEC F7, F9: in whatever status, with what was made from it; the log verifies."""
    first = kept(installation.pipeline)
    summary = written(
        installation.pipeline, "Is best reached in writing", kind=Kind.SUMMARY, derived_from=(first.id,)
    )
    waiting = held(installation.pipeline)
    other = written(installation.pipeline, "Prefers the phone", subject=OTHER)

    statement = erased(installation).statement

    assert set(statement.memory_ids) == {first.id, summary.id, waiting.id}
    assert (statement.memories_erased, len(statement.keys_destroyed)) == (3, 1)
    assert all(check.passed for check in statement.checks)
    assert (left(installation.pipeline), bodies(installation.pipeline), keys(installation.pipeline)) == (
        set(),
        0,
        0,
    )
    assert opened_contents(installation.pipeline) == []
    for memory_id in statement.memory_ids:
        with pytest.raises(NotFound):
            installation.pipeline.run(GET, BOT, Get(memory_id=memory_id))
    assert left(installation.pipeline, OTHER) == {other.content}
    assert verify(installation.pipeline, TENANT).holds
    assert installation.pipeline.store.rebuild().identical


def test_a_certificate_names_ids_and_counts_and_no_content(installation: Installation) -> None:
    """SPEC F8: what, when, by whom, which keys, what is kept and why, which checks, what is out of reach."""
    memory = kept(installation.pipeline, content="Likes hazelnuts")

    certificate = erased(installation)

    statement = certificate.statement
    assert (statement.tenant, statement.subject, statement.requested_by) == (TENANT, SUBJECT, OFFICER.id)
    assert statement.begun_at == statement.completed_at == installation.clock.now()
    assert statement.memory_ids == (memory.id,)
    stored = list(installation.pipeline.store.export(TENANT))[statement.log_position - 1]
    assert (b'"erasure.begun"' in stored.header, stored.link.hex()) == (True, statement.log_link)
    assert statement.metadata_kept
    assert statement.out_of_reach
    text = msgspec.json.encode(certificate).decode().casefold()
    assert "hazelnut" not in text
    assert happened(installation.pipeline)[-2:] == ["erasure.begun", "subject.erased"]


def test_erasing_again_gives_the_same_certificate(installation: Installation) -> None:
    """SPEC F8: nothing new to erase, nothing new in the log, also after a restart."""
    kept(installation.pipeline)
    first = erased(installation)
    events = happened(installation.pipeline)
    installation.clock.pass_time(days=1)

    assert erased(installation) == first
    installation.restart()
    assert erased(installation) == first
    assert happened(installation.pipeline) == events


def test_a_fresh_start_after_it_is_sealed_anew_and_can_be_erased_too(installation: Installation) -> None:
    """SPEC F4a, F7: another key, another certificate; what was observed before stays refused."""
    kept(installation.pipeline)
    first = erased(installation)
    observed_at = installation.clock.now()
    installation.clock.pass_time(minutes=5)

    with pytest.raises(MemoryRejected, match="observed before the subject was forgotten"):
        written(installation.pipeline, "Likes letters", source=source(observed_at=observed_at))
    fresh = written(installation.pipeline, "Has come back")
    assert left(installation.pipeline) == {fresh.content}

    second = erased(installation)
    assert second.statement.certificate_id != first.statement.certificate_id
    assert set(second.statement.keys_destroyed).isdisjoint(first.statement.keys_destroyed)
    assert fresh.id in second.statement.memory_ids
    assert (left(installation.pipeline), keys(installation.pipeline)) == (set(), 0)


def test_an_older_backup_brings_nothing_back_and_no_key(installation: Installation, tmp_path: Path) -> None:
    """SPEC F11: the restored log has the sealed bytes for a moment; then they are taken away again."""
    kept(installation.pipeline)
    other = written(installation.pipeline, "Prefers the phone", subject=OTHER)
    copy = installation.back_up(tmp_path / "backup")
    erased(installation)

    restored = installation.restore(copy)

    assert (restored.forgets, restored.sealed, restored.unopened) == (1, 2, 1)
    assert (left(installation.pipeline), bodies(installation.pipeline), keys(installation.pipeline)) == (
        set(),
        0,
        0,
    )
    assert left(installation.pipeline, OTHER) == {other.content}
    assert happened(installation.pipeline)[-2:] == ["erasure.begun", "subject.erased"]
    assert verify(installation.pipeline, TENANT).holds
    assert installation.pipeline.store.rebuild().identical


def test_an_old_copy_of_the_keys_beside_an_older_backup_is_of_no_use(
    installation: Installation, tmp_path: Path
) -> None:
    """SPEC F11: the keys that came back are destroyed before anything is served."""
    kept(installation.pipeline)
    written(installation.pipeline, "Prefers the phone", subject=OTHER)
    copy, old = installation.back_up(tmp_path / "backup"), CopyOfKeys(installation.engine)
    erased(installation)

    restored = installation.restore(copy, old)

    assert restored.forgets == 1
    assert (left(installation.pipeline), bodies(installation.pipeline), keys(installation.pipeline)) == (
        set(),
        0,
        0,
    )
    assert opened_contents(installation.pipeline) == []


def test_where_the_record_is_lost_too_a_later_export_destroys_again(
    installation: Installation, tmp_path: Path
) -> None:
    """SPEC F11: old log, old keys, no record: the export alone says who was erased, and that is enough."""
    kept(installation.pipeline)
    other = written(installation.pipeline, "Prefers the phone", subject=OTHER)
    copy, old = installation.back_up(tmp_path / "backup"), CopyOfKeys(installation.engine)
    erased(installation)
    later = list(export(installation.pipeline))

    restored = installation.restore(copy, old, later)

    assert (restored.forgets, restored.unopened) == (1, 0)
    assert (left(installation.pipeline), bodies(installation.pipeline), keys(installation.pipeline)) == (
        set(),
        0,
        0,
    )
    assert opened_contents(installation.pipeline) == []
    assert left(installation.pipeline, OTHER) == {other.content}


def test_a_backup_of_nobody_but_the_erased_is_restored(installation: Installation, tmp_path: Path) -> None:
    """SPEC F11: that nothing opens is what the erasure was for, and no sign of a keyring that is missing."""
    kept(installation.pipeline)
    copy = installation.back_up(tmp_path / "backup")
    erased(installation)

    assert installation.restore(copy).forgets == 1
    assert left(installation.pipeline) == set()


def test_an_old_copy_of_the_keys_alone_is_destroyed_again_at_opening(installation: Installation) -> None:
    """SPEC F11: the record beside the keys knows which are to be gone; those of others open as before."""
    kept(installation.pipeline)
    other = written(installation.pipeline, "Prefers the phone", subject=OTHER)
    old = CopyOfKeys(installation.engine)
    erased(installation)
    installation.close()
    old.put_back()

    installation.restart()

    assert keys(installation.pipeline) == 0
    assert left(installation.pipeline, OTHER) == {other.content}
    fresh = written(installation.pipeline, "Has come back")
    assert left(installation.pipeline) == {fresh.content}


def test_old_files_of_log_and_keyring_show_nothing(installation: Installation, tmp_path: Path) -> None:
    """SPEC F11: copied as files, past every command; the record of forgets is the only thing that is new."""
    if not isinstance(installation.engine, SqliteEngine):
        pytest.skip("the files are the server's, and a copy of them is served by nobody (docs/operations.md)")
    kept(installation.pipeline)
    installation.close()
    old = CopyOfFiles(installation.engine.folder, tmp_path / "old")
    installation.restart()
    erased(installation)
    installation.close()
    old.put_back()

    installation.restart()

    assert keys(installation.pipeline) == 0
    assert opened_contents(installation.pipeline) == []
    assert left(installation.pipeline) - {None} == set()


def test_a_hold_stops_the_erasure_and_not_the_forgetting(installation: Installation) -> None:
    """SPEC F10: refused with nothing changed, until somebody releases it for a reason."""
    kept(installation.pipeline)
    installation.pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason="a case at court"))
    before, content = happened(installation.pipeline), left(installation.pipeline)

    with pytest.raises(OnHold, match="nothing was changed") as refused:
        erased(installation)

    assert (refused.value.status, "court" in str(refused.value)) == (409, False)
    assert (happened(installation.pipeline), left(installation.pipeline)) == (before, content)
    assert keys(installation.pipeline) == 1

    answer = installation.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))
    assert (answer.status, answer.forgotten) == (Forgetting.FORGOTTEN, 1)
    assert left(installation.pipeline) == set()
    with pytest.raises(OnHold):
        erased(installation)
    assert opened_contents(installation.pipeline) == ["Prefers e-mail to phone"]

    release = ReleaseHold(subject=SUBJECT, reason="the case is closed")
    assert installation.pipeline.run(RELEASE_HOLD, OFFICER, release).released_at is not None
    certificate = erased(installation)
    assert certificate.statement.memories_erased == 1
    assert opened_contents(installation.pipeline) == []


def test_a_hold_survives_rebuild_and_restart_and_knows_its_subject(installation: Installation) -> None:
    """SPEC F10, E1: it comes out of the log; another subject is erased as ever."""
    for subject in (SUBJECT, OTHER):
        written(installation.pipeline, "Prefers the phone", subject=subject)
    hold = installation.pipeline.run(
        PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason="a case at court")
    )
    assert installation.pipeline.store.rebuild().identical
    installation.restart()

    assert installation.pipeline.run(ASK_HOLD, OFFICER, AskHold(subject=SUBJECT)) == hold
    with pytest.raises(OnHold):
        erased(installation)
    erase(installation.pipeline, OFFICER, EraseSubject(subject=OTHER))
    assert left(installation.pipeline, OTHER) == set()
    with pytest.raises(NotFound):
        installation.pipeline.run(RELEASE_HOLD, OFFICER, ReleaseHold(subject=OTHER, reason="none"))


def test_what_was_only_forgotten_is_erased_as_well(installation: Installation) -> None:
    """SPEC F2, F7: forgetting left the sealed bytes and the key; the erasure takes them."""
    memory = kept(installation.pipeline)
    forget_key(installation.pipeline)
    assert (bodies(installation.pipeline), keys(installation.pipeline)) == (1, 1)

    certificate = erased(installation)

    assert certificate.statement.memory_ids == (memory.id,)
    assert (bodies(installation.pipeline), keys(installation.pipeline)) == (0, 0)
    written(installation.pipeline, "Prefers e-mail to phone")


def test_a_subject_of_whom_nothing_is_held_is_certified_all_the_same(installation: Installation) -> None:
    """SPEC F8: the certificate says that there was nothing, and what comes in late is refused."""
    certificate = erased(installation)

    assert (certificate.statement.memories_erased, certificate.statement.keys_destroyed) == (0, ())
    with pytest.raises(MemoryRejected):
        written(installation.pipeline, source=source(observed_at=installation.clock.now()))


@pytest.mark.parametrize("part", ["destroy", "purge", "residue", "sign"])
def test_whoever_dies_half_way_is_taken_up_by_upkeep(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """SPEC F7, E5: out of every read at once; the rest is done by the next round, and certified."""
    kept(installation.pipeline)
    owner: Any = installation.pipeline.keyring if part in {"destroy", "sign"} else installation.pipeline.store
    with monkeypatch.context() as patched:
        patched.setattr(owner, part, _dies)
        with pytest.raises(Unavailable):
            erased(installation)
    assert left(installation.pipeline) == set()
    assert happened(installation.pipeline)[-1] == "erasure.begun"

    installation.clock.pass_time(minutes=3)
    installation.restart()
    assert upkeep_round(installation.pipeline, batch_size=10).erased == 1

    certificate = erased(installation)
    assert happened(installation.pipeline)[-2:] == ["erasure.begun", "subject.erased"]
    assert certificate.statement.memories_erased == 1
    assert (bodies(installation.pipeline), keys(installation.pipeline)) == (0, 0)


def test_nobody_else_may_erase(installation: Installation) -> None:
    """SPEC A4, L14: a privacy officer, and the person themselves, about themselves alone."""
    kept(installation.pipeline)
    person = caller(Role.SUBJECT, name="customer", subjects={SUBJECT})
    for who in (BOT, caller(Role.REVIEWER), caller(Role.SUBJECT, subjects={OTHER})):
        with pytest.raises(Forbidden):
            erase(installation.pipeline, who, ERASE)
    assert left(installation.pipeline) == {"Prefers e-mail to phone"}

    assert erase(installation.pipeline, person, ERASE).statement.requested_by == person.id


def test_a_name_that_is_no_name_is_refused(installation: Installation) -> None:
    """SPEC S2: the field is named, and nothing is written."""
    with pytest.raises(InvalidRequest) as refused:
        erase(installation.pipeline, OFFICER, EraseSubject(subject="two\nlines"))

    assert refused.value.field == "subject"
    assert happened(installation.pipeline) == []


def test_whoever_writes_meanwhile_is_before_it_or_after_it(installation: Installation) -> None:
    """SPEC F7, F4a: with real threads; what stands afterwards is readable, and is newer than the erasure."""
    kept(installation.pipeline)
    barrier = threading.Barrier(4)

    def writes(number: int) -> None:
        barrier.wait(30)
        for line in range(5):
            written(installation.pipeline, f"Line {number}.{line}")

    def erases() -> Certificate:
        barrier.wait(30)
        return erased(installation)

    with ThreadPoolExecutor(max_workers=4) as threads:
        writing = [threads.submit(writes, number) for number in range(3)]
        certificate = threads.submit(erases).result(60)
        _ = [each.result(60) for each in writing]

    ids = set(certificate.statement.memory_ids)
    standing = installation.pipeline.run(LIST, BOT, ListMemories(subject=SUBJECT, limit=50)).items
    assert {memory.id for memory in standing}.isdisjoint(ids)
    assert len(standing) + len(ids) == 16
    assert all(memory.content is not None and memory.content.startswith("Line") for memory in standing)
    assert sorted(opened_contents(installation.pipeline)) == sorted(left_all(standing))
    assert verify(installation.pipeline, TENANT).holds


def left_all(memories: Any) -> list[str]:
    """The contents of memories."""
    return [memory.content for memory in memories]


def _dies(*_positional: object, **_named: object) -> Callable[..., None]:
    raise Unavailable("the machine died here")
