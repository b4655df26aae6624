"""A person's word on a contradiction, carried out; and a merge undone (SPEC T2, T3, A5)."""

from datetime import datetime, timedelta
from itertools import product
from typing import Final
from uuid import UUID

import pytest
from msgspec.structs import replace
from tests.core.examples import LATER, NOW, REVIEWER, id_of, memory, moment

from tenure.core.contradictions import Effect, pair_id
from tenure.core.decision import Decided, Needs, Refused
from tenure.core.errors import Forbidden, IllegalTransition, InvalidRequest, TenureError, VersionConflict
from tenure.core.events import Event, Promoted, Rejected, Superseded
from tenure.core.memory import Memory, evolve
from tenure.core.resolving import Behind, Dispute, Resolve, Settled, Unmerge, read_keep, resolve, unmerge
from tenure.core.review import ReviewRules
from tenure.core.rows import FOREVER, ContradictionRow, microseconds
from tenure.core.statements import statement_of
from tenure.core.truth_events import ContradictionResolved, Reinstated, Unmerged, ValidUntil
from tenure.core.vocabulary import Kind, Source, Status, Trust

BELIEVED, DOUBTED, THIRD = id_of(1), id_of(2), id_of(3)
PAIR: Final = pair_id(BELIEVED, DOUBTED)
DAY: Final = timedelta(days=1)
TWO: Final = ReviewRules(second_reviewer_kinds=frozenset({Kind.PREFERENCE}))


def row(effect: Effect = Effect.SUPERSEDED, **changes: object) -> ContradictionRow:
    """An open contradiction of the two."""
    found = ContradictionRow(
        "acme",
        PAIR,
        "support",
        "service",
        "customer-7",
        BELIEVED,
        DOUBTED,
        effect,
        "claim",
        FOREVER,
        9,
        microseconds(NOW),
    )
    return replace(found, **changes)


def side(memory_id: UUID, status: Status = Status.ACTIVE, **changes: object) -> Memory:
    """One of the two, at some version."""
    other = DOUBTED if memory_id == BELIEVED else BELIEVED
    by = other if status is Status.SUPERSEDED else None
    return memory(id=memory_id, status=status, version=4, superseded_by=by, **changes)


def dispute(
    believed: Memory | None, doubted: Memory | None, found: ContradictionRow | None = None
) -> Dispute:
    """A contradiction and its two memories."""
    return Dispute(row=found or row(), believed=believed, doubted=doubted)


def decided(
    keep: UUID | None,
    about: Dispute,
    *,
    now: datetime = LATER,
    rules: ReviewRules = ReviewRules(),  # noqa: B008
) -> Decided[Settled] | Refused:
    """A reviewer's word."""
    command = Resolve(contradiction_id=PAIR, keep=keep, reason="checked on the host")
    return resolve(command, about, REVIEWER, moment(now=now), rules)


def done(keep: UUID | None, about: Dispute) -> Decided[Settled]:
    """A word that is carried out."""
    decision = decided(keep, about)
    assert isinstance(decision, Decided), decision
    return decision


def refused(keep: UUID | None, about: Dispute, rules: ReviewRules = ReviewRules()) -> TenureError:  # noqa: B008
    """Why a word is not carried out."""
    decision = decided(keep, about, rules=rules)
    assert isinstance(decision, Refused), decision
    return decision.error


def steps(decision: Decided[Settled]) -> list[tuple[UUID | None, type[object]]]:
    """What happens to which memory, behind the word itself."""
    word, *rest = decision.events
    assert isinstance(word.data, ContradictionResolved)
    assert (word.stream, word.version, word.actor) == (PAIR, None, REVIEWER.id)
    assert word.secret is not None
    assert word.secret.reason == "checked on the host"
    return [(event.stream, type(event.data)) for event in rest]


def event_of(decision: Decided[Settled], memory_id: UUID) -> Event:
    """The one event of a memory."""
    (event,) = (event for event in decision.events if event.stream == memory_id)
    return event


