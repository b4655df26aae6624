"""`tenure config` and `tenure version`: what is in force, and what this is."""

import platform
from importlib.metadata import version as version_of

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import columns, say


def config(
    *, data: options.Data = None, database_url: options.DatabaseUrl = None, as_json: options.Json = False
) -> None:
    """Print what is in force.

    Says for each setting where its value came from; secrets are masked.
    """
    explained = options.loaded(data, database_url).explain()
    rows = [(each.name, each.value, each.origin) for each in explained]
    say(
        {"settings": [each._asdict() for each in explained]},
        columns(("setting", "value", "from"), rows),
        as_json=as_json,
    )


def version(*, as_json: options.Json = False) -> None:
    """Print the version."""
    found = {"version": version_of("tenure"), "python": platform.python_version()}
    say(found, [f"tenure {found['version']} (Python {found['python']})"], as_json=as_json)
