"""The Merkle tree against RFC 9162 word for word, against known answers, and against forgers (SPEC E2)."""

import hashlib
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tenure.core.merkle import (
    BLOCK,
    EMPTY_ROOT,
    Tree,
    leaf_hash,
    verify_consistency,
    verify_inclusion,
)

KNOWN_LEAVES = [
    bytes.fromhex(data)
    for data in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
KNOWN_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

LINKS = [hashlib.sha256(f"event {number}".encode()).digest() for number in range(4 * BLOCK + 100)]
AROUND_BLOCKS = sorted(
    {1, 2, 3, 7, 8, 9, 700} | {blocks * BLOCK + more for blocks in (1, 2, 3, 4) for more in (-1, 0, 1, 99)}
)
SIZES = some.sampled_from(AROUND_BLOCKS) | some.integers(1, len(LINKS))


def naive_root(leaves: Sequence[bytes]) -> bytes:
    """The root as RFC 9162, 2.1.1 defines it."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    cut = naive_cut(len(leaves))
    return hashlib.sha256(b"\x01" + naive_root(leaves[:cut]) + naive_root(leaves[cut:])).digest()


def naive_path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """The inclusion proof as RFC 9162, 2.1.3.1 defines it."""
    if len(leaves) == 1:
        return []
    cut = naive_cut(len(leaves))
    if index < cut:
        return [*naive_path(index, leaves[:cut]), naive_root(leaves[cut:])]
    return [*naive_path(index - cut, leaves[cut:]), naive_root(leaves[:cut])]


def naive_proof(old_size: int, leaves: Sequence[bytes], *, is_whole: bool = True) -> list[bytes]:
    """The consistency proof as RFC 9162, 2.1.4.1 defines it."""
    if old_size == len(leaves):
        return [] if is_whole else [naive_root(leaves)]
    cut = naive_cut(len(leaves))
    if old_size <= cut:
        return [*naive_proof(old_size, leaves[:cut], is_whole=is_whole), naive_root(leaves[cut:])]
    return [*naive_proof(old_size - cut, leaves[cut:], is_whole=False), naive_root(leaves[:cut])]


def naive_cut(size: int) -> int:
    """The largest power of two below a size."""
    cut = 1
    while cut * 2 < size:
        cut *= 2
    return cut


class Shelf:
    """Leaves by the block; remembers which blocks were asked for."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self.leaves = leaves
        self.asked: list[int] = []

    def block(self, number: int) -> Sequence[bytes]:
        """The leaves of one block, as many as there are by now."""
        self.asked.append(number)
        return self.leaves[number * BLOCK : (number + 1) * BLOCK]

    def tree(self, size: int, *, kept: int = 0) -> Tree:
        """The tree over the first leaves, with the roots of so many blocks kept."""
        roots = [naive_root(self.leaves[n * BLOCK : (n + 1) * BLOCK]) for n in range(kept)]
        return Tree(size, roots, self.block)


def flipped(hashes: Sequence[bytes], bit: int) -> list[bytes]:
    """The same hashes with one bit the other way."""
    whole = int.from_bytes(b"".join(hashes), "big") ^ (1 << bit % (256 * len(hashes)))
    raw = whole.to_bytes(32 * len(hashes), "big")
    return [raw[at : at + 32] for at in range(0, len(raw), 32)]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_of_the_known_answers(size: int) -> None:
    """SPEC E2: the eight leaves that implementations of Certificate Transparency agree on."""
    assert Shelf(KNOWN_LEAVES).tree(size).root().hex() == KNOWN_ROOTS[size]


def test_an_empty_tree_has_the_hash_of_nothing() -> None:
    """RFC 9162, 2.1.1."""
    assert KNOWN_ROOTS[0] == EMPTY_ROOT.hex()


def test_proofs_are_those_of_the_known_answers() -> None:
    """SPEC E2: one inclusion and one consistency proof that implementations agree on."""
    tree = Shelf(KNOWN_LEAVES).tree(8)

    assert [one.hex() for one in tree.inclusion(5)] == [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]
    assert [one.hex() for one in tree.consistency(6)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


def test_small_trees_are_right_for_every_leaf_and_every_earlier_size() -> None:
    """SPEC E2: roots and both kinds of proof, word for word those of the RFC, up to 40 leaves."""
    for size in range(1, 41):
        leaves, tree = LINKS[:size], Shelf(LINKS).tree(size)
        root = tree.root()
        assert root == naive_root(leaves)
        for index in range(size):
            proof = tree.inclusion(index)
            assert proof == naive_path(index, leaves)
            assert verify_inclusion(leaf_hash(LINKS[index]), index, size, proof, root)
        for old_size in range(1, size + 1):
            proof = tree.consistency(old_size)
            assert proof == naive_proof(old_size, leaves)
            assert verify_consistency(old_size, size, proof, naive_root(leaves[:old_size]), root)


@given(data=some.data(), size=SIZES)
def test_trees_of_many_blocks_are_right_however_many_are_kept(data: some.DataObject, size: int) -> None:
    """SPEC E2: kept roots of blocks change no answer, at any size, for any leaf and any earlier size."""
    index, old_size = data.draw(some.integers(0, size - 1)), data.draw(some.integers(1, size))
    kept = data.draw(some.integers(0, len(LINKS) // BLOCK))
    leaves, tree = LINKS[:size], Shelf(LINKS).tree(size, kept=kept)

    inclusion, consistency, root = tree.inclusion(index), tree.consistency(old_size), tree.root()

    assert (root, inclusion) == (naive_root(leaves), naive_path(index, leaves))
    assert consistency == naive_proof(old_size, leaves)
    assert verify_inclusion(leaf_hash(LINKS[index]), index, size, inclusion, root)
    assert verify_consistency(old_size, size, consistency, naive_root(leaves[:old_size]), root)


@given(data=some.data(), size=some.integers(2, 200))
def test_forged_inclusion_proofs_are_refused(data: some.DataObject, size: int) -> None:
    """SPEC E2: a flipped bit, another index, size, leaf or root, a hash too few or too many."""
    index = data.draw(some.integers(0, size - 1))
    tree = Shelf(LINKS).tree(size)
    leaf, proof, root = leaf_hash(LINKS[index]), tree.inclusion(index), tree.root()
    other = data.draw(some.integers(-2, size + 2).filter(lambda one: one != index))
    other_size = data.draw(some.integers(-2, 2 * size).filter(lambda one: one != size))

    assert verify_inclusion(leaf, index, size, proof, root)
    assert not verify_inclusion(leaf, index, size, flipped(proof, data.draw(some.integers(0, 10_000))), root)
    assert not verify_inclusion(leaf, other, size, proof, root)
    assert not verify_inclusion(leaf_hash(LINKS[index + 1]), index, size, proof, root)
    assert not verify_inclusion(leaf, index, size, proof, Shelf(LINKS).tree(size + 1).root())
    assert not verify_inclusion(leaf, index, size, proof[:-1], root)
    assert not verify_inclusion(leaf, index, size, [*proof, root], root)
    assert not verify_inclusion(leaf, index, other_size, proof, root) or _same_path(index, size, other_size)


@given(data=some.data(), size=some.integers(2, 200))
def test_forged_consistency_proofs_are_refused(data: some.DataObject, size: int) -> None:
    """SPEC E2: a flipped bit, another size, a tree that was written anew, a hash too few or too many."""
    old_size = data.draw(some.integers(1, size - 1))
    tree = Shelf(LINKS).tree(size)
    proof, root, old_root = tree.consistency(old_size), tree.root(), naive_root(LINKS[:old_size])
    written_anew = naive_root([*LINKS[1:old_size], LINKS[0], LINKS[0]][:old_size])

    assert verify_consistency(old_size, size, proof, old_root, root)
    assert not verify_consistency(
        old_size, size, flipped(proof, data.draw(some.integers(0, 10_000))), old_root, root
    )
    assert not verify_consistency(old_size, size, proof, root, root)
    assert not verify_consistency(old_size, size, proof, old_root, old_root)
    if old_size > 1:
        assert not verify_consistency(old_size, size, proof, written_anew, root)
    assert not verify_consistency(old_size, size, proof[:-1], old_root, root)
    assert not verify_consistency(old_size, size, [*proof, root], old_root, root)
    assert not verify_consistency(size, old_size, proof, root, old_root)
    assert not verify_consistency(0, size, proof, EMPTY_ROOT, root)
    assert not verify_consistency(old_size, size, [], old_root, root)


def test_a_tree_is_consistent_with_itself_and_needs_no_hashes() -> None:
    """RFC 9162, 2.1.4: the proof is empty, and the roots are equal."""
    root = naive_root(LINKS[:5])

    assert Shelf(LINKS).tree(5).consistency(5) == []
    assert verify_consistency(5, 5, [], root, root)
    assert not verify_consistency(5, 5, [], root, EMPTY_ROOT)
    assert not verify_consistency(5, 5, [root], root, root)
    assert not verify_consistency(0, 0, [], EMPTY_ROOT, EMPTY_ROOT)


def test_a_proof_of_what_is_not_there_is_no_proof() -> None:
    """SPEC E2: positions and sizes outside the tree are mistakes, never an answer."""
    tree = Shelf(LINKS).tree(5)

    for index in (-1, 5):
        with pytest.raises(ValueError, match="no such leaf"):
            tree.inclusion(index)
    for old_size in (-1, 0, 6):
        with pytest.raises(ValueError, match="earlier tree"):
            tree.consistency(old_size)


def test_only_the_blocks_that_are_cut_through_are_read() -> None:
    """The cost of a root or a proof does not grow with the leaves, once their blocks are kept."""
    size = 4 * BLOCK + 100
    questions: list[tuple[Callable[[Tree], object], set[int]]] = [
        (lambda tree: tree.root(), {4}),
        (lambda tree: tree.inclusion(1_500), {1, 4}),
        (lambda tree: tree.consistency(2 * BLOCK), {4}),
        (lambda tree: tree.consistency(2 * BLOCK + 5), {2, 4}),
    ]
    for ask, blocks in questions:
        shelf = Shelf(LINKS)
        ask(shelf.tree(size, kept=4))
        assert (set(shelf.asked), len(shelf.asked)) == (blocks, len(blocks))


def test_the_root_of_a_full_block_is_what_is_kept() -> None:
    """A block's root is that of its own leaves, whatever comes behind it."""
    assert Shelf(LINKS).tree(3 * BLOCK).block_root(1) == naive_root(LINKS[BLOCK : 2 * BLOCK])


def _same_path(index: int, size: int, other_size: int) -> bool:
    """Whether a leaf's way to the root turns the same way in trees of both sizes.

    A root says nothing of its size: that is why a checkpoint signs both.
    """

    def turns(whole: int) -> list[bool]:
        found, start, end = [], 0, whole
        while end - start > 1:
            middle = start + naive_cut(end - start)
            found.append(index < middle)
            start, end = (start, middle) if index < middle else (middle, end)
        return found

    return 0 <= index < other_size and turns(size) == turns(other_size)
