"""A policy as a document that an operator writes: TOML, read strictly and said exactly (SPEC L2, I4). Pure.

    version = "strict-2"

    [[rules]]
    name = "mail"
    reason = "mail waits for a person"
    outcome = "quarantine"
    when = { source_types = ["email"], kinds = ["fact", "preference"] }

Laws: what is not understood is refused with its line, never skipped; a rule asks for something, and only what
approves gives trust; ``parse(encode(policy)) == policy``; the digest is of the rules, whatever the layout.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

import msgspec

from tenure.core.admission import GATE_RULES, Condition, Policy, Rule, bounded
from tenure.core.forgetting import SOURCE_RULE, VALUE_RULE
from tenure.core.policy_cases import Case, case_table, cases_of, failures
from tenure.core.policy_conditions import LENGTH, condition, sides
from tenure.core.policy_lines import Lines, Place
from tenure.core.policy_reading import BadPolicy, Check, quoted, tables_of
from tenure.core.revoked_sources import MADE_FROM_REVOKED_RULE, SOURCE_REVOKED_RULE
from tenure.core.vocabulary import Outcome, Trust

RULES_MAX: Final = 200
REASON_CHARACTERS_MAX: Final = 300
LIFETIME_MAX: Final = timedelta(days=3_650)
REFUSED_ANYWAY: Final = frozenset({VALUE_RULE, SOURCE_RULE, SOURCE_REVOKED_RULE, MADE_FROM_REVOKED_RULE})
"""What refuses beside every policy: something was forgotten, or its source revoked."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TOP: Final = ("version", "rules", "tests")
_FIELDS: Final = ("name", "reason", "outcome", "trust", "lifetime_seconds", "lifetime_days", "when")
_GIVEN: Final = (Trust.USER_ASSERTED, Trust.APPLICATION_VERIFIED)
"""What a rule may give. Untrusted would never be let in, and a reviewer's trust is a reviewer's to give."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A policy, and the decisions that its author expects of it."""

    policy: Policy
    cases: tuple[Case, ...] = ()


def parse(text: str, *, content_characters_max: int | None = None) -> Policy:
    """The policy that a document says; raises BadPolicy with all that is wrong."""
    return read(text, content_characters_max=content_characters_max).policy


def read(text: str, *, content_characters_max: int | None = None) -> Document:
    """The policy that a document says, with its tests; raises BadPolicy with all that is wrong.

    With a limit of the store's, the policy is as the store would run it. Either way its tests have passed.
    """
    document = tables_of(text)
    check = Check(Lines(text))
    check.fields(document, _TOP, at=None)
    version = check.text(document, "version", at=None, characters_max=64)
    tables = document.get("rules")
    if not isinstance(tables, list) or not 0 < len(tables) <= RULES_MAX:
        check.wrong(None, "rules", f"a policy has 1 to {RULES_MAX} rules, each under [[rules]]")
        tables = []
    rules = [_rule(table, Place("rules", at), check) for at, table in enumerate(tables)]
    _repeated(tables, check)
    _contradicting(rules, check)
    cases = cases_of(document.get("tests"), check)
    if check.mistakes:
        raise BadPolicy(check.mistakes)
    policy = Policy(version=version, rules=tuple(rule for rule in rules if rule is not None))
    if content_characters_max is not None:
        policy = bounded(policy, content_characters_max=content_characters_max)
    for number, says in failures(policy, cases):
        check.wrong(Place("tests", number), "expect", says)
    if check.mistakes:
        raise BadPolicy(check.mistakes)
    return Document(policy=policy, cases=cases)


def encode(policy: Policy, cases: Sequence[Case] = ()) -> str:
    """The policy as a document, always the same for the same rules; with its tests, where they are given."""
    tables = (*map(_table, policy.rules), *map(case_table, cases))
    return "\n\n".join([f"version = {quoted(policy.version)}", *tables]) + "\n"


def digest(policy: Policy) -> str:
    """What tells one policy from another: SHA-256 of its document, in hexadecimal."""
    return hashlib.sha256(encode(policy).encode()).hexdigest()


def asked(when: Condition) -> str:
    """A condition in words that a person reads."""
    return ", ".join(f"{side} {value}" for side, value in sides(when))


