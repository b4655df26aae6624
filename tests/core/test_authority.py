"""Who may ask for what: every role and permission, and what a credential narrows."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import (
    CONTENT,
    LATER,
    MODEST,
    NOW,
    REASON,
    SECRET,
    caller,
    event,
    held_memory,
    memory,
)

from tenure.core.authority import (
    NEVER_MODEL_DRIVEN,
    Allowed,
    Denied,
    Permission,
    Target,
    authorise,
    filled,
    may,
    sees,
    shown,
)
from tenure.core.errors import Forbidden, InvalidRequest
from tenure.core.events import Expired, Promoted
from tenure.core.identity import Grants, Role, SourceType
from tenure.core.memory import Memory, evolve
from tenure.core.vocabulary import Status, Trust

# Which roles carry a permission, written out by hand.
CARRIED_BY: dict[str, set[str]] = {
    "memory:propose": {"writer", "subject"},
    "memory:read": {"reader", "reviewer", "privacy_officer", "subject"},
    "memory:read-withheld": {"reviewer", "privacy_officer", "subject"},
    "memory:recall": {"reader", "subject"},
    "memory:renew": {"writer", "reviewer", "operator"},
    "memory:revoke": {"reviewer", "operator"},
    "memory:review": {"reviewer"},
    "subject:forget": {"privacy_officer", "subject"},
    "subject:erase": {"privacy_officer", "subject"},
    "subject:export": {"privacy_officer", "subject"},
    "subject:hold": {"privacy_officer"},
    "alert:read": {"reviewer", "privacy_officer", "auditor", "operator"},
    "source:revoke": {"reviewer", "operator"},
    "source:impact": {"reviewer", "auditor", "operator"},
    "tool:authorize": {"writer", "reader"},
    "log:read": {"auditor", "operator"},
    "policy:manage": {"operator"},
    "key:manage": {"operator"},
}
ANYTHING = Target()
SIDES: list[tuple[str, str, str, object]] = [
    ("agent", "agent", "agents", "support"),
    ("purpose", "purpose", "purposes", "service"),
    ("subject", "subject", "subjects", "customer-7"),
    ("source.type", "source_type", "source_types", SourceType.EMAIL),
]

few_names = st.sampled_from(["a", "b", "c"])
some_names = st.frozensets(few_names, max_size=3)
targets = st.builds(
    Target,
    agent=st.none() | few_names,
    purpose=st.none() | few_names,
    subject=st.none() | few_names,
    source_type=st.none() | st.sampled_from(SourceType),
)


def without_its_words(one: Memory) -> Memory:
    """The memory without what its writer, or who judged it, put into words."""
    source = replace(one.source, uri=None)
    return replace(
        one, content=None, claim=None, key=None, fingerprint=None, decision_reason=None, source=source
    )


def test_every_permission_has_its_line_in_the_table() -> None:
    """SPEC A4: nothing may be asked for that is not listed here."""
    assert sorted(CARRIED_BY) == sorted(Permission)


@pytest.mark.parametrize(("role", "permission"), list(product(Role, Permission)))
def test_a_role_carries_exactly_the_permissions_of_the_table(role: Role, permission: Permission) -> None:
    """SPEC A4: every (role, permission) pair; least privilege by default."""
    answer = authorise(caller(role), permission, ANYTHING)

    if role in CARRIED_BY[permission]:
        assert answer == Allowed(role)
    else:
        because = f"this credential's roles do not include {permission}"
        assert answer == Denied(because=because, field="role")


@pytest.mark.parametrize("permission", Permission)
def test_without_a_role_nothing_is_permitted(permission: Permission) -> None:
    """SPEC A1: closed by default."""
    assert not may(caller(), permission)


@pytest.mark.parametrize("permission", Permission)
def test_a_permission_that_any_role_carries_is_held(permission: Permission) -> None:
    """SPEC A4: the first role that carries it is why."""
    answer = authorise(caller(*Role), permission, ANYTHING)

    assert isinstance(answer, Allowed)
    assert answer.role in CARRIED_BY[permission]


@pytest.mark.parametrize("permission", Permission)
def test_what_a_model_steers_never_judges_manages_keys_sees_what_is_withheld_or_disposes_of_a_subject(
    permission: Permission,
) -> None:
    """SPEC A5, L6: whatever roles it was given."""
    driven = caller(*Role, model_driven=True)
    never = {
        Permission.REVIEW,
        Permission.READ_WITHHELD,
        Permission.RENEW,
        Permission.MANAGE_KEYS,
        Permission.MANAGE_POLICY,
        Permission.REVOKE_SOURCE,
        Permission.ERASE,
        Permission.EXPORT,
        Permission.HOLD,
    }

    assert may(driven, permission) == (permission not in never)
    assert never == NEVER_MODEL_DRIVEN


@pytest.mark.parametrize(("field", "side", "grant", "value"), SIDES)
def test_a_narrowed_side_admits_what_was_granted_and_nothing_else(
    field: str, side: str, grant: str, value: object
) -> None:
    """SPEC A2, A3: asking beyond the grants is denied, and the field is named."""
    wanted = replace(ANYTHING, **{side: value})
    granted = caller(Role.WRITER, **{grant: frozenset({value})})
    elsewhere = caller(Role.WRITER, **{grant: frozenset({"elsewhere"})})
    nowhere = caller(Role.WRITER, **{grant: frozenset()})
    denied = Denied(because=f"this credential was not granted that {field}", field=field)

    assert authorise(granted, Permission.PROPOSE, wanted) == Allowed(Role.WRITER)
    assert authorise(caller(Role.WRITER), Permission.PROPOSE, wanted) == Allowed(Role.WRITER)
    assert authorise(elsewhere, Permission.PROPOSE, wanted) == denied
    assert authorise(nowhere, Permission.PROPOSE, wanted) == denied


@MODEST
@given(agents=some_names, purposes=some_names, subjects=some_names, target=targets)
def test_narrowing_a_credential_never_lets_it_do_more(
    agents: frozenset[str], purposes: frozenset[str], subjects: frozenset[str], target: Target
) -> None:
    """SPEC A2: whatever a narrowed caller may do, an unnarrowed one may, and within the grants only."""
    narrow = caller(Role.WRITER, agents=agents, purposes=purposes, subjects=subjects)
    inside = all(
        wanted is None or wanted in granted
        for wanted, granted in (
            (target.agent, agents),
            (target.purpose, purposes),
            (target.subject, subjects),
        )
    )

    assert isinstance(authorise(narrow, Permission.PROPOSE, target), Allowed) == inside
    assert isinstance(authorise(caller(Role.WRITER), Permission.PROPOSE, target), Allowed)


@pytest.mark.parametrize(
    ("narrowed", "field"),
    [
        ({"agents": frozenset({"support"})}, "agent"),
        ({"purposes": frozenset({"service"})}, "purpose"),
        ({"subjects": frozenset({"customer-7"})}, "subject"),
        ({"subjects": frozenset()}, "subject"),
    ],
)
def test_what_reaches_the_whole_tenant_is_denied_to_whoever_was_granted_a_part(
    narrowed: dict[str, frozenset[str]], field: str
) -> None:
    """SPEC A2, I1: a credential that is narrowed on any side may not revoke a source for all of them."""
    whole = Target(everything=True)

    because = "this reaches the whole tenant, and this credential only a part of it"
    assert authorise(caller(Role.REVIEWER, **narrowed), Permission.REVOKE_SOURCE, whole) == Denied(
        because=because, field=field
    )
    assert authorise(caller(Role.REVIEWER, **narrowed), Permission.REVOKE_SOURCE, ANYTHING) == Allowed(
        Role.REVIEWER
    )


def test_the_whole_tenant_is_open_to_whoever_is_not_narrowed_to_a_part_of_it() -> None:
    """SPEC A2: the source types that a key may attest say nothing of what it may see."""
    whole = Target(everything=True)

    assert authorise(caller(Role.REVIEWER), Permission.REVOKE_SOURCE, whole) == Allowed(Role.REVIEWER)
    attesting = caller(Role.REVIEWER, source_types=frozenset({SourceType.EMAIL}))
    assert authorise(attesting, Permission.REVOKE_SOURCE, whole) == Allowed(Role.REVIEWER)
    assert isinstance(authorise(caller(Role.WRITER), Permission.REVOKE_SOURCE, whole), Denied)


def test_a_denial_tells_the_caller_the_field_and_whom_to_ask() -> None:
    """SPEC S2: an error says what to do."""
    error = Denied(because="this credential was not granted that agent", field="agent").error()

    assert isinstance(error, Forbidden)
    assert (error.message, error.details) == (
        "this credential was not granted that agent",
        {"field": "agent"},
    )
    assert error.hint == "Ask an operator for a credential with this grant."
    assert Denied(because="no").error().details == {}


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({}, True),
        ({"tenant": "another"}, False),
        ({"agent": "sales"}, False),
        ({"purpose": "marketing"}, False),
        ({"subject": "customer-8"}, False),
    ],
)
def test_a_memory_outside_any_of_the_four_walls_is_absent(change: dict[str, str], *, seen: bool) -> None:
    """SPEC M2: tenant, agent, purpose and subject are four separate boundaries."""
    narrowed = caller(
        Role.READER,
        agents=frozenset({"support"}),
        purposes=frozenset({"service"}),
        subjects=frozenset({"customer-7"}),
    )

    assert sees(narrowed, memory(**change)) == seen


def test_a_caller_without_narrowed_sides_still_sees_only_its_own_tenant() -> None:
    """SPEC A2, M2: no tenant ever sees another's."""
    assert sees(caller(*Role), memory(agent="sales", subject="customer-8"))
    assert not sees(caller(*Role), memory(tenant="another"))


