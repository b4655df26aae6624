"""Callers' keys: how a token is spelled, what hostile ones do, and what may be granted."""

import hashlib
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import LATER, MODEST, NOW, caller, id_of, moment

from tenure.core.access import (
    SECRET_BYTES,
    CreateKey,
    Key,
    Token,
    create_key,
    opens,
    revoke_key,
    secret_hash,
    spell,
    take_apart,
)
from tenure.core.access_events import KeyCreated, KeyRevoked
from tenure.core.decision import Decided, Refused
from tenure.core.errors import Forbidden, InvalidRequest, NotFound
from tenure.core.identity import Grants, Role, SourceType

OPERATOR = caller(Role.OPERATOR)
TOKEN = Token(tenant="acme", key_id=id_of(5), secret=bytes(range(SECRET_BYTES)))
READER = Grants(roles=frozenset({Role.READER}))
KEY = Key(id=id_of(5), tenant="acme", name="assistant", grants=READER, created_at=NOW)

tokens = st.builds(
    Token,
    tenant=st.text(st.characters(codec="utf-8"), max_size=200),
    key_id=st.uuids(),
    secret=st.binary(max_size=64),
)


@MODEST
@given(token=tokens)
def test_a_token_is_taken_apart_as_it_was_spelled(token: Token) -> None:
    """SPEC A1: whatever the tenant is called."""
    assert take_apart(spell(token)) == (token if len(spell(token)) <= 1_000 else None)


