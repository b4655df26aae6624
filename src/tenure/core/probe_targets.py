"""What a memory names that can be looked at, read from its claims (SPEC T6). Pure.

Laws: only what is claimed plainly is looked at, never a word that merely stands in the text; what is denied
names nothing to look for, but for a flag, which is then said to be off; a memory whose text is withheld names
nothing.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from tenure.core.claim_values import ValueType, named
from tenure.core.claims import Found, extracted, thing, value_of
from tenure.core.memory import Memory
from tenure.core.probing import Target, TargetKind, targets_of
from tenure.core.vocabulary import Claim

KINDS: Final = MappingProxyType(
    {
        ValueType.URL: TargetKind.URL,
        ValueType.ADDRESS: TargetKind.ENDPOINT,
        ValueType.HOST: TargetKind.DNS_NAME,
        ValueType.PATH: TargetKind.PATH,
        ValueType.FLAG: TargetKind.FLAG,
    }
)
"""What the types of values are looked at as; all others cannot be looked at."""

# What a claim says of a flag itself, as against a part of something else that is on or off.
_OF_A_FLAG: Final = frozenset({"", "is", "value", "enabled", "is enabled", "flag", "feature flag", "setting"})
_FLAG_WORDS: Final = frozenset({"feature", "flag", "toggle"})


def named_by(memory: Memory) -> tuple[Target, ...]:
    """The first few things to look at: of the claim that was given, then of those that the text makes."""
    if memory.content is None:
        return ()
    return targets_of([*_given(memory.claim), *_found(memory.content)])


def _given(claim: Claim | None) -> Iterator[tuple[TargetKind, str]]:
    """What a caller's own claim names."""
    if claim is None:
        return
    value = value_of(claim)
    kind = KINDS.get(value.type)
    if kind is None:
        return
    if kind is not TargetKind.FLAG:
        yield kind, value.text
    elif thing(claim.entity, claim.attribute)[1] in _OF_A_FLAG:
        yield kind, f"{claim.entity}={value.text}"


def _found(content: str) -> Iterator[tuple[TargetKind, str]]:
    """What the claims that are read from a text name."""
    for claim in extracted(content):
        kind = KINDS.get(claim.value.type)
        if kind is TargetKind.FLAG:
            flag = _flag(claim, content[claim.start : claim.end])
            if flag is not None:
                yield kind, flag
        elif kind is not None and not claim.negated:
            yield kind, claim.value.text


def _flag(claim: Found, sentence: str) -> str | None:
    """A flag as it is written there, and what it is said to be: a claim's own name has lost its hyphens."""
    if claim.attribute not in _OF_A_FLAG:
        return None
    words = {one.strip("`'\"*,:") for one in sentence.split()}
    plain = " ".join(word for word in claim.entity.split() if word not in _FLAG_WORDS)
    for said in (claim.entity, plain):
        written = [word for word in words if said and named(word) == said]
        if len(written) == 1:
            is_on = (claim.value.text == "on") is not claim.negated
            return f"{written[0]}={'on' if is_on else 'off'}"
    return None
