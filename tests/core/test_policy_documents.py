"""Policies as documents: read strictly, with the line of every mistake, and said again exactly (SPEC L2)."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.admission import Condition, Policy, Rule, bounded, default_policy
from tenure.core.identity import Role, SourceType
from tenure.core.policy_documents import RULES_MAX, digest, encode, parse, read
from tenure.core.policy_doubts import doubts
from tenure.core.policy_reading import DOCUMENT_CHARACTERS_MAX, BadPolicy
from tenure.core.proposals import canonical
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind, Outcome, Trust

GOOD = """version = "strict-2"

[[rules]]
name = "mail"
reason = "mail waits"
outcome = "quarantine"
when = { source_types = ["email"] }
"""
DEFAULT_DIGEST = "f38ed12582d27ff7ec369f41f400766885efecbea53e181c691efae766e83824"
"""Written down, since stores keep it: other bytes for the same rules would look like another policy."""

names = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True).map("r_{}".format)
printable = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=60)
lifetimes = st.none() | st.integers(min_value=1, max_value=315_360_000).map(lambda n: timedelta(seconds=n))


def some(words: Any) -> Any:
    """None, or some of these words."""
    return st.none() | st.frozensets(st.sampled_from(words), min_size=1)


claim_names = st.none() | st.frozensets(
    printable.filter(lambda name: canonical(name) == name), min_size=1, max_size=3
)
conditions = st.builds(
    Condition,
    empty_or_longer_than_characters=st.none() | st.integers(min_value=1, max_value=100_000),
    findings=some(FindingKind),
    kinds=some(Kind),
    source_types=some(SourceType),
    roles=some(Role),
    model_driven=st.none() | st.booleans(),
    has_claim=st.none() | st.just(value=True),
    claim_entities=claim_names,
    claim_attributes=claim_names,
).filter(lambda when: when != Condition())
approvals = st.builds(
    Rule,
    name=names,
    reason=printable,
    when=st.builds(
        Condition,
        kinds=some(Kind),
        source_types=some(SourceType),
        characters_min=st.none() | st.integers(min_value=1, max_value=50),
        characters_max=st.none() | st.integers(min_value=50, max_value=100_000),
        has_claim=st.none() | st.booleans(),
    ).filter(lambda when: when != Condition()),
    outcome=st.just(Outcome.APPROVE),
    trust=st.sampled_from([Trust.USER_ASSERTED, Trust.APPLICATION_VERIFIED]),
    lifetime=lifetimes,
)
others = st.builds(
    Rule,
    name=names,
    reason=printable,
    when=conditions,
    outcome=st.just(Outcome.QUARANTINE),
    lifetime=lifetimes,
) | st.builds(Rule, name=names, reason=printable, when=conditions, outcome=st.just(Outcome.REJECT))
policies = st.builds(
    Policy,
    version=printable,
    rules=st.lists(
        approvals | others, min_size=1, max_size=6, unique_by=(lambda rule: rule.name, lambda rule: rule.when)
    ).map(tuple),
)

# What is added to the good document, or changed in it; the line; a part of what is said.
BAD: list[tuple[str, str, int, str]] = [
    ('version = "strict-2"', "", 1, "version must be a text"),
    ('version = "strict-2"', "version = 2", 1, "version must be a text"),
    ('version = "strict-2"', 'version = "a\\nb"', 1, "version must be a text"),
    ('version = "strict-2"', 'version = "s"\nverson = "t"', 2, "did you mean version?"),
    ("[[rules]]", "[rules]", 3, "a policy has 1 to 200 rules"),
    ('name = "mail"', 'name = "Mail"', 4, "lower-case"),
    ('name = "mail"', 'name = "no_rule_matched"', 4, "what the gate says by itself"),
    ('name = "mail"', "", 3, "name must be a text"),
    ('reason = "mail waits"', 'reason = " "', 5, "reason must be a text"),
    ('outcome = "quarantine"', 'outcome = "hold"', 6, "one of approve, quarantine, reject"),
    ('outcome = "quarantine"', "", 3, "outcome is missing"),
    ('outcome = "quarantine"', 'outcome = "approve"', 6, "must say its trust"),
    ('outcome = "quarantine"', 'outcome = "approve"\ntrust = "untrusted"', 7, "trust must be one"),
    ('outcome = "quarantine"', 'outcome = "approve"\ntrust = "reviewer_verified"', 7, "trust must be one"),
    ('outcome = "quarantine"', 'outcome = "reject"\ntrust = "user_asserted"', 7, "only a rule that approves"),
    ('outcome = "quarantine"', 'outcome = "reject"\nlifetime_days = 1', 3, "has no lifetime"),
    ('outcome = "quarantine"', 'outcome = "quarantine"\nlifetime_days = 0', 7, "from 1 to 3650"),
    ('outcome = "quarantine"', 'outcome = "quarantine"\nlifetime_days = 3651', 7, "ten years"),
    ('outcome = "quarantine"', 'outcome = "quarantine"\nlifetime_seconds = 315360001', 7, "ten years"),
    ('outcome = "quarantine"', 'outcome = "quarantine"\nlifetime_seconds = 1.5', 7, "a whole number"),
    ('outcome = "quarantine"', 'outcome = "quarantine"\nlifetime_days = true', 7, "a whole number"),
    ('outcome = "quarantine"', 'outcome = "reject"\nlifetime_days = 1\nlifetime_seconds = 1', 7, "not both"),
    ("when = {", "wehn = {", 7, "there is no field 'wehn'; did you mean when?"),
    ('when = { source_types = ["email"] }', "", 3, "when must ask for something"),
    ('when = { source_types = ["email"] }', "when = {}", 7, "when must ask for something"),
    ('when = { source_types = ["email"] }', 'when = ["email"]', 7, "when must ask for something"),
    ('source_types = ["email"]', 'source_types = ["e-mail"]', 7, "'e-mail' is not one"),
    ('source_types = ["email"]', "source_types = []", 7, "source_types must list some of"),
    ('source_types = ["email"]', 'source_types = ["email", "email"]', 7, "each once"),
    ('source_types = ["email"]', 'source_types = "email"', 7, "source_types must list some of"),
    ('source_types = ["email"]', "source_types = [{}]", 7, "source_types must list some of"),
    ('source_types = ["email"]', 'findings = ["virus"]', 7, "'virus' is not one"),
    ('source_types = ["email"]', 'kinds = ["facts"]', 7, "'facts' is not one"),
    ('source_types = ["email"]', "empty_or_characters_over = 0", 7, "from 1 to 100000"),
    ('source_types = ["email"]', 'roles = ["boss"]', 7, "'boss' is not one"),
    ('source_types = ["email"]', "patterns = ['(a+)+']", 7, "there is no field 'patterns'"),
    ('source_types = ["email"]', 'model_driven = "yes"', 7, "must be true or false"),
    ('source_types = ["email"]', "claim_entities = []", 7, "claim_entities must list 1 to 200 texts"),
    ('source_types = ["email"]', "claim_attributes = [1]", 7, "claim_attributes must list"),
    ('source_types = ["email"]', "characters_min = 0", 7, "from 1 to 100000"),
    ('source_types = ["email"]', "characters_min = 9, characters_max = 8", 7, "nothing is so long"),
    ('source_types = ["email"]', "characters_min = 9, empty_or_characters_over = 8", 7, "not both"),
    ('source_types = ["email"]', "characters_max = 9, empty_or_characters_over = 8", 7, "not both"),
    ('source_types = ["email"]', 'has_claim = false, claim_entities = ["x"]', 7, "and has_claim for none"),
    ('outcome = "quarantine"', 'outcome = "quarantine', 6, "not valid TOML"),
    ('["email"] }\n', '["email"] }\nx = ' + "[" * 5_000, 1, "nested too deeply"),
    ('"mail waits"', '"mail waits"\nreason = "again"', 6, "not valid TOML"),
]  # fmt: skip
APPROVING = GOOD.replace('"quarantine"', '"approve"\ntrust = "user_asserted"')


def mistakes(text: str) -> list[tuple[int, str]]:
    """What is wrong with a document, by line."""
    with pytest.raises(BadPolicy) as caught:
        parse(text)
    return [(mistake.line, mistake.says) for mistake in caught.value.mistakes]


def policy_of(*rules: Rule, version: str = "v1") -> Policy:
    """A policy of these rules."""
    return Policy(version=version, rules=rules)


def rule(name: str, outcome: Outcome = Outcome.QUARANTINE, **when: Any) -> Rule:
    """A rule in few words."""
    trust = Trust.USER_ASSERTED if outcome is Outcome.APPROVE else Trust.UNTRUSTED
    return Rule(name=name, reason="because", when=Condition(**when), outcome=outcome, trust=trust)


def longer(name: str, characters: int, outcome: Outcome = Outcome.QUARANTINE) -> Rule:
    """A rule about length."""
    return rule(name, outcome, empty_or_longer_than_characters=characters)


def test_the_policy_that_ships_is_a_document_that_says_exactly_it() -> None:
    """SPEC L3: what is printed as a start for one's own is what is in force."""
    assert parse(encode(default_policy())) == default_policy()
    assert digest(default_policy()) == DEFAULT_DIGEST


