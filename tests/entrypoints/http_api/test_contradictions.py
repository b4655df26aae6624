"""Contradictions and unmerging over HTTP (SPEC T2, T3, S2)."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code, running
from tests.stores.engine import Engine

APPLICATION = {"type": "application", "id": "deploy-1"}
MAIL = {"type": "email", "id": "mail-1"}


def said(acme: Acme, value: str, subject: str = "shop", source: Json = APPLICATION) -> Json:
    """A memory that claims which proxy it is."""
    claim = {"entity": "shop", "attribute": "proxy", "value": value}
    content = f"The proxy of the shop is {value}"
    return acme.remember(content, subject=subject, kind="fact", source=source, claim=claim)


def page(acme: Acme, query: str = "", **more: Any) -> Json:
    """A page of contradictions, as ann sees it."""
    answer = acme.call("GET", f"/v1/contradictions?{query}", **({"who": "ann"} | more))
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def word(keep: object, reason: str = "looked at the host") -> Json:
    """A body of a decision."""
    return {"keep": keep, "reason": reason}


@pytest.fixture(scope="module")
def disputed(shared_engine: Engine) -> Iterator[Acme]:
    """Acme with a contradiction about each of three shops, on which nobody decides."""
    with running(shared_engine) as acme:
        for number in range(3):
            said(acme, "nginx", f"shop-{number}")
            said(acme, "caddy", f"shop-{number}")
        yield acme


def test_contradictions_are_read_page_by_page_newest_first(disputed: Acme) -> None:
    """SPEC T3: each once, with both sides; the last page leads nowhere."""
    pages = [page(disputed, "limit=2")]
    while pages[-1]["next_cursor"] is not None:
        pages.append(page(disputed, f"limit=2&cursor={pages[-1]['next_cursor']}"))
    found = [one for each in pages for one in each["items"]]

    assert [one["subject"] for one in found] == ["shop-2", "shop-1", "shop-0"]
    for one in found:
        assert (one["agent"], one["purpose"], one["effect"], one["because"]) == (
            "support",
            "support",
            "superseded",
            "claim",
        )
        assert (one["believed"]["content"], one["believed"]["status"]) == (
            "The proxy of the shop is caddy",
            "active",
        )
        assert (one["doubted"]["content"], one["doubted"]["status"], one["doubted"]["version"]) == (
            "The proxy of the shop is nginx",
            "superseded",
            2,
        )
        assert one["found_at"].endswith("Z")
        assert (one["resolved_at"], one["kept"]) == (None, None)
    assert [len(each["items"]) for each in pages] == [2, 1]


@pytest.mark.parametrize(
    ("query", "number"),
    [("open=true", 3), ("open=false", 0), ("open=all", 3), ("subject=shop-1", 1), ("agent=sales", 0)],
)
def test_the_list_is_narrowed_as_it_is_asked(disputed: Acme, query: str, number: int) -> None:
    """API.md: by what is open, and by each wall."""
    assert len(page(disputed, query)["items"]) == number


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("open=maybe", "open"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("cursor=elsewhere", "cursor"),
        ("subject=", "subject"),
        ("tenant=other", "tenant"),
    ],
)
def test_an_odd_page_is_refused(disputed: Acme, query: str, field: str) -> None:
    """SPEC S2: by the parameter at fault."""
    answer = disputed.call("GET", f"/v1/contradictions?{query}", who="ann")

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"] == field


@pytest.mark.parametrize("who", ["bot", "officer", "auditor", "operator"])
def test_contradictions_are_for_reviewers(disputed: Acme, who: str) -> None:
    """SPEC A4: listing and deciding are of one role."""
    one = page(disputed)["items"][0]
    listed = disputed.call("GET", "/v1/contradictions", who=who)
    decided = disputed.call("POST", f"/v1/contradictions/{one['id']}/resolve", word("both"), who=who)

    assert [problem_code(answer) for answer in (listed, decided)] == ["forbidden"] * 2


def test_a_reviewer_of_another_agent_sees_none(disputed: Acme) -> None:
    """SPEC M2, A2: what lies beyond the grants is absent."""
    one = page(disputed)["items"][0]
    narrow = disputed.token("narrow", "acme", roles=["reviewer"], agents=["sales"])
    other = disputed.token("other", "other", roles=["reviewer"])

    for token in (narrow, other):
        assert page(disputed, token=token) == {"items": [], "next_cursor": None}
        answer = disputed.call(
            "POST", f"/v1/contradictions/{one['id']}/resolve", word(one["doubted"]["id"]), token=token
        )
        assert (answer.status_code, problem_code(answer)) == (404, "not-found")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"keep": "neither", "reason": "why"}, 422, "keep"),
        ({"keep": "01a22c33-1a4f-7c1b-9a55-5b8f31c0d3aa", "reason": "why"}, 422, "keep"),
        ({"keep": 7, "reason": "why"}, 422, "keep"),
        ({"reason": "why"}, 422, "keep"),
        ({"keep": "both", "reason": ""}, 422, "reason"),
        ({"keep": "both", "reason": " "}, 422, "reason"),
        ({"keep": "both"}, 422, "reason"),
        ({"keep": "both", "reason": "why", "tenant": "other"}, 422, "tenant"),
    ],
)
def test_an_odd_word_is_refused(disputed: Acme, body: Json, status: int, field: str) -> None:
    """SPEC S2: by the field at fault, and nothing is changed."""
    one = page(disputed)["items"][0]
    answer = disputed.call("POST", f"/v1/contradictions/{one['id']}/resolve", body, who="ann")

    assert (answer.status_code, answer.json()["field"]) == (status, field)
    assert len(page(disputed)["items"]) == 3


@pytest.mark.parametrize("name", ["01a22c33-1a4f-7c1b-9a55-5b8f31c0d3aa", "none"])
def test_a_word_on_no_contradiction_is_refused(disputed: Acme, name: str) -> None:
    """SPEC S2: absent, or no id at all."""
    answer = disputed.call("POST", f"/v1/contradictions/{name}/resolve", word("both"), who="ann")

    assert answer.status_code == (422 if name == "none" else 404)


def test_the_one_that_was_displaced_is_kept(acme: Acme) -> None:
    """API.md: `{keep: id, reason}`; the answer has the contradiction and what was moved."""
    nginx, caddy = said(acme, "nginx"), said(acme, "caddy")
    (one,) = page(acme)["items"]
    path = f"/v1/contradictions/{one['id']}/resolve"

    answer = acme.call("POST", path, word(nginx["id"]), who="ann", key="k-1")
    again = acme.call("POST", path, word(nginx["id"]), who="ann", key="k-1")
    late = acme.call("POST", path, word(caddy["id"]), who="ann")

    assert (answer.status_code, again.json()) == (200, answer.json())
    told = answer.json()
    assert (told["contradiction"]["kept"], told["contradiction"]["reason"]) == (
        nginx["id"],
        "looked at the host",
    )
    assert {one["id"]: one["status"] for one in told["memories"]} == {
        nginx["id"]: "active",
        caddy["id"]: "superseded",
    }
    assert (late.status_code, problem_code(late)) == (409, "illegal-transition")
    assert late.json()["kept"] == nginx["id"]
    asked = {"query": "which proxy has the shop?", "subject": "shop"}
    shown = acme.call("POST", "/v1/recall", asked).json()["items"]
    assert [item["memory"]["id"] for item in shown] == [nginx["id"]]
    assert page(acme)["items"] == []
    assert [one["id"] for one in page(acme, "open=false")["items"]] == [one["id"]]


@pytest.mark.parametrize("both", ["both", None])
def test_both_are_kept(acme: Acme, both: str | None) -> None:
    """SPEC T3: said by the word, or by none of the two."""
    said(acme, "nginx")
    waits = said(acme, "caddy", source=MAIL)
    (one,) = page(acme)["items"]
    answer = acme.call("POST", f"/v1/contradictions/{one['id']}/resolve", word(both), who="ann")

    assert answer.status_code == 200, answer.text
    assert answer.json()["contradiction"]["kept"] == "both"
    assert [(one["id"], one["status"], one["trust"]) for one in answer.json()["memories"]] == [
        (waits["id"], "active", "reviewer_verified")
    ]


def test_nobody_lets_in_what_they_proposed(acme: Acme) -> None:
    """SPEC A5: the same refusal as a promotion's."""
    said(acme, "nginx")
    token = acme.token("both", "acme", roles=["writer", "reader", "reviewer"])
    claim = {"entity": "shop", "attribute": "proxy", "value": "caddy"}
    body = {
        "agent": "support",
        "purpose": "support",
        "subject": "shop",
        "kind": "fact",
        "content": "The proxy of the shop is caddy",
        "source": MAIL,
        "claim": claim,
    }
    own = acme.call("POST", "/v1/memories", body, token=token).json()["memory"]
    (one,) = page(acme)["items"]

    resolved = acme.call("POST", f"/v1/contradictions/{one['id']}/resolve", word(own["id"]), token=token)
    promoted = acme.call(
        "POST", f"/v1/memories/{own['id']}/promote", {"expected_version": 1, "reason": "why"}, token=token
    )

    assert (resolved.status_code, problem_code(resolved)) == (403, "forbidden")
    assert (resolved.json()["detail"], resolved.json()["hint"]) == (
        promoted.json()["detail"],
        promoted.json()["hint"],
    )


