"""Recall and the report of what came of it, over HTTP (SPEC R1, R4, R6, R7)."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

import httpx
import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code

from tenure.core.rendering import POLICY_TEXT
from tenure.core.vectors import Vector
from tenure.usecases.embedding_ports import EmbeddingFailed
from tenure.usecases.meaning import Meaning


def test_a_recall_answers_with_context_and_receipt(acme: Acme) -> None:
    """SPEC R6, R7: items, a block of data, the policy apart from it, and a receipt."""
    memory = acme.remember()

    answer = acme.call("POST", "/v1/recall", {"query": "phone or e-mail?", "subject": "customer-7"}).json()

    assert set(answer) == {"receipt_id", "items", "context", "policy", "tokens", "skipped", "rankers"}
    (item,) = answer["items"]
    assert set(item) == {"memory", "score", "freshness", "stale"}
    assert item["freshness"] == 1.0
    assert item["memory"] == memory
    assert item["stale"] is False
    assert memory["content"] in answer["context"]
    assert answer["policy"] == POLICY_TEXT
    assert answer["policy"] not in answer["context"]
    assert answer["tokens"] > 0
    assert answer["skipped"] == {"budget": 0, "scan": 0, "together": 0, "contradicted": 0}


def test_an_item_that_others_contradict_says_so(acme: Acme) -> None:
    """SPEC T3: which memory says otherwise, by its id, until a person has decided."""
    old, new = (
        acme.remember(
            f"The proxy of the shop is {name}", claim={"entity": "shop", "attribute": "proxy", "value": name}
        )
        for name in ("nginx", "Caddy")
    )

    (item,) = acme.call("POST", "/v1/recall", {"query": "proxy"}).json()["items"]

    assert item["memory"]["id"] == new["id"]
    (contradiction,) = item["contradictions"]
    assert (contradiction["with"], contradiction["shown"]) == (old["id"], False)
    assert set(contradiction) == {"id", "with", "shown"}
    assert item["note"] == f"Contradicted by memory {old['id']} (not shown); a person has not decided yet."


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


def contents(answer: httpx.Response) -> list[str]:
    """What was shown, in its order."""
    assert answer.status_code == 200, answer.text
    return [item["memory"]["content"] for item in answer.json()["items"]]


def test_several_questions_are_asked_at_once(acme: Acme) -> None:
    """SPEC R2: each memory is there once, and counts by the question that it answers best."""
    for text in ("Parcels go to Mill Lane", "The invoice is due in May", "Rings twice", "Likes tea"):
        acme.remember(text, kind="preference")

    found = acme.call("POST", "/v1/recall", {"queries": ["parcels", "invoice", "parcels"], "limit": 2})

    assert sorted(contents(found)) == ["Parcels go to Mill Lane", "The invoice is due in May"]
    assert found.json()["rankers"]


def test_without_a_question_the_newest_of_what_is_narrowed_to_come(acme: Acme) -> None:
    """SPEC R1: all preferences of a customer, say; nothing was asked, so nothing is ranked."""
    for number in range(3):
        acme.remember(f"Preference number {number}", key=f"taste.{number}")
        acme.clock.ahead += timedelta(seconds=1)
    acme.remember("Their tasting is on Monday", key="tasting")

    found = acme.call("POST", "/v1/recall", {"key_prefix": "taste.", "explain": True})
    few = acme.call("POST", "/v1/recall", {"kinds": ["preference"], "limit": 2})

    assert contents(found) == [f"Preference number {number}" for number in (2, 1, 0)]
    assert found.json()["rankers"] == []
    assert [(item["score"], item["why"]) for item in found.json()["items"]] == [(0.0, {})] * 3
    assert contents(few) == ["Their tasting is on Monday", "Preference number 2"]


def test_a_window_narrows_by_when_it_was_written(acme: Acme) -> None:
    """SPEC R1: from `since` on and before `until`, in whatever zone they are given."""
    times = []
    for number in range(3):
        times.append(datetime.fromisoformat(acme.remember(f"Note {number}")["created_at"]))
        acme.clock.ahead += timedelta(hours=1)
    paris = timezone(timedelta(hours=2))

    middle = {"since": times[1].astimezone(paris).isoformat(), "until": times[2].isoformat()}

    assert contents(acme.call("POST", "/v1/recall", {"query": "note", **middle})) == ["Note 1"]
    assert contents(acme.call("POST", "/v1/recall", middle)) == ["Note 1"]
    assert contents(acme.call("POST", "/v1/recall", {"until": times[0].isoformat()})) == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"subject": "customer-7", "min_trust": "untrusted", "limit": 5}, "query"),
        ({"query": ""}, "query"),
        ({"query": " \t"}, "query"),
        ({"query": "", "kinds": ["fact"]}, "query"),
        ({"query": " ", "key_prefix": "address."}, "query"),
        ({"query": 7}, "query"),
        ({"query": "a", "queries": ["b"]}, "queries"),
        ({"queries": []}, "queries"),
        ({"queries": [], "kinds": ["fact"]}, "queries"),
        ({"queries": ["a"] * 9}, "queries"),
        ({"queries": ["a", " "]}, "queries"),
        ({"queries": ["a", ""]}, "queries"),
        ({"queries": ["a\x00"]}, "queries"),
        ({"queries": ["a", "b" * 10_001]}, "queries"),
        ({"queries": "a"}, "queries"),
        ({"query": "a", "key_prefix": ""}, "key_prefix"),
        ({"query": "a", "key_prefix": " "}, "key_prefix"),
        ({"query": "a", "key_prefix": "a\x00"}, "key_prefix"),
        ({"query": "a", "key_prefix": "a" * 201}, "key_prefix"),
        ({"query": "a", "since": "yesterday"}, "since"),
        ({"query": "a", "since": "2031-05-04T09:00:00"}, "since"),
        ({"query": "a", "until": 7}, "until"),
        ({"since": "2031-05-04T09:00:00Z", "until": "2031-05-04T09:00:00Z"}, "until"),
        ({"query": "a", "time_zone": "Mars/Olympus"}, "time_zone"),
        ({"query": "a", "time_zone": "../../etc/passwd"}, "time_zone"),
        ({"query": "a", "time_zone": "/etc/passwd"}, "time_zone"),
        ({"query": "a", "time_zone": ""}, "time_zone"),
        ({"query": "a", "time_zone": "Europe"}, "time_zone"),
        ({"query": "a", "tokenizer": ""}, "tokenizer"),
    ],
    ids=str,
)
def test_a_question_that_cannot_be_is_refused_by_its_field(acme: Acme, body: Json, field: str) -> None:
    """SPEC S2: above all, a question that went missing never becomes a list of everything."""
    answer = acme.call("POST", "/v1/recall", body)

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"].split(".")[0] == field


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati", "UTC"])
def test_a_date_in_a_question_at_the_beginning_of_the_calendar_is_no_fault(acme: Acme, zone: str) -> None:
    """SPEC S2: some days there begin before the first one."""
    asked = {"query": "what did they say last May?", "as_of": "0001-01-01T00:00:00Z", "time_zone": zone}

    assert contents(acme.call("POST", "/v1/recall", asked)) == []


def test_neighbours_come_in_the_order_of_their_thread(acme: Acme) -> None:
    """SPEC R2a, R7: the memory itself with what stood around it, as one block, with a receipt."""
    said = [acme.remember(f"Turn {number}", source=turn(number)) for number in (3, 1, 2, 5, 4)]
    acme.remember("Turn 2 of another talk", source=turn(2, thread="talk-8"))

    found = acme.call("GET", f"/v1/memories/{said[0]['id']}/neighbours?before=1&after=2")
    narrow = acme.call("GET", f"/v1/memories/{said[0]['id']}/neighbours?before=0&after=0")
    first = acme.call("GET", f"/v1/memories/{said[1]['id']}/neighbours")

    assert contents(found) == ["Turn 2", "Turn 3", "Turn 4", "Turn 5"]
    assert (contents(narrow), contents(first)) == (["Turn 3"], ["Turn 1", "Turn 2", "Turn 3"])
    answer = found.json()
    assert answer["context"].index("Turn 2") < answer["context"].index("Turn 5")
    report = {"response_id": "answer-1", "used_memory_ids": [said[2]["id"]]}
    noted = acme.call("POST", f"/v1/recalls/{answer['receipt_id']}/influence", report)
    assert noted.status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("before=-1", "before"),
        ("after=101", "after"),
        ("before=x", "before"),
        ("before=10&after=10", "before"),
        ("until=7", "until"),
    ],
)
def test_neighbours_that_cannot_be_asked_for_are_refused_by_their_field(
    acme: Acme, query: str, field: str
) -> None:
    """SPEC S2, R4: as many items as a recall may have, and no more."""
    memory = acme.remember(source=turn(1))

    answer = acme.call("GET", f"/v1/memories/{memory['id']}/neighbours?{query}")

    assert (answer.status_code, problem_code(answer), answer.json()["field"]) == (
        422,
        "invalid-request",
        field,
    )


def test_what_no_recall_would_show_has_no_neighbours(acme: Acme) -> None:
    """SPEC M2, L6: absent for strangers, and what waits is in no context."""
    memory = acme.remember(source=turn(1))
    waiting = acme.remember("Turn 2", source={**turn(2), "type": "email"}, kind="fact")

    stranger = acme.call("GET", f"/v1/memories/{memory['id']}/neighbours", who="sales")
    reviewer = acme.call("GET", f"/v1/memories/{memory['id']}/neighbours", who="ann")
    held = acme.call("GET", f"/v1/memories/{waiting['id']}/neighbours")

    assert (stranger.status_code, problem_code(stranger)) == (404, "not-found")
    assert (reviewer.status_code, problem_code(reviewer)) == (403, "forbidden")
    assert (held.status_code, problem_code(held)) == (404, "not-found")
    assert contents(acme.call("GET", f"/v1/memories/{memory['id']}/neighbours")) == [memory["content"]]


class Down:
    """An engine of meaning that does not answer."""

    model = "elsewhere/1"
    is_immediate = False

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """Nothing."""
        raise EmbeddingFailed(f"it is down, and {len(texts)} texts wait")

    def query(self, text: str) -> Vector:
        """Nothing."""
        raise EmbeddingFailed(f"it is down, and {len(text)} characters wait")


def test_what_could_not_take_part_is_said(acme: Acme) -> None:
    """SPEC R2: while meaning is down words still find; the answer says that it may be incomplete."""
    acme.node.pipeline.meaning = Meaning(Down())
    memory = acme.remember()

    answer = acme.call("POST", "/v1/recall", {"query": "e-mail"}).json()
    acme.node.pipeline.meaning = Meaning()
    on_words_alone = acme.call("POST", "/v1/recall", {"query": "e-mail"}).json()

    assert [item["memory"]["id"] for item in answer["items"]] == [memory["id"]]
    assert (answer["rankers"], answer["without"]) == (["words", "place"], ["meaning"])
    assert (on_words_alone["rankers"], "without" in on_words_alone) == (["words", "place"], False)


def turn(position: int, thread: str = "talk-7") -> Json:
    """A source that is one turn of a conversation."""
    return {"type": "direct_user", "id": f"{thread}-{position}", "thread": thread, "position": position}
