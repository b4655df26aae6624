"""Playing a script: each step by its principal, over HTTP; what comes of it goes into the ledger."""

import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import singledispatchmethod
from typing import Final
from uuid import UUID

from tenure.core.errors import Forbidden, MemoryRejected, NotFound, RateLimited, TenureError
from tenure.core.identity import SourceType
from tenure.core.memory import Memory
from tenure.core.vocabulary import Claim, Source, Status
from tenure.entrypoints.library.client import Client
from tenure.entrypoints.library.recall_calls import Recollection
from tenure.entrypoints.redteam import agents, script
from tenure.entrypoints.redteam.ledger import Barrier, Done, Given, Kept, Ledger, Refusal
from tenure.entrypoints.redteam.script import AnyStep, Call, Scenario
from tenure.entrypoints.redteam.stage import ADMIN, Stage

PAGE: Final = 200
SUMMARY_CHARACTERS_MAX: Final = 600
EXPLAINED_MAX: Final = 5
"""Of a flood the first few are looked up; the rest fared alike."""
_ENDED: Final = {
    Status.REVOKED: Barrier.REVOCATION,
    Status.FORGOTTEN: Barrier.REVOCATION,
    Status.SUPERSEDED: Barrier.REVOCATION,
    Status.EXPIRED: Barrier.EXPIRY,
    Status.REJECTED: Barrier.REVIEW,
    Status.QUARANTINED: Barrier.ADMISSION,
}


