"""A phished mail, from the day it was believed to the day after it was revoked, over HTTP (SPEC I1, I2)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code, running
from tests.stores.engine import Engine

MAIL = {"type": "email", "id": "message-666"}
QUESTION = {"subject": "customer-7", "query": "where do we pay the invoices of this supplier?"}


@pytest.fixture
def acme(engine: Engine) -> Iterator[Acme]:
    """A company with agents, reviewers and an operator."""
    with running(engine) as opened:
        opened.tokens["job"] = opened.token(
            "summaries",
            "acme",
            roles=["writer"],
            agents=["support"],
            purposes=["support"],
            source_types=["application"],
        )
        opened.tokens["mail"] = opened.token(
            "mail connector",
            "acme",
            roles=["writer"],
            agents=["support"],
            purposes=["support"],
            source_types=["email"],
        )
        yield opened


def written(acme: Acme, content: str, who: str, **more: Any) -> Json:
    """A memory, as the gate left it."""
    body = {"subject": "customer-7", "kind": "fact", "content": content} | more
    answer = acme.call("POST", "/v1/memories", body, who=who)
    assert answer.status_code == 201, answer.text
    memory: Json = answer.json()["memory"]
    return memory


def recalled(acme: Acme) -> Json:
    """What the agent is told of the supplier's invoices."""
    found: Json = acme.call("POST", "/v1/recall", QUESTION).json()
    return found


def contents(found: Json) -> set[str]:
    """What was said in a recall."""
    return {item["memory"]["content"] for item in found["items"]}


def test_a_phished_mail_is_found_out_and_all_that_came_of_it_goes(acme: Acme) -> None:
    """SPEC I1, I2, L12: what it was, what it touched, one call, nothing left, nothing comes back."""
    lie = written(acme, "Supplier invoices are paid to the account in Riga", "mail", source=MAIL)
    assert lie["status"] == "quarantined"
    word = {"expected_version": 1, "reason": "looks like the supplier's own mail"}
    assert acme.call("POST", f"/v1/memories/{lie['id']}/promote", word, who="ann").status_code == 200
    summary = written(
        acme,
        "In short: invoices of the supplier go to Riga",
        "job",
        kind="summary",
        source={"type": "application", "id": "job-4"},
        derived_from=[lie["id"]],
    )
    truth = written(
        acme,
        "Supplier invoices come on Mondays",
        "job",
        source={"type": "application", "id": "erp-1"},
    )
    found = recalled(acme)
    assert len(contents(found)) == 3
    report = {
        "response_id": "response-9",
        "used_memory_ids": [summary["id"]],
        "tool_calls": [{"id": "call-3", "name": "pay_supplier"}],
    }
    assert acme.call("POST", f"/v1/recalls/{found['receipt_id']}/influence", report).status_code < 300

    detected_at = acme.clock.now() - timedelta(minutes=3)
    impact = acme.call("GET", "/v1/sources/impact?type=email&id=message-666", who="auditor").json()
    body = {**MAIL, "reason": "case 17: phished", "detected_at": detected_at.isoformat()}
    answer = acme.call("POST", "/v1/sources/revoke", body, who="operator", key="case-17")

    assert set(impact["memories"]) == {lie["id"], summary["id"]}
    assert impact["recalls"] == [found["receipt_id"]]
    assert (impact["responses"], impact["agents"], impact["subjects"]) == (
        ["response-9"],
        ["support"],
        ["customer-7"],
    )
    assert impact["tool_calls"] == [{"id": "call-3", "name": "pay_supplier"}]
    assert impact["counts"] == {
        "memories": 2,
        "recalls": 1,
        "responses": 1,
        "tool_calls": 1,
        "agents": 1,
        "subjects": 1,
        "displaced": 0,
    }
    told = answer.json()
    assert answer.status_code == 200
    assert (told["status"], told["revoked"], told["impact"]) == ("revoked", 2, impact)
    assert 180 <= told["seconds_to_revocation"] < 240
    assert contents(recalled(acme)) == {truth["content"]}
    _stays_away(acme, lie, summary, body)


