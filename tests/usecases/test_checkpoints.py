"""Checkpoints: made, kept, compared, put outside (SPEC E2)."""

from pathlib import Path

import msgspec
import pytest
from tests.clock import START, MovableClock
from tests.stores.engine import Engine, Opened
from tests.usecases.asking import AUDITOR, BOT, TENANT, another, caller, proposal, question

from tenure.config import Evidence, Settings
from tenure.core.checkpoints import log_name, read_verifier, verify
from tenure.core.errors import Forbidden, InvalidRequest, NotFound, Unavailable
from tenure.core.merkle import BLOCK, Tree
from tenure.entrypoints.cli.signatures import is_signed
from tenure.usecases.checkpoints import (
    ReadCheckpoint,
    checkpoint_round,
    make,
    read_checkpoint,
    shown,
    verifier,
)
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.upkeep import upkeep_round


class Shelf:
    """A place outside that remembers what was put there, and can be out of reach."""

    name = "a shelf"

    def __init__(self) -> None:
        self.notes: list[tuple[str, int, str]] = []
        self.room = 1_000

    def put(self, tenant: str, size: int, note: str) -> bool:
        """Take a note, while there is room."""
        if self.room == 0:
            return False
        self.room -= 1
        self.notes.append((tenant, size, note))
        return True


def root_of_log(pipeline: Pipeline, size: int, tenant: str = TENANT) -> bytes:
    """The root over the first events, from every link of the log."""
    links = [stored.link for stored in pipeline.store.export(tenant)]
    return Tree(size, [], lambda block: links[block * BLOCK : (block + 1) * BLOCK]).root()


def with_place(pipeline: Pipeline, place: Shelf) -> Pipeline:
    """The same way through, with a place outside."""
    return Pipeline(
        store=pipeline.store,
        keyring=pipeline.keyring,
        clock=pipeline.clock,
        rules=pipeline.rules,
        checkpoint_place=place,
    )


def test_a_checkpoint_says_how_long_the_log_is_and_what_its_root_is(pipeline: Pipeline) -> None:
    """SPEC E2: signed by this installation, under the name of this tenant's log."""
    for _ in range(3):
        another(pipeline)

    checkpoint = shown(pipeline, make(pipeline, TENANT))

    head = verify(checkpoint.note, read_verifier(checkpoint.key), is_signed=is_signed)
    assert (head.size, head.root) == (3, root_of_log(pipeline, 3))
    assert head.origin == checkpoint.origin == log_name(pipeline.keyring.public_key()) + "/acme"
    assert checkpoint.made_at == START


def test_a_checkpoint_holds_what_reads_left_waiting(pipeline: Pipeline) -> None:
    """SPEC E2, R7: receipts that are not yet stored are, before anything is signed."""
    another(pipeline)
    pipeline.run(RECALL, BOT, question())

    assert make(pipeline, TENANT).size == 2


