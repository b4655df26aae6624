"""Trying a policy out over HTTP: the numbers, the memories, and for an operator alone (SPEC I4, A4)."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.entrypoints.http_api.acme import Acme, problem_code, running
from tests.stores.engine import Engine

from tenure.usecases import policy_replay

STRICT = """version = "strict-2"
[[rules]]
name = "facts_wait"
reason = "facts wait"
outcome = "quarantine"
when = { kinds = ["fact"] }
"""
CRM = {"type": "application", "id": "crm-1"}
ADDRESS = "/v1/policy/replay"


@pytest.fixture(scope="module")
def acme(shared_engine: Engine) -> Iterator[Acme]:
    """Acme with two facts."""
    with running(shared_engine) as opened:
        for number in range(2):
            opened.remember(content=f"Parcel {number} goes to Mill Lane", kind="fact", source=CRM)
        yield opened


def tried(acme: Acme, policy: Any = STRICT, who: str = "operator") -> Any:
    """The answer to one call."""
    return acme.call("POST", ADDRESS, {"policy": policy}, who=who)


def test_an_operator_sees_what_would_change(acme: Acme) -> None:
    """SPEC I4: as the command shows it; nothing is changed."""
    answer = tried(acme)

    said = answer.json()
    assert answer.status_code == 200
    assert (said["replay"]["examined"], said["replay"]["held"], said["truncated"]) == (2, 2, False)
    assert {one["after_rule"] for one in said["changes"]} == {"facts_wait"}
    assert "Mill Lane" not in answer.text
    assert tried(acme).json()["replay"]["held"] == 2


@pytest.mark.parametrize("who", ["bot", "ann", "auditor"])
def test_nobody_else_does(acme: Acme, who: str) -> None:
    """SPEC A4: the policy is an operator's."""
    assert problem_code(tried(acme, who=who)) == "forbidden"


def test_a_key_that_is_narrowed_does_not(acme: Acme) -> None:
    """SPEC A2: a replay reaches the whole tenant."""
    token = acme.token("narrow", "acme", roles=["operator"], agents=["support"])

    answer = acme.call("POST", ADDRESS, {"policy": STRICT}, token=token)

    assert problem_code(answer) == "forbidden"


@pytest.mark.parametrize("policy", ["", "version = 1", "[[[", 7, None])
def test_a_policy_that_is_none_is_refused_with_its_lines(acme: Acme, policy: Any) -> None:
    """SPEC S2: bad input never gives a 5xx."""
    answer = tried(acme, policy)

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")


def test_bounds_are_said(acme: Acme, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T8: a call does a call's work; the rest is left to the command."""
    monkeypatch.setattr(policy_replay, "CHANGES_MAX", 1)
    cut = tried(acme).json()
    monkeypatch.setattr(policy_replay, "EVENTS_MAX", 1)
    long = tried(acme)

    assert (cut["truncated"], len(cut["changes"]), cut["replay"]["held"]) == (True, 1, 2)
    assert problem_code(long) == "too-large"
