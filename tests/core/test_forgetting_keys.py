"""Forgetting a key at a scope: durable by its floors, or at the leaf alone, and then probed."""

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace
from tests.core.examples import LATER, NOW, caller, id_of, moment

from tenure.core.errors import NotFound
from tenure.core.events import AlertRaised, Event, ForgetProbed, MemoryForgotten, ScopedKeyForgotten
from tenure.core.forgetting import (
    ForgetKey,
    ForgetStanding,
    ForgetState,
    Forgetting,
    Forgotten,
    KeyFacts,
    Shadowed,
    forget_key,
    key_floors,
    probe,
    standing_of,
)
from tenure.core.identity import Role, Scope, Tier
from tenure.core.retention import UPKEEP, Ladder
from tenure.core.rows import FloorRow, MemoryRow, SuppressionRow, microseconds
from tenure.core.views import key_target

OFFICER = caller(Role.PRIVACY_OFFICER)
LADDER = Ladder()
DIGEST = b"k" * 16
TASK = Scope(tier=Tier.TASK, id="task-1", session="session-1", user="customer-7")
FLOORS = ("task:task-1", "session:session-1", "user:customer-7")
EXPIRES_AT = NOW + timedelta(days=90)
PROBE_AT = NOW + timedelta(minutes=61)
MARKER = SuppressionRow(
    "acme",
    id_of(50),
    "customer-7",
    "support",
    "service",
    DIGEST,
    '{"tier":"task","id":"task-1","session":"session-1","user":"customer-7"}',
    "task:task-1",
    12,
    microseconds(NOW + timedelta(hours=1)),
    microseconds(PROBE_AT),
)


def command(**changes: object) -> ForgetKey:
    """A key that is to be forgotten in a task whose outer scopes are named."""
    whole = ForgetKey(
        agent="support", purpose="service", subject="customer-7", key="favourite-notebook", scope=TASK
    )
    return replace(whole, **changes)


def row(tier: str, name: str, **changes: object) -> MemoryRow:
    """An active memory of the key in a scope."""
    whole = MemoryRow(
        tenant="acme",
        created_seq=3,
        memory_id=id_of(1),
        agent="support",
        purpose="service",
        subject="customer-7",
        scope_tier=tier,
        scope_id=name,
        kind="preference",
        status="active",
        trust=2,
        confidence=1.0,
        source_type="direct_user",
        source_id="message-1",
        thread=None,
        position=None,
        key_digest=DIGEST,
        fingerprint=b"f" * 16,
        written_at=microseconds(NOW),
        expires_at=microseconds(EXPIRES_AT),
        valid_from=0,
        valid_to=2**62,
        version=1,
        tokens=5,
    )
    return replace(whole, **changes)


AT_USER = row("user", "customer-7")
AT_TASK = row("task", "task-1")


def facts(
    *rows: MemoryRow, floors: tuple[str, ...] = (), suppressions: tuple[SuppressionRow, ...] = ()
) -> KeyFacts:
    """What was read: these rows, floors of the key in these places, and these markers."""
    return KeyFacts(
        key_digest=DIGEST,
        rows=rows,
        floors=tuple(
            FloorRow("acme", "customer-7", "key", key_target("support", "service", DIGEST, place), 9, 0)
            for place in floors
        ),
        suppressions=suppressions,
    )


def forgotten(
    asked: ForgetKey, found: KeyFacts, *, ladder: Ladder = LADDER
) -> tuple[Forgotten, list[ScopedKeyForgotten]]:
    """The answer to a forget now, and what its events say."""
    decided = forget_key(asked, found, OFFICER, moment(), ladder)
    data = [event.data for event in decided.events]
    assert all(isinstance(one, ScopedKeyForgotten) for one in data)
    return decided.answer, [one for one in data if isinstance(one, ScopedKeyForgotten)]


