"""Every command ends in one of three ways, and says why in one shape."""

from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import program, ran

from tenure.entrypoints.cli import configuring


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "no such command 'nope'"),
        (["key", "create"], "missing option '--tenant'"),
        (["key", "create", "--nope"], "no such option"),
        (["key", "revoke", "seven"], "'ID'"),
        (["serve", "--port", "many"], "'--port'"),
        (["serve", "--port", "70000"], "server.port"),
        (["import", "chat"], "missing argument"),
        (["key", "list", "--database-url", "mysql://user:hidden@host/db"], "postgresql://USER"),
        (["serve", "--database-url", "postgresql://user:hidden%zz@host/db"], "the value given"),
    ],
)
def test_what_is_asked_wrongly_ends_with_2_and_says_what(arguments: list[str], said: str) -> None:
    """SPEC S2: a message that names the mistake, on standard error, in both shapes."""
    text = ran(*arguments)
    as_json = ran(*arguments, "--json")

    assert (text.code, text.out) == (2, "")
    assert text.err.startswith("tenure: ")
    assert said in text.err
    assert (as_json.code, as_json.json["status"]) == (2, 422)
    assert said in as_json.json["detail"]
    assert "hidden" not in text.err + as_json.out


def test_half_a_command_is_said_to_be_one() -> None:
    """SPEC S2: and where its other half is listed."""
    result = ran("key")

    assert result.code == 2
    assert result.err == "tenure: missing command\n  See 'tenure key --help'.\n"


def test_no_command_at_all_shows_the_commands_and_ends_with_2() -> None:
    """SPEC S2: who does not know what to ask is told."""
    result = ran()

    assert (result.code, result.out) == (2, "")
    assert "serve" in result.err


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_questions_about_the_program_itself_are_answered(argument: str) -> None:
    """SPEC S1: help and version work everywhere."""
    result = ran(argument)

    assert result.code == 0
    assert "enure" in result.out


def test_a_refusal_ends_with_1_and_its_problem(tmp_path: Path) -> None:
    """SPEC S2: one line with a hint, or the problem object."""
    text = ran("log", "verify", "--data", tmp_path / "none")
    as_json = ran("log", "verify", "--data", tmp_path / "none", "--json")

    assert (text.code, text.out) == (1, "")
    assert text.err.splitlines()[0].startswith("tenure: there is no store in ")
    assert text.err.splitlines()[1].startswith("  Name its folder")
    assert (as_json.code, as_json.json["status"], as_json.err) == (1, 404, "")
    assert as_json.json["type"].endswith("/not-found")
    assert not (tmp_path / "none").exists()


def test_an_unexpected_fault_is_named_by_kind_and_place_and_never_quoted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SPEC E6: a trace could quote a memory."""

    def broken(_name: str) -> str:
        raise RuntimeError("the customer's secret")

    monkeypatch.setattr(configuring, "version_of", broken)

    text = ran("version")
    as_json = ran("version", "--json")

    assert text.code == as_json.code == 1
    assert "unexpected RuntimeError at tenure/entrypoints/cli/configuring.py" in text.err
    assert as_json.json["status"] == 500
    assert "secret" not in text.out + text.err + as_json.out + as_json.err


def test_interrupting_a_command_shows_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC E6: also when a person stops it."""

    def interrupted(_name: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(configuring, "version_of", interrupted)

    result = ran("version")

    assert result.code == 130
    assert "Traceback" not in result.err


def test_the_console_script_exits_with_the_commands_code() -> None:
    """SPEC S2: what a shell sees is what the command meant."""
    fine, wrong = program("version"), program("nope")

    assert (fine.code, wrong.code) == (0, 2)
    assert fine.out.startswith("tenure ")
