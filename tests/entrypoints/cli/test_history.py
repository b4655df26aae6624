"""`tenure history`: the story of one memory in lines (SPEC L2)."""

import pytest
from tests.entrypoints.cli.commands import ran
from tests.entrypoints.cli.customers import ADDRESS, customer


@pytest.mark.parametrize("options", [(), ("--tenant", "acme")], ids=["any tenant", "named tenant"])
def test_a_story_is_told_line_by_line_without_what_the_memory_said(options: tuple[str, ...]) -> None:
    """SPEC L2, E6: who, what, by which rule; the tenant may be left out."""
    memory_id = customer()

    told = ran("history", str(memory_id), *options)
    said = ran("history", str(memory_id), *options, "--json").json

    assert told.code == 0
    [line] = told.out.splitlines()
    [item] = said["items"]
    assert line.endswith(f"v1   {item['text']}")
    assert "wrote it from application crm-1: let in by rule" in line
    assert ADDRESS not in told.out
    assert item["content"] == ADDRESS


@pytest.mark.parametrize("options", [(), ("--tenant", "acme"), ("--tenant", "nobody")], ids=str)
def test_a_memory_that_is_not_there_is_said_not_to_be(options: tuple[str, ...]) -> None:
    """SPEC S2: a slip of the hand makes nothing."""
    customer()

    told = ran("history", "00000000-0000-0000-0000-000000000009", *options, "--json")

    assert (told.code, told.json["type"].rpartition("/")[2]) == (1, "not-found")
