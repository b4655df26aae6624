"""In embedded use the program is the authority, and its sessions are held to what it granted (SPEC A2-A5)."""

from collections.abc import Callable
from typing import Any

import pytest

import tenure
from tenure import Forbidden, InvalidRequest, NotFound, ScopeNotNamed, Source, Tenure
from tenure.entrypoints.library.sessions import Session

APPLICATION = Source.application("crm-1")


def remembered(session: Session, **sides: Any) -> Any:
    """A memory that the gate approves."""
    return session.remember("Prefers e-mail", kind="fact", source=APPLICATION, **sides)


def test_a_session_stays_within_its_subject(store: Tenure) -> None:
    """SPEC A2, M2: another subject is refused where it is named, and absent where it is not."""
    other = remembered(store.session("acme", "support", "support", "customer-8"))
    bot = store.session("acme", "support", "support", "customer-7")

    with pytest.raises(Forbidden):
        remembered(bot, subject="customer-8")
    with pytest.raises(Forbidden):
        bot.recall("e-mail", subject="customer-8")
    with pytest.raises(NotFound):
        bot.get(other.id)
    assert list(bot.recall("e-mail")) == []


def test_a_session_without_a_subject_names_it_each_time(store: Tenure) -> None:
    """SPEC M2: writing needs one; recall asks all of its boundary."""
    bot = store.session("acme", "support", "support")
    for subject in ("customer-7", "customer-8"):
        remembered(bot, subject=subject)

    with pytest.raises(InvalidRequest) as refusal:
        remembered(bot)

    assert refusal.value.field == "subject"
    assert len(bot.recall("e-mail")) == 2
    assert len(bot.recall("e-mail", subject="customer-7")) == 1


@pytest.mark.parametrize(
    ("roles", "call"),
    [
        (("reader",), remembered),
        (("writer",), lambda session: session.recall("e-mail")),
        (("writer",), lambda session: session.memories()),
        (("writer", "reader"), lambda session: session.review()),
        (("writer", "reader", "reviewer"), lambda session: session.forget()),
        (("writer", "reader"), lambda session: session.log()),
    ],
    ids=["remember", "recall", "memories", "review", "forget", "log"],
)
def test_a_session_without_the_role_is_refused(
    store: Tenure, roles: tuple[str, ...], call: Callable[[Session], object]
) -> None:
    """SPEC A4: least privilege; the attempt stands in the log."""
    session = store.session("acme", "support", "support", "customer-7", roles=roles)
    auditor = store.session("acme", "support", "support", roles=("auditor",), name="aud")

    with pytest.raises(Forbidden):
        call(session)

    assert [entry.type for entry in auditor.log().items] == ["access.denied"]


def test_a_session_attests_only_its_source_types(store: Tenure) -> None:
    """SPEC A3: an empty list grants none."""
    mail = store.session("acme", "support", "support", "customer-7", source_types=("email",), name="mail")
    none = store.session("acme", "support", "support", "customer-7", source_types=(), name="none")

    mail.remember("Pays by invoice", kind="fact", source=Source.email("mail-1"))
    for session in (mail, none):
        with pytest.raises(Forbidden):
            remembered(session)
    with pytest.raises(Forbidden):
        none.remember("Pays by invoice", kind="fact", source=Source.email("mail-1"))


def test_one_name_proposes_and_another_promotes(store: Tenure) -> None:
    """SPEC A5: the name is who it is in the audit, whatever the session."""
    ann = store.session("acme", "support", "support", "customer-7", name="ann")
    waiting = ann.remember("Pays by invoice", kind="fact", source=Source.email("mail-1"))
    reviewing = [
        store.session("acme", "support", "support", roles=("reviewer",), name=name) for name in ("ann", "bob")
    ]

    with pytest.raises(Forbidden):
        reviewing[0].promote(waiting.id, expected_version=1, reason="mine")
    assert reviewing[1].promote(waiting.id, expected_version=1, reason="checked").status == "active"


def test_a_model_is_never_a_reviewer(store: Tenure) -> None:
    """SPEC A5: such a session cannot be had."""
    with pytest.raises(Forbidden):
        store.session("acme", "support", "support", roles=("reviewer",), model_driven=True)


def test_a_model_driven_session_writes_what_an_agent_says_and_reads(store: Tenure) -> None:
    """SPEC A5, A3: it waits for a person, and a model vouches for no application unless it was granted."""
    model = store.session("acme", "support", "support", "customer-7", name="model", model_driven=True)

    waiting = model.remember("Prefers e-mail", kind="fact", source=Source.other_agent("run-1"))

    assert waiting.status == "quarantined"
    assert list(model.recall("e-mail")) == []
    with pytest.raises(Forbidden):
        remembered(model)


def test_a_model_driven_session_never_renews(store: Tenure) -> None:
    """SPEC A5, L11: what it wrote in the name of a granted source does not live longer by its own wish."""
    model = store.session(
        "acme", "support", "support", "customer-7", model_driven=True, source_types=("application",)
    )
    memory = remembered(model)

    assert [found.id for found in model.recall("e-mail")] == [memory.id]
    with pytest.raises(Forbidden):
        model.renew(memory.id, expected_version=1, reason="I like it", ttl_seconds=60)


@pytest.mark.parametrize(
    ("sides", "field"),
    [
        ({"tenant": ""}, "tenant"),
        ({"agent": "two\nlines"}, "agent"),
        ({"purpose": " "}, "purpose"),
        ({"subject": "x" * 201}, "subject"),
        ({"name": ""}, "name"),
        ({"roles": ()}, "roles"),
        ({"roles": ("king",)}, "role"),
        ({"source_types": ("fax",)}, "source_type"),
        ({"roles": ("subject",)}, "subjects"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_session_that_cannot_be_is_refused(store: Tenure, sides: dict[str, Any], field: str) -> None:
    """SPEC S2: the field is named."""
    whole = {"tenant": "acme", "agent": "support", "purpose": "support"}

    with pytest.raises(InvalidRequest) as refusal:
        store.session(**(whole | sides))

    assert refusal.value.field == field


def test_a_person_sees_corrects_and_deletes_what_is_held_of_them(store: Tenure) -> None:
    """SPEC L14: their own, and nothing else."""
    bot = store.session("acme", "support", "support")
    mine = remembered(bot, subject="customer-7")
    remembered(bot, subject="customer-8")
    person = store.session("acme", "support", "support", "customer-7", roles=("subject",), name="customer-7")

    assert [memory.id for memory in person.memories().items] == [mine.id]
    correction = person.correct(mine, "Prefers letters", source=Source.direct_user("portal-1"))
    assert correction.supersedes == mine.id
    assert person.forget().forgotten == 2
    assert [memory.subject for memory in bot.memories().items] == ["customer-8"]


def test_forgetting_must_say_whom(store: Tenure) -> None:
    """SPEC F4: there is no forgetting of everybody."""
    officer = store.session("acme", "support", "support", roles=("privacy_officer",), name="pia")

    with pytest.raises(ScopeNotNamed):
        officer.forget()


def test_every_public_name_is_there() -> None:
    """SPEC S1: what the library promises can be imported; what it does not, cannot."""
    assert [name for name in tenure.__all__ if getattr(tenure, name) is None] == []
    with pytest.raises(AttributeError):
        _ = tenure.Unheard
