"""The contract of idempotency keys: the first answer stands, for ever, for the command that it answered."""

import pytest
from tests.stores.engine import Engine, Opened
from tests.stores.items import TENANT, created, log_of, put, renewed
from tests.usecases.asking import BOT, OFFICER, REVIEWER, SUBJECT, caller, held, judgement, proposal, written

from tenure.core.errors import IdempotencyMismatch, MemoryRejected
from tenure.core.identity import Caller, Role
from tenure.core.proposals import Remember
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Appended, FirstAnswer, Mismatched, Replayed
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import PROMOTE

FIRST = FirstAnswer(request=b"request", seq=1, outcome=b"{}")
BOTH = caller(Role.WRITER, Role.PRIVACY_OFFICER, name="both")
SECRET = "AKIA" + "IOSFODNN7EXAMPLQ"


def events(pipeline: Pipeline) -> int:
    """How long the tenant's log is."""
    with pipeline.store.reading() as reading:
        return reading.head(TENANT)[0]


def test_a_key_that_was_used_gives_the_first_answer(opened: Opened) -> None:
    """SPEC L9: the same command under the same key is stored once, across batches."""
    put(opened, created(opened.keyring, 1, key="k"))

    results = put(opened, created(opened.keyring, 1, key="k"))

    assert results == [Replayed(FIRST)]
    assert len(log_of(opened)) == 1


def test_a_key_counts_within_its_own_batch(opened: Opened) -> None:
    """SPEC L9: a retry that is committed together with its first try is a retry all the same."""
    keys = opened.keyring

    results = put(
        opened,
        created(keys, 1, key="k"),
        created(keys, 1, key="k"),
        created(keys, 2, key="k", request=b"other"),
    )

    assert results == [Appended(seq=1), Replayed(FIRST), Mismatched()]
    assert len(log_of(opened)) == 1


def test_the_key_is_looked_up_before_the_version(opened: Opened) -> None:
    """SPEC L9, L8: the retry of a success is not told that its version is stale."""
    put(opened, created(opened.keyring, 1), renewed(opened.keyring, 1, to_version=2, key="k"))

    results = put(opened, renewed(opened.keyring, 1, to_version=2, key="k"))

    assert isinstance(results[0], Replayed)


def test_a_stale_item_leaves_its_key_free(opened: Opened) -> None:
    """SPEC L9: what was not stored has no first answer."""
    put(opened, created(opened.keyring, 1))
    put(opened, renewed(opened.keyring, 1, to_version=7, key="k"))

    results = put(opened, renewed(opened.keyring, 1, to_version=2, key="k"))

    assert results == [Appended(seq=2)]


def test_a_key_belongs_to_its_tenant(opened: Opened) -> None:
    """SPEC L9, M2: two tenants may choose the same key."""
    results = put(
        opened,
        created(opened.keyring, 1, key="k"),
        created(opened.keyring, 2, key="k", tenant="globex", request=b"other"),
    )

    assert results == [Appended(seq=1), Appended(seq=1)]


def test_a_key_survives_a_restart_and_a_rebuild(engine: Engine) -> None:
    """SPEC L9: the first answer stands also after a restart, whatever became of the views."""
    opened = engine.open()
    put(opened, created(opened.keyring, 1, key="k"))
    opened.close()

    again = engine.open()
    try:
        again.store.rebuild()
        assert put(again, created(again.keyring, 1, key="k")) == [Replayed(FIRST)]
        assert put(again, created(again.keyring, 2, key="k", request=b"other")) == [Mismatched()]
    finally:
        again.close()


def test_a_retried_write_is_answered_with_the_same_memory(opened: Opened) -> None:
    """SPEC L9: a retry never doubles a memory, also once it has moved on, and is answered as it was then."""
    first = opened.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k")
    assert first.memory is not None
    written(opened.pipeline, "Prefers to be called", supersedes=first.memory.id)
    count = events(opened.pipeline)

    assert opened.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k") == first
    assert events(opened.pipeline) == count


