"""The contract of lists of rows: newest first, narrowed as asked, a status as of now (SPEC M2, L6)."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.clock import START, MovableClock
from tests.stores.engine import Engine, Opened
from tests.stores.items import DIFFERENT, TENANT, created, number, put, receipt

from tenure.core.identity import SourceType
from tenure.core.rows import MemoryRow, microseconds
from tenure.usecases.ports import Listing

DIGEST = b"d" * 16


@pytest.fixture
def opened(engine: Engine, clock: MovableClock) -> Iterator[Opened]:
    """A store with an ordinary memory 1, a receipt, and memories 2 to 11 that differ in one thing each."""
    node = engine.open(clock)
    put(node, created(node.keyring, 1, key_digest=DIGEST), receipt(node.keyring, 500))
    differences = [sides for sides in DIFFERENT.values() if "tenant" not in sides]
    put(node, *(created(node.keyring, 2 + one, **sides) for one, sides in enumerate(differences)))
    put(node, created(node.keyring, 99, tenant="globex"))
    yield node
    node.close()


def listed(opened: Opened, *, limit: int = 50, **narrowed: Any) -> list[MemoryRow]:
    """One page of the tenant's rows."""
    with opened.store.reading() as reading:
        return reading.listing(Listing(tenant=TENANT, now=microseconds(START), limit=limit, **narrowed))


@pytest.mark.parametrize(
    ("narrowed", "expected"),
    [
        ({}, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        ({"agents": frozenset({"sales"})}, [2]),
        ({"purposes": frozenset({"selling"})}, [3]),
        ({"subjects": frozenset({"customer-8", "nobody"})}, [4]),
        ({"subjects": frozenset()}, []),
        ({"kind": "skill"}, [5]),
        ({"status": "active"}, [11, 10, 7, 6, 5, 4, 3, 2, 1]),
        ({"status": "quarantined"}, [8]),
        ({"status": "expired"}, [9]),
        ({"source_type": SourceType.EMAIL.value}, []),
        ({"source_id": "crm-2"}, []),
        ({"key_digest": DIGEST}, [1]),
        ({"before_seq": 4}, [2, 1]),
        ({"limit": 2}, [11, 10]),
    ],
    ids=lambda value: next(iter(value), "everything") if isinstance(value, dict) else None,
)
def test_a_side_narrows_the_list(opened: Opened, narrowed: dict[str, Any], expected: list[int]) -> None:
    """SPEC M2, L11: what was asked, newest first; what has expired is not active, upkeep or not."""
    rows = listed(opened, **narrowed)

    assert [row.memory_id for row in rows] == [number(one) for one in expected]


def test_pages_join_without_gap_or_overlap(opened: Opened) -> None:
    """SPEC L14: following the positions reaches every row once."""
    seen: list[int] = []
    before: int | None = None
    while rows := listed(opened, limit=3, before_seq=before):
        seen += [row.created_seq for row in rows]
        before = rows[-1].created_seq

    assert seen == [*range(12, 2, -1), 1]
