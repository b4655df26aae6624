"""What a person does where two memories cannot both be true, or are not the same (SPEC T2, T3)."""

from typing import Final
from uuid import UUID

import msgspec

from tenure.core.identity import Caller
from tenure.core.memory import Memory
from tenure.core.resolving import Resolve, Unmerge, read_keep, spelled
from tenure.entrypoints.library.client_request import Request, a_read, a_write, given, id_path, memory_path
from tenure.usecases import contradictions, unmerging
from tenure.usecases.contradictions import ContradictionPage, ListContradictions, Resolved, Which
from tenure.usecases.pipeline import Pipeline


class TruthSession:
    """The part of a Session that decides between memories."""

    _pipeline: Pipeline
    caller: Caller
    _subject: str | None

    def contradictions(
        self,
        *,
        is_open: bool | None = True,
        subject: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> ContradictionPage:
        """Memories that cannot both be true, newest first: those that wait for a person.

        Those that were decided with ``is_open=False``, every one with None. A page may be short: go on while
        it has a ``next_cursor``.
        """
        command = ListContradictions(
            subject=subject or self._subject, open=_which(is_open=is_open), limit=limit, cursor=cursor
        )
        return self._pipeline.run(contradictions.CONTRADICTIONS, self.caller, command)

    def resolve_contradiction(
        self,
        contradiction_id: UUID,
        *,
        keep: UUID | str,
        reason: str,
        idempotency_key: str | None = None,
    ) -> Resolved:
        """Decide which of the two is kept, by its id, or ``"both"``; the answer has what this moved.

        Raises IllegalTransition where it was decided before, or the one to be kept cannot stand.
        """
        command = Resolve(contradiction_id=contradiction_id, keep=read_keep(keep), reason=reason)
        return self._pipeline.run(
            contradictions.RESOLVE, self.caller, command, idempotency_key=idempotency_key
        )

    def unmerge(
        self, memory_id: UUID, *, expected_version: int, reason: str, idempotency_key: str | None = None
    ) -> Memory:
        """Let a memory that was merged with another stand for itself again, as it was before."""
        command = Unmerge(memory_id=memory_id, expected_version=expected_version, reason=reason)
        return self._pipeline.run(unmerging.UNMERGE, self.caller, command, idempotency_key=idempotency_key)


class TruthRequests:
    """The same calls of a client."""

    __slots__ = ()

    def contradictions(
        self,
        *,
        is_open: bool | None = True,
        subject: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Request[ContradictionPage]:
        """Memories that cannot both be true, newest first: those that wait for a person.

        Those that were decided with ``is_open=False``, every one with None. A page may be short: go on while
        it has a ``next_cursor``.
        """
        asked = given(open=_which(is_open=is_open), limit=limit, cursor=cursor)
        return a_read("/v1/contradictions", self._boundary(subject) | asked, read=_PAGE.decode)

    def resolve_contradiction(
        self,
        contradiction_id: UUID,
        *,
        keep: UUID | str,
        reason: str,
        idempotency_key: str | None = None,
    ) -> Request[Resolved]:
        """Decide which of the two is kept, by its id, or ``"both"``; the answer has what this moved.

        Raises IllegalTransition where it was decided before, or the one to be kept cannot stand.
        """
        path = id_path("/v1/contradictions", contradiction_id, field="contradiction_id", step="/resolve")
        body = given(keep=spelled(read_keep(keep)), reason=reason)
        return a_write(path, body, read=_RESOLVED.decode, idempotency_key=idempotency_key)

    def unmerge(
        self, memory_id: UUID, *, expected_version: int, reason: str, idempotency_key: str | None = None
    ) -> Request[Memory]:
        """Let a memory that was merged with another stand for itself again, as it was before."""
        body = given(expected_version=expected_version, reason=reason)
        path = memory_path(memory_id, "/unmerge")
        return a_write(path, body, read=_stood, idempotency_key=idempotency_key)

    def _boundary(self, subject: str | None) -> dict[str, object]:
        raise NotImplementedError


class _Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to whatever changes where one memory stands."""

    memory: Memory


# A new server may say more than this client knows; what it adds is passed over.
_PAGE: Final = msgspec.json.Decoder(ContradictionPage)
_RESOLVED: Final = msgspec.json.Decoder(Resolved)
_STANDING: Final = msgspec.json.Decoder(_Standing)


def _stood(raw: bytes) -> Memory:
    return _STANDING.decode(raw).memory


def _which(*, is_open: bool | None) -> Which:
    if is_open is None:
        return Which.ALL
    return Which.OPEN if is_open else Which.DECIDED