@pytest.mark.parametrize(
    ("scope", "inherits", "expected"),
    [
        (TASK, LADDER.inherits, FLOORS),
        (Scope(tier=Tier.TASK, id="t"), LADDER.inherits, ("task:t", "session:*", "user:*")),
        (Scope(tier=Tier.SESSION, id="s"), LADDER.inherits, ("session:s", "user:*")),
        (Scope(tier=Tier.USER, id="u"), LADDER.inherits, ("user:u",)),
        (TASK, frozenset({Tier.TASK}), FLOORS[:2]),
        (TASK, frozenset(), FLOORS[:1]),
    ],
)
def test_a_forget_is_anchored_at_the_outermost_scope_that_can_serve_the_key(
    scope: Scope, inherits: frozenset[Tier], expected: tuple[str, ...]
) -> None:
    """SPEC F4: an outer scope that is not named is every one of its tier."""
    ladder = Ladder(inherits=inherits)

    answer, (data,) = forgotten(command(scope=scope), facts(AT_USER), ladder=ladder)

    assert tuple(str(place) for place in key_floors(command(scope=scope), ladder)) == expected
    assert data.floors == expected
    assert (answer.durable, answer.anchored_at) == (True, expected[-1])


def test_the_event_holds_digests_and_places_and_never_the_key() -> None:
    """SPEC F4a, F4b: a stream of its own, by which the forget is asked after."""
    decided = forget_key(command(), facts(AT_USER), OFFICER, moment(now=LATER), LADDER)

    (event,) = decided.events
    assert event.data == ScopedKeyForgotten(
        agent="support", purpose="service", key_digest=DIGEST, scope=TASK, floors=FLOORS
    )
    assert (event.stream, event.subject, event.version, event.secret) == (
        id_of(100),
        "customer-7",
        None,
        None,
    )
    assert (event.tenant, event.actor, event.at) == ("acme", "caller-1", LATER)
    assert decided.answer == Forgotten(
        status=Forgetting.FORGOTTEN,
        forgotten=1,
        durable=True,
        anchored_at="user:customer-7",
        forget_id=id_of(100),
    )


@pytest.mark.parametrize(
    ("rows", "taken"),
    [
        ((AT_TASK,), 1),
        ((AT_TASK, AT_USER, row("session", "session-1")), 3),
        ((AT_USER, row("user", "somebody"), row("task", "another"), row("session", "another")), 1),
        ((replace(AT_USER, status="superseded"), replace(AT_USER, status="quarantined")), 2),
    ],
)
def test_what_lies_in_the_places_of_the_floors_is_counted_whatever_its_status(
    rows: tuple[MemoryRow, ...], taken: int
) -> None:
    """SPEC F4, F1: and what lies beside them is left alone."""
    assert forgotten(command(), facts(*rows))[0].forgotten == taken


def test_with_outer_scopes_unnamed_the_key_is_taken_from_every_one_of_them() -> None:
    """SPEC F4: a later read may name any."""
    rows = (row("session", "s-1"), row("session", "s-2"), AT_USER, row("task", "another"))

    answer, _ = forgotten(command(scope=Scope(tier=Tier.TASK, id="task-1")), facts(*rows))

    assert (answer.forgotten, answer.anchored_at) == (3, "user:*")


def test_a_key_that_nobody_holds_gets_its_floors_once() -> None:
    """SPEC F4a, F1: the floors stand before anything comes in late; again, nothing is written."""
    first, events = forgotten(command(), facts())
    again, none = forgotten(command(), facts(floors=FLOORS))

    assert (first.status, first.forgotten, len(events)) == (Forgetting.ALREADY_FORGOTTEN, 0, 1)
    assert first.forget_id == id_of(100)
    assert again == Forgotten(
        status=Forgetting.ALREADY_FORGOTTEN, forgotten=0, durable=True, anchored_at="user:customer-7"
    )
    assert none == []


@pytest.mark.parametrize("laid", [(), FLOORS[:1], FLOORS[:2], FLOORS[1:]])
def test_a_floor_that_is_missing_in_one_place_is_laid(laid: tuple[str, ...]) -> None:
    """SPEC F4: an earlier forget of the leaf alone is no reason to leave the rest open."""
    assert len(forgotten(command(), facts(floors=laid))[1]) == 1


