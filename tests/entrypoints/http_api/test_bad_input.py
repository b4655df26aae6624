"""Whatever is wrong with a request: a 4xx problem that names the field, and nothing is stored (SPEC S2)."""

from typing import Any

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code, proposal

SECRET = "the moon is made of green cheese"
SOURCE = {"type": "direct_user", "id": "message-1"}
FAR_OFF = "2999-01-01T00:00:00Z"
LONG_AGO = "2001-01-01T00:00:00Z"
ABSENT_ID = "0195a4a0-0000-7000-8000-00000000dead"

BAD_PROPOSALS: list[tuple[str, Json, str]] = [
    ("a kind that is not known", {"kind": SECRET}, "kind"),
    ("a kind of another type", {"kind": 7}, "kind"),
    ("no kind", {"kind": None}, "kind"),
    ("no content", {"content": None}, "content"),
    ("content that is a number", {"content": 7}, "content"),
    ("content that is a list", {"content": [SECRET]}, "content"),
    ("content with NUL", {"content": f"{SECRET}\x00"}, "content"),
    ("no source", {"source": None}, "source"),
    ("a source that is a word", {"source": "direct_user"}, "source"),
    ("a source without type", {"source": {"id": "m"}}, "source.type"),
    ("a source type that is not known", {"source": {"type": SECRET, "id": "m"}}, "source.type"),
    ("a source without id", {"source": {"type": "direct_user"}}, "source.id"),
    ("a source id that is a number", {"source": {"type": "direct_user", "id": 7}}, "source.id"),
    ("a source id with odd characters", {"source": {"type": "direct_user", "id": "a\nb"}}, "source.id"),
    ("a source that knows more", {"source": {**SOURCE, "trust": "high"}}, "source.trust"),
    ("a source seen in the future", {"source": {**SOURCE, "observed_at": FAR_OFF}}, "source.observed_at"),
    ("a source position below zero", {"source": {**SOURCE, "position": -1}}, "source.position"),
    ("a tenant", {"tenant": "other"}, "tenant"),
    ("a trust", {"trust": "reviewer_verified"}, "trust"),
    ("an agent with odd characters", {"agent": "sup\x00port"}, "agent"),
    ("an agent that is not granted", {"agent": "sales"}, "agent"),
    ("a purpose that is not granted", {"purpose": "marketing"}, "purpose"),
    ("a purpose that is a number", {"purpose": 7}, "purpose"),
    ("no subject", {"subject": None}, "subject"),
    ("an empty subject", {"subject": ""}, "subject"),
    ("a subject with odd characters", {"subject": "a\u0000b"}, "subject"),
    ("a subject beyond any length", {"subject": "s" * 201}, "subject"),
    ("an id that is none", {"id": "seven"}, "id"),
    ("a lifetime of nothing", {"ttl_seconds": 0}, "ttl_seconds"),
    ("a lifetime below nothing", {"ttl_seconds": -1}, "ttl_seconds"),
    ("a lifetime beyond the maximum", {"ttl_seconds": 400 * 86_400}, "ttl_seconds"),
    ("a lifetime beyond every number", {"ttl_seconds": 10**30}, "ttl_seconds"),
    ("a lifetime that is a word", {"ttl_seconds": "60"}, "ttl_seconds"),
    ("an end in the past", {"expires_at": LONG_AGO}, "expires_at"),
    ("an end beyond the maximum", {"expires_at": FAR_OFF}, "expires_at"),
    ("an end without a zone", {"expires_at": "2026-12-01T00:00:00"}, "expires_at"),
    ("an end that is no time", {"expires_at": SECRET}, "expires_at"),
    ("an end outside every calendar", {"expires_at": "0001-01-01T00:00:00+23:59"}, "expires_at"),
    ("both an end and a lifetime", {"ttl_seconds": 60, "expires_at": FAR_OFF}, "ttl_seconds"),
    ("a validity that ends first", {"valid_from": FAR_OFF, "valid_to": LONG_AGO}, "valid_from"),
    ("a confidence above one", {"confidence": 1.5}, "confidence"),
    ("a confidence that is a word", {"confidence": "high"}, "confidence"),
    ("a version below zero", {"expected_version": -1}, "expected_version"),
    ("a version of something else", {"expected_version": 3}, "expected_version"),
    ("a version that is a word", {"expected_version": "0"}, "expected_version"),
    ("a version that is a fraction", {"expected_version": 0.5}, "expected_version"),
    ("a claim without value", {"claim": {"entity": "e", "attribute": "a"}}, "claim.value"),
    ("a claim with an empty value", {"claim": {"entity": "e", "attribute": "a", "value": ""}}, "claim.value"),
    ("a scope tier that is not known", {"scope": {"tier": "galaxy", "id": "g"}}, "scope.tier"),
    ("a scope without id", {"scope": {"tier": "task"}}, "scope.id"),
    ("a correction of nothing", {"supersedes": ABSENT_ID}, "supersedes"),
    ("a correction of no id", {"supersedes": "seven"}, "supersedes"),
    ("a derivation from nothing", {"derived_from": [ABSENT_ID]}, "derived_from"),
    ("a derivation from no id", {"derived_from": ["seven"]}, "derived_from"),
    ("a derivation from too much", {"derived_from": [ABSENT_ID] * 101}, "derived_from"),
    ("a dry run that is a word", {"dry_run": "yes"}, "dry_run"),
]

