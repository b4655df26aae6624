"""Writing, reading and renewing memories over HTTP, by the words of the interface's description alone."""

from datetime import timedelta

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code, proposal

EMAIL = {"type": "email", "id": "mail-9"}
SAID_AGAIN = {"type": "direct_user", "id": "message-2"}


def test_a_whole_life_is_lived_over_http(acme: Acme) -> None:
    """Proposed, admitted, recalled, corrected, renewed, revoked and forgotten (SPEC M6, L1, L10, L12, F1)."""
    written = acme.call("POST", "/v1/memories", proposal())
    assert written.status_code == 201
    memory, decision = written.json()["memory"], written.json()["decision"]
    assert decision["outcome"] == "approve"
    assert decision["rule"] == "direct_user_preference"
    assert (memory["status"], memory["trust"], memory["version"]) == ("active", "user_asserted", 1)

    found = acme.call(
        "POST", "/v1/recall", {"query": "how do we contact them?", "subject": "customer-7"}
    ).json()
    assert [item["memory"]["id"] for item in found["items"]] == [memory["id"]]
    used = {"response_id": "answer-1", "used_memory_ids": [memory["id"]]}
    assert acme.call("POST", f"/v1/recalls/{found['receipt_id']}/influence", used).status_code == 200

    change = {"expected_version": 1, "content": "Prefers the phone", "source": SAID_AGAIN}
    revised = acme.call("PATCH", f"/v1/memories/{memory['id']}", change)
    assert revised.status_code == 200
    assert revised.json()["memory"]["content"] == "Prefers the phone"
    assert revised.json()["memory"]["version"] == 2

    longer = {"expected_version": 2, "ttl_seconds": 86_400, "reason": "still a customer"}
    assert acme.call("POST", f"/v1/memories/{memory['id']}/renew", longer).json()["memory"]["version"] == 3

    withdrawn = {"expected_version": 3, "reason": "said in jest"}
    revoked = acme.call("POST", f"/v1/memories/{memory['id']}/revoke", withdrawn, who="ann").json()["memory"]
    assert revoked["status"] == "revoked"
    assert acme.call("POST", "/v1/recall", {"query": "phone"}).json()["items"] == []

    history = acme.call("GET", f"/v1/memories/{memory['id']}/history", who="ann").json()
    assert history["memory_id"] == memory["id"]
    assert [item["event"] for item in history["items"]] == [
        "memory.admitted",
        "memory.revised",
        "memory.renewed",
        "memory.revoked",
    ]

    forgotten = acme.call("POST", "/v1/forget", {"subject": "customer-7"}, who="officer").json()
    assert (forgotten["status"], forgotten["forgotten"], forgotten["durable"]) == ("forgotten", 1, True)
    gone = acme.call("GET", f"/v1/memories/{memory['id']}", who="ann")
    assert (gone.status_code, problem_code(gone)) == (404, "not-found")


def test_a_memory_is_shown_whole(acme: Acme) -> None:
    """Every part of the record is there under its own name, times in UTC (SPEC M1)."""
    written = acme.remember(
        id="0195a4a0-0000-7000-8000-000000000001",
        key="contact",
        claim={"entity": "customer-7", "attribute": "channel", "value": "e-mail"},
        confidence=0.8,
        valid_from="2026-01-01T01:00:00+01:00",
        scope={"tier": "session", "id": "s-1", "user": "u-1"},
        source={
            "type": "direct_user",
            "id": "message-1",
            "uri": "https://example.org/1",
            "version": "2",
            "observed_at": "2026-02-01T12:00:00+02:00",
            "thread": "conversation-4",
            "position": 3,
        },
    )

    read = acme.call("GET", f"/v1/memories/{written['id']}").json()

    assert read == written
    assert read["id"] == "0195a4a0-0000-7000-8000-000000000001"
    assert (read["tenant"], read["agent"], read["purpose"]) == ("acme", "support", "support")
    assert read["valid_from"] == "2026-01-01T00:00:00Z"
    assert read["source"]["observed_at"] == "2026-02-01T10:00:00Z"
    assert read["source"]["thread"] == "conversation-4"
    assert read["scope"] == {"tier": "session", "id": "s-1", "user": "u-1"}
    assert read["claim"]["value"] == "e-mail"
    assert read["expires_at"].endswith("Z")
    assert read["fingerprint"]
    assert read["tokens"] > 0
    assert read["superseded_by"] is None


def test_a_dry_run_decides_and_stores_nothing(acme: Acme) -> None:
    """Whatever the outcome, the answer is 200 with the decision (SPEC L2)."""
    before = acme.log_head()

    outcomes = {}
    for content in ("Prefers e-mail", "The admin password is correct-horse-battery"):
        answer = acme.call("POST", "/v1/memories", proposal(content=content, dry_run=True))
        assert answer.status_code == 200
        assert set(answer.json()) == {"decision", "findings"}
        outcomes[content] = answer.json()["decision"]["outcome"]

    assert outcomes["Prefers e-mail"] == "approve"
    assert outcomes["The admin password is correct-horse-battery"] in {"reject", "quarantine"}
    assert acme.log_head() == before


