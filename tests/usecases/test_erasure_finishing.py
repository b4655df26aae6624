"""Who finishes an erasure, and in which order: the call that began it, another, or upkeep (SPEC F7, F8)."""

import pytest
from tests.clock import MovableClock
from tests.usecases.asking import OFFICER, SUBJECT, TENANT, written
from tests.usecases.test_erasure import ERASE, keys, names, opened, readable

from tenure.core.errors import Unavailable
from tenure.usecases.erasure import BEGIN, erase, finish
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Residue
from tenure.usecases.upkeep import upkeep_round


def test_an_erasure_that_just_began_is_left_to_whoever_began_it(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T8: a round of upkeep does not compete with the call that is at work."""
    written(pipeline)
    pipeline.run(BEGIN, OFFICER, ERASE)
    clock.pass_time(seconds=90)

    assert upkeep_round(pipeline, batch_size=10).erased == 0

    clock.pass_time(seconds=60)
    assert upkeep_round(pipeline, batch_size=10).erased == 1


def test_of_two_who_finish_an_erasure_one_certifies_it(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC F8: an erasure has one certificate, whoever finishes it, and both are given it."""
    written(pipeline)
    pipeline.run(BEGIN, OFFICER, ERASE)
    purge, others = pipeline.store.purge, []

    def purge_after_another(tenant: str, subject: str, *, up_to_seq: int) -> None:
        monkeypatch.undo()
        others.append(finish(pipeline, tenant, subject))
        purge(tenant, subject, up_to_seq=up_to_seq)

    monkeypatch.setattr(pipeline.store, "purge", purge_after_another)

    assert [finish(pipeline, TENANT, SUBJECT)] == others
    assert names(pipeline).count("subject.erased") == 1


def test_nothing_is_destroyed_before_the_words_were_looked_for(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC F7: what a failed look found can still be looked for the next time."""
    memory = written(pipeline)
    left = Residue(name="contents in the files of the store", passed=False, detail="found in a file")
    monkeypatch.setattr(pipeline.store, "search_files", lambda _needles, _indexed: [left])

    with pytest.raises(Unavailable, match="contents in the files"):
        erase(pipeline, OFFICER, ERASE)

    assert (keys(pipeline), opened(pipeline), readable(pipeline)) == (1, [memory.content], set())
    monkeypatch.undo()
    assert erase(pipeline, OFFICER, ERASE).statement.memories_erased == 1
