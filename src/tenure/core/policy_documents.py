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
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Final

import msgspec

from tenure.core.admission import (
    DEFAULT_VERSION,
    EXTERNAL,
    GATE_RULES,
    Condition,
    Policy,
    Rule,
    covers,
    is_default,
)
from tenure.core.forgetting import SOURCE_RULE, VALUE_RULE
from tenure.core.identity import SourceType
from tenure.core.policy_lines import Lines
from tenure.core.revoked_sources import MADE_FROM_REVOKED_RULE, SOURCE_REVOKED_RULE
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind, Outcome, Trust

DOCUMENT_CHARACTERS_MAX: Final = 262_144
RULES_MAX: Final = 200
REASON_CHARACTERS_MAX: Final = 300
LENGTH_CHARACTERS_MAX: Final = 100_000
LIFETIME_MAX: Final = timedelta(days=3_650)
REFUSED_ANYWAY: Final = frozenset({VALUE_RULE, SOURCE_RULE, SOURCE_REVOKED_RULE, MADE_FROM_REVOKED_RULE})
"""What refuses beside every policy: something was forgotten, or its source revoked."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TOP: Final = ("version", "rules")
_FIELDS: Final = ("name", "reason", "outcome", "trust", "lifetime_seconds", "lifetime_days", "when")
_LENGTH: Final = "empty_or_characters_over"
_SIDES: Final[Mapping[str, type[StrEnum]]] = {
    "findings": FindingKind,
    "kinds": Kind,
    "source_types": SourceType,
}
_GIVEN: Final = (Trust.USER_ASSERTED, Trust.APPLICATION_VERIFIED)
"""What a rule may give. Untrusted would never be let in, and a reviewer's trust is a reviewer's to give."""


class Mistake(msgspec.Struct, frozen=True):
    """One thing that is wrong, and about where."""

    line: int
    says: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.says}"


class BadPolicy(ValueError):
    """The document is no policy; every mistake is named with its line."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda one: one.line))
        super().__init__("; ".join(map(str, self.mistakes)))


def parse(text: str) -> Policy:
    """The policy that a document says; raises BadPolicy with all that is wrong."""
    document = _document(text)
    check = _Check(Lines(text))
    check.fields(document, _TOP, at=None)
    version = check.text(document, "version", at=None, characters_max=64)
    tables = document.get("rules")
    if not isinstance(tables, list) or not 0 < len(tables) <= RULES_MAX:
        check.wrong(None, "rules", f"a policy has 1 to {RULES_MAX} rules, each under [[rules]]")
        tables = []
    rules = [_rule(table, at, check) for at, table in enumerate(tables)]
    _repeated(tables, check)
    if check.mistakes:
        raise BadPolicy(check.mistakes)
    return Policy(version=version, rules=tuple(rule for rule in rules if rule is not None))


def encode(policy: Policy) -> str:
    """The policy as a document, always the same for the same rules."""
    return "\n\n".join([f"version = {_quoted(policy.version)}", *map(_table, policy.rules)]) + "\n"


def digest(policy: Policy) -> str:
    """What tells one policy from another: SHA-256 of its document, in hexadecimal."""
    return hashlib.sha256(encode(policy).encode()).hexdigest()


def asked(when: Condition) -> str:
    """A condition in words that a person reads."""
    return ", ".join(f"{side} {value}" for side, value in _sides(when))


def doubts(policy: Policy) -> tuple[str, ...]:
    """What a person should look at twice, though it can be done."""
    return (*_unreachable(policy), *_open_doors(policy), *_unspoken(policy), *_posing(policy))


def _document(text: str) -> dict[str, Any]:
    if len(text) > DOCUMENT_CHARACTERS_MAX:
        raise BadPolicy([Mistake(1, f"a policy has at most {DOCUMENT_CHARACTERS_MAX:,} characters")])
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BadPolicy([Mistake(1, "it is nested too deeply")]) from None
    except ValueError as fault:
        place = re.search(r"\(at line (\d+), column \d+\)|\(at end of document\)", str(fault))
        line = int(place[1]) if place is not None and place[1] else text.count("\n") + 1
        said = str(fault).split(" (at ")[0]
        raise BadPolicy([Mistake(line, f"it is not valid TOML: {said[:200]}")]) from None


