"""What a rule of a policy document asks for: read, checked for sense, and said again (SPEC L2). Pure.

There are no patterns in a document: conditions are words, numbers and names, so none can take long.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from tenure.core.admission import Condition
from tenure.core.identity import Role, SourceType
from tenure.core.policy_lines import Place
from tenure.core.policy_reading import Check, quoted
from tenure.core.proposals import canonical
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind

LENGTH: Final = "empty_or_characters_over"
LENGTH_CHARACTERS_MAX: Final = 100_000
CLAIM_NAME_CHARACTERS_MAX: Final = 500
CLAIM_NAMES_MAX: Final = 200
_WORDS: Final[Mapping[str, type[StrEnum]]] = {
    "findings": FindingKind,
    "kinds": Kind,
    "source_types": SourceType,
    "roles": Role,
}
_NUMBERS: Final = ("characters_min", "characters_max")
_TRUTHS: Final = ("model_driven", "has_claim")
_NAMES: Final = ("claim_entities", "claim_attributes")
_SIDES: Final = (LENGTH, *_WORDS, *_NUMBERS, *_TRUTHS, *_NAMES)


def condition(table: object, at: Place, check: Check) -> Condition:
    """The condition that a table says; what is wrong with it is noted."""
    if not isinstance(table, dict) or not table:
        check.wrong(at, "when", f"when must ask for something: {', '.join(_SIDES)}")
        return Condition()
    check.fields(table, _SIDES, at=at)
    when = Condition(
        empty_or_longer_than_characters=check.number(table, LENGTH, at=at, most=LENGTH_CHARACTERS_MAX),
        characters_min=check.number(table, "characters_min", at=at, most=LENGTH_CHARACTERS_MAX),
        characters_max=check.number(table, "characters_max", at=at, most=LENGTH_CHARACTERS_MAX),
        model_driven=check.truth(table, "model_driven", at=at),
        has_claim=check.truth(table, "has_claim", at=at),
        claim_entities=_names(table, "claim_entities", at, check),
        claim_attributes=_names(table, "claim_attributes", at, check),
        **{side: check.words(table, side, known, at=at) for side, known in _WORDS.items()},
    )
    _makes_sense(when, at, check)
    return when


def sides(when: Condition) -> Iterator[tuple[str, str]]:
    """The sides that are given, each with its value as the document has it; words in their own order."""
    if when.empty_or_longer_than_characters is not None:
        yield LENGTH, str(when.empty_or_longer_than_characters)
    for side, known in _WORDS.items():
        given = getattr(when, side)
        if given is not None:
            yield side, f"[{', '.join(quoted(word) for word in known if word in given)}]"
    for side in (*_NUMBERS, *_TRUTHS):
        given = getattr(when, side)
        if given is not None:
            yield side, str(given).lower()
    for side in _NAMES:
        given = getattr(when, side)
        if given is not None:
            yield side, f"[{', '.join(map(quoted, sorted(given)))}]"


def _names(table: Mapping[str, object], side: str, at: Place, check: Check) -> frozenset[str] | None:
    listed = check.texts(table, side, at=at, characters_max=CLAIM_NAME_CHARACTERS_MAX, most=CLAIM_NAMES_MAX)
    return None if listed is None else frozenset(map(canonical, listed))


def _makes_sense(when: Condition, at: Place, check: Check) -> None:
    """Note what contradicts itself, so that nothing could ever match it."""
    least, most, longest = when.characters_min, when.characters_max, when.empty_or_longer_than_characters
    if least is not None and most is not None and least > most:
        check.wrong(at, "characters_min", "characters_min is over characters_max: nothing is so long")
    if longest is not None and least is not None:
        check.wrong(at, "characters_min", f"give {LENGTH} or characters_min, not both")
    if longest is not None and most is not None:
        check.wrong(at, "characters_max", f"give {LENGTH} or characters_max, not both")
    named = [side for side in _NAMES if getattr(when, side) is not None]
    if named and when.has_claim is False:
        check.wrong(at, "has_claim", f"{named[0]} asks for a claim, and has_claim for none")
