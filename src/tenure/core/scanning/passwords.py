"""Sensitive rule: a password that is a plain word, which no shape tells from the rest of a sentence."""

import re

from tenure.core.scanning.matching import LatePattern, Rule, starts_of
from tenure.core.scanning.normalising import View

_ORDINARY = (
    "a an the not no so too very my your our their his her its it this that these those there here what"
    " when where why how in on at to of for from by with and or but if as all one only also just even"
    " still now never always often wrong right correct incorrect invalid valid weak strong long short safe"
    " secure insecure secret public private confidential common unique random simple complex easy hard"
    " good bad better best great fine ok okay okey case empty blank old new gone lost missing unknown"
    " different same mandatory sensitive ready available stale dead low high null text string plain"
    " plaintext yes none something anything nothing everything important necessary enough up out off about"
    " between longer shorter sent kept set shown sure more less most least part under over being having both"
)
_ORDINARY_WORDS = frozenset(_ORDINARY.split())
_ORDINARY_ENDINGS = (
    "ed",
    "ing",
    "en",
    "able",
    "ible",
    "al",
    "ly",
    "ive",
    "ous",
    "ful",
    "less",
    "ory",
    "ary",
    "ic",
    "ent",
    "ant",
    "t's",
)


def _is_word_of_its_own(_view: View, match: re.Match[str]) -> bool:
    """Whether the word behind "the password is" cannot be the rest of an ordinary sentence."""
    word = match["value"]
    return word not in _ORDINARY_WORDS and not word.endswith(_ORDINARY_ENDINGS)


PASSWORD_WORDS = (
    Rule(
        name="sensitive.possible-password",
        pattern=LatePattern(
            r"(?<![a-z])pass(?:word|phrase|code)(?:\s++(?:for|to|of|on|at)\s[^.!?;:=\n]{1,40}?)?\s++(?:is"
            r"|was)\s++[\"'`]?"
            r"(?P<value>[a-z]{4,32}(?:-[a-z]{3,32}){0,8}+)[\"'`]?(?:[.,;!]?(?:\s*+\n|\s*+$)|[.,;!]\s)"
        ),
        confidence=0.5,
        words=starts_of("password passphrase passcode"),
        accept=_is_word_of_its_own,
    ),
)
