"""Authorising tool calls: what the caller was shown is gathered, and each answer recorded (SPEC X1, X2)."""

from collections.abc import Iterable, Iterator
from typing import Final
from uuid import UUID

import msgspec

from tenure.core import toolguard
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest
from tenure.core.events import Event, Recalled, Secret
from tenure.core.identity import Caller, Moment
from tenure.core.toolguard import Authorization, AuthorizeTool, Concerned
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.receipts import receipt
from tenure.usecases.sealing import open_event

RECENT_EVENTS_MAX: Final = 2_000
"""How far back in the tenant's log the caller's own recalls are looked for where it names no receipt."""
RECENT_RECEIPTS_MAX: Final = 20
MEMORIES_MAX: Final = 1_000
_RECEIPT: Final = b'"recall.answered"'


class CallFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller was shown, opened where a value is looked for; and whom its receipts are about."""

    concerned: tuple[Concerned, ...] = ()
    subject: str | None = None


def _gather(world: World, caller: Caller, command: AuthorizeTool) -> CallFacts:
    toolguard.check_call(command)
    named = [receipt(world, caller, receipt_id) for receipt_id in dict.fromkeys(command.receipt_ids)]
    subjects = {receipt.subject for receipt in named}
    subject = next(iter(subjects)) if len(subjects) == 1 else None
    if not toolguard.plain_values(command, world.rules.tools, caller):
        return CallFacts(subject=subject)
    shown = _shown(named) if named else _shown(_recent(world, caller))[:MEMORIES_MAX]
    if len(shown) > MEMORIES_MAX:
        raise InvalidRequest(
            f"the receipts returned more than {MEMORIES_MAX} memories",
            field="receipt_ids",
            hint="Name the receipts of the recalls that this call follows from.",
        )
    return CallFacts(concerned=tuple(_concerned(world, caller.tenant, shown)), subject=subject)


def _recent(world: World, caller: Caller) -> list[Event]:
    """The caller's last recalls among the last events of the tenant, newest first."""
    head, _link = world.reading.head(caller.tenant)
    page = world.reading.log(caller.tenant, after=max(0, head - RECENT_EVENTS_MAX), limit=RECENT_EVENTS_MAX)
    own: list[Event] = []
    for stored in reversed(page):
        if _RECEIPT not in stored.header:
            continue
        event = open_event(stored, world.keyring)
        if isinstance(event.data, Recalled) and event.actor == caller.id:
            own.append(event)
            if len(own) == RECENT_RECEIPTS_MAX:
                break
    return own


def _shown(receipts: Iterable[Event]) -> list[UUID]:
    """What these recalls returned, each memory once."""
    returned = [receipt.data.memory_ids for receipt in receipts if isinstance(receipt.data, Recalled)]
    return list(dict.fromkeys(memory_id for memory_ids in returned for memory_id in memory_ids))


def _concerned(world: World, tenant: str, memory_ids: list[UUID]) -> Iterator[Concerned]:
    """Every wording of these memories, revoked ones too; what was forgotten has no row, and stays shut."""
    readable = {row.memory_id for row in world.reading.rows_of(tenant, memory_ids)}
    for memory_id in memory_ids:
        if memory_id in readable:
            opened = [
                open_event(stored, world.keyring).secret for stored in world.reading.stream(tenant, memory_id)
            ]
            texts = [text for secret in opened if secret is not None for text in _said(secret)]
            yield Concerned(memory_id=memory_id, texts=tuple(dict.fromkeys(texts)))


def _said(secret: Secret) -> Iterator[str]:
    if secret.content is not None:
        yield secret.content
    if secret.claim is not None:
        yield from (secret.claim.value, secret.claim.entity, secret.claim.attribute)


def _decide(
    command: AuthorizeTool, facts: CallFacts, caller: Caller, moment: Moment, rules: Rules
) -> Decided[Authorization]:
    return toolguard.authorize(
        command,
        rules.tools,
        facts.concerned,
        facts.subject,
        caller,
        moment,
        refuses_undeclared=rules.refuses_undeclared_tools,
    )


AUTHORIZE: UseCase[AuthorizeTool, CallFacts, Authorization] = UseCase(
    name="authorize-tool",
    permission=Permission.AUTHORIZE_TOOL,
    target=lambda _command: Target(),
    gather=_gather,
    decide=_decide,
    after_receipts=True,
)
