"""Sensitive rules: numbers that money can be sent to, said in words, or in parts with words between.

Somebody who reads them puts them together without effort. So the parts behind a country's two letters are
put together here as well, until an account number of that country is long enough, and its check digits tell
whether it is one. A card number in words has its own check digit; any other number needs to be called one.
"""

import re
from collections.abc import Mapping
from typing import Final

from tenure.core.scanning.checksums import is_iban, is_payment_card
from tenure.core.scanning.matching import LatePattern, Rule, any_of, starts_of
from tenure.core.scanning.normalising import View

_SURE, _LIKELY = 0.95, 0.75
_DIGITS_MIN, _CARD_DIGITS_MIN, _ACCOUNT_DIGITS_MIN, _WORDS_MIN = 10, 13, 6, 3
_BEHIND_CHECK_DIGITS: Final = 4
# How long the account numbers of each country are (ISO 13616).
_LENGTHS: Final = {
    country: int(length)
    for length, countries in (
        line.split(": ")
        for line in (
            "15: no",
            "16: be",
            "18: dk fo fi gl nl sd",
            "19: mk si",
            "20: at ba ee kz lt lu mn xk",
            "21: ch cr hr li lv",
            "22: bg bh de gb ge ie me rs va",
            "23: ae gi il iq tl",
            "24: ad cz es md pk ro sa se sk tn vg",
            "25: ly pt st",
            "26: is tr",
            "27: bi dj fr gr it mc mr sm",
            "28: al az by cy do gt hu lb ni pl sv",
            "29: br eg ps qa ua",
            "30: jo kw mu",
            "31: mt sc",
            "32: lc",
            "33: ru",
        )
    )
    for country in countries.split()
}
# Where letters follow the check digits: the name of the bank.
_LETTERED_COUNTRIES = "az bg bh by do gb gi gt ie iq jo kw lc lv mt mu ni nl pk qa ro sc sv vg"
_LETTERED: Final = frozenset(_LETTERED_COUNTRIES.split())

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH: Final = (
    {word: str(number) for number, word in enumerate([*_UNITS.split(), "seventeen", "eighteen", "nineteen"])}
    | {word: f"{number}0" for number, word in enumerate(_TENS.split(), start=2)}
    | {"oh": "0", "nought": "0", "naught": "0", "fourty": "40"}
)
_DIGITS_ABROAD = (
    "null eins zwei drei vier funf sechs sieben acht neun",
    "nil ein zwo trois vier fuenf six sept huit neuf",
    "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "nul un deux tre quatre cinq sei sette otto nove",
    "zero um due drie quattro cinque zes zeven oito negen",
    "zero een dois tres quatro vijf seis sete acht nove",
)
_GERMAN_UNITS = "ein zwei drei vier funf sechs sieben acht neun"
_GERMAN_TENS = "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig"
_ABROAD: Final = (
    {word: str(digit) for words in _DIGITS_ABROAD for digit, word in enumerate(words.split())}
    | {
        f"{unit}und{ten}": f"{tens}{digit}"
        for tens, ten in enumerate(_GERMAN_TENS.split(), start=2)
        for digit, unit in enumerate(_GERMAN_UNITS.split(), start=1)
    }
    | _ENGLISH
)
_TENTHS: Final = frozenset(f"{tens}0" for tens in range(2, 10))
_TIMES: Final = {"double": 2, "triple": 3}
# What is counted so is no part of the number: "part two".
_COUNTERS = "part half piece chunk section step line segment portion"
_COUNTED: Final = frozenset(_COUNTERS.split())

_WORD_STARTS = " ".join([*_ABROAD, *_TIMES])
_SPOKEN = any_of(*sorted({*_ABROAD, *_TIMES}, key=len, reverse=True))
_PART = rf"(?:[a-z]{{0,3}}[0-9][a-z0-9]{{0,3}}|[a-z]{{0,4}}[0-9]{{5,30}}+|{_SPOKEN})(?![a-z0-9])"
_WORDS_BETWEEN = r"[^a-z0-9]{1,8}+(?:[a-z]{1,14}+[^a-z0-9]{1,8}+){0,10}?"
_IN_PARTS = (
    rf"(?<![a-z0-9])[a-z]{{2}}(?:[0-9]{{2}}|[ -](?:[0-9]{{2}}(?![0-9])|{_SPOKEN}(?![a-z])))[a-z0-9]{{0,30}}+"
    rf"(?>{_WORDS_BETWEEN}{_PART}){{1,32}}+"
)
_IN_WORDS = rf"(?<![a-z0-9]){_PART}(?:[ ,.-]{{1,3}}+{_PART}){{{_ACCOUNT_DIGITS_MIN - 3},40}}+"
_CALLED = (
    r"(?<![a-z0-9])(?:bank account|account(?: (?:number|no|nr))?|acct|sort code|routing(?: number)?|iban"
    r"|bic|konto(?:nummer)?|rekening(?:nummer)?|numero d[ei] (?:compte|cuenta|conta|conto))"
    r"(?![a-z])[^0-9\n]{0,30}?"
)
_TOKEN = re.compile("[a-z0-9]+")


