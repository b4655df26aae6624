"""The test table of a policy: run wherever the policy is read; none is used whose tests fail (SPEC S3)."""

import pytest

from tenure.core.admission import default_policy
from tenure.core.policy_cases import SHIPPED_CASES, failures
from tenure.core.policy_documents import digest, encode, parse, read
from tenure.core.policy_reading import BadPolicy

POLICY = """version = "v1"

[[rules]]
name = "models"
reason = "what a model says of prices waits"
outcome = "quarantine"
when = { model_driven = true, claim_attributes = ["Price"] }

[[rules]]
name = "short"
reason = "an application vouches for short facts"
outcome = "approve"
trust = "application_verified"
when = { source_types = ["application"], kinds = ["fact"], characters_max = 100 }

[[rules]]
name = "officers"
reason = "what a privacy officer writes waits"
outcome = "quarantine"
when = { roles = ["privacy_officer"] }
"""
TEST = """
[[tests]]
name = "a fact"
kind = "fact"
source_type = "application"
expect = "approve"
rule = "short"
trust = "application_verified"
"""


def mistakes(text: str) -> list[tuple[int, str]]:
    """What is wrong with a document, by line."""
    with pytest.raises(BadPolicy) as caught:
        parse(text)
    return [(mistake.line, mistake.says) for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ("", "approve"),
        ("characters = 100", "approve"),
        ("characters = 101", "quarantine by no_rule_matched"),
        ('findings = ["sensitive"]', "quarantine by found_by_scanner"),
        ("findings = []", "approve"),
        ("model_driven = true", "approve"),
        (
            'model_driven = true\nclaim = { entity = "x", attribute = "PRICE", value = "1" }',
            "quarantine by models",
        ),
        ('claim = { entity = "x", attribute = "price", value = "1" }', "approve"),
        ('model_driven = true\nclaim = { entity = "x", attribute = "size", value = "1" }', "approve"),
        ('characters = 200\nroles = ["writer", "privacy_officer"]', "quarantine by officers"),
    ],
)
def test_a_test_says_what_is_proposed_and_what_must_come_of_it(changed: str, outcome: str) -> None:
    """SPEC L2: what the policy looks at can all be said: kind, source, length, findings, caller, claim."""
    text = POLICY + TEST + changed

    if outcome == "approve":
        (case,) = read(text).cases
        assert case.name == "a fact"
    else:
        (mistake,) = mistakes(text)
        expected = "test 1: a fact: expected approve with application_verified by short; it is "
        assert mistake == (26, expected + outcome)


@pytest.mark.parametrize(
    ("before", "now", "line", "said"),
    [
        ('kind = "fact"', 'kind = "facts"', 24, "kind must be one of"),
        ('kind = "fact"', "", 22, "kind is missing"),
        ('expect = "approve"', 'expect = "allow"', 26, "expect must be one of"),
        ('expect = "approve"', 'expect = "reject"', 28, "only what is approved has a trust"),
        ('rule = "short"', "rule = 1", 27, "rule must be a text"),
        ('rule = "short"', "rul = 1", 27, "did you mean rule?"),
        ('rule = "short"', "characters = -1", 27, "from 0 to 100000"),
        ('rule = "short"', "claim = 1", 27, "claim is a table"),
        ('rule = "short"', 'claim = { entity = "x" }', 22, "attribute must be a text"),
        ('rule = "short"', 'claim = { entity = "x", colour = 1 }', 27, "no field 'colour'"),
        ("[[tests]]", "[tests]", 22, "each under [[tests]]"),
    ],
)
def test_a_mistake_in_a_test_is_named_with_its_line(before: str, now: str, line: int, said: str) -> None:
    """SPEC S3: a test that cannot be read tests nothing, so the policy is refused."""
    found = mistakes(POLICY + TEST.replace(before, now, 1))

    assert any(at == line and said in says for at, says in found), found


def test_tests_are_no_part_of_the_rules() -> None:
    """SPEC I4: adding a test makes no other policy, and it comes back as it was said."""
    document = read(POLICY + TEST)

    assert digest(document.policy) == digest(parse(POLICY))
    assert read(encode(document.policy, document.cases)) == document


def test_tests_are_run_on_the_policy_as_the_store_would_run_it() -> None:
    """SPEC L5: a limit of the store's decides before the document's rules."""
    text = POLICY + TEST + "characters = 90"

    assert read(text, content_characters_max=90).policy.rules[0].name == "content_bound"
    with pytest.raises(BadPolicy, match="it is reject by content_bound"):
        read(text, content_characters_max=89)


def test_the_policy_that_ships_passes_the_tests_that_ship() -> None:
    """SPEC L3: they are printed with it, as a start for one's own."""
    text = encode(default_policy(), SHIPPED_CASES)

    assert list(failures(default_policy(), SHIPPED_CASES)) == []
    assert read(text).cases == SHIPPED_CASES
    assert read(text).policy == default_policy()
