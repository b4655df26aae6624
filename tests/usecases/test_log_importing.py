"""An export comes back into an empty place byte for byte, or not at all (SPEC E4, F11)."""

from collections.abc import Callable, Iterator, Sequence

import msgspec
import pytest
from tests.clock import MovableClock
from tests.core.tampered import chained
from tests.stores.engine import Engine, Opened
from tests.stores.losing import lose_the_log
from tests.stores.places import NewEngine
from tests.usecases.asking import (
    BOT,
    OFFICER,
    SUBJECT,
    TENANT,
    caller,
    happened,
    proposal,
    question,
    written,
)

from tenure.core.errors import InvalidRequest, TenureError, Unavailable
from tenure.usecases.checkpoints import make
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.evidence import LogLine, export, line_of, stored_of, verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.known_roots import GivenNote
from tenure.usecases.log_importing import LogImported, import_log
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import StoredEvent
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL

OTHER = "globex"


@pytest.fixture
def opened(engine: Engine, clock: MovableClock) -> Iterator[Opened]:
    """A store of each kind, with a few memories of two tenants."""
    node = engine.open(clock)
    for number in range(5):
        written(node.pipeline, f"Prefers e-mail number {number}")
    node.pipeline.run(REMEMBER, caller(tenant=OTHER), proposal())
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


def exported(pipeline: Pipeline) -> list[bytes]:
    """The whole log, as an export has it."""
    pipeline.store.settle()
    return list(export(pipeline))


def imported(pipeline: Pipeline, lines: Sequence[bytes], **sides: object) -> LogImported:
    """Import these lines."""
    return import_log(pipeline, lambda: iter(lines), **sides)  # type: ignore[arg-type]


def refused(pipeline: Pipeline, lines: Sequence[bytes], **sides: object) -> TenureError:
    """Why an import was refused; nothing of it may be there."""
    before = exported(pipeline)
    with pytest.raises((InvalidRequest, Unavailable)) as caught:
        imported(pipeline, lines, **sides)
    assert exported(pipeline) == before
    return caught.value


def test_what_was_exported_comes_back_byte_for_byte_with_its_views(
    engine: Engine, opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC E4, E1: export, import, verify, export; memories can be read where their keys are."""
    found = [item.memory.content for item in opened.pipeline.run(RECALL, BOT, question()).items]
    lines, views = exported(opened.pipeline), engine.views()

    pipeline = again(opened)
    result = imported(pipeline, lines)

    assert (result.tenants, result.events, result.unopened) == (2, len(lines), 0)
    assert exported(pipeline) == lines
    assert engine.views() == views
    assert [verify(pipeline, tenant).holds for tenant in (TENANT, OTHER)] == [True, True]
    assert [item.memory.content for item in pipeline.run(RECALL, BOT, question()).items] == found
    assert pipeline.store.rebuild().identical


def test_an_import_goes_beside_other_tenants_and_never_into_one(
    opened: Opened, new_engine: NewEngine
) -> None:
    """SPEC E4, M2: two logs of one tenant are never mixed."""
    lines = exported(opened.pipeline)
    node = new_engine().open()
    try:
        node.pipeline.run(REMEMBER, caller(tenant="initech"), proposal())
        result = imported(node.pipeline, lines, without_keys=True)
        fault = refused(node.pipeline, lines, without_keys=True)

        assert (result.events, result.sealed, result.unopened) == (6, 6, 6)
        assert all(verify(node.pipeline, tenant).holds for tenant in (TENANT, OTHER, "initech"))
        assert (
            fault.message == f"tenant '{TENANT}' has a log in this store, and an import never mixes two logs"
        )
    finally:
        node.close()


def test_without_the_keys_nothing_is_imported_unless_that_is_meant(
    opened: Opened, new_engine: NewEngine
) -> None:
    """SPEC F11: a log whose contents nobody can open is evidence, and not a store of memories."""
    lines = exported(opened.pipeline)
    node = new_engine().open()
    try:
        assert "none of the 6 sealed contents opens" in refused(node.pipeline, lines).message
    finally:
        node.close()


def test_what_was_forgotten_since_is_forgotten_again(
    opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC F11: the store's own record beside the log knows of it; other tenants' forgets stay out of it."""
    lines = exported(opened.pipeline)
    opened.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))
    officer = msgspec.structs.replace(OFFICER, tenant="initech")
    opened.pipeline.run(FORGET_SUBJECT, officer, ForgetSubject(subject=SUBJECT))

    pipeline = again(opened)
    result = imported(pipeline, lines)

    assert result.forgets == 1
    assert happened(pipeline)[-1] == "subject.forgotten"
    assert pipeline.run(RECALL, BOT, question()).items == ()
    assert exported(pipeline)[:5] == lines[:5]
    with pipeline.store.reading() as reading:
        assert reading.head("initech")[0] == 0


