"""Items of everything that has to do with forgetting, made by hand, so that the store alone is on trial."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tests.clock import START
from tests.stores.items import HOUR, SUBJECT, TENANT, created, item_of, number

from tenure.core.events import (
    AlertRaised,
    ErasureBegun,
    Event,
    EventData,
    Expired,
    ForgetProbed,
    HoldPlaced,
    HoldReleased,
    MemoryForgotten,
    Rejected,
    ScopeCompacted,
    ScopedKeyForgotten,
    Secret,
    SubjectErased,
)
from tenure.core.identity import Scope, Tier
from tenure.usecases.ports import Append, Keyring

NAME: Final = b"the key 'name'.."
"""The digest of a memory's key."""
VALUE: Final = b"the value 'tea'."
"""The fingerprint of a memory's value."""
LEAF: Final = Scope(tier=Tier.TASK, id="t-1")


def placed(tier: str, name: str) -> Scope:
    """A scope."""
    return Scope(tier=Tier(tier), id=name)


def giraffe(keyring: Keyring, memory: int, **sides: Any) -> Append:
    """A memory with a word to find it by."""
    return created(keyring, memory, content=f"Giraffe number {memory}", **sides)


def a_family(keyring: Keyring) -> list[Append]:
    """A memory; one made from it; one made from that and from a stranger; the stranger; one by itself."""
    return [
        giraffe(keyring, 1, fingerprint=VALUE),
        giraffe(keyring, 2, derived_from=(number(1),)),
        giraffe(keyring, 4),
        giraffe(keyring, 3, derived_from=(number(2), number(4))),
        giraffe(keyring, 5),
    ]


def memory_forgotten(keyring: Keyring, memory: int, *, at: datetime = START, **where: Any) -> Append:
    """One memory is forgotten, with all that was made from it."""
    return _about(keyring, MemoryForgotten(), stream=number(memory), at=at, **where)


def key_forgotten(
    keyring: Keyring,
    forget: int,
    *,
    floors: Sequence[str],
    scope: Scope = LEAF,
    key_digest: bytes = NAME,
    probe_at: datetime | None = None,
    **where: Any,
) -> Append:
    """A key is forgotten in these places; with ``probe_at``, in the leaf alone."""
    data = ScopedKeyForgotten(
        agent=where.pop("agent", "support"),
        purpose=where.pop("purpose", "answering"),
        key_digest=key_digest,
        scope=scope,
        floors=tuple(floors),
        holds_until=probe_at,
        probe_at=probe_at,
    )
    return _about(keyring, data, stream=number(forget), **where)


def probed(keyring: Keyring, forget: int, *, passed: bool, **where: Any) -> Append:
    """A forget of a leaf alone was probed; one that failed is asked about an hour later."""
    data = ForgetProbed(passed=passed, probe_at=None if passed else START + 9 * HOUR)
    return _about(keyring, data, stream=number(forget), **where)


def rejected(keyring: Keyring, memory: int, *, to_version: int = 2, **where: Any) -> Append:
    """A reviewer turned a memory down that was held back."""
    return _about(keyring, Rejected(), stream=number(memory), version=to_version, reason="wrong", **where)


def expired(keyring: Keyring, memory: int, *, to_version: int = 2, **where: Any) -> Append:
    """A memory's time has passed, and is marked so."""
    data = Expired(expired_at=START)
    return _about(keyring, data, stream=number(memory), version=to_version, **where)


def compacted(keyring: Keyring, scope: Scope = LEAF, **where: Any) -> Append:
    """What ended in a scope is no longer kept at hand."""
    data = ScopeCompacted(agent="support", purpose="answering", tier=scope.tier, scope_id=scope.id)
    return _about(keyring, data, **where)


def hold_placed(keyring: Keyring, *, review_at: datetime | None = None, **where: Any) -> Append:
    """A subject may not be erased."""
    return _about(keyring, HoldPlaced(review_at=review_at), reason="a lawsuit", **where)


def hold_released(keyring: Keyring, **where: Any) -> Append:
    """A subject may be erased again."""
    return _about(keyring, HoldReleased(), reason="it is over", **where)


def erasure_begun(keyring: Keyring, erasure: int, *, keys: Sequence[UUID] = (), **where: Any) -> Append:
    """A subject is out of every read, and these keys are to be destroyed."""
    return _about(keyring, ErasureBegun(keys=tuple(keys)), stream=number(erasure), **where)


def erased(keyring: Keyring, erasure: int, *, begun_seq: int, **where: Any) -> Append:
    """An erasure has its certificate."""
    data = SubjectErased(certificate="{}", begun_seq=begun_seq)
    return _about(keyring, data, stream=number(erasure), **where)


def alert_raised(keyring: Keyring, about: str = "forget 1", **where: Any) -> Append:
    """Something that a person should look at."""
    return _about(keyring, AlertRaised(kind="forget-failed", message="it is back", about=about), **where)


def _about(
    keyring: Keyring,
    data: EventData,
    *,
    tenant: str = TENANT,
    subject: str = SUBJECT,
    at: datetime = START,
    stream: UUID | None = None,
    version: int | None = None,
    reason: str | None = None,
) -> Append:
    secret = Secret(reason=reason) if reason is not None else None
    event = Event(
        tenant=tenant,
        at=at,
        actor="pia",
        data=data,
        stream=stream,
        version=version,
        subject=subject,
        secret=secret,
    )
    return item_of(keyring, event)
