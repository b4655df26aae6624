"""The settings of probes (SPEC T6): off by default, and a slip is noticed at the start."""

import msgspec
import pytest

from tenure.config import ConfigError, load
from tenure.config.probes import Probes


def test_nothing_is_allowed_by_default() -> None:
    """SPEC T6: off unless allowed."""
    assert (Probes().allow, Probes().open_networks, Probes().roots) == ((), (), ())


def test_what_is_allowed_is_taken_as_written() -> None:
    """SPEC T6: rules, networks and roots."""
    given = {"allow": ["acme https://a.example"], "open_networks": ["10.1.0.0/16"], "roots": ["/etc/nginx"]}

    probes = msgspec.convert(given, Probes)

    assert probes.allow == ("acme https://a.example",)


@pytest.mark.parametrize(
    "given",
    [
        {"allow": ["https://a.example"]},
        {"allow": ["acme everything"]},
        {"open_networks": ["0.0.0.0/0"]},
        {"open_networks": ["169.254.169.254"]},
        {"open_networks": ["db.internal"]},
        {"roots": ["/"]},
        {"roots": ["etc"]},
        {"roots": ["/etc//nginx"]},
        {"seconds_max": 5.0, "all_seconds_max": 1.0},
        {"seconds_max": 0.0},
        {"at_once_max": 0},
        {"nonsense": 1},
    ],
)
def test_what_could_never_be_looked_at_is_refused(given: dict[str, object]) -> None:
    """SPEC T6: at the start, not at the first look."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, Probes)


def test_the_message_says_which_rule_allows_nothing_and_where_it_was_given() -> None:
    """SPEC S3: in the words of the setting."""
    with pytest.raises(ConfigError, match=r"probes \(environment TENURE_PROBES__ALLOW\): 'acme all' allows"):
        load(environment={"TENURE_PROBES__ALLOW": "acme all"})
