"""The past and the history of a memory over HTTP (SPEC R8, T4, L2)."""

from datetime import datetime, timedelta

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code


def shown(answer: Json) -> list[str | None]:
    """What a recall gave."""
    return [item["memory"]["content"] for item in answer["items"]]


def test_a_recall_as_of_a_moment_gives_the_past_and_says_so(acme: Acme) -> None:
    """SPEC R8: the old memory before its correction, with where it stands now."""
    old = acme.remember("The proxy is nginx")
    before = acme.clock.now()
    acme.clock.ahead += timedelta(hours=1)
    acme.remember("The proxy is envoy", supersedes=old["id"])

    past = acme.call("POST", "/v1/recall", {"query": "proxy", "as_of": before.isoformat()}).json()
    present = acme.call("POST", "/v1/recall", {"query": "proxy"}).json()

    assert (shown(past), shown(present)) == (["The proxy is nginx"], ["The proxy is envoy"])
    assert past["as_of"] == before.isoformat().replace("+00:00", "Z")
    assert past["items"][0]["status_now"] == "superseded"
    assert "as_of" not in present
    assert "status_now" not in present["items"][0]


def test_what_holds_at_a_time_is_another_question(acme: Acme) -> None:
    """SPEC T4: valid time is not recorded time."""
    soon = acme.clock.now() + timedelta(days=2)
    acme.remember("The proxy moves to Leeds", valid_from=soon.isoformat())

    then = acme.call("POST", "/v1/recall", {"query": "proxy", "valid_at": soon.isoformat()}).json()

    assert shown(then) == ["The proxy moves to Leeds"]
    assert then["valid_at"] == soon.isoformat().replace("+00:00", "Z")
    assert shown(acme.call("POST", "/v1/recall", {"query": "proxy"}).json()) == []


def test_a_corrected_memory_answers_for_its_time(acme: Acme) -> None:
    """SPEC T4, L10: it says until when it held, in a recall and by itself."""
    begins, ends = (acme.clock.now() - timedelta(days=days) for days in (9, 5))
    old = acme.remember("The proxy is nginx", valid_from=begins.isoformat())
    acme.clock.ahead += timedelta(minutes=1)
    acme.remember("The proxy is envoy", valid_from=ends.isoformat(), supersedes=old["id"])
    acme.clock.ahead += timedelta(minutes=1)

    asked = {"query": "proxy", "valid_at": (ends - timedelta(days=1)).isoformat()}
    then = acme.call("POST", "/v1/recall", asked).json()
    kept = acme.call("GET", f"/v1/memories/{old['id']}").json()

    assert shown(then) == ["The proxy is nginx"]
    assert then["items"][0]["status_now"] == "superseded"
    assert shown(acme.call("POST", "/v1/recall", {"query": "proxy"}).json()) == ["The proxy is envoy"]
    assert kept["status"] == "superseded"
    assert datetime.fromisoformat(kept["valid_to"]) == ends


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("as_of", "2999-01-01T00:00:00Z"),
        ("as_of", "2001-01-01T00:00:00"),
        ("as_of", "yesterday"),
        ("as_of", 7),
        ("valid_at", "1969-01-01T00:00:00Z"),
        ("valid_at", "0001-01-01T00:00:00+23:00"),
    ],
)
def test_a_time_that_cannot_be_asked_about_is_a_problem(acme: Acme, field: str, value: object) -> None:
    """SPEC S2: the field is named."""
    answer = acme.call("POST", "/v1/recall", {"query": "q", field: value})

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == field


def test_a_history_reads_as_a_story(acme: Acme) -> None:
    """SPEC L2, L7: one sentence an event, with the names of the credentials."""
    memory = acme.remember(source={"type": "email", "id": "message-9"})
    decided = {"expected_version": 1, "reason": "checked with the customer"}
    acme.call("POST", f"/v1/memories/{memory['id']}/promote", decided, who="ann")

    first, last = acme.call("GET", f"/v1/memories/{memory['id']}/history").json()["items"]

    assert first["text"].startswith(
        f"bot ({first['actor']}) wrote it from email message-9: held back by rule "
    )
    assert first["source"] == {"type": "email", "id": "message-9"}
    assert last["text"] == (
        f"ann ({last['actor']}) promoted it: checked with the customer (trust is now reviewer_verified)"
    )
    assert last["trust"] == "reviewer_verified"
