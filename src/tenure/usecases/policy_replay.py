"""Replaying a policy over what is stored: what it would say, and what would come of it (SPEC I4).

Nothing is written. The store is read in pages, so a long replay holds nobody up; what changes meanwhile may
be seen before or after its change.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Final, NamedTuple, Self

import msgspec

from tenure.core.admission import Policy
from tenure.core.authority import Permission, Target
from tenure.core.custom_rules import CUSTOM, CustomRule, Retold, name_of, version_of
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest, TooLarge
from tenure.core.events import Admitted, Quarantined, Refused, Revised, decode_header
from tenure.core.identity import Caller
from tenure.core.memory import Memory, evolve
from tenure.core.policy_documents import digest, parse
from tenure.core.policy_reading import BadPolicy
from tenure.core.policy_replay import (
    Change,
    DecidedOn,
    Effect,
    Standing,
    after_refusal,
    before,
    change,
    decided_on,
    is_reviewed,
    known,
    reconsider,
)
from tenure.core.rows import MemoryRow
from tenure.core.vocabulary import Outcome, Status, Trust
from tenure.usecases.pipeline import Pipeline, Rules, UseCase, World
from tenure.usecases.ports import Keyring, Reading
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import fold, open_event

PAGE: Final = 500
EVENTS_MAX: Final = 20_000
"""The longest log that one call replays; a longer one is a command's work."""
CHANGES_MAX: Final = 1_000
"""The most memories that the answer to a call names; the numbers count all."""
_REFUSED: Final = "memory.refused"
_STANDING: Final = frozenset({Status.ACTIVE, Status.QUARANTINED})


class Walked(msgspec.Struct, frozen=True, kw_only=True):
    """How far a replay is."""

    done: int
    total: int


