"""What may be shown of what was found, once it has been scanned again (SPEC R5). Pure.

    judged(memory, findings, policy)            one item by itself: show, hold back, or quarantine
    crossings(findings, places, own)            what items say only together
    gives_way(memories)                         which of those that take part is left out

Laws: what has a finding is not shown, unless a reviewer let it in who was told of that very rule; a scan that
failed shows nothing and quarantines nothing; of items that are harmless alone and not together one is left
out at a time, until the others say nothing either.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from tenure.core.admission import Policy, Proposal, Ruling, counted, rule_on
from tenure.core.creation import verdicts
from tenure.core.events import AlertRaised, Event
from tenure.core.incident_events import Held
from tenure.core.memory import Memory
from tenure.core.policy_replay import is_reviewed
from tenure.core.retention import UPKEEP
from tenure.core.scanning import Finding, FindingKind
from tenure.core.vocabulary import Claim, Outcome

FOUND_AT_READ: Final = "found_at_read"
"""The rule of a memory that was let in, and in which something was found when it was to be shown."""
SPLIT_PAYLOAD: Final = "split_payload"
"""The kind of alert for memories that are harmless alone and not together."""
WINDOW_CHARACTERS: Final = 16_384
"""How much of a joined text is scanned at once; half of it lies in the next window again."""
_RULES_NAMED_MAX: Final = 3
_PAIR: Final = 2
EDGE_CHARACTERS: Final = 300
"""How much of a long content is read at each end: what crosses to a neighbour stands there."""
_LEFT_OUT: Final = "\n...\n"
_REST_OF_CODE: Final = re.compile(r"[A-Za-z0-9+/_=%-]{0,4096}")
_CODE_CHARACTERS: Final = 16
_CODE: Final = re.compile(rf"[A-Za-z0-9+/_=%-]{{{_CODE_CHARACTERS}}}")

Scan = Callable[[str], Sequence[Finding]]
"""Has a text scanned; never raises."""


class Word(StrEnum):
    """What becomes of an item that is about to be shown."""

    SHOW = "show"
    HOLD_BACK = "hold_back"
    """Not in this answer: a scanner failed, and what was not scanned is not shown."""
    QUARANTINE = "quarantine"


class Judged(NamedTuple):
    """The word on one item, and what it was said for."""

    word: Word
    new: tuple[Finding, ...] = ()
    ruling: Ruling | None = None


class Crossing(NamedTuple):
    """Something that stands across several of the texts that were joined, named by their places in line."""

    kind: FindingKind
    rule: str
    parts: tuple[int, ...]


def scanned_text(content: str | None, claim: Claim | None, *beside: str | None) -> str:
    """All of a memory that scanners look at, as one text: nothing hides by being split between its parts.

    Beside content and claim stand its key and its address; it is the same when it is written and when shown.
    """
    claimed = () if claim is None else (claim.entity, claim.attribute, claim.value)
    return "\n".join(text for text in (content, *claimed, *beside) if text is not None)


def text_of(memory: Memory) -> str:
    """What scanners look at of a memory that stands."""
    return scanned_text(memory.content, memory.claim, memory.key, memory.source.uri)


def judged(memory: Memory, findings: Sequence[Finding], policy: Policy) -> Judged:
    """What becomes of an active memory in which this was found, under the policy of today."""
    new = _unseen(memory, findings) if findings else ()
    if not new:
        return Judged(Word.SHOW)
    if all(finding.kind is FindingKind.FAILURE for finding in new):
        return Judged(Word.HOLD_BACK, new)
    ruling = rule_on(policy, _proposed_again(memory, new))
    word = Word.SHOW if ruling.decision.outcome is Outcome.APPROVE else Word.QUARANTINE
    return Judged(word, new, ruling)


def holding(memory: Memory, findings: Sequence[Finding], said: Judged, now: datetime) -> Event:
    """The event that takes the memory out of every read until a reviewer decides (SPEC L6)."""
    if said.ruling is None:
        raise ValueError("only a memory that the policy has spoken on can be held")
    decision = said.ruling.decision
    return Event(
        tenant=memory.tenant,
        at=now,
        actor=UPKEEP,
        data=Held(
            rule=FOUND_AT_READ,
            reason=f"when it was to be shown, {_named(said.new)}; "
            f"rule {decision.rule} of the policy does not let that in",
            policy_version=decision.policy_version,
            source_type=memory.source.type,
            findings=verdicts(findings),
        ),
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
    )


def orders(memories: Sequence[Memory]) -> list[tuple[int, ...]]:
    """The orders in which items are read as one: as shown, which is by score, and as they came to be.

    That is thread by thread, where they have any, and as written. Orders that come out equal are named once.
    """
    as_shown = tuple(range(len(memories)))
    as_placed = tuple(sorted(as_shown, key=lambda at: _place(memories[at])))
    return list(dict.fromkeys((as_shown, as_placed)))


def joined(contents: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The contents as one text, and where each of them stands in it.

    A blank between them lets a sentence go on. Between two halves of what looks like a code stands nothing.
    """
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    start = 0
    for content in contents:
        if parts and not _is_cut(parts[-1], content):
            parts.append(" ")
            start += 1
        parts.append(content)
        places.append((start, start + len(content)))
        start += len(content)
    return "".join(parts), places


