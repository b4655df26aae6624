"""A forget of the leaf alone says that it may not hold, and is caught when it does not (SPEC F4, F6)."""

from datetime import timedelta
from uuid import UUID

import pytest
from tests.clock import START
from tests.journeys.installation import Installation
from tests.journeys.keys import CONTENT, SESSION, TASK, USER, forget_key, kept, recalled, resolved, seen, ways
from tests.usecases.asking import OFFICER, SUBJECT, happened, source

from tenure.core.errors import MemoryRejected
from tenure.core.forgetting import ForgetStanding, ForgetState, Forgetting, Shadowed
from tenure.core.identity import Scope
from tenure.core.rows import AlertRow
from tenure.usecases.forgetting import ASK_FORGET, AskForget
from tenure.usecases.upkeep import Round, upkeep_round

AT_THE_LEAF = {"key at task", "recall at task"}
HOUR = timedelta(hours=1)
MARGIN = timedelta(minutes=1)


def standing(installation: Installation, forget_id: UUID | None) -> ForgetStanding:
    """How the forget stands."""
    assert forget_id is not None
    return installation.pipeline.run(ASK_FORGET, OFFICER, AskForget(forget_id=forget_id))


def alerts(installation: Installation) -> list[AlertRow]:
    """The alerts of the tenant, newest first."""
    with installation.pipeline.store.reading() as reading:
        return reading.alerts("acme", subjects=None, before_seq=None, limit=10)


def upkeep(installation: Installation) -> Round:
    """What the workers do now."""
    return upkeep_round(installation.pipeline, batch_size=10)


def test_the_answer_says_what_still_holds_the_key_and_until_when(installation: Installation) -> None:
    """SPEC F4: not durable, the scopes that hold it, and when it is asked for again."""
    session, user = kept(installation.pipeline, SESSION), kept(installation.pipeline, USER)

    answer = forget_key(installation.pipeline, leaf_only=True)

    assert (answer.status, answer.durable, answer.anchored_at) == (Forgetting.FORGOTTEN, False, "task:task-1")
    assert answer.shadowed == (
        Shadowed(scope="session:session-1", holds_until=session.expires_at),
        Shadowed(scope=f"user:{SUBJECT}", holds_until=user.expires_at),
    )
    assert answer.probe_at == START + HOUR + MARGIN
    assert standing(installation, answer.forget_id) == ForgetStanding(
        forget_id=answer.forget_id,  # type: ignore[arg-type]
        state=ForgetState.WAITING,
        durable=False,
        probe_at=answer.probe_at,
    )


def test_it_is_absent_at_the_leaf_and_stays_around_it(installation: Installation) -> None:
    """SPEC F4: only the way outward from the leaf is closed, until its retention is over."""
    kept(installation.pipeline)
    forget_key(installation.pipeline, leaf_only=True)

    for minutes in (0, 59):
        installation.clock.pass_time(minutes=minutes)
        assert seen(installation.pipeline) == set(ways(installation.pipeline)) - AT_THE_LEAF

    installation.clock.pass_time(minutes=2)
    assert seen(installation.pipeline) == set(ways(installation.pipeline))


def test_it_comes_back_and_the_forget_is_reported_failed_until_a_probe_passes(
    installation: Installation,
) -> None:
    """SPEC F5, F6: minute 61 of the worked example; the alert names where it was found, and no content."""
    memory = kept(installation.pipeline)
    forget_id = forget_key(installation.pipeline, leaf_only=True).forget_id
    assert upkeep(installation).probed == 0
    installation.clock.pass_time(minutes=61)
    assert resolved(installation.pipeline, TASK) == CONTENT

    assert upkeep(installation).probed == 1

    failed = standing(installation, forget_id)
    assert (failed.state, failed.durable, failed.found_in) == (ForgetState.FAILED, False, f"user:{SUBJECT}")
    assert failed.probe_at == memory.expires_at + MARGIN
    [alert] = alerts(installation)
    assert (alert.kind, alert.about) == ("forget-failed", str(forget_id))
    assert CONTENT not in alert.message
    assert happened(installation.pipeline)[-2:] == ["forget.probed", "alert.raised"]

    installation.clock.pass_time(days=1)
    assert upkeep(installation).probed == 0
    left = memory.expires_at + MARGIN - installation.clock.now()
    installation.clock.pass_time(seconds=left.total_seconds())
    assert upkeep(installation).probed == 1

    passed = standing(installation, forget_id)
    assert (passed.state, passed.durable, passed.found_in) == (ForgetState.COMPLETE, False, None)
    assert len(alerts(installation)) == 1
    # What has expired stays in lists, as expired; no key and no recall leads to it.
    assert seen(installation.pipeline) == {"list of the key"}
    assert installation.pipeline.store.rebuild().identical