BAD_BODIES: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "body"),
    ("text", b"remember this", "body"),
    ("half of a body", b'{"kind":', "body"),
    ("a list", b"[]", "body"),
    ("null", b"null", "body"),
    ("not a number", b'{"confidence": NaN}', "body"),
    ("a byte order mark", b"\xef\xbb\xbf{}", "body"),
    ("other than UTF-8", b'{"content": "\xff\xfe"}', "content"),
    ("other than UTF-8 inside", b'{"source": {"id": "\xc3\x28"}}', "source.id"),
    ("a lone surrogate", b'{"content": "\\ud800"}', "content"),
    ("lists without end", b"[" * 100_000, "body"),
    ("objects without end", b'{"a":' * 100_000, "a"),
    ("a number beyond every number", b'{"confidence": 1e999}', "confidence"),
]


@pytest.mark.parametrize(
    ("changes", "field"), [bad[1:] for bad in BAD_PROPOSALS], ids=[bad[0] for bad in BAD_PROPOSALS]
)
def test_a_bad_proposal_is_refused_by_its_field(shared: Acme, changes: Json, field: str) -> None:
    """SPEC S2, M4, A2, L8, L11: one wrong field, named, its value never repeated."""
    _refused(shared, proposal(**{"content": SECRET, **_kept(changes)}), _gone(changes), field)


def _kept(changes: Json) -> Json:
    return {name: value for name, value in changes.items() if value is not None}


def _gone(changes: Json) -> set[str]:
    return {name for name, value in changes.items() if value is None}


def _refused(acme: Acme, body: Json, without: set[str], field: str) -> None:
    before = acme.log_head()
    answer = acme.call(
        "POST", "/v1/memories", {name: value for name, value in body.items() if name not in without}
    )

    assert 400 <= answer.status_code < 500, answer.text
    assert problem_code(answer)
    assert answer.json()["field"] == field
    assert SECRET not in answer.text
    # A denial is recorded (SPEC A2), and is no memory.
    assert acme.log_head() - before == (1 if answer.status_code == 403 else 0)
    assert acme.call("GET", "/v1/memories").json()["items"] == []


@pytest.mark.parametrize(
    ("raw", "field"), [bad[1:] for bad in BAD_BODIES], ids=[bad[0] for bad in BAD_BODIES]
)
def test_a_body_that_is_no_json_object_is_refused(shared: Acme, raw: bytes, field: str) -> None:
    """SPEC S2: not JSON, not UTF-8, too deep; the body is named, or the one field to blame."""
    before = shared.log_head()
    answer = shared.call("POST", "/v1/memories", raw=raw)

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == field
    assert shared.log_head() == before


