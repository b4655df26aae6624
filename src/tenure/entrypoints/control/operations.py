"""What an operator does to a store on its own machine: one copy, used directly and behind the socket.

Each operation takes a node and its arguments and gives lines: progress and items as they come, one result at
the end. It raises TenureError when it is refused. Whoever may open the data folder may do all of this: there
is no credential to check that the folder's own permissions would not already stand for.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Final
from uuid import UUID

import msgspec

from tenure.core.access import CreateKey
from tenure.core.errors import InvalidRequest, NotFound
from tenure.core.identity import Grants
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.checkpoints import CHECKPOINT_OPERATIONS
from tenure.entrypoints.control.contradictions import CONTRADICTION_OPERATIONS
from tenure.entrypoints.control.histories import HISTORY_OPERATIONS
from tenure.entrypoints.control.log_evidence import LOG_OPERATIONS
from tenure.entrypoints.control.policies import POLICY_OPERATIONS
from tenure.entrypoints.control.protocol import Line, Progress, Request, checked, item, result
from tenure.entrypoints.control.recalls import RECALL_OPERATIONS
from tenure.entrypoints.control.reviews import REVIEW_OPERATIONS
from tenure.entrypoints.control.sources import SOURCE_OPERATIONS
from tenure.entrypoints.control.subjects import SUBJECT_OPERATIONS
from tenure.usecases import access, backup, evidence, importing
from tenure.usecases.access import REVOKE_KEY, RevokeKey
from tenure.usecases.importing import Imported, Proposed
from tenure.usecases.pipeline import Pipeline
from tenure.wiring import Node


class CreateKeyArguments(Arguments, frozen=True, kw_only=True):
    """A wish for a credential, in words."""

    operation: ClassVar[str] = "key.create"

    tenant: str
    name: str
    roles: list[str]
    agents: list[str] = msgspec.field(default_factory=list)
    purposes: list[str] = msgspec.field(default_factory=list)
    subjects: list[str] = msgspec.field(default_factory=list)
    source_types: list[str] = msgspec.field(default_factory=list)
    model_driven: bool = False

    def grants(self) -> Grants:
        """What it amounts to; raises InvalidRequest that names the unknown word and the known ones."""
        return access.grants_from(
            roles=self.roles,
            agents=self.agents or None,
            purposes=self.purposes or None,
            subjects=self.subjects or None,
            source_types=self.source_types or None,
            model_driven=self.model_driven,
        )


class ListKeysArguments(Arguments, frozen=True, kw_only=True):
    """The credentials of one tenant, or of all."""

    operation: ClassVar[str] = "key.list"

    tenant: str | None = None


class RevokeKeyArguments(Arguments, frozen=True, kw_only=True):
    """The credential to end; its tenant may be left out."""

    operation: ClassVar[str] = "key.revoke"

    key_id: UUID
    tenant: str | None = None


class ExportLogArguments(Arguments, frozen=True, kw_only=True):
    """The log of one tenant, or of all."""

    operation: ClassVar[str] = "log.export"

    tenant: str | None = None


class BackupArguments(Arguments, frozen=True, kw_only=True):
    """The whole store."""

    operation: ClassVar[str] = "backup"


class RebuildArguments(Arguments, frozen=True, kw_only=True):
    """Every projection of the store."""

    operation: ClassVar[str] = "rebuild"


class ImportArguments(Arguments, frozen=True, kw_only=True):
    """One batch of proposals from a file that the operator vouches for."""

    operation: ClassVar[str] = "import"

    tenant: str
    items: list[Proposed]


class CreatedKey(msgspec.Struct, frozen=True, kw_only=True):
    """A credential with its token, which is shown this once."""

    id: UUID
    token: str
    tenant: str
    name: str
    grants: Grants
    created_at: datetime


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """How many items were given."""

    count: int


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """How much was exported."""

    events: int
    tenants: int


class BackedUp(msgspec.Struct, frozen=True, kw_only=True):
    """When a backup was begun."""

    made_at: datetime


def perform(node: Node, request: Request) -> Iterator[Line]:
    """Carry out a request; raises InvalidRequest for one that names no operation or does not fit it."""
    known = OPERATIONS.get(request.operation)
    if known is None:
        raise InvalidRequest(
            f"there is no operation {request.operation[:50]!r}",
            field="operation",
            hint=f"Known: {', '.join(OPERATIONS)}. A server of another version may know others.",
        )
    return known.perform(node, checked(request.arguments, known.decoder))


def create_key(node: Node, arguments: CreateKeyArguments) -> Iterator[Line]:
    """Make a credential (SPEC A1, A4)."""
    caller = access.local_operator(arguments.tenant)
    created = access.create_key(
        node.pipeline, caller, CreateKey(name=arguments.name, grants=arguments.grants())
    )
    key = created.key
    yield result(
        CreatedKey(
            id=key.id,
            token=created.token,
            tenant=key.tenant,
            name=key.name,
            grants=key.grants,
            created_at=key.created_at,
        )
    )


def list_keys(node: Node, arguments: ListKeysArguments) -> Iterator[Line]:
    """Every credential, the ended ones included, oldest first; no token is kept that could be shown."""
    count = 0
    for tenant in tenants(node.pipeline, arguments.tenant):
        for key in access.every_key(node.pipeline, access.local_operator(tenant)):
            yield item(key)
            count += 1
    yield result(Counted(count=count))


def revoke_key(node: Node, arguments: RevokeKeyArguments) -> Iterator[Line]:
    """End a credential; doing it again changes nothing."""
    tenant = arguments.tenant or _tenant_of_key(node.pipeline, arguments.key_id)
    command = RevokeKey(key_id=arguments.key_id)
    yield result(node.pipeline.run(REVOKE_KEY, access.local_operator(tenant), command))


def export_log(node: Node, arguments: ExportLogArguments) -> Iterator[Line]:
    """The log, one item an event; contents stay sealed (SPEC E4)."""
    named = tenants(node.pipeline, arguments.tenant)
    with node.pipeline.store.reading() as reading:
        total = sum(reading.head(tenant)[0] for tenant in named)
    yield Line(progress=Progress(done=0, total=total))
    count = 0
    for text in evidence.export(node.pipeline, named):
        yield item(msgspec.Raw(text.rstrip(b"\n")))
        count += 1
    yield result(Exported(events=count, tenants=len(named)))


def back_up(node: Node, _arguments: BackupArguments) -> Iterator[Line]:
    """What a backup is made of, one item a piece; whoever asked writes the files (SPEC F11)."""
    made_at = node.pipeline.clock.now()
    with node.pipeline.store.reading() as reading:
        total = sum(reading.head(tenant)[0] for tenant in reading.tenants())
    yield Line(progress=Progress(done=0, total=total))
    for piece in backup.back_up(node.pipeline):
        yield item(piece)
    yield result(BackedUp(made_at=made_at))


def rebuild(node: Node, _arguments: RebuildArguments) -> Iterator[Line]:
    """Drop every projection and replay the log (SPEC E1)."""
    yield result(node.pipeline.store.rebuild())


def import_batch(node: Node, arguments: ImportArguments) -> Iterator[Line]:
    """Put a batch through the gate; what it admits is durable before this answers."""
    imported: Imported = importing.import_batch(node.pipeline, arguments.tenant, arguments.items)
    yield result(imported)


OPERATIONS: Final[Mapping[str, Operation[Any]]] = MappingProxyType(
    dict(
        (
            operation(CreateKeyArguments, create_key),
            operation(ListKeysArguments, list_keys),
            operation(RevokeKeyArguments, revoke_key),
            operation(ExportLogArguments, export_log),
            operation(BackupArguments, back_up),
            operation(RebuildArguments, rebuild),
            operation(ImportArguments, import_batch),
            *SUBJECT_OPERATIONS,
            *HISTORY_OPERATIONS,
            *RECALL_OPERATIONS,
            *LOG_OPERATIONS,
            *SOURCE_OPERATIONS,
            *REVIEW_OPERATIONS,
            *CONTRADICTION_OPERATIONS,
            *POLICY_OPERATIONS,
            *CHECKPOINT_OPERATIONS,
        )
    )
)


def _tenant_of_key(pipeline: Pipeline, key_id: UUID) -> str:
    with pipeline.store.reading() as reading:
        for tenant in reading.tenants():
            if reading.key(tenant, key_id) is not None:
                return tenant
    raise NotFound("there is no key of this id", key_id=str(key_id), hint="See 'tenure key list'.")
