"""The test table of a policy document: what its author expects, held against its rules (SPEC L2). Pure.

    [[tests]]
    name = "a customer's preference is let in"
    kind = "preference"
    source_type = "direct_user"
    expect = "approve"
    rule = "said_by_the_customer"

A policy whose own tests fail is not put in force.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from tenure.core.admission import Policy, Proposal, rule_on
from tenure.core.identity import Role, SourceType
from tenure.core.policy_conditions import LENGTH_CHARACTERS_MAX
from tenure.core.policy_lines import Place
from tenure.core.policy_reading import Check, quoted
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Claim, Kind, Outcome, Trust

CASES_MAX: Final = 1_000
NAME_CHARACTERS_MAX: Final = 200
CHARACTERS: Final = 40
"""How long a proposal is that a test does not measure: an ordinary short sentence."""
_FIELDS: Final = (
    "name",
    "kind",
    "source_type",
    "findings",
    "characters",
    "roles",
    "model_driven",
    "claim",
    "expect",
    "rule",
    "trust",
)
_CLAIM: Final = ("entity", "attribute", "value")
_WRITER: Final = frozenset({Role.WRITER})


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One proposal, and what must be decided on it: the outcome, and where given the rule and the trust."""

    name: str
    proposal: Proposal
    expect: Outcome
    rule: str | None = None
    trust: Trust | None = None


def cases_of(tables: object, check: Check) -> tuple[Case, ...]:
    """The tests that a document lists; what is wrong with them is noted."""
    if tables is None:
        return ()
    if not isinstance(tables, list) or len(tables) > CASES_MAX:
        check.wrong(None, "tests", f"a policy has up to {CASES_MAX} tests, each under [[tests]]")
        return ()
    read = [_case(table, Place("tests", at), check) for at, table in enumerate(tables)]
    return tuple(case for case in read if case is not None)


def failures(policy: Policy, cases: Sequence[Case]) -> Iterator[tuple[int, str]]:
    """The number of each test that fails, from 0, with what was decided instead and by which rule."""
    for number, case in enumerate(cases):
        ruling = rule_on(policy, case.proposal)
        decision = ruling.decision
        trust = case.trust if decision.outcome is Outcome.APPROVE else None
        if (
            decision.outcome is not case.expect
            or case.rule not in {None, decision.rule}
            or trust not in {None, ruling.trust}
        ):
            gave = f" with {ruling.trust}" if decision.outcome is Outcome.APPROVE else ""
            yield (
                number,
                f"{case.name}: expected {_expected(case)}; it is {decision.outcome}{gave} by {decision.rule}",
            )


def case_table(case: Case) -> str:
    """A test as the document has it."""
    proposal = case.proposal
    lines = ["[[tests]]", f"name = {quoted(case.name)}", f"kind = {quoted(proposal.kind)}"]
    lines.append(f"source_type = {quoted(proposal.source_type)}")
    if proposal.findings:
        found = [quoted(kind) for kind in FindingKind if kind in proposal.findings]
        lines.append(f"findings = [{', '.join(found)}]")
    if proposal.characters != CHARACTERS:
        lines.append(f"characters = {proposal.characters}")
    if proposal.roles != _WRITER:
        lines.append(f"roles = [{', '.join(quoted(role) for role in Role if role in proposal.roles)}]")
    if proposal.model_driven:
        lines.append("model_driven = true")
    if proposal.claim is not None:
        parts = ", ".join(f"{part} = {quoted(getattr(proposal.claim, part))}" for part in _CLAIM)
        lines.append(f"claim = {{ {parts} }}")
    lines.append(f"expect = {quoted(case.expect)}")
    lines += [f"rule = {quoted(case.rule)}"] if case.rule is not None else []
    lines += [f"trust = {quoted(case.trust)}"] if case.trust is not None else []
    return "\n".join(lines)


def _expected(case: Case) -> str:
    trust = f" with {case.trust}" if case.trust is not None else ""
    return f"{case.expect}{trust}" + (f" by {case.rule}" if case.rule is not None else "")


