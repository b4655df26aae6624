"""SQL as named, described text: ``-- name: what`` then ``-- description`` lines, then one statement."""

from importlib.resources import files
from typing import Final

_NAME: Final = "-- name: "


class UnnamedQuery(ValueError):
    """A query file has a statement without a name or a description."""


def load_queries(package: str, file: str = "queries.sql") -> dict[str, str]:
    """Every statement of a package's query file, by its name."""
    queries: dict[str, str] = {}
    for block in files(package).joinpath(file).read_text(encoding="utf-8").split(_NAME)[1:]:
        name, _, rest = block.partition("\n")
        lines = rest.splitlines()
        described = [line for line in lines if line.startswith("--")]
        statement = (
            "\n".join(line for line in lines if line and not line.startswith("--")).strip().rstrip(";")
        )
        if not described or not statement or name in queries:
            raise UnnamedQuery(f"query {name!r} needs a name of its own, a description and a statement")
        queries[name.strip()] = statement
    return queries
