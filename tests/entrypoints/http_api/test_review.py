"""The review queue and a person's word over HTTP (SPEC L6, L7, L12, L13)."""

from tests.entrypoints.http_api.acme import Acme, Json, problem_code, proposal

EMAIL = {"type": "email", "id": "mail-1"}


def held_back(acme: Acme, content: str = "Invoices go to the Leeds office", **more: object) -> Json:
    """A memory that waits in quarantine."""
    body = proposal(kind="fact", content=content, source=EMAIL, **more)
    memory: Json = acme.call("POST", "/v1/memories", body).json()["memory"]
    return memory


def test_the_queue_shows_what_a_reviewer_needs(acme: Acme) -> None:
    """SPEC L6: the memory, the decision, findings, the scope asked for, neighbours, contradictions."""
    claim = {"entity": "customer-7", "attribute": "office"}
    source = {"type": "application", "id": "crm-1"}
    near = acme.remember(
        "Invoices go to the York office", kind="fact", source=source, claim={**claim, "value": "York"}
    )
    held = held_back(acme, claim={**claim, "value": "Leeds"})

    queue = acme.call("GET", "/v1/review?subject=customer-7", who="ann").json()

    assert queue["next_cursor"] is None
    (waiting,) = queue["items"]
    assert waiting["memory"]["id"] == held["id"]
    assert waiting["memory"]["content"] == "Invoices go to the Leeds office"
    assert waiting["decision"]["rule"] == "external_source"
    assert waiting["findings"] == []
    assert waiting["requested_scope"] == {"tier": "user", "id": "customer-7"}
    assert [memory["id"] for memory in waiting["neighbours"]] == [near["id"]]
    assert [memory["id"] for memory in waiting["contradictions"]] == [near["id"]]


def test_a_promoted_memory_is_recalled_with_the_reviewers_trust(acme: Acme) -> None:
    """SPEC L7: from quarantined alone, at the current version, with who, when and why."""
    held = held_back(acme)
    assert acme.call("POST", "/v1/recall", {"query": "invoices"}).json()["items"] == []

    word = {"expected_version": 1, "reason": "checked with the customer"}
    answer = acme.call("POST", f"/v1/memories/{held['id']}/promote", word, who="ann", key="p-1")
    again = acme.call("POST", f"/v1/memories/{held['id']}/promote", word, who="ann", key="p-1")

    memory = answer.json()["memory"]
    assert (memory["status"], memory["trust"], memory["version"]) == ("active", "reviewer_verified", 2)
    assert memory["decision_reason"] == "checked with the customer"
    assert memory["reviewed_by"]
    assert memory["reviewed_at"]
    assert again.json() == answer.json()
    found = acme.call("POST", "/v1/recall", {"query": "invoices"}).json()
    assert [item["memory"]["id"] for item in found["items"]] == [held["id"]]


def test_promotion_needs_the_current_version(acme: Acme) -> None:
    """SPEC L7, L8."""
    held = held_back(acme)
    word = {"expected_version": 2, "reason": "checked"}

    answer = acme.call("POST", f"/v1/memories/{held['id']}/promote", word, who="ann")

    assert (answer.status_code, problem_code(answer)) == (409, "version-conflict")
    assert answer.json()["current_version"] == 1


def test_a_step_that_the_life_cycle_lacks_is_refused(acme: Acme) -> None:
    """SPEC M6: an active memory cannot be rejected; the answer says what can be done."""
    memory = acme.remember()
    word = {"expected_version": 1, "reason": "no"}

    answer = acme.call("POST", f"/v1/memories/{memory['id']}/reject", word, who="ann")

    assert (answer.status_code, problem_code(answer)) == (409, "illegal-transition")
    assert "revoke" in answer.json()["hint"]


def test_a_rejected_memory_shows_its_content_to_nobody(acme: Acme) -> None:
    """SPEC L13."""
    held = held_back(acme)
    word = {"expected_version": 1, "reason": "not ours"}

    rejected = acme.call("POST", f"/v1/memories/{held['id']}/reject", word, who="ann").json()["memory"]

    assert rejected["status"] == "rejected"
    assert acme.call("GET", f"/v1/memories/{held['id']}", who="ann").json()["content"] is None
    assert acme.call("GET", "/v1/review", who="ann").json()["items"] == []
