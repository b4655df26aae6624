"""Forgetting, erasing, holding and exporting in a program (SPEC F1-F12)."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from tests.clock import MovableClock

from tenure import (
    AsyncTenure,
    Forbidden,
    InvalidRequest,
    NotFound,
    OnHold,
    Scope,
    ScopeNotNamed,
    Source,
    Tenure,
)
from tenure.core.identity import Tier
from tenure.entrypoints.library.sessions import Session

SUBJECT = "customer-7"
APPLICATION = Source.application("crm-1")
TASK = Scope(tier=Tier.TASK, id="t1", session="s1", user=SUBJECT)
USER = Scope(tier=Tier.USER, id=SUBJECT)


def bot(store: Tenure) -> Session:
    """Writes and reads about one customer."""
    return store.session("acme", "support", "support", SUBJECT)


def officer(store: Tenure, subject: str | None = SUBJECT) -> Session:
    """Forgets, erases, exports and holds."""
    return store.session("acme", "support", "support", subject, roles=("privacy_officer",), name="pia")


def address(store: Tenure, content: str = "4 Mill Lane", scope: Scope | None = USER) -> UUID:
    """A memory under a key."""
    memory = bot(store).remember(content, kind="fact", source=APPLICATION, key="address", scope=scope)
    return memory.id


def test_one_memory_is_forgotten_at_the_version_that_was_seen(store: Tenure) -> None:
    """SPEC F1, L8: and the others stay."""
    first, second = address(store), address(store, "9 Harbour Street")

    answer = officer(store).forget(memory_id=first, expected_version=1)

    assert (answer.status, answer.forgotten, answer.durable) == ("forgotten", 1, True)
    assert [memory.id for memory in bot(store).memories().items] == [second]


def test_a_key_is_resolved_outward_and_forgotten_at_a_scope(store: Tenure) -> None:
    """SPEC F3, F4: agent, purpose and subject are the session's own."""
    inner = address(store, "9 Harbour Street", scope=TASK)
    outer = address(store)
    assert bot(store).resolve("address", scope=TASK).id == inner
    assert bot(store).resolve("address", scope=USER).id == outer

    answer = officer(store).forget(key="address", scope=TASK)

    assert (answer.status, answer.forgotten, answer.durable) == ("forgotten", 2, True)
    with pytest.raises(NotFound):
        bot(store).resolve("address", scope=TASK)


def test_a_forget_of_the_leaf_alone_says_how_it_stands_until_its_probe(
    store: Tenure, clock: MovableClock
) -> None:
    """SPEC F5, F6: not durable, shadowed by the outer scope, waiting, then known."""
    address(store)
    pia = officer(store)

    answer = pia.forget(key="address", scope=TASK, leaf_only=True)

    assert not answer.durable
    assert [shadowed.scope for shadowed in answer.shadowed] == [f"user:{SUBJECT}"]
    assert answer.forget_id is not None
    assert answer.probe_at is not None
    assert pia.forget_status(answer.forget_id).state == "waiting"
    clock.pass_time(seconds=(answer.probe_at - clock.now()).total_seconds() + 1)
    assert store.upkeep().probed == 1
    standing = pia.forget_status(answer.forget_id)
    assert (standing.state, standing.found_in) == ("failed", f"user:{SUBJECT}")
    alerts = pia.alerts(limit=1)
    assert [(alert.kind, alert.about) for alert in alerts.items] == [("forget-failed", str(answer.forget_id))]


@pytest.mark.parametrize(
    "wish",
    [
        {"key": "address"},
        {"key": "address", "memory_id": UUID(int=1), "scope": TASK},
        {"subject": SUBJECT, "memory_id": UUID(int=1), "expected_version": 1},
    ],
)
def test_a_forget_that_could_mean_another_or_more_is_refused(store: Tenure, wish: dict[str, Any]) -> None:
    """SPEC F4: a key without its scope, and two things at once."""
    with pytest.raises(ScopeNotNamed):
        officer(store).forget(**wish)


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"memory_id": UUID(int=1)}, "expected_version"),
        ({"subject": SUBJECT, "expected_version": 1}, "expected_version"),
        ({"key": "address", "scope": TASK, "expected_version": 1}, "expected_version"),
        ({"subject": SUBJECT, "leaf_only": True}, "leaf_only"),
        ({"scope": TASK}, "scope"),
        ({"agent": "support"}, "agent"),
        ({"purpose": "support"}, "purpose"),
        ({"memory_id": UUID(int=1), "expected_version": 1, "scope": TASK}, "scope"),
        ({"key": "", "scope": TASK}, "key"),
    ],
)
def test_what_would_be_left_aside_in_silence_is_refused(
    store: Tenure, wish: dict[str, Any], field: str
) -> None:
    """SPEC F4: a narrowing that narrows nothing would forget more than was meant."""
    address(store)

    with pytest.raises(InvalidRequest) as refusal:
        officer(store).forget(**wish)

    assert refusal.value.field == field
    assert len(bot(store).memories().items) == 1


