"""Verdicts that stand: what was found in a text, by which scanners, under which policy (SPEC R5).

They are kept in the memory of this process alone and are gone with it. An entry is known by a keyed digest of
the text and holds places and names of rules, so nothing of what was said can be read from it.
"""

from collections import OrderedDict
from threading import Lock
from typing import Final, Generic, TypeVar

from tenure.core.read_scanning import Crossing
from tenure.core.scanning import Finding

V = TypeVar("V", bound=tuple[object, ...])
Key = tuple[str, str, bytes]
"""The version of the scanners, the version of the policy, and the keyed digest of the text."""

TEXTS_MAX: Final = 50_000
"""Verdicts on single texts, at about 300 bytes each."""
JOINED_MAX: Final = 10_000
"""Verdicts on texts read as one, at about 600 bytes each."""
KEPT_FINDINGS_MAX: Final = 64
"""A verdict of more findings is asked for again each time: it would take the room of many."""


class Standing(Generic[V]):
    """The verdicts that were asked for last, up to a number."""

    def __init__(self, entries_max: int) -> None:
        self._entries_max = entries_max
        self._kept: OrderedDict[Key, V] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._kept)

    def get(self, key: Key) -> V | None:
        """The verdict that stands, if one does."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: Key, verdict: V) -> None:
        """Keep a verdict, and let the one go that was asked for least lately."""
        if len(verdict) > KEPT_FINDINGS_MAX:
            return
        with self._lock:
            self._kept[key] = verdict
            self._kept.move_to_end(key)
            if len(self._kept) > self._entries_max:
                self._kept.popitem(last=False)


class Verdicts:
    """What this node found lately: in texts alone, and in texts read as one."""

    def __init__(self) -> None:
        self.texts: Standing[tuple[Finding, ...]] = Standing(TEXTS_MAX)
        self.joined: Standing[tuple[Crossing, ...]] = Standing(JOINED_MAX)
