"""Callers' keys: made, listed, ended, and checked at every request (SPEC A1-A5)."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar
from uuid import UUID

import msgspec

from tenure.core import access
from tenure.core.access import CreateKey, Key, Token
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided, Refused
from tenure.core.errors import InvalidRequest, Unauthenticated
from tenure.core.identity import Caller, Grants, Moment, Role, SourceType, checked_name
from tenure.core.rows import KeyRow, from_microseconds
from tenure.core.views import decode_grants
from tenure.usecases.pipeline import Pipeline, Rules, UseCase, World
from tenure.usecases.recording import Showed

W = TypeVar("W", Role, SourceType)

KEY_PAGE_MAX: Final = 200
_JWT_DOTS = 2
_CURSOR: Final = "after:"
LOCAL_OPERATOR = "local:operator"
"""Who acts when the machine's owner uses the command line on their own store."""


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A credential with its token, which is shown this once."""

    key: Key
    token: str


class RevokeKey(msgspec.Struct, frozen=True, kw_only=True):
    """End a credential."""

    key_id: UUID


class ListKeys(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the tenant's credentials, oldest first, the ended ones included."""

    limit: int = KEY_PAGE_MAX
    cursor: str | None = None


class KeyPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the credentials, without secrets, and where the next page begins."""

    items: tuple[Key, ...]
    next_cursor: str | None = None


class _Claims(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tenant: str
    roles: list[str]
    agents: list[str] | None = None
    purposes: list[str] | None = None
    subjects: list[str] | None = None
    source_types: list[str] | None = None
    model_driven: bool = False


class _Hashed(msgspec.Struct, frozen=True, kw_only=True):
    create: CreateKey
    secret_hash: bytes


def local_operator(tenant: str) -> Caller:
    """The owner of the store, acting for one tenant from its own machine."""
    checked_name(tenant, field="tenant")
    return Caller(
        tenant=tenant,
        id=LOCAL_OPERATOR,
        name="operator of this store",
        grants=Grants(roles=frozenset({Role.OPERATOR, Role.AUDITOR})),
    )


def grants_from(
    *,
    roles: list[str],
    agents: list[str] | None = None,
    purposes: list[str] | None = None,
    subjects: list[str] | None = None,
    source_types: list[str] | None = None,
    model_driven: bool = False,
) -> Grants:
    """Grants from words; raises InvalidRequest that names the unknown one and the known ones.

    A side that is left out is not narrowed; an empty one grants nothing. Where source types are left out, a
    person's own key attests what that person says, and a model's key what an agent says (SPEC A3).
    """
    known_roles = frozenset(_known(Role, word, "role") for word in roles)
    attested = frozenset(_known(SourceType, word, "source_type") for word in source_types or ())
    return Grants(
        roles=known_roles,
        agents=frozenset(agents) if agents is not None else None,
        purposes=frozenset(purposes) if purposes is not None else None,
        subjects=frozenset(subjects) if subjects is not None else None,
        source_types=attested
        if source_types is not None
        else _attested_by_default(known_roles, model_driven=model_driven),
        model_driven=model_driven,
    )


def create_key(pipeline: Pipeline, caller: Caller, command: CreateKey) -> NewKey:
    """Make a credential; the token is in this answer and nowhere else."""
    secret = pipeline.clock.secret(access.SECRET_BYTES)
    key = pipeline.run(_CREATE, caller, _Hashed(create=command, secret_hash=access.secret_hash(secret)))
    return NewKey(key=key, token=access.spell(Token(tenant=caller.tenant, key_id=key.id, secret=secret)))


def every_key(pipeline: Pipeline, caller: Caller) -> Iterator[Key]:
    """All credentials of the caller's tenant, page by page."""
    cursor: str | None = None
    while True:
        page = pipeline.run(LIST_KEYS, caller, ListKeys(cursor=cursor))
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def authenticate(pipeline: Pipeline, token: str | None) -> Caller:
    """The caller behind a bearer token; raises Unauthenticated, and never says which part was wrong."""
    parts = access.take_apart(token) if token else None
    if parts is not None:
        with pipeline.store.reading() as reading:
            row = reading.key(parts.tenant, parts.key_id)
        if row is not None and row.revoked_at is None and access.opens(parts.secret, row.secret_hash):
            return Caller(
                tenant=row.tenant, id=str(row.key_id), name=row.name, grants=decode_grants(row.grants)
            )
    raise Unauthenticated(
        "this request carries no valid credential",
        hint="Send 'Authorization: Bearer TOKEN' with a token from 'tenure key create'.",
    )


