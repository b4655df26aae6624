"""Whatever is done to a stored log, or to its export, is found and named; nothing legitimate ever is."""

from collections.abc import Sequence
from itertools import count, pairwise
from uuid import UUID

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.tampered import (
    Rows,
    head_of,
    in_a_file,
    rewritten,
    root_at,
    tamperings,
)
from tests.stores.engine import Engine, Opened
from tests.stores.items import TENANT, created, put, renewed
from tests.usecases.asking import OFFICER, REVIEWER, caller, judgement, proposal, question, source

from tenure.core.errors import InvalidRequest
from tenure.core.identity import SourceType
from tenure.core.ledger import ChainedEvent
from tenure.core.tampering import Damage
from tenure.usecases.checkpoints import make
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.evidence import LogLine, Verified, export, line_of, verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.log_files import verify_file
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REVOKE

EVENTS = 12
OTHERS = ("globex", "initech")
_numbers = count(1)


def written_log(opened: Opened) -> Rows:
    """A log of a few memories with sealed bodies, beside those of two other tenants."""
    keys = opened.keyring
    for tenant in OTHERS:
        put(opened, created(keys, 90, tenant=tenant), created(keys, 91, tenant=tenant))
    put(opened, *(created(keys, number, content=f"Memory {number}") for number in range(1, EVENTS - 1)))
    put(opened, renewed(keys, 1, to_version=2), renewed(keys, 2, to_version=2))
    rows = rows_of(opened)
    assert len(rows) == EVENTS
    assert all(row.body for row in rows)
    return rows


def rows_of(opened: Opened, tenant: str = TENANT) -> Rows:
    """A tenant's log as it is stored."""
    return [
        ChainedEvent(stored.seq, stored.header, stored.body, stored.link)
        for stored in opened.store.export(tenant)
    ]


def said(found: Verified) -> tuple[Damage | None, int | None] | None:
    """The kind of damage and the first bad event; None where nothing is."""
    return None if found.holds else (found.damage, found.first_bad_seq)


def fits_a_table(rows: Rows) -> bool:
    """Whether a store can hold these rows in this order: it has one row for a position, and reads by it."""
    return all(one.seq < following.seq for one, following in pairwise(rows))


@pytest.mark.parametrize("kind", [Damage.ALTERED, Damage.MISSING, Damage.INSERTED, Damage.REORDERED])
def test_every_damage_at_every_position_of_a_stored_log_is_found_and_named(
    engine: Engine, opened: Opened, kind: Damage
) -> None:
    """SPEC E2: 100 %, the right event, the right kind; the other tenants' logs stay what they are."""
    whole = written_log(opened)
    tried, wrong = 0, []
    for each in tamperings(whole):
        rows = each.do(whole)
        if each.damage is not kind or not fits_a_table(rows) or rows == whole:
            continue
        engine.put_log(TENANT, rows, head_of(whole))
        found = verify(opened.pipeline, TENANT)
        tried += 1
        wrong += [(each.name, said(found))] if said(found) != (each.damage, each.seq) else []

    assert wrong == []
    assert tried >= 2 * EVENTS - 4
    engine.put_log(TENANT, whole, head_of(whole))
    assert [verify(opened.pipeline, tenant).holds for tenant in (TENANT, *OTHERS)] == [True] * 3


def test_a_position_changed_in_the_table_moves_the_event(engine: Engine, opened: Opened) -> None:
    """SPEC E2: it is read where it stands now, so the place that it left shows it."""
    whole = written_log(opened)
    for at in range(1, EVENTS):
        moved = sorted(row._replace(seq=70) if row.seq == at else row for row in whole)
        engine.put_log(TENANT, moved, head_of(whole))
        assert said(verify(opened.pipeline, TENANT)) == (Damage.REORDERED, at)


