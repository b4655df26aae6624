"""The engines of meaning that the settings name."""

from typing import Protocol, runtime_checkable

from tenure.config import ConfigError, Settings
from tenure.engines.embedding.choosing import embedder, older_embedders
from tenure.engines.embedding.unfit import Unfit
from tenure.usecases.meaning import Meaning


@runtime_checkable
class Closable(Protocol):
    """An engine that keeps connections."""

    def close(self) -> None:
        """Close them."""


class Engines:
    """The engine in use and the older ones, open until they are closed."""

    def __init__(self, settings: Settings) -> None:
        chosen = settings.embedding
        try:
            self._in_use = embedder(chosen)
            self._older = older_embedders(chosen)
        except Unfit as unfit:
            raise ConfigError((f"embedding.engine = {chosen.engine}: {unfit}.",)) from unfit
        self.meaning = Meaning(self._in_use, self._older)

    def close(self) -> None:
        """Close what is kept open."""
        opened: list[object] = [self._in_use, *self._older]
        for engine in opened:
            if isinstance(engine, Closable):
                engine.close()
