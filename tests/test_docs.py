"""The documentation is true: its snippets run, its links lead somewhere, and its tables are the code's.

What a page says in sentences no test can check; what it names can be looked up.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest

from tenure.config import declared
from tenure.core.admission import default_policy
from tenure.core.authority import NEVER_MODEL_DRIVEN, ROLE_PERMISSIONS, Permission
from tenure.core.errors import TenureError
from tenure.core.events import NAMES
from tenure.core.identity import Role
from tenure.core.vocabulary import LIFETIMES, Status
from tenure.entrypoints.replies import Internal, MethodNotAllowed

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
README: Final = ROOT / "README.md"
README_LINES_MAX: Final = 160
ADR_LINES_MAX: Final = 40
SECONDS_MAX: Final = 60

WORDS: Final = (
    "memory", "claim", "subject", "caller", "boundary", "scope", "key", "source", "event", "position",
    "view", "policy", "rule", "decision", "finding", "quarantine", "review", "promote", "supersede",
    "revoke", "expire", "retract", "forget", "erase", "hold", "receipt", "influence", "ledger",
    "checkpoint", "banner", "probe", "deny", "refuse", "reject", "trust", "confidence", "freshness",
    "relevance", "tenant", "agent", "purpose", "kind", "role", "grant", "fingerprint", "origin",
    "floor", "suppression", "place", "erasure", "certificate", "residue",
)  # fmt: skip
LATER: Final = ("retract",)

PLACES: Final = (
    ROOT,
    ROOT / "src" / "tenure",
    ROOT / "src" / "tenure" / "entrypoints",
    ROOT / "src" / "tenure" / "core",
)
"""Where a file that a page names may lie; within the tour, a neighbour is named without its folder."""


def pages() -> list[Path]:
    """Every page of the repository."""
    folders = (ROOT / "docs", ROOT / "examples", ROOT / "bench", ROOT / "tests")
    found = [*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))]
    return sorted(found)


def text_of(name: str) -> str:
    """A page by its path from the root."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page that are in this language."""
    fence = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return fence.findall(page.read_text(encoding="utf-8"))


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading, without its head; each cell without its back-quotes."""
    section = re.split(rf"^## {re.escape(heading)}$", text_of(page), flags=re.MULTILINE)[1]
    rows: list[list[str]] = []
    for line in section.split("\n## ")[0].splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return [[cell.replace("`", "") for cell in row] for row in rows[2:]]


def in_a_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run what a page prints, in a folder where the repository's own paths lead into the repository."""
    for name, target in ((".venv", Path(sys.prefix)), ("examples", ROOT / "examples")):
        if not (folder / name).exists():
            (folder / name).symlink_to(target)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def in_python(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block of Python by itself, with warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server on the folder that the README names, on a free port; gives its address."""
    in_a_shell("true", tmp_path)
    command = [".venv/bin/tenure", "serve", "--data", "./tenure-data", "--port", "0", "--json"]
    quiet = {**os.environ, "TENURE_LOG__LEVEL": "error"}
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=quiet) as process:
        assert process.stdout is not None
        try:
            yield msgspec.json.decode(process.stdout.readline())["url"]
        finally:
            process.terminate()
            process.wait(SECONDS_MAX)


def test_the_readme_stays_short() -> None:
    """A newcomer reads all of it."""
    assert len(text_of("README.md").splitlines()) <= README_LINES_MAX


def test_the_memory_in_the_readme_lives_as_printed(tmp_path: Path) -> None:
    """The first Python block of the README runs exactly as it stands there, its assertions included."""
    life = blocks(README, "python")[0]

    done = in_python(life, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert life.count("assert ") >= 5


def test_the_calls_in_the_readme_work_as_printed(tmp_path: Path, server: str) -> None:
    """The HTTP commands of the README run as printed, but for the port, which is a free one here."""
    if shutil.which("curl") is None:
        pytest.skip("the README's calls need curl, and this machine has none")
    printed = blocks(README, "bash")[0]
    calls = printed.replace("http://127.0.0.1:8080", server)

    done = in_a_shell(calls, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    written, recalled, forgotten, erased = map(msgspec.json.decode, done.stdout.splitlines())
    assert printed != calls
    assert written["memory"]["status"] == "active"
    assert [item["memory"]["id"] for item in recalled["items"]] == [written["memory"]["id"]]
    assert forgotten["forgotten"] == 1
    assert erased["statement"]["memory_ids"] == [written["memory"]["id"]]


def test_the_conversation_in_the_readme_answers_as_printed(tmp_path: Path) -> None:
    """The README's import and the question to it run exactly as printed, one after the other."""
    imported = in_a_shell(blocks(README, "bash")[1], tmp_path)
    asked = in_python(blocks(README, "python")[1], tmp_path)

    assert imported.returncode == 0, imported.stderr
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "oat milk" in asked.stdout.splitlines()[0]


def test_every_link_within_the_repository_leads_somewhere() -> None:
    """A relative link names a file or folder that is there, and a heading that is there."""
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages()
        for target in re.findall(r"\]\(([^()\s]+)\)", prose(page))
        if not re.match(r"[a-z]+:", target) and not leads_somewhere(page, target)
    ]

    assert broken == []


