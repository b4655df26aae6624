"""Credentials: made, listed, ended, and checked at every request (SPEC A1-A5)."""

import base64
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import BOT, OPERATOR, TENANT, caller, happened, log, proposal

from tenure.core.access import CreateKey, secret_hash, take_apart
from tenure.core.access_events import KeyCreated
from tenure.core.errors import Forbidden, InvalidRequest, NotFound, Unauthenticated
from tenure.core.identity import Grants, Role, SourceType
from tenure.usecases.access import (
    LIST_KEYS,
    LOCAL_OPERATOR,
    REVOKE_KEY,
    ListKeys,
    NewKey,
    RevokeKey,
    authenticate,
    caller_from_claims,
    create_key,
    every_key,
    grants_from,
    local_operator,
    looks_like_jwt,
)
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER

GRANTS = Grants(
    roles=frozenset({Role.WRITER, Role.READER}),
    agents=frozenset({"support"}),
    purposes=frozenset({"answering"}),
    source_types=frozenset({SourceType.APPLICATION}),
)


def made(pipeline: Pipeline, name: str = "ci", grants: Grants = GRANTS) -> NewKey:
    """A fresh credential."""
    return create_key(pipeline, OPERATOR, CreateKey(name=name, grants=grants))


def test_a_token_brings_its_holder_in_with_exactly_its_grants(pipeline: Pipeline) -> None:
    """SPEC A1, A2: tenant, id for the audit, and grants come from the credential."""
    new = made(pipeline)
    who = authenticate(pipeline, new.token)

    assert (who.tenant, who.id, who.name, who.grants) == (TENANT, str(new.key.id), "ci", GRANTS)
    assert pipeline.run(REMEMBER, who, proposal()).memory is not None


def test_only_a_hash_of_the_secret_is_kept(pipeline: Pipeline) -> None:
    """SPEC A1: neither the log, nor a row, nor the answer to a list holds what opens the door."""
    new = made(pipeline)
    parts = take_apart(new.token)
    assert parts is not None
    with pipeline.store.reading() as reading:
        row = reading.key(TENANT, new.key.id)
    [event] = log(pipeline)
    kept = repr((row, event, new.key, pipeline.run(LIST_KEYS, OPERATOR, ListKeys())))

    assert isinstance(event.data, KeyCreated)
    assert row is not None
    assert row.secret_hash == event.data.secret_hash == secret_hash(parts.secret)
    for spelled in (new.token, new.token.rpartition(".")[2], repr(parts.secret), parts.secret.hex()):
        assert spelled not in kept


