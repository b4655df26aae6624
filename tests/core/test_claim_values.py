"""Values of claims: equal things are equal, unlike ones differ, and what cannot be told is unknown."""

from itertools import combinations
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.claim_amounts import amount, number
from tenure.core.claim_dates import day_text
from tenure.core.claim_values import (
    Differs,
    TypedValue,
    ValueType,
    differs,
    named,
    normalised,
)

EQUAL = (
    ("port", ("8080", "Port 8080", "port  8080.", "8080/tcp", "TCP port 8080")),
    ("host", ("EXAMPLE.com.", "example.com", " `example.com` ")),
    ("server", ("DB1", "db1")),
    ("", ("2001:DB8::1", "2001:db8:0::1", "[2001:db8::1]")),
    ("", ("[::1]:8080", "[0::1]:8080")),
    ("", ("http://x:80/", "http://x/", "HTTP://X", "http://X.:80")),
    ("", ("https://a.example/p?q=1#f", "https://A.example:443/p?q=1#f")),
    ("", ("/etc/nginx/", "/etc//nginx", "/etc/./nginx")),
    ("", ("C:\\Data\\a", "c:/data/A/")),
    ("version", ("v1.10", "1.10", "version 1.10", "Release 1.10")),
    ("", ("v1.10", "V1.10")),
    ("price", ("EUR 1,200.50", "1200.50 €", "€1200.5", "1.200,50 EUR", "1 200,50 euros")),
    ("", ("€5 per month", "5 EUR/month", "5 euros / month")),
    ("", ("500 requests per second", "500 req/s", "500 request/sec")),
    ("", ("30s", "30 seconds", "0.5 min", "30000 ms")),
    ("", ("1 GiB", "1024 MiB", "1073741824 bytes")),
    ("", ("three nodes", "3 nodes", "3 node")),
    ("", ("5 million", "5,000,000", "5000000")),
    ("", ("15 %", "15%", "15 percent")),
    ("", ("3 May 2026", "2026-05-03", "May 3, 2026", "3rd of May 2026", "Sunday, 3 May 2026", "3 may 2026")),
    ("", ("25/12/2026", "12/25/2026", "25.12.2026")),
    ("", ("2026-05-03T12:00:00Z", "2026-05-03T14:00:00+02:00")),
    ("", ("true", "on", "Enabled", "yes", "turned on")),
    ("", ("false", "off", "disabled", "no")),
    ("", ("Kim@Example.com", "kim@example.COM.", "mailto:kim@example.com")),
    ("", ("HTTPS", "https")),
    ("database", ("Postgres", "PostgreSQL", "postgresql")),
    ("", ("The Blue Team", "blue  team", "blue-team")),
)  # fmt: skip


@pytest.mark.parametrize(("attribute", "ways"), EQUAL)
def test_equal_things_are_equal_however_they_are_written(attribute: str, ways: tuple[str, ...]) -> None:
    """SPEC T2: structured fields that say the same do not veto a merge."""
    assert {normalised(way, attribute=attribute) for way in ways} == {
        normalised(ways[0], attribute=attribute)
    }


@pytest.mark.parametrize(
    ("value", "attribute", "expected"),
    [
        ("Port 8080", "", TypedValue(type=ValueType.PORT, text="8080")),
        ("8080", "", TypedValue(type=ValueType.AMOUNT, text="8080")),
        ("70000", "port", TypedValue(type=ValueType.AMOUNT, text="70000")),
        ("example.com", "", TypedValue(type=ValueType.HOST, text="example.com")),
        ("10.0.0.5:5432", "", TypedValue(type=ValueType.ADDRESS, text="10.0.0.5:5432")),
        ("TLS", "", TypedValue(type=ValueType.PROTOCOL, text="tls")),
        ("http://[bad", "", TypedValue(type=ValueType.TEXT, text="http bad")),
        ("~/notes", "", TypedValue(type=ValueType.PATH, text="~/notes")),
        ("/", "", TypedValue(type=ValueType.PATH, text="/")),
        ("1.2.3", "", TypedValue(type=ValueType.VERSION, text="1.2.3")),
        ("1.2.3.4", "", TypedValue(type=ValueType.HOST, text="1.2.3.4")),
        ("1.10", "", TypedValue(type=ValueType.TEXT, text="1.10")),
        ("nginx.conf", "", TypedValue(type=ValueType.TEXT, text="nginx.conf")),
        ("Node.js", "", TypedValue(type=ValueType.TEXT, text="node.js")),
        ("1.200 EUR", "", TypedValue(type=ValueType.TEXT, text="1.200 eur")),
        ("05/03/2026", "", TypedValue(type=ValueType.TEXT, text="05 03 2026")),
        ("31 February 2026", "", TypedValue(type=ValueType.TEXT, text="31 february 2026")),
        ("", "", TypedValue(type=ValueType.TEXT, text="")),
    ],
)
def test_a_value_has_the_type_that_it_shows_and_text_where_it_could_be_several(
    value: str, attribute: str, expected: TypedValue
) -> None:
    """SPEC T2, T3: unsure means free text."""
    assert normalised(value, attribute=attribute) == expected