def test_a_fresh_write_above_the_floors_is_forgotten_again() -> None:
    """SPEC F4a, F1: its source is new, so the floors rise."""
    answer, events = forgotten(command(), facts(AT_TASK, floors=FLOORS))

    assert (answer.status, answer.forgotten, len(events)) == (Forgetting.FORGOTTEN, 1, 1)


def test_at_the_leaf_alone_the_answer_says_what_still_holds_the_key_until_when_and_when_to_probe() -> None:
    """SPEC F4, F6: not durable; the probe is at the leaf's retention and a margin."""
    older = row("user", "customer-7", expires_at=microseconds(NOW + timedelta(days=1)))
    session = row("session", "session-1", expires_at=microseconds(LATER))

    answer, (data,) = forgotten(command(leaf_only=True), facts(AT_TASK, older, AT_USER, session))

    assert answer == Forgotten(
        status=Forgetting.FORGOTTEN,
        forgotten=1,
        durable=False,
        anchored_at="task:task-1",
        shadowed=(
            Shadowed(scope="session:session-1", holds_until=LATER),
            Shadowed(scope="user:customer-7", holds_until=EXPIRES_AT),
        ),
        probe_at=PROBE_AT,
        forget_id=id_of(100),
    )
    assert data.floors == ("task:task-1",)
    assert (data.holds_until, data.probe_at) == (NOW + timedelta(hours=1), PROBE_AT)


@pytest.mark.parametrize(
    "shadow",
    [
        replace(AT_USER, status="quarantined"),
        replace(AT_USER, expires_at=microseconds(NOW)),
        row("user", "somebody"),
        row("session", "another"),
    ],
)
def test_what_no_read_here_can_be_served_shadows_nothing(shadow: MemoryRow) -> None:
    """SPEC F4: only what stands, now, in a scope around the leaf."""
    answer, _ = forgotten(command(leaf_only=True), facts(AT_TASK, shadow))

    assert (answer.shadowed, answer.durable) == ((), False)


def test_at_the_outermost_scope_the_leaf_alone_is_all_there_is() -> None:
    """SPEC F4: nothing outlives the floor, so the forget is durable and there is nothing to probe."""
    at_user = Scope(tier=Tier.USER, id="customer-7")

    answer, (data,) = forgotten(command(scope=at_user, leaf_only=True), facts(AT_USER))

    assert (answer.durable, answer.probe_at, data.holds_until) == (True, None, None)


def test_without_inheritance_the_leaf_alone_is_all_there_is() -> None:
    """SPEC F3, F4: what a read never looks in cannot bring the key back."""
    answer, _ = forgotten(
        command(leaf_only=True), facts(AT_TASK, AT_USER), ladder=Ladder(inherits=frozenset())
    )

    assert (answer.durable, answer.shadowed) == (True, ())


def test_forgetting_the_leaf_again_tells_of_the_marker_that_stands() -> None:
    """SPEC F1, F6: the first forget's id and probe, and nothing is written."""
    answer, events = forgotten(
        command(leaf_only=True), facts(AT_USER, floors=FLOORS[:1], suppressions=(MARKER,))
    )

    assert events == []
    assert (answer.status, answer.durable) == (Forgetting.ALREADY_FORGOTTEN, False)
    assert (answer.forget_id, answer.probe_at) == (id_of(50), PROBE_AT)
    assert [one.scope for one in answer.shadowed] == ["user:customer-7"]


def test_forgetting_the_leaf_again_after_the_marker_ended_shadows_the_key_once_more() -> None:
    """SPEC F4: the floor at the leaf alone does not keep the key away."""
    answer, (data,) = forgotten(command(leaf_only=True), facts(AT_USER, floors=FLOORS[:1]))

    assert (answer.status, answer.forgotten) == (Forgetting.FORGOTTEN, 0)
    assert data.holds_until is not None


def test_retention_and_margin_are_configuration() -> None:
    """SPEC F3, F6: the ladder says how long the leaf keeps, the margin how long after that to ask."""
    ladder = Ladder(task=timedelta(minutes=5), probe_margin=timedelta(seconds=30))

    answer, (data,) = forgotten(command(leaf_only=True), facts(AT_TASK), ladder=ladder)

    assert data.holds_until == NOW + timedelta(minutes=5)
    assert answer.probe_at == NOW + timedelta(minutes=5, seconds=30)