class Counted(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """How many were decided so, and would be decided so."""

    before: str
    before_rule: str
    after: str
    after_rule: str
    count: int


class NamedPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A policy by its version and by what it says."""

    version: str
    digest: str


class CustomCounted(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories and refused proposals a custom rule decided, and on how many it had no word.

    It is ``untold`` where the rule looked at what was not kept, and ``failed`` where it raised or answered
    nothing that can be used. What turned on such a rule is counted as unknown.
    """

    name: str
    version: str
    decided: int
    untold: int
    failed: int


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy, with the custom rules of this node, would say of everything in a tenant.

    ``reviewed`` memories were let in by a reviewer and stay so; ``unread`` ones cannot be opened any more.
    """

    tenant: str
    in_force: NamedPolicy
    candidate: NamedPolicy
    examined: int
    reviewed: int
    unread: int
    held: int
    stays_quarantined: int
    keeps_trust: int
    memories: tuple[Counted, ...]
    refused: tuple[Counted, ...]
    custom_rules: tuple[CustomCounted, ...] = ()


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that stands now; ``standing`` is None where its content cannot be opened."""

    memory: Memory
    standing: Standing | None


class Over(NamedTuple):
    """What is replayed: a store as it stands."""

    reading: Callable[[], AbstractContextManager[Reading]]
    keyring: Keyring
    rules: Rules
    now: datetime

    @classmethod
    def of(cls, pipeline: Pipeline) -> Self:
        """A running store, looked at again for each page."""
        return cls(pipeline.store.reading, pipeline.keyring, pipeline.rules, pipeline.clock.now())


class ReplayPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The policy to try out, as a document."""

    policy: str


class PolicyReplay(msgspec.Struct, frozen=True, kw_only=True):
    """What the policy would say, and the first memories that it would change."""

    replay: Replayed
    changes: tuple[Change, ...]
    truncated: bool


def candidate(text: str, rules: Rules) -> Policy:
    """The policy of a document as this store would run it; raises InvalidRequest with all that is wrong."""
    try:
        return parse(text, content_characters_max=rules.content_characters_max)
    except BadPolicy as bad:
        raise InvalidRequest(f"the policy cannot be used: {bad}", field="policy") from None


def replay(over: Over, tenant: str, policy: Policy) -> Generator[Change | Walked, None, Replayed]:
    """Each memory that the policy judges differently, and in the end what it comes to in numbers."""
    with over.reading() as reading:
        head = reading.head(tenant)[0]
    tally = Tally(over.rules.write.custom)
    after = 0
    while True:
        with over.reading() as reading:
            page = reading.memory_page(tenant, after=after, limit=PAGE)
            found = [looked_at(reading, over.keyring, row, over.now) for row in page]
        for looked in found:
            changed = _reconsidered(policy, looked, tally) if looked is not None else None
            if changed is not None:
                yield changed
        if len(page) < PAGE:
            break
        after = page[-1].created_seq
        yield Walked(done=after, total=2 * head)
    refused = yield from _refused(over, tenant, policy, head, tally)
    running, said = over.rules.write.policy, tally.said
    return Replayed(
        tenant=tenant,
        in_force=NamedPolicy(version=running.version, digest=digest(running)),
        candidate=NamedPolicy(version=policy.version, digest=digest(policy)),
        examined=said["examined"],
        reviewed=said["reviewed"],
        unread=said["unread"],
        **{str(effect): said[effect] for effect in Effect},
        memories=_counts(tally.memories),
        refused=_counts(refused),
        custom_rules=tally.custom_rules(),
    )


def looked_at(reading: Reading, keyring: Keyring, row: MemoryRow, now: datetime) -> Looked | None:
    """A memory as it stands, with what the gate knew of it; None where it does not stand (any more)."""
    if row.status not in _STANDING:
        return None
    history = [open_event(stored, keyring) for stored in reading.stream(row.tenant, row.memory_id)]
    memory: Memory | None = None
    for event in history:
        memory = evolve(memory, event)
    decided = decided_on(history)
    if memory is None or decided is None or memory.status_at(now) not in _STANDING:
        return None
    inputs = _input_trusts(reading, keyring, row, decided)
    corrected = _corrected_trust(reading, keyring, row, decided)
    standing = known(memory, decided, input_trusts=inputs, corrected_trust=corrected)
    return Looked(memory=memory, standing=standing)


def _input_trusts(
    reading: Reading, keyring: Keyring, row: MemoryRow, decided: DecidedOn
) -> tuple[Trust, ...]:
    """How far the inputs were trusted when the memory was written."""
    if not isinstance(decided.data, Admitted | Quarantined):
        return ()
    inputs = (
        fold(reading, keyring, row.tenant, parent, up_to_seq=row.created_seq)
        for parent in decided.data.derived_from
    )
    return tuple(
        one.trust if one is not None and one.status_at(decided.at) is Status.ACTIVE else Trust.UNTRUSTED
        for one in inputs
    )


def _corrected_trust(reading: Reading, keyring: Keyring, row: MemoryRow, decided: DecidedOn) -> Trust | None:
    """How far what it was to displace was trusted when the memory was written."""
    if isinstance(decided.data, Revised) or decided.data.supersedes is None:
        return None
    corrected = fold(reading, keyring, row.tenant, decided.data.supersedes, up_to_seq=row.created_seq)
    return corrected.trust if corrected is not None else None


class Tally:
    """What a replay counts."""

    def __init__(self, custom: Sequence[CustomRule]) -> None:
        self.custom = custom
        self.said: Counter[str] = Counter()
        self.memories: Counter[tuple[str, ...]] = Counter()
        self._words: Counter[tuple[str, str]] = Counter()

    def note(self, said: Retold | None, decided_by: str) -> None:
        """Count what custom rules had to do with one word."""
        if said is None:
            return
        self._words.update((name, "untold") for name in said.untold)
        self._words.update((name, "failed") for name in said.failed)
        if decided_by.startswith(CUSTOM):
            self._words[decided_by.removeprefix(CUSTOM), "decided"] += 1

    def custom_rules(self) -> tuple[CustomCounted, ...]:
        """The counts of each custom rule, in their order."""
        return tuple(
            CustomCounted(
                name=name_of(rule),
                version=version_of(rule),
                **{word: self._words[name_of(rule), word] for word in ("decided", "untold", "failed")},
            )
            for rule in self.custom
        )


def _reconsidered(policy: Policy, looked: Looked, tally: Tally) -> Change | None:
    said = tally.said
    said["examined"] += 1
    if is_reviewed(looked.memory):
        said["reviewed"] += 1
        return None
    standing = looked.standing
    if standing is None:
        said["unread"] += 1
        return None
    ruling, effect, custom = reconsider(policy, standing, tally.custom)
    decision = ruling.decision
    tally.note(custom, decision.rule)
    tally.memories[before(standing), looked.memory.decision.rule, decision.outcome, decision.rule] += 1
    if effect is None:
        return None
    said[effect] += 1
    return change(standing, ruling, effect)


def _refused(
    over: Over, tenant: str, policy: Policy, head: int, tally: Tally
) -> Generator[Walked, None, Counter[tuple[str, ...]]]:
    """What the policy would say of proposals that were refused, from what the log has of them."""
    counts: Counter[tuple[str, ...]] = Counter()
    after = 0
    while after < head:
        with over.reading() as reading:
            page = reading.log(tenant, after=after, limit=2 * PAGE)
        for stored in page:
            if decode_header(stored.header).type != _REFUSED:
                continue
            data = open_event(stored, over.keyring).data
            if isinstance(data, Refused):
                outcome, rule, custom = after_refusal(policy, data, tally.custom)
                tally.note(custom, rule)
                counts[Outcome.REJECT, data.rule, outcome, rule] += 1
        if not page:
            break
        after = page[-1].seq
        yield Walked(done=head + after, total=2 * head)
    return counts


def _counts(counted: Counter[tuple[str, ...]]) -> tuple[Counted, ...]:
    return tuple(
        Counted(before=str(each[0]), before_rule=each[1], after=str(each[2]), after_rule=each[3], count=count)
        for each, count in sorted(counted.items())
    )


def _gather(world: World, caller: Caller, command: ReplayPolicy) -> PolicyReplay:
    policy = candidate(command.policy, world.rules)
    head = world.reading.head(caller.tenant)[0]
    if head > EVENTS_MAX:
        raise TooLarge(
            f"the log has {head:,} events, and a call replays up to {EVENTS_MAX:,}",
            hint="Run 'tenure policy replay' where the store is.",
        )
    over = Over(lambda: nullcontext(world.reading), world.keyring, world.rules, world.moment.now)
    steps, changes = replay(over, caller.tenant, policy), list[Change]()
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            kept = tuple(changes[:CHANGES_MAX])
            return PolicyReplay(replay=end.value, changes=kept, truncated=len(changes) > CHANGES_MAX)
        if isinstance(step, Change):
            changes.append(step)


REPLAY_POLICY: UseCase[ReplayPolicy, PolicyReplay, PolicyReplay] = UseCase(
    name="replay-policy",
    permission=Permission.MANAGE_POLICY,
    target=lambda _command: Target(everything=True),
    gather=_gather,
    decide=lambda _command, found, _caller, _moment, _rules: Decided(answer=found),
    showed=lambda found: Showed(found.replay.examined),
)
