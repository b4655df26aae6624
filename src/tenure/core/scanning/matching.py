"""Rules that find things in a view, and the packs in which a scanner holds them.

A rule's pattern runs only where the text has a word that begins like one of the rule's: one pass over the
words serves every rule, and costs less than a single pattern. Patterns are written so that they cannot
backtrack far: words and the blanks between them are matched possessively, and every gap has a length.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, Protocol

from tenure.core.scanning.findings import Finding, FindingKind
from tenure.core.scanning.normalising import START_CHARACTERS, View

MATCHES_PER_RULE_MAX = 16
# What may stand between two words of a phrase: blanks, quotation marks, emphasis, a comma.
_BETWEEN = r"(?:[\s\u0085\u2028\u2029\"'`*_,(\[]++)"
_GAP = re.compile(r"<(\d+)> ")
# Words that most texts have: a rule that needs another as well is better looked up by that.
_COMMON_WORDS = (
    "the this these that it is are be to from for with in on at by of and or if when all any every no not do"
    " don i you your my we they other new will can shoul must may as so use have has get give make keep show"
    " tell add set run after befor once without here about user users only just then also first same our"
    " their never alway"
)
_COMMON = frozenset(_COMMON_WORDS.split())
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
    """A pattern that is compiled when it is first tried: most never are, and all take a third of a second."""

    __slots__ = ("_compile", "_compiled", "source")

    def __init__(self, source: str, compile_with: Callable[[str], "re.Pattern[str]"] = re.compile) -> None:
        self.source = source
        self._compile = compile_with
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> "re.Pattern[str]":
        """The pattern itself."""
        if self._compiled is None:
            self._compiled = self._compile(self.source)
        return self._compiled


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
        self._words: dict[str, list[int]] = {}
        self._marks: dict[str, list[int]] = {}
        self._others: list[frozenset[str]] = []
        for at, rule in enumerate(rules):
            rarer = _rarer(rule)
            self._others.append(rule.also if rarer is rule.words else rule.words)
            for word in rarer:
                self._words.setdefault(word, []).append(at)
            for mark in rule.marks:
                self._marks.setdefault(mark, []).append(at)
        self._ascii_marks = {mark: rules for mark, rules in self._marks.items() if mark.isascii()}
        self._only_digits = [at for at, rule in enumerate(rules) if not rule.words and not rule.marks]

    def find(self, view: View) -> list[Finding]:
        """Everything that the rules find in the view."""
        places = [
            (rule, *match.span())
            for rule in self._candidates(view)
            for match in islice(_accepted(rule, view), MATCHES_PER_RULE_MAX)
        ]
        if not places:
            return []
        locate = view.locator()
        return [self._finding(rule, *locate(start, end)) for rule, start, end in places]

    def _candidates(self, view: View) -> list[Rule]:
        """The rules that are worth trying on the view."""
        folded, starts = view.folded, view.starts
        found: list[int] = []
        for word in starts & self._words.keys():
            found += self._words[word]
        for mark, rules in (self._ascii_marks if folded.isascii() else self._marks).items():
            if mark in folded:
                found += rules
        digits = sum(map(folded.count, "0123456789")) if self._counts_digits else 0
        if digits:
            found += self._only_digits
        return [
            self.rules[at]
            for at in sorted(set(found))
            if not (self._others[at] and starts.isdisjoint(self._others[at]))
            and digits >= self.rules[at].digits_min
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


def _rarer(rule: Rule) -> frozenset[str]:
    """Of the words of which a text must have one, and those of which it must also have one, the rarer."""
    if rule.marks or not rule.also or not rule.words:
        return rule.words
    return min(rule.words, rule.also, key=lambda words: len(words & _COMMON))


def _accepted(rule: Rule, view: View) -> Iterator["re.Match[str]"]:
    """The matches of the rule's pattern that its second look lets pass."""
    text = view.text if rule.cased else view.folded
    found = _led(rule, view) if rule.leads else rule.pattern.compiled.finditer(text)
    for match in found:
        if rule.accept is None or rule.accept(view, match):
            yield match


def _led(rule: Rule, view: View) -> Iterator["re.Match[str]"]:
    """The matches that start at one of the rule's leads, from left to right, none inside another."""
    folded, done, pattern = view.folded, 0, rule.pattern.compiled
    places = {place for lead in rule.leads & view.starts for place in _places(lead, folded)}
    for place in sorted(places):
        if place >= done and (match := pattern.match(folded, place)):
            done = match.end()
            yield match


def _places(part: str, text: str) -> Iterator[int]:
    """Every place where the part stands in the text."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)
