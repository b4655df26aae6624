"""The service embeds by itself what no write waited for, and counts it (SPEC R2, T8, S4)."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from tests.engines.receiver import Receiver, receiver
from tests.entrypoints.http_api.acme import proposal
from tests.entrypoints.http_api.live import Live, serving
from tests.stores.engine import SqliteEngine

from tenure.config import Embedding, RateLimit, Settings

LOOKS_MAX = 2_000
PATIENCE_SECONDS = 30.0


@pytest.fixture
def server() -> Iterator[Receiver]:
    """A service of vectors, on this machine."""
    with receiver() as it:
        it.says = speaks
        yield it


@pytest.fixture
def live(tmp_path: Path, server: Receiver) -> Iterator[Live]:
    """A server that has that service asked."""
    embedding = Embedding(engine="openai", url=server.url, model="m", dimensions=2)
    settings = Settings(rate_limit=RateLimit(per_minute=0), embedding=embedding)
    with serving(SqliteEngine(tmp_path), settings) as live:
        yield live


def speaks(asked: bytes) -> bytes:
    """One vector for whatever it is asked about."""
    texts = msgspec.json.decode(asked)["input"]
    return msgspec.json.encode({"data": [{"index": at, "embedding": [1, 0]} for at, _ in enumerate(texts)]})


def seen(client: httpx.Client, line: str) -> bool:
    """Whether a figure comes to stand so, within many looks."""
    return any(line in client.get("/metrics").text.splitlines() for _ in range(LOOKS_MAX))


def test_what_was_written_is_embedded_and_counted(live: Live, server: Receiver) -> None:
    """SPEC R2: shortly after the write, without anybody asking for it."""
    with httpx.Client(base_url=live.url, headers={"Authorization": f"Bearer {live.token}"}) as client:
        client.post("/v1/memories", json=proposal(content="Likes tea"))
        assert server.came.acquire(timeout=PATIENCE_SECONDS)

        assert seen(client, "tenure_embedded_total 1.0")
        assert "tenure_embedding_failures_total 0.0" in client.get("/metrics").text.splitlines()


def test_a_service_that_fails_is_counted(live: Live, server: Receiver) -> None:
    """SPEC S4, T8: and the write was answered all the same."""
    server.status = 401
    with httpx.Client(base_url=live.url, headers={"Authorization": f"Bearer {live.token}"}) as client:
        written = client.post("/v1/memories", json=proposal(content="Likes tea"))
        assert server.came.acquire(timeout=PATIENCE_SECONDS)

        assert written.status_code == 201
        assert seen(client, "tenure_embedding_failures_total 1.0")
