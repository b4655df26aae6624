"""The calls about everything held of one subject: erasing it, exporting it, holding it (SPEC F7-F12)."""

from typing import Any, Final

import msgspec

from tenure.core.erasure import Certificate
from tenure.core.errors import NotFound, OnHold, Unavailable
from tenure.core.holds import Hold, PlaceHold
from tenure.entrypoints.http_api.calls import Answer, Ask, Call, Nothing, Visit, plainly
from tenure.entrypoints.http_api.fields import Reason, Time, utc
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.exporting import EXPORT_SUBJECT, ExportSubject, SubjectExport
from tenure.usecases.holds import ASK_HOLD, PLACE_HOLD, RELEASE_HOLD, AskHold, ReleaseHold

_GOES_ON: Final = "Ask again: what is done stays done, and the same call goes on from there."


class HoldBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why the subject is held, and when somebody is to look at it again."""

    reason: Reason
    review_at: Time | None = None


class ReleaseQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why the hold ends. In the query, since the body of a DELETE may be lost on the way."""

    reason: Reason


def _erase(visit: Visit[Nothing]) -> Answer:
    command = EraseSubject(subject=visit.name("subject"))
    try:
        return Answer(200, erase(visit.pipeline, visit.caller, command))
    except Unavailable as error:
        hint = _GOES_ON if error.details.get("outcome_unknown") else error.hint
        # Of several steps some may be done, whichever it was that failed.
        details = error.details | {"outcome_unknown": True}
        raise Unavailable(error.message, hint=hint, **details) from error


def _export(visit: Visit[Nothing]) -> Ask[Any, Any, Any]:
    return Ask(EXPORT_SUBJECT, ExportSubject(subject=visit.name("subject")), plainly)


def _place(visit: Visit[HoldBody]) -> Ask[Any, Any, Any]:
    command = PlaceHold(
        subject=visit.name("subject"),
        reason=visit.given.reason,
        review_at=utc(visit.given.review_at, field="review_at"),
    )
    return Ask(PLACE_HOLD, command, plainly)


def _release(visit: Visit[ReleaseQuery]) -> Ask[Any, Any, Any]:
    command = ReleaseHold(subject=visit.name("subject"), reason=visit.given.reason)
    return Ask(RELEASE_HOLD, command, plainly)


def _hold(visit: Visit[Nothing]) -> Ask[Any, Any, Any]:
    return Ask(ASK_HOLD, AskHold(subject=visit.name("subject")), plainly)


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/subjects/{subject:str}/erase",
        name="erase_subject",
        summary="Destroy everything held about a subject; a signed certificate says what was done and found.",
        work=_erase,
        takes=Nothing,
        answers={200: Certificate},
        problems=(OnHold,),
    ),
    Call(
        method="GET",
        path="/v1/subjects/{subject:str}/export",
        name="export_subject",
        summary="Everything held about a subject, what is forgotten but not erased included.",
        work=_export,
        takes=Nothing,
        answers={200: SubjectExport},
    ),
    Call(
        method="PUT",
        path="/v1/subjects/{subject:str}/hold",
        name="place_hold",
        summary="Keep a subject from being erased or pruned; again, with a new reason or date.",
        work=_place,
        takes=HoldBody,
        answers={200: Hold},
    ),
    Call(
        method="DELETE",
        path="/v1/subjects/{subject:str}/hold",
        name="release_hold",
        summary="End the hold on a subject, for a reason.",
        work=_release,
        takes=ReleaseQuery,
        answers={200: Hold},
        problems=(NotFound,),
    ),
    Call(
        method="GET",
        path="/v1/subjects/{subject:str}/hold",
        name="get_hold",
        summary="The hold on a subject.",
        work=_hold,
        takes=Nothing,
        answers={200: Hold},
        problems=(NotFound,),
    ),
)
