"""The tool guard over HTTP (SPEC X1, X2)."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest
from tests.entrypoints.http_api.acme import UNLIMITED, Acme, problem_code, running
from tests.stores.engine import Engine, SqliteEngine

from tenure.config.tools import ToolParameter, ToolSettings

ABSENT_ID: Final = "0195a4a0-0000-7000-8000-00000000dead"
SETTINGS: Final = msgspec.structs.replace(
    UNLIMITED,
    tools={"deliver": ToolSettings(parameters={"to.place": ToolParameter(resolver="address-book")})},
)
PATH: Final = "/v1/tools/authorize"


@pytest.fixture
def guarded(engine: Engine) -> Iterator[Acme]:
    """Acme, with one tool declared, on a store of each kind."""
    with running(engine, SETTINGS) as opened:
        yield opened


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    """The same once, for what is refused before any store is asked."""
    with running(SqliteEngine(tmp_path_factory.mktemp("acme") / "data"), SETTINGS) as opened:
        yield opened


def test_a_value_out_of_a_memory_is_refused_and_its_memory_named(guarded: Acme) -> None:
    """SPEC X2: the answer is an answer, not a problem, and quotes no value."""
    memory = guarded.remember("Deliveries go to Dock 4711")
    receipt = guarded.call("POST", "/v1/recall", {"query": "dock"}).json()["receipt_id"]
    call = {"tool": "deliver", "arguments": {"to": {"place": "dock-4711"}}, "receipt_ids": [receipt]}

    answer = guarded.call("POST", PATH, call)

    assert (answer.status_code, answer.json()) == (
        200,
        {
            "allowed": False,
            "refused": [
                {"parameter": "to.place", "because": "found_in_memory", "memory_ids": [memory["id"]]}
            ],
            "resolvers": {"to.place": "address-book"},
            "undeclared": False,
        },
    )
    log = guarded.call("GET", "/v1/log", who="auditor")
    assert log.json()["items"][-1]["type"] in {"tool.refused", "read.answered"}
    assert "tool.refused" in [event["type"] for event in log.json()["items"]]
    assert "4711" not in log.text
    assert "4711" not in str(guarded.log_lines())


def test_a_value_of_the_models_own_is_refused_too(guarded: Acme) -> None:
    """SPEC X2: no memory is named then."""
    answer = guarded.call("POST", PATH, {"tool": "deliver", "arguments": {"to": {"place": "Quay 1234"}}})

    assert answer.json()["refused"] == [
        {"parameter": "to.place", "because": "supplied_by_model", "memory_ids": []}
    ]


@pytest.mark.parametrize(
    "arguments", [{}, {"to": {"name": "Ann"}}, {"to": {"place": {"$resolved_by": "address-book"}}}]
)
def test_a_call_that_leaves_the_value_to_its_resolver_is_allowed(
    strict: Acme, arguments: dict[str, Any]
) -> None:
    """SPEC X1: and the answer says who resolves what."""
    answer = strict.call("POST", PATH, {"tool": "deliver", "arguments": arguments, "receipt_ids": None})

    assert answer.json() == {
        "allowed": True,
        "refused": [],
        "resolvers": {"to.place": "address-book"},
        "undeclared": False,
    }


def test_a_tool_that_is_not_declared_may_be_refused(engine: Engine) -> None:
    """SPEC X1: the operator decides; the refusal is an answer and an event like any other."""
    with running(engine, msgspec.structs.replace(SETTINGS, tools_undeclared="refuse")) as closed:
        answer = closed.call("POST", PATH, {"tool": "send_mail", "arguments": {"to": "ann"}})

        assert (answer.status_code, answer.json()) == (
            200,
            {"allowed": False, "refused": [], "resolvers": {}, "undeclared": True},
        )
        log = closed.call("GET", "/v1/log", who="auditor").json()["items"]
        assert "tool.refused" in [event["type"] for event in log]


def test_a_receipt_of_somebody_else_is_absent(guarded: Acme) -> None:
    """SPEC A2: 404, with its id."""
    receipt = guarded.call("POST", "/v1/recall", {"query": "dock"}).json()["receipt_id"]
    call = {"tool": "deliver", "arguments": {}, "receipt_ids": [receipt]}

    stranger = guarded.call("POST", PATH, call, who="sales")
    nobody = guarded.call("POST", PATH, {**call, "receipt_ids": [ABSENT_ID]})

    assert (stranger.status_code, problem_code(stranger)) == (404, "not-found")
    assert (stranger.json()["receipt_id"], nobody.json()["receipt_id"]) == (receipt, ABSENT_ID)


def test_asking_needs_the_role(strict: Acme) -> None:
    """SPEC A4: 403."""
    answer = strict.call("POST", PATH, {"tool": "deliver", "arguments": {}}, who="auditor")

    assert (answer.status_code, problem_code(answer)) == (403, "forbidden")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"arguments": {}}, "tool"),
        ({"tool": "", "arguments": {}}, "tool"),
        ({"tool": 7, "arguments": {}}, "tool"),
        ({"tool": " deliver", "arguments": {}}, "tool"),
        ({"tool": "t" * 501, "arguments": {}}, "tool"),
        ({"tool": "deliver"}, "arguments"),
        ({"tool": "deliver", "arguments": None}, "arguments"),
        ({"tool": "deliver", "arguments": []}, "arguments"),
        ({"tool": "deliver", "arguments": '{"to": {"place": "x"}}'}, "arguments"),
        ({"tool": "deliver", "arguments": {"a": "x" * 100_001}}, "arguments"),
        ({"tool": "deliver", "arguments": {"a": [0] * 1_000}}, "arguments"),
        ({"tool": "deliver", "arguments": {"a": [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}}, "arguments"),
        ({"tool": "deliver", "arguments": {}, "receipt_ids": "seven"}, "receipt_ids"),
        ({"tool": "deliver", "arguments": {}, "receipt_ids": ["seven"]}, "receipt_ids"),
        ({"tool": "deliver", "arguments": {}, "receipt_ids": [ABSENT_ID] * 21}, "receipt_ids"),
        ({"tool": "deliver", "arguments": {}, "tenant": "other"}, "tenant"),
    ],
)
def test_a_bad_call_is_refused_by_its_field(strict: Acme, body: object, field: str) -> None:
    """SPEC S2: 422, and nothing is recorded."""
    before = strict.log_head()
    answer = strict.call("POST", PATH, body)

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == field
    assert strict.log_head() == before


@pytest.mark.parametrize(
    "number", ["1" * 5_000, "-" + "9" * 400, "1e999", "1" * 400 + ".5", "1e-400", "0.1e5000"]
)
def test_a_number_beyond_every_number_is_no_fault(strict: Acme, number: str) -> None:
    """SPEC S2: refused or taken, and never a 5xx."""
    raw = f'{{"tool": "deliver", "arguments": {{"to": {{"place": {number}}}}}}}'.encode()

    answer = strict.call("POST", PATH, raw=raw)

    assert answer.status_code in {200, 422}
    assert answer.status_code == 422 or answer.json()["allowed"] is False
