"""When the store cannot serve: 503, nothing half-written, recovery (SPEC E5). Our own faults say nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.entrypoints.http_api.acme import Acme, problem_code, proposal, running
from tests.stores.engine import SqliteEngine

from tenure.stores.sqlite.store import SqliteStore


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Acme]:
    """Acme on an embedded store, which can be harmed from in here; a database is harmed in tests/faults."""
    with running(SqliteEngine(tmp_path)) as opened:
        yield opened


@contextmanager
def read_only(acme: Acme) -> Iterator[None]:
    """The store's disk refuses every write, as a full or read-only one does."""
    store = acme.node.store
    assert isinstance(store, SqliteStore)
    writer = store._connection  # noqa: SLF001 -- the real connection of the real store; nothing is replaced
    writer.execute("PRAGMA query_only = 1")
    try:
        yield
    finally:
        writer.execute("PRAGMA query_only = 0")


def test_a_store_that_cannot_write_answers_503_and_recovers(acme: Acme) -> None:
    """SPEC E5: nothing is acknowledged, nothing half-written, and the next write after it works."""
    before = acme.log_head()

    with read_only(acme):
        refused = acme.call("POST", "/v1/memories", proposal(), key="w-1")
        waiting = acme.client.get("/readyz")
        alive = acme.client.get("/healthz")

    assert (refused.status_code, problem_code(refused)) == (503, "unavailable")
    assert refused.headers["retry-after"] == "1"
    assert (waiting.status_code, problem_code(waiting)) == (503, "unavailable")
    assert alive.json() == {"status": "alive"}
    assert acme.log_head() == before
    assert acme.client.get("/readyz").json() == {"status": "ready"}
    assert acme.call("POST", "/v1/memories", proposal(), key="w-1").status_code == 201


def test_a_recall_that_cannot_look_is_503_and_never_an_empty_answer(acme: Acme) -> None:
    """SPEC E5, R1: "there is nothing" is said only by who has looked; it goes on by itself afterwards."""
    store = acme.node.store
    assert isinstance(store, SqliteStore)
    index = store._indexing._search._connection  # noqa: SLF001 -- the real connection of the real index
    index.execute("PRAGMA query_only = 1")
    memory = acme.remember()

    questions = [{"query": "e-mail"}, {"queries": ["e-mail", "phone"]}, {"kinds": ["preference"]}]
    refused = [acme.call("POST", "/v1/recall", question) for question in questions]
    around = acme.call("GET", f"/v1/memories/{memory['id']}/neighbours")
    index.execute("PRAGMA query_only = 0")
    found = acme.call("POST", "/v1/recall", {"query": "e-mail"})

    assert [(answer.status_code, problem_code(answer)) for answer in (*refused, around)] == [
        (503, "unavailable")
    ] * 4
    assert refused[0].headers["retry-after"] == "1"
    assert [item["memory"]["id"] for item in found.json()["items"]] == [memory["id"]]


def test_a_fault_of_ours_tells_its_kind_and_place_to_the_log_alone(
    acme: Acme, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E6: the message of an unexpected exception may quote a memory, so nobody gets to read it."""

    def break_down(*_arguments: object, **_named: object) -> None:
        raise RuntimeError("the moon is made of green cheese")

    monkeypatch.setattr(acme.node.pipeline, "run_many", break_down)

    answer = acme.call("POST", "/v1/memories", proposal(content="the moon is made of green cheese"))

    assert (answer.status_code, problem_code(answer)) == (500, "internal")
    assert "cheese" not in answer.text
    faults = [line for line in acme.log_lines() if line["event"] == "fault"]
    assert [(line["level"], line["error"], line["route"]) for line in faults] == [
        ("error", "RuntimeError", "/v1/memories")
    ]
    assert faults[0]["at"][-1].startswith("test_faults.py:")
    assert b"cheese" not in acme.log.getvalue()