def test_a_merge_is_shown_and_undone(acme: Acme) -> None:
    """SPEC T2, M5a: `evidence`, `support` and `merged_into` of one memory; then each for itself."""
    one, other = (
        acme.remember("The shop opens at nine", subject="shop", kind="fact", source=APPLICATION | {"id": id_})
        for id_ in ("deploy-1", "crm-1")
    )
    stands = acme.call("GET", f"/v1/memories/{other['id']}", who="ann").json()
    behind = acme.call("GET", f"/v1/memories/{one['id']}", who="ann").json()
    path = f"/v1/memories/{one['id']}/unmerge"
    body = {"expected_version": 2, "reason": "of the other shop"}

    stale = acme.call("POST", path, body | {"expected_version": 1}, who="ann")
    answer = acme.call("POST", path, body, who="ann", key="k-1")
    again = acme.call("POST", path, body, who="ann", key="k-1")
    late = acme.call("POST", path, body | {"expected_version": 3}, who="ann")

    assert (stands["evidence"], stands["merged_into"]) == ([one["id"]], None)
    assert stands["support"] == {"voices": 2, "trusted_voices": 2}
    assert (behind["merged_into"], behind["evidence"], behind["support"]) == (other["id"], [], None)
    assert (stale.status_code, problem_code(stale)) == (409, "version-conflict")
    assert (answer.status_code, again.json()) == (200, answer.json())
    memory = answer.json()["memory"]
    assert (memory["status"], memory["merged_into"], memory["version"]) == ("active", None, 3)
    assert (late.status_code, problem_code(late)) == (409, "illegal-transition")
    assert acme.call("GET", f"/v1/memories/{other['id']}", who="ann").json()["evidence"] == []


@pytest.mark.parametrize("who", ["bot", "officer", "operator"])
def test_unmerging_is_for_reviewers(disputed: Acme, who: str) -> None:
    """SPEC A4: as every decision on what was said is."""
    memory = page(disputed)["items"][0]["doubted"]
    body = {"expected_version": 2, "reason": "why"}
    answer = disputed.call("POST", f"/v1/memories/{memory['id']}/unmerge", body, who=who)
    by_ann = disputed.call("POST", f"/v1/memories/{memory['id']}/unmerge", body, who="ann")

    assert (answer.status_code, problem_code(answer)) == (403, "forbidden")
    assert (by_ann.status_code, problem_code(by_ann)) == (409, "illegal-transition")
    assert by_ann.json()["hint"]
