"""Deciding that a source is not believed any more."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from tests.core.examples import LATER, NOW, REVIEWER, event, id_of, moment
from tests.core.projected import row

from tenure.core.errors import InvalidRequest
from tenure.core.events import Revoked, Secret
from tenure.core.identity import SourceType
from tenure.core.incident_events import SourceRevocationFinished, SourceRevoked
from tenure.core.incidents import (
    LISTED_MAX,
    Revocation,
    RevokeSource,
    SourceFacts,
    Withdrawn,
    check_listed,
    check_revoke_source,
    check_source_named,
    finished,
    revoke_source,
    seconds_until,
    withdrawal,
)
from tenure.core.rows import REVOKING, RevokedSourceRow

COMMAND = RevokeSource(source_type="email", source_id="mail-9", reason="phished", detected_at=NOW)
LAST = RevokedSourceRow("acme", 7, "email", "mail-9", 0, 9)
BEGUN = event(
    SourceRevoked(source_type="email", source_id="mail-9", reason="phished"),
    actor="operator-1",
    stream=None,
    version=None,
    subject=None,
    secret=None,
)


@pytest.mark.parametrize(
    ("last", "standing", "status", "events"),
    [
        (None, 3, Revocation.REVOKED, 1),
        (None, 0, Revocation.REVOKED, 1),
        (LAST, 2, Revocation.REVOKED, 1),
        (LAST, 0, Revocation.ALREADY_REVOKED, 0),
    ],
    ids=["first", "nothing known of it yet", "something stands again", "again"],
)
def test_a_source_is_revoked_once_unless_something_of_it_stands(
    last: RevokedSourceRow | None, standing: int, status: Revocation, events: int
) -> None:
    """SPEC I1: one event revokes it, a source that wrote nothing too; the same again writes nothing."""
    facts = SourceFacts(last=last, standing=standing)

    decided = revoke_source(COMMAND, facts, REVIEWER, moment(now=LATER))

    assert (decided.answer.status, decided.answer.revoked, len(decided.events)) == (status, standing, events)


def test_the_event_says_who_what_when_and_why() -> None:
    """SPEC I1, L12: and belongs to no subject, so that its reason stands in the open."""
    (said,) = revoke_source(COMMAND, SourceFacts(last=None, standing=1), REVIEWER, moment(now=LATER)).events

    assert said.data == SourceRevoked(
        source_type="email", source_id="mail-9", reason="phished", detected_at=NOW
    )
    assert (said.actor, said.at, said.stream, said.subject, said.secret) == (
        REVIEWER.id,
        LATER,
        None,
        None,
        None,
    )


def test_a_revocation_that_stands_is_named_by_its_place() -> None:
    """SPEC I1: whoever asks again learns which event it was."""
    answer = revoke_source(COMMAND, SourceFacts(last=LAST, standing=0), REVIEWER, moment()).answer

    assert answer == Withdrawn(status=Revocation.ALREADY_REVOKED, revoked=0, revoked_seq=7)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source_id": ""}, "id"),
        ({"source_id": " mail"}, "id"),
        ({"source_id": "x" * 501}, "id"),
        ({"source_id": "two\nlines"}, "id"),
        ({"source_type": "e-mail"}, "type"),
        ({"source_type": ""}, "type"),
        ({"reason": ""}, "reason"),
        ({"reason": "  "}, "reason"),
        ({"reason": "two\nlines"}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"detected_at": NOW + timedelta(minutes=6)}, "detected_at"),
        ({"detected_at": datetime(2026, 3, 1, 11, 0)}, "detected_at"),  # noqa: DTZ001 -- the point of it
    ],
)
def test_a_wish_that_is_not_well_formed_is_refused_by_field(change: dict[str, Any], field: str) -> None:
    """SPEC S2: nothing is written, and the field is named."""
    with pytest.raises(InvalidRequest) as refusal:
        check_revoke_source(replace(COMMAND, **change), NOW)

    assert refusal.value.field == field


@pytest.mark.parametrize("source_type", [*(str(one) for one in SourceType), "connector", None])
def test_every_source_type_a_connector_or_all_types_can_be_named(source_type: str | None) -> None:
    """SPEC I1, M4: message, document, connector or tool."""
    check_source_named(source_type, "x" * 500)
    check_revoke_source(replace(COMMAND, source_type=source_type, reason="x" * 500, detected_at=None), NOW)


@pytest.mark.parametrize("limit", [0, -1, LISTED_MAX + 1])
def test_a_list_has_a_limit(limit: int) -> None:
    """SPEC S2: there is a limit on everything."""
    with pytest.raises(InvalidRequest):
        check_listed(limit)
    assert (check_listed(1), check_listed(LISTED_MAX)) == (1, LISTED_MAX)


def test_the_own_event_of_a_memory_says_because_of_which_revocation() -> None:
    """SPEC L12, L8: at its next version, by whoever revoked the source, with the sealed reason."""
    own = withdrawal(row(status=REVOKING), BEGUN, 12, "phished", LATER)

    assert own.data == Revoked(because_of=12)
    assert (own.stream, own.version, own.subject) == (id_of(1), 2, "customer-7")
    assert (own.actor, own.at, own.secret) == ("operator-1", LATER, Secret(reason="phished"))


def test_the_last_event_is_of_whoever_revoked_the_source() -> None:
    """SPEC I1, S4: counts and how long it took."""
    done = SourceRevocationFinished(seq=12, revoked=3, seconds=1.5)

    last = finished(BEGUN, done, LATER)

    assert (last.data, last.actor, last.at, last.subject) == (done, "operator-1", LATER, None)


@pytest.mark.parametrize(
    ("detected_at", "seconds"),
    [(None, 2.0), (NOW - timedelta(minutes=1), 62.0), (NOW + timedelta(minutes=1), 0.0)],
    ids=["from the call", "from detection", "a clock that is ahead"],
)
def test_time_to_revocation_counts_from_detection_where_that_is_known(
    detected_at: datetime | None, seconds: float
) -> None:
    """SPEC S4: detection to revocation, never negative."""
    held_at = NOW + timedelta(seconds=2)

    assert seconds_until(held_at, called_at=NOW, detected_at=detected_at) == seconds
