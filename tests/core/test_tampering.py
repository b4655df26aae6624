"""Tampering: every kind of damage at every position is found and named, and nothing legitimate ever is."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import EXAMPLES, MODEST
from tests.core.tampered import (
    FORGED,
    LENGTH,
    WHOLE,
    Content,
    Rows,
    Tampering,
    chained,
    flipped,
    head_of,
    header_of,
    in_a_file,
    log_of,
    rewritten,
    root_at,
    tamperings,
)

from tenure.core.ledger import GENESIS, ChainedEvent
from tenure.core.merkle import BLOCK, leaf_hash, root_of
from tenure.core.tampering import Break, Damage, GrowingRoot, Intact, KnownRoot, verify

LOG = log_of(WHOLE)
PLACES = range(1, LENGTH + 1)
CHECKPOINTS = (4, 8, LENGTH)


def found(
    rows: Rows, *, head: tuple[int, bytes] | None = None, roots: Sequence[KnownRoot] = ()
) -> Break | Intact:
    """What is said of a log of the tenant acme."""
    return verify("acme", lambda: iter(rows), head=head, roots=roots)


def named(one: Break | Intact) -> tuple[Damage, int] | Intact:
    """The kind of damage and the first bad event."""
    return (one.damage, one.seq) if isinstance(one, Break) else one


@pytest.mark.parametrize("tampering", tamperings(LOG), ids=lambda tampering: tampering.name)
def test_every_damage_at_every_position_is_found_and_named(tampering: Tampering) -> None:
    """SPEC E2: changing, dropping, inserting or reordering any event is detected and located."""
    result = found(tampering.do(LOG), head=head_of(LOG))

    assert named(result) == (tampering.damage, tampering.seq)
    assert isinstance(result, Break)
    assert result.because


@pytest.mark.parametrize("tampering", tamperings(LOG), ids=lambda tampering: tampering.name)
def test_a_file_without_a_head_shows_the_same_but_for_its_end(tampering: Tampering) -> None:
    """SPEC E2, E4: an export knows no head; known roots stand in for it."""
    rows = tampering.do(LOG)

    result = found(rows, roots=[root_at(LOG, LENGTH)])

    expected = in_a_file(tampering, LOG, rows)
    assert (None if isinstance(result, Intact) else named(result)) in expected


@pytest.mark.parametrize("at", PLACES)
def test_a_tail_cut_off_with_its_head_is_missed_by_a_checkpoint_alone(at: int) -> None:
    """SPEC E2: that is what checkpoints are kept elsewhere for."""
    cut = LOG[: at - 1]

    assert found(cut, head=head_of(cut)) == Intact(at - 1, 0)
    result = found(cut, head=head_of(cut), roots=[root_at(LOG, LENGTH)])
    assert named(result) == (Damage.TRUNCATED, at)


@pytest.mark.parametrize("at", PLACES)
def test_a_log_written_anew_from_an_event_on_is_known_by_its_checkpoints(at: int) -> None:
    """SPEC E2: whoever computes every link and the head anew still cannot produce a root that was signed."""
    forked = rewritten(LOG, at)
    agreed = max((size for size in CHECKPOINTS if size < at), default=0)
    until = min(size for size in CHECKPOINTS if size >= at)

    assert found(forked, head=head_of(forked)) == Intact(LENGTH, 0)
    result = found(forked, head=head_of(forked), roots=[root_at(LOG, size) for size in CHECKPOINTS])
    assert named(result) == (Damage.FORKED, agreed + 1)
    assert isinstance(result, Break)
    assert f"between {agreed + 1} and {until}" in result.because


@pytest.mark.parametrize("at", PLACES)
def test_a_log_written_anew_does_not_end_where_its_head_says(at: int) -> None:
    """SPEC E2: the head alone says that it is another log, and checkpoints how far it is the same."""
    forked = rewritten(LOG, at)
    agreed = [root_at(LOG, size) for size in CHECKPOINTS if size < at]

    bare = found(forked, head=head_of(LOG))
    narrowed = found(forked, head=head_of(LOG), roots=agreed)

    assert named(bare) == (Damage.FORKED, 1)
    assert named(narrowed) == (Damage.FORKED, agreed[-1].size + 1 if agreed else 1)


@pytest.mark.parametrize("at", PLACES[:-1])
def test_an_event_rewritten_with_its_link_is_named_where_checkpoints_are_close(at: int) -> None:
    """SPEC E2: the chain breaks behind it; roots of the sizes around it say that it is the one."""
    own = rewritten(LOG, at)[at - 1]
    rows = [own if row.seq == at else row for row in LOG]
    close = [root_at(LOG, size) for size in (at - 1, at)]

    assert named(found(rows, head=head_of(LOG), roots=close)) == (Damage.ALTERED, at)
    assert named(found(rows, head=head_of(LOG))) == (Damage.ALTERED, at + 1)


def test_a_fork_right_behind_a_checkpoint_is_named_exactly() -> None:
    """SPEC E2: with a checkpoint of every size there is nothing to guess."""
    every = [root_at(LOG, size) for size in range(LENGTH + 1)]

    for at in PLACES:
        result = found(rewritten(LOG, at), roots=every)
        assert named(result) == (Damage.FORKED, at)
        assert isinstance(result, Break)
        assert result.because.endswith("it was written anew from here on")


@MODEST
@given(
    content=st.lists(st.tuples(st.sampled_from(EXAMPLES), st.none() | st.binary(max_size=40)), max_size=8),
    destroyed=st.sets(st.integers(min_value=0, max_value=7)),
)
def test_a_log_that_was_written_as_it_stands_holds_whatever_bodies_were_destroyed(
    content: list[Content], destroyed: set[int]
) -> None:
    """SPEC E2, F7: a sealed body can be nulled later, and the chain still holds."""
    rows = log_of(content)
    erased = [row._replace(body=None) if at in destroyed else row for at, row in enumerate(rows)]
    roots = [root_at(rows, size) for size in range(len(rows) + 1)]

    assert found(rows, head=head_of(rows)) == Intact(len(rows), 0)
    assert found(erased, head=head_of(rows), roots=roots) == Intact(len(rows), len(rows) + 1)
    assert found(rows) == Intact(len(rows), 0)


@MODEST
@given(
    data=st.data(), content=st.lists(st.tuples(st.sampled_from(EXAMPLES), st.binary(max_size=9)), min_size=1)
)
def test_any_flipped_bit_of_any_header_is_found_where_it_is(
    data: st.DataObject, content: list[Content]
) -> None:
    """SPEC E2: the chain covers every byte."""
    rows = log_of(content)
    at = data.draw(st.integers(min_value=0, max_value=len(rows) - 1))
    header = bytearray(rows[at].header)
    bit = data.draw(st.integers(min_value=0, max_value=8 * len(header) - 1))
    header[bit // 8] ^= 1 << bit % 8
    altered = [*rows[:at], rows[at]._replace(header=bytes(header)), *rows[at + 1 :]]

    assert named(found(altered)) == (Damage.ALTERED, at + 1)


@pytest.mark.parametrize("at", PLACES)
def test_an_event_of_another_tenant_is_found_even_with_links_that_fit(at: int) -> None:
    """SPEC M2, E2: one log for each tenant."""
    data, body = WHOLE[at - 1]
    foreign = header_of(data, body, tenant="other")
    rows = chained([(foreign if row.seq == at else row.header, row.body) for row in LOG])

    assert found(rows) == Break(at, "the event belongs to another tenant", Damage.INSERTED)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"not json",
        b"\xff\xfe",
        b'{"type":"memory.revoked"}',
        header_of(*WHOLE[2])[:-1],
        header_of(*WHOLE[2]).replace(b'"v":1', b'"v":"one"'),
        header_of(*WHOLE[2]).replace(b"acme", b"\xff\xfe"),
    ],
)
def test_a_header_that_cannot_be_read_is_a_break_and_not_a_failure(header: bytes) -> None:
    """SPEC E2, E5: verification names the first bad event whatever stands there."""
    rows = chained([(header if row.seq == 3 else row.header, row.body) for row in LOG])

    expected = Break(3, "the header cannot be read", Damage.ALTERED)
    assert found(rows) == found(rows, head=head_of(rows)) == expected


@MODEST
@given(
    header=st.binary(max_size=80),
    body=st.none() | st.binary(max_size=9),
    seq=st.integers(min_value=-5, max_value=2**70),
    linked=st.booleans(),
)
def test_no_bytes_whatever_make_verifying_fail(
    header: bytes, body: bytes | None, seq: int, *, linked: bool
) -> None:
    """SPEC E2, E5: an answer for every log, also with links that fit."""
    rows = chained([(header_of(*WHOLE[0]), WHOLE[0][1]), (header, body), (header_of(*WHOLE[2]), WHOLE[2][1])])
    if not linked:
        rows[1] = rows[1]._replace(link=header, seq=seq)

    result = found(rows)

    assert isinstance(result, Break)
    assert result.seq == 2


def test_a_body_where_none_was_sealed_is_found() -> None:
    """SPEC E2: nothing can be slipped in beside an event that had no secret."""
    rows = log_of([(EXAMPLES[0], None), (EXAMPLES[3], None)])

    assert found(rows) == Intact(2, 0)
    assert found([rows[0], rows[1]._replace(body=b"slipped in")]) == Break(
        2, "the sealed body is not the one that was written", Damage.ALTERED
    )


def test_an_empty_log_holds() -> None:
    """SPEC E2: a new tenant's log ends before its first event; its root is that of no leaves."""
    empty = KnownRoot(0, root_of([]))

    assert found([], head=(0, GENESIS)) == found([]) == Intact(0, 0)
    assert found([], roots=[empty]) == Intact(0, 1)
    assert found(LOG, roots=[empty]) == Intact(LENGTH, 1)
    assert named(found([], roots=[KnownRoot(0, flipped(root_of([])))])) == (Damage.FORKED, 1)


