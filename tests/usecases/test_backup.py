"""A lost database comes back from its backup, and whoever was forgotten since stays forgotten (SPEC F11)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.clock import START, MovableClock
from tests.stores.engine import ALTERATIONS, Engine, Opened, PostgresEngine, SqliteEngine
from tests.stores.losing import lose_the_keys_too, lose_the_log
from tests.usecases.asking import (
    BOT,
    OFFICER,
    SUBJECT,
    TENANT,
    caller,
    happened,
    log,
    proposal,
    question,
    written,
)

from tenure.core.backup import FORMAT, Forget, Manifest, TenantPart, outstanding
from tenure.core.errors import InvalidRequest, Unavailable
from tenure.core.events import Event, SubjectForgotten
from tenure.usecases.backup import ANSWERS_NAME, LOG_NAME, AnswerLine, back_up, check, forgets_in, restore
from tenure.usecases.evidence import LogLine, export, verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import ReturnedPage
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL

OTHER = "globex"


class MemoryCopy:
    """A backup kept at hand: what ``tenure backup`` would have written to its files."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.lines: dict[str, list[bytes]] = {LOG_NAME: [], ANSWERS_NAME: []}
        parts: list[TenantPart] = []
        for piece in back_up(pipeline):
            if piece.log is not None:
                self.lines[LOG_NAME].append(msgspec.json.encode(piece.log) + b"\n")
            elif piece.answer is not None:
                self.lines[ANSWERS_NAME].append(msgspec.json.encode(piece.answer) + b"\n")
            elif piece.tenant is not None:
                parts.append(piece.tenant)
        self.manifest = Manifest(
            format=FORMAT,
            made_at=pipeline.clock.now(),
            log_sha256="",
            answers_sha256="",
            tenants=tuple(parts),
        )

    def log(self) -> Iterator[bytes]:
        """The lines of the log."""
        return iter(self.lines[LOG_NAME])

    def answers(self) -> Iterator[bytes]:
        """The lines of the answers."""
        return iter(self.lines[ANSWERS_NAME])


@pytest.fixture
def opened(engine: Engine, clock: MovableClock) -> Iterator[Opened]:
    """A store of each kind."""
    node = engine.open(clock)
    yield node
    node.close()


@pytest.fixture
def again(engine: Engine, clock: MovableClock) -> Iterator[Callable[[Opened], Pipeline]]:
    """Loses the log of a store while its keys stay, and opens what is left."""
    nodes: list[Opened] = []

    def lose(opened: Opened) -> Pipeline:
        for node in (opened, *nodes):
            node.close()
        lose_the_log(engine)
        nodes.append(engine.open(clock))
        return nodes[-1].pipeline

    yield lose
    for node in nodes:
        node.close()


def forget(pipeline: Pipeline, subject: str = SUBJECT) -> None:
    """Forget a subject of the tenant."""
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=subject))


def recalled(pipeline: Pipeline, **sides: str) -> list[str | None]:
    """What a recall shows."""
    return [item.memory.content for item in pipeline.run(RECALL, BOT, question(**sides)).items]


def exported(pipeline: Pipeline) -> list[bytes]:
    """The whole log, as an export has it."""
    return list(export(pipeline))


