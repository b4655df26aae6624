"""Playing scenarios one after the other, and what each came to."""

import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import msgspec

from tenure.entrypoints.redteam import checking, script
from tenure.entrypoints.redteam.running import Player
from tenure.entrypoints.redteam.script import Scenario
from tenure.entrypoints.redteam.stage import Stage, staged

AT_ONCE: Final = 4
"""Servers that run beside one another: most of the time goes into waiting for disks."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario as it went."""

    number: int
    kind: str = msgspec.field(name="class")
    attack: str
    stopped_at: tuple[str, ...]
    effect: str | None
    unaudited: str | None
    not_undone: str | None
    twin: str | None
    unexpected: tuple[str, ...]
    stops: tuple[str, ...]
    proposed: int
    admitted: int
    note: str
    file: str

    @property
    def holds(self) -> bool:
        """Whether the attack was stopped somewhere, named and undone, and its twin passed."""
        faults = (self.effect, self.unaudited, self.not_undone, self.twin)
        return bool(self.stopped_at) and not self.unexpected and all(fault is None for fault in faults)


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many of what."""

    scenarios: int
    stopped: int
    effects: int
    twins_pass: int
    unaudited: int
    not_undone: int
    holds: bool


def shipped() -> tuple[Scenario, ...]:
    """The scenarios that come with Tenure, by their numbers."""
    with as_file(files("tenure.entrypoints.redteam") / "scenarios") as folder:
        scenarios = [script.load(path) for path in sorted(folder.glob("*.toml"))]
    return tuple(sorted(scenarios, key=lambda one: one.number))


def played(scenarios: Iterable[Scenario], *, gate: bool = True, policy: Path | None = None) -> Iterator[Row]:
    """Each scenario on a server of its own, which is thrown away; some at once, the rows in order."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield from threads.map(lambda one: _alone(one, gate=gate, policy=policy), scenarios)


def counted(rows: Iterable[Row]) -> Counts:
    """The counts of some rows; no rows hold nothing."""
    rows = tuple(rows)
    return Counts(
        scenarios=len(rows),
        stopped=sum(row.effect is None and bool(row.stopped_at) for row in rows),
        effects=sum(row.effect is not None for row in rows),
        twins_pass=sum(row.twin is None for row in rows),
        unaudited=sum(row.unaudited is not None for row in rows),
        not_undone=sum(row.not_undone is not None for row in rows),
        holds=bool(rows) and all(row.holds for row in rows),
    )


def _alone(scenario: Scenario, *, gate: bool, policy: Path | None) -> Row:
    with (
        tempfile.TemporaryDirectory(prefix="tenure-redteam-") as folder,
        staged(scenario, Path(folder), gate=gate, policy=policy) as stage,
    ):
        return _row(scenario, stage)


def _row(scenario: Scenario, stage: Stage) -> Row:
    twin = Player(stage, scenario, "twin").play(scenario.twin)
    player = Player(stage, scenario, "attack")
    ledger = player.play(scenario.steps)
    found = "; ".join(checking.effects(player)) or None
    return Row(
        number=scenario.number,
        kind=scenario.kind,
        attack=scenario.attack,
        effect=found,
        stopped_at=tuple(map(str, ledger.barriers())),
        unaudited=checking.unaudited(player),
        not_undone=checking.not_undone(player),
        twin="; ".join(twin.wrong) or None,
        unexpected=tuple(ledger.wrong),
        stops=tuple(dict.fromkeys(f"{one.barrier}: {one.said}" for one in ledger.stops)),
        proposed=ledger.proposed,
        admitted=ledger.admitted,
        note=scenario.note,
        file=scenario.file,
    )
