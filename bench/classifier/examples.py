"""What the classifier learns from: the development lines, and sentences made from patterns of our own.

The development lines stay where `--data` says; nothing of them is kept here but what the model learned.
"""

import json
import random
import re
from pathlib import Path
from typing import Final

import msgspec

from tenure.core.scanning.classifying import WINDOW_CHARACTERS, places_of
from tenure.core.scanning.normalising import fold, plain

PATTERNS: Final = Path(__file__).with_name("benign.txt")
ATTACK_PATTERNS: Final = Path(__file__).with_name("attacks.txt")
WRITTEN: Final = "written for this"
"""The name of our own sentences as a source."""
SENTENCES_PER_PATTERN: Final = 8
SEED: Final = 6
_CHOICE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_BRACES = {"{{": "{", "}}": "}"}


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A text with its label, where it is from, and the places of its features."""

    text: str
    attack: bool
    source: str
    places: tuple[int, ...]
    disguised: bool = False


def example(text: str, *, attack: bool, source: str, disguised: bool = False) -> Example:
    """The example of this text, read as the scanner reads it."""
    folded = fold(plain(text))[:WINDOW_CHARACTERS]
    return Example(
        text=text, attack=attack, source=source, places=tuple(sorted(places_of(folded))), disguised=disguised
    )


def development(data: Path) -> list[Example]:
    """The lines of the development set."""
    lines = (data / "threats" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        example(
            line["text"],
            attack=line["label"] == "attack",
            source=source_of(line["source"]),
            disguised="+ obfuscation:" in line["source"],
        )
        for line in map(json.loads, lines)
    ]


def source_of(name: str) -> str:
    """The source behind a line's note on it: what is held out together."""
    return re.split(r"[ ,]", name, maxsplit=1)[0]


def own() -> list[Example]:
    """All sentences made from the patterns that come with the trainer."""
    benign, attacks = (path.read_text(encoding="utf-8") for path in (PATTERNS, ATTACK_PATTERNS))
    return written(benign) + written(attacks, attack=True)


def written(
    patterns: str, *, attack: bool = False, per_pattern: int = SENTENCES_PER_PATTERN
) -> list[Example]:
    """Sentences from the patterns, and fragments of every third as wrapped text has them."""
    chance = random.Random(SEED)
    sentences: list[str] = []
    for line in patterns.splitlines():
        if line and not line.startswith("#"):
            sentences += sorted({_sentence(line, chance) for _ in range(per_pattern)})
    fragments = [_middle(sentence.split()) for sentence in sentences[::3]]
    texts = sentences + [fragment for fragment in fragments if fragment]
    return [example(text, attack=attack, source=WRITTEN) for text in texts]


def _sentence(pattern: str, chance: random.Random) -> str:
    return _CHOICE.sub(lambda part: _BRACES.get(part[0]) or chance.choice(part[1].split("|")), pattern)


def _middle(words: list[str]) -> str:
    """The words without the first and the last quarter, where enough are left to be read."""
    quarter = len(words) // 4
    return " ".join(words[quarter:-quarter]) if quarter >= 2 else ""
