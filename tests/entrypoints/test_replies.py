"""One table for every way in: the shape of a problem and the exit code of every error (SPEC S2)."""

from collections.abc import Iterator

import pytest

from tenure.core import errors
from tenure.core.errors import TenureError
from tenure.entrypoints.replies import (
    EXIT_FAILED,
    EXIT_USAGE,
    PROBLEM_TYPE_PREFIX,
    Internal,
    MethodNotAllowed,
    exit_code,
    problem,
    retry_after_seconds,
)

STATUSES = {
    "unauthenticated": 401,
    "forbidden": 403,
    "not-found": 404,
    "method-not-allowed": 405,
    "version-conflict": 409,
    "idempotency-mismatch": 409,
    "illegal-transition": 409,
    "on-hold": 409,
    "too-large": 413,
    "invalid-request": 422,
    "memory-rejected": 422,
    "scope-not-named": 422,
    "rate-limited": 429,
    "internal": 500,
    "unavailable": 503,
}


def every_error() -> Iterator[TenureError]:
    """One of each."""
    special: dict[type[TenureError], TenureError] = {
        errors.VersionConflict: errors.VersionConflict(expected=1, current=2),
        errors.MemoryRejected: errors.MemoryRejected(rule="r", reason="because", policy_version="p"),
        errors.RateLimited: errors.RateLimited(retry_after_seconds=7),
    }
    for kind in TenureError.__subclasses__():
        yield special.get(kind) or kind("something is wrong", hint="do something")


def test_every_error_has_its_problem() -> None:
    """RFC 9457: type, title, status, detail; the type ends in one of the codes of the interface."""
    documents = [problem(error, instance="/v1/memories") for error in every_error()]

    told = {
        str(document["type"]).removeprefix(PROBLEM_TYPE_PREFIX): document["status"] for document in documents
    }
    assert told == STATUSES
    for document in documents:
        assert document["title"]
        assert document["detail"]
        assert document["hint"] or document["status"] in {405, 500}
        assert document["instance"] == "/v1/memories"


def test_a_problem_carries_the_errors_own_details() -> None:
    """The current version, the rule, the field."""
    conflict = problem(errors.VersionConflict(expected=1, current=2))
    rejected = problem(errors.MemoryRejected(rule="attack", reason="because", policy_version="default-1"))
    invalid = problem(errors.InvalidRequest("no", field="kind"))

    assert (conflict["current_version"], conflict["field"]) == (2, "expected_version")
    assert (rejected["rule"], rejected["reason"], rejected["policy_version"]) == (
        "attack",
        "because",
        "default-1",
    )
    assert invalid["field"] == "kind"
    assert "instance" not in invalid


def test_waiting_is_advised_where_it_helps() -> None:
    """429 says when; 503 says soon; nothing else is worth asking again."""
    advised = {error.code: retry_after_seconds(error) for error in every_error()}

    assert {code: wait for code, wait in advised.items() if wait is not None} == {
        "rate-limited": 7,
        "unavailable": 1,
    }


@pytest.mark.parametrize("error", list(every_error()), ids=lambda error: error.code)
def test_a_command_exits_by_what_was_wrong(error: TenureError) -> None:
    """2 for being asked wrongly, 1 for everything else."""
    wanted = EXIT_USAGE if error.code in {"invalid-request", "scope-not-named"} else EXIT_FAILED

    assert exit_code(error) == wanted


def test_faults_of_ours_are_errors_like_all_others() -> None:
    """They have their place in the tree."""
    assert issubclass(Internal, TenureError)
    assert issubclass(MethodNotAllowed, TenureError)
