"""Texts as pieces of words: what the reference library of the model's authors gives, without that library."""

import pytest

from tenure.engines.embedding.static import TABLE
from tenure.engines.embedding.word_pieces import WORD_CHARACTERS_MAX, WordPieces

UNKNOWN = 100

# What `tokenizers` 0.23 gives with the tokenizer of all-MiniLM-L6-v2, without its special pieces.
REFERENCE: list[tuple[str, list[int]]] = [
    ("", []),
    ("Hello, World!", [7592, 1010, 2088, 999]),
    ("na\xefve caf\xe9 \xc5ngstr\xf6m", [15743, 7668, 17076, 15687]),
    ("unaffable counselling", [14477, 20961, 3468, 9517, 2989]),
    ("\u5317\u4eac is a city", [1781, 1755, 2003, 1037, 2103]),
    (
        "M\xfcller's e-mail: x_y@example.com",
        [12304, 1005, 1055, 1041, 1011, 5653, 1024, 1060, 1035, 1061, 1030, 2742, 1012, 4012],
    ),
    ("tab\tand\nline\x00end", [21628, 1998, 2240, 10497]),
    ("zzqx", [1062, 2480, 4160, 2595]),
    ("\u041f\u0440\u0438\u0432\u0435\u0442", [1194, 16856, 10325, 25529, 15290, 22919]),
    ("\u3072\u3089\u304c\u306a \u30ab\u30bf", [1673, 30211, 30177, 30193, 1700, 30235]),
    ("\ud55c\uad6d\uc5b4", [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008]),
    ("\U0001f600 smile", [UNKNOWN, 2868]),
    ("don\u2019t \u2014 stop\u2026", [2123, 1521, 1056, 1517, 2644, 1529]),
    ("\u0130stanbul \u03a3\u038a\u03a3", [9960, 1173, 18199, 29733]),
    ("1,234.56 v2.10-rc1", [1015, 1010, 22018, 1012, 5179, 1058, 2475, 1012, 2184, 1011, 22110, 2487]),
    ("a\u200bb\xadc", [5925]),
    ("\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", [UNKNOWN]),
]


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    """The vocabulary of the package."""
    return WordPieces((TABLE / "vocabulary.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n"))


@pytest.mark.parametrize(("text", "expected"), REFERENCE, ids=ascii)
def test_the_pieces_are_those_of_the_reference(pieces: WordPieces, text: str, expected: list[int]) -> None:
    """SPEC R2: a table is only worth what its reader does as the model's own did."""
    assert pieces.numbers(text) == expected


def test_a_word_too_long_is_one_unknown_piece(pieces: WordPieces) -> None:
    """SPEC R2: as when the model was trained, and so that no word takes long."""
    assert pieces.numbers("q" * WORD_CHARACTERS_MAX) != [UNKNOWN]
    assert pieces.numbers("q" * (WORD_CHARACTERS_MAX + 1)) == [UNKNOWN]


def test_the_longest_piece_is_taken_at_each_place() -> None:
    """SPEC R2: and a word with a part that nothing fits is unknown as a whole."""
    pieces = WordPieces(["[UNK]", "a", "ab", "##b", "##bc", "##c"])

    assert pieces.numbers("abc ab abcb abx") == [2, 5, 2, 2, 5, 3, 0]


def test_what_stands_for_a_piece_in_the_vocabulary_is_no_piece_in_a_text(pieces: WordPieces) -> None:
    """SPEC R2: marks of the model's own cannot be written into a memory."""
    assert 102 not in pieces.numbers("[SEP] [CLS] ##ing")


@pytest.mark.parametrize("code_points", [range(0x80, 0x3000), range(0x1F300, 0x1FA00), range(0xD7A0, 0xE010)])
def test_any_character_gives_pieces_and_no_error(pieces: WordPieces, code_points: range) -> None:
    """SPEC R2: halves of surrogate pairs and unassigned characters as well."""
    text = " ".join(map(chr, code_points))

    assert pieces.numbers(text)
