"""Whether a proposal is well formed: every bad field is named, and its text is quoted in no message."""

import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from msgspec.structs import replace
from tests.core.examples import MODEST, NOW, id_of, proposal, source, texts

from tenure.core.errors import InvalidRequest
from tenure.core.identity import Scope, Tier
from tenure.core.proposals import Remember, canonical, check_remember
from tenure.core.vocabulary import Claim

NAIVE = datetime(2026, 5, 1)  # noqa: DTZ001 -- a time without a zone is what is refused here
LONG = "x" * 501
CLAIM = Claim(entity="phone", attribute="colour", value="blue")
TASK = Scope(tier=Tier.TASK, id="task-1")

BAD: list[tuple[str, dict[str, object]]] = [
    ("agent", {"agent": ""}),
    ("agent", {"agent": " support"}),
    ("agent", {"agent": "a" * 201}),
    ("purpose", {"purpose": "a\nb"}),
    ("subject", {"subject": ""}),
    ("subject", {"subject": "<b>"}),
    ("subject", {"subject": "a\x00b"}),
    ("key", {"key": ""}),
    ("key", {"key": "a\ud800"}),
    ("scope.id", {"scope": replace(TASK, id="")}),
    ("scope.session", {"scope": replace(TASK, session="")}),
    ("scope.user", {"scope": replace(TASK, user="\t")}),
    ("content", {"content": "a\x00b"}),
    ("content", {"content": "a\ud800b"}),
    ("content", {"content": "\udfff"}),
    ("source.id", {"source": source(id="")}),
    ("source.id", {"source": source(id="a\nb")}),
    ("source.id", {"source": source(id=" mail-1")}),
    ("source.id", {"source": source(id=LONG)}),
    ("source.version", {"source": source(version="")}),
    ("source.version", {"source": source(version=LONG)}),
    ("source.thread", {"source": source(thread="a\x00")}),
    ("source.thread", {"source": source(thread="thread-1 ")}),
    ("source.uri", {"source": source(uri="https://a.example/\x00")}),
    ("source.uri", {"source": source(uri="x" * 2_001)}),
    ("source.position", {"source": source(position=-1)}),
    ("source.position", {"source": source(position=2**53)}),
    ("source.observed_at", {"source": source(observed_at=NAIVE)}),
    ("source.observed_at", {"source": source(observed_at=NOW + timedelta(minutes=5, seconds=1))}),
    ("confidence", {"confidence": -0.01}),
    ("confidence", {"confidence": 1.01}),
    ("confidence", {"confidence": float("nan")}),
    ("confidence", {"confidence": float("inf")}),
    ("claim.entity", {"claim": replace(CLAIM, entity="")}),
    ("claim.entity", {"claim": replace(CLAIM, entity=LONG)}),
    ("claim.attribute", {"claim": replace(CLAIM, attribute="a\x00")}),
    ("claim.value", {"claim": replace(CLAIM, value="\ud800")}),
    ("claim.value", {"claim": replace(CLAIM, value=LONG)}),
    ("expires_at", {"expires_at": NAIVE}),
    ("valid_from", {"valid_from": NAIVE}),
    ("valid_to", {"valid_to": NAIVE}),
    ("valid_from", {"valid_from": NOW, "valid_to": NOW}),
    ("valid_from", {"valid_from": NOW, "valid_to": NOW - timedelta(days=1)}),
    ("derived_from", {"derived_from": tuple(id_of(number) for number in range(101))}),
]
GOOD: list[dict[str, object]] = [
    {},
    {"agent": "a" * 200, "subject": "Ann-Marie @home", "key": "phone/preferred"},
    {"agent": "support|night", "subject": "auth0|7", "key": "a|b", "scope": replace(TASK, id="task|1")},
    {"source": source(id="<CAF+9d=x@mail.example>", version='W/"33a64df5"', thread="Re: hello, (you) & me?")},
    {"source": source(id="x" * 500, version="x" * 500, thread="x" * 500)},
    {"scope": replace(TASK, session="session-1", user="customer-7")},
    {"content": "tabs\tand\nlines, 日本語, emoji 🙂"},
    {"source": source(uri="x" * 2_000, version="3", thread="thread-1", position=0)},
    {"source": source(position=2**53 - 1, observed_at=NOW + timedelta(minutes=5))},
    {"source": source(observed_at=NOW.astimezone(timezone(timedelta(hours=9))))},
    {"confidence": 0.0},
    {"confidence": 1},
    {"claim": replace(CLAIM, value="x" * 500)},
    {"valid_from": NOW, "valid_to": NOW + timedelta(microseconds=1)},
    {"derived_from": tuple(id_of(number) for number in range(100))},
]


