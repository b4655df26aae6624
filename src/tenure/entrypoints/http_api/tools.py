"""The call that asks whether a tool call may go on (SPEC X2)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from tenure.core.errors import NotFound
from tenure.core.identity import REFERENCE_CHARACTERS_MAX
from tenure.core.toolguard import RECEIPTS_MAX, Authorization, AuthorizeTool, RefusedArgument
from tenure.entrypoints.http_api.calls import Answer, Ask, Call, Visit
from tenure.usecases.toolguard import AUTHORIZE


class AuthorizeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool call; a sensitive parameter is left out, or is `{"$resolved_by": NAME}`."""

    tool: Annotated[str, Meta(min_length=1, max_length=REFERENCE_CHARACTERS_MAX)]
    arguments: dict[str, Any]
    receipt_ids: (
        Annotated[
            tuple[UUID, ...],
            Meta(max_length=RECEIPTS_MAX, description="The recalls that the call follows from."),
        ]
        | None
    ) = None


class AuthorizeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the call may go on, what was refused, and which resolver says each sensitive value."""

    allowed: bool
    refused: tuple[RefusedArgument, ...]
    resolvers: Mapping[str, str]
    undeclared: bool
    """Whether it is refused because nobody declared the tool."""


def _authorize(visit: Visit[AuthorizeBody]) -> Ask[Any, Any, Any]:
    given = visit.given
    command = AuthorizeTool(tool=given.tool, arguments=given.arguments, receipt_ids=given.receipt_ids or ())
    return Ask(AUTHORIZE, command, _answer)


def _answer(said: Authorization) -> Answer:
    answer = AuthorizeAnswer(
        allowed=said.allowed, refused=said.refused, resolvers=said.resolvers, undeclared=said.undeclared
    )
    return Answer(200, answer)


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/tools/authorize",
        name="authorize_tool",
        summary="Ask whether a tool call may go on; a value for a sensitive parameter is refused.",
        work=_authorize,
        takes=AuthorizeBody,
        answers={200: AuthorizeAnswer},
        problems=(NotFound,),
    ),
)
