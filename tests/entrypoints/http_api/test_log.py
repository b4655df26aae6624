"""The event log over HTTP: all that happened, none of what was said (SPEC E1, E6)."""

from tests.entrypoints.http_api.acme import Acme


def test_the_log_tells_everything_but_the_content(acme: Acme) -> None:
    """Positions without gaps, a link on each event, no content, no hash of a secret."""
    memory = acme.remember("Prefers letters on blue paper", key="stationery")
    acme.call("POST", "/v1/forget", {"subject": "customer-7"}, who="officer")

    page = acme.call("GET", "/v1/log?limit=1000", who="auditor")

    items = page.json()["items"]
    assert [item["seq"] for item in items] == list(range(1, page.json()["head"] + 1))
    assert all(len(item["link"]) == 64 for item in items)
    assert items[-2]["type"] == "memory.admitted"
    assert items[-2]["memory_id"] == memory["id"]
    assert items[-1]["type"] == "subject.forgotten"
    for said in ("blue paper", "stationery", "secret_hash"):
        assert said not in page.text


def test_the_log_is_read_page_by_page(acme: Acme) -> None:
    """``after`` is the last position that was seen."""
    with acme.node.store.reading() as reading:
        head = reading.head("acme")[0]

    first = acme.call("GET", "/v1/log?limit=2", who="auditor").json()["items"]
    rest = acme.call("GET", f"/v1/log?after={first[-1]['seq']}", who="auditor").json()["items"]

    assert [item["seq"] for item in (*first, *rest)][:head] == list(range(1, head + 1))


def test_a_tenant_reads_its_own_log_alone(acme: Acme) -> None:
    """SPEC M2."""
    acme.remember()
    token = acme.token("auditor", "other", roles=["auditor"])

    page = acme.call("GET", "/v1/log", token=token).json()

    assert [item["type"] for item in page["items"]] == ["key.created"]
