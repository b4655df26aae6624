"""Scanners and rules of installed packages, by their entry points; only those that an operator named.

    [project.entry-points."tenure.scanners"]
    house-rules = "acme_tenure:HouseScanner"

    [project.entry-points."tenure.rules"]
    house-rules = "acme_tenure:HouseRule"

One name may stand in both groups; naming it takes both. A package that is only installed changes nothing.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tenure.core.custom_rules import CustomRule
from tenure.core.scanning.matching import Scanner

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SCANNERS: Final = "tenure.scanners"
RULES: Final = "tenure.rules"
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class BadPlugin(Exception):
    """A plug-in that was named cannot be used; the text says which and why."""


class Plugins(NamedTuple):
    """What the named packages bring."""

    scanners: tuple[Scanner, ...] = ()
    rules: tuple[CustomRule, ...] = ()


def load(names: Sequence[str], *, taken: Sequence[str] = ()) -> Plugins:
    """Load what is named, in that order; ``taken`` are names that scanners have already."""
    scanners: list[Scanner] = []
    rules: list[CustomRule] = []
    for name in dict.fromkeys(names):
        found = _found(SCANNERS, name, "find"), _found(RULES, name, "judge")
        if found == (None, None):
            raise BadPlugin(f"no installed package has {name!r} under {SCANNERS} or {RULES}")
        scanner, rule = found
        if scanner is not None:
            if scanner.name in {*taken, *(one.name for one in scanners)}:
                raise BadPlugin(f"{name!r} calls its scanner {scanner.name}, and there is one of that name")
            scanners.append(scanner)
        if rule is not None:
            rules.append(rule)
    return Plugins(tuple(scanners), tuple(rules))


def _found(group: str, name: str, method: str) -> Any:
    """What stands under a name in a group; None where nothing does."""
    # Loaded when needed: few stores name plug-ins, and it loads a tenth of what a start does.
    from importlib.metadata import entry_points  # noqa: PLC0415

    registered = {entry.value: entry for entry in entry_points(group=group, name=name)}
    if len(registered) > 1:
        raise BadPlugin(f"more than one installed package has {name!r} under {group}")
    return next((_made(entry, method) for entry in registered.values()), None)


def _made(entry: "EntryPoint", method: str) -> Any:
    """What the entry point leads to, made where it leads to a class."""
    try:
        loaded = entry.load()
        made = loaded() if isinstance(loaded, type) else loaded
        named = made.name, made.version
        does = callable(getattr(made, method))
    except Exception as fault:
        raise BadPlugin(
            f"{entry.name!r} of {entry.group} cannot be loaded ({type(fault).__name__})"
        ) from fault
    if not does or not all(isinstance(part, str) and _PLAIN.fullmatch(part) for part in named):
        raise BadPlugin(
            f"{entry.name!r} of {entry.group} must have a name and a version of letters, digits and . _ -, "
            f"and {method}()"
        )
    return made
