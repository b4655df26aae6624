"""The story that the documentation tells of the library, from the first memory to its forgetting."""

import json
from pathlib import Path

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Engine

from tenure import POLICY_TEXT, MemoryRejected, NotFound, Source, Tenure

QUESTION = "how should we contact them?"


def test_a_memory_is_written_recalled_and_reported(tmp_path: Path) -> None:
    """SPEC S1, R6, R7: the first steps, word for word as they are documented."""
    store = Tenure.open(str(tmp_path / "memory.db"))
    bot = store.session(tenant="acme", agent="support", purpose="support", subject="customer-7")
    bot.remember("Prefers e-mail to phone", kind="preference", source=Source.direct_user("conv-456"))
    found = bot.recall(QUESTION, budget_tokens=800)
    prompt = found.context
    bot.used(found, response_id="r-1", memory_ids=[m.id for m in found])
    store.close()

    assert [memory.content for memory in found] == ["Prefers e-mail to phone"]
    assert "Prefers e-mail to phone" in prompt
    assert 0 < found.tokens <= 800
    assert "instructions" in POLICY_TEXT
    assert POLICY_TEXT not in prompt


def test_what_was_written_is_there_after_the_program_ends(engine: Engine) -> None:
    """SPEC E5: closing and opening again loses nothing."""
    with Tenure.open(**engine.opening) as store:
        bot = store.session("acme", "support", "support", "customer-7")
        memory = bot.remember("Prefers e-mail", kind="preference", source=Source.direct_user("conv-456"))

    with Tenure.open(**engine.opening) as store:
        bot = store.session("acme", "support", "support", "customer-7")
        assert bot.get(memory.id) == memory
        assert [found.id for found in bot.recall("e-mail?")] == [memory.id]


def test_the_whole_life_of_a_memory(store: Tenure) -> None:
    """SPEC L6, L7, L10, L11, L12, F1: held back, promoted, corrected, renewed, revoked, forgotten."""
    bot = store.session("acme", "support", "support", "customer-7")
    ann = store.session("acme", "support", "support", roles=("reviewer",), name="ann")
    pia = store.session("acme", "support", "support", roles=("privacy_officer",), name="pia")
    source = Source.email("mail-1", uri="mailto:someone@example.com", thread="t-1", position=0)

    waiting = bot.remember("Wants invoices by post", kind="fact", source=source)
    assert waiting.status == "quarantined"
    assert waiting.decision.rule == "external_source"
    assert list(bot.recall("invoices")) == []
    assert [one.memory.id for one in ann.review().items] == [waiting.id]

    promoted = ann.promote(waiting.id, expected_version=1, reason="called back")
    assert [memory.id for memory in bot.recall("invoices")] == [waiting.id]

    renewed = bot.renew(promoted.id, expected_version=2, reason="still true", ttl_seconds=86_400)
    corrected = bot.correct(renewed, "Wants invoices by fax", source=Source.application("crm-1"))
    assert corrected.status == "quarantined", "an application does not outrank a reviewer"
    ann.promote(corrected.id, expected_version=1, reason="they said so")
    assert [memory.content for memory in bot.recall("invoices")] == ["Wants invoices by fax"]
    assert [one.event for one in bot.history(waiting.id).items] == [
        "memory.quarantined",
        "memory.promoted",
        "memory.renewed",
        "memory.superseded",
    ]

    ann.revoke(corrected.id, expected_version=2, reason="nobody has a fax")
    assert list(bot.recall("invoices")) == []

    answer = pia.forget(subject="customer-7")
    assert (answer.status, answer.forgotten) == ("forgotten", 2)
    with pytest.raises(NotFound):
        bot.get(waiting.id)
    assert pia.forget(subject="customer-7").status == "already_forgotten"
    assert store.verify("acme").holds
    assert store.rebuild().identical


