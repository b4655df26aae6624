"""Errors of the library are one small family with the contract's names (SPEC S2)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.stores.concurrently import at_once

import tenure
from tenure import (
    Forbidden,
    IdempotencyMismatch,
    IllegalTransition,
    InvalidRequest,
    MemoryRejected,
    NotFound,
    Source,
    Tenure,
    TenureError,
    Unavailable,
    VersionConflict,
)
from tenure.entrypoints.library.sessions import Session

CONTRACT = {
    "Unauthenticated": ("unauthenticated", 401),
    "Forbidden": ("forbidden", 403),
    "NotFound": ("not-found", 404),
    "VersionConflict": ("version-conflict", 409),
    "IdempotencyMismatch": ("idempotency-mismatch", 409),
    "IllegalTransition": ("illegal-transition", 409),
    "OnHold": ("on-hold", 409),
    "TooLarge": ("too-large", 413),
    "InvalidRequest": ("invalid-request", 422),
    "ScopeNotNamed": ("scope-not-named", 422),
    "MemoryRejected": ("memory-rejected", 422),
    "RateLimited": ("rate-limited", 429),
    "Unavailable": ("unavailable", 503),
}
APPLICATION = Source.application("crm-1")


@pytest.fixture
def bot(store: Tenure) -> Session:
    """A session that writes and reads."""
    return store.session("acme", "support", "support", "customer-7")


@pytest.mark.parametrize("name", CONTRACT)
def test_an_error_has_its_code_and_status(name: str) -> None:
    """SPEC S2: the last part of the problem's type, for ever; all of one root."""
    error = getattr(tenure, name)

    assert (error.code, error.status) == CONTRACT[name]
    assert issubclass(error, TenureError)
    assert error.title


def test_errors_say_what_to_do(bot: Session) -> None:
    """SPEC S2: message and hint, and the details a program acts on; content is in none of them (E6)."""
    memory = bot.remember("Likes the Okapi", kind="fact", source=APPLICATION, idempotency_key="k")
    calls: dict[type[TenureError], Callable[[], object]] = {
        VersionConflict: lambda: bot.revise(
            memory.id, expected_version=7, content="Okapi", source=APPLICATION
        ),
        IdempotencyMismatch: lambda: bot.remember(
            "Okapi", kind="fact", source=APPLICATION, idempotency_key="k"
        ),
        MemoryRejected: lambda: bot.remember("Okapi" * 500, kind="fact", source=APPLICATION),
        Forbidden: lambda: bot.promote(memory.id, expected_version=1, reason="Okapi"),
    }
    for error, call in calls.items():
        with pytest.raises(error) as refusal:
            call()
        assert refusal.value.message
        assert refusal.value.hint
        assert "Okapi" not in repr((refusal.value.args, refusal.value.hint, refusal.value.details))

    with pytest.raises(VersionConflict) as conflict:
        bot.revise(memory.id, expected_version=7, content="x", source=APPLICATION)
    assert (conflict.value.expected_version, conflict.value.current_version) == (7, 1)


def test_what_is_not_there_is_not_found(bot: Session) -> None:
    """SPEC S2, M2: by id, in histories, as something to decide on."""
    for call in (bot.get, bot.history):
        with pytest.raises(NotFound):
            call(UUID(int=9))


def test_a_step_that_the_life_cycle_does_not_have_is_refused(store: Tenure, bot: Session) -> None:
    """SPEC M6: with the steps that there are."""
    memory = bot.remember("Prefers e-mail", kind="fact", source=APPLICATION)
    ann = store.session("acme", "support", "support", roles=("reviewer",), name="ann")

    with pytest.raises(IllegalTransition) as refusal:
        ann.promote(memory.id, expected_version=1, reason="why not")

    assert "revoke" in (refusal.value.hint or "")


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda bot: bot.remember("x", kind="rumour", source=APPLICATION), "kind"),
        (lambda bot: bot.recall("x", min_trust="blind"), "min_trust"),
        (lambda bot: bot.recall("x", kinds=("rumour",)), "kind"),
        (lambda bot: bot.memories(status="happy"), "status"),
        (lambda bot: bot.recall("", limit=3), "query"),
        (lambda bot: bot.remember("x", kind="fact", source=APPLICATION, ttl_seconds=-1), "ttl_seconds"),
    ],
    ids=["kind", "trust", "kinds", "status", "query", "ttl"],
)
def test_a_word_that_is_unknown_names_its_field(bot: Session, call: Any, field: str) -> None:
    """SPEC S2: and what is known."""
    with pytest.raises(InvalidRequest) as refusal:
        call(bot)

    assert refusal.value.field == field


@pytest.mark.parametrize(
    "place", ["http://localhost:8080", "mysql://ann:hunter2@db/memory", "postgresql://ann:hunter2%@db/memory"]
)
def test_what_names_no_store_is_refused(place: str) -> None:
    """SPEC S5, E6: another kind of address is no folder either, and its password is in no message."""
    with pytest.raises(InvalidRequest) as refusal:
        Tenure.open(place)

    assert refusal.value.field == "path"
    assert "postgresql://" in (refusal.value.hint or "")
    assert "hunter2" not in f"{refusal.value} {refusal.value.hint}"


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    """SPEC S3: a file is in its place."""
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(Unavailable):
        Tenure.open(file / "store")


def test_a_folder_is_opened_once(tmp_path: Path) -> None:
    """SPEC S5: one owner at a time."""
    with Tenure.open(tmp_path / "store"), pytest.raises(Unavailable, match="in use"):
        Tenure.open(tmp_path / "store")


def test_closing_twice_is_closing(tmp_path: Path) -> None:
    """SPEC S3: a program may close in a hurry and again in its ``with``."""
    with Tenure.open(tmp_path / "memory.db") as store:
        store.close()


@pytest.mark.parametrize("call", ["remember", "recall", "get", "verify", "upkeep"])
def test_a_closed_store_refuses_and_never_hangs(tmp_path: Path, call: str) -> None:
    """SPEC S2, S3: a thread that comes too late is told so, as it would be of a store that is down."""
    store = Tenure.open(tmp_path / "memory.db")
    bot = store.session("acme", "support", "support", "customer-7")
    memory = bot.remember("Prefers e-mail", kind="fact", source=APPLICATION)
    store.close()
    calls = {
        "remember": lambda: bot.remember("x", kind="fact", source=APPLICATION),
        "recall": lambda: bot.recall("x"),
        "get": lambda: bot.get(memory.id),
        "verify": lambda: store.verify("acme"),
        "upkeep": store.upkeep,
    }

    [outcome] = at_once(calls[call], seconds_max=3)

    assert isinstance(outcome, Unavailable)
