"""What an open store shows of the memories that ``giraffe`` makes: rows, and words."""

from collections.abc import Sequence
from typing import Final

from tests.clock import START
from tests.stores.engine import Opened
from tests.stores.items import SUBJECT, TENANT, number

from tenure.core.retrieval import Filter
from tenure.core.rows import microseconds
from tenure.core.wording import analyse
from tenure.usecases.ports import Reading

AT: Final = microseconds(START)
TERMS: Final = analyse("which giraffe?")


def standing(opened: Opened, *memories: int, tenant: str = TENANT) -> set[int]:
    """Those of the memories, or of the first twenty, that have a row."""
    with opened.store.reading() as reading:
        return {
            one for one in memories or range(1, 21) if reading.memory_row(tenant, number(one)) is not None
        }


def found(opened: Opened, *, agent: str = "support", tenant: str = TENANT) -> set[int]:
    """The memories of a boundary that are found by the word that all of these have."""
    where = Filter(tenant=tenant, agent=agent, purpose="answering", now=AT)
    with opened.store.reading() as reading:
        return by_words(reading, where, TERMS)


def by_words(reading: Reading, where: Filter, terms: Sequence[str]) -> set[int]:
    """The memories that share one of the terms."""
    rows, postings = reading.search(where, terms, None)
    seqs = {int(seq) for one in postings.values() for seq in one.seqs}
    return {rows.ids[place].int for place, seq in enumerate(rows.seqs) if int(seq) in seqs}


def words_left(opened: Opened, subject: str = SUBJECT) -> int:
    """How many memories of a subject the word index itself still knows, filters or not."""
    found(opened)
    with opened.store.reading() as reading:
        return reading.words_left(TENANT, subject, 1_000)
