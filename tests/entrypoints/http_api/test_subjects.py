"""Erasing, exporting and holding a subject over HTTP (SPEC F7-F12)."""

from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from tests.entrypoints.http_api.acme import Acme, problem_code

from tenure.core.erasure import Certificate, signed_bytes
from tenure.core.errors import Unavailable

SUBJECT = "org/7:ann"
BASE = "/v1/subjects/org%2F7%3Aann"


def test_an_erasure_is_certified_and_the_certificate_is_given_again(acme: Acme) -> None:
    """SPEC F7, F8: out of every read, signed, and the same until there is something new to erase."""
    memory = acme.remember("The zebra crosses at noon", subject=SUBJECT, key="zebra")

    first = acme.call("POST", f"{BASE}/erase", who="officer")
    again = acme.call("POST", f"{BASE}/erase", {}, who="officer")

    certificate = msgspec.json.decode(first.content, type=Certificate)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    assert [str(one) for one in certificate.statement.memory_ids] == [memory["id"]]
    assert all(check.passed for check in certificate.statement.checks)
    assert "zebra" not in first.text
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(certificate.public_key)).verify(
        bytes.fromhex(certificate.signature), signed_bytes(certificate.statement)
    )
    assert acme.call("GET", f"/v1/memories/{memory['id']}").status_code == 404
    held = acme.call("GET", f"{BASE}/export", who="officer").json()["memories"]
    assert [one for one in held if one["memory"]["content"] is not None] == []


def test_everything_held_is_exported_what_is_forgotten_as_well(acme: Acme) -> None:
    """SPEC F12: with what became of it; somebody else's memories are not in it."""
    kept = acme.remember(subject=SUBJECT)
    gone = acme.remember("Likes tea", subject=SUBJECT)
    acme.remember("Somebody else's")
    body = {"memory_id": gone["id"], "expected_version": 1}
    assert acme.call("POST", "/v1/forget", body, who="officer").status_code == 200

    export = acme.call("GET", f"{BASE}/export", who="officer").json()

    assert export["subject"] == SUBJECT
    assert {one["memory"]["id"]: one["readable"] for one in export["memories"]} == {
        kept["id"]: True,
        gone["id"]: False,
    }
    assert export["hold"] is None


def test_a_hold_forbids_erasing_until_it_is_released(acme: Acme) -> None:
    """SPEC F10: 409, nothing changed; forgetting goes on; after the release it is erased."""
    acme.remember(subject=SUBJECT)
    review_at = (acme.clock.now() + timedelta(days=30)).isoformat()

    placed = acme.call("PUT", f"{BASE}/hold", {"reason": "case 4", "review_at": review_at}, who="officer")
    before = acme.log_head()
    refused = acme.call("POST", f"{BASE}/erase", who="officer")
    after = acme.log_head()
    forgotten = acme.call("POST", "/v1/forget", {"subject": SUBJECT}, who="officer").json()
    standing = acme.call("GET", f"{BASE}/hold", who="officer")
    released = acme.call("DELETE", f"{BASE}/hold?reason=case+closed", who="officer")
    erased = acme.call("POST", f"{BASE}/erase", who="officer")

    assert (placed.status_code, placed.json()["subject"]) == (200, SUBJECT)
    assert (refused.status_code, problem_code(refused)) == (409, "on-hold")
    assert after == before
    assert forgotten["forgotten"] == 1
    assert standing.json() == placed.json()
    assert (released.status_code, released.json()["released_at"] is not None) == (200, True)
    assert erased.status_code == 200


