"""The verdict on a run: did the effect come, does the audit name it, does revoking its source undo it."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from tenure.core.errors import MemoryRejected, TenureError
from tenure.core.identity import SourceType
from tenure.core.vocabulary import Source, Trust
from tenure.entrypoints.library.client import Client
from tenure.entrypoints.redteam import script
from tenure.entrypoints.redteam.ledger import Barrier, Ledger
from tenure.entrypoints.redteam.running import PAGE, Player
from tenure.usecases.evidence import LogEntry

_FENCED: Final = re.compile(
    r'<memory-data nonce="([^"<>]+)"[^<>]*>\n(.*)\n</memory-data nonce="\1">', re.DOTALL
)


def effects(player: Player) -> Iterator[str]:
    """Everything forbidden that happened; how it was stopped goes into the ledger."""
    for one in player.scenario.forbidden:
        found = _effect(one, player)
        if found is not None:
            yield found


def _effect(one: script.Forbidden, player: Player) -> str | None:
    match one:
        case script.NotLoose():
            return _loose(player.ledger)
        case script.NotKept():
            return _readable(one, player)
        case script.NotDone():
            return f"{one.step} succeeded" if player.ledger.succeeded.get(one.step) else None
        case script.NotCaptured() | script.NotAll() | script.NotSlow():
            return _too_much(one, player.ledger)
        case script.NotCall() | script.NotReturned() | script.NotTrusted():
            return _reached(one, player.ledger)


def _too_much(one: "script.NotCaptured | script.NotAll | script.NotSlow", ledger: Ledger) -> str | None:
    match one:
        case script.NotCaptured():
            return _captured(one, ledger)
        case script.NotAll():
            taken = ledger.succeeded.get(one.step, 0)
            return f"{taken} of {one.step} were taken in" if taken > one.more_than else None
        case script.NotSlow():
            slow = ledger.seconds_longest > one.seconds
            return f"a proposal took {ledger.seconds_longest:.1f} s" if slow else None


def _reached(one: "script.NotCall | script.NotReturned | script.NotTrusted", ledger: Ledger) -> str | None:
    match one:
        case script.NotCall():
            return _called(one, ledger)
        case script.NotReturned():
            return _returned(one, ledger)
        case script.NotTrusted():
            return _trusted(one, ledger)


def _called(one: script.NotCall, ledger: Ledger) -> str | None:
    wanted = _plain(one.holds) if one.holds is not None else ""
    for done in ledger.calls:
        said = " ".join(f"{name}={value}" for name, value in done.call.arguments.items())
        if done.call.tool == one.tool and wanted in _plain(said):
            return f"{done.who} called {one.tool}" + (f" with {one.holds}" if one.holds else "")
    return None


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text).casefold()


def _returned(one: script.NotReturned, ledger: Ledger) -> str | None:
    after = ledger.placed.get(one.after, -1) if one.after is not None else -1
    poisoned = ledger.ids(one.memory) if one.memory is not None else set()
    for given, memory in ledger.shown():
        is_it = memory.id in poisoned or (one.text is not None and one.text in (memory.content or ""))
        if is_it and given.at > after and (one.to is None or given.who in one.to):
            return f"{given.who} was given {one.memory or 'the text'}"
    return None


def _trusted(one: script.NotTrusted, ledger: Ledger) -> str | None:
    from_kept = [kept.trust for kept in ledger.kept.get(one.memory, ())]
    too_high = [trust for trust in from_kept if Trust(trust).rank > one.above.rank]
    return f"{one.memory} is {too_high[0]}" if too_high else None


def _loose(ledger: Ledger) -> str | None:
    """Whether any context has more in it than one fence around lines of JSON."""
    for given in ledger.given:
        if not given.context:
            continue
        fenced = _FENCED.fullmatch(given.context)
        if fenced is None or "<" in fenced[2] or not _is_json(fenced[2]):
            return f"{given.who} was given text outside the fence"
        ledger.stop(Barrier.RENDERING, "its text stays inside the fence")
    return None


def _is_json(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), list)
    except msgspec.DecodeError:
        return False


def _readable(one: script.NotKept, player: Player) -> str | None:
    tenants = {
        player.tenant(step.who) for step in player.scenario.steps if not isinstance(step, script.Advance)
    }
    for tenant in sorted(tenants):
        for memory in player.admin(tenant).memories(limit=PAGE).items:
            if one.text in (memory.content or ""):
                return f"it stands in a memory that is {memory.status}"
    return None


def _captured(one: script.NotCaptured, ledger: Ledger) -> str | None:
    sources = [f"{memory.source.type}:{memory.source.id}" for _given, memory in ledger.shown()]
    taken = sum(source.startswith(one.source) for source in sources)
    share = taken / len(sources) if sources else 0.0
    return f"{share:.0%} of what was returned came from {one.source}" if share > one.share else None


def unaudited(player: Player) -> str | None:
    """What of the poison the log does not name, if anything; nothing poisoned, nothing to name."""
    logs: dict[str, list[LogEntry]] = {}
    for name in player.scenario.poison:
        for kept in player.ledger.kept.get(name, ()):
            log = _log(player, kept.tenant, logs)
            if not any(entry.memory_id == kept.memory_id for entry in log):
                return f"the log does not name {name}"
        for refusal in player.ledger.refusals.get(name, ()):
            log = _log(player, refusal.tenant, logs)
            if refusal.code == MemoryRejected.code and not any(
                entry.type == "memory.refused" and entry.data.get("source_id") == refusal.source_id
                for entry in log
            ):
                return f"the log has no refusal of {name}"
            if refusal.code == "forbidden" and not any(entry.type == "access.denied" for entry in log):
                return f"the log has no denial of {name}"
        if not player.ledger.kept.get(name) and not player.ledger.refusals.get(name):
            return f"{name} never came to the gate"
    return None


def _log(player: Player, tenant: str, logs: dict[str, list[LogEntry]]) -> list[LogEntry]:
    if tenant not in logs:
        client, after = player.admin(tenant), 0
        head = client.log(limit=1).head
        entries: list[LogEntry] = []
        while after < head:
            page = client.log(after=after, limit=1_000)
            entries += page.items
            after = page.items[-1].seq
        logs[tenant] = entries
    return logs[tenant]


def not_undone(player: Player) -> str | None:
    """What of the poison is still given to anybody once its sources are revoked, if anything."""
    touched = set()
    sources = {source for name in player.scenario.poison for source in player.ledger.sources.get(name, ())}
    for tenant, kind, identity in sorted(sources):
        client = player.admin(tenant)
        try:
            client.revoke_source(identity, source_type=kind, reason="the red team is done")
            touched |= set(client.source_impact(identity, source_type=kind).memories)
        except TenureError as fault:
            return f"{kind} {identity} cannot be revoked: {fault.code}"
    for name in player.scenario.poison:
        touched |= player.ledger.ids(name)
    for step in player.scenario.steps:
        if isinstance(step, script.Recall | script.Act) and touched & player.again(step):
            return f"{step.who} is still given something of a revoked source"
    return _comes_back(player, sources)


def _comes_back(player: Player, sources: set[tuple[str, str, str]]) -> str | None:
    """Whether a revoked source is listened to again."""
    for step in player.scenario.steps:
        if isinstance(step, script.Remember) and step.name in player.scenario.poison:
            kind, _colon, identity = step.source.replace("{n}", "0").partition(":")
            if (player.tenant(step.who), kind, identity) not in sources:
                continue
            client: Client = player.stage.client(player.ledger.run, step.who)
            try:
                kept = client.remember(
                    "Something harmless",
                    kind="fact",
                    source=Source(type=SourceType(kind), id=identity),
                    subject=player.scenario.subject,
                )
            except TenureError:
                continue
            return f"{kind} {identity} is listened to again ({kept.status})"
    return None
