"""How the matches of a pattern begin: looking only there must never hide one (SPEC M5b)."""

from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.scanning.credentials import CREDENTIALS
from tenure.core.scanning.instructions import INSTRUCTIONS
from tenure.core.scanning.matching import LatePattern, phrase
from tenure.core.scanning.normalising import IN_WORDS, OPENING_CHARACTERS, view_of
from tenure.core.scanning.openings import beginnings_of, openings_of
from tenure.core.scanning.sensitive import SENSITIVE

RULES = tuple(chain.from_iterable(pack.rules for pack in (CREDENTIALS, INSTRUCTIONS, SENSITIVE)))
TOLD = tuple(rule for rule in RULES if not rule.leads and rule.pattern.openings)


def whole(opening: str) -> set[str]:
    """The opening of a word that may go on in any way, or end there."""
    return {opening, *(opening + character for character in IN_WORDS)}


@pytest.mark.parametrize(
    ("source", "openings"),
    [
        (r"\bwallet\b", {"wal"}),
        (r"\b(?:roles?|Groups?) may\b", {"rol", "gro"}),
        (r"(?<![a-z0-9])(?:bc1|ltc1)[a-z]{3}", {"bc1", "ltc"}),
        (r"(?:\bimport|\bfrom) x", {"imp", "fro"}),
        (r"\b(?:(?:both|each) of|all)\b", {"bot", "eac", "all"}),
        (r"\bpay(?:s|ed)?\b|\bsend [(|]", {"pay", "sen"}),
        (r"\b(?P<value>pin|code)\b", {"pin", "cod"}),
        (r"\bif you\b", whole("if")),
        (r"\bifs? you\b", whole("if")),
        (r"\bkeys* are\b", {"key"}),
    ],
)
def test_the_openings_are_those_of_every_alternative(source: str, openings: set[str]) -> None:
    """SPEC M5b: in lower case, as long as is looked at, and with all that a shorter one can grow to."""
    assert openings_of(beginnings_of(source)) == openings


@pytest.mark.parametrize(
    "source",
    [
        "wallet",
        r"\bwallet|purse",
        r"\b(?:the )?wallet",
        r"\b[a-z]{2}[0-9]{2}",
        r"\b\w+ wallet",
        r"(?:^|\n)wallet",
        r"(?<![a-z])wallet",
        r"\bw{0,3}allet",
        r"\bw{,3}allet",
        r"\b(?:my ){,1}wallet",
        r"\b(?=wallet)",
        "",
    ],
)
def test_nothing_is_told_of_what_may_begin_elsewhere(source: str) -> None:
    """SPEC M5b: inside a word, without a word, or with one of which too little is known."""
    assert beginnings_of(source) == ()
    assert openings_of(()) == frozenset()


def test_a_letter_alone_opens_too_many_words() -> None:
    """It is told what a match begins with, and not looked up: most texts have such a word."""
    assert beginnings_of(r"\b(?:I am|we are)") == ("I", "we")
    assert openings_of(("I", "we")) == frozenset()


@pytest.mark.parametrize(
    ("source", "beginnings"),
    [
        (r"\b(?:reveals?|Shows|e-?mail) it\b", ("reveal", "Shows", "e")),
        (r"\bsend <3> (?:all|every)\b", ("send",)),
        (r"\b(?:pay|pays|paying|pay) it\b", ("pay", "pays", "paying")),
    ],
)
def test_a_pattern_is_not_compiled_for_a_word_that_only_looks_alike(
    source: str, beginnings: tuple[str, ...]
) -> None:
    """A word is looked up by its first characters; the pattern says how it must go on."""
    pattern = LatePattern(source, phrase)

    assert pattern.beginnings == beginnings
    assert not pattern.is_compiled
    assert pattern.compiled.pattern
    assert pattern.is_compiled


@pytest.mark.parametrize("at", range(len(TOLD)))
@settings(MODEST, max_examples=8)
@given(data=st.data())
def test_no_match_of_a_rule_begins_otherwise(at: int, data: st.DataObject) -> None:
    """SPEC M5b: whatever a pattern of this package matches begins where its openings are looked for."""
    rule = TOLD[at]
    text = data.draw(st.from_regex(rule.pattern.compiled))
    view = view_of(text, text)
    read = text if rule.cased else view.folded
    places = set(view.places_of(view.starts_with(rule.pattern.openings)))

    found = {match.start() for match in rule.pattern.compiled.finditer(read)}

    assert found <= places
    assert all(read.startswith(rule.pattern.beginnings, place) for place in found)


def test_most_patterns_without_leads_are_tried_at_few_words() -> None:
    """Reading the openings off the patterns is worth it: half of those that would be tried everywhere."""
    without = [rule for rule in (*INSTRUCTIONS.rules, *SENSITIVE.rules) if not rule.leads]

    assert len([rule for rule in without if rule.pattern.openings]) * 2 > len(without)
    assert all(len(one) <= OPENING_CHARACTERS for rule in TOLD for one in rule.pattern.openings)


def test_a_phrase_is_read_in_its_own_notation() -> None:
    """A blank and a gap in a phrase end its first word."""
    assert LatePattern(r"\bset <3> aside\b", phrase).openings == {"set"}
