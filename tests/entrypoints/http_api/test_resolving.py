"""What a key means at a scope, over HTTP: names of every kind in a path, and the way outward (SPEC F3)."""

from urllib.parse import quote

import pytest
from tests.entrypoints.http_api.acme import Acme, problem_code

NAMES = [
    "contact",
    "a/b",
    "/a",
    "a//b",
    ":",
    ".",
    "..",
    "../memories",
    "a:b#c~|=",
    "x y",
    "a+b",
    "größe",
    "鍵",
]


def path(key: str, **asked: str) -> str:
    """The address of a key at a scope."""
    named = {"subject": "customer-7", "scope": "session:s-1"} | asked
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in named.items())
    return f"/v1/keys/{quote(key, safe='').replace('.', '%2E')}?{query}"


@pytest.mark.parametrize("name", NAMES)
def test_a_key_of_any_name_is_resolved(acme: Acme, name: str) -> None:
    """SPEC F3: what stands in the path is one name, whatever characters it has; so is a scope's id."""
    memory = acme.remember(key=name, scope={"tier": "task", "id": name})

    answer = acme.call("GET", path(name, scope=f"task:{name}"))

    assert answer.status_code == 200, answer.text
    assert answer.json() == memory


def test_the_innermost_scope_answers_first_and_none_further_inside(acme: Acme) -> None:
    """SPEC F3: task, then session and user as they are named; the subject's own user scope by itself."""
    inner = acme.remember("One", key="contact", scope={"tier": "task", "id": "t-1"})
    middle = acme.remember("Two", key="contact", scope={"tier": "session", "id": "s-1"})
    outer = acme.remember("Three", key="contact")

    def found(**asked: str) -> str:
        return str(acme.call("GET", path("contact", **asked)).json()["id"])

    assert found(scope="task:t-1") == inner["id"]
    assert found(scope="task:t-2", session="s-1") == middle["id"]
    assert found(scope="task:t-2", session="s-2") == outer["id"]
    assert found(scope="session:s-1") == middle["id"]
    assert found(scope="user:customer-7") == outer["id"]
    assert acme.call("GET", path("contact", scope="session:s-2", user="u-2")).status_code == 404
    assert acme.call("GET", path("contact", scope="user:u-2")).status_code == 404


@pytest.mark.parametrize(
    ("address", "code", "field"),
    [
        ("/v1/keys/contact?subject=customer-7", "scope-not-named", "scope"),
        ("/v1/keys/contact?subject=customer-7&scope=", "invalid-request", "scope"),
        ("/v1/keys/contact?subject=customer-7&scope=s-1", "invalid-request", "scope"),
        ("/v1/keys/contact?subject=customer-7&scope=galaxy:s-1", "invalid-request", "scope"),
        ("/v1/keys/contact?subject=customer-7&scope=session:", "invalid-request", "scope.id"),
        ("/v1/keys/contact?subject=customer-7&scope=session:*", "invalid-request", "scope.id"),
        ("/v1/keys/contact?subject=customer-7&scope=task:t&session=", "invalid-request", "scope.session"),
        ("/v1/keys/contact?subject=customer-7&scope=task:t&user=%00", "invalid-request", "scope.user"),
        ("/v1/keys/contact?subject=customer-7&scope=task:t&scope=task:u", "invalid-request", "scope"),
        ("/v1/keys/contact?subject=customer-7&scope=task:t&tenant=other", "invalid-request", "tenant"),
        ("/v1/keys/contact?scope=session:s-1", "invalid-request", "subject"),
        ("/v1/keys/contact?subject=%20&scope=session:s-1", "invalid-request", "subject"),
        ("/v1/keys/%00?subject=customer-7&scope=session:s-1", "invalid-request", "key"),
        ("/v1/keys/%FF?subject=customer-7&scope=session:s-1", "invalid-request", "key"),
        ("/v1/keys/%25?subject=customer-7&scope=session:s-1", "invalid-request", "key"),
        (f"/v1/keys/{'k' * 201}?subject=customer-7&scope=session:s-1", "invalid-request", "key"),
    ],
)
def test_a_question_that_names_no_scope_or_an_odd_one_is_refused(
    shared: Acme, address: str, code: str, field: str
) -> None:
    """SPEC S2, F4: by the parameter at fault."""
    answer = shared.call("GET", address)

    assert (answer.status_code, problem_code(answer)) == (422, code)
    assert answer.json()["field"] == field


def test_what_lies_outside_the_grants_is_not_resolved(acme: Acme) -> None:
    """SPEC A2, M2: another agent's key is not granted, another tenant's is absent."""
    acme.remember(key="contact")
    stranger = acme.token("bot", "other", roles=["reader"], agents=["support"], purposes=["support"])
    address = path("contact", scope="user:customer-7")

    assert acme.call("GET", address).status_code == 200
    assert acme.call("GET", f"{address}&agent=sales").status_code == 403
    assert acme.call("GET", address, token=stranger).status_code == 404
    assert acme.call("GET", f"{address}&agent=support&purpose=support", who="operator").status_code == 403