STATES: Final[dict[str, dict[str, object]]] = {
    "active": {"status": Status.ACTIVE},
    "waits": {"status": Status.QUARANTINED, "trust": Trust.UNTRUSTED},
    "displaced": {"status": Status.SUPERSEDED},
    "displaced by a third": {"status": Status.SUPERSEDED, "superseded_by": THIRD},
    "displaced and over": {"status": Status.SUPERSEDED, "expires_at": NOW},
    "over": {"status": Status.ACTIVE, "expires_at": NOW},
    "expired": {"status": Status.EXPIRED},
    "revoked": {"status": Status.REVOKED},
    "rejected": {"status": Status.REJECTED},
}

OF_EACH_OTHER: Final = frozenset({"displaced", "displaced and over"})
"""Of two, one takes the other's place at most."""


def in_state(memory_id: UUID, state: str) -> Memory | None:
    """One of the two in some state, or gone."""
    if state == "gone":
        return None
    changes = dict(STATES[state])
    status = changes.pop("status")
    assert isinstance(status, Status)
    return replace(side(memory_id, status), **changes)


@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("keep", [BELIEVED, DOUBTED, None], ids=["believed", "doubted", "both"])
def test_what_is_kept_stands_and_the_other_one_does_not_or_nothing_is_changed(
    effect: Effect, keep: UUID | None
) -> None:
    """SPEC T3: wherever the two stand by now, whatever became of them when the contradiction was found."""
    carried_out = 0
    for states in product((*STATES, "gone"), repeat=2):
        if all(state in OF_EACH_OTHER for state in states):
            continue
        pair = {one: in_state(one, state) for one, state in zip((BELIEVED, DOUBTED), states, strict=True)}
        decision = decided(keep, dispute(pair[BELIEVED], pair[DOUBTED], row(effect)))
        if isinstance(decision, Refused):
            continue
        carried_out += 1
        after = after_all(pair, decision)
        for kept in {keep} if keep is not None else {BELIEVED, DOUBTED}:
            stands = after[kept]
            assert stands is not None
            assert stands.status is Status.ACTIVE or stands.superseded_by == THIRD, states
        if keep is not None:
            other = after[DOUBTED if keep == BELIEVED else BELIEVED]
            assert other is None or other.status_at(LATER) not in {Status.ACTIVE, Status.QUARANTINED}, states
    assert carried_out >= 10


def after_all(pair: dict[UUID, Memory | None], decision: Decided[Settled]) -> dict[UUID, Memory | None]:
    """The two, each with its events."""
    after = dict(pair)
    for event in decision.events:
        if event.stream is not None and event.stream in after:
            after[event.stream] = evolve(after[event.stream], event)
    assert {one.id: one for one in decision.answer.moved} == {
        one.id: one for key, one in after.items() if one is not None and one != pair[key]
    }
    return after


def test_the_one_that_waits_is_turned_down_where_the_other_is_kept() -> None:
    """SPEC T3: with the person's reason, at the version that was read; the kept one must stay as it was."""
    decision = done(BELIEVED, dispute(side(BELIEVED), side(DOUBTED, Status.QUARANTINED), row(Effect.WAITS)))

    assert steps(decision) == [(DOUBTED, Rejected)]
    event = event_of(decision, DOUBTED)
    assert (event.version, event.secret and event.secret.reason) == (5, "checked on the host")
    assert decision.needs == (Needs(memory_id=BELIEVED, version=4),)


def test_the_one_that_waits_is_let_in_with_the_reviewers_trust() -> None:
    """SPEC T3, L7: and what was believed is superseded in the same step."""
    decision = done(DOUBTED, dispute(side(BELIEVED), side(DOUBTED, Status.QUARANTINED), row(Effect.WAITS)))

    assert steps(decision) == [(DOUBTED, Promoted), (BELIEVED, Superseded)]
    assert [one.trust for one in decision.answer.moved if one.id == DOUBTED] == [Trust.REVIEWER_VERIFIED]
    assert decision.needs == ()