def test_a_revoked_key_stops_at_once(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC A1, L12: the next request is refused; ending it again changes nothing."""
    new = made(pipeline)
    authenticate(pipeline, new.token)
    now = clock.pass_time(hours=1)
    ended = pipeline.run(REVOKE_KEY, OPERATOR, RevokeKey(key_id=new.key.id))

    with pytest.raises(Unauthenticated):
        authenticate(pipeline, new.token)

    clock.pass_time(hours=1)
    again = pipeline.run(REVOKE_KEY, OPERATOR, RevokeKey(key_id=new.key.id))
    assert ended.revoked_at == again.revoked_at == now
    assert happened(pipeline) == ["key.created", "key.revoked"]


def test_a_revoked_key_stays_revoked_after_a_rebuild(pipeline: Pipeline) -> None:
    """SPEC E1, A1: the log is what counts."""
    new, other = made(pipeline), made(pipeline, "other")
    pipeline.run(REVOKE_KEY, OPERATOR, RevokeKey(key_id=new.key.id))

    assert pipeline.store.rebuild().identical
    with pytest.raises(Unauthenticated):
        authenticate(pipeline, new.token)
    assert authenticate(pipeline, other.token).name == "other"


def respelled(token: str, part: int, text: str) -> str:
    """A token with another part in it."""
    parts = token.split(".")
    parts[part] = text
    return ".".join(parts)


def test_whatever_is_wrong_with_a_token_is_refused_in_the_same_words(pipeline: Pipeline) -> None:
    """SPEC A1: a familiar tenant or key id is worth nothing, and nobody learns which part was wrong."""
    new, other = made(pipeline), made(pipeline, "other")
    globex = base64.urlsafe_b64encode(b"globex").rstrip(b"=").decode()
    wrong = [
        None,
        "",
        "tnr",
        "x" * 2_000,
        respelled(new.token, 0, "tnx"),
        respelled(new.token, 1, globex),
        respelled(new.token, 1, "%%%"),
        respelled(new.token, 2, other.key.id.hex),
        respelled(new.token, 2, UUID(int=9).hex),
        respelled(new.token, 2, "no id"),
        respelled(new.token, 3, other.token.rpartition(".")[2]),
        respelled(new.token, 3, ""),
        new.token + "A",
        new.token.swapcase(),
        "ünïcödé." + new.token,
    ]
    said = set()
    for token in wrong:
        with pytest.raises(Unauthenticated) as refusal:
            authenticate(pipeline, token)
        said.add((refusal.value.message, refusal.value.hint))

    assert len(said) == 1
    assert new.token not in repr(said)


def test_a_token_of_another_tenant_opens_only_its_own(pipeline: Pipeline) -> None:
    """SPEC A2, M2: keys of one tenant are no other operator's to see or end."""
    stranger = caller(Role.OPERATOR, tenant="globex")
    mine = made(pipeline)
    theirs = create_key(pipeline, stranger, CreateKey(name="ci", grants=GRANTS))

    assert authenticate(pipeline, theirs.token).tenant == "globex"
    assert [key.id for key in pipeline.run(LIST_KEYS, OPERATOR, ListKeys()).items] == [mine.key.id]
    with pytest.raises(NotFound):
        pipeline.run(REVOKE_KEY, stranger, RevokeKey(key_id=mine.key.id))
    assert authenticate(pipeline, mine.token).tenant == TENANT


def test_keys_are_listed_oldest_first_with_their_state(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC A1, A4: name, grants, when made, when ended."""
    first = made(pipeline, "first")
    clock.pass_time(hours=1)
    second = made(pipeline, "second", Grants(roles=frozenset({Role.AUDITOR})))
    pipeline.run(REVOKE_KEY, OPERATOR, RevokeKey(key_id=first.key.id))

    one, two = pipeline.run(LIST_KEYS, OPERATOR, ListKeys()).items
    assert (one.name, one.grants, one.created_at, one.revoked_at) == ("first", GRANTS, START, clock.now())
    assert two == second.key


def test_keys_are_listed_page_by_page(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC A1: each key stands on one page, whatever was made or ended between two of them."""
    new = []
    for number in range(5):
        new.append(made(pipeline, f"key {number}").key.id)
        clock.pass_time(seconds=1)

    first = pipeline.run(LIST_KEYS, OPERATOR, ListKeys(limit=2))
    pipeline.run(REVOKE_KEY, OPERATOR, RevokeKey(key_id=new[1]))
    second = pipeline.run(LIST_KEYS, OPERATOR, ListKeys(limit=2, cursor=first.next_cursor))
    new.append(made(pipeline, "key 5").key.id)
    third = pipeline.run(LIST_KEYS, OPERATOR, ListKeys(limit=2, cursor=second.next_cursor))

    assert [[key.id for key in page.items] for page in (first, second, third)] == [new[:2], new[2:4], new[4:]]
    assert third.next_cursor is None
    assert [key.id for key in every_key(pipeline, OPERATOR)] == new


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (ListKeys(limit=0), "limit"),
        (ListKeys(limit=201), "limit"),
        (ListKeys(cursor="after:7"), "cursor"),
        (ListKeys(cursor=""), "cursor"),
    ],
)
def test_a_page_of_keys_that_cannot_be_is_refused(pipeline: Pipeline, command: ListKeys, field: str) -> None:
    """SPEC S2: a cursor is one that a page gave."""
    with pytest.raises(InvalidRequest) as refused:
        pipeline.run(LIST_KEYS, OPERATOR, command)

    assert refused.value.details["field"] == field


def test_only_an_operator_who_is_no_model_manages_keys(pipeline: Pipeline) -> None:
    """SPEC A4, A5: the attempt is audited."""
    model = caller(Role.OPERATOR, name="model", model_driven=True)

    for who in (BOT, model):
        with pytest.raises(Forbidden):
            create_key(pipeline, who, CreateKey(name="mine", grants=GRANTS))
        with pytest.raises(Forbidden):
            pipeline.run(LIST_KEYS, who, ListKeys())
    assert happened(pipeline) == ["access.denied"] * 4


