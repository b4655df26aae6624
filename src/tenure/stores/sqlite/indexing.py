"""When the word index is written: after the commit, by whoever needs it first (SPEC R1, E5).

A write leaves its words here and is answered; a recall brings the index up before it looks, so that a caller
finds what was just written; and what nobody asked for is brought up shortly after by itself. So the words of
many writes become one transaction. A crash loses nothing: the index carries its position and catches up from
the log.

An index that is far behind, as one that was lost is, keeps nobody waiting at the start: it catches up in the
background from then on. The first recall waits for it, and so does nothing else; a write that comes meanwhile
leaves its words to the catching up, which goes on until it has met the end of every log.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final

import apsw

from tenure.core.errors import Unavailable
from tenure.stores.found_by import Finder, Found
from tenure.stores.sqlite.rebuilding import Interrupted, catch_up
from tenure.stores.sqlite.search import SearchIndex
from tenure.usecases.ports import Keyring, Reading

SOON_SECONDS: Final = 0.05
WAITING_MAX: Final = 2_000
"""More than these, and the writer brings the index up itself, so that memory stays bounded."""
LOOKS_MAX: Final = 8
"""So often the log is read on for what was written meanwhile; then writers wait for the index again."""

_log = logging.getLogger("tenure.store")


class Indexing:
    """Holds words that wait, and writes them in order, one writer at a time."""

    def __init__(
        self,
        search: SearchIndex,
        reading: Callable[[], AbstractContextManager[Reading]],
        keyring: Keyring,
        finder: Finder,
        *,
        is_behind: bool = False,
    ) -> None:
        self._search = search
        self._reading = reading
        self._keyring = keyring
        self._finder = finder
        self._writing = threading.Lock()
        self._state = threading.Lock()
        self._waiting: list[Found] = []
        self._positions: dict[str, int] = {}
        self._is_behind = is_behind
        self._is_taken_up = False
        self._is_catching_up = False
        self._is_passed_by = False
        self._soon = threading.Event()
        self._closing = threading.Event()
        if is_behind:
            self._soon.set()
        self._thread = threading.Thread(target=self._bring_up_soon, name="tenure-words", daemon=True)
        self._thread.start()

    def leave(self, changes: Sequence[Found], positions: Mapping[str, int]) -> None:
        """Take over the words of a batch that is durable."""
        with self._state:
            if self._is_catching_up:
                self._is_passed_by = True
                return
            self._waiting += changes
            self._positions |= positions
            waiting = len(self._waiting)
        if changes:
            self._soon.set()
        if waiting > WAITING_MAX:
            self.bring_up()

    def bring_up(self) -> None:
        """Write what waits; when that fails, the index is behind and catches up from the log next time."""
        # Words that another thread took up and has not written yet have to be waited for, too.
        if not self._waiting and not self._is_taken_up and not self._is_behind:
            return
        with self._writing:
            with self._state:
                self._is_taken_up = True
                changes, self._waiting = self._waiting, []
                positions, self._positions = self._positions, {}
            try:
                if self._is_behind:
                    self._catch_up()
                elif changes:
                    self._search.apply(self._finder.completed(changes), positions)
                self._is_behind = False
            except Interrupted:
                self._is_behind = True
            except (Unavailable, apsw.Error) as fault:
                self._is_behind = True
                _log.warning("the word index is behind: %s", type(fault).__name__)
                if isinstance(fault.__cause__ or fault, apsw.CorruptError | apsw.NotADBError):
                    self._start_anew()
            finally:
                self._is_taken_up = False

    def bring_up_or_refuse(self) -> None:
        """The same for whoever asks: what is behind cannot say that there is nothing, so this raises."""
        self.bring_up()
        if self._is_behind:
            raise Unavailable(
                "the search data is behind the log and cannot be brought up now",
                hint="Ask again in a moment; the server's log says what is wrong with its file.",
            )

    def brought_up(self) -> bool:
        """The same for whoever can do without: says whether it is; nobody waits for one that is behind."""
        if not self._is_behind:
            self.bring_up()
        return not self._is_behind

    def anew(self) -> None:
        """Build the index from the log."""
        with self._writing:
            with self._state:
                self._waiting, self._positions = [], {}
            self._search.clear()
            try:
                self._catch_up()
            except Interrupted:
                self._is_behind = True

    def rewrite(self, tenant: str, subject: str, *, up_to_seq: int) -> None:
        """Rewrite the file without what was taken away; raises Unavailable where a subject is left."""
        self.bring_up()
        with self._writing:
            if self._is_behind or self._search.holds_subject(tenant, subject, up_to_seq=up_to_seq):
                raise Unavailable("the word index is behind", hint="Mend what the log says, then ask again.")
            self._search.rewrite()

    def put_vectors(self, tenant: str, model: str, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        """Put vectors in, of memories that still say what was embedded."""
        self.bring_up()
        with self._writing:
            self._search.put_vectors(tenant, model, vectors)

    def drop_models(self, tenant: str, *, keep: str) -> None:
        """Drop the vectors of every model but one."""
        with self._writing:
            self._search.drop_models(tenant, keep=keep)

    def holds_words(self, words: bytes) -> bool:
        """Whether a memory that can be found has exactly these words, as they are written down."""
        with self._writing:
            return self._search.holds_words(words)

    def close(self) -> None:
        """Write what waits, and close the index in order."""
        self._closing.set()
        self._soon.set()
        self._thread.join()
        if not self._is_behind:
            self.bring_up()
        try:
            if not self._is_behind:
                self._search.apply([], self._positions)
            self._search.close()
        except (Unavailable, apsw.Error) as fault:
            _log.warning("the word index was not closed in order: %s", type(fault).__name__)

    def _catch_up(self) -> None:
        """Read the log for words until none pass by; in the last look, writers leave theirs again."""
        for look in range(1, LOOKS_MAX + 1):
            with self._state:
                self._is_passed_by, self._is_catching_up = False, look < LOOKS_MAX
            try:
                with self._reading() as reading:
                    catch_up(reading, self._search, self._keyring, self._finder, goes_on=self._goes_on)
            finally:
                with self._state:
                    passed_by = self._is_passed_by
                    self._is_catching_up = False
            if not passed_by:
                return

    def _start_anew(self) -> None:
        """Empty a damaged index, so that the next catching up builds all of it."""
        with contextlib.suppress(Unavailable, apsw.Error):
            self._search.clear()

    def _goes_on(self) -> bool:
        return not self._closing.is_set()

    def _bring_up_soon(self) -> None:
        while not self._closing.is_set():
            self._soon.wait()
            self._closing.wait(SOON_SECONDS)
            self._soon.clear()
            self.bring_up()
