"""The Merkle tree over a tenant's log (SPEC E2), hashed as RFC 9162 says; pure.

The data of a leaf is the link of one event (core/ledger.py), so the tree commits to the chain, and through it
to every header and sealed body. Leaf ``n`` is the event at position ``n + 1``.

A tree of n leaves is cut at the largest power of two below n. So every run of BLOCK leaves from a multiple
of BLOCK is a subtree of every larger tree: its root never changes and can be kept. Whatever is asked, only
the blocks that it cuts through have to be read leaf by leaf.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

BLOCK: Final = 1_024
"""How many leaves stand under a root that is kept; a power of two."""

EMPTY_ROOT: Final = hashlib.sha256().digest()

Span = tuple[int, int]
"""The leaves of one subtree: the first, and the one behind the last."""


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """The root over these hashes: of leaves, or of full subtrees that are all of one size, but for the last.

    What is left over at the end of a row joins the next one as it is; that is the same as cutting the tree
    at the largest power of two.
    """
    row = list(hashes)
    while len(row) > 1:
        odd = row[-1:] if len(row) % 2 else []
        row = [_join(left, right) for left, right in zip(row[::2], row[1::2], strict=False)] + odd
    return row[0] if row else EMPTY_ROOT


class Tree:
    """The tree over the first ``size`` leaves.

    ``kept`` are roots of full blocks, as many as were kept; ``links_of`` gives the data of the leaves of a
    block: those of a full block, or at least as many as the tree has of the last one.
    """

    def __init__(self, size: int, kept: Sequence[bytes], links_of: Callable[[int], Sequence[bytes]]) -> None:
        self.size = size
        self._roots = dict(enumerate(kept[: size // BLOCK]))
        self._links_of = links_of
        self._leaves: dict[int, list[bytes]] = {}

    def root(self) -> bytes:
        """The root over all leaves."""
        return self._hash((0, self.size))

    def inclusion(self, index: int) -> list[bytes]:
        """What joins a leaf to the root, from the leaf upward."""
        return [self._hash(span) for span in inclusion_spans(index, self.size)]

    def consistency(self, old_size: int) -> list[bytes]:
        """What shows that the tree over the first ``old_size`` leaves stands within this one."""
        return [self._hash(span) for span in consistency_spans(old_size, self.size)]

    def block_root(self, block: int) -> bytes:
        """The root of one full block."""
        return self._hash((block * BLOCK, (block + 1) * BLOCK))

    def _hash(self, span: Span) -> bytes:
        if span[0] == span[1]:
            return EMPTY_ROOT
        first, last = span[0] // BLOCK, (span[1] - 1) // BLOCK
        if first < last:
            blocks = range(first, last + 1)
            return root_of([self._hash((n * BLOCK, min((n + 1) * BLOCK, span[1]))) for n in blocks])
        if span[1] - span[0] < BLOCK:
            return root_of(self._leaf_hashes(first)[span[0] - first * BLOCK : span[1] - first * BLOCK])
        if first not in self._roots:
            self._roots[first] = root_of(self._leaf_hashes(first))
        return self._roots[first]

    def _leaf_hashes(self, block: int) -> list[bytes]:
        if block not in self._leaves:
            # Two blocks at a time are as many as a question cuts through.
            self._leaves = dict(list(self._leaves.items())[-1:])
            self._leaves[block] = [leaf_hash(link) for link in self._links_of(block)[:BLOCK]]
        return self._leaves[block]


def inclusion_spans(index: int, size: int) -> list[Span]:
    """The subtrees whose roots are the proof that a leaf stands in a tree, in the order of the proof."""
    if not 0 <= index < size:
        raise ValueError("the tree has no such leaf")
    spans: list[Span] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _cut(end - start)
        spans.append((middle, end) if index < middle else (start, middle))
        start, end = (start, middle) if index < middle else (middle, end)
    return spans[::-1]


def consistency_spans(old_size: int, size: int) -> list[Span]:
    """The subtrees whose roots are the proof that one tree grew into another, in the order of the proof."""
    if not 0 < old_size <= size:
        raise ValueError("an earlier tree has at least one leaf, and no more than the later one")
    spans: list[Span] = []
    start, end = 0, size
    while end != old_size:
        middle = start + _cut(end - start)
        spans.append((middle, end) if old_size <= middle else (start, middle))
        start, end = (start, middle) if old_size <= middle else (middle, end)
    # A tree that the larger one holds whole is known to whoever asks.
    return ([(start, end)] if start else []) + spans[::-1]


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether a leaf's hash stands at this index of the tree with this size and root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    at, last, found = index, size - 1, leaf
    for one in proof:
        if last == 0:
            return False
        if at % 2 or at == last:
            found = _join(one, found)
            at, last = _up_from_left(at, last)
        else:
            found = _join(found, one)
        at, last = at // 2, last // 2
    return last == 0 and found == root


def verify_consistency(
    old_size: int, size: int, proof: Sequence[bytes], old_root: bytes, root: bytes
) -> bool:
    """Whether the tree of the old size and root grew into the new one (RFC 9162, 2.1.4.2)."""
    if old_size == size > 0:
        return not proof and old_root == root
    if not 0 < old_size < size:
        return False
    path = [old_root, *proof] if old_size & (old_size - 1) == 0 else list(proof)
    if not path:
        return False
    at, last = old_size - 1, size - 1
    while at % 2:
        at, last = at // 2, last // 2
    old_found = found = path[0]
    for one in path[1:]:
        if last == 0:
            return False
        if at % 2 or at == last:
            old_found, found = _join(one, old_found), _join(one, found)
            at, last = _up_from_left(at, last)
        else:
            found = _join(found, one)
        at, last = at // 2, last // 2
    return last == 0 and old_found == old_root and found == root


def _up_from_left(at: int, last: int) -> tuple[int, int]:
    """At the edge, where nodes are left over: up to the next one that has a sibling to its left."""
    while at and at % 2 == 0:
        at, last = at // 2, last // 2
    return at, last


def _cut(size: int) -> int:
    """The largest power of two below a size."""
    return 1 << (size - 1).bit_length() - 1


def _join(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
