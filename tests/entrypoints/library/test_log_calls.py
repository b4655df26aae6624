"""Checkpoints and proofs through a session and through clients of both kinds (SPEC E2, S1)."""

from collections.abc import Iterator

import pytest
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import KINDS, opened, token_of
from tests.stores.engine import Engine

from tenure import Forbidden, NotFound, Source, Tenure
from tenure.core.checkpoints import read_verifier, verify
from tenure.core.merkle import verify_consistency, verify_inclusion
from tenure.entrypoints.cli.signatures import is_signed
from tenure.usecases.proofs import ConsistencyProof, InclusionProof, MemoryProof


def test_an_auditor_of_an_embedded_store_proves_what_it_holds(engine: Engine) -> None:
    """SPEC E2: and nobody else is signed for."""
    with Tenure.open(**engine.opening) as store:
        bot = store.session(tenant="acme", agent="support", purpose="support", subject="customer-7")
        auditor = store.session(tenant="acme", agent="a", purpose="p", roles=("auditor",), name="aud")
        memory = bot.remember("Prefers e-mail", kind="preference", source=Source.direct_user("m-1"))
        first = auditor.checkpoint()
        proof = auditor.log_proof(memory_id=memory.id, size=first.size)
        last = auditor.checkpoint()
        grown = auditor.log_proof(from_size=first.size, size=last.size)
        with pytest.raises(Forbidden):
            bot.checkpoint()

    head = verify(first.note, read_verifier(first.key), is_signed=is_signed)
    assert isinstance(proof, MemoryProof)
    assert isinstance(grown, ConsistencyProof)
    (event,) = proof.events
    assert verify_inclusion(event.leaf_hash, event.seq - 1, head.size, event.hashes, head.root)
    assert verify_consistency(first.size, last.size, grown.hashes, first.root, last.root)


@pytest.fixture(scope="module")
def live(shared_engine: Engine) -> Iterator[Live]:
    """A server on a free port, once for the tests of this file."""
    with serving(shared_engine) as server:
        yield server


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_gets_the_same(live: Live, kind: str) -> None:
    """SPEC E2, S1: records of the same shapes, and the same errors."""
    with opened(kind, live.url, token_of(live, "aud", "auditor")) as client:
        first = client.checkpoint()
        again = client.checkpoint(size=first.size)
        proof = client.log_proof(seq=1, size=first.size)
        grown = client.log_proof(from_size=first.size)
        with pytest.raises(NotFound, match="no event at position"):
            client.log_proof(seq=10**9)

    head = verify(first.note, read_verifier(first.key), is_signed=is_signed)
    assert first == again
    assert isinstance(proof, InclusionProof)
    assert isinstance(grown, ConsistencyProof)
    assert verify_inclusion(proof.leaf_hash, 0, head.size, proof.hashes, head.root)
    assert grown.from_checkpoint == first.note
