"""Recall and the report of what came of it, over HTTP (SPEC R1, R4, R6, R7)."""

from tests.entrypoints.http_api.acme import Acme, Json, problem_code

from tenure.core.rendering import POLICY_TEXT


def test_a_recall_answers_with_context_and_receipt(acme: Acme) -> None:
    """SPEC R6, R7: items, a block of data, the policy apart from it, and a receipt."""
    memory = acme.remember()

    answer = acme.call("POST", "/v1/recall", {"query": "phone or e-mail?", "subject": "customer-7"}).json()

    assert set(answer) == {"receipt_id", "items", "context", "policy", "tokens", "skipped"}
    (item,) = answer["items"]
    assert set(item) == {"memory", "score", "stale"}
    assert item["memory"] == memory
    assert item["stale"] is False
    assert memory["content"] in answer["context"]
    assert answer["policy"] == POLICY_TEXT
    assert answer["policy"] not in answer["context"]
    assert answer["tokens"] > 0
    assert answer["skipped"] == {"budget": 0, "scan": 0, "together": 0}


def test_a_recall_explains_itself_when_asked(acme: Acme) -> None:
    """SPEC R2: a score is shown in its parts."""
    acme.remember()

    (item,) = acme.call("POST", "/v1/recall", {"query": "e-mail", "explain": True}).json()["items"]

    assert item["score"] == round(sum(item["why"].values()), 6)
    assert item["why"]["words"] > 0


def test_a_budget_skips_what_does_not_fit(acme: Acme) -> None:
    """SPEC R4: the smaller ones behind it still enter."""
    acme.remember("Prefers e-mail " + "and e-mail " * 80)
    small = acme.remember("Prefers e-mail")

    answer = acme.call("POST", "/v1/recall", {"query": "e-mail", "budget_tokens": 150}).json()

    assert [item["memory"]["id"] for item in answer["items"]] == [small["id"]]
    assert answer["skipped"]["budget"] == 1
    assert answer["tokens"] <= 150


def test_the_filters_are_hard(acme: Acme) -> None:
    """SPEC R1: kinds, trust and subject narrow before anything is ranked."""
    acme.remember()
    wishes: list[Json] = [
        {"kinds": ["fact"]},
        {"min_trust": "reviewer_verified"},
        {"subject": "customer-8"},
        {"scope": {"tier": "task", "id": "elsewhere"}},
    ]

    found = [acme.call("POST", "/v1/recall", {"query": "e-mail", **wish}).json()["items"] for wish in wishes]

    assert found == [[], [], [], []]


def test_influence_is_reported_against_ones_own_receipt(acme: Acme) -> None:
    """SPEC R7: only what the recall returned, and only by whoever recalled."""
    memory = acme.remember()
    receipt = acme.call("POST", "/v1/recall", {"query": "e-mail"}).json()["receipt_id"]
    path = f"/v1/recalls/{receipt}/influence"
    report = {
        "response_id": "answer-1",
        "used_memory_ids": [memory["id"]],
        "tool_calls": [{"id": "call-1", "name": "send_mail"}],
    }

    noted = acme.call("POST", path, report)
    foreign = acme.call("POST", path, {**report, "used_memory_ids": [receipt]})
    stranger = acme.call("POST", path, report, who="sales")

    assert noted.status_code == 200
    assert (noted.json()["receipt_id"], noted.json()["response_id"]) == (receipt, "answer-1")
    assert (foreign.status_code, foreign.json()["field"]) == (422, "used_memory_ids")
    assert (stranger.status_code, problem_code(stranger)) == (404, "not-found")