def test_where_there_is_no_hold_there_is_none_to_read_or_release(acme: Acme) -> None:
    """SPEC S2: absent, twice over."""
    answers = [
        acme.call("GET", f"{BASE}/hold", who="officer"),
        acme.call("DELETE", f"{BASE}/hold?reason=x", who="officer"),
    ]

    assert [(one.status_code, problem_code(one)) for one in answers] == [(404, "not-found")] * 2


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", f"{BASE}/erase", {"dry_run": True}, "dry_run"),
        ("POST", f"{BASE}/erase", [], "body"),
        ("POST", "/v1/subjects/%00/erase", None, "subject"),
        ("POST", "/v1/subjects/%FF/erase", None, "subject"),
        ("POST", f"/v1/subjects/{'s' * 201}/erase", None, "subject"),
        ("GET", "/v1/subjects/%0A/export", None, "subject"),
        ("GET", f"{BASE}/export?format=csv", None, "format"),
        ("PUT", f"{BASE}/hold", {}, "reason"),
        ("PUT", f"{BASE}/hold", {"reason": ""}, "reason"),
        ("PUT", f"{BASE}/hold", {"reason": " "}, "reason"),
        ("PUT", f"{BASE}/hold", {"reason": "x", "review_at": "soon"}, "review_at"),
        ("PUT", f"{BASE}/hold", {"reason": "x", "review_at": "2001-01-01T00:00:00Z"}, "review_at"),
        ("PUT", f"{BASE}/hold", {"reason": "x", "review_at": "0001-01-01T00:00:00+23:59"}, "review_at"),
        ("PUT", f"{BASE}/hold", {"reason": "x", "subject": "other"}, "subject"),
        ("PUT", f"{BASE}/hold", None, "body"),
        ("DELETE", f"{BASE}/hold", None, "reason"),
        ("DELETE", f"{BASE}/hold?reason=", None, "reason"),
        ("GET", "/v1/subjects/%E2%80%AE/hold", None, "subject"),
    ],
)
def test_a_bad_request_about_a_subject_changes_nothing(
    shared: Acme, method: str, path: str, body: object, field: str
) -> None:
    """SPEC S2: the field at fault is named; what this version does not know is not left aside in silence."""
    before = shared.log_head()

    answer = shared.call(method, path, body, who="officer")

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == field
    assert shared.log_head() == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", f"{BASE}/erase", None),
        ("GET", f"{BASE}/export", None),
        ("PUT", f"{BASE}/hold", {"reason": "x"}),
        ("DELETE", f"{BASE}/hold?reason=x", None),
        ("GET", f"{BASE}/hold", None),
    ],
)
def test_only_who_was_granted_it_touches_a_subject(acme: Acme, method: str, path: str, body: object) -> None:
    """SPEC A2, A4: neither another role, nor the right one for another subject."""
    memory = acme.remember(subject=SUBJECT)
    narrow = acme.token("narrow", "acme", roles=["privacy_officer"], subjects=["customer-8"])

    refused = [acme.call(method, path, body), acme.call(method, path, body, token=narrow)]

    assert [(one.status_code, problem_code(one)) for one in refused] == [(403, "forbidden")] * 2
    assert acme.call("GET", f"/v1/memories/{memory['id']}").status_code == 200


def failing(message: str, **details: object) -> Callable[..., None]:
    """A step of the store that cannot be done."""

    def fail(*_given: object, **_named: object) -> None:
        raise Unavailable(message, hint="Make space.", **details)

    return fail


@pytest.mark.parametrize("details", [{}, {"outcome_unknown": True}], ids=["known", "unknown"])
def test_an_erasure_that_stops_half_way_says_so_and_goes_on(
    acme: Acme, monkeypatch: pytest.MonkeyPatch, details: dict[str, object]
) -> None:
    """SPEC F7, S2: a step has failed and others are done, so the 503 never says that nothing was."""
    acme.remember(subject=SUBJECT)
    with monkeypatch.context() as broken:
        broken.setattr(acme.node.store, "purge", failing("the disk is full", **details))
        stopped = acme.call("POST", f"{BASE}/erase", who="officer")
    finished = acme.call("POST", f"{BASE}/erase", who="officer")

    assert (stopped.status_code, problem_code(stopped)) == (503, "unavailable")
    assert (stopped.json()["detail"], stopped.json()["outcome_unknown"]) == ("the disk is full", True)
    assert stopped.json()["hint"]
    assert acme.call("GET", "/v1/memories?subject=org%2F7%3Aann").json()["items"] == []
    assert finished.status_code == 200
    assert finished.json()["statement"]["memories_erased"] == 1
