"""Alerts over HTTP: newest first, page by page, for those whose work it is (SPEC F6, I3)."""

from collections.abc import Iterator

import pytest
from tests.entrypoints.http_api.acme import Acme, problem_code, running
from tests.stores.engine import Engine

from tenure.core.events import AlertRaised, Event
from tenure.usecases.ports import Append
from tenure.usecases.sealing import seal


def raise_alert(acme: Acme, number: int, tenant: str = "acme") -> None:
    """Raise one as upkeep does."""
    pipeline = acme.node.pipeline
    event = Event(
        tenant=tenant,
        at=acme.clock.now(),
        actor="upkeep",
        data=AlertRaised(kind="forget-failed", message=f"alert {number}", about=f"forget-{number}"),
    )
    pipeline.store.append([Append(tenant=tenant, events=(seal(event, pipeline.keyring),))])


@pytest.fixture(scope="module")
def alarmed(shared_engine: Engine) -> Iterator[Acme]:
    """Acme with five alerts, and one of another tenant."""
    with running(shared_engine) as acme:
        for number in range(5):
            raise_alert(acme, number)
        raise_alert(acme, 9, tenant="other")
        yield acme


def test_alerts_are_read_page_by_page_newest_first(alarmed: Acme) -> None:
    """Each once, with what it is about and when it was raised; the last page leads nowhere."""
    pages = [alarmed.call("GET", "/v1/alerts?limit=2", who="officer").json()]
    while pages[-1]["next_cursor"] is not None:
        address = f"/v1/alerts?limit=2&cursor={pages[-1]['next_cursor']}"
        pages.append(alarmed.call("GET", address, who="officer").json())
    found = [one for page in pages for one in page["items"]]

    assert [one["about"] for one in found] == [f"forget-{number}" for number in (4, 3, 2, 1, 0)]
    assert [one["message"] for one in found] == [f"alert {number}" for number in (4, 3, 2, 1, 0)]
    assert [one["seq"] for one in found] == sorted((one["seq"] for one in found), reverse=True)
    assert {one["kind"] for one in found} == {"forget-failed"}
    assert all(one["raised_at"].endswith("Z") for one in found)
    assert [len(page["items"]) for page in pages] == [2, 2, 1]


def test_a_full_last_page_leads_nowhere(alarmed: Acme) -> None:
    """No page is empty but that of a tenant without alerts."""
    whole = alarmed.call("GET", "/v1/alerts?limit=5", who="operator").json()
    nobody = alarmed.token("auditor", "third", roles=["auditor"])

    assert (len(whole["items"]), whole["next_cursor"]) == (5, None)
    assert alarmed.call("GET", "/v1/alerts", token=nobody).json() == {"items": [], "next_cursor": None}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=many", "limit"),
        ("cursor=elsewhere", "cursor"),
        ("cursor=after:3", "cursor"),
        ("cursor=before:", "cursor"),
        ("cursor=before:-1", "cursor"),
        ("cursor=before:%C2%B2", "cursor"),
        (f"cursor=before:{'9' * 30}", "cursor"),
        ("tenant=other", "tenant"),
    ],
)
def test_an_odd_page_is_refused(alarmed: Acme, query: str, field: str) -> None:
    """SPEC S2: by the parameter at fault."""
    answer = alarmed.call("GET", f"/v1/alerts?{query}", who="officer")

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == field


def test_alerts_are_for_those_whose_work_it_is(alarmed: Acme) -> None:
    """SPEC A4: a reviewer looks into them, a bot does not."""
    answer = alarmed.call("GET", "/v1/alerts", who="bot")

    assert (answer.status_code, problem_code(answer)) == (403, "forbidden")
    assert alarmed.call("GET", "/v1/alerts", who="ann").status_code == 200


@pytest.mark.parametrize(("kind", "number"), [("forget-failed", 5), ("write_surge", 0), ("", 0)])
def test_alerts_of_one_kind_are_read_alone(alarmed: Acme, kind: str, number: int) -> None:
    """SPEC I3: page by page as well."""
    page = alarmed.call("GET", f"/v1/alerts?kind={kind}&limit=2", who="officer").json()

    assert len(page["items"]) == min(number, 2)
    assert (page["next_cursor"] is not None) == (number > 2)
