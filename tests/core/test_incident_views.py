"""What incidents leave in the views: where memories came from, who saw them, what is revoked."""

import pytest
from msgspec.structs import replace
from tests.core.examples import FINGERPRINT, NOW, admitted, event, id_of, revised
from tests.core.projected import AT, row, row_after

from tenure.core.events import EventData, Expired, Promoted, Recalled, Revoked
from tenure.core.incident_events import (
    CalledTool,
    Held,
    Influenced,
    PolicyReevaluated,
    PolicySwitched,
    SourceRevocationFinished,
    SourceRevoked,
)
from tenure.core.rows import (
    DERIVED,
    REVOKING,
    SUPERSEDES,
    Change,
    DerivationRow,
    EndExamination,
    EndRevocation,
    FloorRow,
    PolicyRow,
    ProvenanceRow,
    Put,
    RevokedSourceRow,
    ShownRow,
    UsedRow,
    Withdraw,
)
from tenure.core.views import NO_SUBJECT, project, source_target
from tenure.core.vocabulary import Status, Trust

PROVENANCE = ProvenanceRow(
    "acme", "message-1", "direct_user", id_of(1), 11, "caller-1", "support", "service", "customer-7"
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            Recalled(
                agent="support",
                purpose="service",
                query_fingerprint=FINGERPRINT,
                memory_ids=(id_of(1), id_of(2)),
                limit=10,
            ),
            (Put(ShownRow("acme", id_of(1), 12)), Put(ShownRow("acme", id_of(2), 12))),
        ),
        (
            Influenced(
                response_id="response-1",
                used_memory_ids=(id_of(1), id_of(2)),
                tool_calls=(CalledTool(id="call-1", name="send_mail"), CalledTool(id="call-2", name="pay")),
            ),
            (Put(UsedRow("acme", id_of(1), 12, 2)), Put(UsedRow("acme", id_of(2), 12, 2))),
        ),
        (Influenced(response_id="response-1", used_memory_ids=()), ()),
        (SourceRevocationFinished(seq=9, revoked=3, seconds=1.5), (EndRevocation("acme", 9, 12),)),
        (
            PolicySwitched(version="strict-2", digest="ab12"),
            (Put(PolicyRow("acme", 12, "strict-2", "ab12", 0)),),
        ),
        (
            PolicyReevaluated(seq=9, version="strict-2", examined=100, held=4),
            (EndExamination("acme", 9, 12),),
        ),
    ],
)
def test_receipts_reports_and_switches_change_whole_rows(
    data: EventData, expected: tuple[Change, ...]
) -> None:
    """SPEC E1, I2, I4: who was shown what, and what is under way, are functions of the log alone."""
    assert expected == project(event(data), 12, None)


@pytest.mark.parametrize("source_type", ["email", "connector", None])
def test_a_revoked_source_takes_effect_at_once_and_lays_a_floor(source_type: str | None) -> None:
    """SPEC I1: all that came from it is withdrawn, and what was decided before it is decided again."""
    revoked = SourceRevoked(source_type=source_type, source_id="message-9", reason="phished")

    floor, row_of_source, withdrawn = project(event(revoked), 12, None)

    target = source_target(source_type, "message-9")
    assert floor == Put(FloorRow("acme", NO_SUBJECT, "source", target, 12, AT))
    assert row_of_source == Put(RevokedSourceRow("acme", 12, source_type or "", "message-9", AT, 0))
    assert withdrawn == Withdraw("acme", source_type, "message-9")


def test_a_source_is_known_by_its_type_and_id_together() -> None:
    """SPEC I1: revoking a document says nothing of the e-mail of the same id."""
    targets = [source_target(type_, id_) for type_ in ("email", "web", None) for id_ in ("a", "b")]

    assert len(set(targets)) == 6


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.QUARANTINED])
def test_a_withdrawn_memory_can_only_be_revoked(status: Status) -> None:
    """SPEC I1: between its source's revocation and its own event, nothing else may happen to it."""
    withdrawn = row(status=REVOKING)

    assert row_after(event(Revoked(because_of=12), version=2), 13, withdrawn).status == Status.REVOKED
    assert row_after(event(Revoked(), version=2), 13, row(status=status.value)).status == Status.REVOKED
    for data in (Promoted(trust=Trust.REVIEWER_VERIFIED), Expired(expired_at=NOW), revised()):
        with pytest.raises(ValueError, match="event 13 changes a memory whose source was revoked"):
            project(event(data, version=2), 13, withdrawn)


def test_a_memory_that_a_later_policy_holds_back_is_quarantined_in_the_view() -> None:
    """SPEC I4: no read finds it until somebody authorised decides."""
    held = Held(rule="external_source", reason="text from outside waits", policy_version="strict-2")

    assert row_after(event(held, version=2), 12, row()) == row(status="quarantined", version=2)


def test_what_a_memory_took_the_place_of_is_an_edge_of_another_kind() -> None:
    """SPEC L10, I1: a correction is not made from what it corrects, unless it says so."""
    _, _, *edges = project(event(admitted(supersedes=id_of(2))), 11, None)
    _, _, *both = project(event(admitted(supersedes=id_of(2), derived_from=(id_of(2),))), 11, None)

    assert edges == [Put(DerivationRow("acme", id_of(2), id_of(1), "customer-7", SUPERSEDES))]
    assert both == [Put(DerivationRow("acme", id_of(2), id_of(1), "customer-7", DERIVED))]


def test_every_source_that_a_memory_had_text_from_is_a_row() -> None:
    """SPEC I1: a revision adds its source, and the memory's first source stays."""
    _, born = project(event(admitted()), 11, None)
    _, again = project(event(revised(), version=2, actor="caller-2"), 19, row())

    assert born == Put(PROVENANCE)
    assert again == Put(replace(PROVENANCE, source_id="message-2", seq=19, actor="caller-2"))
