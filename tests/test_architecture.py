"""The shape of the code is a test: sizes, names, docstrings, and nothing of one machine in the repository.

Which module may import which is not tested here: `make check` runs the import contracts of pyproject.toml.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE_FOLDERS = ("src", "tests", "bench")
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60
# Such names say nothing of what a file holds, so everything ends up in it.
EMPTY_NAMES = frozenset({"base", "common", "helper", "helpers", "manager", "managers", "util", "utils"})
# Written apart, so that this file does not find itself.
MACHINE_PATH = re.compile("|".join(f"/{folder}/" for folder in ("work", "root")))
ADDRESS = re.compile(r"\w+://|\bwww\.|\bfile:")


@cache
def repository_files() -> tuple[Path, ...]:
    """Every file that is, or with the next commit may be, in the repository."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a clone, so there is no list of the repository's files")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file()))


def code_files(*suffixes: str) -> Iterator[Path]:
    """The code files with these suffixes, of the package, its tests and its benchmarks."""
    for folder in CODE_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes:
                yield path


def named(path: Path) -> str:
    """The path as people write it: from the root of the repository."""
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method in the file, nested ones included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_code_file_is_longer_than_a_reader_can_hold() -> None:
    """A file of more than 500 lines is two files."""
    lengths = {named(path): len(path.read_text("utf-8").splitlines()) for path in code_files(".py", ".sql")}

    too_long = {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX}

    assert lengths
    assert too_long == {}


def test_no_function_is_longer_than_a_screen() -> None:
    """A function of more than 60 lines, its docstring included, is two functions."""
    too_long = {
        f"{named(path)}:{node.lineno} {node.name}": lines
        for path in code_files(".py")
        for node in functions(path)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES_MAX
    }

    assert too_long == {}


def test_no_file_or_folder_has_an_empty_name() -> None:
    """A name says what is inside."""
    unnamed = [
        named(path)
        for path in code_files(".py", ".sql")
        if EMPTY_NAMES.intersection(part.removesuffix(path.suffix) for part in Path(named(path)).parts)
    ]

    assert unnamed == []


def test_every_module_says_what_it_is() -> None:
    """The first thing in a module is what it is and what it promises."""
    silent = [
        named(path)
        for path in code_files(".py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert silent == []


def test_no_file_names_a_path_of_one_machine() -> None:
    """What works only where it was written does not work."""
    bound = [
        f"{named(path)}:{number}"
        for path in repository_files()
        for number, line in enumerate(path.read_text("utf-8", errors="ignore").splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]

    assert bound == []


def test_locks_hold_versions_and_hashes_and_no_address() -> None:
    """Where packages come from is the machine's choice; which bytes they are is the lock's."""
    locks = sorted((ROOT / "requirements").glob("*.txt"))
    text = {named(lock): lock.read_text(encoding="utf-8") for lock in locks}

    addressed = [name for name, content in text.items() if ADDRESS.search(content)]
    unhashed = [
        f"{name}: {entry.split()[0]}"
        for name, content in text.items()
        for entry in content.replace("\\\n", " ").splitlines()
        if "==" not in entry or "--hash=sha256:" not in entry
    ]

    assert list(text) == ["requirements/cluster.txt", "requirements/dev.txt", "requirements/runtime.txt"]
    assert addressed == []
    assert unhashed == []


def test_every_direct_dependency_is_explained_and_no_other() -> None:
    """docs/dependencies.md has one row for each package that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(one for extra in extras.values() for one in extra)]
    required = sorted({re.split(r"[^\w.-]", requirement)[0] for requirement in requirements})

    explained = sorted(re.findall(r"^\| (?!Package)([\w.-]+) \|", page, re.MULTILINE))

    assert explained == required
