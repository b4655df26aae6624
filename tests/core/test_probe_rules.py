"""Who may have what looked at (SPEC T6)."""

import pytest

from tenure.core.probe_rules import Allowances, BadRule, allowances, probe_rule
from tenure.core.probing import Target, TargetKind, target


def of(text: str) -> Target:
    """A target, its kind known by its beginning."""
    for beginning, kind in (("tcp:", "endpoint"), ("dns:", "dns_name"), ("file:", "path"), ("flag:", "flag")):
        if text.startswith(beginning):
            return made(kind, text.removeprefix(beginning))
    return made("url", text)


def made(kind: str, text: str) -> Target:
    """A target that must be one."""
    found = target(TargetKind(kind), text)
    assert found is not None, text
    return found


TABLE = [
    ("https://a.example", "https://a.example/", True),
    ("https://a.example", "https://a.example/any/path", True),
    ("https://a.example", "http://a.example/", False),
    ("https://a.example", "https://a.example:8443/", False),
    ("https://a.example", "https://b.a.example/", False),
    ("https://a.example", "https://a.example.evil.example/", False),
    ("https://A.example:8443", "https://a.example:8443/", True),
    ("https://*.a.example", "https://b.a.example/", True),
    ("https://*.a.example", "https://c.b.a.example/", True),
    ("https://*.a.example", "https://a.example/", False),
    ("https://*.a.example", "https://evila.example/", False),
    ("https://a.example/version", "https://a.example/version", True),
    ("https://a.example/version", "https://a.example/version/", False),
    ("https://a.example/v1/*", "https://a.example/v1/x", True),
    ("https://a.example/v1/*", "https://a.example/v10", False),
    ("http://10.0.0.7:8080", "http://10.0.0.7:8080/x", True),
    ("http://[2606:4700::1]", "http://[2606:4700:0::1]/", True),
    ("tcp://db.example:5432", "tcp:db.example:5432", True),
    ("tcp://db.example:5432", "tcp:db.example:5433", False),
    ("tcp://db.example:8000-8099", "tcp:db.example:8099", True),
    ("tcp://db.example:8000-8099", "tcp:db.example:8100", False),
    ("tcp://*.example:22", "tcp:a.example:22", True),
    ("tcp://db.example:443", "https://db.example/", False),
    ("https://db.example", "dns:db.example", False),
    ("dns:*.example", "dns:a.example", True),
    ("dns:a.example", "dns:b.example", False),
    ("file:/etc/nginx/*", "file:/etc/nginx/nginx.conf", True),
    ("file:/etc/nginx/*", "file:/etc/nginx2/x", False),
    ("file:/etc/nginx/*", "file:/etc/nginx", False),
    ("file:/etc/hosts", "file:/etc/hosts", True),
    ("file:/etc/hosts", "file:/etc/hosts.bak", False),
    ("flag:checkout-*", "flag:checkout-new=on", True),
    ("flag:checkout-*", "flag:search", False),
    ("flag:checkout", "flag:checkout", True),
    ("flag:checkout", "flag:checkout2", False),
    ("flag:*", "flag:anything", True),
]


@pytest.mark.parametrize(("rule", "text", "is_permitted"), TABLE)
def test_a_rule_covers_what_it_says_and_nothing_beside_it(
    rule: str,
    text: str,
    is_permitted: bool,  # noqa: FBT001 -- a case of the table
) -> None:
    """SPEC T6: off unless allowed."""
    assert allowances([f"acme {rule}"]).permits("acme", of(text)) is is_permitted


def test_without_a_rule_nothing_is_allowed() -> None:
    """SPEC T6: probes are off by default."""
    assert not any(Allowances().permits("acme", of(text)) for _, text, _ in TABLE)


def test_the_rules_of_one_tenant_are_no_others() -> None:
    """SPEC T6: the list is each tenant's own; the star is every tenant's."""
    both = allowances(["acme https://a.example", "*  dns:a.example"])

    assert both.permits("acme", of("https://a.example/"))
    assert not both.permits("other", of("https://a.example/"))
    assert both.permits("other", of("dns:a.example"))


@pytest.mark.parametrize(
    "text",
    [
        "", "acme", "https://a.example", "acme https://", "acme https://*", "acme https://*.*.example",
        "acme https://a.*.example", "acme https://a.example/v1*", "acme https://a.example/../*",
        "acme https://a.example/x?y", "acme https://user@a.example", "acme https://127.1", "acme https://*.1.2.3",
        "acme https://[::1%eth0]", "acme https://*.[::1]", "acme ftp://a.example", "acme tcp://a.example",
        "acme tcp://a.example:0", "acme tcp://a.example:9-1", "acme tcp://a.example:1-65536",
        "acme tcp://a.example:*",
        "acme dns:", "acme dns:10.0.0.1", "acme dns:*", "acme file:*", "acme file:/*", "acme file:/a/../b",
        "acme file:/etc*", "acme file:relative", "acme flag:", "acme flag:a b", "acme flag:a=on",
        "acme flag:**",
        "acme everything",
    ],
)  # fmt: skip
def test_what_is_no_rule_is_refused_with_what_one_looks_like(text: str) -> None:
    """SPEC T6: a slip of the pen allows nothing, and says so."""
    with pytest.raises(BadRule, match="write the tenant"):
        probe_rule(text)
