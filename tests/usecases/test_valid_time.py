"""What was true on a day, as it is known now: what was corrected answers for its time (SPEC T4)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.clock import MovableClock
from tests.spotting import Spotting, scanning
from tests.stores.engine import Opened
from tests.usecases.asking import (
    BOT,
    OFFICER,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    TENANT,
    caller,
    happened,
    held,
    judgement,
    question,
    source,
    written,
)

from tenure.core.errors import InvalidRequest
from tenure.core.events import Event, Superseded
from tenure.core.identity import Caller, Role, Scope, Tier
from tenure.core.incidents import RevokeSource
from tenure.core.memory import Memory
from tenure.core.merging import Voices
from tenure.core.retrieval import Found
from tenure.core.truth_steps import merged, pruned
from tenure.core.vocabulary import Status
from tenure.usecases import time_travel
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.forgetting import FORGET_MEMORY, FORGET_SUBJECT, ForgetMemory, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, Appended
from tenure.usecases.reading import GET, Get
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import REVOKE
from tenure.usecases.sealing import seal
from tenure.usecases.sources import REVOKE_SOURCE

NGINX = "The proxy of the shop is nginx"
CADDY = "The proxy of the shop is Caddy"
INVESTIGATOR = caller(Role.READER, Role.REVIEWER, name="ivy")
TASK = Scope(tier=Tier.TASK, id="t-1")


def march(day: int, hour: int = 12) -> datetime:
    """A day of the story."""
    return datetime(2031, 3, day, hour, tzinfo=UTC)


@pytest.fixture
def clock() -> MovableClock:
    """It stands at noon on 2 March."""
    return MovableClock(march(2))


def moved(clock: MovableClock, day: int) -> None:
    """It is noon on that day."""
    clock.pass_time(seconds=(march(day) - clock.now()).total_seconds())


def recalled(pipeline: Pipeline, *, who: Caller = BOT, **sides: Any) -> Found:
    """What is found about the proxy."""
    return pipeline.run(RECALL, who, question("which proxy has the shop?", **sides))


def contents(found: Found) -> list[str | None]:
    """What was shown, best first."""
    return [item.memory.content for item in found.items]


def now(pipeline: Pipeline, memory: Memory) -> Memory:
    """A memory as a reviewer sees it now."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory.id))


def story(pipeline: Pipeline, clock: MovableClock, **sides: Any) -> tuple[Memory, Memory]:
    """Of 2 March nginx; on the 20th it is said to be Caddy since the 18th; and now it is the 25th."""
    nginx = written(pipeline, NGINX, **sides)
    moved(clock, 20)
    caddy = written(pipeline, CADDY, valid_from=march(18), supersedes=nginx.id, **sides)
    moved(clock, 25)
    return nginx, caddy


def recorded(node: Opened, *events: Event) -> None:
    """These events, as something that the log has."""
    sealed = tuple(seal(event, node.keyring) for event in events)
    [outcome] = node.store.append([Append(tenant=TENANT, events=sealed)])
    assert isinstance(outcome, Appended)