def test_a_superseded_one_stands_again_with_the_end_that_it_had() -> None:
    """SPEC T3, T4: and is found again by what it says; the other one never was true."""
    until = NOW + 30 * DAY
    found = row(valid_to_before=microseconds(until))
    nginx = side(DOUBTED, Status.SUPERSEDED, valid_from=NOW - DAY, valid_to=NOW)
    decision = done(DOUBTED, dispute(side(BELIEVED, valid_from=NOW), nginx, found))

    assert steps(decision) == [(DOUBTED, Reinstated), (BELIEVED, Superseded)]
    again, gone = event_of(decision, DOUBTED), event_of(decision, BELIEVED)
    assert again.data == Reinstated(
        instead_of=BELIEVED,
        source_id=nginx.source.id,
        observed_at=nginx.source.observed_at,
        valid_to=until,
    )
    assert again.secret is not None
    assert (again.secret.content, again.secret.reason) == (nginx.content, "checked on the host")
    assert gone.data == Superseded(by=DOUBTED, valid_to=NOW)


def test_both_stand_where_both_are_right() -> None:
    """SPEC T3: each by what it takes, and the one that stands is left alone."""
    waits = done(None, dispute(side(BELIEVED), side(DOUBTED, Status.QUARANTINED), row(Effect.WAITS)))
    again = done(None, dispute(side(BELIEVED), side(DOUBTED, Status.SUPERSEDED)))
    beside = done(None, dispute(side(BELIEVED), side(DOUBTED), row(Effect.BOTH)))

    assert steps(waits) == [(DOUBTED, Promoted)]
    assert steps(again) == [(DOUBTED, Reinstated)]
    assert (steps(beside), beside.answer) == ([], Settled(kept=None))
    assert {need.memory_id for need in beside.needs} == {BELIEVED, DOUBTED}


def test_one_that_holds_until_the_other_begins_goes_on_so() -> None:
    """SPEC T4: a person agreed with what is to come, and until then nothing else says what holds."""
    begins = LATER + DAY
    closed = dispute(side(BELIEVED, valid_from=begins), side(DOUBTED, valid_to=begins), row(Effect.CLOSED))

    assert steps(done(BELIEVED, closed)) == []
    assert steps(done(None, closed)) == [(DOUBTED, ValidUntil)]
    kept = done(DOUBTED, closed)
    expected: list[tuple[UUID, type[object]]] = [(DOUBTED, ValidUntil), (BELIEVED, Superseded)]
    assert steps(kept) == expected
    assert event_of(kept, DOUBTED).data == ValidUntil(because_of=BELIEVED, valid_to=None)
    assert event_of(kept, BELIEVED).data == Superseded(by=DOUBTED, valid_to=begins)


def test_a_correction_that_waits_takes_the_place_of_the_other_unless_both_are_right() -> None:
    """SPEC T3, L10: once, in the same step."""
    believed = side(BELIEVED)
    waits = side(DOUBTED, Status.QUARANTINED, supersedes=BELIEVED)
    about = replace(dispute(believed, waits, row(Effect.WAITS)), corrected=believed)

    assert steps(done(DOUBTED, about)) == [(DOUBTED, Promoted), (BELIEVED, Superseded)]
    assert steps(done(None, about)) == [(DOUBTED, Promoted)]


def test_one_that_was_let_in_as_a_correction_meanwhile_is_taken_back() -> None:
    """SPEC T3: the one that was believed stands again, with the end that it had."""
    until = NOW + DAY
    about = replace(
        dispute(side(BELIEVED, Status.SUPERSEDED, valid_to=NOW), side(DOUBTED), row(Effect.WAITS)),
        until=until,
    )

    decision = done(BELIEVED, about)

    expected: list[tuple[UUID, type[object]]] = [(BELIEVED, Reinstated), (DOUBTED, Superseded)]
    assert steps(decision) == expected
    assert [one.valid_to for one in decision.answer.moved if one.id == BELIEVED] == [until]


