"""Configuration of a database: what is taken for its address, and that no refusal shows it (SPEC S5, E6)."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tenure.config import ConfigError, declared, load


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, so that no file is found by chance."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def only_problem(environment: Mapping[str, str], **overrides: object) -> str:
    """The one mistake that loading reports."""
    with pytest.raises(ConfigError) as caught:
        load(environment=environment, overrides=overrides)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:hunter2@db/tenure",
        "postgres://ann@db:5433,db2:5433/tenure?target_session_attrs=read-write",
        "postgresql://ann:hun%40ter2@[::1]:5432/tenure?sslmode=verify-full",
        "postgresql:///tenure?host=/run/postgresql",
    ],
)
def test_a_database_is_named_as_its_client_names_it(folder: Path, address: str) -> None:
    """SPEC S5: in each of the three places, whatever PostgreSQL's own client takes."""
    (folder / "tenure.toml").write_text(f"database_url = '{address}'\n[keys]\ndatabase_url = '{address}'\n")

    from_file = load(environment={})
    from_environment = load(environment={"TENURE_DATABASE_URL": address})
    from_command = load(environment={}, overrides={"database_url": address})

    for loaded in (from_file, from_environment, from_command):
        assert loaded.settings.database_url == address
    assert from_file.settings.keys.database_url == address


@pytest.mark.parametrize("name", ["database_url", "keys.database_url"])
@pytest.mark.parametrize(
    "address",
    [
        "mysql://ann:hunter2@db/tenure",
        "postgresql:ann:hunter2@db",
        "PostgreSQL://ann:hunter2@db/tenure",
        "host=db password=hunter2",
        "hunter2",
        "postgresql://ann:hunter2%@db/tenure",
        "postgresql://ann:hunter2@[::1/tenure",
        "postgresql://ann@db/tenure?pasword=hunter2",
    ],
)
def test_what_is_no_database_is_refused_and_never_shown(name: str, address: str) -> None:
    """SPEC S3, E6: one message, with a remedy and without the address, in which a password may stand."""
    variable = declared()[name].environment
    environment = {"TENURE_DATABASE_URL": "postgresql://db/tenure", variable: address}

    problem = only_problem(environment)

    assert problem.startswith(f"{name} (environment {variable}): the value given is not accepted; it takes ")
    assert "postgresql://USER:PASSWORD@HOST:PORT/DATABASE" in problem
    assert "hunter2" not in problem


@pytest.mark.parametrize("value", [7654321, ["postgresql://ann:hunter2@db/tenure"], True])
def test_a_database_that_is_not_even_text_is_one_mistake(value: object) -> None:
    """SPEC S3, E6: reported once, by its type, without the value."""
    problem = only_problem({}, database_url=value)

    assert problem.startswith("database_url (command line): the value given is not accepted")
    assert "hunter2" not in problem
    assert "7654321" not in problem


def test_an_empty_option_is_no_database() -> None:
    """SPEC S5: a script whose variable is empty must not quietly get the embedded store."""
    problem = only_problem({}, database_url="")

    assert problem.startswith("database_url (command line): ")


def test_keys_in_a_database_need_their_data_in_one() -> None:
    """SPEC S3, F7: who wants the keys apart must not find them beside the data."""
    problem = only_problem({"TENURE_KEYS__DATABASE_URL": "postgresql://ann:hunter2@keys/tenure"})

    assert problem.startswith("keys.database_url (environment TENURE_KEYS__DATABASE_URL): an embedded store")
    assert "hunter2" not in problem
