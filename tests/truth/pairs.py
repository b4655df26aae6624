"""The table of pairs, and how a way to decide on them is judged by it."""

import tomllib
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from tenure.core.vocabulary import Claim

TABLE: Final = Path(__file__).with_name("pairs.toml")
TENANT: Final = "acme"
SUBJECT: Final = "kim"
PURPOSE: Final = "support"


class Label(StrEnum):
    """What two memories are to each other."""

    DUPLICATE = "duplicate"
    RELATED = "related"
    CONTRADICTORY = "contradictory"
    UNRELATED = "unrelated"


class Happened(StrEnum):
    """What became of two memories, the second written after the first."""

    MERGED = "merged"
    CONTRADICTION = "contradiction"
    APART = "apart"


class Pair(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the table."""

    label: Label
    near_miss: bool
    a: str
    b: str
    why: str
    a_claim: Claim | None = None
    b_claim: Claim | None = None
    b_subject: str = SUBJECT
    b_purpose: str = PURPOSE
    b_tenant: str = TENANT

    @property
    def shares_boundary(self) -> bool:
        """Whether both stand where they may touch each other."""
        return (self.b_tenant, self.b_subject, self.b_purpose) == (TENANT, SUBJECT, PURPOSE)


class Side(NamedTuple):
    """One memory of a pair as it is to be proposed."""

    content: str
    claim: Claim | None
    tenant: str
    subject: str
    purpose: str


class Judgement(NamedTuple):
    """What a way to decide got wrong, which must be nothing, and how much it found."""

    wrong_merges: tuple[Pair, ...]
    wrong_contradictions: tuple[Pair, ...]
    missed_duplicates: tuple[Pair, ...]
    missed_contradictions: tuple[Pair, ...]
    duplicates: int
    contradictions: int

    def summary(self) -> str:
        """The counts in a line, for the documentation."""
        return (
            f"{len(self.wrong_merges)} wrong merges, {len(self.wrong_contradictions)} wrong contradictions, "
            f"{self.duplicates - len(self.missed_duplicates)} of {self.duplicates} duplicates and "
            f"{self.contradictions - len(self.missed_contradictions)} of {self.contradictions} "
            "contradictions found"
        )


def pairs() -> list[Pair]:
    """Every row, checked for its shape."""
    return msgspec.convert(tomllib.loads(TABLE.read_text(encoding="utf-8"))["pair"], list[Pair])


def sides(pair: Pair, *, turned: bool = False) -> tuple[Side, Side]:
    """Both memories in the order in which they are written; turned, the second comes first."""
    first = Side(pair.a, pair.a_claim, TENANT, SUBJECT, PURPOSE)
    second = Side(pair.b, pair.b_claim, pair.b_tenant, pair.b_subject, pair.b_purpose)
    return (second, first) if turned else (first, second)


def judged(table: Iterable[Pair], decide: Callable[[Side, Side], Happened]) -> Judgement:
    """Write each pair in both orders with `decide`, and compare what happened with the labels.

    Something wrong in one order is wrong; something found must be found in both.
    """
    rows = list(table)
    happened = [{decide(*sides(pair)), decide(*sides(pair, turned=True))} for pair in rows]
    told = list(zip(rows, happened, strict=True))
    return Judgement(
        wrong_merges=_where(
            told, lambda label, all_: label is not Label.DUPLICATE and Happened.MERGED in all_
        ),
        wrong_contradictions=_where(
            told, lambda label, all_: label is not Label.CONTRADICTORY and Happened.CONTRADICTION in all_
        ),
        missed_duplicates=_where(
            told, lambda label, all_: label is Label.DUPLICATE and all_ != {Happened.MERGED}
        ),
        missed_contradictions=_where(
            told, lambda label, all_: label is Label.CONTRADICTORY and all_ != {Happened.CONTRADICTION}
        ),
        duplicates=sum(pair.label is Label.DUPLICATE for pair in rows),
        contradictions=sum(pair.label is Label.CONTRADICTORY for pair in rows),
    )


def _where(
    told: list[tuple[Pair, set[Happened]]], chosen: Callable[[Label, set[Happened]], bool]
) -> tuple[Pair, ...]:
    return tuple(pair for pair, happened in told if chosen(pair.label, happened))