def test_a_lost_log_comes_back_byte_for_byte_with_its_views(
    engine: Engine, opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC F11, E1: positions, links and bodies are those that were stored; recall finds what it found."""
    for number in range(30):
        written(opened.pipeline, f"Prefers e-mail number {number}")
    opened.pipeline.run(REMEMBER, caller(tenant=OTHER), proposal())
    copy, before, views = MemoryCopy(opened.pipeline), exported(opened.pipeline), engine.views()
    found = recalled(opened.pipeline)

    lost = again(opened)
    assert recalled(lost) == []
    lost = again(opened)
    restored = restore(lost, copy)

    assert (restored.tenants, restored.events, restored.forgets, restored.unopened) == (2, 31, 0, 0)
    assert exported(lost) == before
    assert engine.views() == views
    assert [verify(lost, tenant).holds for tenant in (TENANT, OTHER)] == [True, True]
    assert recalled(lost) == found
    assert lost.store.rebuild().identical


def test_a_retry_across_a_restore_gets_its_first_answer(
    opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC L9: what was answered before the backup is answered so after it, and nothing is doubled."""
    first = opened.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k-1")
    copy = MemoryCopy(opened.pipeline)

    lost = again(opened)
    restored = restore(lost, copy)

    assert restored.answers == 1
    assert lost.run(REMEMBER, BOT, proposal(), idempotency_key="k-1") == first
    assert happened(lost).count("memory.admitted") == 1


def test_who_was_forgotten_since_is_forgotten_again_by_itself(
    opened: Opened, again: Callable[[Opened], Pipeline], clock: MovableClock
) -> None:
    """SPEC F11: the record beside the log outlives the log; the new event names the one that it repeats."""
    written(opened.pipeline)
    copy = MemoryCopy(opened.pipeline)
    forget(opened.pipeline)
    done = opened.pipeline.store.export(TENANT)
    link = next(stored.link for stored in done if b"subject.forgotten" in stored.header)
    clock.pass_time(hours=1)

    lost = again(opened)
    restored = restore(lost, copy)

    last = log(lost)[-1]
    assert restored.forgets == 1
    assert last.data == SubjectForgotten(again=link, first_at=START)
    assert (last.subject, last.at) == (SUBJECT, clock.now())
    assert verify(lost, TENANT).holds
    assert recalled(lost) == []
    assert lost.store.rebuild().identical


def test_what_is_written_after_a_restore_survives_the_next_one(
    opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC F11, F4a: a forget that a restored log carries is not carried out again on what came after it."""
    written(opened.pipeline)
    first = MemoryCopy(opened.pipeline)
    forget(opened.pipeline)
    lost = again(opened)
    restore(lost, first)
    written(lost, "Prefers e-mail again")
    second = MemoryCopy(lost)

    lost = again(opened)
    restored = restore(lost, second)

    assert restored.forgets == 0
    assert recalled(lost) == ["Prefers e-mail again"]


def test_a_tenant_that_is_younger_than_the_backup_keeps_its_floors(
    opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC F11, F5: nothing of it is in the backup, but its subject stays forgotten for a later import."""
    written(opened.pipeline)
    copy = MemoryCopy(opened.pipeline)
    theirs = msgspec.structs.replace(OFFICER, tenant=OTHER)
    opened.pipeline.run(REMEMBER, caller(tenant=OTHER), proposal())
    opened.pipeline.run(FORGET_SUBJECT, theirs, ForgetSubject(subject=SUBJECT))

    lost = again(opened)
    restored = restore(lost, copy)

    assert (restored.tenants, restored.forgets) == (1, 1)
    with lost.store.reading() as reading:
        assert reading.floors(OTHER, SUBJECT, [("subject", SUBJECT)])
    assert verify(lost, OTHER).holds


def test_forgets_are_taken_from_a_later_export_where_the_record_is_lost_too(
    engine: Engine, opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC F11: any later export or backup of the same store will do."""
    written(opened.pipeline)
    copy = MemoryCopy(opened.pipeline)
    forget(opened.pipeline)
    later = exported(opened.pipeline)
    opened.close()
    if isinstance(engine, SqliteEngine):
        (Path(engine.folder) / "forgets.jsonl").unlink()
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute("DELETE FROM forget_ledger")

    lost = again(opened)
    restored = restore(lost, copy, [forgets_in(later, "later.jsonl")])

    assert restored.forgets == 1
    assert recalled(lost) == []


def test_a_store_that_is_not_empty_takes_no_backup(opened: Opened) -> None:
    """SPEC F11: two logs are never mixed, whether the use case is asked or the store itself."""
    written(opened.pipeline)
    copy, before = MemoryCopy(opened.pipeline), exported(opened.pipeline)

    with pytest.raises(InvalidRequest, match="not empty"):
        restore(opened.pipeline, copy)
    with pytest.raises(InvalidRequest, match="a log already"):
        opened.store.restore([ReturnedPage(tenant=TENANT)])

    assert exported(opened.pipeline) == before


def test_a_restore_that_fails_half_way_leaves_nothing(
    opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC E5, F11: one transaction, so that no server ever meets a log without its later forgets."""
    written(opened.pipeline)
    copy = MemoryCopy(opened.pipeline)
    pages = [
        ReturnedPage(tenant=TENANT, events=tuple(opened.store.export(TENANT))),
        ReturnedPage(tenant=OTHER),
    ]

    def torn() -> Iterator[ReturnedPage]:
        yield from pages
        raise Unavailable("the disk with the backup is gone")

    lost = again(opened)
    with pytest.raises(Unavailable, match="is gone"):
        lost.store.restore(torn())

    assert exported(lost) == []
    assert restore(lost, copy).events == 1


def test_without_its_keys_a_backup_says_that_nothing_opens(
    engine: Engine, opened: Opened, clock: MovableClock
) -> None:
    """SPEC F7: a backup holds no key; a store of evidence without content must be asked for."""
    written(opened.pipeline)
    copy = MemoryCopy(opened.pipeline)
    opened.close()
    lose_the_keys_too(engine)
    keyless = engine.open(clock)

    try:
        with pytest.raises(InvalidRequest, match="none of the 1 sealed contents opens"):
            restore(keyless.pipeline, copy)
        assert exported(keyless.pipeline) == []
        restored = restore(keyless.pipeline, copy, without_keys=True)
        assert (restored.sealed, restored.unopened) == (1, 1)
        assert verify(keyless.pipeline, TENANT).holds
    finally:
        keyless.close()


def test_content_is_in_no_line_of_a_backup(opened: Opened) -> None:
    """SPEC F7, E6: the log is sealed, and an answer that is kept holds no content."""
    opened.pipeline.run(REMEMBER, BOT, proposal("Likes hazelnuts"), idempotency_key="k-1")

    copy = MemoryCopy(opened.pipeline)

    assert len(copy.lines[ANSWERS_NAME]) == 1
    assert not any(b"hazelnuts" in line for lines in copy.lines.values() for line in lines)


@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_a_broken_log_is_found_when_its_backup_is_read_back(
    engine: Engine, opened: Opened, alteration: str
) -> None:
    """SPEC E2: it says in which tenant and at which event."""
    for number in range(4):
        written(opened.pipeline, f"Prefers e-mail number {number}")
    engine.alter_event(TENANT, 2, alteration)

    with pytest.raises(Unavailable, match=f"tenant '{TENANT}' breaks at event [23]: ") as refused:
        check(MemoryCopy(opened.pipeline), hint="No backup was made.")

    assert refused.value.hint == "No backup was made."


def damaged(copy: MemoryCopy, name: str, damage: str) -> None:
    """Harm a file of a backup."""
    lines = copy.lines[name]
    match damage:
        case "cut off":
            del lines[-1]
        case "doubled":
            lines.append(lines[-1])
        case "torn":
            lines[-1] = lines[-1][:20]
        case _:
            kind: type[LogLine | AnswerLine] = LogLine if name == LOG_NAME else AnswerLine
            line = msgspec.json.decode(lines[-1], type=kind)
            lines[-1] = msgspec.json.encode(msgspec.structs.replace(line, tenant=OTHER))


@pytest.mark.parametrize("damage", ["cut off", "doubled", "torn", "another tenant's"])
@pytest.mark.parametrize("name", [LOG_NAME, ANSWERS_NAME])
def test_a_damaged_backup_changes_nothing(pipeline: Pipeline, name: str, damage: str) -> None:
    """SPEC F11, E5: everything is checked before anything is written."""
    pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k-1")
    copy = MemoryCopy(pipeline)
    damaged(copy, name, damage)

    with pytest.raises(Unavailable):
        check(copy, hint="Use another.")


def test_a_backup_is_of_the_moment_at_which_it_looked(pipeline: Pipeline) -> None:
    """SPEC F11: what is written while a backup is being made is not in it, and it is whole all the same."""
    written(pipeline)
    pieces = back_up(pipeline)
    first = next(pieces)
    written(pipeline, "Prefers the phone after all")

    rest = list(pieces)

    assert first.log is not None
    assert [piece.tenant.events for piece in rest if piece.tenant] == [1]


def test_forgets_from_a_torn_export_are_refused() -> None:
    """SPEC F11: a forget that was cut off would be missed, so the whole file is asked for."""
    with pytest.raises(InvalidRequest, match=r"line 1 of later\.jsonl") as refused:
        forgets_in([b'{"tenant":"acme","seq":1,"hea'], "later.jsonl")

    assert refused.value.field == "forgets"


def forget_at(number: int, *, subject: str = SUBJECT, what: str = "subject.forgotten") -> Forget:
    """A forget whose event has this link."""
    event = Event(tenant=TENANT, at=START, actor="pia", data=SubjectForgotten(), subject=subject)
    return Forget(TENANT, subject, bytes([number]), what, event)


def test_of_each_source_the_last_forget_of_a_thing_counts() -> None:
    """SPEC F11: it took whatever those before it did; what the log keeps is not repeated."""
    one, two, three = (forget_at(number) for number in (1, 2, 3))
    other = forget_at(8, subject="customer-8")
    key, memory = forget_at(9, what="key k"), forget_at(10, what="memory m")

    assert outstanding(set(), [[one, two]]) == [two]
    assert outstanding({two.link}, [[one, two]]) == []
    assert outstanding({one.link}, [[one], [one, three, other]]) == [three, other]
    assert outstanding(set(), [[two], [two]]) == [two]
    assert outstanding(set(), [[one, key, memory]]) == [one, key, memory]


def test_an_answer_stands_behind_every_key_of_a_long_list(
    opened: Opened, again: Callable[[Opened], Pipeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC L9: pages of answers and of events leave no gap."""
    monkeypatch.setattr("tenure.usecases.backup.PAGE", 2)
    answers = [
        opened.pipeline.run(REMEMBER, BOT, proposal(f"E-mail number {number}"), idempotency_key=f"k-{number}")
        for number in range(5)
    ]
    copy = MemoryCopy(opened.pipeline)

    lost = again(opened)
    assert restore(lost, copy).answers == 5

    for number, answer in enumerate(answers):
        command = proposal(f"E-mail number {number}")
        assert lost.run(REMEMBER, BOT, command, idempotency_key=f"k-{number}") == answer
