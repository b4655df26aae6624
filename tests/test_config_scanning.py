"""Settings of the scanners: what goes together, what is safe, and what is never shown (SPEC L5, S3, E6)."""

import pytest
from tests.test_config import problems_of

from tenure.config import Scanning, Settings, load, outcome_of_failure
from tenure.config.settings import Admission
from tenure.core.vocabulary import Outcome

ENDPOINT = "TENURE_SCANNING__PROMPT_SHIELDS_ENDPOINT"
KEY = "TENURE_SCANNING__PROMPT_SHIELDS_KEY"
URL = "TENURE_SCANNING__HTTP_CLASSIFIER_URL"
TOKEN = "TENURE_SCANNING__HTTP_CLASSIFIER_TOKEN"


def test_nothing_leaves_the_machine_unless_it_is_set() -> None:
    """SPEC E6: no remote scanner, no plug-in."""
    scanning = Settings().scanning

    assert (scanning.prompt_shields_endpoint, scanning.http_classifier_url, scanning.plugins) == (
        None,
        None,
        (),
    )
    assert (scanning.local_seconds_max, scanning.seconds_max, scanning.together_max) == (1.0, 3.0, 16)


def test_everything_can_be_set_in_the_environment() -> None:
    """SPEC S3: lists are parted by commas."""
    scanning = load(
        environment={
            ENDPOINT: "https://safety.example",
            KEY: "k-1",
            URL: "http://127.0.0.1:9000/scan",
            TOKEN: "t-1",
            "TENURE_SCANNING__HTTP_CLASSIFIER_KIND": "sensitive",
            "TENURE_SCANNING__HTTP_CLASSIFIER_THRESHOLD": "0.8",
            "TENURE_SCANNING__HTTP_CLASSIFIER_HARMLESS_LABELS": "fine, ok",
            "TENURE_SCANNING__HTTP_CLASSIFIER_VERSION": "2026-11",
            "TENURE_SCANNING__PLUGINS": "house,other",
        }
    ).settings.scanning

    assert scanning == Scanning(
        prompt_shields_endpoint="https://safety.example",
        prompt_shields_key="k-1",
        http_classifier_url="http://127.0.0.1:9000/scan",
        http_classifier_token="t-1",
        http_classifier_kind="sensitive",
        http_classifier_threshold=0.8,
        http_classifier_harmless_labels=("fine", "ok"),
        http_classifier_version="2026-11",
        plugins=("house", "other"),
    )


@pytest.mark.parametrize(("secret", "address"), [(KEY, ENDPOINT), (TOKEN, URL)])
def test_a_secret_for_nobody_is_refused(secret: str, address: str) -> None:
    """SPEC S3: nothing is silently off."""
    (problem,) = problems_of({secret: "hunter2"})

    name = address.removeprefix("TENURE_").replace("__", ".").lower()
    assert problem.startswith(f"{name} (default): it is not set but is needed beside scanning.")
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    "address",
    [
        "http://safety.example",
        "https://user:hunter2@safety.example",
        "ftp://safety.example",
        "http://10.0.0.1/scan",
        "safety.example",
    ],
)
@pytest.mark.parametrize("variable", [ENDPOINT, URL])
def test_content_leaves_only_over_tls_or_to_this_machine(variable: str, address: str) -> None:
    """SPEC E6: whoever stands on the way would read every memory."""
    (problem,) = problems_of({variable: address})

    assert "it takes an https:// address, or http:// to this machine" in problem
    assert "hunter2" not in problem


def test_secrets_are_in_no_repr_and_no_explanation() -> None:
    """SPEC E6: masked, for people and for debuggers."""
    loaded = load(
        environment={
            ENDPOINT: "https://safety.example",
            KEY: "hunter2",
            URL: "https://c.example",
            TOKEN: "hunter3",
        }
    )

    shown = [repr(loaded.settings), repr(loaded.settings.scanning), repr(loaded.explain())]
    assert not any("hunter" in text for text in shown)
    assert "********" in shown[1]


@pytest.mark.parametrize(
    ("setting", "outcome"),
    [("quarantine", Outcome.QUARANTINE), ("reject", Outcome.REJECT), ("defer", Outcome.QUARANTINE)],
)
def test_what_failed_is_never_admitted(setting: str, outcome: Outcome) -> None:
    """SPEC L5: what is deferred would wait for a person, if it were stored."""
    admission = Admission(on_scanner_failure=setting)  # type: ignore[arg-type]  # one of the three words

    assert outcome_of_failure(Settings(admission=admission)) is outcome
