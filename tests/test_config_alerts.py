"""Settings of the alerts and their receiver: what goes together, and what is never shown (SPEC S3, E6)."""

import base64

import pytest
from tests.test_config import problems_of

from tenure.config import Alerts, Settings, load

SECRET = bytes(range(24))
SECRET_TEXT = base64.b64encode(SECRET).decode()
URL = "https://hooks.example/alerts?token=1"
RECEIVER = {"TENURE_ALERTS__WEBHOOK_URL": URL, "TENURE_ALERTS__WEBHOOK_SECRET": SECRET_TEXT}


def test_the_documented_thresholds_are_the_figures_of_the_rules() -> None:
    """SPEC I3: when something is an alert, unless told otherwise."""
    alerts = Settings().alerts

    assert (alerts.write_surge_count, alerts.write_surge_seconds) == (300, 60)
    assert (alerts.repeated_sensitive_count, alerts.repeated_sensitive_seconds) == (5, 600)
    assert (alerts.spread_fingerprint_count, alerts.spread_fingerprint_seconds) == (5, 86_400)
    assert (alerts.wide_source_count, alerts.wide_source_seconds) == (3, 86_400)


def test_a_receiver_has_an_address_and_a_secret() -> None:
    """SPEC I3: what is sent is always signed."""
    alerts = load(environment=RECEIVER).settings.alerts

    assert (alerts.webhook_url, alerts.webhook_secret, alerts.webhook_allow) == (URL, SECRET, ())


@pytest.mark.parametrize("left_out", sorted(RECEIVER))
def test_half_a_receiver_is_refused(left_out: str) -> None:
    """SPEC S3: nothing is silently off."""
    (problem,) = problems_of({name: value for name, value in RECEIVER.items() if name != left_out})

    assert problem.startswith(left_out.removeprefix("TENURE_").replace("__", ".").lower())
    assert "it is not set but is needed beside alerts.webhook_" in problem


@pytest.mark.parametrize(
    "secret",
    ["hunter2", base64.b64encode(bytes(23)).decode(), base64.b64encode(bytes(65)).decode(), "=" * 32],
)
def test_a_weak_secret_is_refused_and_never_shown(secret: str) -> None:
    """SPEC S3, E6: 24 to 64 bytes, as Standard Webhooks has it."""
    (problem,) = problems_of({**RECEIVER, "TENURE_ALERTS__WEBHOOK_SECRET": secret})

    assert problem == (
        "alerts.webhook_secret (environment TENURE_ALERTS__WEBHOOK_SECRET): the value given is not accepted; "
        "it takes standard base64 of 24 to 64 bytes."
    )


@pytest.mark.parametrize(
    "url",
    [
        "hooks.example",
        "ftp://hooks.example/",
        "https://",
        "https://a b/",
        "https://user:hunter2@hooks.example/",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    """SPEC S3, I3: at the start, and without a password that may stand in it."""
    (problem,) = problems_of({**RECEIVER, "TENURE_ALERTS__WEBHOOK_URL": url})

    assert "it takes an http:// or https:// address without user or password." in problem
    assert "hunter2" not in problem


def test_the_secret_is_in_no_representation() -> None:
    """SPEC E6: settings end up in logs and tracebacks."""
    loaded = load(environment=RECEIVER)
    explained = {row.name: row.value for row in loaded.explain()}

    assert repr(SECRET) not in repr(loaded) + repr(loaded.settings) + repr(loaded.settings.alerts)
    assert SECRET not in dict(loaded.settings.alerts.__rich_repr__()).values()
    assert explained["alerts.webhook_secret"] == "********"
    assert explained["alerts.webhook_allow"] == "not set"
    assert "webhook_secret=None" in repr(Alerts())
