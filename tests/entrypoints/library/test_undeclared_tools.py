"""Guarded tools that nobody declared, where the operator refuses them (SPEC X1)."""

from pathlib import Path

import pytest
from tests.clock import MovableClock
from tests.stores.engine import SqliteEngine

from tenure import Tenure, ToolGuard, ToolRefused
from tenure.config import Settings
from tenure.config.tools import ToolSettings


def test_a_tool_that_is_not_declared_does_not_run_where_the_operator_says_so(
    tmp_path: Path, clock: MovableClock
) -> None:
    """SPEC X1: the refusal says what is missing, and nothing runs."""
    refusing = Settings(tools={"look": ToolSettings(nothing_sensitive=True)}, tools_undeclared="refuse")
    with Tenure(SqliteEngine(tmp_path / "data").open(clock, refusing)) as opened:
        guard = ToolGuard(opened.session("acme", "payables", "payables", "supplier-7"))

        @guard.tool("look", resolve={})
        def look() -> str:
            return "seen"

        @guard.tool("shred", resolve={})
        def shred() -> None:
            raise AssertionError

        assert look() == "seen"
        with pytest.raises(ToolRefused, match="shred was not called: it is not declared") as refusal:
            shred()
        assert "[tools.shred]" in (refusal.value.hint or "")