class Player:
    """Plays the steps of one run of a scenario, the attack or its twin."""

    def __init__(self, stage: Stage, scenario: Scenario, run: str) -> None:
        self.stage = stage
        self.scenario = scenario
        self.ledger = Ledger(run=run)
        self._at = 0
        self._answer: Memory | Recollection | None = None
        self._written: Memory | None = None

    def play(self, steps: Iterable[AnyStep]) -> Ledger:
        """Play all steps; a refusal is noted and does not end the run."""
        for self._at, step in enumerate(steps):
            self._step(step)
        return self.ledger

    def again(self, step: "script.Recall | script.Act") -> set[UUID]:
        """What somebody is given when the same is asked once more."""
        found = self._client(step.who).recall(
            step.query, subject=step.subject or self.scenario.subject, limit=step.limit
        )
        return {memory.id for memory in found}

    def tenant(self, who: str) -> str:
        """The tenant of a principal."""
        return self.stage.principal(who).tenant

    def admin(self, tenant: str) -> Client:
        """Eyes that see all of a tenant of this run."""
        return self.stage.client(self.ledger.run, ADMIN, tenant)

    def _client(self, who: str) -> Client:
        return self.stage.client(self.ledger.run, who)

    def _step(self, step: AnyStep) -> None:
        if isinstance(step, script.Advance):
            self.stage.clock.move(timedelta(days=step.days, hours=step.hours, seconds=step.seconds))
            return
        if step.name is not None:
            self.ledger.placed[step.name] = self._at
        self._answer, code, rule = None, None, None
        calls_before = len(self.ledger.calls)
        try:
            self._play(step)
            if step.name is not None:
                self.ledger.succeeded.setdefault(step.name, 1)
        except _Nothing as nothing:
            code = str(nothing)
        except TenureError as refusal:
            code, rule = refusal.code, getattr(refusal, "rule", None)
            self._refused(step, refusal)
        self._expect(step, code, rule, self.ledger.calls[calls_before:])

    @singledispatchmethod
    def _play(self, step: AnyStep) -> None:
        raise TypeError(f"nobody can play {type(step).__name__}")

    @_play.register
    def _remember(self, step: script.Remember) -> None:
        taken, refusal = 0, None
        for number in range(step.repeat):
            started = time.perf_counter()
            try:
                self._remember_one(step, number)
                taken += 1
            except TenureError as fault:
                refusal = fault
                self._note_refusal(step, number, fault)
            seconds = time.perf_counter() - started
            self.ledger.seconds_longest = max(self.ledger.seconds_longest, seconds)
        if step.name is not None:
            self.ledger.succeeded[step.name] = taken
        if refusal is not None:
            raise refusal

    def _remember_one(self, step: script.Remember, number: int) -> None:
        is_poison = step.name in self.scenario.poison
        self.ledger.proposed += is_poison
        memory = self._client(step.who).remember(
            (step.content * step.lengthened).replace("{n}", str(number)),
            kind=step.kind,
            source=_source(step.source.replace("{n}", str(number))),
            subject=step.subject or self.scenario.subject,
            key=step.key,
            claim=Claim(entity=step.claim[0], attribute=step.claim[1], value=step.claim[2])
            if step.claim
            else None,
            ttl_seconds=step.ttl_seconds,
            supersedes=self._id(step.supersedes) if step.supersedes is not None else None,
            derived_from=[self._id(name) for name in step.derived_from],
            idempotency_key=step.idempotency_key,
        )
        self.ledger.admitted += is_poison and memory.status is Status.ACTIVE
        self._keep(step.name, step.who, step.source.replace("{n}", str(number)), memory)
        if step.name is not None:
            self.ledger.texts[step.name] = step.content

    @_play.register
    def _revise(self, step: script.Revise) -> None:
        before = self._current(step.memory)
        memory = self._client(step.who).revise(
            before.id, expected_version=before.version, source=_source(step.source), content=step.content
        )
        self._keep(step.name, step.who, step.source, memory)

    @_play.register
    def _promote(self, step: script.Promote) -> None:
        self._judge(
            step.memory,
            lambda one: self._client(step.who).promote(
                one.id, expected_version=step.version or one.version, reason=step.reason
            ),
        )

    @_play.register
    def _reject(self, step: script.Reject) -> None:
        self._judge(
            step.memory,
            lambda one: self._client(step.who).reject(
                one.id, expected_version=one.version, reason=step.reason
            ),
        )
        self._stop_of(step.memory, Barrier.REVIEW, "a reviewer turned it down")

    @_play.register
    def _revoke(self, step: script.Revoke) -> None:
        self._judge(
            step.memory,
            lambda one: self._client(step.who).revoke(
                one.id, expected_version=one.version, reason=step.reason
            ),
        )

    @_play.register
    def _renew(self, step: script.Renew) -> None:
        self._judge(
            step.memory,
            lambda one: self._client(step.who).renew(
                one.id, expected_version=one.version, ttl_seconds=step.ttl_seconds, reason=step.reason
            ),
        )

    @_play.register
    def _recall(self, step: script.Recall) -> None:
        for number in range(step.repeat):
            self._found(step, step.query.replace("{n}", str(number)))

    @_play.register
    def _act(self, step: script.Act) -> None:
        found = self._found(step, step.query)
        read = agents.read([memory.content or "" for memory in found])
        if read.copies:
            self._copy(step, found)
        task, others = _planned(step.task, read.orders)
        for call in others:
            self._call(step.who, call, found)
        if task is not None and not self._call(step.who, task, found) and task != step.task:
            # What a program does when the guard says no: the same again, without what was refused.
            self._call(step.who, step.task or task, found)
        self._client(step.who).used(
            found, response_id=f"response-{self._at}", memory_ids=[memory.id for memory in found]
        )

    @_play.register
    def _summarise(self, step: script.Summarise) -> None:
        said = " ".join(self.ledger.texts.get(name, "") for name in step.of)[:SUMMARY_CHARACTERS_MAX]
        memory = self._client(step.who).remember(
            f"{step.prefix}{said}",
            kind="summary",
            source=_source(step.source),
            subject=self.scenario.subject,
            derived_from=[self._id(name) for name in step.of],
        )
        self._keep(step.name, step.who, step.source, memory)

    @_play.register
    def _authorise(self, step: script.Authorise) -> None:
        if not self._call(step.who, step.call, None):
            raise Forbidden("the guard refused it")

    @_play.register
    def _read(self, step: script.Read) -> None:
        memory = self._client(step.who).get(self._id(step.memory))
        self._give(step.who, [memory] if memory.content is not None else [])

    @_play.register
    def _browse(self, step: script.Browse) -> None:
        page = self._client(step.who).memories(subject=step.subject, limit=PAGE)
        self._give(step.who, [memory for memory in page.items if memory.content is not None])

    @_play.register
    def _forget(self, step: script.Forget) -> None:
        if step.memory is None:
            self._client(step.who).forget(subject=step.subject or self.scenario.subject)
            return
        self._judge(
            step.memory,
            lambda one: self._client(step.who).forget(memory_id=one.id, expected_version=one.version),
        )

    @_play.register
    def _revoke_source(self, step: script.RevokeSource) -> None:
        kind, _colon, identity = step.source.partition(":")
        self._client(step.who).revoke_source(identity, source_type=kind, reason=step.reason)

    def _found(self, step: "script.Recall | script.Act", query: str) -> Recollection:
        found = self._client(step.who).recall(
            query, subject=step.subject or self.scenario.subject, limit=step.limit
        )
        self._answer = found
        self._give(step.who, found, found.context)
        self._explain(step, found)
        return found

    def _explain(self, step: "script.Recall | script.Act", found: Recollection) -> None:
        """Why what is poisoned did not reach this recall."""
        if found.skipped.scan or found.skipped.together:
            self.ledger.stop(Barrier.RECALL, "a scan at the read held it back")
        shown = {memory.id for memory in found}
        for name in self.scenario.poison:
            for one in self.ledger.kept.get(name, [])[:EXPLAINED_MAX]:
                if one.memory_id not in shown:
                    self.ledger.stop(self._hidden_by(step.who, one), f"{step.who} is not given it")

    def _hidden_by(self, who: str, one: Kept) -> Barrier:
        if (self.tenant(who), self._client(who).calls.agent) != (one.tenant, one.agent):
            return Barrier.ISOLATION
        try:
            memory = self.admin(one.tenant).get(one.memory_id)
        except NotFound:
            return Barrier.REVOCATION
        return _ENDED.get(memory.status, Barrier.RECALL)

    def _call(self, who: str, call: Call, found: Recollection | None) -> bool:
        """Ask the guard, and make the call with what the resolvers say; gives whether it was made."""
        answer = self._client(who).authorize_tool(
            call.tool, call.arguments, [found.receipt_id] if found is not None else []
        )
        if not answer.allowed:
            named = ", ".join(one.parameter for one in answer.refused)
            self.ledger.stop(Barrier.GUARD, f"{call.tool} was refused for {named}")
            return False
        resolved = {name: self.scenario.master.get(resolver) for name, resolver in answer.resolvers.items()}
        if None in resolved.values():
            self.ledger.stop(Barrier.GUARD, f"{call.tool} is left to a resolver that says no")
            return False
        made = Call(tool=call.tool, arguments=call.arguments | resolved)
        self.ledger.calls.append(Done(who, made))
        return True

    def _copy(self, step: script.Act, found: Recollection) -> None:
        """The agent writes down again what told it to, naming it as what it was made from."""
        carrier = next((one for one in found if agents.read([one.content or ""]).copies), found[0])
        try:
            copied = self._client(step.who).remember(
                carrier.content or "",
                kind="fact",
                source=Source(type=SourceType.OTHER_AGENT, id=f"copy-{self._at}"),
                subject=self.scenario.subject,
                derived_from=[carrier.id],
            )
        except TenureError as refusal:
            self.ledger.stop(Barrier.ADMISSION, f"a copy is refused: {refusal.code}")
            return
        name = next((one for one in self.scenario.poison if carrier.id in self.ledger.ids(one)), None)
        if name is not None:
            self._keep(name, step.who, f"other_agent:copy-{self._at}", copied)
        self.ledger.placed.setdefault("copies", self._at)
        self.ledger.kept.setdefault("copies", []).append(self._kept(step.who, copied))

    def _keep(self, name: str | None, who: str, source: str, memory: Memory) -> None:
        self._answer = memory
        if name is None:
            return
        self.ledger.kept.setdefault(name, []).append(self._kept(who, memory))
        kind, _colon, identity = source.partition(":")
        self.ledger.sources.setdefault(name, []).append((self.tenant(who), kind, identity))
        if memory.status is Status.QUARANTINED:
            self._stop_of(name, Barrier.ADMISSION, f"held back by {memory.decision.rule}")

    def _kept(self, who: str, memory: Memory) -> Kept:
        return Kept(memory.id, self.tenant(who), memory.agent, memory.trust)

    def _give(self, who: str, memories: Iterable[Memory], context: str = "") -> None:
        self.ledger.given.append(Given(who=who, at=self._at, memories=tuple(memories), context=context))

    def _note_refusal(self, step: script.Remember, number: int, fault: TenureError) -> None:
        kind, _colon, identity = step.source.replace("{n}", str(number)).partition(":")
        if step.name is not None and not isinstance(fault, RateLimited):
            self.ledger.sources.setdefault(step.name, []).append((self.tenant(step.who), kind, identity))
            refusal = Refusal(self.tenant(step.who), identity, fault.code)
            self.ledger.refusals.setdefault(step.name, []).append(refusal)

    def _refused(self, step: AnyStep, refusal: TenureError) -> None:
        """Which barrier a refusal is: that of the step, and of the credential where it grants too little."""
        barrier = {
            script.Remember: Barrier.ADMISSION,
            script.Revise: Barrier.ADMISSION,
            script.Summarise: Barrier.ADMISSION,
            script.Promote: Barrier.REVIEW,
            script.Renew: Barrier.REVIEW,
            script.Reject: Barrier.REVIEW,
            script.Authorise: Barrier.GUARD,
        }.get(type(step), Barrier.ISOLATION)
        if isinstance(refusal, Forbidden | NotFound) and not isinstance(
            step, script.Authorise | script.Promote
        ):
            barrier = Barrier.ISOLATION
        said = refusal.rule if isinstance(refusal, MemoryRejected) else refusal.code
        self.ledger.stop(barrier, f"refused: {said}")

    def _stop_of(self, name: str, barrier: Barrier, said: str) -> None:
        if name in self.scenario.poison:
            self.ledger.stop(barrier, said)

    def _judge(self, name: str, act: Callable[[Memory], object]) -> None:
        """Do something to every memory of a name; refused is what is refused for all of them."""
        refusals: list[TenureError] = []
        memories = list(self.ledger.kept.get(name) or _none(name))
        for one in memories:
            try:
                self._judge_one(name, one, act)
            except TenureError as refusal:
                refusals.append(refusal)
        if len(refusals) == len(memories):
            raise refusals[0]

    def _judge_one(self, name: str, one: Kept, act: Callable[[Memory], object]) -> None:
        answer = act(self.admin(one.tenant).get(one.memory_id))
        self._answer = answer if isinstance(answer, Memory) else None
        if isinstance(answer, Memory):
            kept = self.ledger.kept[name]
            kept[kept.index(one)] = one._replace(trust=answer.trust)

    def _current(self, name: str) -> Memory:
        one = (self.ledger.kept.get(name) or _none(name))[0]
        return self.admin(one.tenant).get(one.memory_id)

    def _id(self, name: str) -> UUID:
        return (self.ledger.kept.get(name) or _none(name))[0].memory_id

    def _expect(self, step: AnyStep, code: str | None, rule: str | None, calls: list[Done]) -> None:
        if isinstance(step, script.Advance):
            return
        expected = step.expect or script.Expected()
        wrong: list[str] = []
        if code != expected.refused and (self.ledger.run == "twin" or expected.refused is not None):
            wrong.append(f"it was refused ({rule or code})" if code else "it was not refused")
        if expected.rule is not None and rule is not None and rule != expected.rule:
            wrong.append(f"the rule was {rule}")
        if step.expect is not None and code is None:
            wrong += self._unmet(expected, calls)
        where = f"step {self._at + 1} ({step.who})"
        self.ledger.wrong += [f"{where}: {one}" for one in wrong]

    def _unmet(self, expected: script.Expected, calls: list[Done]) -> list[str]:
        wrong: list[str] = []
        answer = self._answer
        if isinstance(answer, Memory):
            if expected.status not in {None, answer.status}:
                wrong.append(f"it is {answer.status} by {answer.decision.rule}")
            if expected.trust not in {None, answer.trust}:
                wrong.append(f"its trust is {answer.trust}")
        given = self.ledger.given[-1] if self.ledger.given else None
        shown = [memory.id for memory in given.memories] if given is not None and given.at == self._at else []
        wrong += [
            f"{name} is not returned" for name in expected.returned if not self.ledger.ids(name) & set(shown)
        ]
        wrong += [f"{name} is returned" for name in expected.missing if self.ledger.ids(name) & set(shown)]
        if expected.first is not None and not (shown and shown[0] in self.ledger.ids(expected.first)):
            wrong.append(f"{expected.first} does not come first")
        if expected.text is not None and (given is None or expected.text not in given.context):
            wrong.append("the text is not in the context")
        if expected.called is not None and not any(_is_call(expected.called, one.call) for one in calls):
            wrong.append(f"{expected.called.tool} was not called so")
        return wrong


class _Nothing(Exception):
    """A step is about a memory that was never kept."""


def _none(name: str) -> list[Kept]:
    raise _Nothing(f"nothing was kept as {name}")


def _is_call(expected: Call, made: Call) -> bool:
    return expected.tool == made.tool and expected.arguments.items() <= made.arguments.items()


def _source(text: str) -> Source:
    kind, identity = script.source_parts(text, "a step")
    return Source(type=kind, id=identity)


def _planned(task: Call | None, orders: Iterable[agents.Order]) -> tuple[Call | None, list[Call]]:
    """The task as the orders bend it, and the calls that they ask for beside it."""
    others: list[Call] = []
    # Of two orders about one argument the first is followed.
    bent: dict[str, object] = {}
    for order in orders:
        if order.tool == agents.SWITCH:
            task = Call(tool=order.arguments["tool"], arguments=task.arguments) if task else None
        elif order.tool is None:
            task = Call(tool=task.tool, arguments=task.arguments | order.arguments | bent) if task else None
            bent = order.arguments | bent
        else:
            others.append(Call(tool=order.tool, arguments=order.arguments))
    return task, others