@pytest.mark.parametrize(
    ("grants", "error"),
    [
        (Grants(roles=frozenset()), InvalidRequest),
        (Grants(roles=frozenset({Role.REVIEWER}), model_driven=True), Forbidden),
        (Grants(roles=frozenset({Role.SUBJECT})), InvalidRequest),
        (Grants(roles=frozenset({Role.READER}), agents=frozenset({"two\nlines"})), InvalidRequest),
    ],
    ids=["no role", "reviewing model", "nameless subject", "no name"],
)
def test_grants_that_contradict_a_rule_are_refused(
    pipeline: Pipeline, grants: Grants, error: type[Exception]
) -> None:
    """SPEC A4, A5: no key is made."""
    with pytest.raises(error):
        made(pipeline, grants=grants)

    assert happened(pipeline) == []


def test_words_become_grants_and_unknown_ones_are_named() -> None:
    """SPEC S2: the field, and what is known."""
    assert grants_from(roles=["writer"], agents=["a"], source_types=["web"]) == Grants(
        roles=frozenset({Role.WRITER}), agents=frozenset({"a"}), source_types=frozenset({SourceType.WEB})
    )
    for roles, source_types, field in ((["king"], [], "role"), (["writer"], ["fax"], "source_type")):
        with pytest.raises(InvalidRequest) as refusal:
            grants_from(roles=roles, source_types=source_types)
        assert refusal.value.field == field
        assert "Known: " in (refusal.value.hint or "")


def test_the_owner_of_the_machine_acts_as_operator_and_auditor() -> None:
    """SPEC A4: for one tenant, under a name that the audit can tell."""
    owner = local_operator(TENANT)

    assert (owner.tenant, owner.id, owner.grants.roles) == (
        TENANT,
        LOCAL_OPERATOR,
        frozenset({Role.OPERATOR, Role.AUDITOR}),
    )
    with pytest.raises(InvalidRequest):
        local_operator("two\nlines")


def test_an_issuers_claims_become_a_caller() -> None:
    """SPEC A1, A2: tenant and grants come from the signed token, the id from its subject."""
    who = caller_from_claims(
        "ann@example.com", {"tenant": TENANT, "roles": ["reviewer"], "agents": ["support"]}
    )

    assert (who.tenant, who.id, who.name) == (TENANT, "jwt:ann@example.com", "ann@example.com")
    assert who.grants == Grants(roles=frozenset({Role.REVIEWER}), agents=frozenset({"support"}))


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"tenant": TENANT},
        {"roles": ["reader"]},
        {"tenant": "two\nlines", "roles": ["reader"]},
        {"tenant": TENANT, "roles": []},
        {"tenant": TENANT, "roles": ["king"]},
        {"tenant": TENANT, "roles": ["reviewer"], "model_driven": True},
        {"tenant": TENANT, "roles": ["subject"]},
        {"tenant": TENANT, "roles": ["reader"], "agents": "support"},
        {"tenant": TENANT, "roles": ["reader"], "everything": True},
    ],
    ids=str,
)
def test_claims_that_are_no_grants_bring_nobody_in(claims: dict[str, object]) -> None:
    """SPEC A1, A5: closed by default; a claim that is not understood is not passed over."""
    with pytest.raises(Unauthenticated):
        caller_from_claims("ann", claims)


@pytest.mark.parametrize(
    ("claims", "side"),
    [
        ({"agents": []}, "agents"),
        ({"purposes": []}, "purposes"),
        ({"subjects": []}, "subjects"),
        ({"source_types": []}, "source_types"),
    ],
    ids=str,
)
def test_an_empty_claim_grants_nothing_rather_than_everything(claims: dict[str, object], side: str) -> None:
    """SPEC A2, A4: least privilege; an issuer that lists no agent did not mean every agent."""
    try:
        who = caller_from_claims("ann", {"tenant": TENANT, "roles": ["reader"]} | claims)
    except Unauthenticated:
        return
    assert getattr(who.grants, side) == frozenset()


def test_tokens_of_an_issuer_are_told_from_our_own(pipeline: Pipeline) -> None:
    """SPEC A1: by their shape alone."""
    assert looks_like_jwt("a.b.c")
    assert not looks_like_jwt(made(pipeline).token)