def test_a_revision_is_a_new_version_of_the_same_memory(store: Tenure) -> None:
    """SPEC L8: at the version that was read."""
    bot = store.session("acme", "support", "support", "customer-7")
    memory = bot.remember("Prefers e-mail", kind="fact", source=Source.application("crm-1"))

    revised = bot.revise(
        memory.id, expected_version=1, content="Prefers letters", source=Source.application("crm-2")
    )

    assert (revised.id, revised.version, revised.content) == (memory.id, 2, "Prefers letters")


def test_trying_out_says_what_the_gate_would_say_and_stores_nothing(store: Tenure) -> None:
    """SPEC L1, L2: approve, quarantine, reject, with the findings."""
    bot = store.session("acme", "support", "support", "customer-7", roles=("writer", "reader", "auditor"))
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"

    approved = bot.try_out("Prefers e-mail", kind="preference", source=Source.direct_user("conv-1"))
    rejected = bot.try_out(f"The key is {secret}", kind="fact", source=Source.application("crm-1"))

    assert (approved.decision.outcome, rejected.decision.outcome) == ("approve", "reject")
    assert [finding.kind for finding in rejected.findings] == ["credential"]
    assert bot.log().head == 0


def test_a_rejection_names_its_rule_and_leaves_no_text(store: Tenure) -> None:
    """SPEC L13, L4: neither in the error nor in the log."""
    bot = store.session("acme", "support", "support", "customer-7", roles=("writer", "auditor"))
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"

    with pytest.raises(MemoryRejected) as rejection:
        bot.remember(f"The key is {secret}", kind="fact", source=Source.application("crm-1"))

    assert rejection.value.rule == "credential"
    assert secret not in repr((rejection.value, rejection.value.details, bot.log()))


def test_a_recollection_is_a_sequence_of_memories(store: Tenure) -> None:
    """SPEC R6: to iterate over, to index, to slice, to count; and its context is the items as JSON."""
    bot = store.session("acme", "support", "support", "customer-7")
    for number in range(3):
        bot.remember(f"Ticket {number} is open", kind="fact", source=Source.application("crm-1"))
    found = bot.recall("which ticket?", explain=True)

    assert len(found) == 3
    assert [found[0], *found[1:]] == list(found)
    assert found[-1] in found
    assert [item.memory for item in found.items] == list(found)
    lines = json.loads("\n".join(found.context.splitlines()[1:-1]))
    assert [line["id"] for line in lines] == [str(memory.id) for memory in found]
    assert not bot.recall("nothing", subject="customer-7", kinds=("skill",))


def test_a_page_of_memories_leads_to_the_next(store: Tenure) -> None:
    """SPEC L14: newest first, narrowed as asked."""
    bot = store.session("acme", "support", "support", "customer-7")
    ids = [
        bot.remember(f"Ticket {number}", kind="fact", source=Source.application("crm-1"), key="ticket").id
        for number in range(3)
    ]

    first = bot.memories(limit=2, kind="fact", status="active", key="ticket")
    second = bot.memories(limit=2, cursor=first.next_cursor)

    assert [memory.id for memory in (*first.items, *second.items)] == ids[::-1]
    assert bot.memories(kind="skill").items == ()


def test_upkeep_is_one_call(store: Tenure, clock: MovableClock) -> None:
    """SPEC L11: an embedding program runs it when it likes; reads skip what has expired by themselves."""
    bot = store.session("acme", "support", "support", "customer-7")
    memory = bot.remember("For now", kind="fact", source=Source.application("crm-1"), ttl_seconds=60)
    clock.pass_time(seconds=60)

    assert list(bot.recall("now")) == []
    assert store.upkeep().expired == 1
    assert bot.get(memory.id).version == 2


def test_a_retry_with_its_key_is_the_same_memory(store: Tenure) -> None:
    """SPEC L9: however often."""
    bot = store.session("acme", "support", "support", "customer-7")
    ids = {
        bot.remember("Once", kind="fact", source=Source.application("crm-1"), idempotency_key="k").id
        for _ in range(3)
    }

    assert len(ids) == 1
    assert len(bot.memories().items) == 1