def test_a_tail_cut_off_is_missed_by_the_head_or_by_a_checkpoint(engine: Engine, opened: Opened) -> None:
    """SPEC E2: with the head left as it was; and with it mended, by what was signed."""
    whole = written_log(opened)
    for at in range(1, EVENTS + 1):
        engine.put_log(TENANT, whole[: at - 1], head_of(whole))
        assert said(verify(opened.pipeline, TENANT)) == (Damage.TRUNCATED, at)
    engine.put_log(TENANT, whole[:7], head_of(whole[:7]))
    assert said(verify(opened.pipeline, TENANT)) is None

    engine.put_log(TENANT, whole, head_of(whole))
    assert make(opened.pipeline, TENANT).size == EVENTS
    for at in range(1, EVENTS + 1):
        cut = whole[: at - 1]
        engine.put_log(TENANT, cut, head_of(cut))
        assert said(verify(opened.pipeline, TENANT)) == (Damage.TRUNCATED, at)


def test_a_log_written_anew_is_known_by_the_checkpoints_beside_it(engine: Engine, opened: Opened) -> None:
    """SPEC E2: with every link and the head computed anew, the kept checkpoints still say from where."""
    whole = written_log(opened)
    for at in range(1, EVENTS + 1):
        forked = rewritten(whole, at)
        engine.put_log(TENANT, forked, head_of(whole))
        assert said(verify(opened.pipeline, TENANT)) == (Damage.FORKED, 1)
        engine.put_log(TENANT, forked, head_of(forked))
        assert said(verify(opened.pipeline, TENANT)) is None
    engine.put_log(TENANT, whole, head_of(whole))
    for size in (4, 8, EVENTS):
        make(opened.pipeline, TENANT, size=size)
    assert verify(opened.pipeline, TENANT).checkpoints == 3

    for at in range(1, EVENTS + 1):
        forked = rewritten(whole, at)
        engine.put_log(TENANT, forked, head_of(forked))
        agreed = max((size for size in (4, 8) if size < at), default=0)
        assert said(verify(opened.pipeline, TENANT)) == (Damage.FORKED, agreed + 1)


def test_given_roots_are_compared_beside_the_kept_ones(engine: Engine, opened: Opened) -> None:
    """SPEC E2: a checkpoint that somebody else kept is worth more than one beside the log."""
    whole = written_log(opened)
    forked = rewritten(whole, 9)
    engine.put_log(TENANT, forked, head_of(forked))

    found = verify(opened.pipeline, TENANT, [root_at(whole, size) for size in (8, 9)])

    assert said(found) == (Damage.FORKED, 9)
    assert verify(opened.pipeline, TENANT, [root_at(forked, 9)]).checkpoints == 1


def test_a_checkpoint_beside_the_log_that_was_altered_is_found(opened: Opened) -> None:
    """SPEC E2: its signature is looked at, so that nobody rewrites the log and its checkpoints."""
    whole = written_log(opened)
    true = make(opened.pipeline, TENANT, size=4)
    root = root_at(rewritten(whole, 2), 8).root
    opened.store.keep_checkpoint(msgspec.structs.replace(true, size=8, root=root))

    found = verify(opened.pipeline, TENANT)

    assert (found.holds, found.damage, found.first_bad_seq) == (False, Damage.ALTERED, None)
    assert found.because
    assert "size 8" in found.because


def lines_of(rows: Sequence[ChainedEvent], tenant: str = TENANT) -> list[bytes]:
    """The lines of an export of these rows."""
    return [
        msgspec.json.encode(
            LogLine(
                tenant=tenant,
                seq=row.seq,
                header=row.header.decode(),
                link=row.link.hex(),
                body=row.body.hex() if row.body is not None else None,
            )
        )
        + b"\n"
        for row in rows
    ]


def in_file(lines: Sequence[bytes], rows: Rows | None = None) -> dict[str, Verified]:
    """What is found in a file, with the root over all of the tenant's log known where that is given."""
    roots = {TENANT: [root_at(rows, len(rows))]} if rows is not None else None
    return {found.tenant: found for found in verify_file(lambda: iter(lines), roots=roots)}


