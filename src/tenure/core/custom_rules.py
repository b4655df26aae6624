"""Rules of an operator's own, in code: they see a proposal's facts and can only make its outcome stricter.

Laws: a custom rule is asked after the policy, never instead of it; what it says can hold back or turn away,
never let in, raise trust or lengthen a lifetime; one that fails never admits (SPEC L2, L5). Asked again about
something old, one that looks at what was not kept, or fails, has no word, and that is said (SPEC I4). Pure,
as long as the rules are: they get no content, no caller's name and no way to the store.
"""

from collections.abc import Iterable
from typing import Any, Final, Protocol

import msgspec

from tenure.core.admission import CUSTOM_FAILED, Policy, Proposal, Ruling
from tenure.core.vocabulary import Decision, Outcome, Trust

REASON_CHARACTERS_MAX: Final = 200
CUSTOM: Final = "custom."
UNKNOWN: Final = "unknown"
_STRICTNESS: Final = {Outcome.APPROVE: 0, Outcome.QUARANTINE: 1, Outcome.REJECT: 2}


class Objection(msgspec.Struct, frozen=True, kw_only=True):
    """What a custom rule says against a proposal: to hold it back or to turn it away, and why."""

    outcome: Outcome
    reason: str


class CustomRule(Protocol):
    """One rule in code; its version changes whenever its word may."""

    @property
    def name(self) -> str:
        """A short stable name."""

    @property
    def version(self) -> str:
        """The version of the rule."""

    def judge(self, proposal: Proposal) -> Objection | None:
        """What speaks against the proposal; None where nothing does."""


def tightened(
    ruling: Ruling,
    proposal: Proposal,
    policy: Policy,
    rules: Iterable[CustomRule],
    *,
    on_failure: Outcome = Outcome.QUARANTINE,
) -> Ruling:
    """The policy's ruling, or the strictest objection where one is stricter than it."""
    for rule in rules:
        decision = _word(rule, proposal, policy, on_failure)
        if decision is not None and _STRICTNESS[decision.outcome] > _STRICTNESS[ruling.decision.outcome]:
            ruling = Ruling(decision=decision, trust=Trust.UNTRUSTED, lifetime=None)
    return ruling


class Retold(msgspec.Struct, frozen=True, kw_only=True):
    """What custom rules make of a ruling on something of which not all was kept.

    ``ruling`` is None where it turns on a rule that has no word: one that looked at what was not kept
    (``untold``), or that failed.
    """

    ruling: Ruling | None
    untold: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def retold(
    ruling: Ruling,
    proposal: Proposal,
    policy: Policy,
    rules: Iterable[CustomRule],
    *,
    unknown: frozenset[str],
) -> Retold:
    """The ruling as the rules make it today; ``unknown`` are sides of the proposal that are only guessed."""
    untold: list[str] = []
    failed: list[str] = []
    for rule in rules:
        shown = (
            _Watched(**msgspec.structs.asdict(proposal), unknown=unknown, looked=[]) if unknown else proposal
        )
        decision = _word(rule, shown, policy, Outcome.REJECT)
        if isinstance(shown, _Watched) and shown.looked:
            untold.append(name_of(rule))
        elif decision is not None and decision.rule == CUSTOM_FAILED:
            failed.append(name_of(rule))
        elif decision is not None and _STRICTNESS[decision.outcome] > _STRICTNESS[ruling.decision.outcome]:
            ruling = Ruling(decision=decision, trust=Trust.UNTRUSTED, lifetime=None)
    is_told = ruling.decision.outcome is Outcome.REJECT or not (untold or failed)
    return Retold(ruling=ruling if is_told else None, untold=tuple(untold), failed=tuple(failed))


def name_of(rule: CustomRule) -> str:
    """The name of a rule, also of one that cannot even say that."""
    return _said_of(rule, "name")


def version_of(rule: CustomRule) -> str:
    """The version of a rule, also of one that cannot say it."""
    return _said_of(rule, "version")


class _Watched(Proposal, frozen=True, kw_only=True):
    """A proposal that notes when somebody looks at what is not known of it."""

    unknown: frozenset[str]
    looked: list[str]

    def __getattribute__(self, name: str) -> Any:
        """The side that is asked for, noted where it is only guessed."""
        if name in object.__getattribute__(self, "unknown"):
            object.__getattribute__(self, "looked").append(name)
        return object.__getattribute__(self, name)


def _word(rule: CustomRule, proposal: Proposal, policy: Policy, on_failure: Outcome) -> Decision | None:
    try:
        said = rule.judge(proposal)
        if said is None:
            return None
        if _is_sound(said):
            return Decision(
                outcome=said.outcome,
                rule=f"{CUSTOM}{rule.name}",
                reason=said.reason,
                policy_version=policy.version,
            )
    except Exception:  # noqa: BLE001, S110 -- a rule is a plug-in: it may raise anything, and must never admit by it
        pass
    return Decision(
        outcome=on_failure,
        rule=CUSTOM_FAILED,
        reason="a custom rule failed, so nothing is admitted by it",
        policy_version=policy.version,
    )


def _said_of(rule: CustomRule, side: str) -> str:
    try:
        return str(getattr(rule, side))
    except Exception:  # noqa: BLE001 -- a rule is a plug-in: it may raise anything
        return UNKNOWN


def _is_sound(said: object) -> bool:
    """Whether it is an objection that says why, and no wish to let something in."""
    return (
        isinstance(said, Objection)
        and said.outcome in {Outcome.QUARANTINE, Outcome.REJECT}
        and type(said.reason) is str
        and 0 < len(said.reason) <= REASON_CHARACTERS_MAX
        and said.reason.isprintable()
    )
