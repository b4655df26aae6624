"""The calls of operators: callers' keys, made, listed and ended within their own tenant (SPEC A1-A5)."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from tenure.core.access import CreateKey, Key
from tenure.core.errors import NotFound
from tenure.core.identity import Grants, Role, SourceType
from tenure.entrypoints.http_api.calls import Answer, Ask, Call, Nothing, Visit, plainly
from tenure.usecases import access
from tenure.usecases.access import KEY_PAGE_MAX, KeyPage, ListKeys, RevokeKey

GRANTED_NAMES_MAX: Final = 1_000

Names = Annotated[tuple[str, ...], Meta(min_length=1, max_length=GRANTED_NAMES_MAX)]


class CreateKeyBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A wish for a credential. Agents, purposes and subjects that are left out are not narrowed."""

    name: str
    roles: Annotated[tuple[Role, ...], Meta(min_length=1, max_length=len(Role))]
    agents: Names | None = None
    purposes: Names | None = None
    subjects: Names | None = None
    source_types: Annotated[tuple[SourceType, ...], Meta(min_length=1, max_length=len(SourceType))] | None = (
        None
    )
    model_driven: bool = False

    def command(self) -> CreateKey:
        """The wish as the rules take it."""
        return CreateKey(
            name=self.name,
            grants=access.grants_from(
                roles=[*self.roles],
                agents=list(self.agents) if self.agents is not None else None,
                purposes=list(self.purposes) if self.purposes is not None else None,
                subjects=list(self.subjects) if self.subjects is not None else None,
                source_types=list(self.source_types) if self.source_types is not None else None,
                model_driven=self.model_driven,
            ),
        )


class CreatedKey(msgspec.Struct, frozen=True, kw_only=True):
    """A new credential. The token is shown this once and kept nowhere."""

    id: UUID
    token: str
    tenant: str
    name: str
    grants: Grants
    created_at: datetime


class KeysQuery(ListKeys, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which page of the credentials."""

    limit: Annotated[int, Meta(ge=1, le=KEY_PAGE_MAX)] = KEY_PAGE_MAX


def _words(given: tuple[str, ...] | None) -> list[str] | None:
    """What was named, or None where the side was left out."""
    return None if given is None else [*given]


def _create(visit: Visit[CreateKeyBody]) -> Answer:
    made = access.create_key(visit.pipeline, visit.caller, visit.given.command())
    key = made.key
    return Answer(
        201,
        CreatedKey(
            id=key.id,
            token=made.token,
            tenant=key.tenant,
            name=key.name,
            grants=key.grants,
            created_at=key.created_at,
        ),
    )


def _list(visit: Visit[KeysQuery]) -> Ask[Any, Any, Any]:
    return Ask(access.LIST_KEYS, visit.given, plainly)


def _revoke(visit: Visit[Nothing]) -> Ask[Any, Any, Any]:
    return Ask(access.REVOKE_KEY, RevokeKey(key_id=visit.id("key_id")), plainly)


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/credentials",
        name="create_key",
        summary="Make a credential; its token is in this answer and nowhere else.",
        work=_create,
        takes=CreateKeyBody,
        answers={201: CreatedKey},
    ),
    Call(
        method="GET",
        path="/v1/credentials",
        name="list_keys",
        summary="A page of the tenant's credentials, oldest first, without their secrets.",
        work=_list,
        takes=KeysQuery,
        answers={200: KeyPage},
    ),
    Call(
        method="DELETE",
        path="/v1/credentials/{key_id:str}",
        name="revoke_key",
        summary="End a credential; it opens nothing from the next request on.",
        work=_revoke,
        takes=Nothing,
        answers={200: Key},
        problems=(NotFound,),
    ),
)
