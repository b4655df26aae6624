"""Looking at what memories name while they are recalled, on every engine (SPEC T6)."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from tests.clock import MovableClock
from tests.usecases.asking import (
    BOT,
    OFFICER,
    OPERATOR,
    SUBJECT,
    TENANT,
    caller,
    happened,
    log,
    proposal,
    question,
    source,
    written,
)

from tenure.core.errors import Forbidden, InvalidRequest
from tenure.core.events import AlertRaised, Event
from tenure.core.identity import Caller, Role
from tenure.core.memory import Memory
from tenure.core.probe_advice import ProbeOutcome
from tenure.core.probe_alerts import PROBE_FAILED, PROBE_HOLDS_AGAIN
from tenure.core.probe_rules import allowances
from tenure.core.probing import Reason, Target, TargetKind
from tenure.core.proposals import Revise
from tenure.core.retrieval import Found
from tenure.core.token_estimate import estimate_tokens
from tenure.usecases.alerts import READ_ALERTS, ReadAlerts
from tenure.usecases.forgetting import FORGET_MEMORY, ForgetMemory
from tenure.usecases.looking import MemoryProbes
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.probing import ProbeLimits, Probing
from tenure.usecases.probing_ports import Permits
from tenure.usecases.recall_probing import probe_memories, recall
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory

WHERE = "https://status.shop.example/health"
TEXT = f"The status page is at {WHERE}."
ASKED = "where is the status page?"


class Web:
    """A prober of addresses that does what a test tells it to, and keeps what it was asked for."""

    kind = TargetKind.URL

    def __init__(self) -> None:
        self.does: Callable[[], Reason] = lambda: Reason.NOT_FOUND
        self.looked: list[str] = []

    def look(self, target: Target, *, permits: Permits, seconds_max: float) -> Reason:
        """One look."""
        del permits, seconds_max
        self.looked.append(target.what)
        return self.does()

    def close(self) -> None:
        """Nothing is held."""


class Characters:
    """Counts a token for each character."""

    names = ("characters",)

    def count(self, _name: str, text: str) -> int:
        """As many as there are."""
        return len(text)


@pytest.fixture
def web() -> Web:
    """A web on which nothing is found."""
    return Web()


@pytest.fixture
def pipeline(pipeline: Pipeline, web: Web, clock: MovableClock) -> Pipeline:
    """The way through, with a prober that everybody of the tenant may have asked."""
    pipeline.probes = probes(web, clock)
    return pipeline


def probes(web: Web, clock: MovableClock, *, recalls_max: int = 4) -> MemoryProbes:
    """Probes of addresses, by the clock of the test."""
    passed = clock_of(clock)
    limits = ProbeLimits(seconds_max=5.0, all_seconds_max=10.0, at_once_max=4, cache_seconds=60.0)
    rules = allowances([f"{TENANT} https://*.shop.example"])
    probing = Probing([web], rules, limits=limits, now=clock.now, passed=passed)
    return MemoryProbes(probing, cache_seconds=60.0, passed=passed, recalls_max=recalls_max)


def clock_of(clock: MovableClock) -> Callable[[], float]:
    """Seconds that pass when the test moves the hand."""
    start = clock.now()
    return lambda: float((clock.now() - start).total_seconds())


def stale(pipeline: Pipeline, clock: MovableClock, content: str = TEXT, **sides: Any) -> Memory:
    """A memory that names an address, and is old enough to be doubted."""
    memory = written(pipeline, content, **sides)
    clock.pass_time(days=8)
    return memory


def asked(pipeline: Pipeline, who: Caller = BOT, *, probe: bool = True, **sides: Any) -> Found:
    """What a recall shows."""
    return recall(pipeline, who, question(ASKED, probe=probe, **sides))


def alerts(pipeline: Pipeline) -> list[Event]:
    """The alerts of the tenant, oldest first."""
    return [event for event in log(pipeline) if isinstance(event.data, AlertRaised)]


def kinds(pipeline: Pipeline) -> list[str]:
    """What they are about."""
    return [event.data.kind for event in alerts(pipeline) if isinstance(event.data, AlertRaised)]


def test_a_failed_probe_marks_the_item_and_changes_no_memory(
    pipeline: Pipeline, clock: MovableClock, web: Web
) -> None:
    """SPEC T6: in the item and in what goes into the prompt, with a receipt as of any recall."""
    memory = stale(pipeline, clock)

    found = asked(pipeline)

    (item,) = found.items
    assert item.probe is not None
    assert (item.probe.outcome, item.probe.probed_at) == (ProbeOutcome.FAILS, clock.now())
    assert item.probe.note.startswith("Do not act on this: ")
    assert item.probe.note in found.context
    assert '"probe":"fails"' in found.context
    assert found.tokens == estimate_tokens(found.context)
    assert found.without == ()
    assert item.memory == memory
    assert web.looked == [WHERE]
    assert happened(pipeline) == ["memory.admitted", "alert.raised", "recall.answered"]


@pytest.mark.parametrize(
    ("reason", "outcome"), [(Reason.ANSWERS, ProbeOutcome.HOLDS), (Reason.WANTS_MORE, ProbeOutcome.UNKNOWN)]
)
def test_what_holds_or_is_unknown_is_told_beside_the_item_alone(
    pipeline: Pipeline, clock: MovableClock, web: Web, reason: Reason, outcome: ProbeOutcome
) -> None:
    """SPEC T6: neither makes a memory true, so its banner stays; nobody is alerted."""
    stale(pipeline, clock)
    web.does = lambda: reason

    found = asked(pipeline)

    (item,) = found.items
    assert item.probe is not None
    assert item.probe.outcome is outcome
    assert item.banner is not None
    assert item.banner in found.context
    assert '"probe"' not in found.context
    assert alerts(pipeline) == []


def test_nothing_of_the_store_is_held_while_something_is_looked_at(
    pipeline: Pipeline, clock: MovableClock, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T6, T8: no snapshot and no turn of writing waits for a network, and others write meanwhile."""
    stale(pipeline, clock)
    open_now, seen = [0], []
    reading, append = pipeline.store.reading, pipeline.store.append

    @contextmanager
    def counted() -> Iterator[Any]:
        open_now[0] += 1
        try:
            with reading() as it:
                yield it
        finally:
            open_now[0] -= 1

    def counted_append(items: Any) -> Any:
        open_now[0] += 1
        try:
            return append(items)
        finally:
            open_now[0] -= 1

    def look() -> Reason:
        seen.append(open_now[0])
        written(pipeline, "Somebody else writes meanwhile")
        return Reason.NOT_FOUND

    web.does = look
    monkeypatch.setattr(pipeline.store, "reading", counted)
    monkeypatch.setattr(pipeline.store, "append", counted_append)
    found = asked(pipeline)

    assert seen == [0]
    assert found.items[0].probe is not None
    assert found.items[0].probe.outcome is ProbeOutcome.FAILS


