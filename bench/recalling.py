"""Recall over the thousand memories of one subject, by words alone, with the receipt that it leaves."""

from collections.abc import Iterator, Sequence
from contextlib import closing

from bench import floor, importing
from bench.corpus import Corpus, Sentence
from bench.results import Row, middle, milliseconds, share
from bench.running import Paced, Run, paced
from bench.stores import BATCH, Filled, converted, imported, session, subject_name, turns
from tenure import Tenure
from tenure.core.wording import analyse

LEAVES_OUT = """\
recall: one caller, warm caches, a store of ten subjects, questions of 4 to 8 content words of which half
stand in one of the subject's memories; ten memories come back, opened and rendered, and the receipt is
queued (its sync is not waited for). The floor ranks with FTS5's bm25, whose statistics are of all
subjects, and opens and renders nothing. In the worst case every word of the question stands in every
memory of the subject; no target binds it."""

P50_SECONDS_MAX = 0.003
WORST_SUBJECT = "customer-worst"
WORST_WORDS = (
    "the blue garden server near the northern harbour was repaired before the annual marathon meeting"
)
WORST_QUESTION = "Which blue garden server near the northern harbour was repaired before the annual marathon?"


def measure(run: Run) -> Iterator[Row]:
    """An ordinary subject, then the worst."""
    filled = run.once("filled store", importing.fill)
    subject = subject_name(1)
    sentences = filled.sentences[subject]
    corpus = Corpus(seed=77)
    questions = [corpus.question(sentences) for _ in range(run.size(400, 120))]
    with Tenure.open(run.copy_of(filled.path)) as store:
        mine = asked(store, subject, questions)
    beside = _floor(run, filled, subject, questions)
    p50 = middle(mine.seconds)
    yield Row(
        measured=f"recall over {len(sentences):,} memories of a subject, p50",
        figure=milliseconds(p50),
        beside=f"FTS5 alone: {milliseconds(middle(beside.seconds))}",
        ratio=p50 / middle(beside.seconds),
        target=f"≤ {P50_SECONDS_MAX * 1_000:.0f} ms",
        reached=p50 <= P50_SECONDS_MAX,
        values={"seconds": p50, "floor_seconds": middle(beside.seconds)},
    )
    yield _tail("recall, the same, p95", mine, beside)
    yield Row(
        measured="recall, the same: core time of one",
        figure=milliseconds(mine.processor_seconds),
        beside=f"FTS5 alone: {milliseconds(beside.processor_seconds)}",
        ratio=mine.processor_seconds / beside.processor_seconds,
        values={"processor_seconds": mine.processor_seconds},
    )
    yield _worst(run, len(sentences))


def asked(store: Tenure, subject: str, questions: Sequence[str]) -> Paced:
    """Ask them one after the other; every one must find something."""
    principal = session(store)

    def ask(question: str) -> None:
        if not len(principal.recall(question, subject=subject)):
            raise AssertionError("a recall found nothing, so its time says nothing")

    for question in questions[:20]:
        ask(question)
    return paced(1, ask, questions)


def _floor(run: Run, filled: Filled, subject: str, questions: Sequence[str]) -> Paced:
    """The same questions to FTS5, over the same memories."""
    with closing(floor.FloorStore(run.fresh_folder("floor") / "floor.db")) as store:
        for name, spoken in filled.sentences.items():
            store.write_all([(name, sentence.text) for sentence in spoken])
        terms = [list(dict.fromkeys(analyse(question))) for question in questions]
        return paced(1, lambda one: store.find(subject, one), terms)


def _worst(run: Run, memories: int) -> Row:
    spoken = {WORST_SUBJECT: [Sentence(f"{WORST_WORDS} {number}", ()) for number in range(memories)]}
    items = list(converted(turns(spoken)))
    with Tenure.open(run.fresh_folder("worst")) as store:
        for first in range(0, len(items), BATCH):
            imported(store.node, items[first : first + BATCH])
        took = asked(store, WORST_SUBJECT, [WORST_QUESTION] * run.size(100, 30))
    return Row(
        measured="recall, every query word in every memory, p50",
        figure=milliseconds(middle(took.seconds)),
        beside=f"p95 {milliseconds(share(took.seconds, 0.95))}",
        values={"seconds": middle(took.seconds)},
    )


def _tail(measured: str, mine: Paced, beside: Paced) -> Row:
    p95, floor_p95 = share(mine.seconds, 0.95), share(beside.seconds, 0.95)
    return Row(
        measured=measured,
        figure=milliseconds(p95),
        beside=f"FTS5 alone: {milliseconds(floor_p95)}",
        ratio=p95 / floor_p95,
        values={"seconds": p95, "floor_seconds": floor_p95},
    )
