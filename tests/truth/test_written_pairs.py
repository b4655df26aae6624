"""The table of pairs, written through the gate into a real store, and what becomes of them (SPEC T2, T3)."""

from itertools import count
from typing import Final

from tests.clock import MovableClock
from tests.stores.engine import Engine
from tests.truth.pairs import Happened, Side, judged, pairs
from tests.usecases.asking import caller, proposal

from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER

DUPLICATES_FOUND_MIN: Final = 13
"""What differs in form alone is nearer than 0.97 only where the words are nearly all the same."""
CONTRADICTIONS_FOUND_MIN: Final = 35


def decide(pipeline: Pipeline, agent: str, first: Side, second: Side) -> Happened:
    """Write both for an agent of their own, and see what became of them."""
    written = [
        pipeline.run(
            REMEMBER,
            caller(tenant=side.tenant),
            proposal(side.content, agent=agent, purpose=side.purpose, subject=side.subject, claim=side.claim),
        )
        for side in (first, second)
    ]
    if written[1].contradictions:
        return Happened.CONTRADICTION
    with pipeline.store.reading() as reading:
        found = [
            memory.id
            for one, side in zip(written, (first, second), strict=True)
            if (memory := one.memory) is not None
            and (row := reading.memory_row(side.tenant, memory.id)) is not None
            and row.status == "superseded"
        ]
    return Happened.MERGED if found else Happened.APART


def test_no_pair_is_merged_or_contradicted_wrongly(engine: Engine) -> None:
    """SPEC T2, T3: the vetoes hold with the vectors of the engine that is built in, in both orders."""
    opened = engine.open(MovableClock())
    numbers = count()
    try:
        judgement = judged(
            pairs(), lambda one, other: decide(opened.pipeline, f"agent-{next(numbers)}", one, other)
        )
    finally:
        opened.close()

    assert judgement.wrong_merges == ()
    assert judgement.wrong_contradictions == ()
    assert judgement.duplicates - len(judgement.missed_duplicates) >= DUPLICATES_FOUND_MIN
    assert judgement.contradictions - len(judgement.missed_contradictions) >= CONTRADICTIONS_FOUND_MIN
