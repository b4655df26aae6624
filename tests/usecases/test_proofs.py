"""Proofs of a store's own log: right for every event and earlier size, refused for the rest (SPEC E2)."""

from uuid import UUID

import pytest
from tests.stores.engine import Engine, Opened
from tests.usecases.asking import (
    AUDITOR,
    BOT,
    OPERATOR,
    REVIEWER,
    TENANT,
    another,
    happened,
    held,
    judgement,
    log,
    proposal,
    written,
)

from tenure.core.access import CreateKey
from tenure.core.checkpoints import Head, verify
from tenure.core.errors import Forbidden, InvalidRequest, NotFound, Unavailable
from tenure.core.identity import Grants, Role
from tenure.core.incident_events import Looked
from tenure.core.ledger import link
from tenure.core.merkle import BLOCK, leaf_hash, verify_consistency, verify_inclusion
from tenure.entrypoints.cli.signatures import is_signed
from tenure.usecases.access import create_key
from tenure.usecases.checkpoints import make, verifier
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.proofs import (
    ConsistencyProof,
    InclusionProof,
    MemoryProof,
    ReadProof,
    read_proof,
)
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import PROMOTE


def asked(pipeline: Pipeline, **wanted: object) -> InclusionProof | MemoryProof | ConsistencyProof:
    """What an auditor is answered."""
    return read_proof(pipeline, AUDITOR, ReadProof(**wanted))  # type: ignore[arg-type]


def signed_head(pipeline: Pipeline, note: str) -> Head:
    """What a note says, once its signature is checked."""
    return verify(note, verifier(pipeline, TENANT), is_signed=is_signed)


def holds(pipeline: Pipeline, proof: object) -> bool:
    """Whether an inclusion proof shows what it should, checked with what it says and the key alone."""
    assert isinstance(proof, InclusionProof)
    head = signed_head(pipeline, proof.checkpoint)
    found = bytes.fromhex(proof.link)
    if proof.header is not None:
        found = link(bytes.fromhex(proof.previous_link), proof.seq, proof.header.encode())
    return (
        proof.leaf_hash == leaf_hash(found)
        and proof.size == head.size
        and verify_inclusion(proof.leaf_hash, proof.seq - 1, head.size, proof.hashes, head.root)
    )


def test_every_event_is_proven_against_every_later_checkpoint(pipeline: Pipeline) -> None:
    """SPEC E2: of each kind that a story leaves, the header's exact text included."""
    memory = held(pipeline)
    pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1))
    another(pipeline)
    sizes = []
    for _ in range(3):
        another(pipeline)
        sizes.append(make(pipeline, TENANT).size)

    for size in sizes:
        for seq in range(1, size + 1):
            proof = asked(pipeline, seq=seq, size=size)
            assert holds(pipeline, proof)
    with pipeline.store.reading() as reading:
        stored = reading.event(TENANT, 2)
    proof = asked(pipeline, seq=2)
    assert isinstance(proof, InclusionProof)
    assert stored is not None
    assert (proof.header, proof.link) == (stored.header.decode(), stored.link.hex())


def test_every_growth_is_proven(pipeline: Pipeline) -> None:
    """SPEC E2: between any two checkpoints that were kept, the same one twice included."""
    notes = {}
    for _ in range(5):
        another(pipeline)
        checkpoint = make(pipeline, TENANT)
        notes[checkpoint.size] = checkpoint

    for earlier in notes.values():
        for later in (one for one in notes.values() if one.size >= earlier.size):
            proof = asked(pipeline, from_size=earlier.size, size=later.size)
            assert isinstance(proof, ConsistencyProof)
            assert (proof.from_checkpoint, proof.checkpoint) == (earlier.note, later.note)
            assert verify_consistency(earlier.size, later.size, proof.hashes, earlier.root, later.root)


def test_proofs_are_right_beyond_a_block(pipeline: Pipeline) -> None:
    """SPEC E2: where roots of blocks stand in for their leaves."""
    commands = [(proposal(f"Note number {number}"), None) for number in range(BLOCK + 5)]
    pipeline.run_many(REMEMBER, BOT, commands)
    early = make(pipeline, TENANT)
    pipeline.run_many(REMEMBER, BOT, commands)
    late = make(pipeline, TENANT)

    for seq in (1, BLOCK, BLOCK + 1, early.size, 2 * BLOCK, late.size):
        assert holds(pipeline, asked(pipeline, seq=seq, size=late.size))
    assert holds(pipeline, asked(pipeline, seq=BLOCK, size=early.size))
    proof = asked(pipeline, from_size=early.size, size=late.size)
    assert isinstance(proof, ConsistencyProof)
    assert verify_consistency(early.size, late.size, proof.hashes, early.root, late.root)


