"""The embedder that an operator chose, and those whose vectors still serve after a change.

Each engine is loaded when it is chosen: most stores use one, and none of them needs the packages of another.
"""

import re
from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from tenure.engines.embedding.unfit import Unfit
from tenure.usecases.embedding_ports import Embedder

_SERVED: Final = re.compile(
    r"openai:(?P<model>.+)-(?P<dimensions>[1-9][0-9]{0,4})/(?P<version>[A-Za-z0-9._-]+)"
)


T = TypeVar("T")


class Chosen(Protocol):
    """Which, and how they are reached; as the settings have it."""

    @property
    def engine(self) -> str:
        """The engine in use."""

    @property
    def older(self) -> tuple[str, ...]:
        """Engines that were in use before."""

    @property
    def url(self) -> str | None:
        """The service that is asked."""

    @property
    def key(self) -> str | None:
        """Its key."""

    @property
    def model(self) -> str | None:
        """The model's name there."""

    @property
    def folder(self) -> str | None:
        """Where files of a model lie."""

    @property
    def dimensions(self) -> int | None:
        """Numbers in a vector of the service."""

    @property
    def asks_for_dimensions(self) -> bool:
        """Whether the service is asked for that many."""

    @property
    def version(self) -> str:
        """The version of a model that is the operator's own."""

    @property
    def query_prefix(self) -> str | None:
        """What stands before a question."""

    @property
    def passage_prefix(self) -> str | None:
        """What stands before a memory's text."""

    @property
    def batch_size(self) -> int:
        """Texts at once."""

    @property
    def text_characters_max(self) -> int:
        """Characters of a text that are read."""

    @property
    def seconds_max(self) -> float:
        """The longest wait for the service."""

    @property
    def query_seconds_max(self) -> float:
        """The longest wait for it with a question."""


def embedder(chosen: Chosen) -> Embedder | None:
    """The engine in use, opened; None for `none`. Nothing is connected to yet. Raises Unfit."""
    match chosen.engine:
        case "none":
            return None
        case "openai":
            return _served(
                chosen,
                model=_given(chosen.model, "embedding.model, the model's name at the service"),
                dimensions=_given(chosen.dimensions, "embedding.dimensions, the numbers in its vectors"),
                version=chosen.version,
            )
        case "sentence-transformers" | "fastembed":
            return _of_a_library(chosen)
        case name:
            return _of_a_package(name, chosen)


def older_embedders(chosen: Chosen) -> Sequence[Embedder]:
    """The engines that were in use before, in their order. Raises Unfit."""
    found: list[Embedder] = []
    for name in chosen.older:
        served = _SERVED.fullmatch(name)
        if served is None:
            found.append(_of_a_package(name, chosen))
        else:
            dimensions = int(served["dimensions"])
            found.append(
                _served(chosen, model=served["model"], dimensions=dimensions, version=served["version"])
            )
    return found


def _of_a_package(name: str, chosen: Chosen) -> Embedder:
    """An engine whose model lies in a package."""
    match name:
        case "local":
            from tenure.engines.embedding.static import shipped_table  # noqa: PLC0415

            return shipped_table()
        case "minilm":
            from tenure.engines.embedding.minilm_onnx import minilm  # noqa: PLC0415

            return minilm(chosen.folder)
        case "multilingual":
            from tenure.engines.embedding.multilingual import multilingual  # noqa: PLC0415

            return multilingual()
        case _:
            raise Unfit(f"{name!r} names no engine that older vectors can be used with")


def _of_a_library(chosen: Chosen) -> Embedder:
    from tenure.engines.embedding.libraries import fastembed, sentence_transformers  # noqa: PLC0415

    folder = _given(chosen.folder, "embedding.folder, where the model's files lie")
    if chosen.engine == "fastembed":
        return fastembed(
            folder,
            model_name=_given(chosen.model, "embedding.model, the model's name in fastembed's list"),
            version=chosen.version,
            batch_size=chosen.batch_size,
            text_characters_max=chosen.text_characters_max,
        )
    return sentence_transformers(
        folder,
        version=chosen.version,
        batch_size=chosen.batch_size,
        text_characters_max=chosen.text_characters_max,
        query_prefix=chosen.query_prefix or "",
        passage_prefix=chosen.passage_prefix or "",
    )


def _given(value: T | None, setting: str) -> T:
    if value is None:
        raise Unfit(f"set {setting}")
    return value


def _served(chosen: Chosen, *, model: str, dimensions: int, version: str) -> Embedder:
    from tenure.engines.embedding.openai_http import OpenAiEmbedder  # noqa: PLC0415

    return OpenAiEmbedder(
        _given(chosen.url, "embedding.url, the address of the service"),
        model=model,
        dimensions=dimensions,
        key=chosen.key,
        asks_for_dimensions=chosen.asks_for_dimensions,
        version=version,
        batch_size=chosen.batch_size,
        seconds_max=chosen.seconds_max,
        query_seconds_max=chosen.query_seconds_max,
        text_characters_max=chosen.text_characters_max,
        query_prefix=chosen.query_prefix or "",
        passage_prefix=chosen.passage_prefix or "",
    )
