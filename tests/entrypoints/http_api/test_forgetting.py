"""Forgetting a subject over HTTP, and what this version does not forget by (SPEC F1, F2)."""

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code

ID = "0195a4a0-0000-7000-8000-000000000001"


def test_a_subject_is_forgotten_once_and_a_retry_says_the_same(acme: Acme) -> None:
    """SPEC F1, L9: the answer counts; again without the key it says already forgotten."""
    acme.remember()
    acme.remember("Likes tea")

    first = acme.call("POST", "/v1/forget", {"subject": "customer-7"}, who="officer", key="f-1").json()
    retried = acme.call("POST", "/v1/forget", {"subject": "customer-7"}, who="officer", key="f-1").json()
    again = acme.call("POST", "/v1/forget", {"subject": "customer-7"}, who="officer").json()

    assert (first["status"], first["forgotten"], first["durable"]) == ("forgotten", 2, True)
    assert retried == first
    assert (again["status"], again["forgotten"]) == ("already_forgotten", 0)
    assert acme.call("GET", "/v1/memories?subject=customer-7").json()["items"] == []


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "scope-not-named", "subject"),
        ({"subject": None}, "scope-not-named", "subject"),
        ({"subject": "customer-7", "memory_id": ID}, "scope-not-named", "subject"),
        ({"memory_id": ID, "key": "contact"}, "scope-not-named", "subject"),
        ({"memory_id": ID, "expected_version": 1}, "invalid-request", "memory_id"),
        ({"key": "contact", "subject": "customer-7"}, "invalid-request", "key"),
        ({"key": "contact"}, "invalid-request", "key"),
        ({"subject": "customer-7", "agent": "support"}, "invalid-request", "agent"),
        ({"subject": "customer-7", "leaf_only": True}, "invalid-request", "leaf_only"),
        ({"everything": True}, "invalid-request", "everything"),
    ],
)
def test_what_could_mean_anything_else_forgets_nothing(acme: Acme, body: Json, code: str, field: str) -> None:
    """SPEC F4: none or several selectors, or one that this version lacks, is never read as the widest."""
    memory = acme.remember()
    before = acme.log_head()

    answer = acme.call("POST", "/v1/forget", body, who="officer")

    assert (answer.status_code, problem_code(answer)) == (422, code)
    assert answer.json()["field"] == field
    assert acme.log_head() == before
    assert acme.call("GET", f"/v1/memories/{memory['id']}").status_code == 200


def test_only_who_was_granted_it_forgets(acme: Acme) -> None:
    """SPEC A4."""
    answer = acme.call("POST", "/v1/forget", {"subject": "customer-7"}, who="bot")

    assert (answer.status_code, problem_code(answer)) == (403, "forbidden")
