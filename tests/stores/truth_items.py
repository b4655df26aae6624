"""Items of merges, contradictions and pruning, made by hand, so that the store alone is on trial."""

from typing import Any, Final

from tests.clock import START
from tests.stores.engine import Opened
from tests.stores.forgetting_items import giraffe
from tests.stores.items import SUBJECT, TENANT, accepted, item_of, number, put

from tenure.core.events import Event, EventData, Secret, Superseded
from tenure.core.truth_events import (
    ContradictionFound,
    ContradictionResolved,
    Corroborated,
    Merged,
    Pruned,
    Reinstated,
    Unmerged,
    ValidUntil,
)
from tenure.usecases.ports import Append, Keyring

DIET: Final = b"the thing 'diet'"
"""The digest of what a memory claims something of."""
CITY: Final = b"the thing 'city'"


def merged(keys: Keyring, evidence: int, into: int, *, to_version: int = 2, **where: Any) -> Append:
    """A memory stands behind another that says the same."""
    voices, trusted = where.pop("voices", 2), where.pop("trusted_voices", 1)
    data = Merged(into=number(into), voices=voices, trusted_voices=trusted)
    return _of(keys, data, evidence, to_version, **where)


def unmerged(keys: Keyring, evidence: int, out_of: int, *, to_version: int = 3, **where: Any) -> Append:
    """A memory stands for itself again."""
    data = Unmerged(out_of=number(out_of), voices=1, trusted_voices=1, source_id="crm-1")
    return _of(keys, data, evidence, to_version, **where)


def superseded(keys: Keyring, memory: int, by: int, *, to_version: int = 2, **where: Any) -> Append:
    """Another took a memory's place."""
    return _of(keys, Superseded(by=number(by)), memory, to_version, **where)


def reinstated(keys: Keyring, memory: int, instead_of: int, *, to_version: int = 3, **where: Any) -> Append:
    """A memory stands again, against the one that took its place."""
    return _of(
        keys, Reinstated(instead_of=number(instead_of), source_id="crm-1"), memory, to_version, **where
    )


def valid_until(keys: Keyring, memory: int, because_of: int, *, to_version: int = 2, **where: Any) -> Append:
    """What a memory says holds until now."""
    return _of(keys, ValidUntil(because_of=number(because_of), valid_to=START), memory, to_version, **where)


def pruned(keys: Keyring, memory: int, *, to_version: int = 2, **where: Any) -> Append:
    """A memory is no longer kept at hand."""
    return _of(keys, Pruned(because="superseded"), memory, to_version, **where)


def corroborated(keys: Keyring, memory: int, by: int, *, voices: int = 2, **where: Any) -> Append:
    """Another memory bears a memory out."""
    data = Corroborated(memory_id=number(memory), by=number(by), voices=voices, trusted_voices=1)
    return _of(keys, data, None, None, **where)


def contradiction_found(
    keys: Keyring, contradiction: int, believed: int, doubted: int, *, effect: str = "doubted", **where: Any
) -> Append:
    """Two memories cannot both be true."""
    data = ContradictionFound(
        agent=where.pop("agent", "support"),
        purpose=where.pop("purpose", "answering"),
        believed=number(believed),
        doubted=number(doubted),
        effect=effect,
        because="claim",
    )
    return _of(keys, data, contradiction, None, **where)


def contradiction_resolved(
    keys: Keyring, contradiction: int, kept: int | None = None, **where: Any
) -> Append:
    """A person decided."""
    data = ContradictionResolved(kept=number(kept) if kept is not None else None)
    return _of(keys, data, contradiction, None, **where)


def a_story(opened: Opened) -> None:
    """Memories of two subjects that claim, merge, bear out and contradict, and some of that undone."""
    keys = opened.keyring
    accepted(
        put(
            opened,
            giraffe(keys, 1, things=(DIET, CITY)),
            giraffe(keys, 2, things=(DIET,)),
            giraffe(keys, 3, things=(DIET,), derived_from=(number(2),)),
            giraffe(keys, 4, things=(CITY,)),
            giraffe(keys, 5, things=(CITY,), subject="customer-8"),
            giraffe(keys, 6, things=(CITY,), subject="customer-8"),
            merged(keys, 2, 1),
            corroborated(keys, 1, 4),
            contradiction_found(keys, 20, 1, 3),
            contradiction_found(keys, 21, 4, 1),
            merged(keys, 6, 5, subject="customer-8"),
            contradiction_found(keys, 22, 5, 6, subject="customer-8"),
        )
    )


def _of(
    keys: Keyring,
    data: EventData,
    stream: int | None,
    version: int | None,
    *,
    tenant: str = TENANT,
    subject: str = SUBJECT,
    secret: Secret | None = None,
) -> Append:
    event = Event(
        tenant=tenant,
        at=START,
        actor="bot",
        data=data,
        stream=number(stream) if stream is not None else None,
        version=version,
        subject=subject,
        secret=secret,
    )
    return item_of(keys, event)
