"""Whether a feature flag exists, and has the value that was said, asked of an OpenFeature provider (SPEC T6).

The flag is asked for twice, once with either default. What comes back as the default both times was not known
to the provider, whatever reason it gives: OpenFeature answers so where no provider is set at all.

No context is given: the provider learns the name of the flag and nothing of whoever a memory is about.
"""

from typing import Any, Final, Protocol

from tenure.core.probing import Reason, Target, TargetKind, flag_of
from tenure.usecases.probing_ports import Permits

_NOT_FOUND: Final = "FLAG_NOT_FOUND"
_NOT_BOOLEAN: Final = "TYPE_MISMATCH"


class MissingFlags(Exception):
    """The packages for flags are not installed; the message says how to get them."""


class FlagDetails(Protocol):
    """What a provider says about a flag."""

    @property
    def value(self) -> bool:
        """Its value, or the default."""

    @property
    def error_code(self) -> Any:
        """Why it is the default, if there was an error."""


class FlagClient(Protocol):
    """The one call of OpenFeature's client that is made."""

    def get_boolean_details(self, flag_key: str, default_value: bool) -> FlagDetails:  # noqa: FBT001 -- theirs
        """The value of a flag, and what stands behind it."""


class FlagProber:
    """Asks a provider for flags."""

    kind = TargetKind.FLAG

    def __init__(self, client: FlagClient) -> None:
        self._client = client

    def look(self, target: Target, *, permits: Permits, seconds_max: float) -> Reason:
        """Whether the flag is there, and as it was said to be; a provider keeps its own limit of time."""
        del seconds_max
        flag = flag_of(target.what)
        if flag is None or not permits(target):
            return Reason.NOT_ALLOWED
        name, said = flag
        found = [self._client.get_boolean_details(name, default) for default in (False, True)]
        codes = [getattr(one.error_code, "value", one.error_code) for one in found]
        if codes != [None, None]:
            return _without_a_value(codes, said)
        return _judged([one.value for one in found], said)

    def close(self) -> None:
        """Nothing is held: the provider belongs to the program that set it."""


def open_feature(domain: str | None = None) -> FlagProber:
    """The provider that this program has set for a domain, or for all. Raises MissingFlags."""
    try:
        from openfeature.api import get_client  # noqa: PLC0415 -- an extra
    except ImportError:
        raise MissingFlags(
            "probes of flags need packages that are not installed: pip install 'tenure[flags]'"
        ) from None
    return FlagProber(get_client(domain))


def _without_a_value(codes: list[Any], said: bool | None) -> Reason:  # noqa: FBT001 -- three states
    if codes == [_NOT_FOUND, _NOT_FOUND]:
        return Reason.NOT_FOUND
    if codes == [_NOT_BOOLEAN, _NOT_BOOLEAN] and said is None:
        return Reason.EXISTS
    return Reason.NO_VALUE


def _judged(values: list[bool], said: bool | None) -> Reason:  # noqa: FBT001 -- three states
    if values[0] is not values[1]:
        return Reason.NO_VALUE
    if said is None:
        return Reason.EXISTS
    return Reason.AS_SAID if values[0] is said else Reason.OTHERWISE
