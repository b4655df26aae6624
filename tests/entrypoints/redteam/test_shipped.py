"""All shipped attacks are stopped and all twins pass; without the gate the attacks have their effect."""

from typing import Final

from tenure.entrypoints.redteam import table

HARMLESS_WITHOUT_GATE_MAX: Final = 3
NOT_THE_GATES: Final = {18, 27}
"""Tenants and revoked sources are kept apart by other means than the gate."""


def test_every_attack_is_stopped_and_every_twin_passes() -> None:
    """SPEC L3, R5, R6, A5, X1, X2: no effect, each entry in the audit, each undone by revoking its source."""
    rows = list(table.played(table.shipped()))

    assert {row.number: row for row in rows if not row.holds} == {}
    assert table.counted(rows).holds
    assert len(rows) == 29


def test_without_the_gate_the_attacks_have_their_effect() -> None:
    """SPEC X1: a scenario that could not do harm would prove nothing."""
    rows = list(table.played(table.shipped(), gate=False))

    without_effect = {row.number for row in rows if row.effect is None}

    assert without_effect >= NOT_THE_GATES
    assert len(without_effect) <= HARMLESS_WITHOUT_GATE_MAX