def test_a_size_has_one_checkpoint_whoever_asks(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC E2: the first note of a size stays, and an earlier size can still be signed."""
    another(pipeline)
    first = make(pipeline, TENANT)
    clock.pass_time(hours=1)
    another(pipeline)
    another(pipeline)

    assert make(pipeline, TENANT, size=1) == first
    assert make(pipeline, TENANT).size == 3
    between = make(pipeline, TENANT, size=2)
    assert (between.size, between.root) == (2, root_of_log(pipeline, 2))
    with pytest.raises(NotFound, match="ends at position 3"):
        make(pipeline, TENANT, size=4)


def test_tenants_have_logs_of_their_own(pipeline: Pipeline) -> None:
    """SPEC M2, E2: another origin, another key name, another root; a note of one is none of the other."""
    another(pipeline)
    pipeline.run(REMEMBER, caller(tenant="globex/1"), proposal())

    ours, theirs = make(pipeline, TENANT), make(pipeline, "globex/1")

    assert theirs.note.partition("\n")[0].endswith("/globex%2F1")
    assert ours.root != theirs.root
    with pytest.raises(ValueError, match="not signed by the key"):
        verify(theirs.note, verifier(pipeline, TENANT), is_signed=is_signed)


def test_an_operator_may_name_the_log(engine: Engine, clock: MovableClock) -> None:
    """SPEC E2: evidence.log_name."""
    settings = Settings(evidence=Evidence(log_name="example.com/memory"))
    with engine.open(clock, settings) as node:
        another(node.pipeline)

        assert make(node.pipeline, TENANT).note.startswith("example.com/memory/acme\n1\n")


def test_upkeep_puts_notes_into_the_folder_that_is_set(
    engine: Engine, clock: MovableClock, tmp_path: Path
) -> None:
    """SPEC E2: evidence.checkpoint_dir and evidence.checkpoint_seconds."""
    outside = tmp_path / "outside"
    settings = Settings(evidence=Evidence(checkpoint_dir=str(outside), checkpoint_seconds=10))
    with engine.open(clock, settings) as node:
        for _ in range(2):
            another(node.pipeline)
            upkeep_round(node.pipeline, batch_size=10)
            clock.pass_time(seconds=10)
        key = verifier(node.pipeline, TENANT)

    notes = sorted((outside / TENANT).iterdir())
    assert [note.name for note in notes] == [f"{size:020}.note" for size in (1, 2)]
    assert verify(notes[-1].read_bytes(), key, is_signed=is_signed).size == 2


def test_roots_of_full_blocks_are_kept_and_change_nothing(pipeline: Pipeline) -> None:
    """SPEC E2: a log of more than two blocks, signed on the way and at the end."""
    commands = [(proposal(f"Note number {number}"), None) for number in range(BLOCK + 5)]
    pipeline.run_many(REMEMBER, BOT, commands)
    early = make(pipeline, TENANT)
    pipeline.run_many(REMEMBER, BOT, commands)

    late = make(pipeline, TENANT)

    with pipeline.store.reading() as reading:
        blocks = reading.tree_blocks(TENANT)
        size = reading.head(TENANT)[0]
    assert len(blocks) == size // BLOCK
    assert early.root == root_of_log(pipeline, early.size)
    assert late.root == root_of_log(pipeline, size)


def test_a_log_that_was_written_anew_is_not_signed(node: Opened, engine: Engine) -> None:
    """SPEC E2: nothing is signed that does not go on from what was signed before."""
    for _ in range(3):
        another(node.pipeline)
    make(node.pipeline, TENANT)
    engine.alter_event(TENANT, 1, "reordered")
    another(node.pipeline)

    with pytest.raises(Unavailable, match="does not go on from its checkpoint of size 3"):
        make(node.pipeline, TENANT)
    with pytest.raises(Unavailable, match="nothing is signed"):
        checkpoint_round(_later(node.pipeline), batch_size=10)


def test_a_read_gives_the_checkpoint_of_the_whole_log_or_an_earlier_one(pipeline: Pipeline) -> None:
    """SPEC E2, A4: auditors may ask; whoever may not signs nothing by asking."""
    another(pipeline)
    with pytest.raises(Forbidden):
        read_checkpoint(pipeline, BOT, ReadCheckpoint())

    first = read_checkpoint(pipeline, AUDITOR, ReadCheckpoint())
    second = read_checkpoint(pipeline, AUDITOR, ReadCheckpoint())

    # The refused try and the first read are events themselves.
    assert (first.size, second.size) == (2, 3)
    assert read_checkpoint(pipeline, AUDITOR, ReadCheckpoint(size=2)) == first
    with pytest.raises(NotFound, match="no checkpoint of size 1") as refused:
        read_checkpoint(pipeline, AUDITOR, ReadCheckpoint(size=1))
    assert refused.value.hint == "The last ones are of size 3, 2."
    with pytest.raises(InvalidRequest, match="size"):
        read_checkpoint(pipeline, AUDITOR, ReadCheckpoint(size=-1))


def test_an_empty_log_can_be_signed_too(pipeline: Pipeline) -> None:
    """SPEC E2: of size 0, with the root over nothing."""
    checkpoint = read_checkpoint(pipeline, AUDITOR, ReadCheckpoint())

    assert checkpoint.note.split("\n")[1] == "0"


def test_upkeep_signs_what_grew_and_was_not_signed_lately(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC E2, T8: every tenant, first at once and then as often as is set."""
    another(pipeline)
    pipeline.run(REMEMBER, caller(tenant="globex"), proposal())
    rounds = [upkeep_round(pipeline, batch_size=10).signed]
    another(pipeline)
    rounds.append(upkeep_round(pipeline, batch_size=10).signed)
    clock.pass_time(seconds=300)
    rounds.append(upkeep_round(pipeline, batch_size=10).signed)
    clock.pass_time(seconds=300)
    rounds.append(upkeep_round(pipeline, batch_size=10).signed)

    assert rounds == [2, 0, 1, 0]


def test_each_new_note_is_put_outside_once(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC E2: those that somebody asked for as well, the smallest first, and none twice."""
    shelf = Shelf()
    outside = with_place(pipeline, shelf)
    for _ in range(3):
        another(pipeline)
        make(pipeline, TENANT)
    checkpoint_round(outside, batch_size=10)
    another(pipeline)
    clock.pass_time(seconds=300)
    checkpoint_round(outside, batch_size=10)
    checkpoint_round(outside, batch_size=10)

    assert [(tenant, size) for tenant, size, _ in shelf.notes] == [(TENANT, size) for size in (1, 2, 3, 4)]
    for _, size, note in shelf.notes:
        assert verify(note, verifier(pipeline, TENANT), is_signed=is_signed).size == size


def test_a_place_that_takes_nothing_is_asked_again(pipeline: Pipeline) -> None:
    """SPEC E2, T8: nothing waits for it, and nothing is left out when it is back."""
    shelf = Shelf()
    outside = with_place(pipeline, shelf)
    for _ in range(3):
        another(pipeline)
        make(pipeline, TENANT)

    shelf.room = 1
    assert checkpoint_round(outside, batch_size=10) == 0
    shelf.room = 1_000
    checkpoint_round(outside, batch_size=10)

    assert [size for _, size, _ in shelf.notes] == [1, 2, 3]


def _later(pipeline: Pipeline) -> Pipeline:
    """The same way through, where no checkpoint is recent."""
    rules = msgspec.structs.replace(pipeline.rules, checkpoint_every=-pipeline.rules.checkpoint_every)
    return Pipeline(store=pipeline.store, keyring=pipeline.keyring, clock=pipeline.clock, rules=rules)
