"""Every error has a code, a status and a title of its own, and says what to do."""

import pytest

from tenure.core import errors
from tenure.core.errors import (
    InvalidRequest,
    MemoryRejected,
    NotFound,
    RateLimited,
    TenureError,
    VersionConflict,
)

# The problem types of the HTTP surface, written out by hand.
STATUS_OF = {
    "unauthenticated": 401,
    "forbidden": 403,
    "not-found": 404,
    "version-conflict": 409,
    "idempotency-mismatch": 409,
    "illegal-transition": 409,
    "on-hold": 409,
    "too-large": 413,
    "memory-rejected": 422,
    "invalid-request": 422,
    "scope-not-named": 422,
    "rate-limited": 429,
    "unavailable": 503,
}

# The errors of the rules; a way in may have more of its own, such as a method that an address does not take.
TREE = tuple(kind for kind in TenureError.__subclasses__() if kind.__module__ == errors.__name__)


def test_each_code_has_the_status_of_the_table() -> None:
    """SPEC S2: a stable type and status for each kind of error."""
    assert {kind.code: kind.status for kind in TREE} == STATUS_OF


def test_no_two_errors_share_a_code_or_a_title_and_the_tree_is_drawn_in_full() -> None:
    """SPEC S2: a code is for ever, so it is given once."""
    kinds = TREE

    assert len({kind.code for kind in kinds}) == len({kind.title for kind in kinds}) == len(kinds)
    assert [kind.__name__ for kind in kinds if f"── {kind.__name__} " not in (errors.__doc__ or "")] == []


@pytest.mark.parametrize(
    ("error", "details"),
    [
        (VersionConflict(expected=1, current=3), {"expected_version": 1, "current_version": 3}),
        (
            VersionConflict(expected=1, current=3, memory_id="m-1"),
            {"expected_version": 1, "current_version": 3, "memory_id": "m-1"},
        ),
        (InvalidRequest("limit must be 1 to 20", field="limit"), {"field": "limit"}),
        (InvalidRequest("no"), {}),
        (
            MemoryRejected(rule="attack", reason="it gives orders", policy_version="default-1"),
            {"rule": "attack", "reason": "it gives orders", "policy_version": "default-1"},
        ),
        (RateLimited(retry_after_seconds=9), {"retry_after_seconds": 9}),
        (NotFound("there is no such memory here", memory_id="m-1"), {"memory_id": "m-1"}),
    ],
)
def test_an_error_carries_the_members_of_its_problem(error: TenureError, details: dict[str, object]) -> None:
    """SPEC S2, L8: a conflict says the current version, a rejection its rule and reason."""
    assert error.details == details
    assert str(error) == error.message


@pytest.mark.parametrize(
    "error",
    [
        VersionConflict(expected=1, current=3),
        MemoryRejected(rule="attack", reason="it gives orders", policy_version="default-1"),
        RateLimited(retry_after_seconds=9),
    ],
)
def test_an_error_that_a_caller_will_meet_says_what_to_do(error: TenureError) -> None:
    """SPEC S2: errors help."""
    assert error.hint
