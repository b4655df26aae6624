"""The settings of probes: what may be looked at, for how long, and where the network ends."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from tenure.config.kinds import Name

_RULES: Final = (
    "a tenant (or *), a space, and https://HOST, http://HOST:PORT/PATH/*, tcp://HOST:PORT, dns:NAME, "
    "file:/PATH/* or flag:NAME; parted by commas"
)
# A folder of its own, never the whole machine.
Root = Annotated[str, Meta(pattern=r"^(/[^/\x00]+)+/?$", max_length=1_024)]


class Probes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Looks at what stale memories name; off until something is allowed."""

    allow: Annotated[
        tuple[Name, ...],
        Meta(description="What each tenant may have looked at.", extra={"accepts": _RULES}),
    ] = ()
    open_networks: Annotated[
        tuple[Name, ...],
        Meta(
            description="Private networks that probes may reach; what clouds answer on stays closed.",
            extra={"accepts": "private networks as 10.1.0.0/16, parted by commas"},
        ),
    ] = ()
    roots: Annotated[
        tuple[Root, ...],
        Meta(
            description="Folders in which files may be looked for, where a rule allows the file.",
            extra={"accepts": "absolute paths of folders, parted by commas"},
        ),
    ] = ()
    seconds_max: Annotated[float, Meta(description="Longest look at one thing.", ge=0.05, le=60)] = 2.0
    all_seconds_max: Annotated[
        float, Meta(description="Longest wait for all that one recall looks at.", ge=0.05, le=120)
    ] = 4.0
    at_once_max: Annotated[
        int, Meta(description="Looks that a node has under way at once.", ge=1, le=256)
    ] = 16
    cache_seconds: Annotated[
        float, Meta(description="How long what was found is kept for that tenant.", ge=0, le=86_400)
    ] = 60.0

    plugins: Annotated[
        tuple[Name, ...],
        Meta(
            description="Probers of installed packages that are used.",
            extra={"accepts": "names of entry points under tenure.probers"},
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Refuse what would only be noticed at the first look."""
        if self.allow or self.open_networks:
            _check(self.allow, self.open_networks)
        if self.all_seconds_max < self.seconds_max:
            raise ValueError("all_seconds_max must be no shorter than seconds_max, or no look would begin")


def _check(allow: tuple[str, ...], open_networks: tuple[str, ...]) -> None:
    """Raise ValueError for a rule that says nothing, and for a network that may not be opened."""
    # Loaded when needed: most stores allow nothing.
    from tenure.core.probe_networks import openable  # noqa: PLC0415
    from tenure.core.probe_rules import probe_rule  # noqa: PLC0415

    for text in allow:
        probe_rule(text)
    for text in open_networks:
        openable(text)