def test_a_root_grows_with_the_log_to_what_the_tree_has() -> None:
    """SPEC E2: over full blocks and what is left of one."""
    growing = GrowingRoot()
    leaves: list[bytes] = []
    for number in range(2 * BLOCK + 3):
        if number in {0, 1, 2, 3, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 2}:
            assert growing.root() == root_of(leaves)
        data = number.to_bytes(32)
        growing.add(data)
        leaves.append(leaf_hash(data))


def test_what_happens_twice_is_named_where_it_happens_first() -> None:
    """SPEC E2: the first bad event, whatever else was done behind it."""
    tampered = [row for row in LOG if row.seq not in {5, 9}]

    assert named(found(tampered, head=head_of(LOG))) == (Damage.MISSING, 5)


def test_the_reason_says_what_shows_it() -> None:
    """SPEC E2, S2: a person can see what to look at."""
    forged = ChainedEvent(5, header_of(FORGED, None), None, bytes(32))

    rows = (
        [*LOG[:4], *LOG[5:]],
        [*LOG[:4], forged, *LOG[5:]],
        [*LOG[:4], LOG[4]._replace(link=bytes(32)), *LOG[5:]],
        LOG[:4],
    )
    said = {getattr(found(each, head=head_of(LOG)), "because", None) for each in rows}

    assert said == {
        "the next event is at 6",
        "it does not follow from the one before it",
        "its link is not the one that was written",
        "the log ends at position 4, and its head says at 13",
    }
