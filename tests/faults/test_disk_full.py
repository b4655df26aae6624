"""The server's disk is full: writes are refused, and with room again they go on (SPEC E5).

The nodes are processes that speak HTTP.
"""

import itertools
from pathlib import Path
from uuid import UUID

import pytest
from tests.faults.nodes import Acknowledged
from tests.faults.served import Served, assert_all_there_once, serving
from tests.postgres.faults import SmallDisk
from tests.postgres.server import PostgresServer

from tenure.core.errors import Unavailable

WRITES_MAX = 2_000
RECOVERY_SECONDS_MAX = 30.0
TEXT = "A sentence that takes some room in the log, and takes it again and again. " * 24


def written_until_refused(served: Served, tenant: str) -> dict[str, UUID]:
    """Write on one node after the other until each has refused; gives back what was acknowledged."""
    acknowledged: dict[str, UUID] = {}
    refused = set()
    for number, node in zip(range(WRITES_MAX), itertools.cycle(served.nodes), strict=False):
        try:
            acknowledged[f"{number} {TEXT}"] = node.remember(tenant, f"{number} {TEXT}")
        except Unavailable:
            refused.add(node)
        if len(refused) == len(served.nodes):
            return acknowledged
    pytest.fail("the disk never filled")


def test_a_full_disk_refuses_writes_and_loses_nothing(
    server_on_small_disk: PostgresServer, small_disk: SmallDisk, tmp_path: Path
) -> None:
    """SPEC E5, S2: both nodes refuse with a 503, all that they acknowledged is there, and they go on."""
    server = server_on_small_disk
    with serving(server.url(), tmp_path / "nodes") as served:
        [tenant] = served.tenants()
        acknowledged = Acknowledged([tenant])
        # The write-ahead log begins a piece that is long enough for all that follows.
        server.query("SELECT pg_switch_wal()")
        small_disk.fill(but_bytes=200_000)
        for content, memory_id in written_until_refused(served, tenant).items():
            acknowledged.add(content, memory_id)
        small_disk.free()
        if server.ended():
            server.start()
        served.wait_until_ready(seconds_max=RECOVERY_SECONDS_MAX)
        for number, node in enumerate(served.nodes):
            content = f"There is room again, {number}"
            acknowledged.add(content, node.remember(tenant, content))
        assert all(node.runs() for node in served.nodes)
        assert_all_there_once(served, acknowledged)
