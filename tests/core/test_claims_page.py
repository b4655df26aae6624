"""The page about claims is true: each of its examples is read as it says."""

import re
from pathlib import Path

import pytest

from tenure.core.claim_differences import Apart
from tenure.core.claim_values import ValueType, differs, normalised
from tenure.core.claims import FOUND_MAX, READ_CHARACTERS_MAX, extracted

PAGE = (Path(__file__).parents[2] / "docs" / "capabilities" / "claims.md").read_text(encoding="utf-8")


def rows(head: str) -> list[list[str]]:
    """The rows of the table that begins with this head."""
    body = PAGE.split(f"\n{head}\n", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in body.splitlines()[1:]]


VALUES = rows("| One | Other | Attribute | Differ |")
GIVEN = rows("| Content | Entity | Attribute | Value | Type | Of these |")
NONE = rows("| Content | Why |")


@pytest.mark.parametrize(("one", "other", "attribute", "expected"), VALUES)
def test_values_differ_as_the_page_says(one: str, other: str, attribute: str, expected: str) -> None:
    """SPEC T3: the documented comparisons hold."""
    mine, theirs = (normalised(value.strip("`"), attribute=attribute) for value in (one, other))

    assert differs(mine, theirs).value == expected


@pytest.mark.parametrize(("content", "entity", "attribute", "value", "kind", "sort"), GIVEN)
def test_contents_give_the_claims_that_the_page_says(
    content: str, entity: str, attribute: str, value: str, kind: str, sort: str
) -> None:
    """SPEC T3: the documented grammar is the one that reads."""
    (found,) = extracted(content)

    said = f"{found.value.text} {found.value.unit}".strip()
    how = "denied" if found.negated else "one" if found.is_single else "many"
    assert [found.entity, found.attribute, said, found.value.type.value, how] == [
        entity, attribute, value, kind, sort,
    ]  # fmt: skip


@pytest.mark.parametrize(("content", "why"), NONE)
def test_what_the_page_says_gives_none_gives_none(content: str, why: str) -> None:
    """SPEC T3: unsure means none."""
    assert why
    assert extracted(content) == ()


def test_the_page_has_every_type_limit_and_reason() -> None:
    """SPEC T3: nothing that a caller may meet is undocumented."""
    words = set(re.findall(r"`([a-z]+)`", PAGE))

    assert set(ValueType) <= words
    assert {reason.value for reason in Apart} <= words
    assert f"{READ_CHARACTERS_MAX:,} characters" in PAGE
    assert f"more than {FOUND_MAX} claims" in PAGE