def _attested_by_default(roles: frozenset[Role], *, model_driven: bool) -> frozenset[SourceType] | None:
    if model_driven:
        return frozenset({SourceType.OTHER_AGENT})
    if Role.SUBJECT in roles and Role.WRITER not in roles:
        return frozenset({SourceType.DIRECT_USER})
    return None


def looks_like_jwt(token: str) -> bool:
    """Whether a bearer token is a JWT rather than one of Tenure's own."""
    return token.count(".") == _JWT_DOTS


def caller_from_claims(subject: str, claims: Mapping[str, object]) -> Caller:
    """The caller that an outside issuer vouches for; raises Unauthenticated for bad claims."""
    try:
        said = msgspec.convert(dict(claims), _Claims)
        checked_name(said.tenant, field="tenant")
        grants = grants_from(
            roles=said.roles,
            agents=said.agents,
            purposes=said.purposes,
            subjects=said.subjects,
            source_types=said.source_types,
            model_driven=said.model_driven,
        )
        checked = access.check_grants(grants)
    except (msgspec.ValidationError, InvalidRequest) as fault:
        raise Unauthenticated(
            "this token's grants are not well formed",
            hint="The issuer must send tenant and roles; agents, purposes, subjects, source_types narrow.",
        ) from fault
    if checked is not None:
        raise Unauthenticated(f"this token's grants contradict a rule: {checked.message}", hint=checked.hint)
    return Caller(tenant=said.tenant, id=f"jwt:{subject}", name=subject, grants=grants)


def _known(kind: type[W], word: str, field: str) -> W:
    try:
        return kind(word)
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise InvalidRequest(
            f"{field} {word[:50]!r} is unknown", field=field, hint=f"Known: {known}."
        ) from None


def _key(row: KeyRow) -> Key:
    return Key(
        id=row.key_id,
        tenant=row.tenant,
        name=row.name,
        grants=decode_grants(row.grants),
        created_at=from_microseconds(row.created_at),
        revoked_at=from_microseconds(row.revoked_at) if row.revoked_at is not None else None,
    )


def _decide_create(
    command: _Hashed, _facts: None, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Key] | Refused:
    return access.create_key(command.create, command.secret_hash, caller, moment)


def _find(world: World, caller: Caller, command: RevokeKey) -> Key | None:
    row = world.reading.key(caller.tenant, command.key_id)
    return _key(row) if row is not None else None


def _decide_revoke(
    command: RevokeKey, key: Key | None, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Key] | Refused:
    return access.revoke_key(command.key_id, key, caller, moment)


def _list(world: World, caller: Caller, command: ListKeys) -> KeyPage:
    """A page behind the key that the cursor names: no key ever goes, so it says where it ended."""
    if not 1 <= command.limit <= KEY_PAGE_MAX:
        raise InvalidRequest(f"limit must be 1 to {KEY_PAGE_MAX}", field="limit")
    rows = world.reading.keys(caller.tenant)
    if command.cursor is not None:
        named = [f"{_CURSOR}{row.key_id}" for row in rows]
        if command.cursor not in named:
            raise InvalidRequest("cursor must be the next_cursor of an earlier page", field="cursor")
        rows = rows[named.index(command.cursor) + 1 :]
    page = rows[: command.limit]
    return KeyPage(
        items=tuple(_key(row) for row in page),
        next_cursor=f"{_CURSOR}{page[-1].key_id}" if len(rows) > command.limit else None,
    )


_CREATE: UseCase[_Hashed, None, Key] = UseCase(
    name="create-key",
    permission=Permission.MANAGE_KEYS,
    target=lambda _command: Target(),
    gather=lambda _world, _caller, _command: None,
    decide=_decide_create,
)

REVOKE_KEY: UseCase[RevokeKey, Key | None, Key] = UseCase(
    name="revoke-key",
    permission=Permission.MANAGE_KEYS,
    target=lambda _command: Target(),
    gather=_find,
    decide=_decide_revoke,
)

LIST_KEYS: UseCase[ListKeys, KeyPage, KeyPage] = UseCase(
    name="list-keys",
    permission=Permission.MANAGE_KEYS,
    target=lambda _command: Target(),
    gather=_list,
    decide=lambda _command, page, _caller, _moment, _rules: Decided(answer=page),
    showed=lambda page: Showed(len(page.items)),
)