def test_without_a_subject_of_its_own_a_session_must_name_one(store: Tenure) -> None:
    """SPEC F4: nothing is taken to mean everybody."""
    pia = officer(store, None)

    with pytest.raises(ScopeNotNamed):
        pia.forget()
    for call in (pia.erase, pia.export, pia.hold_of):
        with pytest.raises(InvalidRequest) as refusal:
            call()
        assert refusal.value.field == "subject"
    for named in (pia.erase, pia.forget):
        with pytest.raises(InvalidRequest):
            named(subject="")


def test_erasing_gives_a_signed_certificate_and_gives_it_again(store: Tenure) -> None:
    """SPEC F7, F8: nothing is held afterwards."""
    memory_id = address(store)

    certificate = officer(store).erase()

    assert certificate.statement.memory_ids == (memory_id,)
    assert certificate.public_key == store.node.pipeline.keyring.public_key().hex()
    assert officer(store, None).erase(subject=SUBJECT) == certificate
    assert b"Mill Lane" not in msgspec.json.encode(officer(store).export())


def test_a_hold_forbids_erasing_and_not_forgetting(store: Tenure, clock: MovableClock) -> None:
    """SPEC F10: placed, shown, released."""
    address(store)
    pia = officer(store)
    placed = pia.hold(reason="court", review_at=clock.now() + timedelta(days=90))

    assert pia.hold_of() == placed
    with pytest.raises(OnHold):
        pia.erase()
    assert pia.forget().forgotten == 1
    assert pia.export().hold == placed
    assert pia.release(reason="settled").released_at == clock.now()
    with pytest.raises(NotFound):
        pia.hold_of()
    assert pia.erase().statement.memories_erased == 1


def test_an_export_has_what_was_forgotten_and_who_was_shown_it(store: Tenure) -> None:
    """SPEC F12: with provenance and influence."""
    memory_id = address(store)
    found = bot(store).recall("which lane?")
    bot(store).used(found, response_id="r-1", memory_ids=[memory_id])
    officer(store).forget()

    export = officer(store).export()

    (held,) = export.memories
    assert (held.memory.content, held.memory.status, held.readable) == ("4 Mill Lane", "forgotten", False)
    assert held.memory.source.id == "crm-1"
    assert [(shown.receipt_id, shown.responses) for shown in export.recalls] == [(found.receipt_id, ("r-1",))]


def test_a_bot_may_do_none_of_this(store: Tenure) -> None:
    """SPEC A4: least privilege."""
    session = bot(store)
    attempts = (
        lambda: session.forget(key="address", scope=TASK),
        lambda: session.forget(memory_id=UUID(int=1), expected_version=1),
        lambda: session.forget_status(UUID(int=1)),
        session.erase,
        session.export,
        lambda: session.hold(reason="court"),
        lambda: session.release(reason="settled"),
        session.hold_of,
        session.alerts,
    )

    for attempt in attempts:
        with pytest.raises(Forbidden):
            attempt()


def test_the_same_awaited(tmp_path: Path) -> None:
    """SPEC S1: each of them, with one word before it."""

    async def story() -> None:
        async with await AsyncTenure.open(tmp_path / "store") as store:
            writer = store.session("acme", "support", "support", SUBJECT)
            pia = store.session("acme", "support", "support", SUBJECT, roles=("privacy_officer",), name="pia")
            memory = await writer.remember(
                "4 Mill Lane", kind="fact", source=APPLICATION, key="address", scope=USER
            )
            assert (await writer.resolve("address", scope=TASK)).id == memory.id
            answer = await pia.forget(key="address", scope=USER)
            assert (await pia.forget_status(answer.forget_id)).state == "complete"
            placed = await pia.hold(reason="court")
            assert await pia.hold_of() == placed
            with pytest.raises(OnHold):
                await pia.erase()
            await pia.release(reason="settled")
            assert len((await pia.export()).memories) == 1
            assert (await pia.erase()).statement.memories_erased == 1
            assert (await pia.alerts()).items == ()

    asyncio.run(story())
