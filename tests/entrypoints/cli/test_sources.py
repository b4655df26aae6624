"""`tenure source`: what a source has touched, and revoking all that came from it (SPEC I1, I2)."""

from uuid import UUID

import pytest
from tests.entrypoints.cli.commands import Serving, ran
from tests.entrypoints.cli.customers import STORE, SUBJECT, customer, recalled, talk

from tenure import Tenure
from tenure.usecases.retrieval import ToolCall

CRM = ("--tenant", "acme", "--type", "application", "--id", "crm-1")


def used(memory_id: UUID) -> None:
    """A recall of the memory, a response that used it, and a tool call that followed."""
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", SUBJECT)
        found = bot.recall("Lane?")
        call = ToolCall(id="call-1", name="send_parcel")
        bot.used(found, response_id="r-1", memory_ids=[memory_id], tool_calls=[call])


def test_what_a_source_has_touched_is_a_table_or_json() -> None:
    """SPEC I2: from the memory to the tool call."""
    memory_id = customer()
    used(memory_id)

    table = ran("source", "impact", *CRM)
    whole = ran("source", "impact", "--tenant", "acme", "--id", "crm-1", "--json")

    assert (table.code, table.err) == (0, "")
    lines = dict(line.split("  ", 1) for line in table.out.splitlines())
    assert lines["touched"].split() == ["how", "many", "which"]
    assert lines["memories"].split() == ["1", str(memory_id)]
    assert lines["tool calls"].split() == ["1", "send_parcel", "call-1"]
    assert lines["displaced"].split() == ["0"]
    assert whole.json["memories"] == [str(memory_id)]
    assert (whole.json["counts"]["recalls"], whole.json["responses"]) == (2, ["r-1"])


def test_a_source_is_revoked_and_again_says_so() -> None:
    """SPEC I1: out of every read; how long it took counts from detection."""
    customer()
    revoke = ("source", "revoke", *CRM, "--reason", "case 17")

    first = ran(*revoke, "--detected-at", "2026-01-31T09:30:00")
    again = ran(*revoke, "--json")

    assert first.code == 0, first.err
    assert first.out.splitlines()[0] == "the source is revoked: 1 memory withdrawn, by event 3"
    assert "from detection until no read found any of it" in first.out.splitlines()[1]
    assert (again.json["status"], again.json["revoked"]) == ("already_revoked", 0)
    assert ran(*revoke).out.startswith(
        "the source was revoked before, at event 3; nothing new came from it\n"
    )
    assert recalled() == []


def test_long_lists_are_cut_for_a_person_and_counted() -> None:
    """SPEC I2: more than fit are said to be more."""
    customer()
    with Tenure.open(STORE) as store:
        bot = store.session("acme", "support", "support", SUBJECT)
        for _ in range(7):
            bot.recall("Lane?")

    recalls = next(line for line in ran("source", "impact", *CRM).out.splitlines() if "recalls" in line)

    assert recalls.split()[1] == "8"
    assert recalls.endswith(" and 3 more")
    assert ran("source", "impact", *CRM, "--limit", "2", "--json").json["truncated"] is True


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("source", "impact", "--tenant", "nobody", "--id", "x"), 1),
        (("source", "impact", "--tenant", "acme", "--id", "x", "--type", "e-mail"), 2),
        (("source", "impact", "--tenant", "acme", "--id", "x", "--limit", "0"), 2),
        (("source", "impact", "--tenant", "acme"), 2),
        (("source", "revoke", "--tenant", "acme", "--id", "x"), 2),
        (("source", "revoke", "--tenant", "acme", "--id", "x", "--reason", " "), 2),
        (("source", "revoke", "--tenant", "acme", "--id", "x", "--reason", "x", "--detected-at", "soon"), 2),
        (("source", "revoke", "--tenant", "acme", "--id", "x", "--reason", "x", "--limit", "0"), 2),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: tuple[str, ...], code: int) -> None:
    """SPEC S2: a slip of the hand revokes nothing."""
    customer()

    refused = ran(*arguments)

    assert (refused.code, refused.out) == (code, "")
    assert len(recalled()) == 1


def test_a_running_server_does_the_same(served: Serving) -> None:
    """SPEC S1: the command reaches the server that runs on the store."""
    talk(served.folder, "sources", SUBJECT)
    named = ("--tenant", "sources", "--data", served.folder)

    impact = ran("source", "impact", *named, "--type", "connector", "--id", "local:import", "--json").json
    done = ran(
        "source", "revoke", *named, "--type", "connector", "--id", "local:import", "--reason", "x", "--json"
    )

    assert (impact["counts"]["memories"], done.json["revoked"]) == (2, 2)
    assert done.json["impact"] == impact