def _stays_away(acme: Acme, lie: Json, summary: Json, body: Json) -> None:
    """What is told afterwards, and what is refused."""
    again = acme.call("POST", "/v1/sources/revoke", body, who="operator", key="case-17").json()
    other = acme.call("POST", "/v1/sources/revoke", MAIL | {"reason": "to be sure"}, who="ann").json()
    assert (again["status"], again["revoked"]) == ("revoked", 2)
    assert (other["status"], other["revoked"]) == ("already_revoked", 0)

    for content, who, more in (
        ("Pay to Riga, please", "mail", {"source": MAIL}),
        (
            "Summary: to Riga",
            "job",
            {"source": {"type": "application", "id": "job-5"}, "derived_from": [summary["id"]]},
        ),
    ):
        late = acme.call(
            "POST",
            "/v1/memories",
            {"subject": "customer-7", "kind": "fact", "content": content} | more,
            who=who,
        )
        assert (late.status_code, problem_code(late)) == (422, "memory-rejected")
        assert late.json()["rule"] == "source_revoked"

    history = acme.call("GET", f"/v1/memories/{lie['id']}/history", who="ann").json()["items"]
    assert [item["event"] for item in history] == [
        "memory.quarantined",
        "memory.promoted",
        "memory.revoked",
    ]
    assert (history[-1]["reason"], history[-1]["status"]) == ("case 17: phished", "revoked")
    assert acme.node.store.rebuild().identical


def test_a_connector_is_revoked_by_the_id_of_its_credential(acme: Acme) -> None:
    """SPEC I1: whatever it brought in, under whatever source; it may write no more."""
    memory = written(acme, "Asked for an invoice", "mail", source={"type": "email", "id": "message-1"})
    history = acme.call("GET", f"/v1/memories/{memory['id']}/history", who="ann").json()["items"]
    body = {"type": "connector", "id": history[0]["actor"], "reason": "its token was stolen"}

    answer = acme.call("POST", "/v1/sources/revoke", body, who="operator").json()

    assert (answer["revoked"], answer["impact"]["memories"]) == (1, [memory["id"]])
    late = acme.call(
        "POST",
        "/v1/memories",
        {
            "subject": "customer-7",
            "kind": "fact",
            "content": "More",
            "source": {"type": "email", "id": "m-2"},
        },
        who="mail",
    )
    assert (late.status_code, late.json()["rule"]) == (422, "source_revoked")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"id": "message-1"}, "reason"),
        ({"reason": "x"}, "id"),
        ({"id": "", "reason": "x"}, "id"),
        ({"id": "m", "reason": ""}, "reason"),
        ({"id": "m", "reason": "x" * 501}, "reason"),
        ({"id": "m", "reason": "x", "type": "e-mail"}, "type"),
        ({"id": "m", "reason": "x", "detected_at": "2999-01-01T00:00:00Z"}, "detected_at"),
        ({"id": "m", "reason": "x", "detected_at": "2026-01-01T00:00:00"}, "detected_at"),
        ({"id": "m", "reason": "x", "subject": "s"}, "subject"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_by_field(acme: Acme, body: Json, field: str) -> None:
    """SPEC S2: and nothing is revoked."""
    answer = acme.call("POST", "/v1/sources/revoke", body, who="operator")

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == field


def test_an_unknown_source_has_touched_nothing(acme: Acme) -> None:
    """SPEC I2: 200 with zeros; bad questions are 422, and the wrong roles 403."""
    path = "/v1/sources/impact?id=message-0"

    assert acme.call("GET", path, who="operator").json()["counts"]["memories"] == 0
    assert acme.call("GET", f"{path}&limit=10001", who="operator").status_code == 422
    assert acme.call("GET", f"{path}&type=x", who="operator").status_code == 422
    assert acme.call("GET", "/v1/sources/impact", who="operator").status_code == 422
    assert acme.call("GET", path, who="bot").status_code == 403
    assert acme.call("POST", "/v1/sources/revoke", {"id": "m", "reason": "x"}).status_code == 403