def test_every_damage_at_every_position_of_an_exported_file_is_found_and_named(opened: Opened) -> None:
    """SPEC E2, E4: as in the store, and duplicate and exchanged lines too; the other tenants' logs hold."""
    whole = written_log(opened)
    before, after = (
        lines_of(rows_of(opened, OTHERS[0]), OTHERS[0]),
        lines_of(rows_of(opened, OTHERS[1]), OTHERS[1]),
    )
    assert list(export(opened.pipeline)) == [*lines_of(whole), *before, *after]
    wrong = []
    for each in tamperings(whole):
        rows = each.do(whole)
        found = in_file([*before, *lines_of(rows), *after], whole)
        assert [found[tenant].holds for tenant in OTHERS] == [True, True]
        if said(found[TENANT]) not in in_a_file(each, whole, rows):
            wrong.append((each.name, said(found[TENANT])))

    assert wrong == []


def test_a_torn_or_unreadable_line_is_named_by_its_number(opened: Opened) -> None:
    """SPEC E5: a torn tail is refused, never misread; what is no line of an export is an altered event."""
    whole = written_log(opened)
    lines = list(export(opened.pipeline))

    for at in range(EVENTS):
        torn = in_file([*lines[:at], lines[at][:-20]], whole)[TENANT] if at else None
        garbage = in_file([*lines[:at], b"not json\n", *lines[at + 1 :]])[TENANT]
        extra = in_file([*lines[:at], b"\n", *lines[at:]])[TENANT]
        assert said(garbage) == (Damage.ALTERED, at + 1)
        assert said(extra) == (Damage.INSERTED, at + 1)
        assert all((found.because or "").startswith(f"line {at + 1}: ") for found in (garbage, extra))
        if torn is not None:
            assert said(torn) == (Damage.TRUNCATED, at + 1)
            assert torn.because == f"line {at + 1} is cut off: export again, or remove it"


def test_a_line_among_those_of_another_tenant_is_found(opened: Opened) -> None:
    """SPEC E2, M2: each chain would hold; the file is not what was written."""
    written_log(opened)
    lines = list(export(opened.pipeline))
    exchanged = [*lines[: EVENTS - 1], lines[EVENTS], lines[EVENTS - 1], *lines[EVENTS + 1 :]]

    found = in_file(exchanged)

    assert said(found[TENANT]) == (Damage.REORDERED, EVENTS)
    assert found[TENANT].because == f"line {EVENTS + 1}: it stands apart from the other lines of its tenant"


def test_a_line_of_another_tenant_than_the_one_asked_for_is_refused(opened: Opened) -> None:
    """SPEC M2, S2: the line and both tenants are named."""
    written_log(opened)
    lines = list(export(opened.pipeline))

    with pytest.raises(InvalidRequest, match=f"line {EVENTS + 1} is of tenant 'globex', and only 'acme'"):
        verify_file(lambda: iter(lines), tenant=TENANT)
    assert [found.holds for found in verify_file(lambda: iter(lines[:EVENTS]), tenant=TENANT)] == [True]


@pytest.mark.parametrize("lines", [[b"not json\n"], [b"{}\n", b"\n"], [b"\xff" * 9]])
def test_a_file_that_is_no_export_is_refused(lines: list[bytes]) -> None:
    """SPEC S2: with what is wrong."""
    with pytest.raises(InvalidRequest, match="line 1 is no event of a log"):
        verify_file(lambda: iter(lines))
    assert verify_file(lambda: iter(())) == []


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_of_a_file_is_found_unless_it_says_the_same(
    opened: Opened, data: st.DataObject
) -> None:
    """SPEC E2: whatever byte it is, but for the case of a hexadecimal digit and the like."""
    if not list(opened.store.export(TENANT)):
        written_log(opened)
    lines = lines_of(rows_of(opened))
    at = data.draw(st.integers(min_value=0, max_value=EVENTS - 1))
    where = data.draw(st.integers(min_value=0, max_value=len(lines[at]) - 2))
    changed = bytearray(lines[at])
    changed[where] ^= data.draw(st.integers(min_value=1, max_value=255))
    tampered = [*lines[:at], bytes(changed), *lines[at + 1 :]]

    try:
        found = in_file(tampered)
    except InvalidRequest:
        return
    says = [line_of(TENANT, stored) for stored in opened.store.export(TENANT)]
    if list(found) != [TENANT] or not found[TENANT].holds:
        return
    assert [_said_by(line) for line in tampered] == says


