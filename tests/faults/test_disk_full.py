"""The server's disk is full: writes are refused, reads go on, and with room again so do writes (SPEC E5)."""

from pathlib import Path

import pytest
from tests.faults.nodes import running, unavailable_says_so
from tests.postgres.faults import SmallDisk
from tests.postgres.server import PostgresServer
from tests.postgres.waiting import wait_until
from tests.usecases.asking import BOT, TENANT, written

from tenure.core.errors import Unavailable
from tenure.core.memory import Memory
from tenure.usecases.evidence import verify
from tenure.usecases.reading import GET, Get
from tenure.wiring import Node

WRITES_MAX = 2_000
RECOVERY_SECONDS_MAX = 30.0
TEXT = "A sentence that takes some room in the log, and takes it again and again. " * 24


def written_until_refused(node: Node) -> tuple[list[Memory], Unavailable]:
    """Write until there is no room for another; gives back what was acknowledged, and the refusal."""
    acknowledged: list[Memory] = []
    for number in range(WRITES_MAX):
        try:
            acknowledged.append(written(node.pipeline, f"{number} {TEXT}"))
        except Unavailable as refusal:
            return acknowledged, refusal
    pytest.fail("the disk never filled")


def test_a_full_disk_refuses_writes_and_loses_nothing(
    server_on_small_disk: PostgresServer, small_disk: SmallDisk, tmp_path: Path
) -> None:
    """SPEC E5: the refusal is a 503, all that was acknowledged is there, and no node is restarted."""
    server = server_on_small_disk
    with running(server.url(), tmp_path, count=1) as [node]:
        written(node.pipeline, "First of all")
        # The write-ahead log begins a piece that is long enough for all that follows.
        server.query("SELECT pg_switch_wal()")
        small_disk.fill(but_bytes=200_000)
        acknowledged, refusal = written_until_refused(node)
        unavailable_says_so(refusal)
        small_disk.free()
        if server.ended():
            server.start()
        wait_until(node.store.healthy, what="the node is healthy again", seconds_max=RECOVERY_SECONDS_MAX)
        acknowledged.append(written(node.pipeline, "There is room again"))
        for memory in acknowledged:
            assert node.pipeline.run(GET, BOT, Get(memory_id=memory.id)) == memory
        assert verify(node.pipeline, TENANT).holds
        assert node.store.rebuild().identical