@given(policy=policies)
def test_every_policy_comes_back_as_it_was_said(policy: Policy) -> None:
    """SPEC L2: the document and the rules say one thing."""
    assert parse(encode(policy)) == policy


@given(one=policies, other=policies)
def test_digests_differ_exactly_where_rules_do(one: Policy, other: Policy) -> None:
    """SPEC I4: what tells policies apart."""
    assert (digest(one) == digest(other)) == (one == other)


def test_the_example_in_the_documentation_is_a_policy_without_a_doubt() -> None:
    """SPEC L2: what is copied from the page works."""
    page = Path(__file__).parents[2] / "docs" / "capabilities" / "policy.md"
    example, tests = re.findall(
        r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )

    document = read(example + tests)

    assert doubts(document.policy) == ()
    assert (len(document.policy.rules), len(document.cases)) == (5, 2)


def test_layout_and_comments_make_no_other_policy() -> None:
    """SPEC I4: the digest is that of the rules."""
    commented = GOOD.replace("[[rules]]", "# what comes by mail\n[[ rules ]]")
    spread = GOOD.replace(
        'when = { source_types = ["email"] }', '[rules.when]\nsource_types = [\n "email",\n]'
    )

    assert digest(parse(GOOD)) == digest(parse(commented)) == digest(parse(spread))


