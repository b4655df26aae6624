"""Reading a policy document field by field, strictly, every mistake with its line (SPEC S3). Pure."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Final

import msgspec

from tenure.core.policy_lines import Lines, Place

DOCUMENT_CHARACTERS_MAX: Final = 262_144


class Mistake(msgspec.Struct, frozen=True):
    """One thing that is wrong, and about where."""

    line: int
    says: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.says}"


class BadPolicy(ValueError):
    """The document is no policy; every mistake is named with its line."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda one: one.line))
        super().__init__("; ".join(map(str, self.mistakes)))


def tables_of(text: str) -> dict[str, Any]:
    """The document as TOML reads it; raises BadPolicy where it is none."""
    if len(text) > DOCUMENT_CHARACTERS_MAX:
        raise BadPolicy([Mistake(1, f"a policy has at most {DOCUMENT_CHARACTERS_MAX:,} characters")])
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BadPolicy([Mistake(1, "it is nested too deeply")]) from None
    except ValueError as fault:
        place = re.search(r"\(at line (\d+), column \d+\)|\(at end of document\)", str(fault))
        line = int(place[1]) if place is not None and place[1] else text.count("\n") + 1
        said = str(fault).split(" (at ")[0]
        raise BadPolicy([Mistake(line, f"it is not valid TOML: {said[:200]}")]) from None


class Check:
    """Reads fields and collects what is wrong with them."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.mistakes: list[Mistake] = []

    def wrong(self, at: Place | None, field: str | None, says: str) -> None:
        """Note a mistake; of a table, with what it is and its number."""
        where = "" if at is None else f"{at.table.removesuffix('s')} {at.number + 1}: "
        self.mistakes.append(Mistake(self.lines.of(at, field), f"{where}{says}"))

    def fields(self, table: Mapping[str, object], known: Sequence[str], *, at: Place | None) -> None:
        """Note every field that is not one of these."""
        for field in table:
            if field not in known:
                nearest = get_close_matches(field, known, n=1)
                hint = f"did you mean {nearest[0]}?" if nearest else f"known: {', '.join(known)}"
                self.wrong(at, field, f"there is no field {field[:64]!r}; {hint}")

    def text(self, table: Mapping[str, object], field: str, *, at: Place | None, characters_max: int) -> str:
        """A text that must be there."""
        value = table.get(field)
        if _is_text(value, characters_max):
            return str(value)
        self.wrong(at, field, f"{field} must be a text of 1 to {characters_max} printable characters")
        return ""

    def texts(
        self, table: Mapping[str, object], field: str, *, at: Place, characters_max: int, most: int
    ) -> list[str] | None:
        """A list of texts, at least one, where it is given."""
        value = table.get(field)
        if value is None:
            return None
        listed = value if isinstance(value, list) else []
        if 0 < len(listed) <= most and all(_is_text(one, characters_max) for one in listed):
            return listed
        says = f"{field} must list 1 to {most} texts of 1 to {characters_max} printable characters"
        self.wrong(at, field, says)
        return None

    def number(
        self,
        table: Mapping[str, object],
        field: str,
        *,
        at: Place,
        most: int,
        least: int = 1,
        beyond: str = "",
    ) -> int | None:
        """A whole number, where it is given."""
        value = table.get(field)
        if value is None or (type(value) is int and least <= value <= most):
            return value
        self.wrong(at, field, f"{field} must be a whole number from {least} to {most}{beyond}")
        return None

    def truth(self, table: Mapping[str, object], field: str, *, at: Place) -> bool | None:
        """True or false, where it is given."""
        value = table.get(field)
        if value is None or isinstance(value, bool):
            return value
        self.wrong(at, field, f"{field} must be true or false")
        return None

    def word(self, table: Mapping[str, object], field: str, known: Sequence[StrEnum], *, at: Place) -> Any:
        """One of the known words, where it is given."""
        value = table.get(field)
        if value is None or (isinstance(value, str) and value in known):
            return type(known[0])(value) if value is not None else None
        self.wrong(at, field, f"{field} must be one of {', '.join(known)}")
        return None

    def words(
        self,
        table: Mapping[str, object],
        field: str,
        known: type[StrEnum],
        *,
        at: Place,
        may_be_empty: bool = False,
    ) -> Any:
        """A list of known words, each once and at least one, where it is given."""
        value = table.get(field)
        if value is None:
            return None
        listed = value if isinstance(value, list) else []
        if may_be_empty and value == []:
            return frozenset()
        unknown = [one for one in listed if not isinstance(one, str) or one not in set(known)]
        if unknown or not listed or len(set(listed)) < len(listed):
            named = f"{str(unknown[0])[:64]!r} is not one; " if unknown else ""
            self.wrong(
                at, field, f"{field} must list some of {', '.join(known)}, each once; {named}".rstrip("; ")
            )
            return None
        return frozenset(known(one) for one in listed)


def quoted(text: str) -> str:
    """A printable text as TOML and JSON both write it."""
    return msgspec.json.encode(str(text)).decode()


def _is_text(value: object, characters_max: int) -> bool:
    return (
        isinstance(value, str)
        and bool(value.strip())
        and value.isprintable()
        and len(value) <= characters_max
    )
