"""`python -m bench.false_alarms [--data DIR] [FOLDER ...]`: what scanners find in texts nobody tuned them on.

Every finding here is a false alarm. It reads the turns of the conversations in DIR/retrieval, and the
paragraphs of all text and HTML files below each folder: handbooks, policies, documentation. No rule and no
model was written or trained with these in view, which is what makes the figures worth something.
"""

import argparse
import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from tenure.core.scanning import scan
from tenure.engines.classifier_model import shipped_classifier

DEFAULT_DATA: Final = Path("../shared/data")
TEXTS_MAX: Final = 3_000
CHARACTERS: Final = range(30, 701)
_LETTERS_MIN: Final = 0.8
_SUFFIXES: Final = frozenset({".txt", ".md", ".rst", ".html", ".htm", ".gz"})
_BLOCK_END: Final = re.compile(r"</(?:p|li|dd|dt|h[1-6]|div|td|pre)>")
_TAG: Final = re.compile(r"<[^<>]{1,400}>")
_EMPTY_LINE: Final = re.compile(r"\n\s*\n")


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many texts of one origin the rules, the classifier, and either of them find something in."""

    origin: str
    texts: int
    by_rules: int
    by_classifier: int
    by_either: int


def main() -> None:
    """Print a row for each origin."""
    parser = argparse.ArgumentParser(prog="python -m bench.false_alarms", description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with retrieval/*.json.gz")
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER", help="ordinary texts")
    options = parser.parse_args()
    print("| origin | texts | rules | classifier | either |\n|---|---|---|---|---|")
    for path in sorted((options.data / "retrieval").glob("*.json.gz")):
        _show(count(path.name.partition(".")[0], turns_of(path)))
    for folder in options.folders:
        _show(count(folder.name, paragraphs_of(folder)))


def count(origin: str, texts: Iterable[str]) -> Count:
    """What is found in a fixed choice of the texts; the same texts give the same choice."""
    chosen = sorted(set(texts), key=lambda text: hashlib.sha256(text.encode(errors="replace")).digest())
    chosen = chosen[:TEXTS_MAX]
    rules = [bool(scan(text)) for text in chosen]
    learned = [bool(scan(text, [shipped_classifier()])) for text in chosen]
    return Count(
        origin=origin,
        texts=len(chosen),
        by_rules=sum(rules),
        by_classifier=sum(learned),
        by_either=sum(map(max, rules, learned)),
    )


def turns_of(path: Path) -> Iterator[str]:
    """The turns and questions of the conversations in a file, as long as one text of memory may be."""
    for conversation in json.loads(gzip.decompress(path.read_bytes())):
        texts = [one["text"] for one in conversation["turns"]]
        texts += [one["question"] for one in conversation["questions"]]
        yield from (text for text in texts if 0 < len(text) <= CHARACTERS[-1])


def paragraphs_of(folder: Path) -> Iterator[str]:
    """The paragraphs of prose in the files below the folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            packed = path.suffix == ".gz"
            text = (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode(
                "utf-8", "ignore"
            )
            if path.name.removesuffix(".gz").endswith((".html", ".htm")):
                text = html.unescape(_TAG.sub("", _BLOCK_END.sub("\n\n", text)))
            for block in _EMPTY_LINE.split(text):
                paragraph = " ".join(block.split())
                if len(paragraph) in CHARACTERS and _is_prose(paragraph):
                    yield paragraph


def _is_prose(text: str) -> bool:
    return sum(one.isalpha() or one == " " for one in text) > _LETTERS_MIN * len(text)


def _show(row: Count) -> None:
    shares = " | ".join(
        f"{found} ({found / max(1, row.texts):.2%})"
        for found in (row.by_rules, row.by_classifier, row.by_either)
    )
    print(f"| {row.origin} | {row.texts} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
