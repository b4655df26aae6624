"""The probes that the settings allow; none of it is loaded where nothing is allowed."""

from typing import TYPE_CHECKING

from tenure.config import ConfigError, Settings
from tenure.engines.clock import seconds_passed
from tenure.usecases.ports import Clock

if TYPE_CHECKING:
    from tenure.usecases.looking import MemoryProbes


def memory_probes(settings: Settings, clock: Clock) -> "MemoryProbes | None":
    """What looks at what memories name; None where nobody is allowed anything."""
    chosen = settings.probes
    if not chosen.allow:
        return None
    # Loaded when needed: most stores allow nothing.
    from tenure.core.probe_rules import allowances  # noqa: PLC0415
    from tenure.engines.probing.choosing import BadProber, probers  # noqa: PLC0415
    from tenure.engines.probing.flags import MissingFlags  # noqa: PLC0415
    from tenure.usecases.looking import MemoryProbes  # noqa: PLC0415
    from tenure.usecases.probing import ProbeLimits, Probing  # noqa: PLC0415

    try:
        found = probers(chosen)
    except BadProber as bad:
        raise ConfigError((f"probes.plugins: {bad}.",)) from bad
    except MissingFlags as missing:
        raise ConfigError((f"probes.allow: {missing}.",)) from missing
    limits = ProbeLimits(
        seconds_max=chosen.seconds_max,
        all_seconds_max=chosen.all_seconds_max,
        at_once_max=chosen.at_once_max,
        cache_seconds=chosen.cache_seconds,
    )
    probing = Probing(found, allowances(chosen.allow), limits=limits, now=clock.now, passed=seconds_passed)
    return MemoryProbes(probing, cache_seconds=chosen.cache_seconds, passed=seconds_passed)
