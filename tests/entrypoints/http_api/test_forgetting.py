"""Forgetting over HTTP: a subject, a memory, a key at a scope, and never more than that (SPEC F1-F6)."""

from datetime import datetime, timedelta

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code

from tenure.usecases.upkeep import upkeep_round

ID = "0195a4a0-0000-7000-8000-000000000001"
SESSION: Json = {"tier": "session", "id": "s-1"}
KEY: Json = {
    "key": "contact",
    "scope": SESSION,
    "agent": "support",
    "purpose": "support",
    "subject": "customer-7",
}


def forget(acme: Acme, body: Json, *, key: str | None = None, token: str | None = None) -> Json:
    """The answer to a forget that is taken."""
    answer = acme.call("POST", "/v1/forget", body, who="officer", key=key, token=token)
    assert answer.status_code == 200, answer.text
    document: Json = answer.json()
    return document


def test_a_subject_is_forgotten_once_and_a_retry_says_the_same(acme: Acme) -> None:
    """SPEC F1, L9: the answer counts; again without the key it says already forgotten."""
    acme.remember()
    acme.remember("Likes tea")

    first = forget(acme, {"subject": "customer-7"}, key="f-1")
    retried = forget(acme, {"subject": "customer-7"}, key="f-1")
    again = forget(acme, {"subject": "customer-7"})

    assert (first["status"], first["forgotten"], first["durable"]) == ("forgotten", 2, True)
    assert retried == first
    assert (again["status"], again["forgotten"]) == ("already_forgotten", 0)
    assert acme.call("GET", "/v1/memories?subject=customer-7").json()["items"] == []


def test_a_memory_is_forgotten_at_the_version_that_was_seen(acme: Acme) -> None:
    """SPEC F1, L8: with another version it is a conflict, and the memory stands."""
    memory, other = acme.remember(), acme.remember("Likes tea")
    body: Json = {"memory_id": memory["id"], "expected_version": 1}

    stale = acme.call("POST", "/v1/forget", {**body, "expected_version": 2}, who="officer")
    first = forget(acme, body)
    again = forget(acme, body)

    assert (stale.status_code, problem_code(stale)) == (409, "version-conflict")
    assert stale.json()["current_version"] == 1
    assert (first["status"], first["forgotten"], first["anchored_at"]) == ("forgotten", 1, "memory")
    assert again["status"] == "already_forgotten"
    assert acme.call("GET", f"/v1/memories/{memory['id']}").status_code == 404
    assert acme.call("GET", f"/v1/memories/{other['id']}").status_code == 200


def test_a_key_is_forgotten_at_its_scope_and_outward(acme: Acme) -> None:
    """SPEC F4: durable, anchored at the outermost scope; the forget can be asked for by its id."""
    acme.remember(key="contact", scope=SESSION)
    acme.remember("Prefers the phone", key="contact")
    other = acme.remember("Prefers letters", key="contact", subject="customer-8")

    first = forget(acme, KEY)
    standing = acme.call("GET", f"/v1/forgets/{first['forget_id']}", who="officer").json()

    assert (first["status"], first["forgotten"], first["durable"]) == ("forgotten", 2, True)
    assert (first["anchored_at"], first["shadowed"], first["probe_at"]) == ("user:*", [], None)
    assert (standing["state"], standing["durable"]) == ("complete", True)
    left = acme.call("GET", "/v1/memories?key=contact").json()["items"]
    assert [memory["id"] for memory in left] == [other["id"]]


def test_a_forget_of_the_leaf_alone_says_what_still_holds_it_and_an_alert_that_it_came_back(
    acme: Acme,
) -> None:
    """SPEC F5, F6: not durable, shadowed, probed when its time is over, and found."""
    acme.remember("Prefers the phone", key="contact")
    inner = "/v1/keys/contact?subject=customer-7&scope=session:s-1"

    first = forget(acme, {**KEY, "leaf_only": True})
    hidden = acme.call("GET", inner)
    waiting = acme.call("GET", f"/v1/forgets/{first['forget_id']}", who="officer").json()
    acme.clock.ahead = (
        datetime.fromisoformat(first["probe_at"]) - acme.clock.now() + timedelta(seconds=1)
    ) + acme.clock.ahead
    upkeep_round(acme.node.pipeline, batch_size=10)
    failed = acme.call("GET", f"/v1/forgets/{first['forget_id']}", who="officer").json()
    alerts = acme.call("GET", "/v1/alerts", who="auditor").json()

    assert (first["durable"], first["anchored_at"]) == (False, "session:s-1")
    assert [one["scope"] for one in first["shadowed"]] == ["user:customer-7"]
    assert first["shadowed"][0]["holds_until"]
    assert (hidden.status_code, problem_code(hidden)) == (404, "not-found")
    assert (waiting["state"], waiting["probe_at"]) == ("waiting", first["probe_at"])
    assert (failed["state"], failed["found_in"]) == ("failed", "user:customer-7")
    assert [(one["kind"], one["about"]) for one in alerts["items"]] == [("forget-failed", first["forget_id"])]
    assert acme.call("GET", inner).status_code == 200