def test_only_what_is_stale_and_asked_about_is_looked_at(
    pipeline: Pipeline, clock: MovableClock, web: Web
) -> None:
    """SPEC T6: a fresh memory is not, and nothing is where nobody asks for it."""
    written(pipeline, TEXT)

    fresh = asked(pipeline)
    clock.pass_time(days=8)
    unasked = asked(pipeline, probe=False)

    assert [item.probe for item in (*fresh.items, *unasked.items)] == [None, None]
    assert web.looked == []


def test_what_was_found_is_shown_for_a_while_without_a_look(
    pipeline: Pipeline, clock: MovableClock, web: Web
) -> None:
    """SPEC T6: for as long as it is kept; the memory itself is not changed."""
    stale(pipeline, clock)
    first = asked(pipeline)
    clock.pass_time(seconds=59)

    while_kept = asked(pipeline, probe=False)
    of_the_past = asked(pipeline, probe=False, as_of=clock.now() - timedelta(seconds=1))
    clock.pass_time(seconds=1)
    afterwards = asked(pipeline, probe=False)

    assert while_kept.items[0].probe == first.items[0].probe
    assert first.items[0].probe is not None
    assert first.items[0].probe.note in while_kept.context
    assert of_the_past.items[0].probe is None
    assert afterwards.items[0].probe is None
    assert len(web.looked) == 1


