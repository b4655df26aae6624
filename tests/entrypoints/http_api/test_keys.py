"""Callers' keys over HTTP (SPEC A1-A5)."""

from tests.entrypoints.http_api.acme import Acme, problem_code, proposal

ABSENT_ID = "0195a4a0-0000-7000-8000-00000000dead"


def test_a_token_is_shown_once_and_opens_what_was_granted(acme: Acme) -> None:
    """SPEC A1: the token is in the answer that made it, and in no other."""
    wish = {
        "name": "mail connector",
        "roles": ["writer"],
        "agents": ["support"],
        "purposes": ["support"],
        "subjects": ["customer-7"],
        "source_types": ["email"],
        "model_driven": True,
    }

    made = acme.call("POST", "/v1/credentials", wish, who="operator")
    listed = acme.call("GET", "/v1/credentials", who="operator")

    assert made.status_code == 201
    key = made.json()
    assert key["grants"]["source_types"] == ["email"]
    assert key["grants"]["model_driven"] is True
    body = {"kind": "fact", "content": "Invoices go to Leeds", "source": {"type": "email", "id": "mail-1"}}
    written = acme.call("POST", "/v1/memories", body, token=key["token"])
    assert written.json()["memory"]["subject"] == "customer-7"
    assert key["token"] not in listed.text
    assert key["token"].rpartition(".")[2] not in listed.text
    named = {item["id"]: item["name"] for item in listed.json()["items"]}
    assert named[key["id"]] == "mail connector"


def test_an_operator_manages_their_own_tenant_alone(acme: Acme) -> None:
    """SPEC A2: the new key's tenant is the operator's; another tenant's keys are absent."""
    foreign = acme.token("chief", "other", roles=["operator"])
    made = acme.call("POST", "/v1/credentials", {"name": "theirs", "roles": ["reader"]}, token=foreign).json()

    assert made["tenant"] == "other"
    assert made["id"] not in acme.call("GET", "/v1/credentials", who="operator").text
    answer = acme.call("DELETE", f"/v1/credentials/{made['id']}", who="operator")
    assert (answer.status_code, problem_code(answer)) == (404, "not-found")
    assert acme.call("GET", "/v1/memories", token=made["token"]).status_code == 200


def test_ending_a_key_again_changes_nothing(acme: Acme) -> None:
    """The second answer is the first one."""
    made = acme.call(
        "POST", "/v1/credentials", {"name": "temporary", "roles": ["reader"]}, who="operator"
    ).json()

    first = acme.call("DELETE", f"/v1/credentials/{made['id']}", who="operator")
    length = acme.log_head()
    again = acme.call("DELETE", f"/v1/credentials/{made['id']}", who="operator")
    absent = acme.call("DELETE", f"/v1/credentials/{ABSENT_ID}", who="operator")

    assert again.json() == first.json()
    assert acme.log_head() == length
    assert absent.status_code == 404


def test_a_model_attests_what_agents_say_unless_more_is_named(acme: Acme) -> None:
    """SPEC A3: the same default as everywhere else that keys are made."""
    wish = {"name": "model", "roles": ["writer"], "model_driven": True}

    made = acme.call("POST", "/v1/credentials", wish, who="operator").json()

    assert made["grants"]["source_types"] == ["other_agent"]


def test_only_an_operator_manages_keys(acme: Acme) -> None:
    """SPEC A4, A5: nobody hands themselves a role."""
    answer = acme.call("POST", "/v1/credentials", {"name": "mine", "roles": ["reviewer"]}, who="bot")

    assert (answer.status_code, problem_code(answer)) == (403, "forbidden")
    assert acme.call("POST", "/v1/memories", proposal()).status_code == 201


def test_keys_are_listed_page_by_page(acme: Acme) -> None:
    """SPEC S2: each once, oldest first, until there is no next page."""
    everybody = [key["id"] for key in acme.call("GET", "/v1/credentials", who="operator").json()["items"]]

    pages = [acme.call("GET", "/v1/credentials?limit=4", who="operator").json()]
    while pages[-1]["next_cursor"] is not None:
        address = f"/v1/credentials?limit=4&cursor={pages[-1]['next_cursor']}"
        pages.append(acme.call("GET", address, who="operator").json())

    assert len(everybody) == 6
    assert [[key["id"] for key in page["items"]] for page in pages] == [everybody[:4], everybody[4:]]