def test_a_token_can_be_sent_in_a_header_and_in_a_url() -> None:
    """SPEC A1: its text needs no escaping, and says at once what it is."""
    prefix, tenant, key_id, secret = spell(TOKEN).split(".")

    assert (prefix, tenant, key_id) == ("tnr", "YWNtZQ", id_of(5).hex)
    assert len(secret) == 43
    assert set(spell(TOKEN)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


@MODEST
@given(text=st.text(max_size=200) | st.text("tnr.=-_Aa0/+{}\x00é\ud800", max_size=60))
@example(text="tnr.\xff.00000000000000000000000000000005.AA")
@example(text="tnr._w.00000000000000000000000000000005.AA")
@example(text="tnr.YWNtZQ.-0000000000000000000000000000005.AA")
@example(text="tnr.YWNtZQ.0x000000000000000000000000000005.AA")
@example(text="tnr.YWNtZQ." + "\u0660" * 32 + ".AA")
@example(text="tnr.A.00000000000000000000000000000005.A")
@example(text="tnr.YWNtZQ.00000000000000000000000000000005." + "A" * 2_000)
def test_no_text_whatever_makes_reading_a_token_fail(text: str) -> None:
    """SPEC A1, S2: a hostile token is no token; it is never an error of ours."""
    found = take_apart(text)

    assert found is None or isinstance(found.key_id, UUID)


@MODEST
@given(parts=st.lists(st.text(max_size=40), min_size=3, max_size=3))
def test_no_three_parts_behind_the_prefix_make_reading_a_token_fail(parts: list[str]) -> None:
    """SPEC A1: also when it looks like one of ours."""
    found = take_apart(".".join(("tnr", *parts)))

    assert found is None or isinstance(found.secret, bytes)


@pytest.mark.parametrize(
    "text", ["", "tnr", "tnr...", "Bearer x", "a.b.c", "TNR" + spell(TOKEN)[3:], spell(TOKEN) + ".x"]
)
def test_what_is_not_spelled_like_a_token_is_none(text: str) -> None:
    """SPEC A1: no credential, no access."""
    assert take_apart(text) is None


def test_only_the_secret_whose_hash_was_stored_opens_a_key() -> None:
    """SPEC A1: a familiar tenant id is worth nothing, and the stored hash is not the secret."""
    stored = secret_hash(TOKEN.secret)

    assert opens(TOKEN.secret, stored)
    assert not opens(TOKEN.secret[:-1], stored)
    assert not opens(b"", stored)
    assert not opens(stored, stored)
    assert TOKEN.secret not in stored


def test_the_stored_hash_of_a_secret_is_for_ever_the_same() -> None:
    """SPEC A1, E3: keys made by one version open with the next."""
    assert secret_hash(TOKEN.secret) == hashlib.sha256(b"tenure-key\x00" + TOKEN.secret).digest()


def test_a_key_is_made_in_the_callers_own_tenant() -> None:
    """SPEC A2: tenant comes from the credential alone."""
    decision = create_key(CreateKey(name="assistant", grants=READER), b"hash", OPERATOR, moment(number=5))

    assert isinstance(decision, Decided)
    (event,) = decision.events
    assert decision.answer == KEY
    assert event.data == KeyCreated(key_id=id_of(5), name="assistant", grants=READER, secret_hash=b"hash")
    assert (event.tenant, event.actor, event.secret) == ("acme", "caller-1", None)


@pytest.mark.parametrize(
    ("grants", "error", "field"),
    [
        (Grants(roles=frozenset()), InvalidRequest, "roles"),
        (Grants(roles=frozenset({Role.REVIEWER}), model_driven=True), Forbidden, "roles"),
        (Grants(roles=frozenset(Role), model_driven=True), Forbidden, "roles"),
        (Grants(roles=frozenset({Role.SUBJECT})), InvalidRequest, "subjects"),
        (Grants(roles=frozenset({Role.SUBJECT}), subjects=frozenset()), InvalidRequest, "subjects"),
    ],
)
def test_grants_that_contradict_a_rule_are_refused(
    grants: Grants, error: type[Exception], field: str
) -> None:
    """SPEC A4, A5: a model-driven reviewer, a subject without a subject, a key for nothing."""
    decision = create_key(CreateKey(name="assistant", grants=grants), b"hash", OPERATOR, moment())

    assert isinstance(decision, Refused)
    assert type(decision.error) is error
    assert decision.error.details == {"field": field}


@pytest.mark.parametrize(
    ("name", "change", "field"),
    [
        ("", {}, "name"),
        ("a\nb", {}, "name"),
        ("assistant", {"agents": frozenset({"support", ""})}, "agents"),
        ("assistant", {"purposes": frozenset({" service"})}, "purposes"),
        ("assistant", {"subjects": frozenset({"x" * 201})}, "subjects"),
    ],
)
def test_a_name_that_is_no_name_is_refused(name: str, change: dict[str, object], field: str) -> None:
    """SPEC S2: the field is named."""
    with pytest.raises(InvalidRequest) as caught:
        create_key(CreateKey(name=name, grants=replace(READER, **change)), b"hash", OPERATOR, moment())

    assert caught.value.field == field


@pytest.mark.parametrize(
    "grants",
    [
        Grants(roles=frozenset({Role.READER, Role.WRITER}), model_driven=True),
        Grants(roles=frozenset({Role.SUBJECT}), subjects=frozenset({"customer-7"})),
        Grants(roles=frozenset({Role.WRITER}), source_types=frozenset({SourceType.EMAIL})),
        Grants(roles=frozenset(Role) - {Role.SUBJECT}),
    ],
)
def test_grants_that_keep_the_rules_are_given(grants: Grants) -> None:
    """SPEC A2, A3: narrowed or not."""
    decision = create_key(CreateKey(name="assistant", grants=grants), b"hash", OPERATOR, moment())

    assert isinstance(decision, Decided)
    assert decision.answer.grants == grants


NARROWED = caller(
    Role.OPERATOR,
    agents=frozenset({"support", "sales"}),
    purposes=frozenset({"service"}),
    subjects=frozenset({"customer-7"}),
    source_types=frozenset({SourceType.EMAIL, SourceType.WEB}),
)
WITHIN: Grants = replace(
    READER,
    agents=frozenset({"support"}),
    purposes=frozenset({"service"}),
    subjects=frozenset({"customer-7"}),
    source_types=frozenset({SourceType.EMAIL}),
)


@pytest.mark.parametrize(
    ("field", "beyond"),
    [
        ("agents", frozenset({"support", "billing"})),
        ("purposes", frozenset({"marketing"})),
        ("subjects", frozenset({"customer-7", "customer-8"})),
        ("source_types", frozenset({SourceType.EMAIL, SourceType.APPLICATION})),
    ],
)
def test_nobody_grants_what_they_may_not_touch_themselves(field: str, beyond: frozenset[str]) -> None:
    """SPEC A2, A3: neither a name more, nor a side left open where one's own is narrowed."""
    for side in (beyond, None):
        wish = CreateKey(name="assistant", grants=replace(WITHIN, **{field: side}))
        decision = create_key(wish, b"hash", NARROWED, moment())

        assert isinstance(decision, Refused)
        assert isinstance(decision.error, Forbidden)
        assert decision.error.details == {"field": field}
        assert field in decision.error.message
        assert field in (decision.error.hint or "")


@pytest.mark.parametrize("field", ["agents", "purposes", "subjects", "source_types"])
def test_a_side_that_is_narrowed_to_nothing_can_be_granted_to_nobody(field: str) -> None:
    """SPEC A2: an empty side grants nothing, and may itself be handed on."""
    nowhere = caller(Role.OPERATOR, **{field: frozenset()})

    refused = create_key(CreateKey(name="assistant", grants=WITHIN), b"hash", nowhere, moment())
    empty = replace(WITHIN, **{field: frozenset()})
    given = create_key(CreateKey(name="assistant", grants=empty), b"hash", nowhere, moment())

    assert isinstance(refused, Refused)
    assert refused.error.details == {"field": field}
    assert isinstance(given, Decided)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"agents": frozenset({"support", "sales"})},
        {"agents": frozenset()},
        {"roles": frozenset({Role.OPERATOR, Role.REVIEWER})},
        {"roles": frozenset({Role.WRITER}), "model_driven": True},
    ],
)
def test_whoever_is_narrowed_may_grant_anything_within_that(change: dict[str, object]) -> None:
    """SPEC A2, A4: as far as their own grants and no less; roles are an operator's to give."""
    grants = replace(WITHIN, **change)

    decision = create_key(CreateKey(name="assistant", grants=grants), b"hash", NARROWED, moment())

    assert isinstance(decision, Decided)
    assert decision.answer.grants == grants


