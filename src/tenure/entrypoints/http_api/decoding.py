"""From bytes to records, strictly: what does not fit is refused by the field's name, never by its value."""

import json
import re
from functools import cache
from typing import Final, NoReturn, TypeVar
from urllib.parse import parse_qsl, unquote

import msgspec

from tenure.core.errors import InvalidRequest

G = TypeVar("G", bound=msgspec.Struct)

QUERY_PARAMETERS_MAX: Final = 50
FIELD_CHARACTERS_MAX: Final = 64

_AT: Final = re.compile(r" - at `\$(?P<path>[^`]*)`$")
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*")
_MISSING: Final = re.compile(r"^Object missing required field `(?P<name>[^`]*)`")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `(?P<name>.*)`$", re.DOTALL)
_BYTE: Final = re.compile(r"\(byte (?P<at>\d+)\)$")
_DIGITS: Final = re.compile(r"[0-9]{1,18}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def decode_body(raw: bytes, shape: type[G], decoder: "msgspec.json.Decoder[G]") -> G:
    """The record that a JSON body holds; raises InvalidRequest that names the field at fault."""
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        _refuse(str(error), shape)
    except RecursionError:
        raise InvalidRequest("the body is nested too deeply", field="body") from None
    except msgspec.DecodeError as error:
        _refuse_text(raw, str(error))


def decode_query(raw: bytes, shape: type[G]) -> G:
    """The record that a query string holds; every parameter is known and stands once."""
    try:
        pairs = parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=QUERY_PARAMETERS_MAX,
        )
    except ValueError:
        raise InvalidRequest(
            f"the query must be UTF-8, percent-encoded, of at most {QUERY_PARAMETERS_MAX} parameters",
            field="query",
        ) from None
    numbers = _whole_numbers(shape)
    values: dict[str, str | int] = {}
    for name, value in pairs:
        if name in values:
            raise InvalidRequest(f"{_spoken(name)} stands twice in the query", field=_spoken(name))
        values[name] = int(value) if name in numbers and _DIGITS.fullmatch(value) else value
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        _refuse(str(error), shape)


def decode_part(raw: str, *, field: str) -> str:
    """The text that one part of a path stands for, whatever it holds: a slash, a colon, a dot."""
    try:
        return unquote(raw, errors="strict")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{field} must be UTF-8, percent-encoded", field=field) from None


@cache
def _whole_numbers(shape: type[msgspec.Struct]) -> frozenset[str]:
    """The parameters that are numbers; msgspec's own lax reading would take ``null`` and ``1e1`` as well."""
    fields = msgspec.structs.fields(shape)
    return frozenset(
        one.encode_name
        for one in fields
        if any(
            isinstance(part, msgspec.inspect.IntType) for part in _parts(msgspec.inspect.type_info(one.type))
        )
    )


def _refuse(message: str, shape: type[msgspec.Struct]) -> NoReturn:
    """Say what is wrong with which field, in words that hold nothing of what was sent."""
    at = _AT.search(message)
    names = _NAME.findall(at["path"]) if at else []
    reason = message[: at.start()] if at else message
    if (missing := _MISSING.match(reason)) is not None:
        path = ".".join((*names, missing["name"]))
        raise InvalidRequest(f"{path} is missing", field=path)
    if (unknown := _UNKNOWN.match(reason)) is not None:
        path = ".".join((*names, _spoken(unknown["name"])))
        known = ", ".join(_fields(shape, names))
        raise InvalidRequest(
            f"{path} is not known here", field=path, hint=f"Known: {known}." if known else None
        )
    path = ".".join(names) or "body"
    raise InvalidRequest(f"{path} {_said(reason)}", field=path, hint=_hint(shape, names))


def _said(reason: str) -> str:
    """The fault in our words; a reason that may quote a value is not repeated."""
    if reason.startswith("Expected `"):
        return f"is of the wrong kind: e{reason[1:]}"
    if reason == "Invalid UUID":
        return "must be a UUID"
    if "datetime" in reason:
        return "must be a time such as 2026-01-31T12:00:00Z"
    if "out of range" in reason:
        return "is out of range"
    return "has a value that is not known"


def _hint(shape: type[msgspec.Struct], names: list[str]) -> str | None:
    words = _words(_type_at(shape, names))
    return f"Known: {', '.join(words)}." if words else None


def _type_at(shape: type[msgspec.Struct], names: list[str]) -> msgspec.inspect.Type | None:
    """The declared type of the field at a path; lists and optional values are looked through."""
    found: msgspec.inspect.Type | None = msgspec.inspect.type_info(shape)
    for name in names:
        structs = [part for part in _parts(found) if isinstance(part, msgspec.inspect.StructType)]
        fields = {one.encode_name: one.type for part in structs for one in part.fields}
        found = fields.get(name)
    return found


def _parts(found: msgspec.inspect.Type | None) -> list[msgspec.inspect.Type]:
    """A type and what it is made of."""
    match found:
        case None:
            return []
        case msgspec.inspect.UnionType(types=types):
            return [part for one in types for part in _parts(one)]
        case msgspec.inspect.ListType(item_type=item) | msgspec.inspect.VarTupleType(item_type=item):
            return _parts(item)
        case msgspec.inspect.Metadata(type=inner):
            return _parts(inner)
        case _:
            return [found]


def _fields(shape: type[msgspec.Struct], names: list[str]) -> list[str]:
    structs = [
        part for part in _parts(_type_at(shape, names)) if isinstance(part, msgspec.inspect.StructType)
    ]
    return [one.encode_name for part in structs for one in part.fields]


def _words(found: msgspec.inspect.Type | None) -> list[str]:
    words: list[str] = []
    for part in _parts(found):
        if isinstance(part, msgspec.inspect.EnumType):
            words.extend(str(member.value) for member in part.cls)
        elif isinstance(part, msgspec.inspect.LiteralType):
            words.extend(str(value) for value in part.values)
    return words


def _refuse_text(raw: bytes, message: str) -> NoReturn:
    """The body is no JSON that can be read; where one string is to blame, its field is named."""
    path = _unreadable(raw)
    if path is not None:
        raise InvalidRequest(f"{path} is not valid UTF-8, or has a lone surrogate", field=path)
    at = _BYTE.search(message)
    where = f" (at byte {at['at']})" if at else ""
    raise InvalidRequest(f"the body is not a JSON object in UTF-8{where}", field="body")


def _unreadable(raw: bytes) -> str | None:
    """The field whose text no UTF-8 can carry, if the body is JSON apart from that."""
    try:
        document = json.loads(raw.decode("utf-8", "surrogateescape"))
        return _path_to_surrogate(document)
    except (ValueError, RecursionError):
        return None


def _path_to_surrogate(value: object) -> str | None:
    if isinstance(value, str):
        return "" if _SURROGATE.search(value) else None
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        path = _path_to_surrogate(one)
        if path is not None:
            own = _spoken(name) if isinstance(name, str) else ""
            return ".".join(part for part in (own, path) if part) or "body"
    return None


def _spoken(name: str) -> str:
    """A field's name as it may be repeated: short and plain, or not at all."""
    return name if len(name) <= FIELD_CHARACTERS_MAX and _NAME.fullmatch(name) else "a field of this name"
