"""How long a memory lives: defaults, maxima, scopes, renewal and the explicit end."""

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace
from tests.core.examples import (
    LATER,
    NOW,
    RULES,
    WRITER,
    facts,
    held_memory,
    id_of,
    memory,
    moment,
    proposal,
    source,
)

from tenure.core.decision import Decided, Refused
from tenure.core.errors import IllegalTransition, InvalidRequest, VersionConflict
from tenure.core.events import Expired, Renewed
from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.memory import Memory, evolve
from tenure.core.proposals import Remember
from tenure.core.remembering import remember
from tenure.core.retention import Ladder, Renew, asked_expiry, checked_reason, expire, first_expiry, renew
from tenure.core.vocabulary import LIFETIMES, Kind, Status

# Kind, default and maximum lifetime in days.
DAYS = [
    (Kind.PREFERENCE, 90, 365),
    (Kind.FACT, 30, 180),
    (Kind.SKILL, 90, 365),
    (Kind.WORKING_NOTE, 1, 7),
    (Kind.SUMMARY, 30, 90),
    (Kind.EXTERNAL_CLAIM, 7, 30),
    (Kind.SENSITIVE_CHANGE, 30, 90),
]
LADDER = Ladder()
NAIVE = datetime(2026, 5, 1)  # noqa: DTZ001 -- a time without a zone is what is refused here
ENDED = [status for status in Status if status not in {Status.ACTIVE, Status.QUARANTINED}]


def kept(command: Remember) -> Memory:
    """The memory that a proposal becomes."""
    decision = remember(command, facts(), WRITER, moment(), RULES)
    assert isinstance(decision, Decided)
    assert decision.answer.memory is not None
    return decision.answer.memory


def renewal(**changes: object) -> Renew:
    """Another hundred days, for a reason."""
    return replace(
        Renew(expected_version=1, reason="still in use", expires_at=NOW + timedelta(days=100)), **changes
    )


def test_every_kind_has_its_own_lifetime() -> None:
    """SPEC M3: never one for all; none lives longer by default than it may at most."""
    in_days = [(kind, life.default.days, life.maximum.days) for kind, life in LIFETIMES.items()]

    assert in_days == DAYS
    assert all(timedelta(0) < life.default <= life.maximum for life in LIFETIMES.values())


@pytest.mark.parametrize(("kind", "default", "_maximum"), DAYS)
def test_a_memory_that_waits_lives_for_the_default_of_its_kind(
    kind: Kind, default: int, _maximum: int
) -> None:
    """SPEC L11: every memory expires, quarantined or not."""
    e_mail = source(type=SourceType.EMAIL)

    assert kept(proposal(kind=kind, source=e_mail)).expires_at == NOW + timedelta(days=default)


@pytest.mark.parametrize(
    ("source_type", "kind", "days"),
    [
        (SourceType.DIRECT_USER, Kind.PREFERENCE, 90),
        (SourceType.APPLICATION, Kind.PREFERENCE, 30),
        (SourceType.APPLICATION, Kind.FACT, 30),
        (SourceType.APPLICATION, Kind.SKILL, 30),
        (SourceType.APPLICATION, Kind.SUMMARY, 30),
        (SourceType.APPLICATION, Kind.EXTERNAL_CLAIM, 7),
        (SourceType.APPLICATION, Kind.WORKING_NOTE, 1),
    ],
)
def test_an_approved_memory_lives_as_its_rule_says_but_not_beyond_its_kind(
    source_type: SourceType, kind: Kind, days: int
) -> None:
    """SPEC L3: 90 days for a person's preference, 30 for an application, less where the kind has less."""
    one = kept(proposal(kind=kind, source=source(type=source_type)))

    assert one.expires_at == NOW + timedelta(days=days)


def test_an_expiry_within_the_limits_is_the_one_that_was_asked_for() -> None:
    """SPEC L11: asked in seconds or as a time."""
    in_a_week = NOW + timedelta(days=7)

    assert kept(proposal(expires_at=in_a_week)).expires_at == in_a_week
    assert kept(proposal(ttl_seconds=60)).expires_at == NOW + timedelta(seconds=60)


@pytest.mark.parametrize(("tier", "hours"), [(Tier.TASK, 1), (Tier.SESSION, 24), (Tier.USER, 90 * 24)])
@pytest.mark.parametrize("asked", [{}, {"ttl_seconds": 365 * 86_400}])
def test_a_memory_never_outlives_its_scope(tier: Tier, hours: int, asked: dict[str, object]) -> None:
    """SPEC F3: task 1 h, session 24 h, user 90 d, whatever was asked for."""
    one = kept(proposal(scope=Scope(tier=tier, id="scope-1"), **asked))

    assert one.expires_at == NOW + timedelta(hours=hours)


