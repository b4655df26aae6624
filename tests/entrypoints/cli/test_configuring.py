"""`tenure config` and `tenure version` say what is in force."""

from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import ran

from tenure.config import declared


def test_config_says_where_each_value_came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: command line beats environment, environment beats file, file beats default."""
    (tmp_path / "tenure.toml").write_text("[server]\nport = 9000\nthreads = 4\n", encoding="utf-8")
    monkeypatch.setenv("TENURE_SERVER__THREADS", "8")

    settings = {each["name"]: each for each in ran("config", "--data", "here", "--json").json["settings"]}

    assert list(settings) == list(declared())
    assert settings["data_dir"]["value"] == "here"
    assert settings["data_dir"]["origin"] == "command line"
    assert settings["server.port"]["origin"] == "file tenure.toml"
    assert settings["server.threads"]["origin"] == "environment TENURE_SERVER__THREADS"
    assert settings["log.level"]["origin"] == "default"


def test_config_masks_secrets_in_both_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: a key never reaches a terminal."""
    key = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="
    monkeypatch.setenv("TENURE_KEYS__KEK", key)
    monkeypatch.setenv("TENURE_DATABASE_URL", "postgresql://ann:hunter2@db/memory")
    monkeypatch.setenv("TENURE_KEYS__DATABASE_URL", "postgresql://ann:hunter2@keys/memory")

    text, as_json = ran("config"), ran("config", "--json")

    assert text.code == as_json.code == 0
    assert "********" in text.out
    assert key not in text.out + as_json.out
    assert "hunter2" not in text.out + as_json.out


def test_a_mistake_in_the_settings_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: every command that takes settings fails at start, with all mistakes at once."""
    monkeypatch.setenv("TENURE_SERVER__PORT", "many")
    monkeypatch.setenv("TENURE_NO_SUCH", "1")

    result = ran("config")

    assert result.code == 2
    assert "server.port" in result.err
    assert "TENURE_NO_SUCH" in result.err


def test_version_is_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S1: one source of the version."""
    monkeypatch.setattr("tenure.entrypoints.cli.configuring.version_of", lambda _name: "9.9.9")

    assert ran("version").out.startswith("tenure 9.9.9 ")
    assert ran("version", "--json").json["version"] == "9.9.9"
