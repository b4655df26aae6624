"""`python -m bench.recall [--data DIR] [--engine NAME…]`: how much of the evidence a recall finds.

Every conversation becomes a subject of an embedded store, every turn a memory that passes the gate; then
every question is asked through the library, and what comes back is held against the turns that answer it.
Plain BM25 and plain vectors are computed beside, over the same turns. No model judges anything.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import machine
from bench.recall import conversations, plain, reports, tenure_ranker
from bench.recall.conversations import Conversation
from bench.recall.scoring import CUTS, Answer, scores
from bench.running import place_for_stores
from tenure import Tenure
from tenure.config import ConfigError
from tenure.core.token_estimate import estimate_tokens

DATA: Final = Path("../shared/data")
Advance = Callable[[], None]


def main() -> int:
    """Measure, print and keep; 0 unless there is nothing to measure."""
    options = _options()
    try:
        files = conversations.files(options.data)
        for engine in options.engine:
            tenure_ranker.settings(engine)
    except (conversations.NoConversations, ConfigError) as error:
        print(error, file=sys.stderr)
        return 2
    folder = place_for_stores(options.stores)
    facts = machine.facts(folder)
    print("\n".join(f"{name}: {value}" for name, value in facts.items()))
    started = time.perf_counter()
    parts: list[reports.Part] = []
    try:
        for name, file in files.items():
            told = conversations.read(file, options.conversations)
            parts.append(measured(name, told, options.engine, folder, with_budget=not options.quick))
            print("\n".join(reports.shown(parts[-1])), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{time.perf_counter() - started:.0f} s in all; {_SETTINGS}")
    if options.json is not None:
        report = reports.Report(facts=facts, budget_tokens=tenure_ranker.BUDGET_TOKENS, parts=parts)
        options.json.write_bytes(msgspec.json.encode(report))
    return 0


def measured(
    name: str, told: Sequence[Conversation], engines: Sequence[str], folder: Path, *, with_budget: bool = True
) -> reports.Part:
    """Every ranker over the conversations of one file."""
    questions = sum(len(one.questions) for one in told)
    with _progress() as progress:
        task = progress.add_task(name, total=questions * (len(engines) + 2))

        def advance() -> None:
            progress.advance(task)

        rankers = list(_plain(told, advance))
        kept_out: dict[str, int] = {}
        for engine in engines:
            ranker, kept_out = _tenure(told, engine, folder, advance, with_budget=with_budget)
            rankers.append(ranker)
    return reports.Part(
        file=name,
        conversations=len(told),
        turns=conversations.turns_in(told),
        questions=questions,
        kept_out=kept_out,
        rankers=rankers,
    )


def _tenure(
    told: Sequence[Conversation], engine: str, folder: Path, advance: Advance, *, with_budget: bool
) -> tuple[reports.Ranker, dict[str, int]]:
    place = Path(tempfile.mkdtemp(prefix=f"{engine}-", dir=folder))
    answers: list[Answer] = []
    with Tenure.open(place, settings=tenure_ranker.settings(engine)) as store:
        asker = tenure_ranker.session(store)
        started = time.perf_counter()
        outcomes = tenure_ranker.Told(turns=0, outcomes={})
        for one in told:
            outcomes = outcomes.plus(tenure_ranker.tell(store, one))
        tenure_ranker.wait_for_vectors(store)
        filled = time.perf_counter()
        for one in told:
            limit = tenure_ranker.items(one) if with_budget else None
            for question in one.questions:
                answers.append(tenure_ranker.answered(asker, one, question, limit))
                advance()
        asked = time.perf_counter()
    ranker = reports.Ranker(
        name=f"Tenure, {engine}",
        scores=scores(answers),
        fill_seconds=filled - started,
        question_seconds=(asked - filled) / max(1, len(answers)),
    )
    return ranker, tenure_ranker.kept_out(outcomes)


def _plain(told: Sequence[Conversation], advance: Advance) -> Iterator[reports.Ranker]:
    words: list[Answer] = []
    vectors: list[Answer] = []
    embedder = plain.shipped_embedder()
    for one in told:
        contents = [turn.content for turn in one.turns]
        words += _answers(one, plain.PlainWords(contents).best, advance)
        vectors += _answers(one, plain.PlainVectors(embedder, contents).best, advance)
    yield reports.Ranker(name="plain BM25", scores=scores(words))
    yield reports.Ranker(name=f"plain vectors, {embedder.model}", scores=scores(vectors))


def _answers(one: Conversation, best: Callable[[str], list[int]], advance: Advance) -> Iterator[Answer]:
    tokens = [estimate_tokens(turn.content) for turn in one.turns]
    limit = tenure_ranker.items(one)
    for question in one.questions:
        rows = best(question.question)[:limit]
        fitting = tenure_ranker.packed([tokens[row] for row in rows])
        yield Answer(
            category=question.category,
            evidence=frozenset(question.evidence),
            ranked=tuple(one.turns[row].id for row in rows[: CUTS[-1]]),
            within_budget=frozenset(one.turns[rows[place]].id for place in fitting),
        )
        advance()


_SETTINGS: Final = (
    f"recall.items_max {tenure_ranker.ITEMS_MAX} and admission.content_characters_max "
    f"{tenure_ranker.CONTENT_CHARACTERS_MAX:,} instead of the defaults"
)


def _progress() -> Progress:
    """A bar on a terminal; nothing where the output goes elsewhere."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds retrieval/*.json.gz")
    parser.add_argument("--engine", nargs="+", default=["local"], metavar="NAME", help="local, none, …")
    parser.add_argument("--quick", action="store_true", help="nothing about budgets: a third of the time")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N of each file")
    parser.add_argument("--stores", type=Path, metavar="DIR", help="where the stores go, until the end")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to a file as well")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
