"""What two memories are compared by."""

from datetime import timedelta

from tests.core.examples import CLAIM, CONTENT, NOW, id_of, memory, source
from tests.core.said import said

from tenure.core.identity import SourceType
from tenure.core.statements import as_found, statement_of
from tenure.core.validity import Interval
from tenure.core.vocabulary import Claim, Origin, Trust

DAY = timedelta(days=1)


def test_a_memory_becomes_a_statement_with_all_that_speaks_for_it() -> None:
    """SPEC M5a: its own source is among its roots, beside those of what it was made from."""
    root = Origin(type=SourceType.EMAIL, id="mail-1")
    made = memory(origins=(root,), derived_from=(id_of(3),), valid_from=NOW, source=source(thread="t"))

    statement = statement_of(made)

    assert (statement.content, statement.claims[:1], statement.thread) == (CONTENT, (as_found(CLAIM),), "t")
    assert statement.origins == (Origin(type=SourceType.DIRECT_USER, id="message-1"), root)
    assert (statement.valid, statement.derived_from) == (Interval(start=NOW), (id_of(3),))
    assert statement_of(memory(content=None)).content == ""


def test_a_source_can_date_itself_back_and_never_ahead() -> None:
    """SPEC M5: a date of the writer's own making wins no argument."""
    assert statement_of(memory(source=source(observed_at=NOW - DAY))).said_at == NOW - DAY
    assert statement_of(memory(source=source(observed_at=NOW + DAY))).said_at == NOW
    assert statement_of(memory()).said_at == NOW


def test_statements_stand_by_trust_then_time_then_id() -> None:
    """SPEC T3: the rule for ties is the id, so that there are none."""
    first = said(1, trust=Trust.REVIEWER_VERIFIED, said_at=NOW - DAY)
    later = said(2, said_at=NOW)
    ranked = [said(1), said(2), said(1, said_at=NOW + DAY), first]

    assert sorted((*ranked[2:], *ranked[:2]), key=lambda one: one.standing) == ranked
    assert first.standing > later.standing


def test_what_a_claim_is_about_has_no_case() -> None:
    """SPEC T3: "Proxy" and "proxy" are one thing."""
    one = as_found(Claim(entity="Shop Proxy", attribute="Software", value="nginx"))

    assert one == as_found(Claim(entity="shop proxy", attribute="software", value="nginx"))
