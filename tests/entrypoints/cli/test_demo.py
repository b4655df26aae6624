"""`tenure demo` holds, and says so when it does not."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import program, ran

from tenure.core.admission import Condition, Policy, Rule
from tenure.core.identity import SourceType
from tenure.core.vocabulary import Outcome, Trust
from tenure.entrypoints.cli import demo_story
from tenure.entrypoints.cli.demo import WIDTH, tell
from tenure.entrypoints.cli.demo_stage import Check, Stage, Step
from tenure.wiring import rules_in_force


def test_the_whole_story_holds_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """SPEC S1: every step with what was checked, on a store that is thrown away."""
    result = program("demo", TMPDIR=str(tmp_path))

    assert (result.code, result.err) == (0, "")
    assert "✗" not in result.out
    assert result.out.count("✓") >= 30
    assert result.out.splitlines()[-1].endswith("checks hold in 11 of 11 steps.")
    assert list(tmp_path.iterdir()) == []


def test_it_fits_a_terminal_of_80_columns() -> None:
    """SPEC S1: pleasant to read."""
    assert max(len(line) for line in ran("demo").out.splitlines()) <= WIDTH


def test_as_json_it_gives_every_step_with_its_checks() -> None:
    """SPEC S1: one object, for machines."""
    told = ran("demo", "--json").json

    assert told["holds"] is True
    assert [step["title"] for step in told["steps"]] == [step.title for step in demo_story.STORY]
    assert all(step["checks"] for step in told["steps"])
    assert told["checks"] == told["checks_that_hold"]


def test_it_is_the_same_every_time() -> None:
    """SPEC S1: the story's clock is its own."""
    assert ran("demo").out == ran("demo").out


def test_a_terminal_without_the_marks_gets_others() -> None:
    """SPEC S1: an old terminal is no reason to fail."""
    result = program("demo", PYTHONIOENCODING="ascii")

    assert result.code == 0
    assert "    + " in result.out


def test_a_gate_that_admits_everything_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC L3: the checks look at what the product does, so a broken product fails them."""
    everything = Condition(source_types=frozenset(SourceType))
    careless = Rule(
        name="all", reason="why not", when=everything, outcome=Outcome.APPROVE, trust=Trust.USER_ASSERTED
    )
    monkeypatch.setattr(
        rules_in_force, "policy_in_force", lambda _given: Policy(version="v", rules=(careless,))
    )

    text, as_json = ran("demo"), ran("demo", "--json")

    assert text.code == as_json.code == 1
    assert "✗ the mail waits in quarantine" in text.out
    assert as_json.json["holds"] is False


def test_a_step_that_breaks_off_ends_the_story_without_quoting_anything(tmp_path: Path) -> None:
    """SPEC E6: what an unexpected fault says may quote a memory."""

    def breaks(_stage: Stage) -> Iterator[Check]:
        yield Check(what="fine so far", holds=True)
        raise RuntimeError("the customer's secret")

    step = Step("One", "It breaks.", breaks)

    told = list(tell((step, step), tmp_path))

    assert len(told) == 1
    assert not told[0].holds
    assert [check.what for check in told[0].checks] == ["fine so far", "the step broke off: RuntimeError"]


def test_a_step_without_a_check_does_not_hold(tmp_path: Path) -> None:
    """SPEC S1: nothing checked is nothing shown."""
    (told,) = tell((Step("Empty", "Nothing.", lambda _stage: iter(())),), tmp_path)

    assert not told.holds


def test_a_story_that_was_cut_short_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S1: the exit code is about all of its steps."""

    def breaks(_stage: Stage) -> Iterator[Check]:
        raise RuntimeError

    monkeypatch.setattr(demo_story, "STORY", (demo_story.STORY[0], Step("Two", "It breaks.", breaks)))

    assert ran("demo").code == 1
