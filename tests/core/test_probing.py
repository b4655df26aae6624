"""What memories name and what looks at it say, as pure rules (SPEC T6)."""

from datetime import UTC, datetime, timedelta

import pytest

from tenure.core.probing import (
    TARGETS_PER_MEMORY_MAX,
    Place,
    ProbeOutcome,
    ProbeVerdict,
    Reason,
    Target,
    TargetKind,
    advice,
    outcome_of,
    place_of,
    target,
    targets_of,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "text", "what"),
    [
        ("url", "HTTPS://Status.Example.COM", "https://status.example.com/"),
        ("url", "https://status.example.com:443/a", "https://status.example.com/a"),
        ("url", "http://status.example.com:443/", "http://status.example.com:443/"),
        ("url", "http://status.example.com./x#part", "http://status.example.com/x"),
        ("url", "http://[2606:4700:0:0:0:0:0:1]:81/%41", "http://[2606:4700::1]:81/%41"),
        ("url", "https://web.example/~a/b;c=1,2/x.html", "https://web.example/~a/b;c=1,2/x.html"),
        ("endpoint", "DB.example.com:5432", "db.example.com:5432"),
        ("endpoint", "[2606:4700::1]:22", "[2606:4700::1]:22"),
        ("endpoint", "10.0.0.7:80", "10.0.0.7:80"),
        ("dns_name", "API.example.com.", "api.example.com"),
        ("dns_name", "xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("path", "/etc/nginx/nginx.conf", "/etc/nginx/nginx.conf"),
        ("path", "/etc/nginx/", "/etc/nginx"),
        ("path", "/etc/a b/…", "/etc/a b/…"),
        ("flag", "new-checkout", "new-checkout"),
        ("flag", "new-checkout=true", "new-checkout=on"),
        ("flag", "team/a.b:c=off", "team/a.b:c=off"),
    ],
)
def test_a_target_has_one_plain_form(kind: str, text: str, what: str) -> None:
    """SPEC T6: equal things are one target, and the plain form reads as itself."""
    found = target(TargetKind(kind), text)

    assert found == Target(kind=TargetKind(kind), what=what)
    assert target(TargetKind(kind), what) == found


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("url", text)
        for text in (
            "", "status.example.com", "ftp://a.example/", "file:///etc/passwd", "http:///x", "http://a..b/",
            "http://user@a.example/", "http://user:secret@a.example/", "http://a.example@127.0.0.1/",
            "http://a.example\\@b.example/", "http://a.example/\r\nX: y", "http://a.example/ x",
            "http://a.example\n",
            "http://a.example/delete?id=1", "http://a.example?x", "http://a.example/../x", "http://a.example/.",
            "http://a.example/a/%2e%2E/b", "http://a.example/a%2fb", "http://a.example/a%5Cb",
            "http://a.example/%0", "http://a.example/%00", "http://2130706433/", "http://0x7f000001/",
            "http://0x7f.1/", "http://127.1/",
            "http://0177.0.0.1/", "http://017700000001/", "http://0/", "http://1.2.3.4.5/", "http://256.1.1.1/",
            "http://host.0x7f/", "http://[fe80::1%25eth0]/", "http://[::1/", "http://::1/", "http://[1.2.3.4]/",
            "http://a.example:0/", "http://a.example:65536/", "http://a.example:/", "http://bücher.example/",
            "http://ⓐ.example/", "http://-a.example/", "http://%61.example/",
            "http://a.example/" + "x" * 2_000,
        )
    ]
    + [
        ("endpoint", text)
        for text in ("a.example", "a.example:", "a.example:0", "a.example:x", "::1:80", "a:b:1", "1:1")
    ]
    + [
        ("dns_name", text)
        for text in ("", "10.0.0.1", "::1", "a..b", "a b", "a.example:80", "*.example", "1")
    ]
    + [
        ("path", text)
        for text in (
            "", "/", "etc", "/a//b", "/a/../b", "/a/.", "/a\x00b", "/a\n", "~/x", "/" + "a/" * 70
        )
    ]
    + [("flag", text) for text in ("", "-x", "a b", "a=maybe", "a=", "=on", "a" * 201, "a=on=on")],
)  # fmt: skip
def test_what_cannot_be_read_for_sure_is_no_target(kind: str, text: str) -> None:
    """SPEC T6: spellings that programs read in different ways are looked at by none."""
    assert target(TargetKind(kind), text) is None


def test_a_place_is_read_from_the_plain_form() -> None:
    """SPEC T6: who connects reads the same as who allowed it."""
    assert place_of(Target(kind=TargetKind.URL, what="http://[2606:4700::1]/x")) == Place(
        "http", "2606:4700::1", 80, "/x"
    )
    assert place_of(Target(kind=TargetKind.ENDPOINT, what="db.example:5432")) == Place(
        "tcp", "db.example", 5432, ""
    )
    assert place_of(Target(kind=TargetKind.FLAG, what="x")) is None


def test_a_memory_has_a_few_targets_each_once() -> None:
    """SPEC T6: one memory cannot have a whole network looked at."""
    named = [
        (TargetKind.ENDPOINT, text)
        for text in ("a.example:1", "A.example:1", "nothing", *(f"b.example:{port}" for port in range(1, 20)))
    ]

    found = targets_of(named)

    assert len(found) == TARGETS_PER_MEMORY_MAX
    assert [one.what for one in found[:2]] == ["a.example:1", "b.example:1"]


def test_every_reason_has_an_outcome() -> None:
    """SPEC T6: a reason without a meaning would be an error in the middle of a recall."""
    assert {outcome_of(reason) for reason in Reason} == set(ProbeOutcome)


def verdict(reason: Reason, *, minutes: int = 0) -> ProbeVerdict:
    """A verdict so many minutes past noon."""
    return ProbeVerdict(reason=reason, probed_at=NOON + timedelta(minutes=minutes))


def test_one_failure_is_enough_not_to_act() -> None:
    """SPEC T6: a failed probe marks the item."""
    said = advice([verdict(Reason.CONNECTS), verdict(Reason.REFUSED, minutes=1), verdict(Reason.LATE)])

    assert said is not None
    assert said.outcome is ProbeOutcome.FAILS
    assert said.note == (
        "Do not act on this: what it names was looked at on 2026-03-01 12:01 UTC, "
        "and the connection was refused."
    )


@pytest.mark.parametrize(
    "reason", [reason for reason in Reason if outcome_of(reason) is not ProbeOutcome.FAILS], ids=str
)
def test_what_is_unknown_or_holds_raises_nothing(reason: Reason) -> None:
    """SPEC T6: not to have looked is no failure."""
    said = advice([verdict(reason)])

    assert said is not None
    assert said.outcome is not ProbeOutcome.FAILS
    assert not said.note.startswith("Do not act")


def test_that_a_thing_exists_does_not_make_the_memory_true() -> None:
    """SPEC T5, T6: the note says so, and it says when."""
    said = advice([verdict(Reason.ANSWERS, minutes=5), verdict(Reason.ANSWERS)])

    assert said is not None
    assert said.probed_at == NOON
    assert said.note.endswith("the address answers. That alone does not make it true.")


def test_without_a_look_there_is_no_advice() -> None:
    """SPEC T6: an item that names nothing carries no mark."""
    assert advice([]) is None
