"""How rules for an intent are put together: what is done, to what, and whose it is.

An attack can be worded in a thousand ways, but it must say what it wants. So a rule is written as a verb with
all its synonyms and forms, what may stand between, and the things that the verb must not be done to.
"""

from tenure.core.scanning.instruction_words import is_order
from tenure.core.scanning.matching import Accept, Rule, phrase_rule

LIKELY, POSSIBLE = 0.7, 0.5
SAME_SENTENCE = r"[^.!?\n]{0,70}?"


def forms_of(verb: str) -> list[str]:
    """The verb as it stands, and its regular forms."""
    stem = verb.removesuffix("e")
    past = verb + "d" if verb.endswith("e") else verb + "ed"
    return [verb, verb + "s", past, stem + "ing"]


def every_form(verbs: str) -> str:
    """A pattern for any form of any of the verbs, which blanks part; `_` stands for a blank inside one."""
    forms = [form for verb in verbs.split() for form in _written(verb)]
    return f"(?:{'|'.join(forms)})"


def _written(verb: str) -> list[str]:
    if "_" in verb:
        return [verb.replace("_", " ")]
    return forms_of(verb)


def _leads(verbs: str) -> str:
    return " ".join(form.partition(" ")[0] for verb in verbs.split() for form in _written(verb))


def intent(
    name: str,
    verbs: str,
    rest: str,
    *,
    things: str,
    confidence: float = LIKELY,
    accept: Accept | None = is_order,
) -> Rule:
    """A rule for a verb in any form, and what follows it; `things` are words of which one must be there."""
    return phrase_rule(
        name,
        rf"\b{every_form(verbs)} {rest}",
        leads=_leads(verbs),
        words=things,
        also=_leads(verbs),
        confidence=confidence,
        accept=accept,
    )
