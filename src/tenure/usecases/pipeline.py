"""The one way through Tenure; reads take it too (SPEC L1). Read this file first.

    1 request    an entry point makes a command and a caller
    2 authorise  may this caller ask this of that?                    core/authority.py, pure
    3 gather     all reading: state, findings, digests                a use case's ``gather``
    4 decide     events and an answer, or a refusal                   core/, pure: time and ids are arguments
    5 append     the events, if what was read still holds             stores/, durable before the answer
    6 project    their row changes, in the same transaction           core/views.py, pure
    7 respond    only after 5 and 6 held

A denial (step 2) is recorded. When step 5 finds that somebody was first, 3 and 4 run again on what is true
now.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, NoReturn, TypeVar

import msgspec

from tenure.core.authority import Denied, Permission, Target, authorise
from tenure.core.decision import Decided, Refused
from tenure.core.errors import IdempotencyMismatch, InvalidRequest, TenureError, VersionConflict
from tenure.core.events import AccessDenied, Event
from tenure.core.identity import Caller, Moment
from tenure.core.remembering import WriteRules
from tenure.core.truth import Doubt
from tenure.usecases.ports import (
    Append,
    Appended,
    AppendResult,
    Clock,
    FirstAnswer,
    Idempotency,
    Keyring,
    Mismatched,
    Reading,
    Replayed,
    Stale,
    Store,
)
from tenure.usecases.sealing import open_event, seal

C = TypeVar("C", bound=msgspec.Struct)
F = TypeVar("F")
A = TypeVar("A")

ATTEMPTS_MAX: Final = 5
IDEMPOTENCY_KEY_CHARACTERS_MAX: Final = 200


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator set, as the rules take it."""

    write: WriteRules
    doubt: Doubt
    content_characters_max: int
    recall_items_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a gather may look at: one consistent reading, the keys, the rules, and the moment."""

    reading: Reading
    keyring: Keyring
    rules: Rules
    moment: Moment


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
    loss_bounded: bool = False
    after_receipts: bool = False


@dataclass(frozen=True, slots=True)
class _Prepared(Generic[A]):
    """A command between steps 4 and 5."""

    decided: Decided[A]
    idempotency: Idempotency | None


class Pipeline:
    """Carries commands through the seven steps."""

    def __init__(self, *, store: Store, keyring: Keyring, clock: Clock, rules: Rules) -> None:
        self.store = store
        self.keyring = keyring
        self.clock = clock
        self.rules = rules

    def run(
        self, use_case: UseCase[C, F, A], caller: Caller, command: C, *, idempotency_key: str | None = None
    ) -> A:
        """The answer to one command; raises the TenureError that it was refused with."""
        return _answered(self.run_many(use_case, caller, [(command, idempotency_key)])[0])

    def run_many(
        self, use_case: UseCase[C, F, A], caller: Caller, commands: Sequence[tuple[C, str | None]]
    ) -> list[A | TenureError]:
        """The answers to many commands of one kind, appended as one batch; refusals stand in their places."""
        answers: list[A | TenureError | None] = [None] * len(commands)
        waiting = list(range(len(commands)))
        for _attempt in range(ATTEMPTS_MAX):
            if not waiting:
                break
            try:
                waiting = self._round(use_case, caller, commands, waiting, answers)
            except TenureError as fault:
                # What was stored before the store failed stays acknowledged.
                for index in waiting:
                    if answers[index] is None:
                        answers[index] = fault
                break
        return [answer for answer in answers if answer is not None]

    def preview(self, use_case: UseCase[C, F, A], caller: Caller, command: C) -> Decided[A]:
        """Steps 2 to 4 alone: what would be decided; nothing is stored (a dry run)."""
        self._authorise(use_case, caller, command)
        with self.store.reading() as reading:
            outcome = self._decide(use_case, caller, command, reading)
        if isinstance(outcome, Refused):
            raise outcome.error
        return outcome

    def _round(
        self,
        use_case: UseCase[C, F, A],
        caller: Caller,
        commands: Sequence[tuple[C, str | None]],
        waiting: list[int],
        answers: list[A | TenureError | None],
    ) -> list[int]:
        """Steps 2 to 7 for what still waits; gives back what has to be decided again."""
        prepared: dict[int, _Prepared[A]] = {}
        for index in waiting:
            answers[index] = None
        if use_case.after_receipts:
            self.store.settle()
        with self.store.reading() as reading:
            for index in waiting:
                command, key = commands[index]
                try:
                    ready = self._prepare(use_case, caller, command, key, reading)
                except TenureError as error:
                    answers[index] = error
                    continue
                if isinstance(ready, _Prepared):
                    prepared[index] = ready
                else:
                    answers[index] = ready[0]
        return self._append(use_case, caller, prepared, answers)

    def _prepare(
        self, use_case: UseCase[C, F, A], caller: Caller, command: C, key: str | None, reading: Reading
    ) -> "_Prepared[A] | tuple[A | TenureError]":
        self._authorise(use_case, caller, command)
        idempotency = self._idempotency(use_case, caller, command, key)
        if idempotency is not None:
            first = reading.first_answer(caller.tenant, idempotency.key)
            if first is not None:
                return (self._first_answer(use_case, caller, idempotency, first, reading),)
        outcome = self._decide(use_case, caller, command, reading)
        if isinstance(outcome, Refused):
            return (outcome.error,)
        return _Prepared(outcome, idempotency)

    def _authorise(self, use_case: UseCase[C, F, A], caller: Caller, command: C) -> None:
        verdict = authorise(caller, use_case.permission, use_case.target(command))
        if isinstance(verdict, Denied):
            self._record_denial(caller, use_case.permission, verdict)
            raise verdict.error()

    def _decide(
        self, use_case: UseCase[C, F, A], caller: Caller, command: C, reading: Reading
    ) -> Decided[A] | Refused:
        moment = self.clock.moment()
        world = World(reading=reading, keyring=self.keyring, rules=self.rules, moment=moment)
        facts = use_case.gather(world, caller, command)
        return use_case.decide(command, facts, caller, moment, self.rules)

    def _append(
        self,
        use_case: UseCase[C, F, A],
        caller: Caller,
        prepared: dict[int, _Prepared[A]],
        answers: list[A | TenureError | None],
    ) -> list[int]:
        """Steps 5 to 7; gives back what has to be decided again, because somebody was first."""
        appends = self._sealed(use_case, caller, prepared)
        for index, one in prepared.items():
            if index not in appends or use_case.loss_bounded:
                answers[index] = one.decided.error or one.decided.answer
        if use_case.loss_bounded:
            for append in appends.values():
                self.store.append_soon(append)
            return []
        return self._store(use_case, caller, prepared, appends, answers) if appends else []

    def _store(
        self,
        use_case: UseCase[C, F, A],
        caller: Caller,
        prepared: dict[int, _Prepared[A]],
        appends: dict[int, Append],
        answers: list[A | TenureError | None],
    ) -> list[int]:
        try:
            results = self.store.append(list(appends.values()))
        except TenureError as fault:
            for index in appends:
                answers[index] = fault
            return []
        for index, result in zip(appends, results, strict=True):
            answers[index] = self._respond(use_case, caller, prepared[index], result)
        return [index for index, result in zip(appends, results, strict=True) if isinstance(result, Stale)]

    def _sealed(
        self, use_case: UseCase[C, F, A], caller: Caller, prepared: dict[int, _Prepared[A]]
    ) -> dict[int, Append]:
        """What goes to the store: keys are durable first, then everything secret is sealed under them."""
        events = [event for one in prepared.values() for event in one.decided.events]
        self.keyring.ensure(
            [(event.tenant, event.subject) for event in events if event.secret and event.subject]
        )
        appends: dict[int, Append] = {}
        for index, one in prepared.items():
            idempotency = one.idempotency
            if not one.decided.events and idempotency is None:
                continue
            appends[index] = Append(
                tenant=caller.tenant,
                events=tuple(seal(event, self.keyring) for event in one.decided.events),
                needs=one.decided.needs,
                idempotency=idempotency,
                outcome=partial(_outcome, use_case, one.decided.answer),
            )
        return appends

    def _respond(
        self, use_case: UseCase[C, F, A], caller: Caller, prepared: _Prepared[A], result: AppendResult
    ) -> A | TenureError:
        match result:
            case Appended():
                return prepared.decided.error or use_case.settle(prepared.decided.answer, result)
            case Stale(memory_id=memory_id, expected=expected, current=current):
                return VersionConflict(expected=expected, current=current, memory_id=str(memory_id))
            case Replayed(answer=first):
                with self.store.reading() as reading:
                    return self._first_answer(use_case, caller, _given(prepared.idempotency), first, reading)
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
        world = World(reading=reading, keyring=self.keyring, rules=self.rules, moment=self.clock.moment())
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
        self.store.append([Append(tenant=caller.tenant, events=(seal(event, self.keyring),))])


def _outcome(use_case: UseCase[C, F, A], answer: A, appended: Appended) -> bytes:
    """What an idempotency key keeps of an answer: it is that of what the transaction really did."""
    return use_case.outcome(use_case.settle(answer, appended))


def _answered(answer: A | TenureError) -> A:
    if isinstance(answer, TenureError):
        raise answer
    return answer


def _mismatch() -> IdempotencyMismatch:
    return IdempotencyMismatch(
        "this idempotency key was used for another command; nothing was changed",
        hint="Use a new key for a new command; repeat a command word for word to get its first answer.",
    )


def _given(idempotency: Idempotency | None) -> Idempotency:
    if idempotency is None:
        raise AssertionError("only an item with an idempotency key can be replayed")
    return idempotency
