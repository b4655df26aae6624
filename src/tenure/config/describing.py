"""The settings as a list: names, defaults and help, for messages, for the documentation and for people."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Self, get_args

import msgspec
from msgspec import inspect

from tenure.config.kinds import MASK
from tenure.config.settings import Settings

PREFIX = "TENURE_"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as it is declared: its names, its help and what it accepts."""

    name: str
    environment: str
    declared_type: Any
    default: object
    help: str
    accepts: str
    choices: tuple[str, ...]
    is_secret: bool

    @classmethod
    def declare(cls, name: str, field: msgspec.structs.FieldInfo) -> Self:
        """Read one field of a section; a field without `Meta` is our own mistake and fails here."""
        *_, meta = get_args(field.type)
        kind = inspect.type_info(field.type)
        extra = meta.extra or {}
        return cls(
            name=name,
            environment=PREFIX + name.replace(".", "__").upper(),
            declared_type=field.type,
            default={} if field.default is msgspec.NODEFAULT else field.default,
            help=meta.description,
            accepts=extra.get("accepts") or _accepts(kind),
            choices=_choices(kind),
            is_secret=extra.get("is_secret", False),
        )

    def show(self, value: object) -> str:
        """Give a value as a person reads it, masked where it is secret."""
        if value is None or value == ():
            return "not set"
        if self.is_secret:
            return MASK
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, Mapping):
            return msgspec.json.encode(value).decode()
        if isinstance(value, tuple):
            return ", ".join(str(item) for item in value)
        return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


@cache
def declared() -> Mapping[str, Setting]:
    """Give every setting under its dotted name, in the order of the documentation."""
    found: dict[str, Setting] = {}
    for field in msgspec.structs.fields(Settings):
        if isinstance(field.default, msgspec.Struct):
            for inner in msgspec.structs.fields(type(field.default)):
                name = f"{field.name}.{inner.name}"
                found[name] = Setting.declare(name, inner)
        else:
            found[field.name] = Setting.declare(field.name, field)
    return found


def markdown_table() -> str:
    """Write the table of docs/configuration.md, which a test compares with the page."""
    lines = ["| setting | environment | accepts | default | what it does |", "|---|---|---|---|---|"]
    lines += [
        f"| `{setting.name}` | `{setting.environment}` | {setting.accepts} "
        f"| {setting.show(setting.default)} | {setting.help} |"
        for setting in declared().values()
    ]
    return "\n".join(lines) + "\n"


def _choices(kind: inspect.Type) -> tuple[str, ...]:
    """List the words that a setting, or an item of it, may be; empty where it is not a choice."""
    match kind:
        case inspect.Metadata(type=inner) | inspect.VarTupleType(item_type=inner):
            return _choices(inner)
        case inspect.LiteralType(values=values):
            return tuple(str(value) for value in values)
        case _:
            return ()


def _accepts(kind: inspect.Type) -> str:
    """Say in words what a declared type accepts."""
    match kind:
        case inspect.Metadata(type=inner):
            return _accepts(inner)
        case inspect.IntType(ge=low, le=high):
            return f"a whole number from {low} to {high}"
        case inspect.BoolType():
            return "true or false"
        case inspect.FloatType(ge=low, le=high):
            return f"a number from {low:g} to {high:g}"
        case inspect.VarTupleType():
            return f"one or more of {', '.join(_choices(kind))}"
        case inspect.LiteralType():
            return f"one of {', '.join(_choices(kind))}"
        case _:
            return "text"
