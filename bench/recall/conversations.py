"""Conversations with questions, and the turns that answer them: read from a folder, or made up here.

A file is gzipped JSON, a list of conversations in the form of the classes below. Such files are no part of
this project: their licences forbid it, and nobody should tune on what stands in the repository.
"""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.corpus import Corpus

FOLDER: Final = "retrieval"
ENDING: Final = ".json.gz"
MADE_UP: Final = "made up"
SESSION_TURNS: Final = 20
SPEAKERS: Final = ("Ann", "Ben")


class NoConversations(Exception):
    """The folder has no file of conversations."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody said."""

    id: str
    session: str | int
    date: str | None = None
    speaker: str
    text: str

    @property
    def content(self) -> str:
        """As it is remembered: with who said it."""
        return f"{self.speaker}: {self.text}"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question, and the turns that answer it."""

    question: str
    category: str
    evidence: list[str]


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation, which becomes one subject."""

    id: str
    turns: list[Turn]
    questions: list[Question]


def files(data: Path) -> dict[str, Path]:
    """The files of conversations in a data folder, by their short names; raises NoConversations."""
    folder = data / FOLDER if (data / FOLDER).is_dir() else data
    found = {file.name.removesuffix(ENDING): file for file in sorted(folder.glob(f"*{ENDING}"))}
    if not found:
        raise NoConversations(
            f"No conversations in {folder}. Name a folder that holds {FOLDER}/*{ENDING} with --data."
        )
    return found


def read(file: Path, count: int | None = None) -> list[Conversation]:
    """The conversations of a file, or the first so many of them."""
    with gzip.open(file) as stream:
        return msgspec.json.decode(stream.read(), type=list[Conversation])[:count]


def made_up(seed: int, *, conversations: int, turns: int, questions: int) -> list[Conversation]:
    """Conversations with known answers that belong to nobody; equal seeds give equal ones.

    Each question has words of the one turn that answers it.
    """
    corpus = Corpus(seed)
    return [
        _made_up(corpus, f"made-up-{number}", turns=turns, questions=questions)
        for number in range(conversations)
    ]


def _made_up(corpus: Corpus, name: str, *, turns: int, questions: int) -> Conversation:
    sentences = corpus.sentences(turns)
    step = max(1, turns // max(1, questions))
    return Conversation(
        id=name,
        turns=[
            Turn(
                id=f"t{at}",
                session=at // SESSION_TURNS,
                speaker=SPEAKERS[at % len(SPEAKERS)],
                text=sentence.text,
            )
            for at, sentence in enumerate(sentences)
        ],
        questions=[
            Question(question=corpus.question([sentences[at]]), category=MADE_UP, evidence=[f"t{at}"])
            for at in range(0, turns, step)[:questions]
        ],
    )


def turns_in(conversations: Sequence[Conversation]) -> int:
    """How many turns they have together."""
    return sum(len(one.turns) for one in conversations)
