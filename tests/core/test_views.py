"""Read models: each row is a function of the log alone, agrees with the record, and holds no content."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import (
    CLAIM,
    CONTENT,
    EXAMPLES,
    FINGERPRINT,
    KEY,
    LATER,
    MODEST,
    NOW,
    REASON,
    SECRET,
    URI,
    admitted,
    event,
    id_of,
    quarantined,
    revised,
)
from tests.core.histories import histories
from tests.core.projected import AT, row, row_after

from tenure.core.access_events import AccessDenied, KeyCreated, KeyRevoked
from tenure.core.errors import IllegalTransition
from tenure.core.events import (
    NAMES,
    AlertRaised,
    ErasureBegun,
    Event,
    EventData,
    Expired,
    ForgetProbed,
    HoldPlaced,
    HoldReleased,
    MemoryForgotten,
    Promoted,
    Refused,
    Rejected,
    Revoked,
    ScopeCompacted,
    ScopedKeyForgotten,
    SubjectErased,
    SubjectForgotten,
)
from tenure.core.identity import Grants, Role, Scope, SourceType, Tier
from tenure.core.incident_events import (
    Looked,
    ToolAuthorized,
    ToolRefused,
)
from tenure.core.memory import STEP_OF, Memory, evolve
from tenure.core.rows import (
    DERIVED,
    FOREVER,
    AlertRow,
    Change,
    DerivationRow,
    DropEnded,
    DropKeyed,
    DropMemory,
    DropSubject,
    DropSuppression,
    EndHold,
    ErasureRow,
    FloorRow,
    HoldRow,
    Index,
    KeyRow,
    MemoryRow,
    ProvenanceRow,
    Put,
    PutBack,
    SearchChange,
    SuppressionRow,
    Unindex,
    UnindexSubject,
    from_microseconds,
    microseconds,
)
from tenure.core.truth_events import Merged, Pruned, Reinstated, Unmerged, ValidUntil
from tenure.core.views import (
    decode_grants,
    encode_grants,
    indexed_text,
    key_target,
    meant_text,
    project,
    revoked_key,
    search_change,
    value_floor,
    value_target,
)
from tenure.core.vocabulary import Status

ABOUT_ONE_MEMORY = [data for data in EXAMPLES if type(data) in STEP_OF]
MOVES = [data for data in ABOUT_ONE_MEMORY[2:] if not isinstance(data, MemoryForgotten | Pruned)]
IN_THE_LOG_ALONE = (Refused, AccessDenied, KeyRevoked, Looked, ToolAuthorized, ToolRefused)
UNMERGED = Unmerged(out_of=id_of(2), voices=1, trusted_voices=1, source_id="message-1")
BEFORE = microseconds(NOW - timedelta(days=1))
SUBJECT_FLOOR = FloorRow("acme", "customer-7", "subject", "customer-7", 12, AT)
PLACES = ("task:task-1", "session:session-1", "user:*")
QUOTED = (CONTENT, KEY, URI, REASON, CLAIM.entity, CLAIM.attribute, CLAIM.value)


def name_of(data: EventData) -> str:
    """The event's name, to read in a failure."""
    return NAMES[type(data)][0]


@MODEST
@given(events=histories())
def test_the_row_projected_event_by_event_agrees_with_the_folded_memory(events: list[Event]) -> None:
    """SPEC E1: current state is a projection, the same live and replayed."""
    memory: Memory | None = None
    found: MemoryRow | None = None
    for seq, one in enumerate(events, start=11):
        memory = evolve(memory, one)
        found = row_after(one, seq, found)
        assert (found.status, found.version, found.trust) == (
            memory.status,
            memory.version,
            memory.trust.rank,
        )
        assert found.expires_at == microseconds(memory.expires_at)
        walls = memory.boundary
        assert (found.tenant, found.agent, found.purpose, found.subject) == (
            walls.tenant,
            walls.agent,
            walls.purpose,
            walls.subject,
        )
        assert (found.memory_id, found.kind, found.confidence) == (memory.id, memory.kind, memory.confidence)
        assert (found.source_type, found.source_id) == (memory.source.type, memory.source.id)
        assert (found.scope_tier, found.scope_id) == (memory.scope.tier, memory.scope.id)
        assert found.valid_to == (microseconds(memory.valid_to) if memory.valid_to else FOREVER)
        assert found.created_seq == 11


@MODEST
@given(events=histories())
def test_a_row_is_replayed_to_the_same_bytes(events: list[Event]) -> None:
    """SPEC E1: a view can be dropped and rebuilt, identical byte for byte."""
    replayed = []
    for _ in range(2):
        found: MemoryRow | None = None
        for seq, one in enumerate(events, start=1):
            found = row_after(one, seq, found)
        replayed.append(msgspec.msgpack.encode(found))

    assert replayed[0] == replayed[1]