some_names = st.none() | st.frozensets(st.sampled_from(["a", "b", "c"]), max_size=3)


@MODEST
@given(own=some_names, granted=some_names)
def test_a_key_never_reaches_further_than_the_key_it_was_made_with(
    own: frozenset[str] | None, granted: frozenset[str] | None
) -> None:
    """SPEC A2: whatever is granted, along any chain of keys a side only gets narrower."""
    maker = caller(Role.OPERATOR, agents=own)
    wish = CreateKey(name="assistant", grants=replace(READER, agents=granted))

    is_made = isinstance(create_key(wish, b"hash", maker, moment()), Decided)

    names = {"a", "b", "c", "elsewhere"}
    reached = names if granted is None else granted
    assert is_made == (reached <= (names if own is None else own))


def test_a_revoked_key_stays_revoked_since_the_first_time() -> None:
    """SPEC A1: doing it again changes nothing."""
    first = revoke_key(id_of(5), KEY, OPERATOR, moment(now=LATER))

    assert isinstance(first, Decided)
    assert [event.data for event in first.events] == [KeyRevoked(key_id=id_of(5))]
    assert first.answer == replace(KEY, revoked_at=LATER)
    again = revoke_key(id_of(5), first.answer, OPERATOR, moment())
    assert again == Decided(answer=first.answer)


def test_a_key_that_does_not_exist_cannot_be_revoked() -> None:
    """SPEC S2: 404, with the id that was asked for."""
    decision = revoke_key(id_of(6), None, OPERATOR, moment())

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, NotFound)
    assert decision.error.details == {"key_id": str(id_of(6))}
