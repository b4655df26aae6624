"""The probers that an operator's settings ask for: one for each kind that a rule names, and no other.

    [project.entry-points."tenure.probers"]
    house-flags = "acme_tenure:HouseFlags"

A prober of an installed package takes the place of the one that is here for the same kind, once it is named.
It answers for what it reaches: the checks of addresses, roots and redirects are those of the probers here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from tenure.core.probe_rules import probe_rule
from tenure.core.probing import TargetKind
from tenure.engines.probing.dns import DnsProber
from tenure.engines.probing.files import FileProber
from tenure.engines.probing.flags import open_feature
from tenure.engines.probing.http import HttpProber
from tenure.engines.probing.reaching import Reach
from tenure.engines.probing.tcp import TcpProber
from tenure.usecases.probing_ports import Prober

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PROBERS: Final = "tenure.probers"


class BadProber(Exception):
    """A prober that was named cannot be used; the text says which and why."""


class Chosen(Protocol):
    """What may be looked at and by what, as the settings have it."""

    @property
    def allow(self) -> tuple[str, ...]:
        """The rules."""

    @property
    def open_networks(self) -> tuple[str, ...]:
        """Private networks that may be reached."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders in which files may be looked for."""

    @property
    def plugins(self) -> tuple[str, ...]:
        """Probers of installed packages."""


def probers(chosen: Chosen) -> list[Prober]:
    """A prober for each kind that is allowed to anybody. Raises BadProber and MissingFlags."""
    kinds = {probe_rule(text).kind for text in chosen.allow}
    plugged = _plugged(chosen.plugins)
    reach = Reach(opened=chosen.open_networks)
    return [plugged.get(kind) or _own(kind, reach, chosen) for kind in TargetKind if kind in kinds]


def _own(kind: TargetKind, reach: Reach, chosen: Chosen) -> Prober:
    match kind:
        case TargetKind.URL:
            return HttpProber(reach)
        case TargetKind.ENDPOINT:
            return TcpProber(reach)
        case TargetKind.DNS_NAME:
            return DnsProber(reach)
        case TargetKind.PATH:
            return FileProber(chosen.roots)
        case TargetKind.FLAG:
            return open_feature()


def _plugged(names: Sequence[str]) -> dict[TargetKind, Prober]:
    """The probers that are named, by their kinds."""
    found: dict[TargetKind, Prober] = {}
    for name in dict.fromkeys(names):
        # Loaded when needed: few stores name any.
        from importlib.metadata import entry_points  # noqa: PLC0415

        registered = {entry.value: entry for entry in entry_points(group=PROBERS, name=name)}
        if len(registered) != 1:
            many = "more than one installed package has" if registered else "no installed package has"
            raise BadProber(f"{many} {name!r} under {PROBERS}")
        for entry in registered.values():
            kind, prober = _made(entry)
            if kind in found:
                raise BadProber(f"{name!r} looks at things of the kind {kind}, as another that is named does")
            found[kind] = prober
    return found


def _made(entry: "EntryPoint") -> tuple[TargetKind, Prober]:
    """What the entry point leads to, made where it leads to a class."""
    try:
        loaded = entry.load()
        made: Prober = loaded() if isinstance(loaded, type) else loaded
        kind = TargetKind(made.kind)
        does = all(callable(getattr(made, name)) for name in ("look", "close"))
    except Exception as fault:
        raise BadProber(f"{entry.name!r} of {PROBERS} cannot be used ({type(fault).__name__})") from fault
    if not does:
        raise BadProber(f"{entry.name!r} of {PROBERS} must have look() and close()")
    return kind, made
