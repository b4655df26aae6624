"""Tools whose sensitive parameters neither a memory nor a model may fill (SPEC X1, X2). Pure.

Laws: the value of a sensitive parameter comes from its resolver alone, so a plain value is refused whatever
it says, null and the right one included; what is not declared is not sensitive, but a tool that is not may
be refused as a whole; memories decide only how a refusal is explained, never whether there is one; no answer
and no event repeats a value.

A parameter is named by its path, such as ``payee.iban``; lists on the way are seen through. Names are
compared without case and width, so that another spelling of a name is not another parameter.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest
from tenure.core.events import Event
from tenure.core.identity import Caller, Moment, checked_reference
from tenure.core.incident_events import ToolAuthorized, ToolRefused
from tenure.core.refused_parameters import RefusedParameter
from tenure.core.scanning.look_alikes import READ_AS

RESOLVED_BY: Final = "$resolved_by"
"""The only member of an argument that says: the program itself asks this resolver for the value."""

DEPTH_MAX: Final = 16
VALUES_MAX: Final = 1_000
CHARACTERS_MAX: Final = 100_000
NUMBER_BITS_MAX: Final = 1_024
RECEIPTS_MAX: Final = 20
PART_CHARACTERS_MIN: Final = 4
"""What is shorter occurs in many memories by chance, and is looked for in none."""
PARTS_MAX: Final = 64


class Because(StrEnum):
    """Why a value is refused for a sensitive parameter."""

    FOUND_IN_MEMORY = "found_in_memory"
    SUPPLIED_BY_MODEL = "supplied_by_model"


class Sensitive(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter that an operator declared sensitive, and what alone may say its value."""

    resolver: str
    describe: str | None = None


Tools = Mapping[str, Mapping[str, Sensitive]]
"""The sensitive parameters of each declared tool, by their paths; a tool may be declared to have none."""


class AuthorizeTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that somebody, mostly a model, wants to make."""

    tool: str
    arguments: Mapping[str, Any]
    receipt_ids: tuple[UUID, ...] = ()


class Concerned(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that the caller was shown, with every wording that it ever had."""

    memory_id: UUID
    texts: tuple[str, ...]


class RefusedArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter whose given value must not be used, and the memories that it was found in."""

    parameter: str
    because: Because
    memory_ids: tuple[UUID, ...] = ()

    def recorded(self) -> RefusedParameter:
        """The same as events and errors have it."""
        return RefusedParameter(parameter=self.parameter, because=self.because, memory_ids=self.memory_ids)


class Authorization(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the call may go on, and which resolver says the value of which sensitive parameter."""

    allowed: bool
    refused: tuple[RefusedArgument, ...] = ()
    resolvers: Mapping[str, str] = {}
    undeclared: bool = False
    """Whether it is refused because nobody declared the tool."""


def check_call(command: AuthorizeTool) -> None:
    """Raise InvalidRequest for a call that is none, or larger than anybody means."""
    checked_reference(command.tool, field="tool")
    if len(command.receipt_ids) > RECEIPTS_MAX:
        raise InvalidRequest(f"at most {RECEIPTS_MAX} receipts a call", field="receipt_ids")
    characters = 0
    for values, value in enumerate(_checked(command.arguments, 1), start=1):
        characters += len(value) if isinstance(value, str) else 0
        if values > VALUES_MAX or characters > CHARACTERS_MAX:
            raise InvalidRequest(
                f"arguments have at most {VALUES_MAX} values and {CHARACTERS_MAX} characters",
                field="arguments",
                hint="Send what a long text is about by its id.",
            )


def plain_values(command: AuthorizeTool, tools: Tools, caller: Caller) -> dict[str, list[Any]]:
    """What the arguments say themselves for sensitive parameters, instead of leaving it to the resolver."""
    sensitive = tools.get(command.tool, {})
    plain: dict[str, list[Any]] = {}
    if not sensitive:
        return plain
    places = list(_places(command.arguments, ""))
    for parameter, declared in sensitive.items():
        wanted = _name(parameter)
        for path, value in places:
            if _supplies(path, value, wanted) and not _is_resolved(value, declared, caller):
                plain.setdefault(parameter, []).append(value)
    return plain


