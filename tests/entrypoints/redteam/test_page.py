"""The page about the red team lists what ships, and its example plays as printed."""

import re
from pathlib import Path
from typing import Final

from tenure.entrypoints.redteam import script, table

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "capabilities" / "redteam.md"


def test_every_shipped_scenario_is_on_the_page() -> None:
    """SPEC S1: number, class and attack, as the table prints them."""
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert [(int(number), kind, attack) for number, kind, attack in rows] == [
        (one.number, one.kind, one.attack) for one in table.shipped()
    ]


def test_the_example_of_the_page_holds() -> None:
    """SPEC S1: whoever starts from it starts from something that works."""
    example = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]

    (row,) = table.played([script.parse(example, name="example.toml")])

    assert row.holds
    assert row.stopped_at == ("admission", "tool guard")


def test_every_step_and_everything_forbidden_is_on_the_page() -> None:
    """SPEC S1: nothing that a file may say is left to be guessed."""
    page = PAGE.read_text(encoding="utf-8")
    words = [
        str(part.__struct_config__.tag) for part in (*script.AnyStep.__args__, *script.Forbidden.__args__)
    ]

    assert len(words) == 24
    assert [word for word in words if f"`{word}`" not in page] == []
