"""The one way through Tenure; reads take it too (SPEC L1). Read this file first.

    1 request    an entry point makes a command and a caller
    2 authorise  may this caller ask this of that?                    core/authority.py, pure
    3 gather     all reading: state, findings, digests                a use case's ``gather``
    4 decide     events and an answer, or a refusal                   core/, pure: time and ids are arguments
    5 append     the events, if what was read still holds             stores/, durable before the answer
    6 project    their row changes, in the same transaction           core/views.py, pure
    7 respond    only after 5 and 6 held

A denial (step 2) is recorded, and so is a read that is answered (recording.py). When step 5 finds that
somebody was first, 3 and 4 run again on what is true now.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Final, Generic, NoReturn, TypeVar

import msgspec

from tenure.core.access_events import AccessDenied
from tenure.core.authority import Denied, Permission, Target, authorise
from tenure.core.decision import Decided, Refused
from tenure.core.errors import (
    IdempotencyMismatch,
    InvalidRequest,
    TenureError,
    Unavailable,
    VersionConflict,
)
from tenure.core.events import Event
from tenure.core.identity import Caller, Moment
from tenure.core.review import ReviewRules
from tenure.core.scanning import Finding
from tenure.core.toolguard import Tools
from tenure.core.truth import Doubt
from tenure.core.truth_rules import TruthRules
from tenure.core.watching import WatchRules
from tenure.core.wording import Language
from tenure.core.write_facts import WriteRules
from tenure.usecases.asked import Asked, Prepared
from tenure.usecases.checkpoint_ports import CheckpointPlace
from tenure.usecases.meaning import Meaning
from tenure.usecases.outward import Observer, Probes
from tenure.usecases.ports import (
    Append,
    Appended,
    AppendResult,
    Clock,
    FirstAnswer,
    Idempotency,
    Keyring,
    Mismatched,
    Overtaken,
    Reading,
    Replayed,
    Stale,
    Store,
)
from tenure.usecases.recording import Reads, Showed, look, may_be_lost
from tenure.usecases.scanning import Scanning
from tenure.usecases.sealing import open_event, seal
from tenure.usecases.stood import Stood
from tenure.usecases.tokenizing import NoTokenizers, Tokenizers
from tenure.usecases.turns import Turns
from tenure.usecases.verdicts import Verdicts

C = TypeVar("C", bound=msgspec.Struct)
F = TypeVar("F")
A = TypeVar("A")

ATTEMPTS_MAX: Final = 5
COMBINED_MAX: Final = 64
IDEMPOTENCY_KEY_CHARACTERS_MAX: Final = 200


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator set, as the rules take it."""

    write: WriteRules
    doubt: Doubt
    content_characters_max: int
    recall_items_max: int
    language: Language = Language.ENGLISH
    source_share_max: float = 0.5
    tools: Tools = {}
    refuses_undeclared_tools: bool = False
    watch: WatchRules = WatchRules()
    review: ReviewRules = ReviewRules()
    reads: Reads = Reads.BATCHED
    log_name: str | None = None
    checkpoint_every: timedelta = timedelta(minutes=5)

    @property
    def truth(self) -> TruthRules:
        """How memories are compared, doubted and no longer kept at hand: a write is held to it first."""
        return self.write.truth


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a gather may look at: one consistent reading, the keys, the rules, and the moment."""

    reading: Reading
    keyring: Keyring
    rules: Rules
    moment: Moment
    scanning: Scanning
    verdicts: Verdicts
    meaning: Meaning
    tokenizers: Tokenizers
    forgot_seq: int = 0
    """Where the tenant's forgetting stood when this node last saw it; 0 where nothing was forgotten."""
    scanned: tuple[Finding, ...] = ()
    """What scanners outside said of the command's text before it took its turn (`UseCase.text`)."""
    stood: Stood = field(default_factory=Stood)
    """What was found out so far, for all commands that share the reading."""


