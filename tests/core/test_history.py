"""The story of a memory in sentences: each says who did what, why, and by which rule (SPEC L2)."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.core.examples import NOW, admitted, event, id_of, memory, quarantined, revised

from tenure.core import events, incident_events, truth_events
from tenure.core.events import EventData
from tenure.core.history import SENTENCES, Happening, tell, who
from tenure.core.identity import SourceType
from tenure.core.memory import STEP_OF
from tenure.core.retention import UPKEEP
from tenure.core.vocabulary import Trust

KEY = "019cb0de-81ae-7a38-8bd8-07a3c2df4fc1"
RULE: dict[str, Any] = {
    "rule": "external_source",
    "reason": "text from outside waits",
    "policy_version": "default-1",
}


def told(data: EventData, **sides: Any) -> str:
    """The sentence of an event by a reviewer whose credential has a name."""
    whole: dict[str, Any] = {
        "event": replace(event(data, version=2), actor=KEY),
        "memory": memory(version=2),
        "names": {KEY: "ann"},
    }
    return tell(Happening(**(whole | sides)))


SAID: dict[type, tuple[EventData, str]] = {
    events.Admitted: (
        admitted(source_type=SourceType.APPLICATION, source_id="crm-1", supersedes=id_of(7), **RULE),
        f"ann ({KEY}) wrote it from application crm-1, in place of memory {id_of(7)}: let in by rule",
    ),
    events.Quarantined: (
        quarantined(source_type=SourceType.EMAIL, source_id="message-9", derived_from=(id_of(3),), **RULE),
        f"ann ({KEY}) wrote it from email message-9, made from another memory: held back by rule",
    ),
    events.Promoted: (
        events.Promoted(trust=Trust.REVIEWER_VERIFIED),
        f"ann ({KEY}) promoted it: checked (trust is now reviewer_verified)",
    ),
    events.Endorsed: (
        events.Endorsed(),
        f"ann ({KEY}) would let it in, and a second reviewer has to: checked",
    ),
    events.Rejected: (events.Rejected(), f"ann ({KEY}) turned it down: checked"),
    events.Superseded: (events.Superseded(by=id_of(2)), f"ann ({KEY}) put memory {id_of(2)} in its place"),
    events.Revised: (
        revised(source_type=SourceType.APPLICATION, source_id="crm-2", **RULE),
        f"ann ({KEY}) gave it version 2 from application crm-2: let in by rule external_source",
    ),
    events.Renewed: (
        events.Renewed(expires_at=NOW),
        f"ann ({KEY}) let it live until {NOW:%Y-%m-%d %H:%M} UTC: checked",
    ),
    events.Revoked: (events.Revoked(), f"ann ({KEY}) revoked it: checked"),
    events.Expired: (events.Expired(expired_at=NOW), f"its time was over at {NOW:%Y-%m-%d %H:%M} UTC"),
    events.MemoryForgotten: (
        events.MemoryForgotten(),
        f"ann ({KEY}) had it forgotten, with all that was made from it",
    ),
    incident_events.Held: (
        incident_events.Held(**RULE),
        "held back again by rule external_source of policy default-1: text from outside waits",
    ),
    truth_events.Merged: (
        truth_events.Merged(into=id_of(2), voices=3, trusted_voices=2),
        f"ann ({KEY}) had it merged into memory {id_of(2)}, which says the same and stands for both (3 ",
    ),
    truth_events.Unmerged: (
        truth_events.Unmerged(out_of=id_of(2), voices=2, trusted_voices=1, source_id="message-1"),
        f"ann ({KEY}) let it stand for itself again, apart from memory {id_of(2)}",
    ),
    truth_events.Reinstated: (
        truth_events.Reinstated(instead_of=id_of(2), source_id="message-1"),
        f"ann ({KEY}) let it stand again, whose place memory {id_of(2)} had taken",
    ),
    truth_events.ValidUntil: (
        truth_events.ValidUntil(because_of=id_of(2), valid_to=NOW),
        f"what it says holds until {NOW:%Y-%m-%d %H:%M} UTC, because of memory {id_of(2)} (by ann ({KEY}))",
    ),
    truth_events.Pruned: (
        truth_events.Pruned(because="superseded"),
        f"ann ({KEY}) took it from what is kept at hand, since it is superseded; the log has it still",
    ),
}


def test_every_event_that_moves_a_memory_has_a_sentence() -> None:
    """SPEC L2: nothing happens to a memory that its story leaves out."""
    assert set(SENTENCES) == set(STEP_OF) == set(SAID)


@pytest.mark.parametrize("kind", SAID, ids=lambda kind: kind.__name__)
def test_a_sentence_says_who_did_what_and_why(kind: type) -> None:
    """SPEC L2, L7: one line, with the rule that decided or the reason that was given."""
    data, expected = SAID[kind]

    sentence = told(data, reason="checked")

    assert sentence.startswith(expected)
    assert "\n" not in sentence


def test_a_memory_that_went_with_its_source_says_which_and_who_revoked_that() -> None:
    """SPEC I1: the person who reads it is led to the incident."""
    said = incident_events.SourceRevoked(source_type="email", source_id="message-9", reason="phished")
    because = replace(event(said, version=None), actor="ops")

    sentence = told(events.Revoked(because_of=4), because=because, reason="phished")

    assert sentence == "withdrawn with its source email message-9, which ops revoked: phished"


def test_why_a_person_let_a_memory_stand_again_is_said() -> None:
    """SPEC T2, T3: where there is a reason, and it is not withheld; upkeep has none."""
    back = truth_events.Reinstated(instead_of=id_of(2), source_id="message-1")
    parted = truth_events.Unmerged(out_of=id_of(2), voices=1, trusted_voices=1, source_id="message-1")

    for data in (back, parted):
        assert told(data, reason="looked at the host").endswith(": looked at the host")
        assert ":" not in told(data).removeprefix(f"ann ({KEY})")


def test_until_when_a_memory_holds_is_said_where_another_changed_that() -> None:
    """SPEC T3, T4: a person reads when what it says ended, and when it has no end again."""
    until = f"what it says holds until {NOW:%Y-%m-%d %H:%M} UTC"

    assert told(events.Superseded(by=id_of(2), valid_to=NOW)).endswith(f"in its place, and {until}")
    back = truth_events.Reinstated(instead_of=id_of(2), source_id="message-1", valid_to=NOW)
    assert told(back).endswith(f"had taken, and {until}")
    opened = told(truth_events.ValidUntil(because_of=id_of(2)))
    assert opened.startswith("what it says holds without an end again, because of")


def test_one_source_alone_is_not_called_many() -> None:
    """SPEC M5a: repeating oneself is no support."""
    alone = truth_events.Merged(into=id_of(2), voices=1, trusted_voices=0)

    assert told(alone).endswith("stands for both (one source says so)")


def test_a_reason_that_is_withheld_leaves_a_whole_sentence() -> None:
    """SPEC L6: nothing is quoted that was not given."""
    assert told(events.Rejected()) == f"ann ({KEY}) turned it down"


def test_a_reason_is_one_line_of_printable_text() -> None:
    """A reason may come from anywhere: no line of it stands by itself, and none steers a terminal."""
    sentence = told(events.Rejected(), reason="no\n\x1b[31m  really\u202e")

    assert sentence == f"ann ({KEY}) turned it down: no [31m really"


def test_people_are_named_by_their_credentials_and_their_ids() -> None:
    """SPEC A1: the name for the reader, the id for the audit."""
    assert who(KEY, {KEY: "ann"}) == f"ann ({KEY})"
    assert who("someone", {KEY: "ann"}) == "someone"
    assert who(UPKEEP, {}) == f"the store's own upkeep ({UPKEEP})"