@pytest.mark.parametrize(("before", "now", "line", "said"), BAD)
def test_a_mistake_is_named_with_its_line(before: str, now: str, line: int, said: str) -> None:
    """SPEC S3: nothing is guessed at, and nothing skipped."""
    assert before in GOOD
    found = mistakes(GOOD.replace(before, now, 1))

    assert any(at == line and said in says for at, says in found), found


def test_all_mistakes_are_named_at_once_in_order() -> None:
    """SPEC S3: one round of mending."""
    text = GOOD.replace("mail waits", "").replace("[[rules]]", "colour = 1\n[[rules]]") + GOOD[22:]

    assert [line for line, _ in mistakes(text)] == [3, 6, 10]


def test_what_looks_like_a_rule_inside_a_text_is_none() -> None:
    """SPEC S3: lines stay right."""
    text = GOOD.replace('"mail waits"', '"""\n[[rules]]\nname = "x"\n"""') + 'colour = "red"\n'

    assert [line for line, says in mistakes(text) if "'colour'" in says] == [11]


def test_rules_in_one_list_are_read_too() -> None:
    """SPEC S3: TOML has other ways to say the same; then a line is about right."""
    one = '{ name = "a", reason = "because", outcome = "reject", when = { kinds = ["fact"] } }'
    listed = f'version = "v"\nrules = [{one}]'

    assert parse(listed).rules == (rule("a", Outcome.REJECT, kinds=FACT),)
    assert mistakes(listed.replace("reject", "no"))[0][0] == 2


@pytest.mark.parametrize(
    "when",
    ['findings = ["sensitive"]', "empty_or_characters_over = 10"],
)
def test_no_rule_approves_because_of_what_should_hold_back(when: str) -> None:
    """SPEC M5b: a finding can only make an outcome stricter."""
    found = mistakes(APPROVING.replace('source_types = ["email"]', when))

    assert [line for line, says in found if "no rule may approve" in says] == [8]


@pytest.mark.parametrize(
    "text",
    [
        "",
        'version = "v"\nrules = []',
        'version = "v"\nrules = [1]',
        'version = "v"\nrules = "all"',
        "x" * (DOCUMENT_CHARACTERS_MAX + 1),
        'version = "v"\n' + "[[rules]]\n" * (RULES_MAX + 1),
        "version = " + "1" * 5_000,
    ],
    ids=["empty", "no rules", "not tables", "not a list", "too long", "too many", "a huge number"],
)
def test_what_is_no_policy_is_refused(text: str) -> None:
    """SPEC L2: an empty set of rules would admit nothing, and is a slip."""
    assert mistakes(text)


@given(text=st.text(alphabet="[]{}=\"'\n abrules.when#0", max_size=80))
def test_any_text_is_a_policy_or_a_mistake(text: str) -> None:
    """SPEC S2: bad input is never a fault."""
    try:
        parse(text)
    except BadPolicy as bad:
        assert all(mistake.line >= 1 for mistake in bad.mistakes)  # noqa: PT017 -- either is right


FACT = frozenset({Kind.FACT})


def test_rules_that_contradict_each_other_are_refused() -> None:
    """SPEC L2: which of two was meant is not guessed at, though the first would decide."""
    contrary = GOOD[22:].replace("mail", "post", 1).replace('"quarantine"', '"reject"')

    assert mistakes(GOOD + contrary) == [
        (12, "rule 2: post contradicts mail, which asks for the same and says quarantine")
    ]


def test_what_is_too_long_to_be_scanned_is_rejected_under_any_policy() -> None:
    """SPEC L5: a document may set a lower limit, and no higher one."""
    lenient = policy_of(rule("long", Outcome.REJECT, empty_or_longer_than_characters=5_000))
    strict = policy_of(rule("long", Outcome.REJECT, empty_or_longer_than_characters=100))

    assert [one.name for one in bounded(lenient, content_characters_max=2_000).rules] == [
        "content_bound",
        "long",
    ]
    assert bounded(strict, content_characters_max=2_000) == strict
    assert bounded(default_policy(), content_characters_max=2_000) == default_policy()
