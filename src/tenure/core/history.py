"""The story of a memory as a person reads it: one sentence for each of its events (SPEC L2, L10, T4).

    tell(Happening(…))     "ann promoted it: checked with the customer (trust is now reviewer_verified)"

Pure. Laws: every event that moves a memory has its sentence; it says who did what, when it matters why, and
by which rule; it quotes a reason only where it is given one, so what is withheld stays withheld; it never
quotes a memory's text.
"""

from collections.abc import Callable
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import msgspec

from tenure.core import events, incident_events, truth_events
from tenure.core.events import Event
from tenure.core.incident_events import SourceRevoked
from tenure.core.memory import Memory
from tenure.core.retention import UPKEEP
from tenure.core.rows import CONNECTOR


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a memory, the memory after it, and what the sentence may say of people and reasons.

    ``names`` are the names of credentials by their ids; ``because`` is the revocation of a source that took
    the memory along; ``reason`` is None where there is none or it is withheld.
    """

    event: Event
    memory: Memory
    names: dict[str, str]
    reason: str | None = None
    because: Event | None = None


def tell(happening: Happening) -> str:
    """The sentence."""
    return SENTENCES[type(happening.event.data)](happening, happening.event.data)


def who(actor: str, names: dict[str, str]) -> str:
    """A caller as a person knows them: the name of their credential where there is one, and its id."""
    if actor == UPKEEP:
        return f"the store's own upkeep ({actor})"
    return f"{_plain(names[actor])} ({actor})" if actor in names else actor


def _admitted(one: Happening, data: Any) -> str:
    return (
        f"{_author(one)} wrote it from {_source(data)}{_lineage(data)}: let in by {_rule(data)}"
        f" (trust {data.trust}, until {_time(data.expires_at)})"
    )


def _quarantined(one: Happening, data: Any) -> str:
    return f"{_author(one)} wrote it from {_source(data)}{_lineage(data)}: held back by {_rule(data)}"


def _promoted(one: Happening, data: Any) -> str:
    return f"{_author(one)} promoted it{_why(one)} (trust is now {data.trust})"


def _endorsed(one: Happening, _data: Any) -> str:
    return f"{_author(one)} would let it in, and a second reviewer has to{_why(one)}"


def _rejected(one: Happening, _data: Any) -> str:
    return f"{_author(one)} turned it down{_why(one)}"


def _superseded(one: Happening, data: Any) -> str:
    until = "" if data.valid_to is None else f", and what it says holds until {_time(data.valid_to)}"
    return f"{_author(one)} put memory {data.by} in its place{until}"


def _merged(one: Happening, data: Any) -> str:
    return (
        f"{_author(one)} had it merged into memory {data.into}, which says the same and stands for both"
        f" ({_voices(data.voices)})"
    )


def _unmerged(one: Happening, data: Any) -> str:
    return f"{_author(one)} let it stand for itself again, apart from memory {data.out_of}{_why(one)}"


def _reinstated(one: Happening, data: Any) -> str:
    until = "" if data.valid_to is None else f", and what it says holds until {_time(data.valid_to)}"
    return (
        f"{_author(one)} let it stand again, whose place memory {data.instead_of} had taken{until}{_why(one)}"
    )


def _valid_until(one: Happening, data: Any) -> str:
    holds = "without an end again" if data.valid_to is None else f"until {_time(data.valid_to)}"
    return f"what it says holds {holds}, because of memory {data.because_of} (by {_author(one)})"


def _pruned(one: Happening, data: Any) -> str:
    return (
        f"{_author(one)} took it from what is kept at hand, since it is {data.because}; the log has it still"
    )


def _revised(one: Happening, data: Any) -> str:
    return (
        f"{_author(one)} gave it version {one.memory.version} from {_source(data)}: let in by {_rule(data)}"
        f" (trust is now {data.trust})"
    )


def _renewed(one: Happening, data: Any) -> str:
    return f"{_author(one)} let it live until {_time(data.expires_at)}{_why(one)}"


def _revoked(one: Happening, _data: Any) -> str:
    began = one.because
    if began is None or not isinstance(began.data, SourceRevoked):
        return f"{_author(one)} revoked it{_why(one)}"
    said = began.data
    kind = "credential" if said.source_type == CONNECTOR else said.source_type or "source"
    by = who(began.actor, one.names)
    return f"withdrawn with its source {kind} {said.source_id}, which {by} revoked{_why(one)}"


def _expired(_one: Happening, data: Any) -> str:
    return f"its time was over at {_time(data.expired_at)}"


def _forgotten(one: Happening, _data: Any) -> str:
    return f"{_author(one)} had it forgotten, with all that was made from it"


def _held(_one: Happening, data: Any) -> str:
    return f"held back again by {_rule(data)}"


SENTENCES: Final = MappingProxyType[type, Callable[[Happening, Any], str]](
    {
        events.Admitted: _admitted,
        events.Quarantined: _quarantined,
        events.Endorsed: _endorsed,
        events.Promoted: _promoted,
        events.Rejected: _rejected,
        events.Superseded: _superseded,
        events.Revised: _revised,
        events.Renewed: _renewed,
        events.Revoked: _revoked,
        events.Expired: _expired,
        events.MemoryForgotten: _forgotten,
        incident_events.Held: _held,
        truth_events.Merged: _merged,
        truth_events.Unmerged: _unmerged,
        truth_events.Reinstated: _reinstated,
        truth_events.ValidUntil: _valid_until,
        truth_events.Pruned: _pruned,
    }
)
"""A sentence for every event that moves a memory."""


def _author(one: Happening) -> str:
    return who(one.event.actor, one.names)


def _source(data: events.Remembered | events.Revised) -> str:
    return f"{data.source_type} {data.source_id}"


def _lineage(data: events.Remembered) -> str:
    others = "another memory" if len(data.derived_from) == 1 else f"{len(data.derived_from):,} memories"
    made = f", made from {others}" if data.derived_from else ""
    return f"{made}, in place of memory {data.supersedes}" if data.supersedes is not None else made


def _voices(count: int) -> str:
    return "one source says so" if count == 1 else f"{count:,} independent sources say so"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _rule(data: Any) -> str:
    return f"rule {data.rule} of policy {data.policy_version}: {_plain(data.reason)}"


def _why(one: Happening) -> str:
    return f": {_plain(one.reason)}" if one.reason else ""


def _plain(text: str) -> str:
    """Text on one line, without what would steer a terminal."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
