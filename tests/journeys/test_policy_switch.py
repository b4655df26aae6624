"""A policy is tried out, switched on by a restart, and what it holds waits for a person (SPEC I4)."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.entrypoints.cli.commands import Serving, ran, serving

STRICT = """version = "strict-2"

[[rules]]
name = "facts_wait"
reason = "facts of applications wait for a person"
outcome = "quarantine"
when = { kinds = ["fact"], source_types = ["application"] }

[[rules]]
name = "preferences"
reason = "preferences are harmless"
outcome = "approve"
trust = "user_asserted"
when = { kinds = ["preference"], source_types = ["application", "direct_user"] }
"""
TRIES_MAX = 300
WALLS = {"agent": "support", "purpose": "support", "subject": "customer-7"}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, in which a server finds its settings."""
    monkeypatch.chdir(tmp_path)


@contextmanager
def served(folder: Path, policy_file: Path | None = None) -> Iterator[Serving]:
    """A server with this policy, whose rounds follow one another quickly."""
    named = f'policy_file = "{policy_file}"\n' if policy_file is not None else ""
    Path("tenure.toml").write_text(f"{named}[upkeep]\ninterval_seconds = 0.05\n", encoding="utf-8")
    with serving(folder) as running:
        yield running


def key(folder: Path, name: str, *roles: str) -> str:
    """A credential of the tenant."""
    given = [part for role in roles for part in ("--role", role)]
    made = ran("key", "create", "--tenant", "acme", "--name", name, *given, "--data", folder, "--json")
    token: str = made.json["token"]
    return token


def events(folder: Path) -> list[dict[str, Any]]:
    """The headers of the tenant's log."""
    lines = ran("log", "export", "-", "--tenant", "acme", "--data", folder).out.splitlines()
    return [msgspec.json.decode(msgspec.json.decode(line)["header"]) for line in lines]


def until_examined(folder: Path) -> list[dict[str, Any]]:
    """The log once the examination has ended."""
    for _ in repeat(None, TRIES_MAX):
        found = events(folder)
        if any(one["type"] == "policy.reevaluated" for one in found):
            return found
    raise AssertionError("the examination did not end")


def asked(running: Serving, token: str, path: str, said: dict[str, Any] | None = None) -> Any:
    """The answer to one call."""
    answer = httpx.request(
        "GET" if said is None else "POST",
        f"{running.announced['url']}/v1{path}",
        headers={"Authorization": f"Bearer {token}"},
        json=said,
        timeout=30,
    )
    assert answer.is_success, answer.text
    return answer.json()


def remembered(running: Serving, token: str, content: str, kind: str) -> str:
    """A memory that an application wrote."""
    said = {**WALLS, "kind": kind, "content": content, "source": {"type": "application", "id": "crm-1"}}
    memory_id: str = asked(running, token, "/memories", said)["memory"]["id"]
    return memory_id


def recalled(running: Serving, token: str) -> set[str]:
    """What a recall shows."""
    found = asked(running, token, "/recall", {**WALLS, "query": "parcels"})
    return {one["memory"]["id"] for one in found["items"]}


def test_a_policy_is_tried_switched_on_and_holds_what_it_said_it_would(tmp_path: Path) -> None:
    """SPEC I4, L6, L7: by command, over a restart, and over HTTP."""
    folder, strict = tmp_path / "store", tmp_path / "strict.toml"
    strict.write_text(STRICT, encoding="utf-8")
    with served(folder) as running:
        bot, ann = key(folder, "bot", "writer", "reader"), key(folder, "ann", "reviewer")
        fact = remembered(running, bot, "Parcels go to 4 Mill Lane", "fact")
        preference = remembered(running, bot, "Prefers parcels to letters", "preference")
        table = ran("policy", "replay", strict, "--data", folder)
        tried = ran("policy", "replay", strict, "--data", folder, "--json").json
        before = recalled(running, bot)
    with served(folder, strict) as running:
        log = until_examined(folder)
        waiting = asked(running, ann, "/review")["items"]
        held = recalled(running, bot)
        asked(running, ann, f"/memories/{fact}/promote", {"expected_version": 2, "reason": "checked"})
        again = recalled(running, bot)
        after = ran("policy", "replay", strict, "--data", folder, "--json").json

    predicted = [one["change"]["memory_id"] for one in tried["changes"] if one["change"]["effect"] == "held"]
    assert fact in table.out
    assert predicted == [fact]
    assert [one["stream"] for one in log if one["type"] == "memory.held"] == predicted
    assert [(one["memory"]["id"], one["decision"]["rule"]) for one in waiting] == [(fact, "facts_wait")]
    assert (before, held, again) == ({fact, preference}, {preference}, {fact, preference})
    assert (after["tenants"][0]["reviewed"], after["tenants"][0]["held"]) == (1, 0)