def test_a_retried_write_is_answered_the_same_after_a_restart(engine: Engine) -> None:
    """SPEC L9, E5: the retry may come to another process."""
    opened = engine.open()
    first = opened.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k")
    opened.close()

    again = engine.open()
    try:
        assert again.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k") == first
        assert events(again.pipeline) == 1
    finally:
        again.close()


def test_a_retried_rejection_is_rejected_again_and_recorded_once(engine: Engine) -> None:
    """SPEC L9, L13: the first answer may be a rejection, and it outlives a restart."""
    command = proposal(f"The access key is {SECRET}")
    opened = engine.open()
    with pytest.raises(MemoryRejected) as first:
        opened.pipeline.run(REMEMBER, BOT, command, idempotency_key="k")
    with pytest.raises(MemoryRejected):
        opened.pipeline.run(REMEMBER, BOT, command, idempotency_key="k")
    opened.close()

    again = engine.open()
    try:
        with pytest.raises(MemoryRejected) as later:
            again.pipeline.run(REMEMBER, BOT, command, idempotency_key="k")
        assert events(again.pipeline) == 1
    finally:
        again.close()

    assert later.value.details == first.value.details


@pytest.mark.parametrize(
    ("who", "command"),
    [(BOT, proposal("Another text")), (BOT, proposal(subject="other")), (caller(name="other"), proposal())],
    ids=["other content", "other subject", "other caller"],
)
def test_the_same_key_with_another_command_is_an_error(
    opened: Opened, who: Caller, command: Remember
) -> None:
    """SPEC L9: nothing is stored under a key that stands for something else."""
    opened.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k")

    with pytest.raises(IdempotencyMismatch):
        opened.pipeline.run(REMEMBER, who, command, idempotency_key="k")

    assert events(opened.pipeline) == 1


def test_the_same_key_for_another_use_case_is_an_error(opened: Opened) -> None:
    """SPEC L9: a key stands for one command of one use case."""
    opened.pipeline.run(REMEMBER, BOTH, proposal(), idempotency_key="k")

    with pytest.raises(IdempotencyMismatch):
        opened.pipeline.run(FORGET_SUBJECT, BOTH, ForgetSubject(subject=SUBJECT), idempotency_key="k")


def test_a_retried_promotion_is_answered_as_it_was(opened: Opened) -> None:
    """SPEC L9, L7: the retry of a promotion is no illegal step from active."""
    memory = held(opened.pipeline)
    command = judgement(memory.id, 1)
    first = opened.pipeline.run(PROMOTE, REVIEWER, command, idempotency_key="k")

    assert opened.pipeline.run(PROMOTE, REVIEWER, command, idempotency_key="k") == first


def test_a_retried_forgetting_says_what_the_first_one_did(opened: Opened) -> None:
    """SPEC L9, F1: the retry counts what the first call took, and takes nothing that was written since."""
    written(opened.pipeline)
    command = ForgetSubject(subject=SUBJECT)
    first = opened.pipeline.run(FORGET_SUBJECT, OFFICER, command, idempotency_key="k")
    later = written(opened.pipeline, "A fresh start")

    assert opened.pipeline.run(FORGET_SUBJECT, OFFICER, command, idempotency_key="k") == first
    with opened.store.reading() as reading:
        assert reading.memory_row(TENANT, later.id) is not None


def test_a_retried_call_that_found_nothing_to_forget_takes_nothing_later(opened: Opened) -> None:
    """SPEC L9: "already forgotten" is a first answer like any other; its retry never takes a newer memory."""
    command = ForgetSubject(subject=SUBJECT)
    opened.pipeline.run(FORGET_SUBJECT, OFFICER, command)
    first = opened.pipeline.run(FORGET_SUBJECT, OFFICER, command, idempotency_key="k")
    later = written(opened.pipeline, "A fresh start")

    again = opened.pipeline.run(FORGET_SUBJECT, OFFICER, command, idempotency_key="k")

    assert again == first
    with opened.store.reading() as reading:
        assert reading.memory_row(TENANT, later.id) is not None
