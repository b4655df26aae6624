"""What an operator does about a subject: forget, erase, export, hold; and the alerts and the signing key.

The machine's owner acts as a privacy officer of the tenant that is named, and the log says that it did. A
tenant that the store does not have is a slip of the hand, never a new tenant.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Final

import msgspec

from tenure.core.forgetting import ForgetKey
from tenure.core.holds import PlaceHold
from tenure.core.identity import Caller, Grants, Role
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.protocol import Line, item, result
from tenure.usecases import access
from tenure.usecases.alerts import READ_ALERTS, ReadAlerts
from tenure.usecases.certificates import fingerprint
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.exporting import EXPORT_SUBJECT, ExportSubject
from tenure.usecases.forget_selection import forget
from tenure.usecases.forgetting import ForgetMemory, ForgetSubject
from tenure.usecases.holds import ASK_HOLD, PLACE_HOLD, RELEASE_HOLD, AskHold, ReleaseHold
from tenure.usecases.pipeline import Pipeline
from tenure.wiring import Node

PIECE_CHARACTERS: Final = 1_000_000
"""An export goes in pieces of this size, since a line of an answer has a limit and an export has none."""


class ForgetSubjectArguments(Arguments, frozen=True, kw_only=True):
    """Everything about one subject."""

    operation: ClassVar[str] = "forget.subject"

    tenant: str
    forget: ForgetSubject


class ForgetMemoryArguments(Arguments, frozen=True, kw_only=True):
    """One memory, as it was seen."""

    operation: ClassVar[str] = "forget.memory"

    tenant: str
    forget: ForgetMemory


class ForgetKeyArguments(Arguments, frozen=True, kw_only=True):
    """One key at a scope."""

    operation: ClassVar[str] = "forget.key"

    tenant: str
    forget: ForgetKey


class EraseArguments(Arguments, frozen=True, kw_only=True):
    """The subject to erase."""

    operation: ClassVar[str] = "erase"

    tenant: str
    subject: str


class ExportSubjectArguments(Arguments, frozen=True, kw_only=True):
    """The subject whose everything is wanted."""

    operation: ClassVar[str] = "export"

    tenant: str
    subject: str


class PlaceHoldArguments(Arguments, frozen=True, kw_only=True):
    """The subject to hold, and why."""

    operation: ClassVar[str] = "hold.place"

    tenant: str
    subject: str
    reason: str
    review_at: datetime | None = None


class ReleaseHoldArguments(Arguments, frozen=True, kw_only=True):
    """The subject to hold no longer, and why."""

    operation: ClassVar[str] = "hold.release"

    tenant: str
    subject: str
    reason: str


class ShowHoldArguments(Arguments, frozen=True, kw_only=True):
    """The subject whose hold is asked for."""

    operation: ClassVar[str] = "hold.show"

    tenant: str
    subject: str


class ReadAlertsArguments(Arguments, frozen=True, kw_only=True):
    """A page of a tenant's alerts."""

    operation: ClassVar[str] = "alerts"

    tenant: str
    limit: int = 50
    cursor: str | None = None
    kind: str | None = None


class PublicKeyArguments(Arguments, frozen=True, kw_only=True):
    """The key that this installation's certificates are checked with."""

    operation: ClassVar[str] = "certificate.public-key"


class ExportedSubject(msgspec.Struct, frozen=True, kw_only=True):
    """How much is held about a subject."""

    memories: int
    recalls: int
    events: int


class PublicKey(msgspec.Struct, frozen=True, kw_only=True):
    """The public half of the installation's signing key, in hexadecimal, and in short."""

    public_key: str
    fingerprint: str


def forget_what(
    node: Node, arguments: ForgetSubjectArguments | ForgetMemoryArguments | ForgetKeyArguments
) -> Iterator[Line]:
    """A subject, a memory or a key at a scope, out of every read (SPEC F1, F4, F9)."""
    yield result(forget(node.pipeline, officer(node.pipeline, arguments.tenant), arguments.forget))


def erase_subject(node: Node, arguments: EraseArguments) -> Iterator[Line]:
    """Everything about a subject gone for good, with a certificate (SPEC F7, F8)."""
    caller = officer(node.pipeline, arguments.tenant)
    yield result(erase(node.pipeline, caller, EraseSubject(subject=arguments.subject)))


def export_subject(node: Node, arguments: ExportSubjectArguments) -> Iterator[Line]:
    """Everything held about a subject: one JSON document, in pieces of text to be put together (SPEC F12)."""
    caller = officer(node.pipeline, arguments.tenant)
    export = node.pipeline.run(EXPORT_SUBJECT, caller, ExportSubject(subject=arguments.subject))
    text = msgspec.json.encode(export).decode()
    for start in range(0, len(text), PIECE_CHARACTERS):
        yield item(text[start : start + PIECE_CHARACTERS])
    yield result(
        ExportedSubject(memories=len(export.memories), recalls=len(export.recalls), events=len(export.events))
    )


def place_hold(node: Node, arguments: PlaceHoldArguments) -> Iterator[Line]:
    """A subject is not to be erased or pruned (SPEC F10)."""
    caller = officer(node.pipeline, arguments.tenant)
    command = PlaceHold(subject=arguments.subject, reason=arguments.reason, review_at=arguments.review_at)
    yield result(node.pipeline.run(PLACE_HOLD, caller, command))


def release_hold(node: Node, arguments: ReleaseHoldArguments) -> Iterator[Line]:
    """The hold ends (SPEC F10)."""
    caller = officer(node.pipeline, arguments.tenant)
    command = ReleaseHold(subject=arguments.subject, reason=arguments.reason)
    yield result(node.pipeline.run(RELEASE_HOLD, caller, command))


def show_hold(node: Node, arguments: ShowHoldArguments) -> Iterator[Line]:
    """The hold as it stands."""
    caller = officer(node.pipeline, arguments.tenant)
    yield result(node.pipeline.run(ASK_HOLD, caller, AskHold(subject=arguments.subject)))


def read_alerts(node: Node, arguments: ReadAlertsArguments) -> Iterator[Line]:
    """What a person should look at, newest first (SPEC F6)."""
    caller = officer(node.pipeline, arguments.tenant)
    command = ReadAlerts(limit=arguments.limit, cursor=arguments.cursor, kind=arguments.kind)
    yield result(node.pipeline.run(READ_ALERTS, caller, command))


def public_key(node: Node, _arguments: PublicKeyArguments) -> Iterator[Line]:
    """What certificates of this installation are checked with (SPEC F8)."""
    key = node.pipeline.keyring.public_key()
    yield result(PublicKey(public_key=key.hex(), fingerprint=fingerprint(key)))


SUBJECT_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(ForgetSubjectArguments, forget_what),
    operation(ForgetMemoryArguments, forget_what),
    operation(ForgetKeyArguments, forget_what),
    operation(EraseArguments, erase_subject),
    operation(ExportSubjectArguments, export_subject),
    operation(PlaceHoldArguments, place_hold),
    operation(ReleaseHoldArguments, release_hold),
    operation(ShowHoldArguments, show_hold),
    operation(ReadAlertsArguments, read_alerts),
    operation(PublicKeyArguments, public_key),
)


def officer(pipeline: Pipeline, tenant: str) -> Caller:
    """The owner of the store as the privacy officer of one tenant that is there."""
    caller = access.local_operator(tenant)
    tenants(pipeline, tenant)
    return msgspec.structs.replace(caller, grants=Grants(roles=frozenset({Role.PRIVACY_OFFICER})))
