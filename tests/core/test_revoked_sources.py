"""What a revoked source may do no more."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.core.examples import LATER, RULES, WRITER, facts, id_of, memory, moment, proposal, source

from tenure.core.decision import Decided
from tenure.core.errors import MemoryRejected
from tenure.core.events import Refused
from tenure.core.identity import SourceType
from tenure.core.proposals import Revise
from tenure.core.remembering import remember, revise
from tenure.core.revoked_sources import from_revoked, write_sources
from tenure.core.rows import CONNECTOR, FloorRow
from tenure.core.views import NO_SUBJECT, source_target
from tenure.core.vocabulary import Origin, Status
from tenure.core.write_facts import WriteFacts

MAIL = source(type=SourceType.EMAIL, id="mail-9")
PARENT = replace(
    memory(),
    id=id_of(3),
    source=source(type=SourceType.WEB, id="page-1"),
    origins=(Origin(type=SourceType.TOOL, id="call-1"),),
    proposed_by="key:other",
)


def floor(source_type: str | None, source_id: str) -> FloorRow:
    """The floor of a revoked source."""
    return FloorRow("acme", NO_SUBJECT, "source", source_target(source_type, source_id), 12, 0)


def refused(command: Any, known: WriteFacts) -> tuple[str, Refused]:
    """The rule that a write was refused by, and the record that it left."""
    decided = remember(command, known, WRITER, moment(), RULES)
    assert isinstance(decided, Decided)
    assert isinstance(decided.error, MemoryRejected)
    (event,) = decided.events
    assert isinstance(event.data, Refused)
    assert event.secret is None
    return decided.error.rule, event.data


def test_a_write_is_looked_up_by_everything_that_its_text_is_from() -> None:
    """SPEC I1, M5a: its source under its type and under any, its connector, and those of its inputs."""
    asked = write_sources(MAIL, "key:mail", [PARENT])

    assert set(asked) == {
        ("source", source_target(source_type, source_id))
        for source_type, source_id in [
            ("email", "mail-9"),
            (None, "mail-9"),
            ("web", "page-1"),
            (None, "page-1"),
            ("tool", "call-1"),
            (None, "call-1"),
            (CONNECTOR, "key:mail"),
            (CONNECTOR, "key:other"),
        ]
    }
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize(
    "revoked", [floor("email", "mail-9"), floor(None, "mail-9"), floor(CONNECTOR, "caller-1")]
)
def test_a_later_write_from_a_revoked_source_is_refused(revoked: FloorRow) -> None:
    """SPEC I1, L13: whenever it was observed, with an audit record without content."""
    for observed_at in (None, LATER):
        command = proposal(source=replace(MAIL, observed_at=observed_at))

        rule, record = refused(command, facts(revoked=(revoked,)))

        assert (rule, record.rule) == ("source_revoked", "source_revoked")
        assert (record.source_type, record.source_id) == (SourceType.EMAIL, "mail-9")


def test_a_revision_by_a_revoked_source_is_refused_and_is_named() -> None:
    """SPEC I1, L13: also one that changes no text; the record names the source that tried."""
    change = Revise(expected_version=1, source=MAIL, confidence=0.1)

    decided = revise(change, memory(), facts(revoked=(floor("email", "mail-9"),)), WRITER, moment(), RULES)

    assert isinstance(decided, Decided)
    assert isinstance(decided.error, MemoryRejected)
    assert decided.error.rule == "source_revoked"
    (event,) = decided.events
    assert isinstance(event.data, Refused)
    assert event.data.source_id == "mail-9"


def test_what_is_made_from_a_revoked_memory_is_refused() -> None:
    """SPEC I1, M5a: a summary launders nothing, whoever writes it."""
    gone = replace(PARENT, status=Status.REVOKED)

    rule, _ = refused(proposal(source=MAIL), facts(parents=(memory(), gone)))

    assert rule == "derived_from_revoked"


def test_what_comes_from_elsewhere_is_not_refused() -> None:
    """SPEC I1: floors of other kinds say nothing of sources, and a standing input is no reason."""
    other = FloorRow("acme", "customer-7", "subject", "customer-7", 12, 0)

    assert from_revoked([other], [PARENT]) is None
    assert from_revoked([], []) is None
