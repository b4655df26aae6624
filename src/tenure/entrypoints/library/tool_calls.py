"""Asking whether a tool call may go on: as a session asks, and as a client does (SPEC X2)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import msgspec

from tenure.core.errors import InvalidRequest
from tenure.core.toolguard import Authorization, AuthorizeTool
from tenure.entrypoints.library.client_request import Request, encoded
from tenure.usecases.toolguard import AUTHORIZE

if TYPE_CHECKING:
    from tenure.core.identity import Caller
    from tenure.usecases.pipeline import Pipeline

_AUTHORIZATION: Final = msgspec.json.Decoder(Authorization)


class ToolSession:
    """The part of a session that guards tools."""

    _pipeline: "Pipeline"
    caller: "Caller"

    def authorize_tool(
        self, tool: str, arguments: Mapping[str, Any], receipt_ids: Iterable[UUID] = ()
    ) -> Authorization:
        """Whether a tool call may go on; a value for a sensitive parameter is refused (SPEC X2).

        Leave such a parameter out, or say ``{"$resolved_by": NAME}`` for it. ``receipt_ids`` are the recalls
        that the call follows from; without them the last recalls of this caller are looked through.
        """
        command = AuthorizeTool(tool=tool, arguments=_plain(arguments), receipt_ids=tuple(receipt_ids))
        return self._pipeline.run(AUTHORIZE, self.caller, command)


class ToolRequests:
    """The part of a client's calls that guards tools."""

    __slots__ = ()

    def authorize_tool(
        self, tool: str, arguments: Mapping[str, Any], receipt_ids: Iterable[UUID] = ()
    ) -> Request[Authorization]:
        """Whether a tool call may go on; a value for a sensitive parameter is refused (SPEC X2).

        Leave such a parameter out, or say ``{"$resolved_by": NAME}`` for it. ``receipt_ids`` are the recalls
        that the call follows from; without them the last recalls of this caller are looked through.
        """
        body = {"tool": tool, "arguments": _plain(arguments), "receipt_ids": tuple(receipt_ids)}
        # Asked twice it leaves two events of the same answer.
        return Request(
            method="POST", path="/v1/tools/authorize", body=encoded(body), read=_AUTHORIZATION.decode
        )


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as JSON has them; raises InvalidRequest where JSON has no such thing."""
    try:
        plain = msgspec.to_builtins(arguments, str_keys=True)
    except (TypeError, ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict):
        raise InvalidRequest(
            "arguments must be an object of plain values",
            field="arguments",
            hint="Give a dictionary of texts, numbers, truth values, lists and dictionaries.",
        )
    return plain
