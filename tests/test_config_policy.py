"""The policy that the settings name: read at the start, refused with every mistake (SPEC S3, L2)."""

from pathlib import Path

import pytest

from tenure.config import Admission, ConfigError, Settings, load, policy_in_force
from tenure.core.admission import default_policy
from tenure.core.policy_documents import encode
from tenure.core.vocabulary import Outcome
from tenure.wiring import open_store


def settings(file: Path, **admission: object) -> Settings:
    """Settings that name a policy."""
    return Settings(policy_file=str(file), admission=Admission(**admission))  # type: ignore[arg-type]


def test_without_a_file_the_policy_that_ships_is_in_force() -> None:
    """SPEC L3, L5: with what an operator set in it."""
    chosen = Settings(admission=Admission(content_characters_max=99, on_scanner_failure="reject"))

    assert policy_in_force(chosen) == default_policy(
        content_characters_max=99, on_scanner_failure=Outcome.REJECT
    )


def test_a_file_is_in_force_as_it_says(tmp_path: Path) -> None:
    """SPEC L2: but for the limit of what is scanned, which bounds every policy."""
    file = tmp_path / "policy.toml"
    file.write_text(encode(default_policy()), encoding="utf-8")

    assert policy_in_force(settings(file)) == default_policy()
    assert policy_in_force(settings(file, content_characters_max=99)).rules[0].name == "content_bound"


def test_the_environment_names_it(tmp_path: Path) -> None:
    """SPEC S3: TENURE_POLICY_FILE."""
    file = str(tmp_path / "policy.toml")

    assert load(environment={"TENURE_POLICY_FILE": file}).settings.policy_file == file


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"\xff", "is not text in UTF-8"),
        (b"version = 1\nrules = 2", "line 1: version must be a text"),
        (b"x" * 2_000_000, "at most 262,144 characters"),
    ],
)
def test_a_file_that_is_no_policy_fails_the_start(tmp_path: Path, content: bytes | None, said: str) -> None:
    """SPEC S3: the message names the file and what is wrong; the folder is free for the next start."""
    file = tmp_path / "policy.toml"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigError, match=r"policy\.toml") as caught:
        open_store(tmp_path / "store", settings=settings(file))

    assert said in str(caught.value)
    open_store(tmp_path / "store").close()
