"""Real tokenizers, whose vocabularies lie in the package of an extra: nothing is fetched, nothing leaves."""

import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol

_PACKAGE: Final = "bpe_openai"


class _Encoding(Protocol):
    def encode_ordinary(self, text: str) -> Sequence[int]: ...


class BundledTokenizers:
    """The vocabularies of the package, each loaded when it is first asked for, and kept."""

    def __init__(self) -> None:
        self.names: Final = ("cl100k_base", "o200k_base") if find_spec(_PACKAGE) is not None else ()
        self._lock = threading.Lock()
        self._loaded: dict[str, _Encoding] = {}

    def count(self, name: str, text: str) -> int:
        """How many tokens the text has; what looks like a special token in it counts as the text it is."""
        with self._lock:
            encoding = self._loaded.get(name)
            if encoding is None:
                encoding = self._loaded[name] = import_module(_PACKAGE).get_encoding(name)
        return len(encoding.encode_ordinary(text))