def test_a_scope_does_not_lengthen_a_shorter_life() -> None:
    """SPEC F3, L11: the scope is a limit, not a wish."""
    soon = first_expiry(
        kind=Kind.WORKING_NOTE, now=NOW, asked=None, lifetime=None, kept=Ladder().retention(Tier.USER)
    )

    assert soon == NOW + timedelta(days=1)


def test_the_ladder_is_configurable() -> None:
    """SPEC F3: the ladder is configuration."""
    ladder = Ladder(task=timedelta(minutes=5))

    assert [ladder.retention(tier) for tier in Tier] == [
        timedelta(minutes=5),
        timedelta(hours=24),
        timedelta(days=90),
    ]


@pytest.mark.parametrize(("kind", "_default", "maximum"), DAYS)
def test_the_maximum_of_a_kind_can_be_asked_for_and_nothing_beyond(
    kind: Kind, _default: int, maximum: int
) -> None:
    """SPEC L11: within its kind's maximum, to the second."""
    longest = timedelta(days=maximum)
    seconds = int(longest.total_seconds())

    assert asked_expiry(kind=kind, now=NOW, expires_at=NOW + longest, ttl_seconds=None) == NOW + longest
    assert asked_expiry(kind=kind, now=NOW, expires_at=None, ttl_seconds=seconds) == NOW + longest
    with pytest.raises(InvalidRequest, match=f"at most {maximum} days"):
        asked_expiry(kind=kind, now=NOW, expires_at=NOW + longest + timedelta(seconds=1), ttl_seconds=None)
    with pytest.raises(InvalidRequest, match=f"1 to {seconds} for a {kind}"):
        asked_expiry(kind=kind, now=NOW, expires_at=None, ttl_seconds=seconds + 1)


@pytest.mark.parametrize(
    ("expires_at", "ttl_seconds", "field"),
    [
        (NOW, None, "expires_at"),
        (NOW - timedelta(days=1), None, "expires_at"),
        (None, 0, "ttl_seconds"),
        (None, -1, "ttl_seconds"),
        (None, 10**15, "ttl_seconds"),
        (LATER, 60, "ttl_seconds"),
    ],
)
def test_a_lifetime_that_cannot_be_is_refused_by_its_field(
    expires_at: datetime | None, ttl_seconds: int | None, field: str
) -> None:
    """SPEC L11, S2: in the past, without length, without end, or said twice."""
    with pytest.raises(InvalidRequest) as caught:
        asked_expiry(kind=Kind.FACT, now=NOW, expires_at=expires_at, ttl_seconds=ttl_seconds)

    assert caught.value.field == field


def test_who_asks_for_no_lifetime_leaves_it_to_the_rules() -> None:
    """SPEC L11: the default is not a wish."""
    assert asked_expiry(kind=Kind.FACT, now=NOW, expires_at=None, ttl_seconds=None) is None


def test_a_renewal_moves_the_end_and_is_one_event_with_its_reason() -> None:
    """SPEC L11: renewal needs a reason, which is kept."""
    decision = renew(renewal(), memory(), WRITER, moment(now=LATER), LADDER)

    assert isinstance(decision, Decided)
    (event,) = decision.events
    assert event.data == Renewed(expires_at=NOW + timedelta(days=100))
    assert (event.stream, event.version, event.at, event.actor) == (id_of(1), 2, LATER, "caller-1")
    assert event.secret is not None
    assert event.secret.reason == "still in use"
    assert decision.answer == evolve(memory(), event)


def test_a_renewal_is_bounded_by_the_same_maximum_from_now() -> None:
    """SPEC L11: a memory may be renewed again, but never further than its kind allows from today."""
    furthest = LATER + timedelta(days=365)

    within = renew(renewal(expires_at=furthest), memory(), WRITER, moment(now=LATER), LADDER)

    assert isinstance(within, Decided)
    with pytest.raises(InvalidRequest, match="at most 365 days"):
        renew(
            renewal(expires_at=furthest + timedelta(seconds=1)), memory(), WRITER, moment(now=LATER), LADDER
        )