class _Check:
    """Reads fields and collects what is wrong with them."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.mistakes: list[Mistake] = []

    def wrong(self, at: int | None, field: str | None, says: str) -> None:
        """Note a mistake; of a rule, with the rule's number."""
        where = "" if at is None else f"rule {at + 1}: "
        self.mistakes.append(Mistake(self.lines.of(at, field), f"{where}{says}"))

    def fields(self, table: Mapping[str, object], known: Sequence[str], *, at: int | None) -> None:
        """Note every field that is not one of these."""
        for field in table:
            if field not in known:
                nearest = get_close_matches(field, known, n=1)
                hint = f"did you mean {nearest[0]}?" if nearest else f"known: {', '.join(known)}"
                self.wrong(at, field, f"there is no field {field[:64]!r}; {hint}")

    def text(self, table: Mapping[str, object], field: str, *, at: int | None, characters_max: int) -> str:
        """A text that must be there."""
        value = table.get(field)
        if isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= characters_max:
            return value
        self.wrong(at, field, f"{field} must be a text of 1 to {characters_max} printable characters")
        return ""

    def number(
        self, table: Mapping[str, object], field: str, *, at: int, most: int, beyond: str
    ) -> int | None:
        """A whole number from 1, where it is given."""
        value = table.get(field)
        if value is None or (type(value) is int and 1 <= value <= most):
            return value
        self.wrong(at, field, f"{field} must be a whole number from 1 to {most}{beyond}")
        return None

    def word(self, table: Mapping[str, object], field: str, known: Sequence[StrEnum], *, at: int) -> Any:
        """One of the known words, where it is given."""
        value = table.get(field)
        if value is None or (isinstance(value, str) and value in known):
            return type(known[0])(value) if value is not None else None
        self.wrong(at, field, f"{field} must be one of {', '.join(known)}")
        return None

    def words(self, table: Mapping[str, object], field: str, known: type[StrEnum], *, at: int) -> Any:
        """A list of known words, each once and at least one, where it is given."""
        value = table.get(field)
        if value is None:
            return None
        listed = value if isinstance(value, list) else []
        unknown = [one for one in listed if not isinstance(one, str) or one not in set(known)]
        if unknown or not listed or len(set(listed)) < len(listed):
            named = f"{str(unknown[0])[:64]!r} is not one; " if unknown else ""
            self.wrong(
                at, field, f"{field} must list some of {', '.join(known)}, each once; {named}".rstrip("; ")
            )
            return None
        return frozenset(known(one) for one in listed)


def _rule(table: object, at: int, check: _Check) -> Rule | None:
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
    when = _condition(table.get("when"), at, check)
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


def _fits(rule: Rule, at: int, check: _Check, *, trust: Trust | None) -> None:
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


def _may_approve(rule: Rule, at: int, check: _Check, *, trust: Trust | None) -> None:
    if trust is None:
        check.wrong(at, "outcome", f"a rule that approves must say its trust: {' or '.join(_GIVEN)}")
    if rule.when.findings is not None:
        check.wrong(at, "findings", "no rule may approve because of what a scanner found")
    if rule.when.empty_or_longer_than_characters is not None:
        check.wrong(at, _LENGTH, "no rule may approve what is empty or long because it is")


def _lifetime(table: Mapping[str, object], at: int, check: _Check) -> timedelta | None:
    beyond = ", which is ten years"
    seconds_max = int(LIFETIME_MAX.total_seconds())
    seconds = check.number(table, "lifetime_seconds", at=at, most=seconds_max, beyond=beyond)
    days = check.number(table, "lifetime_days", at=at, most=LIFETIME_MAX.days, beyond=beyond)
    if "lifetime_seconds" in table and "lifetime_days" in table:
        check.wrong(at, "lifetime_days", "give lifetime_seconds or lifetime_days, not both")
    if seconds is not None:
        return timedelta(seconds=seconds)
    return timedelta(days=days) if days is not None else None


