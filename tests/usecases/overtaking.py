"""Somebody who is overtaken: something else happens between what they decide and what is stored."""

from collections.abc import Callable, Sequence
from typing import Any

from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, AppendResult


class SomethingHappensFirst:
    """A store in which something else happens just before an item is appended, once."""

    def __init__(self, pipeline: Pipeline, happens: Callable[[], object]) -> None:
        self._pipeline = pipeline
        self._happens: Callable[[], object] | None = happens

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """What the store answers after that."""
        happens, self._happens = self._happens, None
        if happens is not None:
            happens()
        return list(self._pipeline.store.append(items))

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self._pipeline.store, name)


def overtaken_by(pipeline: Pipeline, happens: Callable[[], object]) -> Pipeline:
    """The pipeline of somebody who is overtaken between deciding and appending."""
    return Pipeline(
        store=SomethingHappensFirst(pipeline, happens),
        keyring=pipeline.keyring,
        clock=pipeline.clock,
        rules=pipeline.rules,
    )
