"""Rules that find things in a view, and the packs in which a scanner holds them.

A rule's pattern runs only where the text has a word that begins like one of the rule's: one pass over the
words serves every rule, and costs less than a single pattern. It is tried only at the words it can start
with, which the rule says, or which are read off the pattern (`openings`). Patterns are written so that they
cannot backtrack far: words and the blanks between them are matched possessively, and every gap has a length.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, reduce
from itertools import repeat
from operator import or_
from typing import NamedTuple, Protocol

from tenure.core.scanning.findings import Finding, FindingKind
from tenure.core.scanning.normalising import START_CHARACTERS, View
from tenure.core.scanning.openings import beginnings_of, openings_of

MATCHES_PER_RULE_MAX = 16
# What may stand between two words of a phrase: blanks, quotation marks, emphasis, a comma.
_BETWEEN = r"(?:[\s\u0085\u2028\u2029\"'`*_,(\[]++)"
_GAP = re.compile(r"<(\d+)> ")
# Signs by which marks are looked up together, the rarest first.
_RARE_SIGNS = "|<{[#~@_/(]:-."
_NO_DIGITS = bytes(set(range(128)) - set(b"0123456789"))
# The two ends of a word. An underscore is no part of one: it is emphasis, or joins words in a name.
_BEGIN = re.compile(r"\\b(?=[a-z]|\(\?:)")
_BEGINS, _ENDS = "(?<![a-z0-9])", "(?![a-z0-9])"

Accept = Callable[[View, "re.Match[str]"], bool]


class Scanner(Protocol):
    """Something that finds things in a view; its version changes whenever its findings may."""

    @property
    def name(self) -> str:
        """A short stable name."""

    @property
    def version(self) -> str:
        """The version of its rules."""

    def find(self, view: View) -> Iterable[Finding]:
        """Everything found in the view."""


class LatePattern:
    """A pattern that is compiled when it is first tried: most never are, and all take a third of a second.

    How its matches begin is read off its source, which costs a tenth of compiling it.
    """

    def __init__(self, source: str, compile_with: Callable[[str], "re.Pattern[str]"] = re.compile) -> None:
        self.source = source
        self._compile = compile_with

    @cached_property
    def compiled(self) -> "re.Pattern[str]":
        """The pattern itself."""
        return self._compile(self.source)

    @property
    def is_compiled(self) -> bool:
        """Whether it was tried before."""
        return "compiled" in self.__dict__

    @cached_property
    def beginnings(self) -> tuple[str, ...]:
        """What every match begins with, where a word does; nothing, when that cannot be told."""
        return beginnings_of(self.source)

    @cached_property
    def openings(self) -> frozenset[str]:
        """How the words begin at which a match can start, all equally long; nothing, if it can elsewhere."""
        return openings_of(self.beginnings)


class Rule(NamedTuple):
    """What to look for, and what must be in the text before it is worth looking.

    That is a word that begins like one of `words`, or one of the `marks` as it stands, and a word that begins
    like one of `also`, and so many digits; whatever is left empty is not asked for. With `leads`, a match can
    only start at a word that begins like one of them, and is tried nowhere else.
    """

    name: str
    pattern: LatePattern
    confidence: float
    leads: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    marks: tuple[str, ...] = ()
    digits_min: int = 0
    cased: bool = False
    accept: Accept | None = None


class RulePack:
    """A scanner made of rules."""

    def __init__(self, name: str, version: str, rules: tuple[Rule, ...]) -> None:
        self.name = name
        self.version = version
        self.rules = rules
        self._counts_digits = any(rule.digits_min for rule in rules)
        # A rule is one bit among those that have their word, and one among those that have the other as well.
        self._words: dict[str, int] = {}
        self._marks: dict[str, dict[str, int]] = {}
        self._only_digits = self._ask_for_one = 0
        for at, rule in enumerate(rules):
            first, second = 1 << at, 1 << at + len(rules)
            for word in rule.words:
                self._words[word] = self._words.get(word, 0) | first
            for word in rule.also:
                self._words[word] = self._words.get(word, 0) | second
            for mark in rule.marks:
                alike = self._marks.setdefault(_sign_of(mark), {})
                alike[mark] = alike.get(mark, 0) | first
            self._ask_for_one |= 0 if rule.also else second
            self._only_digits |= 0 if rule.words or rule.marks else first

    def find(self, view: View) -> list[Finding]:
        """Everything that the rules find in the view."""
        places = [(rule, *match.span()) for rule in self._candidates(view) for match in _accepted(rule, view)]
        if not places:
            return []
        locate = view.locator()
        return [self._finding(rule, *locate(start, end)) for rule, start, end in places]

    def _candidates(self, view: View) -> list[Rule]:
        """The rules that are worth trying on the view."""
        folded = view.folded
        bits = reduce(or_, filter(None, map(self._words.get, view.starts)), self._ask_for_one)
        for sign, marks in self._marks.items():
            if sign in folded:
                bits = reduce(or_, [rules for mark, rules in marks.items() if mark in folded], bits)
        digits = _digits_in(folded) if self._counts_digits else 0
        if digits:
            bits |= self._only_digits
        return [
            rule
            for at in _set_in(bits & bits >> len(self.rules))
            if digits >= (rule := self.rules[at]).digits_min
        ]

    def _finding(self, rule: Rule, start: int, end: int) -> Finding:
        return Finding(
            kind=FindingKind(rule.name.partition(".")[0]),
            rule=rule.name,
            scanner=f"{self.name}/{self.version}",
            start=start,
            end=end,
            confidence=rule.confidence,
        )


def phrase_rule(
    name: str,
    pattern: str,
    *,
    leads: str = "",
    words: str = "",
    also: str = "",
    marks: tuple[str, ...] = (),
    confidence: float = 0.9,
    accept: Accept | None = None,
) -> Rule:
    """A rule over folded text, in the notation of `phrase`; the words are parted by blanks."""
    return Rule(
        name=name,
        pattern=LatePattern(pattern, phrase),
        confidence=confidence,
        leads=starts_of(leads),
        words=starts_of(words),
        also=starts_of(also),
        marks=marks,
        accept=accept,
    )


def phrase(pattern: str) -> re.Pattern[str]:
    """A pattern in which a blank is whatever may stand between two words, and `<3> ` is up to three words.

    Words are those of Latin letters, so that letters of another script beside one do not hide it.
    """
    gapped = _GAP.sub(lambda gap: rf"(?:[^\s.!?;:]{{1,24}}+{_BETWEEN}){{0,{gap[1]}}}?", pattern)
    bounded = _BEGIN.sub(_BEGINS, gapped).replace(r"\b", _ENDS)
    return re.compile(bounded.replace(" ", _BETWEEN), re.ASCII)


def any_of(*forms: str) -> str:
    """A pattern for any one of the forms."""
    return f"(?:{'|'.join(forms)})"


def starts_of(words: str) -> frozenset[str]:
    """How each of the words, parted by blanks, begins; one shorter than a start stands for itself alone."""
    return frozenset(word[:START_CHARACTERS] for word in words.split())


def _sign_of(mark: str) -> str:
    """What to look for before the mark: of its characters the one that the fewest texts have."""
    foreign = next((character for character in mark if not character.isascii()), None)
    return foreign or next((sign for sign in _RARE_SIGNS if sign in mark), mark)


def _digits_in(folded: str) -> int:
    return len(folded.encode("ascii", "ignore").translate(None, _NO_DIGITS))


def _set_in(bits: int) -> Iterator[int]:
    """The places of the bits that are set, from the lowest."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _accepted(rule: Rule, view: View) -> list["re.Match[str]"]:
    """The first matches that the rule's second look lets pass, from left to right, none inside another."""
    found: list[re.Match[str]] = []
    done = 0
    for match in _tried(rule, view):
        if match.start() >= done:
            done = match.end()
            if rule.accept is None or rule.accept(view, match):
                found.append(match)
                if len(found) == MATCHES_PER_RULE_MAX:
                    break
    return found


def _tried(rule: Rule, view: View) -> Iterator["re.Match[str]"]:
    """The matches at each place where one can start; a pattern that has no such place is not compiled."""
    text = view.text if rule.cased else view.folded
    if rule.leads:
        places = view.places_of(rule.leads & view.starts)
    elif openings := rule.pattern.openings:
        places = view.places_of(view.starts_with(openings))
    else:
        return rule.pattern.compiled.finditer(text)
    if not rule.pattern.is_compiled and (beginnings := rule.pattern.beginnings):
        places = [place for place in places if text.startswith(beginnings, place)]
    return filter(None, map(rule.pattern.compiled.match, repeat(text), places)) if places else iter(())