def _is_account(_view: View, match: re.Match[str]) -> bool:
    """Whether the parts make an account number of a country that stands before them."""
    tokens = _TOKEN.findall(match[0])
    heads = [at for at, token in enumerate(tokens) if token[:2] in _LENGTHS and _is_head(token)]
    return any(
        _holds(tokens, parts, head)
        for parts in (_parts(tokens, words) for words in (_ENGLISH, _ABROAD))
        for head in heads
    )


def _is_card(_view: View, match: re.Match[str]) -> bool:
    """Whether some of it is said in words, and all of it is a card number."""
    return _spoken(match[0]) >= _WORDS_MIN and is_payment_card(_said(match[0]))


def _is_long(_view: View, match: re.Match[str]) -> bool:
    """Whether what is said in words has the digits of an account."""
    return _spoken(match["number"]) >= _WORDS_MIN and len(_said(match["number"])) >= _ACCOUNT_DIGITS_MIN


def _is_head(token: str) -> bool:
    """Whether it can be the beginning: the two letters alone, or with what follows them."""
    return len(token) == len("de") or token[2].isdigit()


def _spoken(text: str) -> int:
    return sum(token in _ABROAD for token in _TOKEN.findall(text))


def _said(text: str) -> str:
    return "".join(_parts(_TOKEN.findall(text), _ABROAD))


def _holds(tokens: list[str], parts: list[str], head: int) -> bool:
    """Whether the parts, put together one by one, reach the country's length with check digits that hold."""
    number = tokens[head]
    country = number[:2]
    length, is_lettered = _LENGTHS[country], country in _LETTERED
    for at in range(head + 1, len(tokens)):
        if len(number) >= length:
            break
        if parts[at]:
            number += parts[at]
        elif is_lettered and len(number) == _BEHIND_CHECK_DIGITS and len(tokens[at]) == len("west"):
            number += tokens[at]
    return len(number) == length and is_iban(number)


def _parts(tokens: list[str], words: Mapping[str, str]) -> list[str]:
    """What each token says in digits: nothing where it is another word, or only counts the parts."""
    follows = [*tokens[1:], ""]
    before = ["", *tokens]
    return [
        _read(token, words, last, next_one) * _TIMES.get(last, 1)
        for token, last, next_one in zip(tokens, before, follows, strict=False)
    ]


def _read(token: str, words: Mapping[str, str], before: str, follows: str) -> str:
    """The digits of one token; of eighty only one where nine follows."""
    if before in _COUNTED and len(words.get(token, token)) == 1:
        return ""
    if token not in words:
        return token if any(map(str.isdigit, token)) else ""
    digits = words[token]
    if digits in _TENTHS and words.get(follows, "00") in "123456789":
        return digits[0]
    return digits


SPELLED = (
    Rule(
        name="sensitive.iban",
        pattern=LatePattern(_IN_PARTS),
        confidence=_SURE,
        digits_min=_DIGITS_MIN,
        accept=_is_account,
    ),
    Rule(
        name="sensitive.iban",
        pattern=LatePattern(_IN_PARTS),
        confidence=_SURE,
        words=starts_of(_WORD_STARTS),
        accept=_is_account,
    ),
    Rule(
        name="sensitive.payment-card",
        pattern=LatePattern(_IN_WORDS),
        confidence=_SURE,
        words=starts_of(_WORD_STARTS),
        accept=_is_card,
    ),
    Rule(
        name="sensitive.bank-account",
        pattern=LatePattern(rf"{_CALLED}(?P<number>{_IN_WORDS})"),
        confidence=_LIKELY,
        words=starts_of(
            "account acct sort routing iban bic konto kontonummer rekening rekeningnummer numero"
        ),
        also=starts_of(_WORD_STARTS),
        accept=_is_long,
    ),
)