@pytest.mark.parametrize(("role", "status"), list(product(Role, Status)))
def test_withheld_content_reaches_only_who_must_judge_it(role: Role, status: Status) -> None:
    """SPEC L6, L13: quarantined and revoked for the judges; rejected for nobody; the rest for readers."""
    one = memory(status=status, decision_reason=REASON)

    found = shown(caller(role), one)

    judges = {Role.REVIEWER, Role.PRIVACY_OFFICER, Role.SUBJECT}
    withheld = {Status.QUARANTINED, Status.REVOKED}
    hidden = status is Status.REJECTED or (status in withheld and role not in judges)
    assert found == (without_its_words(one) if hidden else one)


@pytest.mark.parametrize("status", [Status.QUARANTINED, Status.REJECTED, Status.REVOKED])
def test_what_a_model_steers_sees_no_word_of_what_is_withheld(status: Status) -> None:
    """SPEC L6, A5: a text that was held back reaches no model by the role of its credential."""
    driven = caller(*Role, model_driven=True)
    one = memory(status=status, decision_reason=REASON)

    found = shown(driven, one)

    assert found == without_its_words(one)
    assert not any(word in repr(found) for word in (CONTENT, "marker", "favourite"))


def test_what_nobody_promoted_stays_withheld_when_its_time_has_passed() -> None:
    """SPEC L6: quarantine does not end by waiting; expiry must not show an attack to every reader."""
    expired = evolve(held_memory(), event(Expired(expired_at=NOW), version=2, at=LATER))

    assert expired.status is Status.EXPIRED
    assert shown(caller(Role.READER), expired).content is None
    assert shown(caller(Role.REVIEWER), expired).content == CONTENT


