"""The call that forgets a subject (SPEC F1): out of every read at once. It is not erasure."""

from typing import Any, Final

import msgspec

from tenure.core.errors import IdempotencyMismatch, InvalidRequest, ScopeNotNamed
from tenure.core.forgetting import Forgotten
from tenure.entrypoints.http_api.calls import Ask, Call, Visit, plainly
from tenure.entrypoints.http_api.fields import NotYet
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject


class ForgetBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to forget. This version forgets a whole subject; the other selectors are refused by name."""

    subject: str | None = None
    memory_id: NotYet = None
    expected_version: NotYet = None
    key: NotYet = None
    scope: NotYet = None
    agent: NotYet = None
    purpose: NotYet = None
    leaf_only: NotYet = None

    def command(self) -> ForgetSubject:
        """The subject to forget; raises where the request could mean anything narrower."""
        asked = [name for name in _NARROWER if getattr(self, name) is not None]
        selectors = {"memory_id", "key"}.intersection(asked)
        if len(selectors) > 1 or ("memory_id" in selectors and self.subject is not None):
            raise ScopeNotNamed("name exactly one thing to forget", hint=_HINT, field="subject")
        if asked:
            field = next(iter(selectors), asked[0])
            raise InvalidRequest(f"forgetting by {field} is not in this version", field=field, hint=_HINT)
        if self.subject is None:
            raise ScopeNotNamed("the request does not say what to forget", hint=_HINT, field="subject")
        return ForgetSubject(subject=self.subject)


_NARROWER: Final = tuple(name for name in ForgetBody.__struct_fields__ if name != "subject")
_HINT: Final = 'Send {"subject": "…"} to forget everything held about one subject.'


def _forget(visit: Visit[ForgetBody]) -> Ask[Any, Any, Any]:
    return Ask(FORGET_SUBJECT, visit.given.command(), plainly)


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/forget",
        name="forget",
        summary="Put every memory of a subject out of every read, at once and for good.",
        work=_forget,
        takes=ForgetBody,
        answers={200: Forgotten},
        problems=(IdempotencyMismatch, ScopeNotNamed),
        takes_idempotency_key=True,
    ),
)
