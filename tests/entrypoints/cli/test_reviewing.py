"""`tenure review statistics`: how reviewers decide (SPEC L7)."""

from tests.entrypoints.cli.commands import ran
from tests.entrypoints.cli.customers import STORE, SUBJECT, customer

from tenure import Source, Tenure

STATISTICS = ("review", "statistics", "--tenant", "acme")


def reviewed() -> None:
    """Two claims of a mail: one is let in and revoked later, one is turned down."""
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", SUBJECT)
        ann = store.session("acme", "support", "support", roles=("reviewer",), name="ann")
        olga = store.session("acme", roles=("operator",), name="olga")
        for text in ("Pays by invoice", "Pays at once"):
            bot.remember(text, kind="fact", source=Source.email("mail-1"))
        one, two = (waiting.memory for waiting in ann.review().items)
        ann.promote(one.id, expected_version=1, reason="checked")
        ann.reject(two.id, expected_version=1, reason="spam")
        olga.revoke_source("mail-1", reason="phished")


def test_what_each_reviewer_decided_is_a_table_or_json() -> None:
    """SPEC L7, L12: with the share of yeses that were revoked later."""
    reviewed()

    table, whole = ran(*STATISTICS), ran(*STATISTICS, "--json")

    assert (table.code, table.err) == (0, "")
    header, row = table.out.splitlines()
    assert header.startswith("reviewer")
    assert row.split("  ")[0] == "embedded:ann"
    assert "1 (100%)" in row
    (told,) = whole.json["reviewers"]
    assert (told["promoted"], told["rejected"], told["revoked_later"]) == (1, 1, 1)


def test_nothing_decided_is_said_in_words() -> None:
    """SPEC S1: an empty table says nothing."""
    customer()

    assert ran(*STATISTICS, "--since", "2026-01-31").out == (
        "Nobody decided on anything since 2026-01-31 00:00 UTC.\n"
    )


def test_a_tenant_or_time_that_is_not_there_is_refused() -> None:
    """SPEC S2: a slip is told from a quiet month."""
    customer()

    unknown = ran("review", "statistics", "--tenant", "acne")
    later = ran(*STATISTICS, "--since", "2999-01-01")

    assert (unknown.code, "no such tenant" in unknown.err) == (1, True)
    assert (later.code, "lies in the future" in later.err) == (2, True)
