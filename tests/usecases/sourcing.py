"""A source that is revoked, a store that dies meanwhile, and what can be seen of both."""

from collections.abc import Sequence
from typing import Any, Final

from tests.usecases.asking import (
    BOT,
    log,
    question,
    source,
    written,
)

from tenure.core.incidents import AskImpact, RevokeSource
from tenure.core.memory import Memory
from tenure.core.vocabulary import Kind
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, AppendResult
from tenure.usecases.retrieval import RECALL

REVOKE: Final = RevokeSource(source_type="application", source_id="crm-1", reason="the CRM was taken over")
ASK: Final = AskImpact(source_type="application", source_id="crm-1")


class Died(Exception):
    """The process died."""


class Dying:
    """A store that dies at an append: before it, or behind it when it is durable already."""

    def __init__(self, pipeline: Pipeline, *, at: int, after: bool) -> None:
        self._store = pipeline.store
        self._left = at
        self._after = after

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """What the store answers, unless this is the append to die at."""
        self._left -= 1
        if self._left == 0 and not self._after:
            raise Died
        stored = list(self._store.append(items))
        if self._left == 0:
            raise Died
        return stored

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self._store, name)


def over(pipeline: Pipeline, store: Any) -> Pipeline:
    """Another way into the same store."""
    return Pipeline(store=store, keyring=pipeline.keyring, clock=pipeline.clock, rules=pipeline.rules)


def recalled(pipeline: Pipeline) -> set[str | None]:
    """What a recall shows."""
    return {item.memory.content for item in pipeline.run(RECALL, BOT, question(limit=20)).items}


def of_the_log(pipeline: Pipeline, kind: type) -> list[Any]:
    """The data of every event of a kind."""
    return [event.data for event in log(pipeline) if isinstance(event.data, kind)]


def a_summary(pipeline: Pipeline, *parents: Memory, content: str = "In short: by e-mail") -> Memory:
    """A memory that is made from others, by another job."""
    return written(
        pipeline,
        content,
        kind=Kind.SUMMARY,
        source=source(id_="job-1"),
        derived_from=tuple(parent.id for parent in parents),
    )
