"""Where terms stand, as an engine found it, cut down to the rows that passed (SPEC R1)."""

from collections.abc import Iterable, Sequence

import numpy as np

from tenure.core.boundary_rows import Postings, Rows

Found = tuple[str, Sequence[int], Sequence[int]]
"""A term, the positions of the rows it stands in, and how often in each."""


def postings_in(rows: Rows, found: Iterable[Found]) -> dict[str, Postings]:
    """By term, only what stands in these rows; a term that stands in none of them is not named."""
    by_term: dict[str, list[Found]] = {}
    for one in found:
        by_term.setdefault(one[0], []).append(one)
    kept = {term: _kept(rows, term, parts) for term, parts in by_term.items()}
    return {term: postings for term, postings in kept.items() if len(postings.seqs)}


def _kept(rows: Rows, term: str, parts: Sequence[Found]) -> Postings:
    seqs = np.array([seq for _, seqs, _ in parts for seq in seqs], dtype=np.int64)
    counts = np.array([count for _, _, counts in parts for count in counts], dtype=np.int64)
    if not len(rows.ids):
        return Postings(term, seqs[:0], counts[:0])
    at = np.minimum(np.searchsorted(rows.seqs, seqs), len(rows.ids) - 1)
    passed = np.flatnonzero(rows.seqs[at] == seqs)
    order = passed[np.argsort(seqs[passed], kind="stable")]
    return Postings(term, seqs[order], counts[order])
