"""The calls about sources that went bad: what they touched, and revoking them (SPEC I1, I2)."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from tenure.core.errors import IdempotencyMismatch, Unavailable
from tenure.core.incidents import LISTED_MAX, AskImpact, Impact, RevokeSource, SourceRevocation
from tenure.entrypoints.http_api.calls import Answer, Ask, Call, Visit, plainly
from tenure.entrypoints.http_api.fields import Reason, Time, utc
from tenure.usecases.sources import IMPACT, revoke_source

SourceTypeGiven = Annotated[
    str,
    Meta(
        description="A source type, or connector for the credential whose id this is; every source type "
        "where it is left out."
    ),
]
SourceId = Annotated[str, Meta(description="The id of the message, document, call or credential.")]


class RevokeSourceBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The source that is not to be believed any more, why, and when somebody noticed."""

    id: SourceId
    reason: Reason
    type: SourceTypeGiven | None = None
    detected_at: Time | None = None


class ImpactQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The source that is asked about, and how many ids each list may hold."""

    id: SourceId
    type: SourceTypeGiven | None = None
    limit: Annotated[int, Meta(ge=1, le=LISTED_MAX)] = LISTED_MAX


def _revoke(visit: Visit[RevokeSourceBody]) -> Answer:
    command = RevokeSource(
        source_type=visit.given.type,
        source_id=visit.given.id,
        reason=visit.given.reason,
        detected_at=utc(visit.given.detected_at, field="detected_at"),
    )
    key = visit.idempotency_key
    return Answer(200, revoke_source(visit.pipeline, visit.caller, command, idempotency_key=key))


def _impact(visit: Visit[ImpactQuery]) -> Ask[Any, Any, Any]:
    command = AskImpact(source_type=visit.given.type, source_id=visit.given.id, limit=visit.given.limit)
    return Ask(IMPACT, command, plainly)


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/sources/revoke",
        name="revoke_source",
        summary="Take all that came from a source out of every read, at once; it may write no more.",
        work=_revoke,
        takes=RevokeSourceBody,
        answers={200: SourceRevocation},
        problems=(IdempotencyMismatch, Unavailable),
        takes_idempotency_key=True,
    ),
    Call(
        method="GET",
        path="/v1/sources/impact",
        name="get_source_impact",
        summary="What a source has touched: memories, recalls, responses, tool calls, agents and subjects.",
        work=_impact,
        takes=ImpactQuery,
        answers={200: Impact},
    ),
)