def leads_somewhere(page: Path, target: str) -> bool:
    """Whether a link's file exists and, if it names a heading, has it."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return False
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
    return not anchor or anchor in {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings}


@pytest.mark.parametrize("name", ["tour", "architecture", "security", "capabilities/forgetting"])
def test_every_file_that_a_page_names_exists(name: str) -> None:
    """Code moves; the pages that lead through it move along."""
    page = text_of(f"docs/{name}.md")
    named = set(re.findall(r"`((?:[\w-]+/)+(?:[\w-]+\.(?:py|sql|toml|md))?)`", page))

    lost = sorted(path for path in named if not any((place / path).exists() for place in PLACES))

    assert named
    assert lost == []


def test_every_word_is_in_the_glossary() -> None:
    """One word for one thing, and what it means is written down."""
    words = re.findall(r"^\*\*([\w ]+?)\.?\*\*", text_of("docs/glossary.md"), re.MULTILINE)
    defined = {word.lower() for word in words}

    assert sorted(set(WORDS) - defined) == []


def test_words_of_later_versions_are_marked() -> None:
    """The glossary promises nothing that is not there yet."""
    glossary = text_of("docs/glossary.md")

    assert [word for word in LATER if f"**{word.capitalize()}** (later)." not in glossary] == []


@pytest.mark.parametrize("record", sorted((DOCS / "adr").glob("*.md")), ids=lambda record: record.stem)
def test_a_decision_says_why_what_and_what_follows(record: Path) -> None:
    """Every decision record is short, numbered as it is named, and has its three sections in order."""
    text = record.read_text(encoding="utf-8")

    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert text.startswith(f"# {record.stem[:4]}: ")
    assert len(text.splitlines()) <= ADR_LINES_MAX


def test_decisions_are_numbered_without_gaps() -> None:
    """A number stands for one decision, for ever."""
    numbers = [int(record.stem[:4]) for record in sorted((DOCS / "adr").glob("*.md"))]

    assert numbers == list(range(1, len(numbers) + 1))


def test_every_event_is_in_the_reference_and_no_other() -> None:
    """SPEC E3: what is ever stored is named on one page."""
    described = [row[0] for row in table("docs/reference.md", "Events")]
    page = text_of("docs/reference.md")

    assert sorted(described) == sorted(name for name, _version in NAMES.values())
    assert [
        name
        for name, version in NAMES.values()
        if version > 1 and f"`{name}`, at version {version}" not in page
    ] == []


def test_every_permission_is_in_the_reference_with_the_roles_that_carry_it() -> None:
    """SPEC A4: who may do what stands on one page, as the code has it."""
    rows = table("docs/reference.md", "Permissions")
    described = {permission: set(roles.split(", ")) for permission, _lets, roles in rows}

    assert described == {
        str(permission): {str(role) for role, held in ROLE_PERMISSIONS.items() if permission in held}
        for permission in Permission
    }


def test_what_a_model_never_holds_is_in_the_reference() -> None:
    """SPEC A5: the page names every permission that a model-driven caller is denied."""
    sentence = re.search(
        r"A caller that a model drives never has (.+?), whatever", text_of("docs/reference.md")
    )

    assert sentence is not None
    described = set(re.findall(r"`([\w:-]+)`", sentence[1]))
    assert described == {str(permission) for permission in NEVER_MODEL_DRIVEN}


def test_every_role_is_in_the_reference() -> None:
    """SPEC A4: every role has a row that says for whom it is."""
    assert [row[0] for row in table("docs/reference.md", "Roles")] == [str(role) for role in Role]


def test_every_kind_is_in_the_reference_with_its_lifetime() -> None:
    """SPEC M3: each kind has its own default, maximum and half-life, and the page has the same."""
    rows = table("docs/reference.md", "Kinds")
    described = {kind: tuple(int(cell.split()[0]) for cell in days) for kind, *days in rows}

    assert described == {
        str(kind): (lifetime.default.days, lifetime.maximum.days, lifetime.half_life.days)
        for kind, lifetime in LIFETIMES.items()
    }


def test_the_policy_in_the_reference_is_the_one_that_ships() -> None:
    """SPEC L3: the rules, their order and their outcomes."""
    rows = table("docs/reference.md", "The policy that ships")
    described = [(rule, outcome.split(",")[0]) for rule, _matches, outcome in rows]

    assert described == [(rule.name, str(rule.outcome)) for rule in default_policy().rules]


def test_every_status_is_in_the_reference() -> None:
    """SPEC M6: where a memory may stand."""
    page = text_of("docs/reference.md").split("## Statuses")[1]

    assert [status for status in Status if f"`{status}`" not in page] == []


def test_every_error_is_on_the_page_of_the_http_api() -> None:
    """SPEC S2: a code that a caller may meet is explained."""
    page = text_of("docs/http.md")
    errors: set[type[TenureError]] = {*TenureError.__subclasses__(), Internal, MethodNotAllowed}

    assert sorted(error.code for error in errors if f"`{error.code}`" not in page) == []


def test_every_setting_is_on_the_page_of_the_configuration() -> None:
    """SPEC S3: what can be set is listed, by its name and by its name in the environment."""
    page = text_of("docs/configuration.md")
    names = [name for setting in declared().values() for name in (setting.name, setting.environment)]

    assert [name for name in names if f"`{name}`" not in page] == []
