"""Vectors for what has none of the model in use: after a write, after a change of the model, after a fault.

    1 what has no vector is read with the store's own key, tenant by tenant, some at a time
    2 it is embedded while nothing is held open
    3 the vectors are kept where the memory still stands as it was read
    4 once a tenant's memories all have one, those of older models are dropped

An engine that fails is left alone for a while, longer each time. Writes never wait for it: until then what
was written is found by its words, and by the vectors of the older model.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from tenure.core.vectors import packed
from tenure.core.views import meant_text
from tenure.core.vocabulary import Status
from tenure.usecases.embedding_ports import Embedder, EmbeddingFailed
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Reading, Unembedded
from tenure.usecases.sealing import open_event

LEASE: Final = "embedding"
LEASE_SECONDS: Final = 60.0
BATCH_SIZE_IMMEDIATE: Final = 500
"""For an engine that takes a tenth of a millisecond a text."""
FIRST_PAUSE: Final = timedelta(seconds=5)
PAUSE_MAX: Final = timedelta(minutes=5)
LOOK_AGAIN: Final = timedelta(minutes=1)
"""When all of a tenant is looked through again: something may have been revised, let in, or made anew."""


class Embedded(msgspec.Struct, frozen=True, kw_only=True):
    """What one round did. ``more`` says that another should follow at once."""

    embedded: int = 0
    more: bool = False
    failure: str | None = None
    """Why the engine gave nothing; it holds no text."""


class _Settled(NamedTuple):
    """Up to which position of its log a tenant's memories have vectors, and when all were looked through."""

    head: int
    at: datetime


class _Look(NamedTuple):
    """A look through a tenant: where it began, and what it has passed."""

    begin: int
    after: int


class Embedding:
    """The worker's rounds with one engine; of many nodes, the one with the lease does them."""

    def __init__(self, pipeline: Pipeline, embedder: Embedder, *, batch_size: int) -> None:
        self._pipeline = pipeline
        self._embedder = embedder
        self.is_immediate = embedder.is_immediate
        self._batch_size = BATCH_SIZE_IMMEDIATE if embedder.is_immediate else batch_size
        self._settled: dict[str, _Settled] = {}
        self._looks: dict[str, _Look] = {}
        self._failures = 0
        self._paused_until: datetime | None = None

    def round(self) -> Embedded:
        """Embed one batch of one tenant that has something to embed."""
        now = self._pipeline.clock.now()
        if self._paused_until is not None and now < self._paused_until:
            return Embedded()
        with self._pipeline.store.reading() as reading:
            tenants = reading.tenants()
        for tenant in tenants:
            done = self._tenant(tenant, now)
            if done is not None:
                return done
        return Embedded()

    def _tenant(self, tenant: str, now: datetime) -> Embedded | None:
        """One batch of a tenant; None where there was nothing to do."""
        model = self._embedder.model
        with self._pipeline.store.reading() as reading:
            head, _ = reading.head(tenant)
            look = self._look(tenant, head, now)
            if look is None:
                return None
            rows = reading.unembedded(tenant, model, after=look.after, limit=self._batch_size)
            texts = [self._text(reading, tenant, row) for row in rows]
        if rows and not self._is_ours_to_do():
            return None
        readable = [(row, text) for row, text in zip(rows, texts, strict=True) if text is not None]
        try:
            vectors = self._embedder.passages([text for _, text in readable]) if readable else []
        except EmbeddingFailed as fault:
            return self._paused(now, fault)
        self._failures, self._paused_until = 0, None
        kept = [
            (row.created_seq, row.version, packed(vector))
            for (row, _), vector in zip(readable, vectors, strict=True)
        ]
        if kept:
            self._pipeline.store.put_vectors(tenant, model, kept)
        if len(rows) == self._batch_size:
            self._looks[tenant] = look._replace(after=rows[-1].created_seq)
            return Embedded(embedded=len(kept), more=True)
        self._settle(tenant, look, head, now)
        return Embedded(embedded=len(kept), more=True) if kept else None

    def _look(self, tenant: str, head: int, now: datetime) -> _Look | None:
        """Go on where a look is under way; else begin one, mostly at what is new; None where nothing is."""
        if tenant in self._looks:
            return self._looks[tenant]
        settled = self._settled.get(tenant)
        if settled is None or now - settled.at >= LOOK_AGAIN:
            return _Look(0, 0)
        return _Look(settled.head, settled.head) if head != settled.head else None

    def _settle(self, tenant: str, look: _Look, head: int, now: datetime) -> None:
        """All of a tenant, or all that is new, has vectors; after the former, older models are of no use."""
        self._looks.pop(tenant, None)
        if look.begin:
            self._settled[tenant] = self._settled[tenant]._replace(head=head)
            return
        store, model = self._pipeline.store, self._embedder.model
        with store.reading() as reading:
            models = reading.models(tenant)
        if any(other != model for other in models) and self._is_ours_to_do():
            store.drop_models(tenant, keep=model)
        self._settled[tenant] = _Settled(head, now)

    def _is_ours_to_do(self) -> bool:
        """Whether this node is the one; asked only when there is something, since a lease is a write."""
        return self._pipeline.store.lease(LEASE, seconds=LEASE_SECONDS)

    def _text(self, reading: Reading, tenant: str, row: Unembedded) -> str | None:
        """What a memory is found by, as it was last said; None where that is gone, or is not let in yet.

        What waits in quarantine may be what nobody should be told, a service of vectors least of all.
        """
        stands = reading.memory_row(tenant, row.memory_id)
        if stands is None or stands.status != Status.ACTIVE:
            return None
        said: str | None = None
        for stored in reading.stream(tenant, row.memory_id):
            text = meant_text(open_event(stored, self._pipeline.keyring))
            said = said if text is None else text
        return said

    def _paused(self, now: datetime, fault: EmbeddingFailed) -> Embedded:
        pause = min(FIRST_PAUSE * 2 ** min(self._failures, 10), PAUSE_MAX)
        self._failures += 1
        self._paused_until = now + pause
        return Embedded(failure=str(fault))
