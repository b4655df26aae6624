"""Where the next page of a list begins: a position in the log, behind a word that says which way it goes."""

from typing import Final

from tenure.core.errors import InvalidRequest

_POSITION_DIGITS_MAX: Final = 18


def position(cursor: str | None, *, word: str) -> int | None:
    """The position that a cursor names; raises InvalidRequest for what no page gave."""
    if cursor is None:
        return None
    digits = cursor.removeprefix(word)
    if digits == cursor or not (digits.isascii() and digits.isdigit()) or len(digits) > _POSITION_DIGITS_MAX:
        raise InvalidRequest("cursor must be the next_cursor of an earlier page", field="cursor")
    return int(digits)