def test_two_clocks_give_six_answers(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T4, R8: what we believed, what was true, and what we believed to be true, row by row."""
    story(pipeline, clock)

    asked: list[tuple[dict[str, Any], str]] = [
        ({}, CADDY),
        ({"as_of": march(15)}, NGINX),
        ({"as_of": march(19)}, NGINX),
        ({"valid_at": march(10)}, NGINX),
        ({"valid_at": march(19)}, CADDY),
        ({"as_of": march(19), "valid_at": march(19)}, NGINX),
    ]
    assert [contents(recalled(pipeline, **moments)) for moments, _ in asked] == [[said] for _, said in asked]


def test_the_end_of_the_one_is_the_beginning_of_the_other(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T4, L10: to the microsecond; the corrected memory says until when it held."""
    nginx, caddy = story(pipeline, clock)

    before, after = march(18) - timedelta(microseconds=1), march(18)
    assert contents(recalled(pipeline, valid_at=before)) == [NGINX]
    assert contents(recalled(pipeline, valid_at=after)) == [CADDY]
    old = now(pipeline, nginx)
    assert (old.status, old.valid_to, old.superseded_by) == (Status.SUPERSEDED, march(18), caddy.id)


def test_what_was_true_says_that_it_is_no_longer(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC R6, T5: aged and warned of as of now, since now is when it is known."""
    story(pipeline, clock)

    found = recalled(pipeline, valid_at=march(10))

    [item] = found.items
    assert (found.as_of, found.valid_at) == (None, march(10))
    assert item.status_now is Status.SUPERSEDED
    assert item.stale
    assert item.freshness == round(0.5 ** (23 / 14), 4)
    assert "23 days ago" in (item.banner or "")
    assert "Do not act on it" in found.context
    assert "as-of" not in found.context
    assert [item.status_now for item in recalled(pipeline, valid_at=march(19)).items] == [Status.ACTIVE]


def test_what_is_asked_for_now_or_later_is_the_present(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T4: nothing that is corrected holds in the future."""
    story(pipeline, clock)

    for at in (clock.now(), march(30)):
        [item] = recalled(pipeline, valid_at=at).items
        assert (item.memory.content, item.status_now) == (CADDY, None)


def test_a_correction_shortens_what_was_to_hold_for_longer(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T4: it was due to be replaced on the 20th, and was replaced on the 10th."""
    nginx = written(pipeline, NGINX, valid_from=march(1), valid_to=march(20))
    moved(clock, 12)
    written(pipeline, CADDY, valid_from=march(10), supersedes=nginx.id)
    moved(clock, 13)

    asked: list[tuple[dict[str, Any], str]] = [
        ({}, CADDY),
        ({"as_of": march(11)}, NGINX),
        ({"valid_at": march(11)}, CADDY),
        ({"valid_at": march(5)}, NGINX),
        ({"as_of": march(11), "valid_at": march(5)}, NGINX),
    ]
    assert [contents(recalled(pipeline, **moments)) for moments, _ in asked] == [[said] for _, said in asked]


def test_what_is_corrected_from_its_own_beginning_never_was_true(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T4: no date finds it, though it was believed."""
    nginx = written(pipeline, NGINX, valid_from=march(2))
    moved(clock, 12)
    written(pipeline, CADDY, valid_from=march(2), supersedes=nginx.id)
    moved(clock, 13)

    assert {tuple(contents(recalled(pipeline, valid_at=march(day)))) for day in range(2, 13)} == {(CADDY,)}
    assert contents(recalled(pipeline, as_of=march(10))) == [NGINX]


def test_each_of_many_corrections_has_its_time(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T4: at every instant there is one answer."""
    last, days = written(pipeline, "The proxy of the shop is number 2"), range(5, 21, 5)
    for day in days:
        moved(clock, day)
        text = f"The proxy of the shop is number {day}"
        last = written(pipeline, text, valid_from=march(day), supersedes=last.id)
    moved(clock, 25)

    for day in range(3, 25):
        latest = max((one for one in days if one <= day), default=2)
        found = recalled(pipeline, valid_at=march(day))
        assert contents(found) == [f"The proxy of the shop is number {latest}"]


def test_of_a_correction_that_names_no_time_nothing_is_made_up(node: Opened, clock: MovableClock) -> None:
    """SPEC T4: an event of an older log does not say until when it held."""
    nginx = written(node.pipeline, NGINX)
    other = written(node.pipeline, "Lunch is at noon")
    moved(clock, 20)
    event = Event(
        tenant=TENANT,
        at=clock.now(),
        actor="key:bot",
        stream=nginx.id,
        version=nginx.version + 1,
        subject=SUBJECT,
        data=Superseded(by=other.id),
    )
    recorded(node, event)
    moved(clock, 25)

    assert contents(recalled(node.pipeline, valid_at=march(10))) == [other.content]
    assert contents(recalled(node.pipeline, as_of=march(10)))[0] == NGINX


def test_what_was_merged_is_not_shown_beside_what_stands_for_it(node: Opened, clock: MovableClock) -> None:
    """SPEC T2: it says the same; it was no correction."""
    first = written(node.pipeline, NGINX)
    second = written(node.pipeline, "Shop and proxy were seen together")
    voices = Voices(2, 2)
    at = clock.now()
    recorded(node, merged(second, first.id, voices, cosine=0.98, actor="key:bot", at=at))
    moved(clock, 25)

    assert contents(recalled(node.pipeline, valid_at=march(10))) == [NGINX]


def withdraw(pipeline: Pipeline, memory: Memory) -> None:
    """The memory alone."""
    last = now(pipeline, memory)
    pipeline.run(REVOKE, OPERATOR, judgement(last.id, last.version))


def withdraw_source(pipeline: Pipeline, memory: Memory) -> None:
    """Everything from its source, which has no event of its own yet."""
    pipeline.run(REVOKE_SOURCE, OPERATOR, RevokeSource(source_id=memory.source.id, reason="hacked"))


def forget(pipeline: Pipeline, memory: Memory) -> None:
    """The memory alone."""
    command = ForgetMemory(memory_id=memory.id, expected_version=now(pipeline, memory).version)
    pipeline.run(FORGET_MEMORY, OFFICER, command)


def forget_all(pipeline: Pipeline, _memory: Memory) -> None:
    """Everything about the subject."""
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))


def erase_all(pipeline: Pipeline, _memory: Memory) -> None:
    """Everything about the subject, for good."""
    erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))


@pytest.mark.parametrize("way", [withdraw, withdraw_source, forget, forget_all, erase_all])
def test_what_was_withdrawn_or_forgotten_was_true_on_no_day(
    pipeline: Pipeline, clock: MovableClock, way: Any
) -> None:
    """SPEC L6, L12, F1, F7: not even for those who may read what is withheld."""
    nginx = written(pipeline, NGINX, source=source(id_="crm-9"))
    moved(clock, 20)
    written(pipeline, CADDY, valid_from=march(18), supersedes=nginx.id)
    moved(clock, 25)
    assert contents(recalled(pipeline, valid_at=march(10))) == [NGINX]

    way(pipeline, nginx)

    for who in (BOT, INVESTIGATOR):
        assert contents(recalled(pipeline, who=who, valid_at=march(10))) == []


def test_what_waits_was_true_on_no_day(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L6: quarantined is never retrievable, for no time."""
    held(pipeline, NGINX)
    moved(clock, 5)

    assert contents(recalled(pipeline, who=INVESTIGATOR, valid_at=march(3))) == []


def test_what_is_no_longer_at_hand_is_in_the_past_of_the_record_alone(
    node: Opened, clock: MovableClock
) -> None:
    """SPEC T7, R8: pruned from what we know now, and still what we knew then."""
    nginx, _ = story(node.pipeline, clock)
    recorded(node, pruned(now(node.pipeline, nginx), "superseded", actor="upkeep", at=clock.now()))
    clock.pass_time(hours=1)

    assert contents(recalled(node.pipeline, valid_at=march(10))) == []
    [item] = recalled(node.pipeline, as_of=march(10)).items
    assert (item.memory.content, item.status_now) == (NGINX, Status.PRUNED)
    assert contents(recalled(node.pipeline, as_of=march(24), valid_at=march(10))) == [NGINX]


def test_a_pruned_memory_that_stood_is_in_no_later_past(node: Opened, clock: MovableClock) -> None:
    """SPEC T7, R8: a recall as of a moment after the pruning finds what one at that moment found."""
    nginx = written(node.pipeline, NGINX)
    moved(clock, 10)
    recorded(node, pruned(now(node.pipeline, nginx), "decayed", actor="upkeep", at=clock.now()))
    moved(clock, 12)

    assert contents(recalled(node.pipeline)) == []
    assert contents(recalled(node.pipeline, as_of=march(11))) == []
    assert contents(recalled(node.pipeline, as_of=march(9))) == [NGINX]


def test_the_ladder_of_scopes_is_climbed_among_what_held(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F3, T4: of one key the corrected and the correcting memory never shadow each other."""
    scope = Scope(tier=Tier.USER, id=SUBJECT)
    story(pipeline, clock, key="proxy", scope=scope)

    assert contents(recalled(pipeline, valid_at=march(10), scope=scope)) == [NGINX]
    assert contents(recalled(pipeline, valid_at=march(19), scope=scope)) == [CADDY]


def test_what_is_found_in_a_corrected_memory_only_leaves_it_out(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC R5, M6: there is no way from superseded to quarantine; what stands goes there as ever."""
    pipeline.scanning = scanning(Spotting())
    story(pipeline, clock)
    pipeline.scanning = scanning(Spotting("shop", version="2"))

    found = recalled(pipeline, valid_at=march(10))

    assert (contents(found), found.skipped.scan) == ([], 1)
    assert "memory.held" not in happened(pipeline)
    assert recalled(pipeline, valid_at=march(19)).skipped.scan == 1
    assert happened(pipeline).count("memory.held") == 1


def test_where_there_is_too_much_to_look_back_on_a_subject_must_be_named(
    pipeline: Pipeline, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S2: the answer says which field, and what to do."""
    story(pipeline, clock)
    monkeypatch.setattr(time_travel, "MEMORIES_MAX", 1)

    with pytest.raises(InvalidRequest) as refused:
        recalled(pipeline, valid_at=march(10))

    assert refused.value.details["field"] == "valid_at"
    assert refused.value.hint == "Name a subject."
