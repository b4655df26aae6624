"""What a person should look at twice in a policy, though it can be done: for `tenure policy check`. Pure."""

from collections.abc import Iterator

import msgspec

from tenure.core.admission import DEFAULT_VERSION, EXTERNAL, Condition, Policy, covers, is_default
from tenure.core.identity import SourceType
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind, Outcome


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Kinds from one source that no rule surely decides on: what falls through is quarantined."""

    source_type: SourceType
    kinds: tuple[Kind, ...]


def doubts(policy: Policy) -> tuple[str, ...]:
    """Rules never reached, doors that stand open, findings that no rule is about, a version that poses."""
    return (
        *_unreachable(policy),
        *_open_doors(policy),
        *_by_models(policy),
        *_unspoken(policy),
        *_posing(policy),
    )


def gaps(policy: Policy) -> tuple[Gap, ...]:
    """Where a plain proposal, in which nothing was found, may meet no rule."""
    found = (Gap(source_type=source, kinds=tuple(_fallen(policy, source))) for source in SourceType)
    return tuple(gap for gap in found if gap.kinds)


def _fallen(policy: Policy, source: SourceType) -> Iterator[Kind]:
    for kind in Kind:
        cell = Condition(kinds=frozenset({kind}), source_types=frozenset({source}))
        if not any(covers(rule.when, cell) for rule in policy.rules):
            yield kind


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


def _by_models(policy: Policy) -> Iterator[str]:
    """Rules that let something in because a model proposed it."""
    for rule in policy.rules:
        if rule.outcome is Outcome.APPROVE and rule.when.model_driven:
            yield f"rule {rule.name} lets in what a model proposes because it does"


def _unspoken(policy: Policy) -> Iterator[str]:
    """Findings that no rule is about: the gate holds them back, and so their text is kept."""
    spoken = frozenset[FindingKind]().union(*(rule.when.findings or frozenset() for rule in policy.rules))
    missing = [kind for kind in FindingKind if kind not in spoken]
    if missing:
        yield f"no rule is about the findings {', '.join(missing)}: what has them would wait in quarantine"


def _posing(policy: Policy) -> Iterator[str]:
    if policy.version == DEFAULT_VERSION and not is_default(policy):
        yield f"it is called {DEFAULT_VERSION} and is not the policy that ships; give it a version of its own"
