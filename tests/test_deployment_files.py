"""The files for containers name only what exists: settings, commands, files. They are not run here."""

import re
import shlex
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from tests.entrypoints.cli.commands import ran

from tenure.config import declared

ROOT: Final = Path(__file__).resolve().parent.parent
NAMES: Final = ("compose.yaml", "Dockerfile", ".dockerignore")
OPEN_PAGES: Final = ("/healthz", "/readyz")


def text_of(name: str) -> str:
    """One of the files."""
    return (ROOT / name).read_text(encoding="utf-8")


def composed() -> dict[str, Any]:
    """What compose.yaml says."""
    return msgspec.yaml.decode(text_of("compose.yaml"), type=dict[str, Any])


def nodes() -> dict[str, dict[str, Any]]:
    """The services of compose.yaml that are nodes of Tenure."""
    return {name: one for name, one in composed()["services"].items() if one["image"] == "tenure"}


def instructions(word: str) -> list[str]:
    """What follows a word in the Dockerfile, continued lines joined."""
    return re.findall(rf"^{word} (.+)$", text_of("Dockerfile").replace("\\\n", ""), re.MULTILINE)


def is_command(words: list[str]) -> bool:
    """Whether the command line has a command of this name, with these options."""
    options = [word.split("=")[0] for word in words if word.startswith("-")]
    asked = ran(*(word for word in words if not word.startswith("-")), "--help")
    return asked.code == 0 and all(re.search(rf"{option}\b", asked.out) for option in options)


@pytest.mark.parametrize("name", NAMES)
def test_each_file_says_at_its_head_that_it_was_not_run(name: str) -> None:
    """SPEC S5: nobody takes for tried what was not."""
    head = text_of(name).split("\n\n")[0]

    assert head.startswith("#")
    assert re.search(r"tests (do not|neither)|Not run by this project's tests", head)


def test_compose_names_two_nodes_over_one_database_with_one_root_key() -> None:
    """SPEC S5: it parses, and its nodes differ in nothing but their port."""
    one, two = nodes().values()
    secrets = composed()["secrets"]

    assert {**one, "ports": None} == {**two, "ports": None}
    assert one["ports"] != two["ports"]
    assert one["environment"]["TENURE_KEYS__KEK_FILE"] == f"/run/secrets/{one['secrets'][0]}"
    assert set(one["secrets"]) <= set(secrets)
    assert "healthcheck" in composed()["services"]["database"]
    assert instructions("HEALTHCHECK") != []


@pytest.mark.parametrize("name", ["compose.yaml", "Dockerfile"])
def test_every_variable_of_tenure_is_a_setting(name: str) -> None:
    """SPEC S3: a name that does not exist would keep a node from starting."""
    known = {setting.environment for setting in declared().values()}
    used = set(re.findall(r"TENURE_[A-Z_]+", text_of(name)))

    assert used != set()
    assert used - known == set()


def test_every_command_is_one_of_the_command_line() -> None:
    """SPEC S1: what the image and each node start with is there."""
    [entry], [default] = instructions("ENTRYPOINT"), instructions("CMD")

    assert msgspec.json.decode(entry) == ["tenure"]
    assert is_command(msgspec.json.decode(default))
    assert all(is_command(node["command"]) for node in nodes().values())
    assert not is_command(["server"])
    assert not is_command(["serve", "--no-such-option"])


def test_every_file_that_the_image_is_built_from_is_there_and_let_through() -> None:
    """SPEC S5: what is copied exists, and .dockerignore, which lets nothing else through, has it."""
    copied = [shlex.split(line)[:-1] for line in instructions("COPY") if not line.startswith("--from")]
    sources = {Path(source) for line in copied for source in line}
    admitted = [Path(line[1:]) for line in text_of(".dockerignore").splitlines() if line.startswith("!")]

    assert [str(source) for source in sources if not (ROOT / source).exists()] == []
    assert [str(one) for one in sources if not any(one.is_relative_to(let) for let in admitted)] == []


def test_the_image_is_locked_unprivileged_and_asks_a_page_that_exists() -> None:
    """SPEC S3: dependencies by their hashes, a user of its own, and a health check without a credential."""
    installs = [line for line in instructions("RUN") if "--requirement" in line]
    [check] = instructions("HEALTHCHECK")

    assert installs != []
    assert all("--require-hashes" in line for line in installs)
    assert instructions("USER") == ["tenure"]
    assert any(f"{page}'" in check for page in OPEN_PAGES)
