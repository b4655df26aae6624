"""The OpenAPI 3.1 description at ``/openapi.json``, made from the same declarations that are served."""

from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import version
from types import UnionType
from typing import Any, Final, get_args

import msgspec

from tenure.core.errors import (
    Forbidden,
    InvalidRequest,
    RateLimited,
    TenureError,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from tenure.core.identity import NAME_CHARACTERS_MAX
from tenure.entrypoints.http_api.calls import Call, Shape
from tenure.entrypoints.http_api.endpoint import route_template
from tenure.entrypoints.http_api.health import Alive, Ready
from tenure.entrypoints.replies import PROBLEM_MEDIA_TYPE, PROBLEM_TYPE_PREFIX

Json = dict[str, Any]

_REFERENCE: Final = "#/components/schemas/"
_ALWAYS_POSSIBLE: Final[tuple[type[TenureError], ...]] = (
    Unauthenticated,
    Forbidden,
    InvalidRequest,
    RateLimited,
    Unavailable,
)
_PROBLEM: Final[Json] = {
    "title": "Problem",
    "description": f"Problem Details (RFC 9457). What follows {PROBLEM_TYPE_PREFIX} in `type` is stable.",
    "type": "object",
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong."},
        "instance": {"type": "string", "description": "The address that was asked for."},
        "hint": {"type": "string", "description": "What to do about it."},
        "field": {"type": "string", "description": "The field, parameter or header at fault."},
        "current_version": {"type": "integer"},
        "rule": {"type": "string", "description": "The rule that rejected the memory."},
        "reason": {"type": "string"},
        "policy_version": {"type": "string"},
        "retry_after_seconds": {"type": "integer"},
        "outcome_unknown": {
            "type": "boolean",
            "description": "Whether what was asked may have been done although the server could not serve.",
        },
    },
    "required": ["type", "title", "status", "detail"],
}
_IDEMPOTENCY_KEY: Final[Json] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same command gets the first answer again; with another, a 409.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[ -~]+$"},
}
_ID: Final[Json] = {"type": "string", "format": "uuid"}
_NAME: Final[Json] = {
    "type": "string",
    "minLength": 1,
    "maxLength": NAME_CHARACTERS_MAX,
    "description": "Percent-encoded, slashes as well.",
}
_HEADERS: Final[dict[int, Json]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"schema": {"type": "integer"}}},
    503: {"Retry-After": {"schema": {"type": "integer"}}},
}


def describe(calls: Iterable[Call[Any]]) -> bytes:
    """The whole description as JSON."""
    calls = tuple(calls)
    schemas = _schemas(calls)
    paths: defaultdict[str, Json] = defaultdict(dict)
    for call in calls:
        paths[route_template(call.path)][call.method.lower()] = _operation(call, schemas)
    for path, shape in (("/healthz", Alive), ("/readyz", Ready)):
        paths[path]["get"] = _open_operation(path, shape)
    bodies = {call.takes.__name__ for call in calls if call.has_body}
    queries = {call.takes.__name__ for call in calls if not call.has_body} - bodies
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Tenure",
                "version": version("tenure"),
                "description": "Governed memory for AI agents.",
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "paths": paths,
            "components": {
                "schemas": {name: schema for name, schema in schemas.items() if name not in queries},
                "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            },
            "security": [{"bearer": []}],
        }
    )


def _schemas(calls: tuple[Call[Any], ...]) -> Json:
    records: set[type[msgspec.Struct]] = {Alive, Ready}
    for call in calls:
        records.update((call.takes, *(record for shape in call.answers.values() for record in _each(shape))))
    ordered = sorted(records, key=lambda record: record.__name__)
    _, components = msgspec.json.schema_components(ordered, ref_template=_REFERENCE + "{name}")
    return {**components, "Problem": _PROBLEM}


def _operation(call: Call[Any], schemas: Json) -> Json:
    operation: Json = {
        "operationId": call.name,
        "summary": call.summary,
        "parameters": [*_path_parameters(call), *_query_parameters(call, schemas)],
        "responses": {**_answers(call), **_problems(call)},
    }
    if call.takes_idempotency_key:
        operation["parameters"].append(_IDEMPOTENCY_KEY)
    if call.has_body:
        operation["requestBody"] = {"required": call.is_body_needed, "content": _content(call.takes)}
    return operation


def _open_operation(path: str, shape: type[msgspec.Struct]) -> Json:
    responses: Json = {"200": {"description": _first_line(shape), "content": _content(shape)}}
    if shape is Ready:
        responses["503"] = _problem_response(503, [Unavailable])
    return {
        "operationId": path.strip("/"),
        "summary": _first_line(shape),
        "security": [],
        "responses": responses,
    }


def _content(shape: Shape) -> Json:
    references = [{"$ref": _REFERENCE + record.__name__} for record in _each(shape)]
    return {"application/json": {"schema": references[0] if len(references) == 1 else {"oneOf": references}}}


def _each(shape: Shape) -> tuple[type[msgspec.Struct], ...]:
    """The records that an answer may be."""
    return get_args(shape) if isinstance(shape, UnionType) else (shape,)


def _path_parameters(call: Call[Any]) -> list[Json]:
    names = [part[1:-1] for part in route_template(call.path).split("/") if part.startswith("{")]
    return [
        {"name": name, "in": "path", "required": True, "schema": _ID if name.endswith("_id") else _NAME}
        for name in names
    ]


def _query_parameters(call: Call[Any], schemas: Json) -> list[Json]:
    if call.has_body:
        return []
    shape = schemas[call.takes.__name__]
    return [
        {"name": name, "in": "query", "required": name in shape["required"], "schema": _without_null(schema)}
        for name, schema in shape["properties"].items()
    ]


def _without_null(schema: Json) -> Json:
    """A parameter is given or left out; the text of a query knows no null."""
    given = {name: value for name, value in schema.items() if (name, value) != ("default", None)}
    choices = [one for one in given.pop("anyOf", []) if one != {"type": "null"}]
    return {**given, **choices[0]} if len(choices) == 1 else given


def _answers(call: Call[Any]) -> Json:
    return {
        str(status): {"description": " ".join(map(_first_line, _each(shape))), "content": _content(shape)}
        for status, shape in call.answers.items()
    }


def _problems(call: Call[Any]) -> Json:
    possible: list[type[TenureError]] = [*_ALWAYS_POSSIBLE, *call.problems]
    if call.has_body:
        possible.append(TooLarge)
    by_status: defaultdict[int, list[type[TenureError]]] = defaultdict(list)
    for error in possible:
        by_status[error.status].append(error)
    return {str(status): _problem_response(status, errors) for status, errors in sorted(by_status.items())}


def _problem_response(status: int, errors: list[type[TenureError]]) -> Json:
    response: Json = {
        "description": ", ".join(error.code for error in errors),
        "content": {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": _REFERENCE + "Problem"}}},
    }
    if status in _HEADERS:
        response["headers"] = _HEADERS[status]
    return response


def _first_line(shape: type[msgspec.Struct]) -> str:
    return (shape.__doc__ or shape.__name__).splitlines()[0]