BAD_REQUESTS: list[tuple[str, str, Any, str]] = [
    ("GET", "/v1/memories/seven", None, "memory_id"),
    ("GET", "/v1/memories/%00", None, "memory_id"),
    ("GET", "/v1/memories/%F0%9F%A7%80/history", None, "memory_id"),
    ("PATCH", f"/v1/memories/{ABSENT_ID}", {"source": SOURCE, "content": "x"}, "expected_version"),
    ("PATCH", f"/v1/memories/{ABSENT_ID}", {"expected_version": 1, "content": "x"}, "source"),
    ("POST", f"/v1/memories/{ABSENT_ID}/promote", {"expected_version": 1}, "reason"),
    ("POST", f"/v1/memories/{ABSENT_ID}/promote", {"expected_version": 1, "reason": ""}, "reason"),
    ("POST", f"/v1/memories/{ABSENT_ID}/reject", {"reason": "wrong"}, "expected_version"),
    ("POST", f"/v1/memories/{ABSENT_ID}/renew", {"expected_version": 1, "reason": 7}, "reason"),
    ("GET", "/v1/memories?limit=0", None, "limit"),
    ("GET", "/v1/memories?limit=201", None, "limit"),
    ("GET", "/v1/memories?limit=many", None, "limit"),
    ("GET", f"/v1/memories?limit={'9' * 5_000}", None, "limit"),
    ("GET", "/v1/memories?limit=1&limit=2", None, "limit"),
    ("GET", "/v1/memories?status=lost", None, "status"),
    ("GET", "/v1/memories?kind=rumour", None, "kind"),
    ("GET", "/v1/memories?source_type=gossip", None, "source_type"),
    ("GET", "/v1/memories?cursor=elsewhere", None, "cursor"),
    ("GET", "/v1/memories?tenant=other", None, "tenant"),
    ("GET", "/v1/memories?subject=%FF", None, "query"),
    ("GET", f"/v1/memories?{'&'.join(f'a{number}=1' for number in range(60))}", None, "query"),
    ("GET", "/v1/review?limit=none", None, "limit"),
    ("GET", "/v1/log?after=-1", None, "after"),
    ("GET", "/v1/log?limit=1001", None, "limit"),
    ("POST", "/v1/recall", {}, "query"),
    ("POST", "/v1/recall", {"query": ""}, "query"),
    ("POST", "/v1/recall", {"query": 7}, "query"),
    ("POST", "/v1/recall", {"query": "q" * 10_001}, "query"),
    ("POST", "/v1/recall", {"query": "q\x00"}, "query"),
    ("POST", "/v1/recall", {"query": "q", "limit": 0}, "limit"),
    ("POST", "/v1/recall", {"query": "q", "limit": 21}, "limit"),
    ("POST", "/v1/recall", {"query": "q", "kinds": ["rumour"]}, "kinds"),
    ("POST", "/v1/recall", {"query": "q", "min_trust": "blind"}, "min_trust"),
    ("POST", "/v1/recall", {"query": "q", "budget_tokens": 0}, "budget_tokens"),
    ("POST", "/v1/recall", {"query": "q", "scope": {"tier": "galaxy", "id": "g"}}, "scope.tier"),
    ("POST", "/v1/recall", {"query": "q", "subject": " "}, "subject"),
    ("POST", "/v1/recall", {"query": "q", "tenant": "other"}, "tenant"),
    ("POST", "/v1/recalls/seven/influence", {"response_id": "r", "used_memory_ids": []}, "receipt_id"),
    ("POST", f"/v1/recalls/{ABSENT_ID}/influence", {"response_id": "r"}, "used_memory_ids"),
    (
        "POST",
        f"/v1/recalls/{ABSENT_ID}/influence",
        {"response_id": "r", "used_memory_ids": [7]},
        "used_memory_ids",
    ),
    ("POST", "/v1/forget", {"subject": 7}, "subject"),
    ("POST", "/v1/forget", {"subject": ""}, "subject"),
    ("POST", "/v1/credentials", {"name": "x", "roles": ["emperor"]}, "roles"),
    ("POST", "/v1/credentials", {"name": "x", "roles": []}, "roles"),
    ("POST", "/v1/credentials", {"name": "", "roles": ["reader"]}, "name"),
    ("POST", "/v1/credentials", {"name": "x", "roles": ["reader"], "agents": []}, "agents"),
    (
        "POST",
        "/v1/credentials",
        {"name": "x", "roles": ["reader"], "source_types": ["gossip"]},
        "source_types",
    ),
    ("POST", "/v1/credentials", {"name": "x", "roles": ["reader"], "tenant": "other"}, "tenant"),
    ("POST", "/v1/credentials", {"name": "x", "roles": ["reviewer"], "model_driven": True}, "roles"),
    ("DELETE", "/v1/credentials/seven", None, "key_id"),
    ("GET", "/v1/credentials?limit=0", None, "limit"),
    ("GET", "/v1/credentials?limit=201", None, "limit"),
    ("GET", "/v1/credentials?cursor=elsewhere", None, "cursor"),
    ("GET", f"/v1/credentials?cursor=after:{ABSENT_ID}", None, "cursor"),
    ("GET", "/v1/review?cursor=elsewhere", None, "cursor"),
    ("GET", "/v1/memories/seven/neighbours", None, "memory_id"),
    ("GET", f"/v1/memories/{ABSENT_ID}/neighbours?before=20", None, "before"),
    ("GET", f"/v1/memories/{ABSENT_ID}/neighbours?around=2", None, "around"),
]


