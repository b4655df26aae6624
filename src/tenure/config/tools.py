"""The tools of an agent as an operator declares them: which of their parameters are sensitive (SPEC X2)."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

NAME_CHARACTERS_MAX: Final = 200

ToolName = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX, pattern=r"^\S(.*\S)?$")]
# At most 16 steps, as deep as arguments may be, parted by single dots.
ParameterPath = Annotated[
    str,
    Meta(
        max_length=NAME_CHARACTERS_MAX,
        pattern=r"^[^.\s]([^.]*[^.\s])?(\.[^.\s]([^.]*[^.\s])?){0,15}$",
    ),
]


class ToolParameter(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A sensitive parameter: its value comes from the resolver and from nowhere else."""

    resolver: ToolName
    describe: Annotated[str, Meta(max_length=500)] | None = None


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool with its sensitive parameters, each by its path in the arguments, such as ``payee.iban``."""

    parameters: Annotated[dict[ParameterPath, ToolParameter], Meta(min_length=1)]


ToolTable = dict[ToolName, ToolSettings]
