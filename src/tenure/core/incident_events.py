"""The shapes of events about incidents, policies, tools and reads (SPEC I1-I4, X2, E2).

They are stored like every other event; ``core/events.py`` names them and has the rule of change.
"""

from datetime import datetime
from uuid import UUID

import msgspec

from tenure.core.identity import SourceType
from tenure.core.refused_parameters import RefusedParameter
from tenure.core.vocabulary import Verdict


class CalledTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tool call that followed from a response, as the caller reported it."""

    id: str
    name: str
    arguments_fingerprint: str | None = None


class Influenced(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A response that a recall's memories shaped, as the caller reports it (SPEC R7)."""

    response_id: str
    used_memory_ids: tuple[UUID, ...]
    tool_calls: tuple[CalledTool, ...] = ()


class InfluencedV1(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Version 1 of Influenced: it kept ids and names of tool calls apart, and no fingerprints."""

    response_id: str
    used_memory_ids: tuple[UUID, ...]
    tool_call_ids: tuple[str, ...] = ()
    tool_names: tuple[str, ...] = ()

    def lifted(self) -> Influenced:
        """What it says, in the shape of version 2."""
        calls = zip(self.tool_call_ids, self.tool_names, strict=False)
        return Influenced(
            response_id=self.response_id,
            used_memory_ids=self.used_memory_ids,
            tool_calls=tuple(CalledTool(id=call_id, name=name) for call_id, name in calls),
        )


class Looked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Somebody read something; which memory where it was one, else how many things were shown (SPEC E2)."""

    what: str
    returned: int
    memory_id: UUID | None = None


class SourceRevoked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A source is not believed any more: all that came from it is out of every read (SPEC I1).

    ``source_type`` is a source type, ``connector`` for a credential, or None for every type. The reason is
    the operator's and stands in the open, since it belongs to no subject.
    """

    source_type: str | None
    source_id: str
    reason: str
    detected_at: datetime | None = None


class SourceRevocationFinished(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Every memory of a revoked source has its own event now; ``seq`` is where the revocation began."""

    seq: int
    revoked: int
    seconds: float
    """From detection, where it was given, else from the call, until the revocation held."""
    responses: int = 0
    tool_calls: int = 0


class Held(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An active memory waits again for somebody authorised: a rule of today would not have let it in.

    Where something was found in it when it was to be shown, ``findings`` are those of that scan.
    """

    rule: str
    reason: str
    policy_version: str
    source_type: SourceType | None = None
    findings: tuple[Verdict, ...] = ()


class PolicySwitched(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """From here on another policy decides, and what is stored is examined again (SPEC I4)."""

    version: str
    digest: str
    before: str | None = None


class PolicyReevaluated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Everything that was stored before the switch at ``seq`` has been examined under the new policy."""

    seq: int
    version: str
    examined: int
    held: int


class ToolAuthorized(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tool call may go on: none of its sensitive parameters came from a memory or a model (SPEC X2)."""

    tool: str
    resolved: tuple[str, ...] = ()
    receipt_ids: tuple[UUID, ...] = ()


class ToolRefused(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tool call was stopped, with the memories that its values were found in (SPEC X2).

    An ``undeclared`` tool is stopped whatever it is given.
    """

    tool: str
    refused: tuple[RefusedParameter, ...]
    receipt_ids: tuple[UUID, ...] = ()
    undeclared: bool = False