@pytest.mark.parametrize(("method", "path", "body", "field"), BAD_REQUESTS)
def test_a_bad_request_is_refused_by_its_field(
    shared: Acme, method: str, path: str, body: object, field: str
) -> None:
    """SPEC S2: every call names the field at fault, wherever it stands: path, query or body."""
    before = shared.log_head()
    answer = shared.call(method, path, body, token=shared.tokens["everything"])

    assert 400 <= answer.status_code < 500, answer.text
    assert problem_code(answer)
    assert answer.json()["field"] == field
    assert shared.log_head() == before


@pytest.mark.parametrize("key", ["", "k" * 201, "a\tb", "ключ".encode().decode("latin-1")])
def test_an_odd_idempotency_key_is_refused(shared: Acme, key: str) -> None:
    """SPEC L9: a key has 1 to 200 printable characters."""
    before = shared.log_head()
    answer = shared.client.post(
        "/v1/memories",
        json=proposal(),
        headers=[
            (b"Authorization", f"Bearer {shared.tokens['bot']}".encode()),
            (b"Idempotency-Key", key.encode("latin-1")),
        ],
    )

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == "Idempotency-Key"
    assert shared.log_head() == before


def test_a_tokenizer_that_is_not_there_is_refused_and_its_absence_accepted(shared: Acme) -> None:
    """What would be left aside in silence would be believed; the estimate is its absence."""
    refused = shared.call("POST", "/v1/recall", {"query": "q", "tokenizer": "o200k"})
    accepted = shared.call("POST", "/v1/recall", {"query": "q", "tokenizer": "estimate"})

    assert (refused.status_code, refused.json()["field"]) == (422, "tokenizer")
    assert accepted.status_code == 200


def test_an_unknown_address_and_a_wrong_method_are_problems(shared: Acme) -> None:
    """SPEC S2: the router's own refusals have the same shape."""
    nowhere = shared.call("GET", "/v1/nowhere")
    wrong = shared.call("PUT", "/v1/memories", {})

    assert (nowhere.status_code, problem_code(nowhere)) == (404, "not-found")
    assert (wrong.status_code, problem_code(wrong)) == (405, "method-not-allowed")
    assert {"GET", "POST"} <= set(wrong.headers["allow"].split(", "))
