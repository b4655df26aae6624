"""What comparing a memory with those that stand adds to its write, in boundaries of several sizes."""

import random
import time
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from bench.corpus import Corpus, Sentence
from bench.results import Row, milliseconds, share
from bench.running import Run
from bench.stores import BATCH, converted, imported, session, turns
from tenure import Source, Tenure
from tenure.entrypoints.library.sessions import Session
from tenure.usecases.pipeline import Pipeline

LEAVES_OUT: Final = """\
truth: one caller's durable writes through the library into one subject of an embedded store, with comparing
and without in turns of forty, each kind of text as often with as without: half ordinary sentences, a quarter
near neighbours of a memory that stands, a quarter new values of settings that memories claim. What was added
is the difference of the medians. In the largest boundary a write is compared by its claims alone."""

SIZES: Final = (100, 1_000, 4_000, 10_000)
BOUND: Final = 1_000
ADDED_SECONDS_MAX: Final = 0.003
SUBJECT: Final = "shop"
TURN: Final = 40
"""So many writes in a row are compared, then as many are not: what one leaves to be indexed, the next one's
look brings up."""
SETTINGS_EACH: Final = 20
"""One of so many memories claims a value of a setting."""


def measure(run: Run) -> Iterator[Row]:
    """One store for each size; writes with and without comparing take turns."""
    for size in SIZES[: run.size(len(SIZES), 2)]:
        yield _measured(run, size)


def _measured(run: Run, size: int) -> Row:
    corpus, chance = Corpus(seed=81), random.Random(size)
    said = [
        _setting(at, 30) if at % SETTINGS_EACH == 0 else one for at, one in enumerate(corpus.sentences(size))
    ]
    with Tenure.open(run.fresh_folder("truth")) as store:
        for first in range(0, size, BATCH):
            spoken = {SUBJECT: said[first : first + BATCH]}
            imported_turns = [
                (name, msgspec.structs.replace(turn, id=f"{first}-{turn.id}")) for name, turn in turns(spoken)
            ]
            imported(store.node, list(converted(imported_turns)))
        compared, plain = _timed(store, list(_new(corpus, said, chance, run.size(640, 240))))
    return _row(size, compared, plain)


def _timed(store: Tenure, texts: Sequence[str]) -> tuple[list[float], list[float]]:
    """How long writes took that were compared, and those that were not."""
    principal = session(store)
    took: tuple[list[float], list[float]] = ([], [])
    for at, text in enumerate(texts):
        is_plain = at // TURN % 2
        _compares(store.node.pipeline, is_on=not is_plain)
        before = time.perf_counter()
        _remember(principal, text, f"new-{at}")
        if at >= 2 * TURN:
            took[is_plain].append(time.perf_counter() - before)
    return took


def _new(corpus: Corpus, said: Sequence[Sentence], chance: random.Random, count: int) -> Iterator[str]:
    """Texts to write, each kind in its turn."""
    for at in range(count):
        if at % 4 == 0:
            number = SETTINGS_EACH * chance.randrange(len(said) // SETTINGS_EACH)
            yield _setting(number, chance.randint(31, 9_999)).text
        elif at % 4 == 1:
            yield _near(chance.choice(said).text, chance)
        else:
            yield corpus.sentence().text


def _setting(number: int, seconds: int) -> Sentence:
    return Sentence(f"The timeout of gateway-{number} is {seconds} seconds.", ("timeout", "gateway"))


def _near(text: str, chance: random.Random) -> str:
    """The same but for one word more, so that it is near and is no copy."""
    words = text.split()
    words.insert(chance.randrange(1, len(words)), chance.choice(("always", "mostly", "again", "perhaps")))
    return " ".join(words)


def _remember(principal: Session, text: str, source_id: str) -> None:
    principal.remember(text, kind="fact", source=Source.application(source_id), subject=SUBJECT)


def _compares(pipeline: Pipeline, *, is_on: bool) -> None:
    write = pipeline.rules.write
    truth = msgspec.structs.replace(write.truth, compares=is_on)
    pipeline.rules = msgspec.structs.replace(
        pipeline.rules, write=msgspec.structs.replace(write, truth=truth)
    )


def _row(size: int, compared: Sequence[float], plain: Sequence[float]) -> Row:
    added = share(compared, 0.5) - share(plain, 0.5)
    binds = size == BOUND
    return Row(
        measured=f"comparing at the write, boundary of {size:,}: added",
        figure=milliseconds(added),
        beside=f"with p50 {milliseconds(share(compared, 0.5))}, p95 {milliseconds(share(compared, 0.95))}; "
        f"without {milliseconds(share(plain, 0.5))}, {milliseconds(share(plain, 0.95))}",
        ratio=share(compared, 0.5) / share(plain, 0.5),
        target=f"≤ {ADDED_SECONDS_MAX * 1_000:.0f} ms" if binds else "",
        reached=added <= ADDED_SECONDS_MAX if binds else None,
        values={
            "memories": size,
            "added": added,
            "p50": share(compared, 0.5),
            "p95": share(compared, 0.95),
            "plain_p50": share(plain, 0.5),
            "plain_p95": share(plain, 0.95),
        },
    )
