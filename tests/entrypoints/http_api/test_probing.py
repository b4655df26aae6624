"""Recalls that have what stale memories name looked at, over HTTP (SPEC T6)."""

from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.engines.probing.talker import Talker, talker, with_status
from tests.entrypoints.http_api.acme import UNLIMITED, Acme, Json, running
from tests.stores.engine import Engine

from tenure.config import Probes


@pytest.fixture
def server() -> Iterator[Talker]:
    """A server on this machine, on which nothing is found."""
    with talker() as it:
        it.says = lambda _request: [with_status("404 Gone")]
        yield it


@pytest.fixture
def probed(engine: Engine, server: Talker) -> Iterator[Acme]:
    """Acme, whose operator allows it that server, with a stale memory that names it."""
    probes = Probes(allow=(f"acme {server.url}",), open_networks=("127.0.0.1/32",))
    with running(engine, msgspec.structs.replace(UNLIMITED, probes=probes)) as acme:
        acme.remember(f"The status page is at {server.url}/health.")
        acme.clock.ahead = timedelta(days=8)
        yield acme


def asked(acme: Acme, **more: object) -> Json:
    """What a recall answers."""
    answer = acme.call("POST", "/v1/recall", {"query": "where is the status page?", **more})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_a_failed_probe_stands_beside_the_item_and_in_the_context(probed: Acme, server: Talker) -> None:
    """SPEC T6: outcome, time and a note that says nothing of the address; later recalls show it too."""
    found, requests = asked(probed, probe=True), len(server.got)

    later = asked(probed)

    (item,) = found["items"]
    assert set(item["probe"]) == {"outcome", "probed_at", "note"}
    assert item["probe"]["outcome"] == "fails"
    assert str(server.port) not in item["probe"]["note"]
    assert item["probe"]["note"] in found["context"]
    assert later["items"][0]["probe"] == item["probe"]
    assert len(server.got) == requests > 0


def test_somebody_has_something_to_do(probed: Acme, server: Talker) -> None:
    """SPEC T6, I3: among the alerts, once, without a word of what was looked at."""
    (item,) = asked(probed, probe=True)["items"]
    asked(probed, probe=True)

    (alert,) = probed.call("GET", "/v1/alerts", who="operator").json()["items"]

    assert (alert["kind"], alert["about"]) == ("probe_failed", item["memory"]["id"])
    assert str(server.port) not in alert["message"]


def test_probes_are_counted_by_what_they_came_to(probed: Acme) -> None:
    """SPEC S4: kinds and outcomes alone."""
    probed.remember("The docs are at https://elsewhere.example/.")
    probed.clock.ahead = timedelta(days=16)
    asked(probed, probe=True)

    text = probed.client.get("/metrics").text
    figures = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }

    assert figures["tenure_probes_total", "url", "fails"] == 1
    assert figures["tenure_probes_total", "url", "unknown"] == 1
    assert figures["tenure_probes_refused_total", "url"] == 1
    assert "elsewhere" not in text


def test_where_probes_are_off_the_answer_says_so(acme: Acme) -> None:
    """SPEC T6: off unless an operator allows something, and never an error."""
    acme.remember("The status page is at https://status.example/.")
    acme.clock.ahead = timedelta(days=8)

    wanted, unasked = asked(acme, probe=True), asked(acme, probe=False)

    assert wanted["without"] == ["probes"]
    assert "probe" not in wanted["items"][0]
    assert "without" not in unasked


@pytest.mark.parametrize("field", ["as_of", "valid_at"])
def test_another_time_cannot_be_looked_at(shared: Acme, field: str) -> None:
    """SPEC R8, T6: refused, since a look now would say nothing of then."""
    body = {"query": "q", "probe": True, field: "2026-01-01T00:00:00Z"}

    refused = shared.call("POST", "/v1/recall", body)

    assert (refused.status_code, refused.json()["field"]) == (422, "probe")