def authorize(
    command: AuthorizeTool,
    tools: Tools,
    concerned: Sequence[Concerned],
    subject: str | None,
    caller: Caller,
    moment: Moment,
    *,
    refuses_undeclared: bool = False,
) -> Decided[Authorization]:
    """Whether the call may go on; either way there is an event of it, without any value."""
    undeclared = refuses_undeclared and command.tool not in tools
    plain = plain_values(command, tools, caller)
    read = [(one.memory_id, [normalised(text) for text in one.texts]) for one in concerned] if plain else []
    refused = tuple(_refusal(parameter, values, read) for parameter, values in plain.items())
    resolvers = {parameter: one.resolver for parameter, one in tools.get(command.tool, {}).items()}
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        subject=subject,
        data=_refused(command, refused, undeclared=undeclared)
        if refused or undeclared
        else _authorized(command, tuple(resolvers)),
    )
    answer = Authorization(
        allowed=not refused and not undeclared, refused=refused, resolvers=resolvers, undeclared=undeclared
    )
    return Decided(answer=answer, events=(event,))


def normalised(text: str) -> str:
    """A text as values are compared: without case, width, look-alikes, spaces and separators."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(filter(str.isalnum, folded.translate(READ_AS).casefold().translate(READ_AS)))


def _refused(
    command: AuthorizeTool, refused: tuple[RefusedArgument, ...], *, undeclared: bool
) -> ToolRefused:
    return ToolRefused(
        tool=command.tool,
        refused=tuple(one.recorded() for one in refused),
        receipt_ids=command.receipt_ids,
        undeclared=undeclared,
    )


def _authorized(command: AuthorizeTool, resolved: tuple[str, ...]) -> ToolAuthorized:
    return ToolAuthorized(tool=command.tool, resolved=resolved, receipt_ids=command.receipt_ids)


def _refusal(parameter: str, values: list[Any], read: list[tuple[UUID, list[str]]]) -> RefusedArgument:
    texts = [text for value in values for text in _texts(value)]
    memory_ids = _holding(map(normalised, texts), read) or _holding(_parts(texts), read)
    because = Because.FOUND_IN_MEMORY if memory_ids else Because.SUPPLIED_BY_MODEL
    return RefusedArgument(parameter=parameter, because=because, memory_ids=memory_ids)


def _holding(texts: Iterable[str], read: list[tuple[UUID, list[str]]]) -> tuple[UUID, ...]:
    """The memories in which one of these texts occurs."""
    wanted = {text for text in texts if len(text) >= PART_CHARACTERS_MIN}
    return tuple(
        memory_id for memory_id, own in read if any(text in wording for text in wanted for wording in own)
    )


def _parts(texts: Iterable[str]) -> list[str]:
    """The words and numbers of a value, for one that as a whole stands in no memory."""
    parts = [part for text in texts for part in text.replace(",", " ").replace(";", " ").split()]
    return [normalised(part) for part in parts[:PARTS_MAX]]


def _texts(value: Any) -> Iterator[str]:
    """Everything that a value says, as text."""
    match value:
        case str():
            yield value
        case bool():
            return
        case int() | float():
            yield _digits(value)
        case Mapping() if RESOLVED_BY not in value:
            for key, inner in value.items():
                yield str(key)
                yield from _texts(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts(inner)
        case _:
            return


def _digits(value: float) -> str:
    """A number as somebody would write it: whole where it is whole, and never with an exponent."""
    written = Decimal(repr(value))
    if not written.is_finite():
        return str(value)
    return format(written, "f").removesuffix(".0")


def _places(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value of the arguments with the path that leads there; the items of a list share the list's."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            deeper = f"{path}.{_name(str(key))}" if path else _name(str(key))
            yield deeper, inner
            yield from _places(inner, deeper)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield path, inner
            yield from _places(inner, path)


def _supplies(path: str, value: Any, wanted: str) -> bool:
    """Whether a value is that of a sensitive parameter, or stands where only its surroundings may stand."""
    if path == wanted:
        return True
    return wanted.startswith(f"{path}.") and not isinstance(value, Mapping | list | tuple)


def _is_resolved(value: Any, declared: Sensitive, caller: Caller) -> bool:
    """Whether the program says that it resolves the value itself; a model's word for that is none."""
    return not caller.grants.model_driven and value == {RESOLVED_BY: declared.resolver}


def _name(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _checked(value: Any, depth: int) -> Iterator[Any]:
    """Every key and value, however deep it may lie; raises InvalidRequest for what lies deeper."""
    if depth > DEPTH_MAX:
        raise InvalidRequest(f"arguments are nested at most {DEPTH_MAX} deep", field="arguments")
    if isinstance(value, Mapping):
        yield from value
        for inner in value.values():
            yield from _checked(inner, depth + 1)
    elif isinstance(value, list | tuple):
        yield ""
        for inner in value:
            yield from _checked(inner, depth + 1)
    elif isinstance(value, int) and value.bit_length() > NUMBER_BITS_MAX:
        raise InvalidRequest("arguments have a number with too many digits", field="arguments")
    else:
        yield value