def test_what_is_left_out_of_a_key_the_credential_says(acme: Acme) -> None:
    """SPEC A2, F4: agent, purpose and subject, where the credential grants exactly one of each."""
    memory = acme.remember(key="contact")
    sides = {"agents": ["support"], "purposes": ["support"], "subjects": ["customer-7"]}
    token = acme.token("own", "acme", roles=["privacy_officer"], **sides)

    answer = forget(acme, {"key": "contact", "scope": SESSION}, token=token)

    assert answer["forgotten"] == 1
    assert acme.call("GET", f"/v1/memories/{memory['id']}").status_code == 404


def test_a_retried_forget_of_a_key_is_answered_as_it_was(acme: Acme) -> None:
    """SPEC L9: also the id to ask about it; another command under the key is refused."""
    acme.remember(key="contact")

    first, retried = forget(acme, KEY, key="f-1"), forget(acme, KEY, key="f-1")
    other = acme.call("POST", "/v1/forget", {**KEY, "leaf_only": True}, who="officer", key="f-1")

    assert retried == first
    assert (other.status_code, problem_code(other)) == (409, "idempotency-mismatch")


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "scope-not-named", "subject"),
        ({"subject": None}, "scope-not-named", "subject"),
        ({"leaf_only": True}, "scope-not-named", "subject"),
        ({"scope": SESSION}, "scope-not-named", "subject"),
        ({"subject": "customer-7", "memory_id": ID}, "scope-not-named", "subject"),
        ({"memory_id": ID, "key": "contact"}, "scope-not-named", "subject"),
        ({**KEY, "memory_id": ID, "expected_version": 1}, "scope-not-named", "subject"),
        ({"memory_id": ID}, "invalid-request", "expected_version"),
        ({"memory_id": "seven", "expected_version": 1}, "invalid-request", "memory_id"),
        ({"memory_id": ID, "expected_version": -1}, "invalid-request", "expected_version"),
        ({"memory_id": ID, "expected_version": 1, "scope": SESSION}, "invalid-request", "scope"),
        ({"memory_id": ID, "expected_version": 1, "agent": "support"}, "invalid-request", "agent"),
        ({"key": "contact"}, "scope-not-named", "scope"),
        ({"key": "contact", "subject": "customer-7"}, "scope-not-named", "scope"),
        ({**KEY, "scope": None}, "scope-not-named", "scope"),
        ({**KEY, "scope": {"tier": "galaxy", "id": "g"}}, "invalid-request", "scope.tier"),
        ({**KEY, "scope": {"tier": "task"}}, "invalid-request", "scope.id"),
        ({**KEY, "scope": {"tier": "task", "id": ""}}, "invalid-request", "scope.id"),
        ({**KEY, "scope": {"tier": "task", "id": "*"}}, "invalid-request", "scope.id"),
        ({**KEY, "key": ""}, "invalid-request", "key"),
        ({**KEY, "agent": None}, "invalid-request", "agent"),
        ({**KEY, "subject": None}, "invalid-request", "subject"),
        ({**KEY, "expected_version": 1}, "invalid-request", "expected_version"),
        ({**KEY, "leaf_only": "yes"}, "invalid-request", "leaf_only"),
        ({"subject": "customer-7", "scope": SESSION}, "invalid-request", "scope"),
        ({"subject": "customer-7", "agent": "support"}, "invalid-request", "agent"),
        ({"subject": "customer-7", "leaf_only": True}, "invalid-request", "leaf_only"),
        ({"subject": "customer-7", "expected_version": 0}, "invalid-request", "expected_version"),
        ({"everything": True}, "invalid-request", "everything"),
    ],
)
def test_what_could_mean_anything_else_forgets_nothing(acme: Acme, body: Json, code: str, field: str) -> None:
    """SPEC F4: none or several selectors, or one without its scope, is never read as the widest."""
    memory = acme.remember(key="contact")
    before = acme.log_head()

    answer = acme.call("POST", "/v1/forget", body, who="officer")

    assert (answer.status_code, problem_code(answer)) == (422, code)
    assert answer.json()["field"] == field
    assert answer.json().get("hint") or code == "invalid-request"
    assert acme.log_head() == before
    assert acme.call("GET", f"/v1/memories/{memory['id']}").status_code == 200


def test_only_who_was_granted_it_forgets_and_asks(acme: Acme) -> None:
    """SPEC A4; and a forget of somebody else's tenant or subject is absent."""
    forgotten = forget(acme, KEY)
    path = f"/v1/forgets/{forgotten['forget_id']}"
    elsewhere = acme.token("officer", "other", roles=["privacy_officer"])
    narrow = acme.token("narrow", "acme", roles=["privacy_officer"], subjects=["customer-8"])

    refused = [acme.call("POST", "/v1/forget", {"subject": "customer-7"}), acme.call("GET", path)]
    absent = [acme.call("GET", path, token=token) for token in (elsewhere, narrow)]

    assert [(one.status_code, problem_code(one)) for one in refused] == [(403, "forbidden")] * 2
    assert [(one.status_code, problem_code(one)) for one in absent] == [(404, "not-found")] * 2
    assert acme.call("GET", path, who="officer").status_code == 200