def _rule(table: object, at: Place, check: Check) -> Rule | None:
    if not isinstance(table, dict):
        check.wrong(at, None, "a rule is a table, under [[rules]]")
        return None
    before = len(check.mistakes)
    check.fields(table, _FIELDS, at=at)
    name = check.text(table, "name", at=at, characters_max=64)
    reason = check.text(table, "reason", at=at, characters_max=REASON_CHARACTERS_MAX)
    if "outcome" not in table:
        check.wrong(at, None, "outcome is missing")
    outcome: Outcome | None = check.word(table, "outcome", tuple(Outcome), at=at)
    trust: Trust | None = check.word(table, "trust", _GIVEN, at=at)
    lifetime = _lifetime(table, at, check)
    when = condition(table.get("when"), at, check)
    if outcome is None or len(check.mistakes) > before:
        return None
    rule = Rule(
        name=name,
        reason=reason,
        when=when,
        outcome=outcome,
        trust=trust or Trust.UNTRUSTED,
        lifetime=lifetime,
    )
    _fits(rule, at, check, trust=trust)
    return rule


def _fits(rule: Rule, at: Place, check: Check, *, trust: Trust | None) -> None:
    """What is well said and cannot be meant."""
    if not _NAME.fullmatch(rule.name):
        check.wrong(at, "name", "a name has lower-case letters, digits and _, and begins with a letter")
    elif rule.name in GATE_RULES | REFUSED_ANYWAY:
        check.wrong(at, "name", f"{rule.name} is what the gate says by itself; choose another name")
    if rule.outcome is Outcome.APPROVE:
        _may_approve(rule, at, check, trust=trust)
    elif trust is not None:
        check.wrong(at, "trust", "only a rule that approves gives trust")
    elif rule.outcome is Outcome.REJECT and rule.lifetime is not None:
        check.wrong(at, None, "what is rejected has no lifetime")


def _may_approve(rule: Rule, at: Place, check: Check, *, trust: Trust | None) -> None:
    if trust is None:
        check.wrong(at, "outcome", f"a rule that approves must say its trust: {' or '.join(_GIVEN)}")
    if rule.when.findings is not None:
        check.wrong(at, "findings", "no rule may approve because of what a scanner found")
    if rule.when.empty_or_longer_than_characters is not None:
        check.wrong(at, LENGTH, "no rule may approve what is empty or long because it is")


def _lifetime(table: Mapping[str, object], at: Place, check: Check) -> timedelta | None:
    beyond = ", which is ten years"
    seconds_max = int(LIFETIME_MAX.total_seconds())
    seconds = check.number(table, "lifetime_seconds", at=at, most=seconds_max, beyond=beyond)
    days = check.number(table, "lifetime_days", at=at, most=LIFETIME_MAX.days, beyond=beyond)
    if "lifetime_seconds" in table and "lifetime_days" in table:
        check.wrong(at, "lifetime_days", "give lifetime_seconds or lifetime_days, not both")
    if seconds is not None:
        return timedelta(seconds=seconds)
    return timedelta(days=days) if days is not None else None


def _repeated(tables: Sequence[object], check: Check) -> None:
    first: dict[object, int] = {}
    for at, table in enumerate(tables):
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str) and first.setdefault(name, at) != at:
            check.wrong(
                Place("rules", at), "name", f"rule {first[name] + 1} has the name {name[:64]!r} already"
            )


def _contradicting(rules: Sequence[Rule | None], check: Check) -> None:
    """Two rules that ask for the same and say different things: one of them is a slip."""
    first: dict[Condition, Rule] = {}
    for at, rule in enumerate(rules):
        if rule is None:
            continue
        earlier = first.setdefault(rule.when, rule)
        if earlier.outcome is not rule.outcome:
            says = (
                f"{rule.name} contradicts {earlier.name}, which asks for the same and says {earlier.outcome}"
            )
            check.wrong(Place("rules", at), "when", says)


def _table(rule: Rule) -> str:
    lines = ["[[rules]]", f"name = {quoted(rule.name)}", f"reason = {quoted(rule.reason)}"]
    lines.append(f"outcome = {quoted(rule.outcome)}")
    if rule.outcome is Outcome.APPROVE:
        lines.append(f"trust = {quoted(rule.trust)}")
    if rule.lifetime is not None:
        seconds, whole = (
            int(rule.lifetime.total_seconds()),
            rule.lifetime == timedelta(days=rule.lifetime.days),
        )
        lines.append(f"lifetime_days = {rule.lifetime.days}" if whole else f"lifetime_seconds = {seconds}")
    when = ", ".join(f"{side} = {value}" for side, value in sides(rule.when))
    return "\n".join([*lines, f"when = {{ {when} }}"])