def no_replay(_world: World, _caller: Caller, _first: Event | None, _outcome: bytes) -> NoReturn:
    """For use cases that take no idempotency key."""
    raise InvalidRequest("this call takes no idempotency key", field="Idempotency-Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCase(Generic[C, F, A]):
    """One thing a caller may ask: it cannot be built without the permission that it needs."""

    name: str
    permission: Permission
    target: Callable[[C], Target]
    gather: Callable[[World, Caller, C], F]
    decide: Callable[[C, F, Caller, Moment, Rules], Decided[A] | Refused]
    settle: Callable[[A, Appended], A] = lambda answer, _appended: answer
    outcome: Callable[[A], bytes] = lambda _answer: b""
    replay: Callable[[World, Caller, Event | None, bytes], A] = no_replay
    is_combined: bool = False
    """Whether commands of many callers go through the steps together, as writes do."""
    showed: Callable[[A], Showed] | None = None
    """What an answer shows: every use case that only reads says it, and leaves an event of it (SPEC E2)."""
    after_receipts: bool = False
    text: Callable[[C, Rules], str | None] | None = None
    """What scanners outside this process are asked about: every use case that writes text says it."""
    ahead: Callable[[World, Sequence[C]], None] | None = None
    """Does for several commands what each ``gather`` would do for itself, and leaves it in ``stood``."""


class Pipeline:
    """Carries commands through the seven steps."""

    def __init__(
        self,
        *,
        store: Store,
        keyring: Keyring,
        clock: Clock,
        rules: Rules,
        checkpoint_place: CheckpointPlace | None = None,
        scanning: Scanning | None = None,
        meaning: Meaning | None = None,
        tokenizers: Tokenizers | None = None,
    ) -> None:
        self.store = store
        self.keyring = keyring
        self.clock = clock
        self.rules = rules
        self.checkpoint_place = checkpoint_place
        self.scanning = scanning or Scanning()
        self.meaning = meaning or Meaning()
        self.tokenizers = tokenizers or NoTokenizers()
        self.verdicts = Verdicts()
        self.observer: Observer | None = None
        self.probes: Probes | None = None
        self._turns: Turns[Asked] = Turns(self._carry, size_max=COMBINED_MAX)
        self._forgot_seqs: dict[str, int] = {}

    def run(
        self, use_case: UseCase[C, F, A], caller: Caller, command: C, *, idempotency_key: str | None = None
    ) -> A:
        """The answer to one command; raises the TenureError that it was refused with."""
        asked = Asked(use_case, caller, command, idempotency_key)
        ended = self.observer.began(use_case.name) if self.observer is not None else None
        self._ask_outside([asked])
        if use_case.is_combined:
            self._turns.take(asked)
        else:
            self._carry([asked])
        if ended is not None:
            ended([asked.error_code])
        answer: A = asked.answered()
        return answer

    def run_many(
        self, use_case: UseCase[C, F, A], caller: Caller, commands: Sequence[tuple[C, str | None]]
    ) -> list[A | TenureError]:
        """The answers to many commands of one kind, stored as one batch; refusals stand in their places."""
        asked = [Asked(use_case, caller, command, key) for command, key in commands]
        ended = self.observer.began(use_case.name) if self.observer is not None else None
        self._ask_outside(asked)
        self._carry(asked)
        if ended is not None:
            ended([one.error_code for one in asked])
        for one in asked:
            if one.fault is not None:
                raise one.fault
        return [one.answer for one in asked]

    def preview(self, use_case: UseCase[C, F, A], caller: Caller, command: C) -> Decided[A]:
        """Steps 2 to 4 alone: what would be decided; nothing is stored (a dry run)."""
        self._authorise(use_case, caller, command)
        asked = Asked(use_case, caller, command, None)
        self._ask_outside([asked])
        with self.store.reading() as reading:
            # Nothing is stored, so the store will not say what this node does not know yet.
            self._forgot_seqs[caller.tenant] = reading.forgot_seq(caller.tenant)
            outcome = self._decide(use_case, caller, command, reading, scanned=asked.scanned)
        if isinstance(outcome, Refused):
            raise outcome.error
        return outcome

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """Step 5 for events that no command asked for, such as upkeep's; whoever counts is told."""
        results = self.store.append(items)
        if self.observer is not None:
            kept = [item for item, result in zip(items, results, strict=True) if isinstance(result, Appended)]
            self.observer.stored([sealed.event for item in kept for sealed in item.events])
        return results

    def _ask_outside(self, asked: Sequence[Asked]) -> None:
        """Have what is written scanned outside, in the thread of whoever writes: nobody else waits for it."""
        if not self.scanning.asks_outside:
            return
        texts = [(one, text) for one in asked if (text := self._text(one)) is not None]
        found = self.scanning.from_outside([text for _, text in texts])
        for (one, _), findings in zip(texts, found, strict=True):
            one.scanned = findings

    def _text(self, one: Asked) -> str | None:
        """What leaves this process: nothing of what is not granted, and nothing twice under one key."""
        use_case, caller = one.use_case, one.caller
        if use_case.text is None or not self._is_granted(one):
            return None
        if one.key is not None:
            with self.store.reading() as reading:
                if reading.first_answer(caller.tenant, one.key) is not None:
                    return None
        text: str | None = use_case.text(one.command, self.rules)
        return text

    def _carry(self, asked: list[Asked]) -> None:
        """Take commands, of whatever kind and caller, through steps 2 to 7 together."""
        waiting = asked
        for _attempt in range(ATTEMPTS_MAX):
            if not waiting:
                break
            try:
                waiting = self._round(waiting)
            except TenureError as error:
                # What was stored before the store failed stays acknowledged.
                for one in waiting:
                    if one.answer is None:
                        one.answer = error
                break

    def _round(self, waiting: list[Asked]) -> list[Asked]:
        """Steps 2 to 7 for what still waits; gives back what has to be decided again."""
        for one in waiting:
            one.answer = one.prepared = None
        if any(one.use_case.after_receipts for one in waiting):
            self.store.settle()
        stood = Stood()
        with self.store.reading() as reading:
            if len(waiting) > 1:
                self._look_ahead(waiting, self.world(reading, stood=stood))
            for one in waiting:
                self._ready(one, reading, stood)
        return self._append([one for one in waiting if one.prepared is not None])

    def _look_ahead(self, waiting: Sequence[Asked], world: World) -> None:
        """Let what several commands need be done kind by kind: it takes half as long as one by one."""
        for use_case in {one.use_case.name: one.use_case for one in waiting if one.use_case.ahead}.values():
            commands = [one.command for one in waiting if one.use_case is use_case and self._is_granted(one)]
            if len(commands) > 1:
                # What cannot be done for all is done, or refused, for each.
                with suppress(Exception):
                    use_case.ahead(world, commands)

    def _is_granted(self, one: Asked) -> bool:
        target = one.use_case.target(one.command)
        return not isinstance(authorise(one.caller, one.use_case.permission, target), Denied)

    def _ready(self, one: Asked, reading: Reading, stood: Stood) -> None:
        """Steps 2 to 4 for one command: it is prepared afterwards, or answered."""
        try:
            ready = self._prepare(one, reading, stood)
        except Unavailable:
            raise
        except TenureError as error:
            one.answer = error
        except Exception as fault:  # noqa: BLE001 -- raised where the command was given; its neighbours go on
            one.fault = fault
        else:
            if isinstance(ready, Prepared):
                one.prepared = ready
            else:
                one.answer = ready[0]

    def _prepare(self, one: Asked, reading: Reading, stood: Stood) -> Prepared[Any] | tuple[Any]:
        use_case, caller, command = one.use_case, one.caller, one.command
        self._authorise(use_case, caller, command)
        idempotency = self._idempotency(use_case, caller, command, one.key)
        if idempotency is not None:
            first = reading.first_answer(caller.tenant, idempotency.key)
            if first is not None:
                return (self._first_answer(use_case, caller, idempotency, first, reading),)
        outcome = self._decide(use_case, caller, command, reading, scanned=one.scanned, stood=stood)
        if isinstance(outcome, Refused):
            return (outcome.error,)
        return Prepared(self._recorded(use_case, caller, command, outcome), idempotency, stood.vectors)

    def _authorise(self, use_case: UseCase[C, F, A], caller: Caller, command: C) -> None:
        verdict = authorise(caller, use_case.permission, use_case.target(command))
        if isinstance(verdict, Denied):
            self._record_denial(caller, use_case.permission, verdict)
            raise verdict.error()

    def _decide(
        self,
        use_case: UseCase[C, F, A],
        caller: Caller,
        command: C,
        reading: Reading,
        *,
        scanned: tuple[Finding, ...],
        stood: Stood | None = None,
    ) -> Decided[A] | Refused:
        world = self.world(
            reading,
            forgot_seq=self._forgot_seqs.get(caller.tenant, 0),
            scanned=scanned,
            stood=stood if stood is not None else Stood(),
        )
        facts = use_case.gather(world, caller, command)
        return use_case.decide(command, facts, caller, world.moment, self.rules)

    def world(self, reading: Reading, **known: Any) -> World:
        """What a gather may look at, at this moment."""
        return World(
            reading=reading,
            keyring=self.keyring,
            rules=self.rules,
            moment=self.clock.moment(),
            scanning=self.scanning,
            verdicts=self.verdicts,
            meaning=self.meaning,
            tokenizers=self.tokenizers,
            **known,
        )

    def _recorded(
        self, use_case: UseCase[C, F, A], caller: Caller, command: C, decided: Decided[A]
    ) -> Decided[A]:
        """What was decided, with the event that a read leaves."""
        if use_case.showed is None or decided.error is not None or self.rules.reads is Reads.RECALLS:
            return decided
        showed = use_case.showed(decided.answer)
        looked = look(use_case.name, use_case.target(command), showed, caller, self.clock.now())
        return msgspec.structs.replace(decided, events=(*decided.events, looked))

    def _append(self, asked: list[Asked]) -> list[Asked]:
        """Steps 5 to 7; gives back what has to be decided again, because somebody was first."""
        kept = self._sealed(asked)
        storing: list[tuple[Asked, Append]] = []
        for one, append in kept:
            if append is not None and not may_be_lost(one.decided.events, self.rules.reads):
                storing.append((one, append))
                continue
            one.answer = one.decided.error or one.decided.answer
            if append is not None:
                self._append_soon(append)
        return self._store(storing) if storing else []

    def _append_soon(self, item: Append) -> None:
        self.store.append_soon(item)
        if self.observer is not None:
            self.observer.stored([sealed.event for sealed in item.events])

    def _store(self, storing: list[tuple[Asked, Append]]) -> list[Asked]:
        try:
            results = self.append([append for _, append in storing])
        except TenureError as fault:
            for one, _ in storing:
                one.answer = fault
            return []
        again: list[Asked] = []
        for (one, _), result in zip(storing, results, strict=True):
            one.answer = self._respond(one, result)
            if isinstance(result, Overtaken):
                self._forgot_seqs[one.caller.tenant] = result.forgot_seq
                # Another node may have destroyed a key: nothing more is sealed under one that is remembered.
                self.keyring.let_go(one.caller.tenant)
            if isinstance(result, Stale | Overtaken):
                again.append(one)
        return again

    def _sealed(self, asked: list[Asked]) -> list[tuple[Asked, Append | None]]:
        """What goes to the store: keys are durable first, then everything secret is sealed under them."""
        events = [event for one in asked for event in one.decided.events]
        self.keyring.ensure(
            [(event.tenant, event.subject) for event in events if event.secret and event.subject]
        )
        return [(one, self._kept(one)) for one in asked]

    def _kept(self, one: Asked) -> Append | None:
        decided, idempotency = one.decided, one.idempotency
        if not decided.events and idempotency is None:
            return None
        return Append(
            tenant=one.caller.tenant,
            events=tuple(seal(event, self.keyring) for event in decided.events),
            forgot_seq=decided.forgot_seq,
            needs=decided.needs,
            idempotency=idempotency,
            outcome=partial(_outcome, one.use_case, decided.answer),
            vectors=one.vectors,
        )

    def _respond(self, one: Asked, result: AppendResult) -> Any:
        match result:
            case Appended():
                return one.decided.error or one.use_case.settle(one.decided.answer, result)
            case Stale(memory_id=memory_id, expected=expected, current=current):
                return VersionConflict(expected=expected, current=current, memory_id=str(memory_id))
            case Replayed(answer=first):
                idempotency = one.repeated
                with self.store.reading() as reading:
                    return self._first_answer(one.use_case, one.caller, idempotency, first, reading)
            case Overtaken():
                return Unavailable("so much is being forgotten here that this could not be decided")
            case Mismatched():
                return _mismatch()

    def _first_answer(
        self,
        use_case: UseCase[C, F, A],
        caller: Caller,
        idempotency: Idempotency,
        first: FirstAnswer,
        reading: Reading,
    ) -> A | TenureError:
        """What the key was answered before: the same command gets the same answer again (SPEC L9)."""
        if first.request != idempotency.request:
            return _mismatch()
        stored = reading.event(caller.tenant, first.seq)
        world = self.world(reading)
        try:
            event = open_event(stored, self.keyring) if stored is not None else None
            return use_case.replay(world, caller, event, first.outcome)
        except TenureError as error:
            return error

    def _idempotency(
        self, use_case: UseCase[C, F, A], caller: Caller, command: C, key: str | None
    ) -> Idempotency | None:
        if key is None:
            return None
        if not 0 < len(key) <= IDEMPOTENCY_KEY_CHARACTERS_MAX or not key.isprintable():
            raise InvalidRequest(
                f"an idempotency key has 1 to {IDEMPOTENCY_KEY_CHARACTERS_MAX} printable characters",
                field="Idempotency-Key",
            )
        said = msgspec.json.encode([use_case.name, caller.id, command], order="deterministic").decode()
        return Idempotency(key=key, request=self.keyring.digest(caller.tenant, "request", said))

    def _record_denial(self, caller: Caller, permission: Permission, verdict: Denied) -> None:
        event = Event(
            tenant=caller.tenant,
            at=self.clock.now(),
            actor=caller.id,
            data=AccessDenied(permission=permission, because=verdict.because, field=verdict.field),
        )
        self.append([Append(tenant=caller.tenant, events=(seal(event, self.keyring),))])


def _outcome(use_case: UseCase[C, F, A], answer: A, appended: Appended) -> bytes:
    """What an idempotency key keeps of an answer: it is that of what the transaction really did."""
    return use_case.outcome(use_case.settle(answer, appended))


def _mismatch() -> IdempotencyMismatch:
    return IdempotencyMismatch(
        "this idempotency key was used for another command; nothing was changed",
        hint="Use a new key for a new command; repeat a command word for word to get its first answer.",
    )
