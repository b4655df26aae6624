"""What docs/capabilities/tool-guard.md prints works as printed (SPEC X2)."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest
from tests.entrypoints.http_api.live import serving
from tests.entrypoints.library.client_stage import token_of
from tests.stores.engine import SqliteEngine

from tenure.config import load

PAGE = Path(__file__).resolve().parents[2] / "docs" / "capabilities" / "tool-guard.md"
SECONDS_MAX = 60


def printed(language: str, *, which: int = 0, of: int = 1) -> str:
    """The page's only block in this language, or one of so many."""
    found = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(found) == of
    return str(found[which])


def declared() -> str:
    """The table of tools as the page prints it for the environment."""
    found = re.search(r"TENURE_TOOLS='(.+?)'", PAGE.read_text("utf-8"))
    assert found is not None
    return found[1]


def test_the_declarations_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: the file and the environment, word for word."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tenure.toml").write_text(printed("toml", of=2), encoding="utf-8")

    in_file = load(environment={}).settings.tools
    in_environment = load(environment={"TENURE_TOOLS": declared()}).settings.tools

    assert list(in_file) == list(tomllib.loads(printed("toml", of=2))["tools"])
    assert in_environment["pay_supplier"].parameters["iban"].resolver == "supplier-master"


def test_a_tool_without_anything_sensitive_is_declared_and_others_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC X2, S3: word for word."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tenure.toml").write_text(printed("toml", which=1, of=2), encoding="utf-8")

    settings = load(environment={}).settings

    assert settings.tools_undeclared == "refuse"
    assert list(settings.tools) == ["search_web"]


def test_the_python_runs(tmp_path: Path) -> None:
    """SPEC X2: its assertions included."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", printed("python")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_the_calls_answer_as_the_page_says(tmp_path: Path) -> None:
    """SPEC X2: allowed, allowed, refused."""
    if shutil.which("curl") is None:
        pytest.skip("the page's calls need curl, and this machine has none")
    settings = load(environment={"TENURE_TOOLS": declared()}).settings
    with serving(SqliteEngine(tmp_path / "data"), settings) as live:
        where = {"URL": live.url, "TOKEN": token_of(live, "bot", "writer", "reader")}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", printed("bash")],
            env={**os.environ, **where},
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, "")
    answers = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert [answer["allowed"] for answer in answers] == [True, True, False]
    assert {tuple(answer["resolvers"].items()) for answer in answers} == {(("iban", "supplier-master"),)}
    assert answers[2]["refused"] == [{"parameter": "iban", "because": "supplied_by_model", "memory_ids": []}]
