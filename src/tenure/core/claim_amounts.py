"""Amounts as people write them: one number in one unit, or nothing where it could be read in two ways. Pure.

Laws: what is read equal is equal; units that cannot be converted without knowing more stay as they are.
"""

import re
from decimal import Decimal
from types import MappingProxyType
from typing import Final, NamedTuple

AMOUNT_CHARACTERS_MAX: Final = 64
# A unit of one's own is a word or two, with at most one "per".
_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9.,' ]*")
_UNIT: Final = re.compile(r"[^\W\d_]+(?:[ /-][^\W\d_]+){0,2}")
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:([,.' ])[0-9]{3})(?:\1[0-9]{3})*+")
_PLAIN: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_DECIMALS_OF_A_GROUP: Final = 3

# A small b after a size is a bit, not a byte; a great letter alone is no unit of this table.
_BITS: Final = re.compile(r"(?<![A-Za-z])([kKMGTmgt]i?)b(?![A-Za-z])")
_LETTER: Final = re.compile(r"[A-JL-Z]")
_NO_UNITS: Final = frozenset(
    {"and", "or", "to", "x", "by", "of", "in", "on", "for", "from", "at", "not", "is"}
)

_SECONDS: Final = {
    "ms": "0.001", "millisecond": "0.001", "msec": "0.001",
    "s": "1", "sec": "1", "second": "1",
    "min": "60", "minute": "60",
    "h": "3600", "hr": "3600", "hour": "3600",
    "d": "86400", "day": "86400", "week": "604800",
}  # fmt: skip
_BYTES: Final = {
    "byte": "1", "kib": "1024", "mib": "1048576", "gib": "1073741824", "tib": "1099511627776",
}  # fmt: skip
_METRES: Final = {"mm": "0.001", "cm": "0.01", "metre": "1", "meter": "1", "km": "1000", "kilometre": "1000"}
_GRAMS: Final = {"g": "1", "gram": "1", "kg": "1000", "kilogram": "1000"}
CONVERTED: Final = MappingProxyType(
    {
        name: (dimension, Decimal(factor))
        for dimension, table in (("s", _SECONDS), ("byte", _BYTES), ("metre", _METRES), ("g", _GRAMS))
        for name, factor in table.items()
    }
)
"""Units that convert into one another without doubt. KB, MB and GB do not: some count them by 1,000."""

CURRENCIES: Final = MappingProxyType(
    {
        "€": "EUR", "eur": "EUR", "euro": "EUR",
        "£": "GBP", "gbp": "GBP",
        "usd": "USD", "us$": "USD", "chf": "CHF", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
        "pln": "PLN", "jpy": "JPY", "cny": "CNY", "inr": "INR", "cad": "CAD", "aud": "AUD",
        "$": "$", "dollar": "$", "¥": "¥",
    }
)  # fmt: skip
"""How currencies are written. A bare dollar sign is a unit of its own: it may be of several countries."""

_SIZES: Final = MappingProxyType(
    {"k": Decimal(1000), "thousand": Decimal(1000), "million": Decimal(1_000_000), "billion": Decimal(10**9)}
)
_WORDS: Final = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
NUMBER_WORDS: Final = MappingProxyType({word: Decimal(value) for value, word in enumerate(_WORDS)})


class Amount(NamedTuple):
    """A number and what it counts; no unit where none was said."""

    number: Decimal
    unit: str


def number(text: str) -> Decimal | None:
    """A number with either sort of separators, if there is one way to read it.

    `1,200` is read as English has it; `1.200` is not read, since it is a thousand more in half of Europe.
    """
    sign = -1 if text.startswith("-") else 1
    bare = text.lstrip("+-").strip()
    whole, mark, rest = bare, "", ""
    for at in range(len(bare) - 1, -1, -1):
        if bare[at] in ",.":
            whole, mark, rest = bare[:at], bare[at], bare[at + 1 :]
            break
    if mark and rest.isdigit() and mark not in whole and (grouped := _GROUPED.fullmatch(whole)):
        if grouped.group(1) != mark:
            return sign * Decimal(_digits(whole) + "." + rest)
        return None
    if (grouped := _GROUPED.fullmatch(bare)) is not None:
        dotted_once = grouped.group(1) == "." and bare.count(".") == 1
        return None if dotted_once else sign * Decimal(_digits(bare))
    if _PLAIN.fullmatch(bare):
        is_unsure = mark == "," and len(rest) >= _DECIMALS_OF_A_GROUP
        return None if is_unsure else sign * Decimal(bare.replace(",", "."))
    return None


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def amount(text: str) -> Amount | None:
    """`EUR 1,200.50`, `1200.50 €`, `30s`, `two nodes`, `500 requests per second`; nothing if unsure."""
    text = text.strip()
    if not text or len(text) > AMOUNT_CHARACTERS_MAX:
        return None
    before, figure, after = _parted(text)
    if figure is None:
        return None
    if not before:
        return _measured(figure, after)
    currency = CURRENCIES.get(_singular(before.casefold()))
    if currency is None:
        return None
    measured = _measured(figure, f"{currency} {after}".strip())
    return measured if measured is not None and measured.unit.partition("/")[0] == currency else None


def _parted(text: str) -> tuple[str, Decimal | None, str]:
    """What stands before a number, the number, and what stands after it."""
    first, _, rest = text.partition(" ")
    if (said := NUMBER_WORDS.get(first.casefold())) is not None:
        return "", said, rest.strip()
    found = _NUMBER.search(text)
    if found is None:
        return text, None, ""
    written = found.group().rstrip()
    after = text[found.start() + len(written) :]
    return text[: found.start()].strip(), number(written), after.strip()


def _measured(figure: Decimal, unit: str) -> Amount | None:
    """A number with the unit after it, brought to the least of its kind."""
    if _LETTER.fullmatch(unit):
        return Amount(figure, unit)
    folded = " ".join(_BITS.sub(r"\1bit", unit).casefold().split())
    size, _, rest = folded.partition(" ")
    if size in _SIZES:
        figure, folded = figure * _SIZES[size], rest
    if not folded:
        return Amount(figure, "")
    if folded in {"%", "percent", "per cent"}:
        return Amount(figure, "%")
    # A trailing k is a thousand only where nothing else follows; other letters are units.
    return _in_unit(figure, folded)


def _in_unit(figure: Decimal, folded: str) -> Amount | None:
    one = _singular(folded)
    if one in CURRENCIES:
        return Amount(figure, CURRENCIES[one])
    if one in CONVERTED:
        dimension, factor = CONVERTED[one]
        return Amount(figure * factor, dimension)
    spelled = folded.replace(" per ", "/").replace(" / ", "/").replace(" /", "/")
    for sign, name in (("€", "eur"), ("£", "gbp"), ("$", "dollar")):
        spelled = spelled.replace(sign, name)
    if not _UNIT.fullmatch(spelled) or _NO_UNITS & set(spelled.split()):
        return None
    return Amount(figure, "/".join(_unit_name(part) for part in spelled.split("/")))


def _unit_name(part: str) -> str:
    """One part of a rate by the name of its unit, so that a second and an s are the same."""
    one = _singular(part.strip())
    if one in CURRENCIES:
        return CURRENCIES[one]
    names = {"sec": "s", "second": "s", "minute": "min", "hour": "h", "hr": "h", "day": "d", "req": "request"}
    return names.get(one, one)


def _singular(word: str) -> str:
    """The word without the s of the plural; short units and double s are left."""
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")  # noqa: PLR2004 -- not "ms"
    return word[:-1] if is_plural else word


def plain(value: Decimal) -> str:
    """The one way to write a number: no exponent, no needless zeros."""
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if value == 0 else text