@pytest.mark.parametrize("data", EXAMPLES, ids=name_of)
def test_no_row_holds_content_or_anything_that_quotes_it(data: EventData) -> None:
    """SPEC F7: content is in no view, only its position in the log."""
    before = None if isinstance(data, type(admitted()) | type(quarantined())) else row()
    if type(data) in STEP_OF and before is not None:
        before = replace(before, status=_status_before(data))

    written = repr(project(event(data), 12, before))

    assert [quote for quote in QUOTED if quote in written] == []


def _status_before(data: EventData) -> str:
    waits = {"memory.endorsed", "memory.promoted", "memory.rejected"}
    ended = {"memory.reinstated", "memory.unmerged"}
    name = NAMES[type(data)][0]
    return "quarantined" if name in waits else "superseded" if name in ended else "active"


def test_a_row_says_where_the_content_stands_in_the_log() -> None:
    """SPEC E1: a revision moves the place of the content and the day it was written, and no more."""
    born = row(trust=3)

    after = row_after(event(revised(), version=2, at=LATER), 19, born)

    assert (born.created_seq, born.written_at) == (11, microseconds(NOW))
    assert (after.created_seq, after.written_at) == (11, microseconds(LATER))
    assert (after.trust, after.confidence, after.source_id, after.tokens) == (1, 0.5, "message-2", 7)
    assert after.expires_at == born.expires_at


def test_what_has_no_end_is_valid_for_ever() -> None:
    """SPEC T4: an interval without a side is open on that side."""
    bounded = row_after(event(EXAMPLES[0]), 1, None)

    assert (row().valid_from, row().valid_to) == (0, FOREVER)
    assert bounded.valid_from == microseconds(NOW - timedelta(days=2))
    assert bounded.valid_to == microseconds(NOW + timedelta(days=2))


@pytest.mark.parametrize("data", MOVES, ids=name_of)
def test_a_change_to_a_memory_that_was_never_created_is_an_error(data: EventData) -> None:
    """SPEC E5: a log with a hole is never misread."""
    with pytest.raises(ValueError, match="event 12 changes a memory that no earlier event created"):
        project(event(data), 12, None)


@pytest.mark.parametrize("data", MOVES, ids=name_of)
def test_an_illegal_step_is_refused_by_the_view_as_well(data: EventData) -> None:
    """SPEC M6: one table for the record and for its row."""
    with pytest.raises(IllegalTransition):
        project(event(data), 12, row(status="forgotten"))


@pytest.mark.parametrize(
    "data", [data for data in EXAMPLES if isinstance(data, IN_THE_LOG_ALONE)], ids=name_of
)
def test_looks_denials_and_refusals_change_no_row(data: EventData) -> None:
    """SPEC E1: they are in the log alone; a key's row ends by ``revoked_key``."""
    assert project(event(data), 12, None) == ()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SubjectForgotten(), (DropSubject("acme", "customer-7", 12, AT), Put(SUBJECT_FLOOR))),
        (
            SubjectForgotten(again=FINGERPRINT, first_at=NOW - timedelta(days=1)),
            (
                DropSubject("acme", "customer-7", 12, BEFORE),
                Put(replace(SUBJECT_FLOOR, floor_at=BEFORE)),
            ),
        ),
        (MemoryForgotten(), (DropMemory("acme", id_of(1), 12, AT),)),
        (
            ErasureBegun(keys=(id_of(6),)),
            (
                DropSubject("acme", "customer-7", 12, AT, erases=True),
                Put(SUBJECT_FLOOR),
                Put(ErasureRow("acme", "customer-7", id_of(1), 12, 0)),
            ),
        ),
        (
            SubjectErased(certificate="{}", begun_seq=9),
            (Put(ErasureRow("acme", "customer-7", id_of(1), 9, 12)),),
        ),
        (
            HoldPlaced(review_at=LATER),
            (Put(HoldRow("acme", "customer-7", 12, "caller-1", AT, microseconds(LATER))),),
        ),
        (HoldPlaced(), (Put(HoldRow("acme", "customer-7", 12, "caller-1", AT, None)),)),
        (HoldReleased(), (EndHold("acme", "customer-7"),)),
        (ForgetProbed(passed=True), (DropSuppression("acme", id_of(1)),)),
        (
            ForgetProbed(passed=False, found_in="user:customer-7", probe_at=LATER),
            (PutBack("acme", id_of(1), microseconds(LATER)),),
        ),
        (
            ScopeCompacted(agent="support", purpose="service", tier="task", scope_id="task-1"),
            (DropEnded("acme", "customer-7", "support", "service", "task", "task-1"),),
        ),
        (
            AlertRaised(kind="forget-failed", message="a key can be read again", about="8"),
            (Put(AlertRow("acme", 12, "customer-7", "forget-failed", "a key can be read again", "8", AT)),),
        ),
    ],
)
def test_what_stands_beside_the_memories_changes_by_whole_rows(
    data: EventData, expected: tuple[Change, ...]
) -> None:
    """SPEC E1, F4a: floors, holds, erasures, markers and alerts are functions of the log alone."""
    assert expected == project(event(data), 12, None)


