"""Many decisions at once, filters of the queue, and statistics of reviewers over HTTP (SPEC L6-L8, A5)."""

from typing import Any

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code, proposal

MAIL = {"type": "email", "id": "mail-1"}


def held_back(acme: Acme, content: str, **more: object) -> Json:
    """A memory that waits in quarantine, since it came by e-mail."""
    body = proposal(kind="fact", content=content, source=MAIL, **more)
    memory: Json = acme.call("POST", "/v1/memories", body).json()["memory"]
    return memory


def queue(acme: Acme, asked: str = "") -> Json:
    """A page of the queue."""
    page: Json = acme.call("GET", f"/v1/review{asked}", who="ann").json()
    return page


def bulk(acme: Acme, body: dict[str, Any], who: str = "ann") -> Any:
    """The answer to one word on many memories."""
    return acme.call("POST", "/v1/review/bulk", {"reason": "checked", **body}, who=who)


def test_what_waits_from_a_source_is_decided_on_as_it_was_seen(acme: Acme) -> None:
    """SPEC L8: the page's own position says what was seen; what came later is left alone."""
    seen = [held_back(acme, f"Claim {number}")["id"] for number in range(2)]
    until = queue(acme)["seen_until"]
    later = held_back(acme, "Claim 3")["id"]

    answer = bulk(acme, {"action": "promote", "source": MAIL, "seen_until": until})

    assert answer.status_code == 200
    told = answer.json()
    assert {one["memory_id"]: one["outcome"] for one in told["items"]} == {
        **dict.fromkeys(seen, "promoted"),
        later: "not_seen",
    }
    assert (told["decided"], told["not_seen"], told["refused"], told["more"]) == (2, 1, 0, False)
    assert [one["memory"]["id"] for one in queue(acme)["items"]] == [later]


def test_versions_are_held_to_one_by_one(acme: Acme) -> None:
    """SPEC L8: what is refused says why, beside what was done."""
    one, two = held_back(acme, "Claim 1")["id"], held_back(acme, "Claim 2")["id"]
    expected = [{"id": one, "version": 1}, {"id": two, "version": 7}]

    told = bulk(acme, {"action": "reject", "expected": expected}).json()

    assert [(item["outcome"], item["status"]) for item in told["items"]] == [
        ("rejected", "rejected"),
        ("refused", None),
    ]
    assert told["items"][1]["because"]["code"] == "version-conflict"
    assert told["items"][1]["because"]["current_version"] == 1


ID = "019cb0de-81ae-7a38-8bd8-07a3c2df4fc1"
BAD: dict[str, dict[str, Any]] = {
    "nothing named": {"action": "reject", "seen_until": 1},
    "nothing seen": {"action": "reject", "source": MAIL},
    "seen twice": {"action": "reject", "expected": [{"id": ID, "version": 1}], "seen_until": 1},
    "both ways": {"action": "reject", "source": MAIL, "ids": [ID], "seen_until": 1},
    "twice": {"action": "reject", "ids": [ID, ID], "seen_until": 1},
    "no such word": {"action": "erase", "ids": [ID], "seen_until": 1},
    "no such source": {"action": "reject", "source": {"type": "fax", "id": "x"}, "seen_until": 1},
    "more of a source": {"action": "reject", "source": {**MAIL, "uri": "x"}, "seen_until": 1},
    "no id": {"action": "reject", "ids": ["x"], "seen_until": 1},
    "too many": {"action": "reject", "ids": [ID] * 501, "seen_until": 1},
    "below zero": {"action": "reject", "ids": [ID], "seen_until": -1},
    "beyond numbers": {"action": "reject", "ids": [ID], "seen_until": 2**53},
    "no version": {"action": "reject", "expected": [{"id": ID}]},
    "unknown field": {"action": "reject", "ids": [ID], "seen_until": 1, "all": True},
    "no reason": {"action": "reject", "ids": [ID], "seen_until": 1, "reason": ""},
    "blank reason": {"action": "reject", "ids": [ID], "seen_until": 1, "reason": " "},
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_a_word_that_is_not_clear_is_refused_as_a_whole(acme: Acme, body: dict[str, Any]) -> None:
    """SPEC S2: with the field that is at fault, and nothing decided."""
    answer = bulk(acme, body)

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"]


@pytest.mark.parametrize("who", ["bot", "operator"])
def test_a_word_on_many_takes_a_reviewer(acme: Acme, who: str) -> None:
    """SPEC A4."""
    memory = held_back(acme, "Claim 1")
    expected = [{"id": memory["id"], "version": 1}]

    answer = bulk(acme, {"action": "revoke", "expected": expected}, who)

    assert (answer.status_code, problem_code(answer)) == (403, "forbidden")


def test_the_queue_is_narrowed_and_ordered_over_http(acme: Acme) -> None:
    """SPEC L6: by what is in the address alone."""
    payee = held_back(acme, "Pay to IBAN DE89 3704 0044 0532 0130 00")["id"]
    plain = held_back(acme, "Likes tea")["id"]

    def ids(asked: str) -> list[str]:
        return [one["memory"]["id"] for one in queue(acme, asked)["items"]]

    assert ids("") == [plain, payee]
    assert ids("?order=oldest") == ids("?order=riskiest") == [payee, plain]
    assert ids("?finding=sensitive&source_type=email&source_id=mail-1") == [payee]
    assert ids("?rule=no-such-rule") == ids("?kind=skill") == []


@pytest.mark.parametrize(
    "asked",
    ["order=best", "finding=rude", "kind=x", "source_type=fax", "limit=0", "limit=201", "cursor=x", "rule="],
)
def test_a_filter_that_cannot_be_is_refused(acme: Acme, asked: str) -> None:
    """SPEC S2: and never taken for an empty queue."""
    answer = acme.call("GET", f"/v1/review?{asked}", who="ann")

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")


def test_a_finding_is_shown_with_its_excerpt(acme: Acme) -> None:
    """SPEC L6: before, marked, after; nothing invisible."""
    held_back(acme, "Pay\u200b to IBAN DE89 3704 0044 0532 0130 00")

    (one,) = queue(acme)["items"]

    assert one["text"].startswith("Pay\\u{200b} to")
    assert all(len(found["excerpt"]) == 3 for found in one["findings"])
    assert "sensitive" in {found["kind"] for found in one["findings"]}
    assert one["source_record"]["proposals"] == 1
    assert one["attested_by"]["name"]


def test_statistics_are_for_auditors_and_hold_no_content(acme: Acme) -> None:
    """SPEC L7, E6."""
    memory = held_back(acme, "Likes marmalade")
    bulk(acme, {"action": "promote", "expected": [{"id": memory["id"], "version": 1}]})

    answer = acme.call("GET", "/v1/review/statistics", who="auditor")
    refused = acme.call("GET", "/v1/review/statistics", who="ann")
    bad = acme.call("GET", "/v1/review/statistics?since=2999-01-01T00:00:00Z", who="auditor")

    (ann,) = answer.json()["reviewers"]
    assert (ann["promoted"], ann["share_revoked_later"], ann["name"]) == (1, 0.0, "ann")
    assert "marmalade" not in answer.text
    assert (refused.status_code, bad.status_code) == (403, 422)
