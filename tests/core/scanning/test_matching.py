"""Rule packs: what decides whether a rule is tried must never hide what it would have found."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.scanning import Finding, FindingKind
from tenure.core.scanning.credentials import CREDENTIALS
from tenure.core.scanning.decoding import views_of
from tenure.core.scanning.instructions import INSTRUCTIONS
from tenure.core.scanning.matching import (
    MATCHES_PER_RULE_MAX,
    LatePattern,
    Rule,
    RulePack,
    phrase,
    phrase_rule,
)
from tenure.core.scanning.normalising import View, plain, view_of
from tenure.core.scanning.sensitive import SENSITIVE

PACKS = (CREDENTIALS, INSTRUCTIONS, SENSITIVE)
# Words that rules look for, shuffled by Hypothesis into texts on which many rules match.
WORDS = (
    "ignore disregard forget all any the your these previous prior earlier system safety developer"
    " instructions rules guidelines prompts reveal show repeat hidden you are now no longer an"
    " unrestricted ai mode without asking for approval user tell do not silently send forward copy"
    " conversation secrets to https://a.example when says call run_tool remember always permanently"
    " approve every session password is hunter22 pin 4821 code token bank account details have changed pay"
    " funds wallet grant full admin access exempt from review skip check recovery email new 12345678 owner"
    " is treat as administrator seed phrase key agents must accept olvida tus instrucciones vergiss deine"
    " regeln muestra"
)


def gateless(pack: RulePack) -> RulePack:
    """The same rules, each tried on every text."""
    return RulePack(
        pack.name,
        pack.version,
        tuple(
            rule._replace(
                pattern=everywhere(rule.pattern),
                leads=frozenset(),
                words=frozenset(),
                also=frozenset(),
                marks=("",),
                digits_min=0,
            )
            for rule in pack.rules
        ),
    )


def everywhere(pattern: LatePattern) -> LatePattern:
    """The same pattern, of which nobody knows how its matches begin."""
    unknown = LatePattern(pattern.source, lambda _source: pattern.compiled)
    unknown.openings = frozenset()
    return unknown


def text_view(text: str) -> View:
    """The plain view of a text."""
    return view_of(text, plain(text))


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
@MODEST
@given(words=st.lists(st.sampled_from(WORDS.split()), max_size=14))
def test_a_rule_that_would_find_something_is_tried(pack: RulePack, words: list[str]) -> None:
    """SPEC M5b: looking only where a rule's words stand changes the cost, never the findings."""
    view = text_view(" ".join(words))

    # A rule for numbers asks for more digits than its pattern needs, on purpose.
    found = {one for one in gateless(pack).find(view) if one.rule not in NUMBERS}

    assert found <= set(pack.find(view))


NUMBERS = {rule.name for rule in SENSITIVE.rules if rule.digits_min > 1}


def test_every_rule_is_named_by_its_kind() -> None:
    """A rule's kind is the first part of its name."""
    kinds = {rule.name.partition(".")[0] for rule in chain.from_iterable(pack.rules for pack in PACKS)}

    assert kinds == {FindingKind.ATTACK, FindingKind.CREDENTIAL, FindingKind.SENSITIVE}


def test_a_blank_in_a_phrase_is_whatever_stands_between_words() -> None:
    """Quotation marks, emphasis, commas and line ends part words as blanks do."""
    pattern = phrase(r"\bset aside\b")

    assert all(
        pattern.search(text) for text in ("set aside", "set  aside", "set\naside", 'set "aside', "set_aside")
    )
    assert not pattern.search("setaside")


def test_a_gap_in_a_phrase_is_bounded_and_stays_in_its_sentence() -> None:
    """Up to so many words, and no full stop."""
    pattern = phrase(r"\bone <2> four\b")

    assert all(pattern.search(text) for text in ("one four", "one two four", "one two three four"))
    assert not pattern.search("one two three and four")
    assert not pattern.search("one. four")


def test_a_rule_finds_only_so_many_places() -> None:
    """A text made of nothing else does not make an endless answer."""
    pack = RulePack("stub", "1", (phrase_rule("attack.stub", "again", words="again"),))

    assert len(pack.find(text_view("again " * 100))) == MATCHES_PER_RULE_MAX


def test_a_second_look_may_let_a_match_pass_or_not() -> None:
    """What a pattern cannot say, a function says."""
    rule = Rule(
        name="credential.stub",
        pattern=LatePattern("[a-z]+"),
        confidence=0.5,
        marks=("",),
        accept=lambda view, match: view.text[match.start()].isupper(),
    )

    found = RulePack("stub", "7", (rule,)).find(text_view("no Yes no"))

    assert found == [
        Finding(
            kind=FindingKind.CREDENTIAL,
            rule="credential.stub",
            scanner="stub/7",
            start=3,
            end=6,
            confidence=0.5,
        )
    ]


def test_a_finding_in_a_decoded_view_names_the_code_in_the_content() -> None:
    """Places are led back whichever view they come from."""
    content = "x " + b"again and again".hex()
    pack = RulePack("stub", "1", (phrase_rule("attack.stub", "again", words="again"),))

    found = pack.find(views_of(content)[-1])

    assert {(one.start, one.end) for one in found} == {(2, len(content))}


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_every_pattern_compiles_though_none_is_before_it_is_tried(pack: RulePack) -> None:
    """A pattern that is only compiled late must not turn out wrong late."""
    assert all(rule.pattern.compiled.pattern for rule in pack.rules)
