"""The scanners that the settings name: of this package, of plug-ins, and those that are asked elsewhere."""

from collections.abc import Sequence

from tenure.config import ConfigError, Settings
from tenure.config import Scanning as ScanningSettings
from tenure.core.scanning.matching import Scanner
from tenure.core.scanning.running import DEFAULT_SCANNERS
from tenure.engines.classifier_model import shipped_classifier
from tenure.engines.clock import seconds_busy, seconds_passed
from tenure.engines.plugins import BadPlugin, Plugins, load
from tenure.usecases.ports import Clock
from tenure.usecases.scanning import Scanning
from tenure.usecases.scanning_ports import RemoteScanner, Watches


def plugins_named(settings: Settings) -> Plugins:
    """What the named packages bring; one that cannot be loaded is a mistake in the settings."""
    try:
        return load(settings.scanning.plugins, taken=[one.name for one in _own_scanners(settings)])
    except BadPlugin as bad:
        raise ConfigError((f"scanning.plugins: {bad}.",)) from bad


def scanning(settings: Settings, plugins: Plugins, clock: Clock) -> Scanning:
    """The scanners that run here, and those that are asked."""
    chosen = settings.scanning
    return Scanning(
        (*DEFAULT_SCANNERS, *plugins.scanners),
        of_whole_texts=_learned_scanners(settings),
        remote=_remote_scanners(chosen, clock),
        local_seconds_max=chosen.local_seconds_max,
        remote_seconds_max=chosen.seconds_max,
        together_max=chosen.together_max,
        watches=Watches(busy=seconds_busy, passed=seconds_passed),
    )


def _own_scanners(settings: Settings) -> Sequence[Scanner]:
    """The scanners of this package that run here."""
    return *DEFAULT_SCANNERS, *_learned_scanners(settings)


def _learned_scanners(settings: Settings) -> Sequence[Scanner]:
    """Those that learned what texts look like; they judge a text as a whole."""
    return (shipped_classifier(),) if settings.scanning.classifier else ()


def _remote_scanners(chosen: ScanningSettings, clock: Clock) -> Sequence[RemoteScanner]:
    if chosen.prompt_shields_endpoint is None and chosen.http_classifier_url is None:
        return ()
    # Loaded when needed: most stores ask nobody.
    from tenure.engines.remote_scanners import remote_scanners  # noqa: PLC0415

    return remote_scanners(chosen, clock.now)