def forgotten_key(**changes: object) -> ScopedKeyForgotten:
    """A key that was forgotten in every place that can serve it."""
    whole = ScopedKeyForgotten(
        agent="support",
        purpose="service",
        key_digest=b"k" * 16,
        scope=Scope(tier=Tier.TASK, id="task-1", session="session-1"),
        floors=PLACES,
    )
    return replace(whole, **changes)


def test_a_forgotten_key_lays_a_floor_in_every_place_that_can_serve_it() -> None:
    """SPEC F4, F4a: rows are dropped there, and what has its source before is refused there for ever."""
    dropped, *floors = project(event(forgotten_key()), 12, None)

    assert dropped == DropKeyed("acme", "customer-7", "support", "service", b"k" * 16, PLACES, 12, AT)
    targets = [key_target("support", "service", b"k" * 16, place) for place in PLACES]
    assert floors == [Put(FloorRow("acme", "customer-7", "key", target, 12, AT)) for target in targets]
    assert len(set(targets)) == 3


def test_a_key_forgotten_at_the_leaf_alone_leaves_a_marker_until_it_is_probed() -> None:
    """SPEC F4, F6: one floor, and the way outward ends there until the retention of the leaf is over."""
    probe_at = LATER + timedelta(minutes=1)
    leaf = forgotten_key(floors=PLACES[:1], holds_until=LATER, probe_at=probe_at)

    _, floor, marker = project(event(leaf), 12, None)

    assert isinstance(floor, Put)
    assert isinstance(floor.row, FloorRow)
    expected = SuppressionRow(
        "acme",
        id_of(1),
        "customer-7",
        "support",
        "service",
        b"k" * 16,
        '{"tier":"task","id":"task-1","session":"session-1"}',
        "task:task-1",
        12,
        microseconds(LATER),
        microseconds(probe_at),
    )
    assert marker == Put(expected)


def test_a_rejected_value_lies_below_a_floor_that_holds_no_text() -> None:
    """SPEC F4b: kept as a keyed digest; no other step of a memory lays one."""
    waiting = replace(row(), status="quarantined")

    moved, floor = project(event(Rejected(), version=2), 12, waiting)

    target = value_target("support", "service", FINGERPRINT)
    assert moved == Put(replace(waiting, status="rejected", version=2))
    assert floor == Put(FloorRow("acme", "customer-7", "value", target, 12, AT))
    assert value_floor(replace(waiting, fingerprint=None), 12, AT) is None
    assert len(project(event(Rejected(), version=2), 12, replace(waiting, fingerprint=None))) == 1
    assert len(project(event(Revoked(), version=2), 12, row())) == 1


def test_what_a_memory_was_made_from_is_a_row_for_each_input() -> None:
    """SPEC F9, M5a: derivation is tracked, so that a forgetting finds what came of it."""
    made = admitted(derived_from=(id_of(3), id_of(4)))

    born, came_from, *derived = project(event(made), 11, None)

    assert isinstance(born, Put)
    assert came_from == Put(
        ProvenanceRow(
            "acme", "message-1", "direct_user", id_of(1), 11, "caller-1", "support", "service", "customer-7"
        )
    )
    assert derived == [
        Put(DerivationRow("acme", parent, id_of(1), "customer-7", DERIVED)) for parent in (id_of(3), id_of(4))
    ]


def test_a_key_is_a_row_with_the_hash_of_its_secret_until_it_is_revoked() -> None:
    """SPEC A1: stored hashed; the first revocation counts."""
    grants = Grants(roles=frozenset({Role.READER}))
    created = KeyCreated(key_id=id_of(5), name="assistant", grants=grants, secret_hash=FINGERPRINT)

    change = project(event(created), 12, None)

    expected = KeyRow(
        "acme", id_of(5), "assistant", encode_grants(grants), FINGERPRINT, microseconds(NOW), None
    )
    assert change == (Put(expected),)
    revoked = revoked_key(event(KeyRevoked(key_id=id_of(5)), at=LATER), expected)
    assert revoked == replace(expected, revoked_at=microseconds(LATER))
    assert revoked_key(event(KeyRevoked(key_id=id_of(5)), at=LATER + timedelta(days=1)), revoked) == revoked


