"""Checkpoints and proofs over HTTP: what an auditor gets, checked with nothing but what it says (SPEC E2)."""

from base64 import b64decode

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code

from tenure.core.checkpoints import read_verifier, verify
from tenure.core.ledger import link
from tenure.core.merkle import leaf_hash, verify_consistency, verify_inclusion
from tenure.entrypoints.cli.signatures import is_signed


def got(acme: Acme, path: str) -> Json:
    """What the auditor is answered."""
    answer = acme.call("GET", path, who="auditor")
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def hashes(proof: Json) -> list[bytes]:
    """The hashes of a proof."""
    return [b64decode(one) for one in proof["hashes"]]


def test_a_checkpoint_is_of_the_whole_log_and_signed(acme: Acme) -> None:
    """SPEC E2: origin, size, root, note and the key to check it with."""
    acme.remember()

    checkpoint = got(acme, "/v1/log/checkpoint")

    assert set(checkpoint) == {"origin", "size", "root", "note", "key", "made_at"}
    head = verify(checkpoint["note"], read_verifier(checkpoint["key"]), is_signed=is_signed)
    assert (head.origin, head.size, head.root) == (
        checkpoint["origin"],
        checkpoint["size"],
        b64decode(checkpoint["root"]),
    )
    assert head.size == acme.log_head()
    assert got(acme, f"/v1/log/checkpoint?size={head.size}") == checkpoint


def test_an_event_is_proven_to_stand_in_the_log(acme: Acme) -> None:
    """SPEC E2: from the header's exact text, through its link, to the signed root."""
    acme.remember()
    key = got(acme, "/v1/log/checkpoint")["key"]

    proof = got(acme, f"/v1/log/proof?seq={acme.log_head()}")

    head = verify(proof["checkpoint"], read_verifier(key), is_signed=is_signed)
    found = link(bytes.fromhex(proof["previous_link"]), proof["seq"], proof["header"].encode())
    leaf = leaf_hash(found)
    assert (proof["kind"], proof["size"], proof["link"]) == ("inclusion", head.size, found.hex())
    assert b64decode(proof["leaf_hash"]) == leaf
    assert verify_inclusion(leaf, proof["seq"] - 1, head.size, hashes(proof), head.root)


def test_the_log_is_proven_to_have_grown(acme: Acme) -> None:
    """SPEC E2: an earlier checkpoint stands within a later one."""
    first = got(acme, "/v1/log/checkpoint")
    acme.remember()
    last = got(acme, "/v1/log/checkpoint")

    proof = got(acme, f"/v1/log/proof?from={first['size']}&size={last['size']}")

    assert (proof["kind"], proof["from"], proof["size"]) == ("consistency", first["size"], last["size"])
    assert (proof["from_checkpoint"], proof["checkpoint"]) == (first["note"], last["note"])
    assert verify_consistency(
        first["size"], last["size"], hashes(proof), b64decode(first["root"]), b64decode(last["root"])
    )


def test_every_event_of_a_memory_is_proven(acme: Acme) -> None:
    """SPEC E2: asked for by the memory's id."""
    memory = acme.remember()
    acme.call("POST", "/v1/forget", {"memory_id": memory["id"], "expected_version": 1}, who="officer")

    proof = got(acme, f"/v1/log/proof?memory_id={memory['id']}")

    assert (proof["kind"], proof["memory_id"]) == ("memory", memory["id"])
    assert len(proof["events"]) == 2
    assert {event["checkpoint"] for event in proof["events"]} == {proof["checkpoint"]}
    assert all(memory["id"] in event["header"] for event in proof["events"])


def test_what_a_token_is_held_against_is_never_handed_out(acme: Acme) -> None:
    """SPEC A1, E2: the event of a new credential is proven by its link alone."""
    answer = acme.call("GET", "/v1/log/proof?seq=1", who="auditor")

    assert answer.json()["header"] is None
    assert "secret_hash" not in answer.text


@pytest.mark.parametrize(
    ("query", "status", "code", "says"),
    [
        ("seq=9999", 404, "not-found", "the log ends at"),
        ("seq=3&size=2", 404, "not-found", "none at position 3"),
        ("seq=1&size=9999", 404, "not-found", "no checkpoint of size 9999"),
        ("from=9999", 404, "not-found", "no checkpoint of size 9999"),
        ("memory_id=00000000-0000-7000-8000-000000000000", 404, "not-found", "no event of this memory"),
        ("from=5&size=4", 422, "invalid-request", "does not shrink"),
        ("seq=1&from=1", 422, "invalid-request", "exactly one of"),
        ("", 422, "invalid-request", "exactly one of"),
        ("size=1", 422, "invalid-request", "exactly one of"),
        ("seq=0", 422, "invalid-request", "seq is of the wrong kind"),
        ("from=0", 422, "invalid-request", "from is of the wrong kind"),
        ("seq=1&size=0", 422, "invalid-request", "size is of the wrong kind"),
        ("seq=-1", 422, "invalid-request", "seq"),
        ("seq=first", 422, "invalid-request", "seq is of the wrong kind"),
        ("memory_id=7", 422, "invalid-request", "memory_id must be a UUID"),
        ("seq=1&path=x", 422, "invalid-request", "not known here"),
    ],
)
def test_a_proof_of_what_is_not_there_is_refused(
    acme: Acme, query: str, status: int, code: str, says: str
) -> None:
    """SPEC E2, S2: what is wrong, and what there is instead."""
    answer = acme.call("GET", f"/v1/log/proof?{query}", who="auditor")

    assert (answer.status_code, problem_code(answer)) == (status, code)
    assert says in answer.json()["detail"]


def test_a_checkpoint_that_was_not_kept_is_not_found(acme: Acme) -> None:
    """SPEC E2, S2: the hint says which there are."""
    size = got(acme, "/v1/log/checkpoint")["size"]

    answer = acme.call("GET", "/v1/log/checkpoint?size=9999", who="auditor")

    assert (answer.status_code, problem_code(answer)) == (404, "not-found")
    assert str(size) in answer.json()["hint"]


def test_only_who_may_read_the_log_gets_a_proof(acme: Acme) -> None:
    """SPEC A4: nobody else, and nothing is signed for them."""
    for path in ("/v1/log/checkpoint", "/v1/log/proof?seq=1", "/v1/log/proof?seq=0&from=0"):
        assert acme.call("GET", path, who="bot").status_code in {403, 422}

    with acme.node.store.reading() as reading:
        assert reading.checkpoints("acme", limit=1) == []
