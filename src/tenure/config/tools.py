"""The tools of an agent as an operator declares them: which of their parameters are sensitive (SPEC X2)."""

from typing import Annotated, Final, Literal

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


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool with its sensitive parameters, each by its path in the arguments, such as ``payee.iban``.

    One that has none says so, since a table without parameters may as well be a slip of the pen.
    """

    parameters: dict[ParameterPath, ToolParameter] = {}
    nothing_sensitive: bool = False

    def __post_init__(self) -> None:
        """Refuse a table that guards nothing without saying so, or that says both."""
        if bool(self.parameters) is self.nothing_sensitive:
            raise ValueError("a tool has sensitive parameters, or else nothing_sensitive = true")


ToolTable = dict[ToolName, ToolSettings]
UndeclaredTools = Literal["allow", "refuse"]
