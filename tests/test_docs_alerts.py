"""The pages about alerts and figures name those that there are, and no other (SPEC I3, S4)."""

import re

import msgspec
from prometheus_client.parser import text_string_to_metric_families
from tests.test_docs import DOCS, blocks, table, text_of

from tenure.core import probe_alerts
from tenure.core.read_scanning import SPLIT_PAYLOAD
from tenure.core.watching import AlertKind
from tenure.engines.webhook import signature
from tenure.entrypoints.http_api.metrics import Metrics
from tenure.usecases.notifying import Told

FORGET_FAILED = "forget-failed"


def test_every_kind_of_alert_is_explained() -> None:
    """SPEC I3: what it means and what to do, on the page of the alerts and in the reference."""
    kinds = sorted([*AlertKind, *probe_alerts.KINDS, FORGET_FAILED, SPLIT_PAYLOAD])
    page = re.findall(r"^\| `([\w-]+)` \|", text_of("docs/capabilities/alerts.md"), re.MULTILINE)

    assert sorted(page) == kinds
    assert sorted(row[0] for row in table("docs/reference.md", "Alerts")) == kinds


def test_every_figure_is_explained_and_no_other() -> None:
    """SPEC S4: what can be watched stands on the page for whoever runs it, its example rules included."""
    page = text_of("docs/operations.md")
    text = Metrics().text().decode()
    families = list(text_string_to_metric_families(text))
    names = {
        f"{one.name}_total" if one.type == "counter" else one.name
        for one in families
        # When each counter began: the client library adds it.
        if not one.name.endswith("_created")
    }
    named = set(re.findall(r"\btenure_(?!app\b|keys\b)\w+", page))

    assert sorted(names - named) == []
    parts = {f"{name}_{part}" for name in names for part in ("bucket", "count", "sum")}
    assert sorted(named - names - parts) == []


def test_what_the_receiver_is_sent_is_as_printed() -> None:
    """SPEC I3: the example has the fields of a real one, in their order."""
    (printed,) = blocks(DOCS / "capabilities" / "alerts.md", "json")

    assert list(msgspec.json.decode(printed)) == [field.name for field in msgspec.structs.fields(Told)]
    assert msgspec.json.decode(printed, type=Told, strict=True).type == "alert.raised"


def test_the_check_that_a_receiver_makes_works_as_printed() -> None:
    """SPEC I3: what the page gives to copy accepts what is signed, and nothing else."""
    (printed,) = blocks(DOCS / "capabilities" / "alerts.md", "python")
    defined: dict[str, object] = {}
    exec(printed, defined)  # noqa: S102 -- the page's own code is what is tested
    is_ours = defined["is_ours"]
    assert callable(is_ours)
    secret, body = bytes(32), b"{}"
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": "1674087231",
        "webhook-signature": signature(secret, "msg_1", "1674087231", body),
    }

    assert is_ours(secret, headers, body)
    assert not is_ours(secret, headers, b"{ }")
    assert not is_ours(secret, {**headers, "webhook-id": "msg_2"}, body)
    assert not is_ours(bytes(31) + b"x", headers, body)