def test_what_was_promoted_is_shown_after_its_time_as_any_other_expired_memory() -> None:
    """SPEC L7: a promoted memory was admitted; its history may be read."""
    promoted = evolve(held_memory(), event(Promoted(trust=Trust.REVIEWER_VERIFIED), version=2))
    expired = evolve(promoted, event(Expired(expired_at=NOW), version=3, secret=SECRET))

    assert shown(caller(Role.READER), expired).content == CONTENT


@pytest.mark.parametrize(
    ("value", "granted", "expected"),
    [
        ("sales", None, "sales"),
        ("sales", frozenset({"support"}), "sales"),
        (None, frozenset({"support"}), "support"),
    ],
)
def test_a_side_may_be_left_out_where_exactly_one_is_granted(
    value: str | None, granted: frozenset[str] | None, expected: str
) -> None:
    """SPEC A2: what is named stays as it is, for `authorise` to judge."""
    assert expected == filled(value, granted, field="agent")


@pytest.mark.parametrize("granted", [None, frozenset(), frozenset({"support", "sales"})])
def test_a_side_that_is_not_granted_exactly_once_must_be_named(granted: frozenset[str] | None) -> None:
    """SPEC S2: the error names the field and says why it cannot be guessed."""
    with pytest.raises(InvalidRequest) as caught:
        filled(None, granted, field="purpose")

    assert (caught.value.field, caught.value.message) == ("purpose", "purpose is missing")
    assert caught.value.hint == "Name the purpose: this credential does not grant exactly one."


def test_a_new_credential_is_not_model_driven_and_narrows_nothing_by_itself() -> None:
    """SPEC A4: what grants say when only a role is given."""
    grants = Grants(roles=frozenset({Role.READER}))

    assert (grants.agents, grants.purposes, grants.subjects, grants.source_types) == (None,) * 4
    assert not grants.model_driven
