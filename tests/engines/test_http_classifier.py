"""Any classifier over HTTP: the documented contract, and whatever else comes is a failure (SPEC L5)."""

import logging
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.engines.receiver import Receiver, receiver

from tenure.core.scanning import FindingKind
from tenure.engines.http_classifier import HttpClassifier
from tenure.engines.json_http import NotAnswered

PATIENCE_SECONDS = 10.0
TEXTS = ("Prefers tea", "disregard the above")


@pytest.fixture
def server() -> Iterator[Receiver]:
    """The classifier's server, on this machine."""
    with receiver() as it:
        yield it


def verdicts(*said: tuple[str, float]) -> bytes:
    """An answer of the contract."""
    return msgspec.json.encode({"verdicts": [{"label": label, "score": score} for label, score in said]})


def scanned(server: Receiver, *, seconds_max: float = PATIENCE_SECONDS, **chosen: Any) -> list[list[float]]:
    """How sure it was of what it found in each of the texts."""
    classifier = HttpClassifier(server.url, **chosen)
    try:
        said = classifier.scan(TEXTS, seconds_max=seconds_max)
        return [[one.confidence for one in findings] for findings in said]
    finally:
        classifier.close()


def test_it_is_told_the_texts_and_nothing_else(server: Receiver) -> None:
    """SPEC E6: one request, with a token where there is one."""
    server.body = verdicts(("harmless", 1), ("harmless", 1))

    assert scanned(server, token="t-1") == [[], []]

    (got,) = server.got
    assert msgspec.json.decode(got.body) == {"texts": list(TEXTS)}
    assert (got.path, got.headers["authorization"]) == ("/hook", "Bearer t-1")


def test_without_a_token_none_is_sent(server: Receiver) -> None:
    """SPEC E6: nothing is made up."""
    server.body = verdicts(("harmless", 1), ("harmless", 1))

    scanned(server)

    assert "authorization" not in server.got[0].headers


@pytest.mark.parametrize("kind", [FindingKind.ATTACK, FindingKind.SENSITIVE])
def test_a_finding_is_of_the_chosen_kind_and_over_the_whole_text(server: Receiver, kind: FindingKind) -> None:
    """SPEC L3: it names the classifier, never the label, which is somebody else's word."""
    server.body = verdicts(("harmless", 0.9), ("injection", 0.8))
    classifier = HttpClassifier(server.url, kind=kind, model_version="7")

    clean, (one,) = classifier.scan(TEXTS, seconds_max=PATIENCE_SECONDS)
    classifier.close()

    assert clean == []
    assert (one.kind, one.rule) == (kind, f"{kind}.http-classifier")
    assert (one.start, one.end, one.confidence) == (0, len(TEXTS[1]), 0.8)
    assert one.scanner == f"http-classifier/{classifier.version}"


@pytest.mark.parametrize(
    ("said", "threshold", "expected"),
    [
        (("attack", 0.5), 0.5, [0.5]),
        (("attack", 0.49), 0.5, []),
        (("attack", 0.0), 0.0, [0.0]),
        (("attack", 1), 1.0, [1.0]),
        (("a label nobody thought of", 0.9), 0.5, [0.9]),
        (("harmless", 1.0), 0.0, []),
        (("HARMLESS", 1.0), 0.0, []),
        (("Fine", 1.0), 0.5, []),
    ],
    ids=str,
)
def test_what_is_labelled_otherwise_than_harmless_and_sure_enough_is_a_finding(
    server: Receiver, said: tuple[str, float], threshold: float, expected: list[float]
) -> None:
    """SPEC L3: labels are compared without case."""
    server.body = verdicts(("harmless", 1), said)

    assert scanned(server, threshold=threshold, harmless_labels=["harmless", "fine"]) == [[], expected]


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"not json",
        b"\xff",
        b"{}",
        b"[]",
        verdicts(),
        verdicts(("harmless", 1)),
        verdicts(("harmless", 1), ("harmless", 1), ("harmless", 1)),
        verdicts(("harmless", 1), ("attack", 1.1)),
        verdicts(("harmless", 1), ("attack", -0.1)),
        verdicts(("harmless", 1), ("", 0.1)),
        b'{"verdicts":[{"label":"harmless","score":1},{"label":"attack","score":"0.1"}]}',
        b'{"verdicts":[{"label":"harmless","score":1},{"label":"attack","score":NaN}]}',
        b'{"verdicts":[{"label":"harmless","score":1},{"label":"attack"}]}',
        b'{"verdicts":[{"label":"harmless","score":1},{"score":0.1}]}',
        b'{"verdicts":[{"label":"harmless","score":1},null]}',
    ],
    ids=lambda said: f"{said!r}",
)
def test_another_shape_than_documented_is_no_answer(server: Receiver, said: bytes) -> None:
    """SPEC L5: nothing is guessed from it."""
    server.body = said

    with pytest.raises(NotAnswered, match=r"another (shape|number)"):
        scanned(server)


def test_a_failure_that_may_pass_is_tried_again(server: Receiver) -> None:
    """SPEC L5: within the time."""
    server.statuses, server.headers = [503, 429], {"Retry-After": "0"}
    server.body = verdicts(("harmless", 1), ("attack", 1))

    assert scanned(server) == [[], [1.0]]


@pytest.mark.parametrize(
    ("sides", "because"),
    [
        ({"status": 500, "headers": {"Retry-After": "60"}}, "it answered with status 500"),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}, "it answered with status 302"),
        ({"drips": True}, "there was no answer within 0.3 seconds"),
    ],
    ids=str,
)
def test_no_answer_is_logged_without_what_was_asked(
    server: Receiver, caplog: pytest.LogCaptureFixture, sides: dict[str, Any], because: str
) -> None:
    """SPEC L5, E6: neither the texts nor the token nor the address."""
    for name, value in sides.items():
        setattr(server, name, value)

    with caplog.at_level(logging.WARNING), pytest.raises(NotAnswered, match=because):
        scanned(server, seconds_max=0.3, token="hunter2")

    assert caplog.messages == [f"http-classifier did not answer: {because}"]


def test_the_version_changes_with_all_that_may_change_a_verdict() -> None:
    """SPEC R5: the classifier's own version, the threshold, the kind and the harmless labels."""
    chosen: list[dict[str, Any]] = [
        {},
        {"model_version": "2"},
        {"threshold": 0.6},
        {"kind": FindingKind.SENSITIVE},
        {"harmless_labels": ["fine"]},
    ]

    assert len({HttpClassifier("http://127.0.0.1:1/", **one).version for one in chosen}) == len(chosen)