@pytest.mark.parametrize(
    ("one", "other", "attribute", "expected"),
    [
        ("80", "8080", "port", Differs.YES),
        ("1.10", "1.1", "version", Differs.YES),
        ("1.10", "1.1", "", Differs.UNKNOWN),
        ("1.10", "2.5", "", Differs.YES),
        ("1.2", "1.2.3", "version", Differs.UNKNOWN),
        ("1.2", "1.23", "version", Differs.YES),
        ("EUR 5", "USD 5", "", Differs.UNKNOWN),
        ("EUR 5", "EUR 6", "", Differs.YES),
        ("5 GB", "5000 MB", "", Differs.UNKNOWN),
        ("30", "30 s", "", Differs.UNKNOWN),
        ("30 s", "30 min", "", Differs.YES),
        ("8080", "Port 8080", "", Differs.NO),
        ("May 2026", "2026-05-03", "", Differs.UNKNOWN),
        ("June 2026", "2026-05-03", "", Differs.YES),
        ("localhost", "127.0.0.1", "", Differs.UNKNOWN),
        ("a.example.com", "b.example.com", "", Differs.YES),
        ("https://x.example/a", "https://x.example/a/", "", Differs.UNKNOWN),
        ("https://x.example/a%20b", "https://x.example/ab", "", Differs.UNKNOWN),
        ("./data", "/srv/data", "", Differs.UNKNOWN),
        ("/srv/data", "/srv/Data", "", Differs.YES),
        ("nginx", "nginx reverse proxy", "", Differs.UNKNOWN),
        ("Kim", "Kimberly", "", Differs.UNKNOWN),
        ("window seats", "aisle seats", "", Differs.YES),
        ("window seat", "window seats", "", Differs.UNKNOWN),
        ("kim@a.example", "kim@b.example", "", Differs.YES),
        ("on", "off", "", Differs.YES),
        ("on", "1", "", Differs.UNKNOWN),
        ("53/udp", "53/tcp", "port", Differs.UNKNOWN),
        ("100 Mb/s", "100 MB/s", "", Differs.UNKNOWN),
        ("5 G", "5 g", "", Differs.UNKNOWN),
        ("*.example.com", "example.com", "", Differs.UNKNOWN),
        ("active", "enabled", "", Differs.UNKNOWN),
    ],
)
def test_values_differ_only_where_no_reading_makes_both_true(
    one: str, other: str, attribute: str, expected: Differs
) -> None:
    """SPEC T3: what cannot be compared is neither a contradiction nor a duplicate."""
    mine, theirs = normalised(one, attribute=attribute), normalised(other, attribute=attribute)

    assert differs(mine, theirs) is expected
    assert differs(theirs, mine) is expected


def test_values_of_different_rows_are_never_equal() -> None:
    """SPEC T2: what is written otherwise and means otherwise stays apart."""
    rows = [normalised(ways[0], attribute=attribute) for attribute, ways in EQUAL]

    assert all(one != other for one, other in combinations(rows, 2) if one.type is not ValueType.VERSION)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1,200", "1200"), ("1.200", None), ("1,200.50", "1200.5"), ("1.200,50", "1200.5"), ("12,50", "12.5"),
     ("1,2,3", None), ("1 000 000", "1000000"), ("-5", "-5"), ("1.234.567", "1234567"), ("1,23,456", None)],
)  # fmt: skip
def test_a_number_is_read_where_there_is_one_way_to_read_it(text: str, expected: str | None) -> None:
    """SPEC T3: a point may part thousands in half of Europe, and then nothing is read."""
    found = number(text)

    assert (None if found is None else f"{found.normalize():f}") == expected


@pytest.mark.parametrize(
    "text", ["", "EUR", "five and six", "1-2 days", "3 x 4", "EUR 5 USD", "5 5 5 a b c d", "x" * 80]
)
def test_what_is_no_amount_gives_none(text: str) -> None:
    """SPEC T3: ranges and sums are no amounts."""
    assert amount(text) is None


@pytest.mark.parametrize(
    "text", ["", "0000-05-03", "2026-13", "May", "3 May", "99 May 2026", "2026-05-03T25:00", "tomorrow"]
)
def test_what_is_no_date_gives_none(text: str) -> None:
    """SPEC T3: a day without its year is another one next year."""
    assert day_text(text) is None


def test_names_lose_their_case_spacing_punctuation_and_article() -> None:
    """SPEC T3: the same entity is found however it is written."""
    assert {named(way) for way in ("The Check-out  API", "check_out api.", "our Check-Out API")} == {
        "check out api"
    }


@MODEST
@given(st.text(max_size=600), st.sampled_from(["", "port", "version", "host", "price"]))
def test_any_value_is_normalised_the_same_each_time_and_equals_itself(value: str, attribute: str) -> None:
    """SPEC T3: nothing breaks it, and its form is a form of the same value."""
    found = normalised(value, attribute=attribute)

    assert normalised(value, attribute=attribute) == found
    assert differs(found, found) is Differs.NO


@MODEST
@given(st.text(max_size=40), st.text(max_size=40))
def test_differing_is_symmetric(one: str, other: str) -> None:
    """SPEC T3: the order of two claims does not matter."""
    mine, theirs = normalised(one), normalised(other)

    assert differs(mine, theirs) is differs(theirs, mine)


@MODEST
@given(st.text(alphabet="0123456789.,-/: vport@EUR€%http'", max_size=60))
def test_figures_of_any_sort_are_read_without_a_fault(value: str) -> None:
    """SPEC T3: half a date, half an address, half an amount."""
    assert normalised(value).text is not None


@pytest.mark.parametrize(
    "text",
    [
        "1,000" * 90,
        "1 " * 250,
        "a." * 250,
        "a-" * 250,
        "port " * 100,
        "1." * 250,
        "/." * 250,
        "a@" * 250,
        "9" * 500,
    ],
)
def test_hostile_values_take_little_time(text: str) -> None:
    """A value made to waste time wastes none."""
    began = process_time()
    normalised(text)

    assert process_time() - began < 0.2
