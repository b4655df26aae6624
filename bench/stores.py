"""Opening Tenure's own stores for a measurement, and filling them."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from bench.corpus import Corpus, Sentence
from bench.running import Run
from tenure import Source, Tenure
from tenure.entrypoints.library.sessions import Session
from tenure.usecases.importing import Conversion, Proposed, Turn, import_batch
from tenure.wiring import Node, open_store

TENANT: Final = "acme"
AGENT: Final = "support"
PURPOSE: Final = "support"
SUBJECTS: Final = 10
BATCH: Final = 500
LET_IN_MIN: Final = 0.99
BEGINNING: Final = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Proposal(NamedTuple):
    """A memory to propose: about whom, what, and the id of its source."""

    subject: str
    content: str
    source_id: str


class Filled(NamedTuple):
    """A closed store of one tenant, its sentences by subject, and how fast it was imported."""

    path: Path
    sentences: dict[str, list[Sentence]]
    memories: int
    per_second: float
    batch_seconds: list[float]


def subject_name(number: int) -> str:
    """One of the people that memories are about."""
    return f"customer-{number % SUBJECTS}"


def proposals(seed: int, count: int) -> list[Proposal]:
    """So many proposals, spread over the subjects."""
    return [
        Proposal(subject_name(at), sentence.text, f"message-{seed}-{at}")
        for at, sentence in enumerate(Corpus(seed).sentences(count))
    ]


def session(store: Tenure, tenant: str = TENANT) -> Session:
    """A principal that may write as an application and recall."""
    return store.session(tenant=tenant, agent=AGENT, purpose=PURPOSE, source_types=["application"])


def remember(principal: Session, one: Proposal) -> None:
    """One write through the library's face; a measurement is only fair when the gate lets it in."""
    source = Source.application(one.source_id)
    memory = principal.remember(one.content, kind="fact", source=source, subject=one.subject)
    if memory.status != "active":
        raise AssertionError(f"the gate held a sentence back: {memory.decision.rule}")


def warmed(principal: Session) -> None:
    """Give every subject its key, and the program its caches."""
    for one in proposals(seed=3, count=200):
        remember(principal, one)


def converted(turns: Sequence[tuple[str, Turn]]) -> Iterator[Proposed]:
    """Turns as `tenure import chat` proposes them."""
    conversion = Conversion(agent=AGENT, purpose=PURPOSE)
    for subject, turn in turns:
        yield from conversion.proposals(subject, turn)


def imported(node: Node, items: Sequence[Proposed]) -> None:
    """One batch through the gate, as `tenure import chat` sends it; as good as all must be admitted.

    Made-up sentences look like an order once in a hundred thousand.
    """
    outcome = import_batch(node.pipeline, TENANT, items)
    if outcome.admitted + outcome.quarantined < len(items) or outcome.admitted < LET_IN_MIN * len(items):
        raise AssertionError(f"the gate let in {outcome.admitted} of {len(items)} turns: {outcome}")


def turns(sentences: dict[str, list[Sentence]]) -> list[tuple[str, Turn]]:
    """The sentences as turns of conversations, forty to a session, as a file of chats has them."""
    return [
        (
            subject,
            Turn(
                id=f"t{at}",
                text=sentence.text,
                session=at // 40,
                date=(BEGINNING + timedelta(days=at // 40)).isoformat(),
            ),
        )
        for subject, spoken in sentences.items()
        for at, sentence in enumerate(spoken)
    ]


def sentences_by_subject(run: Run) -> dict[str, list[Sentence]]:
    """What the conversations of a run say: a thousand turns to each of ten subjects."""
    corpus = Corpus(seed=11)
    return {subject_name(number): corpus.sentences(1_000) for number in range(run.size(SUBJECTS, 3))}


def open_node(path: Path) -> Node:
    """The embedded store in a folder."""
    return open_store(path)