@pytest.mark.parametrize(("field", "change"), BAD)
def test_a_bad_field_is_refused_by_its_name(field: str, change: dict[str, object]) -> None:
    """SPEC L1, S2: bad input is a 422 that names the field, and nothing else is raised."""
    with pytest.raises(InvalidRequest) as caught:
        check_remember(proposal(**change), NOW)

    assert caught.value.field == field
    assert field in caught.value.message
    assert caught.value.details == {"field": field}


@pytest.mark.parametrize("change", GOOD)
def test_what_lies_just_within_the_limits_is_well_formed(change: dict[str, object]) -> None:
    """SPEC L1: a limit is where it is said to be."""
    check_remember(proposal(**change), NOW)


@pytest.mark.parametrize("side", ["content", "key"])
def test_a_refusal_quotes_nothing_of_what_was_proposed(side: str) -> None:
    """SPEC E6: content is never in an error message."""
    with pytest.raises(InvalidRequest) as caught:
        check_remember(proposal(**{side: "confidential \x00 figure"}), NOW)

    assert "confidential" not in f"{caught.value.message} {caught.value.hint} {caught.value.details}"


def test_a_proposal_that_says_no_more_than_it_must_expects_a_new_memory() -> None:
    """SPEC L8: every write names the version it expects; a new memory's is 0."""
    assert (proposal().expected_version, proposal().confidence) == (0, 1.0)
    assert "trust" not in Remember.__struct_fields__
    assert "tenant" not in Remember.__struct_fields__


@pytest.mark.parametrize(
    ("wording", "same"),
    [
        ("Prefers e-mail", "prefers E-MAIL"),
        ("Prefers e-mail", "  Prefers \t e-mail\n"),
        ("Prefers e-mail", "Ｐｒｅｆｅｒｓ e-mail"),  # noqa: RUF001 -- wide letters are what is tested
        ("caf\u00e9", "cafe\u0301"),
        ("Straße", "STRASSE"),
        ("\u0390", "\u0390".upper()),
    ],
)
def test_case_width_and_spacing_do_not_make_another_memory(wording: str, same: str) -> None:
    """SPEC M7, F4b: the fingerprint of the same value in another spelling is equal."""
    assert canonical(wording) == canonical(same)


def test_other_words_do_make_another_memory() -> None:
    """SPEC T2: nginx on port 80 and nginx on port 81 stay two memories."""
    assert canonical("nginx on port 80") != canonical("nginx on port 81")


@MODEST
@given(text=texts)
@example(text="\u0390")
@example(text="\u1fb7")
def test_the_canonical_wording_of_a_canonical_wording_is_itself(text: str) -> None:
    """SPEC M7: what was stored in its canonical wording has the fingerprint of what it came from."""
    assert canonical(canonical(text)) == canonical(text)


@MODEST
@given(text=texts)
def test_composed_and_decomposed_letters_are_the_same_wording(text: str) -> None:
    """SPEC F4b: a forgotten value does not come back by being spelled in pieces."""
    assert canonical(unicodedata.normalize("NFD", text)) == canonical(text)


def test_times_are_compared_across_zones() -> None:
    """SPEC M4: a source seen a minute ago in another zone does not lie in the future."""
    elsewhere = (NOW - timedelta(minutes=1)).astimezone(timezone(timedelta(hours=-8)))

    check_remember(proposal(source=source(observed_at=elsewhere)), NOW.astimezone(UTC))
