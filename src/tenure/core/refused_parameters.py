"""Parameters of tool calls that were refused, as errors and events name them (SPEC X2)."""

from uuid import UUID

import msgspec


class RefusedParameter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A parameter whose value must not be used; never the value itself."""

    parameter: str
    because: str
    memory_ids: tuple[UUID, ...] = ()