def test_a_probe_that_finds_nothing_ends_the_forget() -> None:
    """SPEC F6: it held, and upkeep says so in the forget's own stream."""
    (event,) = probe(MARKER, None, PROBE_AT, LADDER)

    assert event == Event(
        tenant="acme",
        at=PROBE_AT,
        actor=UPKEEP,
        data=ForgetProbed(passed=True),
        stream=id_of(50),
        subject="customer-7",
    )


@pytest.mark.parametrize(
    ("expires_at", "again"),
    [
        (EXPIRES_AT, EXPIRES_AT + timedelta(minutes=1)),
        (PROBE_AT - timedelta(days=1), PROBE_AT + timedelta(minutes=1)),
    ],
)
def test_a_probe_that_finds_the_key_is_an_alert_and_asks_again_once_it_has_ended(
    expires_at: datetime, again: datetime
) -> None:
    """SPEC F6: an event and an alert with ids and places, never the key; the next probe is yet to come."""
    found = replace(AT_USER, expires_at=microseconds(expires_at))

    probed, alert = probe(MARKER, found, PROBE_AT, LADDER)

    assert probed.data == ForgetProbed(passed=False, found_in="user:customer-7", probe_at=again)
    assert (probed.stream, probed.actor) == (id_of(50), UPKEEP)
    assert isinstance(alert.data, AlertRaised)
    assert (alert.data.kind, alert.data.about) == ("forget-failed", str(id_of(50)))
    assert "task:task-1" in alert.data.message
    assert "user:customer-7" in alert.data.message
    assert (alert.stream, alert.secret) == (None, None)


def about(data: ScopedKeyForgotten | ForgetProbed | MemoryForgotten) -> Event:
    """One event in the stream of a forget."""
    return Event(tenant="acme", at=NOW, actor="caller-1", data=data, stream=id_of(50), subject="customer-7")


DURABLE = about(
    ScopedKeyForgotten(agent="support", purpose="service", key_digest=DIGEST, scope=TASK, floors=FLOORS)
)
AT_LEAF = about(
    ScopedKeyForgotten(
        agent="support",
        purpose="service",
        key_digest=DIGEST,
        scope=TASK,
        floors=FLOORS[:1],
        holds_until=LATER,
        probe_at=PROBE_AT,
    )
)
FAILED = about(ForgetProbed(passed=False, found_in="user:customer-7", probe_at=PROBE_AT))
PASSED = about(ForgetProbed(passed=True))


@pytest.mark.parametrize(
    ("events", "marker", "state", "durable", "found_in"),
    [
        ([DURABLE], None, ForgetState.COMPLETE, True, None),
        ([AT_LEAF], MARKER, ForgetState.WAITING, False, None),
        ([AT_LEAF, FAILED], MARKER, ForgetState.FAILED, False, "user:customer-7"),
        ([AT_LEAF, PASSED], None, ForgetState.COMPLETE, False, None),
        ([AT_LEAF, FAILED, PASSED], None, ForgetState.COMPLETE, False, None),
    ],
)
def test_a_forget_is_not_complete_before_a_probe_passes(
    events: list[Event],
    marker: SuppressionRow | None,
    state: ForgetState,
    found_in: str | None,
    *,
    durable: bool,
) -> None:
    """SPEC F6: complete, waiting for its probe, or failed."""
    expected = ForgetStanding(
        forget_id=id_of(50),
        state=state,
        durable=durable,
        probe_at=PROBE_AT if marker else None,
        found_in=found_in,
    )

    assert expected == standing_of(id_of(50), events, marker)


@pytest.mark.parametrize("events", [[], [about(MemoryForgotten())]])
def test_an_id_that_is_no_forget_of_a_key_is_not_found(events: list[Event]) -> None:
    """SPEC S2: whatever else has that id."""
    with pytest.raises(NotFound):
        standing_of(id_of(50), events, None)
