"""Forgetting and erasing a subject of ten thousand memories, and what sealing adds to writes and recalls."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from bench.corpus import Corpus
from bench.recalling import asked
from bench.results import Row, milliseconds
from bench.running import Run, paced
from bench.stores import BATCH, TENANT, converted, imported, proposals, remember, session, turns, warmed
from tenure import Tenure
from tenure.usecases.ports import Keyring

LEAVES_OUT = """\
forget: an embedded store with three subjects of that many memories each; "settled" is the first recall of
the subject after it, which finds nothing and has the word index brought up to date. Erasing looks for
contents byte by byte in every file of the store, for fewer of them the larger the store is, and includes
rewriting the word index. Sealing is the cipher alone, over a body of the usual size, with the key at hand,
held against the core time of the whole write or recall; digests and the hash chain are part of the whole."""

SETTLED_SECONDS_MAX: Final = 1.0
ERASED_SECONDS_MAX: Final = 5.0
SEALING_RATIO_MAX: Final = 1.10
BODY_BYTES: Final = 300
SUBJECTS: Final = ("customer-one", "customer-two", "customer-three")
QUESTION: Final = "Where is the garden server near the harbour?"


def measure(run: Run) -> Iterator[Row]:
    """Forget, settle, erase; then the cipher beside a whole write and a whole recall."""
    yield from _forgotten(run)
    yield from _sealing(run)


def _forgotten(run: Run) -> Iterator[Row]:
    count = run.size(10_000, 1_500)
    corpus = Corpus(seed=5)
    items = list(converted(turns({subject: corpus.sentences(count) for subject in SUBJECTS})))
    with Tenure.open(run.fresh_folder("forgetting")) as store:
        for first in range(0, len(items), BATCH):
            imported(store.node, items[first : first + BATCH])
        reader = session(store)
        officer = store.session(tenant="acme", agent="support", purpose="support", roles=["privacy_officer"])
        reader.recall(QUESTION, subject=SUBJECTS[0])
        forgot = _seconds(lambda: officer.forget(subject=SUBJECTS[0]))
        settled = _seconds(lambda: reader.recall(QUESTION, subject=SUBJECTS[0]))
        erased = _seconds(lambda: officer.erase(subject=SUBJECTS[1]))
        late = _seconds(lambda: officer.erase(subject=SUBJECTS[0]))
    yield Row(measured=f"forget a subject with {count:,} memories: the answer", figure=milliseconds(forgot))
    yield Row(
        measured="the same, settled",
        figure=milliseconds(forgot + settled),
        target=f"≤ {SETTLED_SECONDS_MAX:.0f} s",
        reached=forgot + settled <= SETTLED_SECONDS_MAX,
        values={"seconds": forgot + settled},
    )
    yield Row(
        measured=f"erase a subject with {count:,} memories, certificate included",
        figure=milliseconds(erased),
        beside=f"one forgotten before: {milliseconds(late)}",
        target=f"≤ {ERASED_SECONDS_MAX:.0f} s",
        reached=erased <= ERASED_SECONDS_MAX,
        values={"seconds": erased},
    )


def _sealing(run: Run) -> Iterator[Row]:
    """What a body costs to seal and to open, beside the core time of a write and of a recall that has ten."""
    with Tenure.open(run.fresh_folder("sealing")) as store:
        principal = session(store)
        warmed(principal)
        items = proposals(seed=60, count=run.size(2_000, 400))
        wrote = paced(1, lambda one: remember(principal, one), items, seconds_max=run.round_seconds_max)
        recalled = asked(store, items[0].subject, [one.content for one in items[: run.size(300, 60)]])
        seal, unseal = _cipher(store.node.keyring, items[0].subject, run.size(20_000, 4_000))
    yield _share("sealing the body of a memory, in a write", seal, wrote.processor_seconds)
    yield _share("opening ten bodies, in a recall of 10 items", 10 * unseal, recalled.processor_seconds)


def _cipher(keyring: Keyring, subject: str, count: int) -> tuple[float, float]:
    """The core time of sealing one body and of opening it, with keys at hand."""
    body, context = bytes(BODY_BYTES), b"stream|1|memory.admitted|1"
    dek, sealed = keyring.seal(TENANT, subject, body, context)
    started = time.process_time()
    for _ in range(count):
        keyring.seal(TENANT, subject, body, context)
    between = time.process_time()
    for _ in range(count):
        keyring.open(TENANT, subject, dek, sealed, context)
    return (between - started) / count, (time.process_time() - between) / count


def _share(measured: str, cipher: float, whole: float) -> Row:
    ratio = whole / (whole - cipher)
    return Row(
        measured=measured,
        figure=f"{cipher * 1_000_000:.1f} µs",
        beside=f"the whole: {milliseconds(whole)} of a core",
        ratio=ratio,
        target=f"≤ {SEALING_RATIO_MAX:.2f} × without",
        reached=ratio <= SEALING_RATIO_MAX,
        values={"seconds": cipher, "whole_seconds": whole},
    )


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
