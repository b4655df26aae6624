"""Who may do what over HTTP: credentials, roles, the walls between tenants and agents (SPEC A1-A5, M2)."""

import pytest
from tests.entrypoints.http_api.acme import Acme, problem_code, proposal

EMAIL = {"type": "email", "id": "mail-1"}


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        "Bearer tnr.YWNtZQ.0195a4a000007000800000000000dead.AAAA",
        "Basic YWNtZTphY21l",
        "acme",
    ],
)
def test_without_a_credential_that_holds_there_is_no_access(shared: Acme, header: str | None) -> None:
    """SPEC A1: one answer for no credential and for a wrong one, and it says how to send one."""
    headers = {"Authorization": header} if header is not None else {}
    answer = shared.client.get("/v1/memories", headers=headers)

    assert (answer.status_code, problem_code(answer)) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_familiar_tenant_in_a_token_is_worth_nothing(shared: Acme) -> None:
    """SPEC A1, A2: only the secret opens, whatever tenant the token names."""
    parts = shared.tokens["bot"].split(".")
    other = shared.token("spy", "other", roles=["reader"]).split(".")
    forged = ".".join((parts[0], parts[1], other[2], other[3]))

    assert shared.call("GET", "/v1/memories", token=forged).status_code == 401


def test_the_scheme_is_read_as_http_has_it(shared: Acme) -> None:
    """RFC 9110: the name of a scheme is the same in any case."""
    headers = {"Authorization": f"bEARER {shared.tokens['bot']}"}

    assert shared.client.get("/v1/memories", headers=headers).status_code == 200


def test_a_revoked_key_opens_nothing_from_the_next_request_on(acme: Acme) -> None:
    """SPEC A1, L12."""
    made = acme.call(
        "POST", "/v1/credentials", {"name": "temporary", "roles": ["reader"]}, who="operator"
    ).json()
    assert acme.call("GET", "/v1/memories", token=made["token"]).status_code == 200

    revoked = acme.call("DELETE", f"/v1/credentials/{made['id']}", who="operator")

    assert revoked.status_code == 200
    assert revoked.json()["revoked_at"]
    assert acme.call("GET", "/v1/memories", token=made["token"]).status_code == 401


def test_a_role_that_was_not_granted_is_forbidden_and_audited(acme: Acme) -> None:
    """SPEC A2, A4: the refusal names what is missing, and leaves a denial in the log."""
    before = acme.log_head()
    answer = acme.call("GET", "/v1/log", who="bot")

    assert (answer.status_code, problem_code(answer)) == (403, "forbidden")
    assert answer.json()["field"] == "role"
    assert acme.log_head() == before + 1


def test_a_source_type_that_was_not_granted_is_forbidden(acme: Acme) -> None:
    """SPEC A3: a mail connector cannot write as an application."""
    token = acme.token("mail", "acme", roles=["writer"], source_types=["email"])
    body = proposal(agent="support", purpose="support")

    answer = acme.call("POST", "/v1/memories", body, token=token)

    assert (answer.status_code, answer.json()["field"]) == (403, "source.type")


@pytest.mark.parametrize("who", ["other tenant", "sales"])
def test_a_memory_outside_the_walls_is_absent_not_forbidden(acme: Acme, who: str) -> None:
    """SPEC M2: another tenant's and another agent's memory is 404 on every call, the same as none at all."""
    roles = ["writer", "reader", "reviewer", "operator"]
    token = (
        acme.token("spy", "other", roles=roles)
        if who == "other tenant"
        else acme.token("nosy", "acme", roles=roles, agents=["sales"], purposes=["sales"])
    )
    memory = acme.remember()
    path = f"/v1/memories/{memory['id']}"
    source = {"type": "direct_user", "id": "message-2"}
    word = {"expected_version": 1, "reason": "curious"}

    answers = [
        acme.call("GET", path, token=token),
        acme.call("GET", f"{path}/history", token=token),
        acme.call("PATCH", path, {"expected_version": 1, "content": "x", "source": source}, token=token),
        acme.call("POST", f"{path}/promote", word, token=token),
        acme.call("POST", f"{path}/reject", word, token=token),
        acme.call("POST", f"{path}/revoke", word, token=token),
        acme.call("POST", f"{path}/renew", {**word, "ttl_seconds": 60}, token=token),
    ]

    assert [(answer.status_code, problem_code(answer)) for answer in answers] == [(404, "not-found")] * 7
    assert acme.call("GET", "/v1/memories", token=token).json()["items"] == []
    assert acme.call("GET", path).json() == memory


def test_what_is_held_back_is_shown_without_content_to_those_who_do_not_judge(acme: Acme) -> None:
    """SPEC L6: the writer sees that it waits; the reviewer sees what it says."""
    held = acme.call("POST", "/v1/memories", proposal(source=EMAIL)).json()["memory"]
    path = f"/v1/memories/{held['id']}"

    assert acme.call("GET", path, who="bot").json()["content"] is None
    assert acme.call("GET", path, who="ann").json()["content"] == "Prefers e-mail to phone"


def test_nobody_promotes_what_they_proposed(acme: Acme) -> None:
    """SPEC A5."""
    token = acme.token("both", "acme", roles=["writer", "reviewer"], agents=["support"], purposes=["support"])
    held = acme.call("POST", "/v1/memories", proposal(source=EMAIL), token=token).json()["memory"]

    word = {"expected_version": 1, "reason": "trust me"}
    answer = acme.call("POST", f"/v1/memories/{held['id']}/promote", word, token=token)

    assert (answer.status_code, problem_code(answer)) == (403, "forbidden")
