"""The embedder of the package: near in meaning is near in direction, and any text has a vector."""

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from tenure.core.vectors import packed, unpacked
from tenure.engines.embedding.static import (
    CHARACTERS_READ_MAX,
    TABLE,
    BrokenTable,
    StaticEmbedder,
    shipped_table,
)
from tenure.usecases.embedding_ports import EmbeddingFailed

DIGESTS = {
    "steps.npy": "3ddd540cb7fc3f8550139cbe7a3f218495878c49b053718be0cc972f021a51bc",
    "scales.npy": "66d4bd53c6d0b2f2fecae521c31f79792a745503591223f9655f056676fbf20b",
    "vocabulary.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


@pytest.fixture
def table() -> StaticEmbedder:
    """The table that ships."""
    return shipped_table()


def test_the_table_is_the_one_that_was_distilled() -> None:
    """SPEC R2: its name says which vectors may be compared, so its bytes may not change under it."""
    assert {name: hashlib.sha256((TABLE / name).read_bytes()).hexdigest() for name in DIGESTS} == DIGESTS


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Where does she work?", "Her job is at the hospital", "The soup needs more salt"),
        ("any pets?", "I have a dog and two cats", "The invoice is due in May"),
        ("What does he like to drink?", "He prefers green tea", "The server was restarted"),
        ("holiday plans", "We will travel to Spain for our vacation", "Use tabs for indentation"),
    ],
)
def test_what_is_near_in_meaning_is_nearer(table: StaticEmbedder, question: str, near: str, far: str) -> None:
    """SPEC R1: with no word in common."""
    asked, (close, distant) = table.query(question), table.passages([near, far])

    assert asked @ close > asked @ distant + 0.1


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\U0001f600", "q" * 200])
def test_a_text_of_which_nothing_is_known_has_zeros(table: StaticEmbedder, text: str) -> None:
    """SPEC R2: it is like nothing, and packing it is no error."""
    vector = table.query(text)

    assert vector.dtype == np.float32
    assert vector.shape == (256,)
    assert not vector.any()
    assert not unpacked([packed(vector)])[0].any()


@pytest.mark.parametrize("text", ["tea", "Tea \u00fc\u5317\u4eac", "a " * CHARACTERS_READ_MAX])
def test_any_other_vector_has_length_one(table: StaticEmbedder, text: str) -> None:
    """SPEC R2: so that a product is a cosine."""
    assert np.linalg.norm(table.query(text)) == pytest.approx(1, abs=1e-5)


def test_a_long_text_is_read_up_to_a_limit(table: StaticEmbedder) -> None:
    """SPEC R2: no text takes long."""
    text = "tea " * (CHARACTERS_READ_MAX // 4)

    assert np.array_equal(table.query(text + "invoice " * 100_000), table.query(text))


def test_equal_texts_have_equal_vectors(table: StaticEmbedder) -> None:
    """SPEC R5: and a passage is read as a question is."""
    one, two = table.passages(["She likes tea", "She likes tea"])

    assert np.array_equal(one, two)
    assert np.array_equal(one, table.query("She likes tea"))
    assert (table.model, table.is_immediate) == ("static-minilm-256/1", True)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the table that a test may damage."""
    return shutil.copytree(TABLE, tmp_path / "table")


@pytest.mark.parametrize("name", sorted(DIGESTS))
def test_a_table_without_one_of_its_files_is_said_to_be_broken(copied: Path, name: str) -> None:
    """SPEC R2: when it is opened, with what to do about it."""
    (copied / name).unlink()

    with pytest.raises(BrokenTable, match="install Tenure again"):
        StaticEmbedder(copied)


@pytest.mark.parametrize("name", ["steps.npy", "scales.npy"])
def test_files_of_two_tables_do_not_make_one(copied: Path, name: str) -> None:
    """SPEC R2: rows that are missing are noticed with the first text, not with the first that needs them."""
    rows = np.load(copied / name)
    np.save(copied / name, rows[:-1])

    with pytest.raises(BrokenTable, match="do not fit together"):
        StaticEmbedder(copied).query("tea")


def test_a_file_that_holds_no_array_is_said_to_be_broken(copied: Path) -> None:
    """SPEC R2: nothing is unpickled either; it is a failure as any engine's is."""
    (copied / "scales.npy").write_bytes(b"not an array")

    with pytest.raises(EmbeddingFailed, match="cannot be read"):
        StaticEmbedder(copied).query("tea")
