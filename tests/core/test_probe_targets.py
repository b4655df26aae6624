"""What a memory names that can be looked at, as pure rules (SPEC T6)."""

import pytest
from tests.core.examples import memory

from tenure.core.probe_targets import named_by
from tenure.core.probing import TARGETS_PER_MEMORY_MAX
from tenure.core.vocabulary import Claim


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("The docs are at https://docs.example.com/A.", ["url https://docs.example.com/A"]),
        ("The database is at db.example.com:5432.", ["endpoint db.example.com:5432"]),
        ("The host of the db is edge-1.shop.example.", ["dns_name edge-1.shop.example"]),
        ("The configuration lives in /etc/nginx/Nginx.conf.", ["path /etc/nginx/Nginx.conf"]),
        ("new-checkout is enabled.", ["flag new-checkout=on"]),
        ("The new-checkout flag is on.", ["flag new-checkout=on"]),
        ("The feature flag new_checkout is off.", ["flag new_checkout=off"]),
        ("new-checkout is not enabled.", ["flag new-checkout=off"]),
        ("new-checkout = on", ["flag new-checkout=on"]),
        ("flag-7 is enabled.", ["flag flag-7=on"]),
        ("checkout-flag is on.", ["flag checkout-flag=on"]),
        # A flag that has no one name, and a part of something else.
        ("Dark mode is enabled.", []),
        ("The API's TLS is enabled.", []),
        # Denied, doubted, or only standing there.
        ("The docs are not at https://docs.example.com/.", []),
        ("Maybe the docs are at https://docs.example.com/.", []),
        ("See https://docs.example.com/ for more about it", []),
        # What is no target, whatever it is claimed to be.
        ("The docs are at https://user:word@docs.example.com/.", []),
        ("The docs are at https://docs.example.com/delete?id=7.", []),
        ("The configuration lives in ~/nginx.conf.", []),
        ("The host of the db is 10.0.0.5.", []),
        ("The proxy is nginx.", []),
    ],
)
def test_only_what_is_said_plainly_is_looked_at(content: str, named: list[str]) -> None:
    """SPEC T6: the claims that a text makes, of the kinds that can be looked at."""
    found = named_by(memory(content=content))

    assert [f"{one.kind} {one.what}" for one in found] == named


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        (
            Claim(entity="docs", attribute="url", value="HTTPS://Docs.Example.com"),
            "url https://docs.example.com/",
        ),
        (
            Claim(entity="db", attribute="address", value="db.example.com:5432"),
            "endpoint db.example.com:5432",
        ),
        (Claim(entity="db", attribute="host", value="edge-1"), "dns_name edge-1"),
        (Claim(entity="nginx", attribute="configuration", value="/etc/nginx/"), "path /etc/nginx"),
        (Claim(entity="new-checkout", attribute="enabled", value="yes"), "flag new-checkout=on"),
        (Claim(entity="new-checkout", attribute="flag", value="off"), "flag new-checkout=off"),
        (Claim(entity="api", attribute="tls", value="on"), None),
        (Claim(entity="dark mode", attribute="enabled", value="on"), None),
        (Claim(entity="api", attribute="port", value="8080"), None),
    ],
)
def test_a_claim_that_was_given_names_its_value(claim: Claim, named: str | None) -> None:
    """SPEC T6: taken as given, by the type of its value."""
    found = named_by(memory(content="It is as it was", claim=claim))

    assert [f"{one.kind} {one.what}" for one in found] == ([] if named is None else [named])


def test_of_a_memory_the_first_few_are_looked_at_and_each_once() -> None:
    """SPEC T6: whoever writes cannot have a whole network looked at by one memory."""
    text = "".join(f"Host {number} is at h{number}.example.com:80. " for number in range(20))
    claim = Claim(entity="host 0", attribute="address", value="h0.example.com:80")

    found = named_by(memory(content=text, claim=claim))

    assert [one.what for one in found] == [
        f"h{number}.example.com:80" for number in range(TARGETS_PER_MEMORY_MAX)
    ]


def test_a_withheld_text_names_nothing() -> None:
    """SPEC T6, L6: nobody learns by a probe what they may not read."""
    claim = Claim(entity="docs", attribute="url", value="https://docs.example.com")

    assert named_by(memory(content=None, claim=claim)) == ()