def _said_by(line: bytes) -> LogLine:
    read = msgspec.json.decode(line, type=LogLine)
    return msgspec.structs.replace(
        read, link=read.link.lower(), body=read.body.lower() if read.body else None
    )


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "hold_back", "promote", "revoke", "recall", "forget", "erase", "sign"]),
        st.integers(min_value=0, max_value=2),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_no_legitimate_history_is_ever_flagged(opened: Opened, steps: list[tuple[str, int]]) -> None:
    """SPEC E2, F7: writes, judgements, recalls, forgettings, erasures that purge; stored and exported."""
    tenant = f"tenant-{next(_numbers)}"
    life = _Life(opened.pipeline, tenant)
    for step, who in steps:
        getattr(life, step)(f"customer-{who}")
    opened.store.settle()

    found = verify(opened.pipeline, tenant)
    lines = list(export(opened.pipeline, [tenant]))
    with opened.store.reading() as reading:
        head = reading.head(tenant)[0]

    assert (found.holds, found.events, found.because) == (True, head, None)
    exported = verify_file(lambda: iter(lines), tenant=tenant)
    assert [(one.holds, one.events) for one in exported] == ([(True, head)] if head else [])


class _Life:
    """What happens in one tenant; what cannot be where it would come is left out."""

    def __init__(self, pipeline: Pipeline, tenant: str) -> None:
        self._pipeline = pipeline
        self._bot = caller(tenant=tenant)
        self._reviewer = msgspec.structs.replace(REVIEWER, tenant=tenant)
        self._officer = msgspec.structs.replace(OFFICER, tenant=tenant)
        self._waiting: list[tuple[str, UUID]] = []

    def write(self, subject: str, type_: SourceType = SourceType.APPLICATION) -> None:
        """A memory that the gate approves, unless its source is another."""
        content = f"Likes number {next(_numbers)}"
        command = proposal(content, subject=subject, source=source(type_, "m-1"))
        memory = self._pipeline.run(REMEMBER, self._bot, command).memory
        if memory is not None and type_ is SourceType.EMAIL:
            self._waiting.append((subject, memory.id))

    def hold_back(self, subject: str) -> None:
        """A memory that waits for a reviewer."""
        self.write(subject, SourceType.EMAIL)

    def promote(self, _subject: str) -> None:
        """One of those that wait is let in."""
        if self._waiting:
            self._pipeline.run(PROMOTE, self._reviewer, judgement(self._waiting.pop()[1], 1))

    def revoke(self, _subject: str) -> None:
        """One of those that wait is withdrawn."""
        if self._waiting:
            self._pipeline.run(REVOKE, self._reviewer, judgement(self._waiting.pop()[1], 1))

    def recall(self, subject: str) -> None:
        """A question, with its receipt."""
        self._pipeline.run(RECALL, self._bot, question(subject=subject))

    def forget(self, subject: str) -> None:
        """All of a subject is out of every read."""
        self._pipeline.run(FORGET_SUBJECT, self._officer, ForgetSubject(subject=subject))
        self._waiting = [one for one in self._waiting if one[0] != subject]

    def erase(self, subject: str) -> None:
        """The keys of a subject are destroyed, and its sealed bodies taken away."""
        erase(self._pipeline, self._officer, EraseSubject(subject=subject))
        self._waiting = [one for one in self._waiting if one[0] != subject]

    def sign(self, _subject: str) -> None:
        """A checkpoint."""
        make(self._pipeline, self._bot.tenant)