def test_a_proof_makes_the_checkpoint_that_it_needs_and_no_more(pipeline: Pipeline) -> None:
    """SPEC E2: the last one that reaches so far does; otherwise the whole log is signed."""
    for _ in range(3):
        another(pipeline)
    first = asked(pipeline, seq=2)
    second = asked(pipeline, seq=3)
    third = asked(pipeline, seq=4)

    assert [proof.size for proof in (first, second)] == [3, 3]
    assert third.size > 3
    grown = asked(pipeline, from_size=3)
    assert grown.size >= third.size


def test_all_events_of_a_memory_are_proven(pipeline: Pipeline) -> None:
    """SPEC E2: written and promoted, and nothing of its neighbour."""
    memory = held(pipeline)
    another(pipeline)
    pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1))

    proof = asked(pipeline, memory_id=memory.id)

    assert isinstance(proof, MemoryProof)
    assert [event.seq for event in proof.events] == [1, 3]
    assert all(holds(pipeline, event) for event in proof.events)


def test_the_header_of_a_new_credential_is_kept_back(pipeline: Pipeline) -> None:
    """SPEC A1, E2: its link is proven, and what its token is held against stays where it is."""
    grants = Grants(roles=frozenset({Role.READER}))
    create_key(pipeline, OPERATOR, CreateKey(name="ci", grants=grants))

    proof = asked(pipeline, seq=1)

    assert isinstance(proof, InclusionProof)
    assert proof.header is None
    assert holds(pipeline, proof)


@pytest.mark.parametrize(
    ("wanted", "error", "says"),
    [
        ({}, InvalidRequest, "exactly one of"),
        ({"seq": 1, "from_size": 1}, InvalidRequest, "exactly one of"),
        ({"seq": 1, "memory_id": UUID(int=7)}, InvalidRequest, "exactly one of"),
        ({"seq": 0}, InvalidRequest, "seq must be 1 or more"),
        ({"from_size": 0}, InvalidRequest, "from must be 1 or more"),
        ({"seq": 1, "size": 0}, InvalidRequest, "size must be 1 or more"),
        ({"seq": -1}, InvalidRequest, "seq must be 1 or more"),
        ({"seq": 2**63}, InvalidRequest, "seq must be 1 or more"),
        ({"from_size": 3, "size": 2}, InvalidRequest, "does not shrink"),
        ({"seq": 10}, NotFound, "no event at position 10: the log ends at 3"),
        ({"seq": 3, "size": 2}, NotFound, "none at position 3"),
        ({"seq": 1, "size": 1}, NotFound, "no checkpoint of size 1"),
        ({"from_size": 1}, NotFound, "no checkpoint of size 1"),
        ({"memory_id": UUID(int=7)}, NotFound, "no event of this memory"),
    ],
)
def test_what_cannot_be_proven_is_refused(
    pipeline: Pipeline, wanted: dict[str, object], error: type[Exception], says: str
) -> None:
    """SPEC E2, S2: with what is wrong, and what there is."""
    for _ in range(3):
        another(pipeline)
    make(pipeline, TENANT)

    with pytest.raises(error, match=says):
        asked(pipeline, **wanted)


def test_a_proof_is_not_for_everybody(pipeline: Pipeline) -> None:
    """SPEC A4: a denial is recorded, and nothing is signed."""
    another(pipeline)

    with pytest.raises(Forbidden):
        read_proof(pipeline, BOT, ReadProof(seq=1))

    with pipeline.store.reading() as reading:
        assert reading.checkpoints(TENANT, limit=1) == []
    assert happened(pipeline)[-1] == "access.denied"


def test_a_proof_that_was_read_leaves_an_event(pipeline: Pipeline) -> None:
    """SPEC E2: who looked, and at which memory."""
    memory = written(pipeline)
    asked(pipeline, memory_id=memory.id)

    looked = log(pipeline)[-1]

    assert looked.data == Looked(what="read-proof", returned=1, memory_id=memory.id)
    assert looked.actor == AUDITOR.id


def test_a_log_that_was_altered_proves_nothing(node: Opened, engine: Engine) -> None:
    """SPEC E2: neither by its links nor by its headers."""
    for _ in range(3):
        another(node.pipeline)
    make(node.pipeline, TENANT)
    engine.alter_event(TENANT, 2, "altered header")

    assert holds(node.pipeline, asked(node.pipeline, seq=1))
    with pytest.raises(Unavailable, match="position 2 is not what was written"):
        asked(node.pipeline, seq=2)
    engine.alter_event(TENANT, 1, "reordered")
    with pytest.raises(Unavailable, match="does not go on"):
        asked(node.pipeline, seq=3)