def _case(table: object, at: Place, check: Check) -> Case | None:
    if not isinstance(table, dict):
        check.wrong(at, None, "a test is a table, under [[tests]]")
        return None
    before = len(check.mistakes)
    check.fields(table, _FIELDS, at=at)
    for field in ("kind", "source_type", "expect"):
        if field not in table:
            check.wrong(at, None, f"{field} is missing")
    expect: Outcome | None = check.word(table, "expect", tuple(Outcome), at=at)
    name = f"test {at.number + 1}"
    if "name" in table:
        name = check.text(table, "name", at=at, characters_max=NAME_CHARACTERS_MAX)
    rule = check.text(table, "rule", at=at, characters_max=64) if "rule" in table else None
    trust: Trust | None = check.word(table, "trust", tuple(Trust), at=at)
    if trust is not None and expect is not Outcome.APPROVE:
        check.wrong(at, "trust", "only what is approved has a trust to test")
    proposal = _proposal(table, at, check)
    if expect is None or proposal is None or len(check.mistakes) > before:
        return None
    return Case(name=name, proposal=proposal, expect=expect, rule=rule, trust=trust)


def _proposal(table: Mapping[str, object], at: Place, check: Check) -> Proposal | None:
    kind: Kind | None = check.word(table, "kind", tuple(Kind), at=at)
    source: SourceType | None = check.word(table, "source_type", tuple(SourceType), at=at)
    characters = check.number(table, "characters", at=at, least=0, most=LENGTH_CHARACTERS_MAX)
    findings = check.words(table, "findings", FindingKind, at=at, may_be_empty=True)
    roles = check.words(table, "roles", Role, at=at)
    model_driven = check.truth(table, "model_driven", at=at)
    claim = _claim(table.get("claim"), at, check)
    if kind is None or source is None:
        return None
    return Proposal(
        kind=kind,
        source_type=source,
        characters=CHARACTERS if characters is None else characters,
        findings=findings or frozenset(),
        roles=_WRITER if roles is None else roles,
        model_driven=model_driven is True,
        claim=claim,
    )


def _claim(table: object, at: Place, check: Check) -> Claim | None:
    if table is None:
        return None
    if not isinstance(table, dict):
        check.wrong(at, "claim", "claim is a table with entity, attribute and value")
        return None
    check.fields(table, _CLAIM, at=at)
    entity, attribute, value = (check.text(table, part, at=at, characters_max=500) for part in _CLAIM)
    return Claim(entity=entity, attribute=attribute, value=value)


def _shipped(
    name: str,
    kind: Kind,
    source: SourceType,
    expect: Outcome,
    rule: str,
    *,
    findings: frozenset[FindingKind] = frozenset(),
    trust: Trust | None = None,
) -> Case:
    proposal = Proposal(
        kind=kind, source_type=source, characters=CHARACTERS, findings=findings, roles=_WRITER
    )
    return Case(name=name, proposal=proposal, expect=expect, rule=rule, trust=trust)


SHIPPED_CASES: Final = (
    *(
        _shipped(
            f"what a scanner calls {kind} is not let in, though an application vouches for it",
            Kind.FACT,
            SourceType.APPLICATION,
            outcome,
            rule,
            findings=frozenset({kind}),
        )
        for kind, outcome, rule in (
            (FindingKind.CREDENTIAL, Outcome.REJECT, "credential"),
            (FindingKind.ATTACK, Outcome.REJECT, "attack"),
            (FindingKind.SENSITIVE, Outcome.QUARANTINE, "sensitive_content"),
        )
    ),
    *(
        _shipped(f"text from {source} waits", Kind.FACT, source, Outcome.QUARANTINE, "external_source")
        for source in (
            SourceType.EMAIL,
            SourceType.DOCUMENT,
            SourceType.WEB,
            SourceType.TOOL,
            SourceType.OTHER_AGENT,
        )
    ),
    _shipped(
        "a sensitive change waits, whoever says it",
        Kind.SENSITIVE_CHANGE,
        SourceType.APPLICATION,
        Outcome.QUARANTINE,
        "sensitive_change",
    ),
    _shipped(
        "a person states their own preference",
        Kind.PREFERENCE,
        SourceType.DIRECT_USER,
        Outcome.APPROVE,
        "direct_user_preference",
        trust=Trust.USER_ASSERTED,
    ),
    _shipped(
        "an application vouches for a fact",
        Kind.FACT,
        SourceType.APPLICATION,
        Outcome.APPROVE,
        "application",
        trust=Trust.APPLICATION_VERIFIED,
    ),
    _shipped(
        "what a person says of anything else waits",
        Kind.FACT,
        SourceType.DIRECT_USER,
        Outcome.QUARANTINE,
        "no_rule_matched",
    ),
)
"""What is expected of the policy that ships: printed with it, as a start for one's own (SPEC L3)."""
