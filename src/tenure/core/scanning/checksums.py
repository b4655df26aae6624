"""The checks that tell a real account or card number from any other row of digits."""

import hashlib

_CARD_LENGTHS = {
    "4": frozenset((13, 16, 19)),
    "5": frozenset((16,)),
    "2": frozenset((16,)),
    "3": frozenset((14, 15, 16)),
    "6": frozenset((16, 17, 18, 19)),
}
_IBAN_LENGTH_MIN, _IBAN_LENGTH_MAX = 15, 34
_DIGITS_IN_LETTERS = {letter: str(ord(letter) - ord("A") + 10) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_BASE58 = {
    letter: at for at, letter in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
}
_COIN_ADDRESS_OCTETS, _CHECK_OCTETS = 25, 4


def is_iban(text: str) -> bool:
    """Whether the text is an account number whose check digits hold (ISO 13616)."""
    compact = "".join(filter(str.isalnum, text)).upper()
    if not (compact.isascii() and _IBAN_LENGTH_MIN <= len(compact) <= _IBAN_LENGTH_MAX):
        return False
    turned = compact[4:] + compact[:4]
    return int("".join(_DIGITS_IN_LETTERS.get(character, character) for character in turned)) % 97 == 1


def is_payment_card(text: str) -> bool:
    """Whether the text has a card's first digits and length, and its check digit holds (ISO/IEC 7812)."""
    digits = "".join(filter(str.isdigit, text))
    if not _is_issued(digits):
        return False
    total = 0
    for at, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + at % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - two digits are added up: 14 counts as 1 + 4
    return total % 10 == 0


def is_coin_address(text: str) -> bool:
    """Whether the text is a Bitcoin or Tron address in base 58 whose check octets hold."""
    number = 0
    for letter in text:
        if letter not in _BASE58:
            return False
        number = number * 58 + _BASE58[letter]
    if number.bit_length() > 8 * _COIN_ADDRESS_OCTETS:
        return False
    octets = number.to_bytes(_COIN_ADDRESS_OCTETS, "big")
    once = hashlib.sha256(octets[:-_CHECK_OCTETS]).digest()
    return hashlib.sha256(once).digest()[:_CHECK_OCTETS] == octets[-_CHECK_OCTETS:]


def _is_issued(digits: str) -> bool:
    """Whether some network issues cards that begin so and are so long."""
    if len(digits) not in _CARD_LENGTHS.get(digits[:1], ()):
        return False
    if digits[0] == "5":
        return "51" <= digits[:2] <= "55"
    if digits[0] == "2":
        return "2221" <= digits[:4] <= "2720"
    if digits[0] == "3":
        return digits[:2] in {"34", "35", "36", "37", "38", "30"}
    return digits[0] == "4" or digits[:2] in {"60", "62", "64", "65"}
