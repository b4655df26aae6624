"""How many tokens a language model counts in a text: an estimate that errs high, for budgets. Pure.

It counts what common byte-pair vocabularies make one token of, and adds a reserve by the kind of text: what
such a vocabulary knows less well comes in more pieces. A budget that is overrun costs more than one that is
not filled; whoever wants it filled names the tokenizer.
"""

import math
import re
from typing import Final

# English, code and JSON, which every vocabulary knows best.
RESERVE: Final = 1.10
# Other languages in Latin letters, whose words come in pieces.
RESERVE_OF_OTHER_WORDS: Final = 1.60
# Scripts of which a character is about a token.
RESERVE_OF_WIDE: Final = 1.35

# One match is about one token of the usual byte-pair vocabularies.
_LETTERS: Final = " ?[A-Z]?[a-z]{1,11}|'[a-z]{1,2}(?![a-z])| ?[A-Z]{1,4}(?![a-z])|[A-Z]"
_ASCII_TOKEN: Final = re.compile(rf"{_LETTERS}|[0-9]{{1,3}}| ?[^\sA-Za-z0-9]{{1,2}}\n*|\s+")
_ANY_TOKEN: Final = re.compile(
    rf"{_LETTERS}|[0-9]{{1,3}}| ?[!-/:-@\[-`{{-~]{{1,2}}\n*|[\u0400-\u052f]{{1,2}}|[^\s\u0000-\u007f]|\s+"
)
_WIDE: Final = re.compile("[\u0590-\u1fff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufdff\ufe30-\uffef]")
# Pictures, rare scripts and everything beyond the basic plane cost two tokens and more for a character.
_COSTLY: Final = re.compile(
    "[\u0530-\u058f\u0700-\u08ff\u10a0-\u10ff\u1200-\u1fff\u2190-\u2bff\ua000-\uabff\U00010000-\U0010ffff]"
)

# So few words say nothing of their language.
_WORDS_MIN: Final = 6
_ENGLISH_WORDS: Final = (
    " the ",
    " to ",
    " a ",
    " and ",
    " of ",
    " in ",
    " is ",
    " I ",
    " for ",
    " you ",
    " on ",
    " with ",
)
_CODE_MARKS: Final = ("(", "=", ";", "_")


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model counts in the text; seldom fewer than it does."""
    if text.isascii():
        return math.ceil(len(_ASCII_TOKEN.findall(text)) * _reserve(text))
    wide = len(_WIDE.findall(text))
    narrow = len(_ANY_TOKEN.findall(text)) - wide + len(_COSTLY.findall(text))
    return math.ceil(narrow * _reserve(text) + wide * RESERVE_OF_WIDE)


def _reserve(text: str) -> float:
    """What words in Latin letters need: less where they are English, or code."""
    words = text.count(" ") + 1
    if words < _WORDS_MIN:
        return RESERVE
    english = sum(map(text.count, _ENGLISH_WORDS))
    if english * 12 >= words or sum(map(text.count, _CODE_MARKS)) * 6 >= words:
        return RESERVE
    return RESERVE_OF_OTHER_WORDS
