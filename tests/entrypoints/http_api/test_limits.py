"""A limit on everything: requests a minute, failures a minute, bytes a request (SPEC S3)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.entrypoints.http_api.acme import UNLIMITED, Acme, problem_code, proposal, running
from tests.stores.engine import SqliteEngine

from tenure.config import RateLimit, Server, Settings
from tenure.core.errors import RateLimited, Unauthenticated
from tenure.core.identity import Caller, Grants
from tenure.entrypoints.http_api.limiting import FAILURES_PER_MINUTE_MAX, Limits

LIMITED = Settings(rate_limit=RateLimit(per_minute=3), server=Server(request_bytes_max=4_096))


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Acme]:
    """Acme with three requests a minute, of 4,096 bytes."""
    with running(SqliteEngine(tmp_path), LIMITED) as opened:
        yield opened


def caller(name: str) -> Caller:
    """Somebody at acme."""
    return Caller(tenant="acme", id=name, name=name, grants=Grants(roles=frozenset()))


def test_a_credential_beyond_its_rate_is_told_when_to_come_back(narrow: Acme) -> None:
    """SPEC S3: 429 with Retry-After, for that credential alone, and nothing is stored."""
    answers = [narrow.call("POST", "/v1/memories", proposal()) for _ in range(4)]
    length = narrow.log_head()

    assert [answer.status_code for answer in answers] == [201, 201, 201, 429]
    refused = answers[-1]
    assert problem_code(refused) == "rate-limited"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.json()["retry_after_seconds"] == int(refused.headers["retry-after"])
    assert narrow.call("GET", "/v1/memories", who="ann").status_code == 200
    assert narrow.client.get("/healthz").status_code == 200
    assert narrow.call("POST", "/v1/memories", proposal()).status_code == 429
    assert narrow.log_head() == length


def test_bad_requests_count_as_well(narrow: Acme) -> None:
    """A flood of nonsense is a flood."""
    answers = [narrow.call("POST", "/v1/recall", {}) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [422, 422, 422, 429]


def test_a_limit_of_nothing_is_no_limit() -> None:
    """SPEC S3: 0 sets none."""
    limits = Limits(per_minute=0, now=lambda: datetime.now(tz=UTC))  # noqa: TID251 -- the limit's own clock

    for _ in range(10_000):
        limits.admit(caller("bot"))


def test_an_address_that_fails_too_often_is_told_to_wait() -> None:
    """Guessing is slow; another address is not made to suffer for it."""
    limits = Limits(per_minute=0, now=lambda: datetime.now(tz=UTC))  # noqa: TID251 -- the limit's own clock
    error = Unauthenticated("no")

    told = [limits.failed("192.0.2.1", error) for _ in range(FAILURES_PER_MINUTE_MAX + 1)]

    assert told[:-1] == [error] * FAILURES_PER_MINUTE_MAX
    assert isinstance(told[-1], RateLimited)
    assert 1 <= told[-1].retry_after_seconds <= 60
    assert limits.failed("192.0.2.2", error) is error


def test_tenants_share_no_count() -> None:
    """SPEC M2: the same name in another tenant is another credential."""
    limits = Limits(per_minute=1, now=lambda: datetime.now(tz=UTC))  # noqa: TID251 -- the limit's own clock
    limits.admit(caller("bot"))

    limits.admit(Caller(tenant="other", id="bot", name="bot", grants=Grants(roles=frozenset())))

    with pytest.raises(RateLimited):
        limits.admit(caller("bot"))


def test_a_body_over_the_limit_is_refused_whole(narrow: Acme) -> None:
    """SPEC S3: 413 with the limit, nothing stored; a body at the limit is read."""
    body = b" " * 4_097
    before = narrow.log_head()

    over = narrow.call("POST", "/v1/memories", raw=body)
    at = narrow.call("POST", "/v1/memories", raw=body[1:])

    assert (over.status_code, problem_code(over)) == (413, "too-large")
    assert over.json()["limit_bytes"] == 4_096
    assert over.headers["connection"] == "close"
    assert at.status_code == 422
    assert narrow.log_head() == before


def test_nobody_unknown_has_their_body_read(tmp_path: Path) -> None:
    """SPEC A1: without a token the answer is 401, however large the body."""
    with running(SqliteEngine(tmp_path), UNLIMITED) as opened:
        answer = opened.client.post("/v1/memories", content=b" " * 2_000_000)

    assert (answer.status_code, problem_code(answer)) == (401, "unauthenticated")