def test_what_stands_for_a_merged_one_is_what_is_put_down() -> None:
    """SPEC T2, T3: it says the same; the one behind it stays where it is."""
    stands = replace(side(BELIEVED), id=THIRD)
    decision = done(DOUBTED, dispute(stands, side(DOUBTED, Status.SUPERSEDED)))

    assert steps(decision) == [(DOUBTED, Reinstated), (THIRD, Superseded)]


def test_a_contradiction_is_decided_once() -> None:
    """SPEC T3: what was decided is said, in either way."""
    for kept, word in ((BELIEVED, str(BELIEVED)), (None, "both")):
        about = dispute(side(BELIEVED), side(DOUBTED), row(resolved_seq=12, kept=kept))
        error = refused(DOUBTED, about)
        assert isinstance(error, IllegalTransition)
        assert (error.details["kept"], word in error.message) == (word, True)


def test_what_is_kept_is_one_of_the_two() -> None:
    """SPEC S2: the field at fault is named, and what it may be."""
    error = refused(THIRD, dispute(side(BELIEVED), side(DOUBTED)))

    assert isinstance(error, InvalidRequest)
    assert error.details["field"] == "keep"
    assert str(BELIEVED) in (error.hint or "")


@pytest.mark.parametrize("reason", ["", " \n", "x" * 1_001, "nul \x00"])
def test_a_word_needs_a_reason(reason: str) -> None:
    """SPEC T3: something that a later reader can use."""
    command = Resolve(contradiction_id=PAIR, keep=None, reason=reason)
    with pytest.raises(InvalidRequest) as refusal:
        resolve(command, dispute(side(BELIEVED), side(DOUBTED)), REVIEWER, moment(), ReviewRules())

    assert refusal.value.details["field"] == "reason"


def test_nobody_lets_in_what_they_proposed() -> None:
    """SPEC A5: not by way of a contradiction either; turning it down is allowed, and so is what stands."""
    own = side(DOUBTED, Status.QUARANTINED, proposed_by=REVIEWER.id)
    about = dispute(side(BELIEVED), own, row(Effect.WAITS))

    for keep in (DOUBTED, None):
        for rules in (ReviewRules(), TWO):
            assert isinstance(refused(keep, about, rules), Forbidden)
    assert steps(done(BELIEVED, about)) == [(DOUBTED, Rejected)]


def test_where_two_reviewers_are_asked_for_one_is_not_enough() -> None:
    """SPEC A5: it is endorsed in the review; this word may be that of the second reviewer alone."""
    waits = side(DOUBTED, Status.QUARANTINED)
    about = dispute(side(BELIEVED), waits, row(Effect.WAITS))
    endorsed = {who: replace(about, doubted=replace(waits, endorsed_by=who)) for who in ("bea", REVIEWER.id)}

    first = refused(DOUBTED, about, TWO)
    assert isinstance(first, IllegalTransition)
    assert "two reviewers" in first.message
    assert isinstance(refused(DOUBTED, endorsed[REVIEWER.id], TWO), Forbidden)
    assert isinstance(decided(DOUBTED, endorsed["bea"], rules=TWO), Decided)
    assert isinstance(decided(BELIEVED, about, rules=TWO), Decided)


@pytest.mark.parametrize("state", ["displaced and over", "over", "expired", "revoked", "rejected", "gone"])
@pytest.mark.parametrize("keep", [DOUBTED, None], ids=["doubted", "both"])
def test_what_cannot_stand_is_not_kept(state: str, keep: UUID | None) -> None:
    """SPEC M6, L11: and the error says why."""
    error = refused(keep, dispute(side(BELIEVED), in_state(DOUBTED, state)))

    assert isinstance(error, IllegalTransition)
    assert error.details["memory_id"] == str(DOUBTED)
    assert error.hint


