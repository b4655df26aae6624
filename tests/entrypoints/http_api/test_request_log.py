"""One line a request, without a word of what was said (SPEC E6)."""

import io
import logging

import msgspec
from tests.entrypoints.http_api.acme import Acme, proposal

from tenure.config import Log
from tenure.entrypoints.http_api.request_log import open_log, open_process_log

SAID = "the-moon-is-made-of-cheese"


def test_every_request_leaves_one_line(acme: Acme) -> None:
    """Method, route as a template, status, time, credential; nothing else."""
    memory = acme.remember()
    acme.call("GET", f"/v1/memories/{memory['id']}?surely=not")
    acme.client.get("/healthz")
    acme.client.get("/nowhere")
    acme.client.get("/v1/memories")

    lines = [line for line in acme.log_lines() if line["event"] == "request"]

    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", "/v1/memories", 201),
        ("GET", "/v1/memories/{memory_id}", 422),
        ("GET", "/healthz", 200),
        ("GET", "unknown", 404),
        ("GET", "/v1/memories", 401),
    ]
    wanted = {"event", "level", "timestamp", "method", "route", "status", "milliseconds", "credential"}
    assert all(set(line) == wanted for line in lines)
    assert all(line["milliseconds"] >= 0 for line in lines)
    assert lines[0]["credential"] == lines[1]["credential"] is not None
    assert [line["credential"] for line in lines[2:]] == [None, None, None]


def test_nothing_that_was_said_is_logged(acme: Acme) -> None:
    """SPEC E6: content, queries, subjects, keys, reasons, tokens; in good requests and in bad ones."""
    memory = acme.remember(SAID, subject=SAID, key=SAID)
    acme.call("POST", "/v1/memories", proposal(kind=SAID))
    acme.call("POST", "/v1/memories", proposal(**{SAID: SAID}))
    acme.call("POST", "/v1/memories", raw=SAID.encode())
    acme.call("POST", "/v1/recall", {"query": SAID})
    acme.call("GET", f"/v1/memories?subject={SAID}&{SAID}=1")
    acme.call("GET", f"/v1/memories/{SAID}")
    acme.call("GET", f"/{SAID}")
    acme.call(
        "POST", f"/v1/memories/{memory['id']}/revoke", {"expected_version": 1, "reason": SAID}, who="ann"
    )
    acme.call("GET", "/v1/memories", token=SAID)
    acme.call("POST", "/v1/forget", {"subject": SAID}, who="officer", key=SAID)

    logged = acme.log.getvalue()

    assert len(logged.splitlines()) == 11
    assert SAID.encode() not in logged
    assert acme.tokens["bot"].encode() not in logged


def test_a_level_leaves_out_what_is_below_it() -> None:
    """``log.level``."""
    stream = io.BytesIO()
    log = open_log(Log(level="warning"), stream)

    log.info("request")
    log.error("fault")

    assert b"request" not in stream.getvalue()
    assert b"fault" in stream.getvalue()


def test_text_is_for_people() -> None:
    """``log.format``."""
    stream = io.BytesIO()

    open_log(Log(format="text"), stream).info("request", status=200)

    line = stream.getvalue().decode()
    assert line.endswith("info    request status=200\n")


def test_the_whole_process_logs_in_one_shape() -> None:
    """What the library itself logs comes out the same."""
    stream = io.BytesIO()
    library = logging.getLogger("tenure")
    before = (library.handlers, library.propagate)
    try:
        open_process_log(Log(), stream)
        logging.getLogger("tenure.store").warning("receipts lost: %s", "FullError")
    finally:
        library.handlers, library.propagate = before

    entry = msgspec.json.decode(stream.getvalue())
    assert (entry["event"], entry["level"], entry["logger"]) == (
        "receipts lost: FullError",
        "warning",
        "tenure.store",
    )
