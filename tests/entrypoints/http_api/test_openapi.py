"""The description at /openapi.json, and the server held against everything that it allows (SPEC S2)."""

import re
from typing import Any

import httpx
import msgspec
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import checks
from tests.entrypoints.http_api.live import Live

from tenure.entrypoints.http_api.app import CALLS
from tenure.entrypoints.http_api.openapi import describe

EXAMPLES_PER_CALL = 20

HELD = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
    checks.allow_header_conformance,
    checks.ignored_auth,
]

DOCUMENT: dict[str, Any] = msgspec.json.decode(describe(CALLS))

description = schemathesis.openapi.from_dict(DOCUMENT)


@description.parametrize()
@settings(
    max_examples=EXAMPLES_PER_CALL,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_the_server_keeps_to_its_description(live: Live, case: Any) -> None:
    """SPEC S2: no 5xx, only declared statuses, types and shapes; what the schema forbids is refused."""
    case.call_and_validate(base_url=live.url, headers={"Authorization": f"Bearer {live.token}"}, checks=HELD)


def test_the_description_is_served_as_it_is_made(live: Live) -> None:
    """API.md: OpenAPI 3.1 at /openapi.json, for everybody to read."""
    answer = httpx.get(f"{live.url}/openapi.json")

    assert answer.json() == DOCUMENT
    assert DOCUMENT["openapi"].startswith("3.1.")


def test_every_part_that_is_named_is_there() -> None:
    """A reference leads somewhere, and every part is led to."""
    text = describe(CALLS).decode()

    named = set(re.findall(r'"#/components/schemas/(\w+)"', text))

    assert named == set(DOCUMENT["components"]["schemas"])


def test_every_call_under_v1_needs_a_credential_and_has_its_problems() -> None:
    """SPEC A1, S2: 401, 403, 422, 429 and 503 everywhere, as problems; a body adds 413, a key 409."""
    for path, operations in DOCUMENT["paths"].items():
        for operation in operations.values():
            is_open = operation.get("security") == []
            assert is_open == (not path.startswith("/v1/"))
            problems = {status for status in operation["responses"] if status >= "4"}
            assert is_open or {"401", "403", "422", "429", "503"} <= problems
            assert ("413" in problems) == ("requestBody" in operation)
            for status in problems:
                assert list(operation["responses"][status]["content"]) == ["application/problem+json"]


def test_what_is_written_is_described_strictly() -> None:
    """SPEC A2: no body takes a tenant, nor anything else that is not described."""
    schemas = DOCUMENT["components"]["schemas"]
    for operations in DOCUMENT["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:
                reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                body = schemas[reference.rpartition("/")[2]]
                assert body["additionalProperties"] is False
                assert "tenant" not in body["properties"]