def _condition(table: object, at: int, check: _Check) -> Condition:
    if not isinstance(table, dict) or not table:
        check.wrong(at, "when", f"when must ask for something: {', '.join((_LENGTH, *_SIDES))}")
        return Condition()
    check.fields(table, (_LENGTH, *_SIDES), at=at)
    return Condition(
        empty_or_longer_than_characters=check.number(
            table, _LENGTH, at=at, most=LENGTH_CHARACTERS_MAX, beyond=""
        ),
        **{side: check.words(table, side, known, at=at) for side, known in _SIDES.items()},
    )


def _repeated(tables: Sequence[object], check: _Check) -> None:
    first: dict[object, int] = {}
    for at, table in enumerate(tables):
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str) and first.setdefault(name, at) != at:
            check.wrong(at, "name", f"rule {first[name] + 1} has the name {name[:64]!r} already")


def _table(rule: Rule) -> str:
    lines = ["[[rules]]", f"name = {_quoted(rule.name)}", f"reason = {_quoted(rule.reason)}"]
    lines.append(f"outcome = {_quoted(rule.outcome)}")
    if rule.outcome is Outcome.APPROVE:
        lines.append(f"trust = {_quoted(rule.trust)}")
    if rule.lifetime is not None:
        seconds, whole = (
            int(rule.lifetime.total_seconds()),
            rule.lifetime == timedelta(days=rule.lifetime.days),
        )
        lines.append(f"lifetime_days = {rule.lifetime.days}" if whole else f"lifetime_seconds = {seconds}")
    when = ", ".join(f"{side} = {value}" for side, value in _sides(rule.when))
    return "\n".join([*lines, f"when = {{ {when} }}"])


def _sides(when: Condition) -> Iterator[tuple[str, str]]:
    """The sides that are given, each with its value as the document has it; words in their own order."""
    if when.empty_or_longer_than_characters is not None:
        yield _LENGTH, str(when.empty_or_longer_than_characters)
    for side, known in _SIDES.items():
        given = getattr(when, side)
        if given is not None:
            yield side, f"[{', '.join(_quoted(word) for word in known if word in given)}]"


def _quoted(text: str) -> str:
    """A printable text as TOML and JSON both write it."""
    return msgspec.json.encode(str(text)).decode()


def _unreachable(policy: Policy) -> Iterator[str]:
    for at, rule in enumerate(policy.rules):
        hiding = next((one for one in policy.rules[:at] if covers(one.when, rule.when)), None)
        if hiding is not None:
            yield f"rule {rule.name} is never reached: {hiding.name} matches all that it would, before it"


def _open_doors(policy: Policy) -> Iterator[str]:
    """Rules that let in text from outside, which no earlier rule stops whatever else it is."""
    for at, rule in enumerate(policy.rules):
        named = rule.when.source_types
        open_to = [
            source
            for source in SourceType
            if source in EXTERNAL
            and (named is None or source in named)
            and not any(
                covers(one.when, Condition(source_types=frozenset({source}))) for one in policy.rules[:at]
            )
        ]
        if rule.outcome is Outcome.APPROVE and open_to:
            yield f"rule {rule.name} lets in text from outside that nobody looked at: {', '.join(open_to)}"


def _unspoken(policy: Policy) -> Iterator[str]:
    """Findings that no rule is about: the gate holds them back, and so their text is kept."""
    spoken = frozenset[FindingKind]().union(*(rule.when.findings or frozenset() for rule in policy.rules))
    missing = [kind for kind in FindingKind if kind not in spoken]
    if missing:
        yield f"no rule is about the findings {', '.join(missing)}: what has them would wait in quarantine"


def _posing(policy: Policy) -> Iterator[str]:
    if policy.version == DEFAULT_VERSION and not is_default(policy):
        yield f"it is called {DEFAULT_VERSION} and is not the policy that ships; give it a version of its own"