def test_one_that_a_third_displaced_is_not_kept_against_the_other() -> None:
    """SPEC T3: the error names the third; that both are right can be said still."""
    about = dispute(side(BELIEVED), in_state(DOUBTED, "displaced by a third"))

    error = refused(DOUBTED, about)
    assert isinstance(error, IllegalTransition)
    assert error.details["superseded_by"] == str(THIRD)
    assert steps(done(None, about)) == []


@pytest.mark.parametrize(
    ("said", "keep"), [("both", None), (None, None), (str(BELIEVED), BELIEVED), (BELIEVED, BELIEVED)]
)
def test_what_is_kept_is_read_as_it_is_said(said: UUID | str | None, keep: UUID | None) -> None:
    """API.md: an id, or both."""
    assert read_keep(said) == keep


@pytest.mark.parametrize("said", ["", "either", "BOTH", f"{BELIEVED}0"])
def test_what_is_neither_an_id_nor_both_is_refused(said: str) -> None:
    """SPEC S2: by its field, and without repeating it."""
    with pytest.raises(InvalidRequest) as refusal:
        read_keep(said)

    assert refusal.value.details["field"] == "keep"


COPY: Final = memory(
    id=BELIEVED, version=3, status=Status.SUPERSEDED, superseded_by=DOUBTED, merged_into=DOUBTED
)
STANDS: Final = memory(id=DOUBTED, source=Source(type=COPY.source.type, id="message-2"), origins=())


def unmerged(facts: Behind, **changes: object) -> Decided[Memory] | Refused:
    """A reviewer's word that two are not one."""
    command = Unmerge(memory_id=BELIEVED, expected_version=3, reason="of another shop")
    return unmerge(replace(command, **changes), facts, REVIEWER, moment(now=LATER))


def test_a_merge_is_undone_and_the_voices_are_counted_anew() -> None:
    """SPEC T2, M5a: it is what it was, it is found again, and the other one has only its own voices."""
    third = statement_of(memory(id=THIRD, source=Source(type=COPY.source.type, id="message-3"), origins=()))

    alone = unmerged(Behind(memory=COPY, stands=STANDS))
    with_another = unmerged(Behind(memory=COPY, stands=STANDS, voices=(third,)))

    assert isinstance(alone, Decided)
    assert isinstance(with_another, Decided)
    (event,) = alone.events
    assert isinstance(event.data, Unmerged)
    assert (event.data.out_of, event.data.voices, event.data.trusted_voices) == (DOUBTED, 1, 1)
    assert event.secret is not None
    assert (event.secret.content, event.secret.reason) == (COPY.content, "of another shop")
    assert (alone.answer.status, alone.answer.merged_into, alone.answer.version) == (Status.ACTIVE, None, 4)
    (event,) = with_another.events
    assert isinstance(event.data, Unmerged)
    assert event.data.voices == 2


@pytest.mark.parametrize(
    ("facts", "change", "error"),
    [
        (Behind(memory=COPY, stands=STANDS), {"expected_version": 2}, VersionConflict),
        (Behind(memory=memory(id=BELIEVED, version=3)), {}, IllegalTransition),
        (Behind(memory=replace(side(BELIEVED, Status.SUPERSEDED), version=3)), {}, IllegalTransition),
        (Behind(memory=replace(COPY, expires_at=NOW), stands=STANDS), {}, IllegalTransition),
        (Behind(memory=replace(COPY, status=Status.REVOKED), stands=STANDS), {}, IllegalTransition),
    ],
    ids=["stale", "not merged", "corrected", "over", "revoked"],
)
def test_what_is_not_merged_is_not_unmerged(
    facts: Behind, change: dict[str, object], error: type[TenureError]
) -> None:
    """SPEC L8, M6: and the error says what to do."""
    decision = unmerged(facts, **change)

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, error)
    assert decision.error.hint


def test_unmerging_needs_a_reason() -> None:
    """SPEC T2: something that a later reader can use."""
    with pytest.raises(InvalidRequest):
        unmerged(Behind(memory=COPY, stands=STANDS), reason=" ")