def test_a_rebuild_in_between_still_probes(installation: Installation) -> None:
    """SPEC F6, E1: what waits for its probe comes out of the log, before and after the probe failed."""
    kept(installation.pipeline)
    forget_id = forget_key(installation.pipeline, leaf_only=True).forget_id
    assert installation.pipeline.store.rebuild().identical
    installation.restart()
    installation.clock.pass_time(minutes=61)

    assert upkeep(installation).probed == 1
    assert installation.pipeline.store.rebuild().identical

    assert standing(installation, forget_id).state is ForgetState.FAILED


def test_where_the_outer_memory_ends_first_the_probe_passes(installation: Installation) -> None:
    """SPEC F6: nothing came back, so the forget is complete without an alert."""
    kept(installation.pipeline, USER, ttl_seconds=1_800)
    forget_id = forget_key(installation.pipeline, leaf_only=True).forget_id
    installation.clock.pass_time(minutes=61)

    assert upkeep(installation).probed == 1

    assert standing(installation, forget_id).state is ForgetState.COMPLETE
    assert alerts(installation) == []


def test_a_durable_forget_meanwhile_lets_the_probe_pass(installation: Installation) -> None:
    """SPEC F4, F6: whoever sees the answer may ask again, for all scopes."""
    kept(installation.pipeline)
    forget_id = forget_key(installation.pipeline, leaf_only=True).forget_id
    assert forget_key(installation.pipeline).durable

    installation.clock.pass_time(minutes=61)

    assert upkeep(installation).probed == 1
    assert standing(installation, forget_id).state is ForgetState.COMPLETE
    assert seen(installation.pipeline) == set()


def test_the_leafs_own_memory_is_forgotten_for_good(installation: Installation) -> None:
    """SPEC F4, F4a: the leaf has a floor of its own, which refuses what was observed before."""
    kept(installation.pipeline, TASK)
    answer = forget_key(installation.pipeline, leaf_only=True)
    observed_at = installation.clock.now()
    installation.clock.pass_time(minutes=5)

    assert (answer.forgotten, answer.durable, answer.shadowed) == (1, False, ())
    with pytest.raises(MemoryRejected):
        kept(installation.pipeline, TASK, "Likes letters", source=source(observed_at=observed_at))
    kept(installation.pipeline, USER, "Likes letters", source=source(observed_at=observed_at))
    assert resolved(installation.pipeline, USER) == "Likes letters"


@pytest.mark.parametrize("scope", [TASK, SESSION, USER], ids=["at the leaf", "at its session", "at its user"])
def test_what_is_written_after_it_is_read_at_once(installation: Installation, scope: Scope) -> None:
    """SPEC F4a: a fresh memory, at the leaf or around it, is none that was forgotten."""
    kept(installation.pipeline)
    forget_key(installation.pipeline, leaf_only=True)
    installation.clock.pass_time(minutes=5)

    kept(installation.pipeline, scope, "Prefers the phone")

    assert resolved(installation.pipeline, TASK) == "Prefers the phone"
    assert "Prefers the phone" in recalled(installation.pipeline, TASK)
    assert CONTENT not in recalled(installation.pipeline, TASK)


def test_asking_again_gives_the_forget_that_waits(installation: Installation) -> None:
    """SPEC F1, F4: nothing is written twice, and the answer says the same."""
    kept(installation.pipeline)
    first = forget_key(installation.pipeline, leaf_only=True)
    again = forget_key(installation.pipeline, leaf_only=True)

    assert (again.status, again.durable) == (Forgetting.ALREADY_FORGOTTEN, False)
    assert (again.forget_id, again.shadowed, again.probe_at) == (
        first.forget_id,
        first.shadowed,
        first.probe_at,
    )
    assert happened(installation.pipeline).count("scoped_key.forgotten") == 1
