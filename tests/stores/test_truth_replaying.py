"""The contract of a replay of merges, contradictions and pruning: the same rows, byte for byte."""

from collections.abc import Callable
from random import Random
from typing import Final

import pytest
from tests.stores.engine import Engine, Opened, PostgresEngine, SqliteEngine
from tests.stores.forgetting_items import (
    expired,
    giraffe,
    memory_forgotten,
)
from tests.stores.items import (
    SUBJECT,
    TENANT,
    put,
)
from tests.stores.places import NewEngine
from tests.stores.truth_items import (
    CITY,
    DIET,
    a_story,
    contradiction_found,
    contradiction_resolved,
    corroborated,
    merged,
    pruned,
    reinstated,
    superseded,
    unmerged,
    valid_until,
)
from tests.stores.truth_looking import (
    everything,
)

from tenure.core.rows import (
    CORROBORATES,
    DERIVED,
    MERGED,
)
from tenure.usecases.ports import Append, Keyring, ReturnedPage


def test_a_replay_and_a_restored_log_come_to_the_same_rows(engine: Engine, new_engine: NewEngine) -> None:
    """SPEC E1, F11: byte for byte, with merges undone, contradictions decided and memories gone."""
    with engine.open() as opened:
        a_story(opened)
        keys = opened.keyring
        put(
            opened,
            contradiction_resolved(keys, 20, 1),
            unmerged(keys, 2, 1),
            merged(keys, 2, 4, to_version=4),
        )
        put(opened, memory_forgotten(keys, 3), pruned(keys, 6, to_version=3, subject="customer-8"))
        before = engine.views()
        assert opened.store.rebuild().identical
        log = tuple(opened.store.export(TENANT))
        assert engine.views() == before

    with new_engine().open() as opened:
        opened.store.restore([ReturnedPage(tenant=TENANT, events=log)])
        # What is sealed stays so without the keys, which are no part of a log; nothing else needs them.
        assert everything(opened) == (
            [],
            [(1, 4, CORROBORATES), (2, 3, DERIVED), (4, 2, MERGED)],
            {1: (1, 1), 4: (2, 1), 5: (2, 1)},
            [21],
        )


def alter(engine: Engine, statement: str) -> None:
    """Change rows behind the store's back."""
    if isinstance(engine, SqliteEngine):
        engine.execute(statement, {})
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute(statement.encode())


def test_rows_that_somebody_changed_are_mended_by_a_replay(engine: Engine) -> None:
    """SPEC E1: what is kept about claims is no truth of its own."""
    with engine.open() as opened:
        a_story(opened)
        before = engine.views()
        for table in ("thing", "support", "contradiction", "derivation"):
            alter(engine, f"DELETE FROM {table} WHERE subject = 'customer-7'")  # noqa: S608 -- our own names
        assert engine.views() != before

        assert not opened.store.rebuild().identical

        assert engine.views() == before
        assert opened.store.rebuild().identical


Step = Callable[[Keyring, int, int, int], Append]
"""Takes a memory, another and the version to come to."""


def _by_another(make: Callable[..., Append]) -> Step:
    return lambda keys, memory, other, version: make(keys, memory, other, to_version=version)


def _alone(make: Callable[..., Append]) -> Step:
    return lambda keys, memory, _other, version: make(keys, memory, to_version=version)


STEPS: Final[dict[str, tuple[Step, ...]]] = {
    "active": (
        _by_another(merged),
        _by_another(merged),
        _by_another(superseded),
        _by_another(valid_until),
        _alone(expired),
        _alone(pruned),
    ),
    "superseded": (_by_another(unmerged), _by_another(reinstated), _alone(pruned)),
    "expired": (_alone(pruned),),
}
"""What may happen to a memory, by its status, beside being forgotten."""


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happened_a_replay_comes_to_the_same_rows(engine: Engine, seed: int) -> None:
    """SPEC E1: live in batches of any size, and replayed a page at a time."""
    chance = Random(seed)
    with engine.open() as opened:
        for _ in range(12):
            put(opened, *_some_steps(opened, chance))
        before = engine.views()

        assert opened.store.rebuild().identical

    assert engine.views() == before


def _some_steps(opened: Opened, chance: Random) -> list[Append]:
    """A few steps that are legal where the memories stand, each of another memory."""
    keys = opened.keyring
    with opened.store.reading() as reading:
        found = {row.memory_id.int: row for row in reading.memory_page(TENANT, after=0, limit=50)}
        ever = len(reading.subject_streams(TENANT, SUBJECT))
    steps = [
        giraffe(keys, ever + one, things=chance.sample([DIET, CITY], chance.randrange(3)))
        for one in (1, 2, 3)
    ]
    for memory in chance.sample(sorted(found), min(4, len(found))):
        other, version = chance.choice(sorted(found)), found[memory].version + 1
        step = chance.choice((*STEPS.get(found[memory].status, ()), None))
        if step is None:
            return [*steps, memory_forgotten(keys, memory)]
        steps.append(step(keys, memory, other, version))
        pair = 100 + chance.randrange(9)
        steps += [corroborated(keys, other, memory), contradiction_found(keys, pair, memory, other)]
        steps += [contradiction_resolved(keys, pair, memory)] if chance.randrange(2) else []
    return steps
