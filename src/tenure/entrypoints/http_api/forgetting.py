"""The calls that forget a subject, one memory, or a key in a named scope (SPEC F1-F6). They do not erase."""

from typing import Any, Final
from uuid import UUID

import msgspec

from tenure.core.errors import IdempotencyMismatch, NotFound, ScopeNotNamed, VersionConflict
from tenure.core.forgetting import ForgetStanding, Forgotten
from tenure.core.identity import Caller
from tenure.entrypoints.http_api.calls import Ask, Call, Nothing, Visit, plainly
from tenure.entrypoints.http_api.fields import GivenScope, Version
from tenure.usecases.forget_selection import Wanted, use_case_of
from tenure.usecases.forgetting import ASK_FORGET, AskForget


class ForgetBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to forget: a subject, or one memory at a version, or a key at a scope. Exactly one of them.

    With a key, agent, purpose and subject may be left out where the credential grants exactly one.
    """

    subject: str | None = None
    memory_id: UUID | None = None
    expected_version: Version | None = None
    key: str | None = None
    scope: GivenScope | None = None
    agent: str | None = None
    purpose: str | None = None
    leaf_only: bool = False

    def ask(self, caller: Caller) -> Ask[Any, Any, Any]:
        """The one thing to forget; raises where the request could mean another, or something wider."""
        command = Wanted(
            subject=self.subject,
            memory_id=self.memory_id,
            expected_version=self.expected_version,
            key=self.key,
            scope=self.scope.scope() if self.scope is not None else None,
            agent=self.agent,
            purpose=self.purpose,
            leaf_only=self.leaf_only,
        ).chosen(caller)
        return Ask(use_case_of(command), command, plainly)


def _forget(visit: Visit[ForgetBody]) -> Ask[Any, Any, Any]:
    return visit.given.ask(visit.caller)


def _standing(visit: Visit[Nothing]) -> Ask[Any, Any, Any]:
    return Ask(ASK_FORGET, AskForget(forget_id=visit.id("forget_id")), plainly)


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/forget",
        name="forget",
        summary="Put a subject, a memory or a key out of every read, at once; says whether that is durable.",
        work=_forget,
        takes=ForgetBody,
        answers={200: Forgotten},
        problems=(NotFound, VersionConflict, IdempotencyMismatch, ScopeNotNamed),
        takes_idempotency_key=True,
    ),
    Call(
        method="GET",
        path="/v1/forgets/{forget_id:str}",
        name="get_forget",
        summary="How a forget of a key stands: complete, waiting for its probe, or found not to hold.",
        work=_standing,
        takes=Nothing,
        answers={200: ForgetStanding},
        problems=(NotFound,),
    ),
)