def edges(content: str) -> str:
    """Both ends of a long content, whole codes there included; a short one as it is."""
    if len(content) <= 2 * EDGE_CHARACTERS:
        return content
    head, tail = _edge(content), _edge(content[::-1])
    if head + tail >= len(content):
        return content
    return content[:head] + _LEFT_OUT + content[-tail:]


def windows(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces that scanners can take, with their starts; every shorter stretch is whole in one."""
    step = WINDOW_CHARACTERS // 2
    for start in range(0, max(1, len(text) - step), step):
        yield start, text[start : start + WINDOW_CHARACTERS]


def crossings_of(contents: Sequence[str], own: Sequence[frozenset[str]], scan: Scan) -> tuple[Crossing, ...]:
    """What stands across several of these contents when they are read as one, in this order.

    ``own`` names the rules that were found in each alone. Of a crossing the smallest run that has it is told.
    Where a scanner fails on the whole, it is given two contents at a time.
    """
    contents = [edges(content) for content in contents]
    whole, failed = _read(contents, own, scan)
    found = [_narrowed(one, contents, scan) for one in whole]
    if failed is not None and len(contents) == _PAIR:
        found.append(failed)
    elif failed is not None:
        found += _two_by_two(contents, own, scan)
    return tuple(dict.fromkeys(found))


def crossings(
    findings: Sequence[Finding], places: Sequence[tuple[int, int]], own: Sequence[frozenset[str]]
) -> tuple[Crossing, ...]:
    """What stands across two or more of these places and, by the rules named in ``own``, in none alone."""
    found: dict[Crossing, None] = {}
    for finding in findings:
        parts = tuple(
            at for at, (start, end) in enumerate(places) if finding.start < end and start < finding.end
        )
        if len(parts) > 1 and not any(finding.rule in own[at] for at in parts):
            found[Crossing(finding.kind, finding.rule, parts)] = None
    return tuple(found)


def gives_way(memories: Sequence[Memory]) -> Memory:
    """Which of them is left out: the one that is trusted least; of equal ones the newest."""
    return max(memories, key=lambda memory: (-memory.trust.rank, memory.created_at, memory.id.int))


def about(memories: Sequence[Memory]) -> str:
    """What an alert about these memories is about, whichever order they came in."""
    return ",".join(sorted(str(memory.id) for memory in memories))


def alert(memories: Sequence[Memory], crossing: Crossing, out: Memory, now: datetime) -> Event:
    """Memories that are harmless alone and not together: somebody may have split a text (SPEC I3)."""
    subjects = {memory.subject for memory in memories}
    return Event(
        tenant=out.tenant,
        at=now,
        actor=UPKEEP,
        subject=out.subject if len(subjects) == 1 else None,
        data=AlertRaised(
            kind=SPLIT_PAYLOAD,
            message=f"{crossing.rule} was found in {len(memories)} memories read as one, and in none alone; "
            f"{out.id} was left out of the answer",
            about=about(memories),
        ),
    )


def _edge(content: str) -> int:
    rest = _REST_OF_CODE.match(content, EDGE_CHARACTERS)
    return rest.end() if rest is not None else EDGE_CHARACTERS


def _is_cut(left: str, right: str) -> bool:
    """Whether a code may have been cut between these two."""
    return bool(_CODE.match(right) and _CODE.fullmatch(left[-_CODE_CHARACTERS:]))


def _read(
    contents: Sequence[str], own: Sequence[frozenset[str]], scan: Scan
) -> tuple[tuple[Crossing, ...], Crossing | None]:
    """What stands across these as one text; and that it could not all be scanned, if it could not."""
    text, places = joined(contents)
    found: dict[Crossing, None] = {}
    failed: Crossing | None = None
    for start, part in windows(text):
        there = [(max(0, begin - start), max(0, end - start)) for begin, end in places]
        findings = scan(part)
        for finding in findings:
            if finding.kind is FindingKind.FAILURE:
                failed = Crossing(finding.kind, finding.rule, tuple(range(len(contents))))
        sound = [finding for finding in findings if finding.kind is not FindingKind.FAILURE]
        found |= dict.fromkeys(crossings(sound, there, own))
    return tuple(found), failed


def _two_by_two(contents: Sequence[str], own: Sequence[frozenset[str]], scan: Scan) -> Iterator[Crossing]:
    for first in range(len(contents) - 1):
        pair = slice(first, first + _PAIR)
        whole, failed = _read(contents[pair], own[pair], scan)
        for crossing in (*whole, *((failed,) if failed is not None else ())):
            yield Crossing(crossing.kind, crossing.rule, (first, first + 1))


def _narrowed(crossing: Crossing, contents: Sequence[str], scan: Scan) -> Crossing:
    """The crossing in the smallest run of neighbours that still has it: some rules look at all of a text."""
    first, last = crossing.parts[0], crossing.parts[-1]

    def holds(begin: int, end: int) -> bool:
        text, _ = joined(contents[begin : end + 1])
        return any(finding.rule == crossing.rule for _, part in windows(text) for finding in scan(part))

    while last - first > 1 and holds(first + 1, last):
        first += 1
    while last - first > 1 and holds(first, last - 1):
        last -= 1
    return Crossing(crossing.kind, crossing.rule, tuple(range(first, last + 1)))


def _unseen(memory: Memory, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """What nobody has decided on yet: a reviewer's word covers the rules that the reviewer was told of."""
    seen = {verdict.rule for verdict in memory.findings} if is_reviewed(memory) else frozenset[str]()
    return tuple(finding for finding in findings if finding.rule not in seen)


def _proposed_again(memory: Memory, findings: Sequence[Finding]) -> Proposal:
    return Proposal(
        kind=memory.kind,
        source_type=memory.source.type,
        characters=counted(memory.content or ""),
        findings=frozenset(finding.kind for finding in findings),
        claim=memory.claim,
    )


def _named(findings: Sequence[Finding]) -> str:
    """Rules and the versions of the scanners that hold them; never what was found."""
    said = list(dict.fromkeys(f"{finding.scanner} found {finding.rule}" for finding in findings))
    more = f" and {len(said) - _RULES_NAMED_MAX} more" if len(said) > _RULES_NAMED_MAX else ""
    return ", ".join(said[:_RULES_NAMED_MAX]) + more


def _place(memory: Memory) -> tuple[str, int, datetime, int]:
    source = memory.source
    return source.thread or "", source.position or 0, memory.created_at, memory.id.int