def test_what_was_erased_stays_unreadable(opened: Opened, again: Callable[[Opened], Pipeline]) -> None:
    """SPEC F7, F11: an export from before an erasure brings no content back."""
    lines = exported(opened.pipeline)
    erase(opened.pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    pipeline = again(opened)
    imported(pipeline, lines)

    assert pipeline.run(RECALL, BOT, question()).items == ()
    assert verify(pipeline, TENANT).holds


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (lambda lines: [*lines[:-1], lines[-1][:-9]], "line 6 is cut off: export again, or remove it"),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], "damaged at event 3: inserted: line 3: "),
        (
            lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
            "damaged at event 3: reordered: line 3: ",
        ),
        (lambda lines: [*lines[:2], *lines[3:]], "damaged at event 3: missing: line 3: "),
        (
            lambda lines: [*lines[:2], b"?\n", *lines[3:]],
            "damaged at event 3: altered: line 3: it cannot be read",
        ),
        (lambda _lines: [], "the file has no event"),
        (lambda _lines: [b"?\n"], "line 1 is no event of a log"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(
    opened: Opened,
    again: Callable[[Opened], Pipeline],
    tamper: Callable[[list[bytes]], list[bytes]],
    said: str,
) -> None:
    """SPEC E5: torn, doubled, exchanged, missing and unreadable lines; nothing of the rest is stored."""
    lines = exported(opened.pipeline)

    fault = refused(again(opened), tamper(lines))

    assert said in fault.message
    assert isinstance(fault, InvalidRequest)


def test_a_last_line_without_its_end_is_whole(opened: Opened, again: Callable[[Opened], Pipeline]) -> None:
    """SPEC E5: some editors take it away; nothing is lost by that."""
    lines = exported(opened.pipeline)

    pipeline = again(opened)

    assert imported(pipeline, [*lines[:-1], lines[-1].rstrip()]).events == 6
    assert exported(pipeline) == lines


def test_a_tenant_that_was_not_named_is_refused(opened: Opened, again: Callable[[Opened], Pipeline]) -> None:
    """SPEC M2, S2: the line and the tenant are said."""
    lines = exported(opened.pipeline)

    pipeline = again(opened)

    assert refused(pipeline, lines, tenant=TENANT).message.startswith("line 6 is of tenant 'globex'")
    assert imported(pipeline, lines[:5], tenant=TENANT).tenants == 1


def test_an_event_of_a_newer_program_is_named_and_not_guessed_at(
    opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC E3, E5: never misread, and never stored to be found unreadable later."""
    lines = exported(opened.pipeline)
    rows = [stored_of(msgspec.json.decode(line, type=LogLine)) for line in lines[:5]]
    header = rows[4].header.replace(b'"memory.admitted","v":1', b'"memory.admitted","v":99')
    made = chained([*((row.header, row.body) for row in rows[:4]), (header, rows[4].body)])

    fault = refused(again(opened), [msgspec.json.encode(line_of(TENANT, StoredEvent(*row))) for row in made])

    assert fault.message == "line 5: event memory.admitted version 99 is not known to this version"
    assert isinstance(fault, Unavailable)


def test_a_checkpoint_is_compared_before_anything_is_stored(
    opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC E2: a file that was cut short at a line's end is missed by what was signed."""
    note = GivenNote(name="acme.note", note=make(opened.pipeline, TENANT).note)
    strange = GivenNote(name="strange.note", note=make(opened.pipeline, OTHER).note)
    lines = exported(opened.pipeline)

    pipeline = again(opened)

    cut = refused(pipeline, [*lines[:4], lines[5]], given=[note])
    assert "damaged at event 5: truncated: behind line 4: " in cut.message
    foreign = refused(pipeline, lines[:5], given=[strange])
    assert "strange.note is a checkpoint of the log" in foreign.message
    assert "here are the logs of acme" in foreign.message
    assert imported(pipeline, lines, given=[note, strange]).events == 6


def test_a_file_that_changes_while_it_is_read_is_refused(
    opened: Opened, again: Callable[[Opened], Pipeline]
) -> None:
    """SPEC E2: what is stored is what was verified."""
    lines = exported(opened.pipeline)
    readings = [0]

    def changing() -> Iterator[bytes]:
        readings[0] += 1
        return iter(lines if readings[0] < 3 else lines[:5])

    pipeline = again(opened)
    with pytest.raises(InvalidRequest, match="the file was changed while it was read"):
        import_log(pipeline, changing)
    assert exported(pipeline) == []