@pytest.mark.parametrize(
    ("tier", "kept_for"),
    [(Tier.TASK, timedelta(minutes=5)), (Tier.SESSION, timedelta(hours=24)), (Tier.USER, timedelta(days=99))],
)
@pytest.mark.parametrize(
    "asked", [{"ttl_seconds": 99 * 86_400, "expires_at": None}, {"expires_at": LATER + timedelta(days=99)}]
)
def test_a_renewed_memory_still_ends_with_its_task_or_session(
    tier: Tier, kept_for: timedelta, asked: dict[str, object]
) -> None:
    """SPEC L11, F3: from now, by the ladder that is configured; at a user's scope by the kind alone."""
    one = memory(scope=Scope(tier=tier, id="scope-1"), expires_at=LATER + timedelta(minutes=1))

    decision = renew(renewal(**asked), one, WRITER, moment(now=LATER), Ladder(task=timedelta(minutes=5)))

    assert isinstance(decision, Decided)
    assert decision.answer.expires_at == LATER + kept_for
    assert [event.data for event in decision.events] == [Renewed(expires_at=LATER + kept_for)]


@pytest.mark.parametrize("tier", Tier)
def test_a_renewal_within_its_scope_is_the_one_that_was_asked_for(tier: Tier) -> None:
    """SPEC L11, F3: the scope is a limit, not a wish."""
    one = memory(scope=Scope(tier=tier, id="scope-1"))

    decision = renew(renewal(ttl_seconds=60, expires_at=None), one, WRITER, moment(), LADDER)

    assert isinstance(decision, Decided)
    assert decision.answer.expires_at == NOW + timedelta(seconds=60)


@pytest.mark.parametrize("tier", Tier)
def test_no_scope_makes_room_beyond_the_maximum_of_the_kind(tier: Tier) -> None:
    """SPEC L11: what is asked for beyond the kind's maximum is an error at every scope, not cut short."""
    one = memory(scope=Scope(tier=tier, id="scope-1"))
    endless = Ladder(task=timedelta(days=999), session=timedelta(days=999))

    with pytest.raises(InvalidRequest, match="at most 365 days"):
        renew(renewal(expires_at=NOW + timedelta(days=366)), one, WRITER, moment(), endless)


@pytest.mark.parametrize(
    "one", [memory(expires_at=NOW), held_memory(), *(memory(status=end) for end in ENDED)]
)
def test_only_a_memory_that_is_active_now_can_be_renewed(one: Memory) -> None:
    """SPEC M6, L11: what ended, or waits, does not begin to live by a renewal."""
    with pytest.raises(IllegalTransition):
        renew(renewal(), one, WRITER, moment(), LADDER)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"expected_version": 2}, VersionConflict),
        ({"expires_at": None}, InvalidRequest),
    ],
)
def test_a_renewal_at_another_version_or_without_an_end_is_refused(
    change: dict[str, object], error: type[Exception]
) -> None:
    """SPEC L8, L11: nothing is appended."""
    decision = renew(renewal(**change), memory(), WRITER, moment(), LADDER)

    assert isinstance(decision, Refused)
    assert type(decision.error) is error


@pytest.mark.parametrize("reason", ["", "  ", "\n", "x" * 1_001, "a\x00b", "a\ud800b"])
def test_a_reason_is_text_that_a_later_reader_can_use(reason: str) -> None:
    """SPEC L11, S2: bad input names its field, before it could fail in the store."""
    with pytest.raises(InvalidRequest) as caught:
        checked_reason(reason)

    assert caught.value.field == "reason"


def test_an_end_without_a_time_zone_is_an_invalid_request() -> None:
    """SPEC S2: bad input never gives a 5xx."""
    with pytest.raises(InvalidRequest) as caught:
        renew(renewal(expires_at=NAIVE), memory(), WRITER, moment(), LADDER)

    assert caught.value.field == "expires_at"


@pytest.mark.parametrize("one", [memory(expires_at=NOW), held_memory(expires_at=NOW)])
def test_the_explicit_end_says_when_the_time_had_passed(one: Memory) -> None:
    """SPEC L11: a worker writes the event later; it names the instant from which reads skipped it."""
    event = expire(one, LATER)

    assert event is not None
    assert event.data == Expired(expired_at=NOW)
    assert (event.at, event.actor, event.version, event.secret) == (LATER, "tenure:upkeep", 2, None)
    assert evolve(one, event).status is Status.EXPIRED


@pytest.mark.parametrize(
    "one", [memory(expires_at=LATER), *(memory(status=end, expires_at=NOW) for end in ENDED)]
)
def test_what_still_lives_or_has_ended_is_not_expired_again(one: Memory) -> None:
    """SPEC L11, M6: exactly one end."""
    assert expire(one, NOW) is None
