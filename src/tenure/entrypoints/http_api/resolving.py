"""The call that says what a key means at a scope: the innermost memory of that name, outward (SPEC F3)."""

from typing import Any, Final

import msgspec

from tenure.core.authority import filled
from tenure.core.errors import InvalidRequest, NotFound, ScopeNotNamed
from tenure.core.identity import Scope, Tier
from tenure.core.memory import Memory
from tenure.entrypoints.http_api.calls import Ask, Call, Visit, plainly
from tenure.usecases.scopes import RESOLVE, ResolveKey

_TIERS: Final = ", ".join(Tier)
_HINT: Final = f"Say scope=TIER:ID, where the tier is one of: {_TIERS}."


class ResolveQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to look: a scope as ``tier:id``, and the outer ones that it lies in where they are known.

    Agent, purpose and subject may be left out where the credential grants exactly one.
    """

    scope: str | None = None
    session: str | None = None
    user: str | None = None
    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None

    def named(self) -> Scope:
        """The scope as the rules take it; raises where there is none, or it is no scope."""
        if self.scope is None:
            raise ScopeNotNamed("the request does not say at which scope", hint=_HINT, field="scope")
        tier, colon, name = self.scope.partition(":")
        if not colon or tier not in list(Tier):
            raise InvalidRequest("scope must be a tier, a colon and an id", field="scope", hint=_HINT)
        return Scope(tier=Tier(tier), id=name, session=self.session, user=self.user)


def _resolve(visit: Visit[ResolveQuery]) -> Ask[Any, Any, Any]:
    given, grants = visit.given, visit.caller.grants
    command = ResolveKey(
        key=visit.name("key"),
        scope=given.named(),
        agent=filled(given.agent, grants.agents, field="agent"),
        purpose=filled(given.purpose, grants.purposes, field="purpose"),
        subject=filled(given.subject, grants.subjects, field="subject"),
    )
    return Ask(RESOLVE, command, plainly)


CALLS: Final = (
    Call(
        method="GET",
        path="/v1/keys/{key:str}",
        name="resolve_key",
        summary="The memory that a key means at a scope, looked for outward through the scopes around it.",
        work=_resolve,
        takes=ResolveQuery,
        answers={200: Memory},
        problems=(NotFound, ScopeNotNamed),
    ),
)