def test_the_mark_has_its_place_in_the_budget(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC R4: a budget is kept with marks as without; what no longer fits is left out, and said."""
    for number in range(10):
        written(pipeline, f"The status page {number} is at https://s{number}.shop.example/.")
    clock.pass_time(days=8)
    pipeline.tokenizers = Characters()
    budget: dict[str, Any] = {"budget_tokens": 2_000, "tokenizer": "characters"}
    plain = asked(pipeline, probe=False, **budget)

    marked = asked(pipeline, **budget)

    assert 0 < len(marked.items) < len(plain.items)
    assert len(marked.context) == marked.tokens <= 2_000
    assert marked.skipped.budget == 10 - len(marked.items)
    assert all(item.probe is not None for item in marked.items)
    assert marked.context.count("Do not act on this") == len(marked.items)
    receipt = log(pipeline)[-1]
    assert receipt.data.memory_ids == tuple(item.memory.id for item in marked.items)  # type: ignore[union-attr]


def test_one_failure_is_one_alert_until_it_holds_again(
    pipeline: Pipeline, clock: MovableClock, web: Web
) -> None:
    """SPEC T6, I3: told once; that it holds again is told too, and then another failure, a day later."""
    stale(pipeline, clock)
    told = []
    for reason, hours in (
        (Reason.NOT_FOUND, 1), (Reason.NO_ANSWER, 30), (Reason.WANTS_MORE, 1), (Reason.ANSWERS, 1),
        (Reason.ANSWERS, 1), (Reason.NOT_FOUND, 24), (Reason.NOT_FOUND, 1),
    ):  # fmt: skip
        web.does = lambda reason=reason: reason  # type: ignore[misc]
        asked(pipeline)
        told.append(len(alerts(pipeline)))
        clock.pass_time(hours=hours)

    assert told == [1, 1, 1, 2, 2, 2, 3]
    assert kinds(pipeline) == [PROBE_FAILED, PROBE_HOLDS_AGAIN, PROBE_FAILED]


def test_two_nodes_that_find_the_same_raise_it_once(
    pipeline: Pipeline, clock: MovableClock, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T8: also where neither has seen the other's alert yet."""
    memory = stale(pipeline, clock)
    monkeypatch.setattr("tenure.usecases.recall_probing.last_of", lambda _rows, _about: None)

    for _node in range(2):
        pipeline.probes = probes(web, clock)
        probe_memories(pipeline, TENANT, [memory])

    assert len(web.looked) == 2
    assert kinds(pipeline) == [PROBE_FAILED]


def test_an_alert_is_for_those_who_may_know_of_the_subject_and_says_nothing_of_the_host(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC E6, I3: ids and the kind of thing alone."""
    memory = stale(pipeline, clock)
    asked(pipeline)
    other = caller(Role.AUDITOR, name="aud", subjects={"customer-8"})

    (alert,) = pipeline.run(READ_ALERTS, OPERATOR, ReadAlerts()).items

    assert (alert.kind, alert.about) == (PROBE_FAILED, str(memory.id))
    assert "shop" not in alert.message
    assert pipeline.run(READ_ALERTS, other, ReadAlerts()).items == ()
    assert alerts(pipeline)[0].subject == SUBJECT


def test_what_is_forgotten_during_the_look_is_neither_shown_nor_told_of(
    pipeline: Pipeline, clock: MovableClock, web: Web
) -> None:
    """SPEC F4a: a slow look brings nothing back."""
    memory = stale(pipeline, clock)

    def look() -> Reason:
        forget = ForgetMemory(memory_id=memory.id, expected_version=memory.version)
        pipeline.run(FORGET_MEMORY, OFFICER, forget)
        return Reason.NOT_FOUND

    web.does = look

    assert asked(pipeline).items == ()
    assert alerts(pipeline) == []


def test_what_is_corrected_during_the_look_is_not_marked(
    pipeline: Pipeline, clock: MovableClock, web: Web
) -> None:
    """SPEC T6: what was looked at was named by another version; nobody is told of that one."""
    memory = stale(pipeline, clock)
    revise = Revise(expected_version=memory.version, source=source(), content="The page is gone for good")

    def look() -> Reason:
        pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=revise))
        return Reason.NOT_FOUND

    web.does = look
    pipeline.rules = replace(pipeline.rules, doubt=replace(pipeline.rules.doubt, stale_after=timedelta(-1)))

    (item,) = asked(pipeline).items

    assert (item.stale, item.memory.version, item.probe) == (True, memory.version + 1, None)
    assert alerts(pipeline) == []


def test_where_probes_are_off_a_recall_is_answered_without(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T6: never an error, and it says so only where it was asked."""
    pipeline.probes = None
    stale(pipeline, clock)

    wanted, unasked = asked(pipeline), asked(pipeline, probe=False)

    assert [item.probe for item in wanted.items] == [None]
    assert wanted.without == ("probes",)
    assert unasked.without == ()


def test_another_tenant_has_nothing_looked_at(pipeline: Pipeline, clock: MovableClock, web: Web) -> None:
    """SPEC T6, S5: what is allowed to one is not to another, and nothing leaves this machine."""
    stranger = caller(tenant="globex")
    pipeline.run(REMEMBER, stranger, proposal(TEXT))
    clock.pass_time(days=8)

    found = asked(pipeline, stranger)

    (item,) = found.items
    assert item.probe is not None
    assert item.probe.outcome is ProbeOutcome.UNKNOWN
    assert "not allowed for this tenant" in item.probe.note
    assert web.looked == []
    assert pipeline.probes is not None
    assert pipeline.probes.refused() == {TargetKind.URL: 1}


def test_who_may_not_ask_has_nothing_looked_at(pipeline: Pipeline, clock: MovableClock, web: Web) -> None:
    """SPEC L6: the denial comes first, and is recorded once."""
    stale(pipeline, clock)

    with pytest.raises(Forbidden):
        asked(pipeline, caller(Role.READER, agents={"sales"}))

    assert web.looked == []
    assert happened(pipeline).count("access.denied") == 1


@pytest.mark.parametrize("field", ["as_of", "valid_at"])
def test_another_time_is_not_looked_at(pipeline: Pipeline, clock: MovableClock, field: str) -> None:
    """SPEC R8, T6: a look now says nothing of then."""
    moment: dict[str, Any] = {field: clock.now()}

    with pytest.raises(InvalidRequest) as refused:
        asked(pipeline, **moment)

    assert refused.value.details["field"] == "probe"


def test_where_too_many_recalls_look_the_next_is_answered_at_once(
    pipeline: Pipeline, clock: MovableClock, web: Web
) -> None:
    """SPEC T6: it holds up no thread that other requests need."""
    stale(pipeline, clock)
    pipeline.probes = probes(web, clock, recalls_max=1)
    looking, over = threading.Event(), threading.Event()

    def hang() -> Reason:
        looking.set()
        over.wait(10)
        return Reason.ANSWERS

    web.does = hang
    first: list[Found] = []
    thread = threading.Thread(target=lambda: first.append(asked(pipeline)))
    thread.start()
    looking.wait(10)

    second = asked(pipeline)
    over.set()
    thread.join()

    assert second.items[0].probe is not None
    assert "too many probes" in second.items[0].probe.note
    assert first[0].items[0].probe is not None
    assert first[0].items[0].probe.outcome is ProbeOutcome.HOLDS


def test_memories_are_probed_in_the_background_as_well(
    pipeline: Pipeline, clock: MovableClock, web: Web
) -> None:
    """SPEC T6, T8: the same looks, alerts and marks; what names nothing is left out."""
    memory, plain = stale(pipeline, clock), written(pipeline, "Prefers e-mail")

    found = probe_memories(pipeline, TENANT, [memory, plain])

    assert {memory_id: advice.outcome for memory_id, advice in found.items()} == {
        memory.id: ProbeOutcome.FAILS
    }
    assert kinds(pipeline) == [PROBE_FAILED]
    assert asked(pipeline, probe=False).items[0].probe == found[memory.id]
    assert len(web.looked) == 1
    pipeline.probes = None
    assert probe_memories(pipeline, TENANT, [memory]) == {}