@pytest.mark.parametrize(
    ("data", "status", "expected"),
    [
        (admitted(), Status.ACTIVE, Index(row())),
        (quarantined(), Status.QUARANTINED, Index(row(status="quarantined"))),
        (revised(), Status.ACTIVE, Index(row())),
        (UNMERGED, Status.ACTIVE, Index(row())),
        (Reinstated(instead_of=id_of(2), source_id="message-1"), Status.ACTIVE, Index(row())),
        (ValidUntil(because_of=id_of(2), valid_to=NOW), Status.ACTIVE, None),
        (
            Merged(into=id_of(2), voices=2, trusted_voices=1),
            Status.SUPERSEDED,
            Unindex(row(status="superseded")),
        ),
        (Promoted(trust=admitted().trust), Status.ACTIVE, None),
        (Expired(expired_at=NOW), Status.EXPIRED, Unindex(row(status="expired"))),
        *(
            (Expired(expired_at=NOW), end, Unindex(row(status=end.value)))
            for end in (Status.REJECTED, Status.REVOKED)
        ),
        (Expired(expired_at=NOW), Status.SUPERSEDED, Unindex(row(status="superseded"))),
        (SubjectForgotten(), Status.ACTIVE, UnindexSubject("acme", "customer-7")),
        (ErasureBegun(), Status.ACTIVE, UnindexSubject("acme", "customer-7")),
    ],
)
def test_words_are_found_exactly_while_a_memory_lives_or_waits(
    data: EventData, status: Status, expected: SearchChange | None
) -> None:
    """SPEC R1, L6, T2: what ended has no words left; what stands again has its own; what waits keeps them."""
    assert expected == search_change(event(data), row(status=status.value))


def test_without_a_row_or_a_secret_there_is_nothing_to_index() -> None:
    """SPEC F7: a rebuild after an erasure finds no words."""
    assert search_change(event(admitted(), secret=None), row()) is None
    assert search_change(event(admitted()), None) is None
    assert search_change(event(SubjectForgotten()), None) == UnindexSubject("acme", "customer-7")
    assert indexed_text(event(admitted(), secret=None)) is None
    assert indexed_text(event(Promoted(trust=admitted().trust))) is None


def test_what_is_indexed_is_content_claim_source_and_the_day_it_was_seen() -> None:
    """SPEC R2: what a question may ask by; neither the key nor the source's address."""
    seen = datetime(2026, 2, 3, tzinfo=UTC)
    bare = replace(SECRET, claim=None)
    own = [CONTENT, CLAIM.entity, CLAIM.attribute, CLAIM.value]
    whole = [*own, admitted().source_id, "3 February 2026 2026-02-03"]

    assert indexed_text(event(admitted(observed_at=seen))) == "\n".join(whole)
    assert indexed_text(event(admitted(), secret=bare)) == f"{CONTENT}\n{admitted().source_id}"
    assert meant_text(event(admitted(observed_at=seen))) == "\n".join(own)
    assert meant_text(event(admitted(), secret=bare)) == CONTENT


@MODEST
@given(value=st.datetimes(timezones=st.just(UTC)))
def test_a_time_comes_back_from_a_row_to_the_microsecond(value: datetime) -> None:
    """SPEC E1: nothing is rounded on the way into a view."""
    assert from_microseconds(microseconds(value)) == value


@MODEST
@given(first=st.datetimes(timezones=st.timezones()), second=st.datetimes(timezones=st.just(UTC)))
def test_times_in_rows_have_the_order_of_time_whatever_their_zone(first: datetime, second: datetime) -> None:
    """SPEC L11: expiry is compared as numbers."""
    assert (microseconds(first) < microseconds(second)) == (first < second)


@MODEST
@given(
    roles=st.frozensets(st.sampled_from(Role), min_size=1),
    agents=st.none() | st.frozensets(st.text(max_size=5), max_size=4),
    sources=st.none() | st.frozensets(st.sampled_from(SourceType)),
    driven=st.booleans(),
)
def test_grants_come_back_as_they_were_and_always_with_the_same_text(
    roles: frozenset[Role],
    agents: frozenset[str] | None,
    sources: frozenset[SourceType] | None,
    *,
    driven: bool,
) -> None:
    """SPEC A2, E1: no grants and no narrowing are not the same thing."""
    printable = frozenset(name for name in agents if name.isprintable()) if agents is not None else None
    grants = Grants(roles=roles, agents=printable, source_types=sources, model_driven=driven)

    assert decode_grants(encode_grants(grants)) == grants
    assert encode_grants(grants) == encode_grants(decode_grants(encode_grants(grants)))
