"""Ordinary text that no attack wrote: the documentation strings of Python's standard library.

They are read from the Python that trains and are copied nowhere. They teach what plain technical prose looks
like: it has orders, conditions and the words of access and keys, and means none of them for an agent.
"""

import ast
import hashlib
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.classifier.examples import Example, example

ORDINARY: Final = "standard library"
"""The name of this text as a source."""
PARAGRAPHS: Final = 3_500
LINES: Final = 2_500
"""Lines stand for what is cut out of a longer text, with neither beginning nor end."""
_PARAGRAPH_CHARACTERS: Final = range(20, 601)
_LINE_CHARACTERS: Final = range(30, 101)
_LETTERS_MIN: Final = 0.75
_LEFT_OUT: Final = frozenset({"site-packages", "dist-packages", "test", "tests", "idlelib", "turtledemo"})


def ordinary(folder: Path | None = None) -> list[Example]:
    """Benign examples from the modules in the folder, by default those of this Python."""
    paragraphs, lines = set[str](), set[str]()
    for string in _strings(folder or Path(sysconfig.get_paths()["stdlib"])):
        for block in string.split("\n\n"):
            rows = [row.strip() for row in block.splitlines()]
            paragraphs.add(" ".join(" ".join(rows).split()))
            lines.update(rows[:-1])
    texts = _chosen(paragraphs, _PARAGRAPH_CHARACTERS, PARAGRAPHS) + _chosen(lines, _LINE_CHARACTERS, LINES)
    return [example(text, attack=False, source=ORDINARY) for text in texts]


def digest_of(examples: list[Example]) -> str:
    """What tells whether two Pythons have the same text to learn from."""
    return hashlib.sha256("\n".join(one.text for one in examples).encode(errors="replace")).hexdigest()[:16]


def _strings(folder: Path) -> Iterator[str]:
    """Every documentation string below the folder, but those of tests and of what was installed."""
    for path in folder.rglob("*.py"):
        if _LEFT_OUT.isdisjoint(path.relative_to(folder).parts):
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield ast.get_docstring(node) or ""


def _chosen(texts: set[str], sizes: range, count: int) -> list[str]:
    """So many of the texts that are prose of a fit size: those with the least digests.

    Another version of the library, with a few texts changed, so gives nearly the same choice.
    """
    prose = [text for text in texts if len(text) in sizes and _is_prose(text)]
    return sorted(prose, key=lambda text: hashlib.sha256(text.encode(errors="replace")).digest())[:count]


def _is_prose(text: str) -> bool:
    return sum(character.isalpha() or character == " " for character in text) > _LETTERS_MIN * len(text)
