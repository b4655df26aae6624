"""The page about the life cycle shows the table that the code obeys."""

from pathlib import Path

from tests.core.lifecycle_diagram import diagram

PAGE = Path(__file__).resolve().parents[2] / "docs" / "capabilities" / "lifecycle.md"


def test_the_picture_in_the_documentation_is_drawn_from_the_table() -> None:
    """SPEC M6: the documentation's diagram is made from the life-cycle table."""
    page = PAGE.read_text(encoding="utf-8")

    assert page.count("```mermaid") == 1
    assert diagram() in page


def test_the_picture_has_an_arrow_for_each_step_and_shows_the_end() -> None:
    """SPEC M6: what begins as proposed may end as erased, and as nothing else."""
    drawn = diagram().splitlines()

    assert "    [*] --> proposed" in drawn
    assert "    quarantined --> active: promote" in drawn
    assert [line for line in drawn if line.endswith("--> [*]")] == ["    erased --> [*]"]
    assert len(drawn) == len(set(drawn))
