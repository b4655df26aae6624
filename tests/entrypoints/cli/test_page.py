"""docs/cli.md has each command, and nothing that is not one."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from tenure.core.identity import Role, SourceType
from tenure.entrypoints.cli.main import app

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")


def commands() -> dict[str, list[str]]:
    """Every command as it is typed, with its long options."""
    found: dict[str, list[str]] = {}
    waiting = [("tenure", get_command(app))]
    while waiting:
        name, command = waiting.pop()
        inner = getattr(command, "commands", None)
        if inner is None:
            found[name] = [
                option for each in command.params for option in each.opts if option.startswith("--")
            ]
        else:
            waiting += [(f"{name} {word}", each) for word, each in inner.items()]
    return found


def test_every_command_has_its_heading_and_an_example() -> None:
    """SPEC S1: documentation and shape are tests."""
    headings = re.findall(r"^## `(tenure [a-z -]+)`$", PAGE, re.MULTILINE)
    examples = set(re.findall(r"^\$ (tenure(?: [a-z][a-z-]*)+)", PAGE, re.MULTILINE))

    assert sorted(headings) == sorted(commands())
    assert {name for name in headings if not any(each.startswith(name) for each in examples)} == set()


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_option_is_on_the_page_and_every_command_takes_json(name: str) -> None:
    """SPEC S1: one flag means the same everywhere."""
    options = commands()[name]

    assert "--json" in options
    assert [option for option in options if f"`{option}" not in PAGE and f" {option}" not in PAGE] == []


@pytest.mark.parametrize("word", [*Role, *SourceType])
def test_every_role_and_source_type_is_on_the_page(word: str) -> None:
    """SPEC A3, A4: what can be granted can be looked up."""
    assert f"`{word}`" in PAGE