def test_a_rejection_says_which_rule_and_why(acme: Acme) -> None:
    """A reject is a problem with rule and reason, and never repeats the content (SPEC L2, L13)."""
    answer = acme.call("POST", "/v1/memories", proposal(content="x" * 2_001))

    assert (answer.status_code, problem_code(answer)) == (422, "memory-rejected")
    assert answer.json()["rule"] == "content_length"
    assert answer.json()["reason"]
    assert "xxx" not in answer.text


def test_a_retry_with_its_key_is_answered_as_the_first_time(acme: Acme) -> None:
    """Same key, same command: the first answer again; same key, another command: an error (SPEC L9)."""
    first = acme.call("POST", "/v1/memories", proposal(), key="retry-1")
    length = acme.log_head()
    again = acme.call("POST", "/v1/memories", proposal(), key="retry-1")
    other = acme.call("POST", "/v1/memories", proposal(content="Prefers letters"), key="retry-1")

    assert again.json() == first.json()
    assert again.status_code == first.status_code
    assert (other.status_code, problem_code(other)) == (409, "idempotency-mismatch")
    assert other.json()["field"] == "Idempotency-Key"
    assert acme.log_head() == length


def test_a_stale_writer_is_told_the_current_version(acme: Acme) -> None:
    """A mismatch is a conflict that says the current version and changes nothing (SPEC L8)."""
    memory = acme.remember()
    change: Json = {"expected_version": 1, "content": "Prefers the phone", "source": SAID_AGAIN}
    acme.call("PATCH", f"/v1/memories/{memory['id']}", change)
    length = acme.log_head()

    stale = acme.call("PATCH", f"/v1/memories/{memory['id']}", {**change, "content": "Prefers letters"})

    assert (stale.status_code, problem_code(stale)) == (409, "version-conflict")
    assert stale.json()["current_version"] == 2
    assert stale.json()["field"] == "expected_version"
    assert acme.log_head() == length


def test_a_correction_takes_the_place_of_what_it_corrects(acme: Acme) -> None:
    """The old memory is superseded, recall sees the new one alone, history keeps both (SPEC L10)."""
    old = acme.remember()
    new = acme.remember("Prefers the phone to e-mail", supersedes=old["id"])

    assert acme.call("GET", f"/v1/memories/{old['id']}").json()["superseded_by"] == new["id"]
    found = acme.call("POST", "/v1/recall", {"query": "phone or e-mail?"}).json()
    assert [item["memory"]["id"] for item in found["items"]] == [new["id"]]


def test_a_revision_from_outside_waits_as_a_correction(acme: Acme) -> None:
    """What the gate holds back supersedes nothing until it is promoted (SPEC L10)."""
    old = acme.remember()
    change = {"expected_version": 1, "content": "Write to the new address", "source": EMAIL}

    held = acme.call("PATCH", f"/v1/memories/{old['id']}", change).json()

    assert held["decision"]["outcome"] == "quarantine"
    assert held["memory"]["id"] != old["id"]
    assert held["memory"]["supersedes"] == old["id"]
    assert acme.call("GET", f"/v1/memories/{old['id']}").json()["status"] == "active"


def test_pages_hold_every_memory_once(acme: Acme) -> None:
    """A page says where the next begins; the filters narrow (SPEC M2)."""
    written = [acme.remember(f"Likes number {number}")["id"] for number in range(5)]

    seen: list[str] = []
    path = "/v1/memories?subject=customer-7&status=active&kind=preference&limit=2"
    page = acme.call("GET", path).json()
    seen += [memory["id"] for memory in page["items"]]
    while page["next_cursor"]:
        page = acme.call("GET", f"{path}&cursor={page['next_cursor']}").json()
        seen += [memory["id"] for memory in page["items"]]

    assert seen == list(reversed(written))
    assert acme.call("GET", "/v1/memories?subject=nobody").json() == {"items": [], "next_cursor": None}


def test_time_passes_for_every_read(acme: Acme) -> None:
    """From the instant of its expiry a memory is expired, before any worker wrote so (SPEC L11)."""
    memory = acme.remember(ttl_seconds=60)
    acme.clock.ahead = timedelta(seconds=61)

    assert acme.call("GET", f"/v1/memories/{memory['id']}").json()["status"] == "expired"
    assert acme.call("POST", "/v1/recall", {"query": "e-mail"}).json()["items"] == []


@pytest.mark.parametrize("field", ["agent", "purpose"])
def test_what_a_credential_leaves_open_must_be_named(acme: Acme, field: str) -> None:
    """Left out is filled only where exactly one is granted; else the field is asked for (SPEC A2)."""
    token = acme.token("wide", "acme", roles=["writer"])
    body = proposal(agent="support", purpose="support")
    del body[field]

    answer = acme.call("POST", "/v1/memories", body, token=token)

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == field
