"""SQL is named, described text: a file that is not is refused when the program starts."""

from pathlib import Path
from typing import Any

import pytest

from tenure.stores import queries
from tenure.stores.queries import UnnamedQuery, load_queries


def loaded(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is read from a query file with this text."""
    (folder / "queries.sql").write_text(text, encoding="utf-8")

    def here(_package: str) -> Any:
        return folder

    monkeypatch.setattr(queries, "files", here)
    return load_queries("anywhere")


def test_each_statement_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S5: the same names in every engine, each with what it is for."""
    text = (
        "-- heading\n-- name: one\n-- The first.\nSELECT 1;\n\n-- name: two\n-- The second.\nSELECT\n  2;\n"
    )

    assert loaded(text, tmp_path, monkeypatch) == {"one": "SELECT 1", "two": "SELECT\n  2"}


@pytest.mark.parametrize(
    "text",
    [
        "-- name: one\nSELECT 1;\n",
        "-- name: one\n-- The first.\n",
        "-- name: one\n-- The first.\nSELECT 1;\n-- name: one\n-- Again.\nSELECT 2;\n",
    ],
    ids=["no description", "no statement", "a name twice"],
)
def test_a_statement_without_a_name_of_its_own_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S3: what is wrong shows at the start, not at the first use."""
    with pytest.raises(UnnamedQuery):
        loaded(text, tmp_path, monkeypatch)
