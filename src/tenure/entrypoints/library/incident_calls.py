"""What is done about a source that went bad, in embedded use and over HTTP (SPEC I1, I2)."""

from datetime import datetime
from typing import Final

import msgspec

from tenure.core.identity import Caller, SourceType
from tenure.core.incidents import LISTED_MAX, AskImpact, Impact, RevokeSource, SourceRevocation
from tenure.entrypoints.library.client_request import Request, a_read, a_write, given
from tenure.usecases import sources
from tenure.usecases.pipeline import Pipeline


class IncidentSession:
    """The part of a Session that looks into sources and revokes them."""

    _pipeline: Pipeline
    caller: Caller

    def source_impact(
        self, source_id: str, *, source_type: str | SourceType | None = None, limit: int | None = None
    ) -> Impact:
        """What a source has touched, transitively: ids and names, with exact counts (SPEC I2).

        ``source_type`` may also be ``connector``, for what a credential brought in; None is every type.
        """
        command = AskImpact(
            source_type=_word(source_type),
            source_id=source_id,
            limit=limit if limit is not None else LISTED_MAX,
        )
        return self._pipeline.run(sources.IMPACT, self.caller, command)

    def revoke_source(
        self,
        source_id: str,
        *,
        reason: str,
        source_type: str | SourceType | None = None,
        detected_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> SourceRevocation:
        """Take all that came from a source out of every read, at once; what it writes later is refused.

        Doing it again says so and writes nothing. After Unavailable ask again: it goes on where it was.
        """
        command = RevokeSource(
            source_type=_word(source_type), source_id=source_id, reason=reason, detected_at=detected_at
        )
        return sources.revoke_source(self._pipeline, self.caller, command, idempotency_key=idempotency_key)


class IncidentRequests:
    """The same calls of a client."""

    __slots__ = ()

    def source_impact(
        self, source_id: str, *, source_type: str | SourceType | None = None, limit: int | None = None
    ) -> Request[Impact]:
        """What a source has touched, transitively: ids and names, with exact counts (SPEC I2).

        ``source_type`` may also be ``connector``, for what a credential brought in; None is every type.
        """
        asked = given(type=_word(source_type), id=source_id, limit=limit)
        return a_read("/v1/sources/impact", asked, read=_IMPACT.decode)

    def revoke_source(
        self,
        source_id: str,
        *,
        reason: str,
        source_type: str | SourceType | None = None,
        detected_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Request[SourceRevocation]:
        """Take all that came from a source out of every read, at once; what it writes later is refused.

        Doing it again says so and writes nothing. After Unavailable ask again: it goes on where it was.
        """
        body = given(type=_word(source_type), id=source_id, reason=reason, detected_at=detected_at)
        return a_write("/v1/sources/revoke", body, read=_REVOCATION.decode, idempotency_key=idempotency_key)


def _word(source_type: str | SourceType | None) -> str | None:
    return str(source_type) if source_type is not None else None


# A new server may say more than this client knows; what it adds is passed over.
_IMPACT: Final = msgspec.json.Decoder(Impact)
_REVOCATION: Final = msgspec.json.Decoder(SourceRevocation)
