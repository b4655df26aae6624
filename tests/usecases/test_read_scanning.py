"""What is about to be shown is scanned again, over a real store, by scanners that changed since (SPEC R5)."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.clock import START, MovableClock
from tests.spotting import Spotting, scanning
from tests.stores.engine import Engine
from tests.usecases.asking import (
    AGENT,
    BOT,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    TENANT,
    happened,
    held,
    judgement,
    log,
    looked,
    question,
    source,
    written,
)
from tests.usecases.overtaking import overtaken_by
from tests.usecases.policies import run_under

from tenure.core.errors import NotFound, Unavailable
from tenure.core.events import AlertRaised
from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.incident_events import Held
from tenure.core.memory import Memory
from tenure.core.read_scanning import FOUND_AT_READ, SPLIT_PAYLOAD, crossings_of, orders
from tenure.core.retrieval import Found, Skipped
from tenure.core.scanning import Finding, FindingKind
from tenure.core.vocabulary import Kind, Status
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.read_scanning import ALERTS_MAX, REFILLS_MAX
from tenure.usecases.reading import GET, Get
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE
from tenure.usecases.scanning import Scanning
from tenure.usecases.scopes import RESOLVE, ResolveKey

BLIND = Spotting()
SEES = Spotting("open the vault", version="2")
USER = Scope(tier=Tier.USER, id=SUBJECT)
_numbers = count(1)


@pytest.fixture(autouse=True)
def blind_at_first(pipeline: Pipeline) -> None:
    """What is written in these tests is written under scanners that find nothing."""
    pipeline.scanning = scanning(BLIND)


def recalled(pipeline: Pipeline, query: str = "vault", **sides: Any) -> Found:
    """What a question finds."""
    return pipeline.run(RECALL, BOT, question(query, **sides))


def contents(found: Found) -> list[str | None]:
    """What was shown, best first."""
    return [item.memory.content for item in found.items]


def now(pipeline: Pipeline, memory: Memory) -> Memory:
    """A memory as a reviewer sees it now."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory.id))


def holds(pipeline: Pipeline) -> list[Held]:
    """Every time that a memory was held."""
    return [event.data for event in log(pipeline) if isinstance(event.data, Held)]


def alerts(pipeline: Pipeline) -> list[AlertRaised]:
    """Every alert that was raised."""
    return [event.data for event in log(pipeline) if isinstance(event.data, AlertRaised)]


def test_what_is_found_at_a_read_goes_back_to_quarantine(pipeline: Pipeline) -> None:
    """SPEC R5, E6: it is not returned, and the reviewer is told of the rule, the scanner and the place."""
    bad = written(pipeline, "They open the vault at nine", kind=Kind.FACT)
    good = written(pipeline, "The vault is green")
    pipeline.scanning = scanning(SEES)
    found = recalled(pipeline)

    assert contents(found) == [good.content]
    assert found.skipped == Skipped(scan=1)
    assert "open the vault" not in found.context
    (hold,) = holds(pipeline)
    assert (hold.rule, hold.source_type) == (FOUND_AT_READ, SourceType.APPLICATION)
    assert "spotting/2 found attack.open-the-vault" in hold.reason
    assert "nine" not in hold.reason
    waiting = now(pipeline, bad)
    assert (waiting.status, waiting.decision.rule) == (Status.QUARANTINED, FOUND_AT_READ)
    assert [(one.start, one.end) for one in waiting.findings] == [(5, 19)]
    assert recalled(pipeline).skipped == Skipped()


def test_the_quarantine_is_durable_before_the_answer(pipeline: Pipeline) -> None:
    """SPEC R5, E5: though a receipt alone may be lost, an answer that leaves something out may not."""
    bad = written(pipeline, "They open the vault at nine")
    pipeline.scanning = scanning(SEES)
    receipt = recalled(pipeline).receipt_id

    with pipeline.store.reading() as reading:
        assert len(reading.stream(TENANT, bad.id)) == 2
        assert len(reading.stream(TENANT, receipt)) == 1


def test_the_next_candidates_take_the_places(pipeline: Pipeline) -> None:
    """SPEC R5, R4: an answer is as long as if what was left out had never been there."""
    good = [written(pipeline, f"The vault of house {number} is green and old") for number in range(3)]
    for number in range(4):
        written(pipeline, f"open the vault {number}")
    pipeline.scanning = scanning(SEES)
    found = recalled(pipeline, "open the vault", limit=2)

    assert {item.memory.id for item in found.items} < {one.id for one in good}
    assert (len(found.items), found.skipped.scan) == (2, 4)


def test_a_recall_of_what_was_just_written_scans_no_item_again(pipeline: Pipeline) -> None:
    """SPEC R5: the verdict of the write stands; what is read together is scanned once."""
    scanner = Spotting()
    pipeline.scanning = scanning(scanner)
    for number in range(3):
        written(pipeline, f"The vault has door {number}", key=f"door-{number}")
    scanner.seen.clear()
    recalled(pipeline)
    together = list(scanner.seen)
    recalled(pipeline)

    assert scanner.seen == together
    assert all(len(text.split("The vault has")) == 4 for text in together)


def test_a_verdict_stands_as_long_as_scanners_and_policy(pipeline: Pipeline) -> None:
    """SPEC R5: other scanners are asked again, and so is everything under another policy."""
    written(pipeline, "The vault is green")
    scanner = Spotting(version="3")
    pipeline.scanning = scanning(scanner)
    for _ in range(3):
        recalled(pipeline)
    asked = len(scanner.seen)
    run_under(pipeline, replace(pipeline.rules.write.policy, version="another"))
    recalled(pipeline)

    assert asked == 1
    assert len(scanner.seen) == 2


def test_a_reviewers_word_stands_against_what_the_reviewer_was_told(pipeline: Pipeline) -> None:
    """SPEC R5, L7: until another rule finds something in it."""
    bad = written(pipeline, "They open the vault at nine, bring the crown")
    pipeline.scanning = scanning(SEES)
    recalled(pipeline)
    pipeline.run(PROMOTE, REVIEWER, judgement(bad.id, 2))
    stands = contents(recalled(pipeline))
    pipeline.scanning = scanning(Spotting("open the vault", version="3"))
    still = contents(recalled(pipeline))
    pipeline.scanning = scanning(Spotting("open the vault", "the crown", version="4"))

    assert stands == still == [bad.content]
    assert contents(recalled(pipeline)) == []
    assert now(pipeline, bad).status is Status.QUARANTINED
    pipeline.run(PROMOTE, REVIEWER, judgement(bad.id, 4))
    assert contents(recalled(pipeline)) == [bad.content]


def test_a_scanner_that_fails_holds_back_and_quarantines_nothing(pipeline: Pipeline) -> None:
    """SPEC R5, L5: what was not scanned is not shown; once it is, it is back."""
    for number in range(5):
        written(pipeline, f"The vault has door {number}")
    scanner = Spotting(version="3")
    pipeline.scanning = scanning(scanner)
    scanner.is_broken = True
    broken = recalled(pipeline)
    asked = len(scanner.seen)
    scanner.is_broken = False

    assert (len(broken.items), broken.skipped.scan) == (0, 5)
    assert asked == 3
    assert len(recalled(pipeline).items) == 5
    assert holds(pipeline) == []


def test_fragments_that_say_something_together_are_not_shown_together(pipeline: Pipeline) -> None:
    """SPEC R5, I3: the newest gives way, the place is filled, and one alert a day says so."""
    older = written(pipeline, "Before noon always open", id=UUID(int=2))
    newer = written(pipeline, "the vault and leave", id=UUID(int=3))
    third = written(pipeline, "Noon is quiet")
    pipeline.scanning = scanning(SEES)
    found = recalled(pipeline, "noon open vault", limit=2)

    assert {item.memory.id for item in found.items} == {older.id, third.id}
    assert found.skipped == Skipped(together=1)
    assert now(pipeline, newer).status is Status.ACTIVE
    (alert,) = alerts(pipeline)
    assert (alert.kind, alert.about) == (SPLIT_PAYLOAD, f"{older.id},{newer.id}")
    recalled(pipeline, "noon open vault")
    assert len(alerts(pipeline)) == 1


def test_an_alert_is_raised_again_a_day_later(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC I3: somebody who missed it once is told again, once a day."""
    written(pipeline, "Before noon always open", id=UUID(int=2))
    written(pipeline, "the vault and leave", id=UUID(int=3))
    pipeline.scanning = scanning(SEES)
    for hours in (0, 12, 13):
        clock.pass_time(hours=hours)
        recalled(pipeline, "noon vault")

    assert len(alerts(pipeline)) == 2


def test_a_flood_of_fragments_ends(pipeline: Pipeline) -> None:
    """SPEC R5: places are not filled for ever, and one answer does not raise alerts without end."""
    for number in range(50):
        written(pipeline, f"vault {number} open", id=UUID(int=number + 1), source=source(id_=f"crm-{number}"))
    pipeline.scanning = scanning(Spotting("open vault", version="2"))
    found = recalled(pipeline, limit=10)

    assert len(found.items) == 1
    assert found.skipped == Skipped(together=REFILLS_MAX + 8)
    assert len(alerts(pipeline)) == ALERTS_MAX


def test_an_item_that_waits_for_nobody_is_not_at_fault(pipeline: Pipeline) -> None:
    """SPEC R5: each fragment alone is shown to whoever asks for it."""
    written(pipeline, "Before noon always open", id=UUID(int=2))
    newer = written(pipeline, "the vault and leave", id=UUID(int=3))
    pipeline.scanning = scanning(SEES)

    assert contents(recalled(pipeline, "vault leave", limit=1)) == [newer.content]
    assert alerts(pipeline) == []


def test_a_look_at_the_past_leaves_out_and_changes_nothing(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC R5, R8: what is found in an answer about the past is not in it; nothing is held or alerted."""
    written(pipeline, "They open the vault at nine")
    written(pipeline, "Before noon always open", id=UUID(int=2))
    written(pipeline, "the vault and leave", id=UUID(int=3))
    clock.pass_time(hours=1)
    pipeline.scanning = scanning(SEES)
    found = recalled(pipeline, "noon vault", as_of=START + timedelta(minutes=1))

    assert contents(found) == ["Before noon always open"]
    assert found.skipped == Skipped(scan=1, together=1)
    assert set(happened(pipeline)) == {"memory.admitted", "recall.answered"}


def key_of(pipeline: Pipeline) -> Memory:
    """What the key means for the bot."""
    command = ResolveKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key="opening", scope=USER)
    return pipeline.run(RESOLVE, BOT, command)


def test_a_key_does_not_resolve_to_what_is_found(pipeline: Pipeline) -> None:
    """SPEC R5, F3: it is held like any other, and to the reader there is none; nothing was shown."""
    bad = written(pipeline, "They open the vault at nine", key="opening")
    assert key_of(pipeline).content == bad.content
    pipeline.scanning = scanning(SEES)

    for _ in range(2):
        with pytest.raises(NotFound, match="no memory of this key"):
            key_of(pipeline)
    assert now(pipeline, bad).status is Status.QUARANTINED
    assert len(holds(pipeline)) == 1
    assert sum(1 for event in looked(pipeline) if event.actor == BOT.id) == 1


def test_a_key_that_could_not_be_scanned_is_asked_for_again(pipeline: Pipeline) -> None:
    """SPEC R5, L5: to say that there is none would be wrong."""
    written(pipeline, "They open the vault at nine", key="opening")
    scanner = Spotting(version="3")
    scanner.is_broken = True
    pipeline.scanning = scanning(scanner)

    with pytest.raises(Unavailable, match="could not be scanned"):
        key_of(pipeline)
    assert holds(pipeline) == []


def test_of_two_recalls_that_find_the_same_one_holds_it(pipeline: Pipeline) -> None:
    """SPEC R5, L8: the other finds it held, and both answer without it."""
    written(pipeline, "They open the vault at nine")
    pipeline.scanning = scanning(SEES)
    other = overtaken_by(pipeline, lambda: recalled(pipeline))
    other.scanning = pipeline.scanning

    assert contents(recalled(other)) == []
    assert len(holds(pipeline)) == 1


def test_views_are_rebuilt_with_what_a_read_held(pipeline: Pipeline, engine: Engine) -> None:
    """SPEC R5, E1: the views are rebuilt the same with a memory that a read held."""
    written(pipeline, "They open the vault at nine")
    pipeline.scanning = scanning(SEES)
    recalled(pipeline)

    before = engine.views()
    assert pipeline.store.rebuild().identical
    assert engine.views() == before


class Outside:
    """A scanner outside this process that knows one more phrase, and can be out of reach."""

    name, version = "outside", "1"

    def __init__(self) -> None:
        self.asked = 0
        self.is_away = False

    def scan(self, texts: Sequence[str], *, seconds_max: float) -> list[list[Finding]]:
        """What it finds in each."""
        assert seconds_max > 0
        self.asked += len(texts)
        if self.is_away:
            raise OSError("no answer")
        spotting = Spotting("the crown", kind=FindingKind.ATTACK)
        return [
            [spotting.finding("the crown", 0, len(text))] if "the crown" in text else [] for text in texts
        ]

    def close(self) -> None:
        """Nothing is held."""


def test_scanners_outside_are_asked_about_what_has_no_verdict(pipeline: Pipeline) -> None:
    """SPEC R5: about each item by itself, and once; out of reach, nothing unscanned is shown."""
    for content in ("Bring the crown to the vault", "The vault is green", "The vault is old"):
        written(pipeline, content)
    outside = Outside()
    pipeline.scanning = Scanning((BLIND,), remote=(outside,))
    outside.is_away = True
    away = recalled(pipeline)
    outside.is_away = False
    found = recalled(pipeline)
    asked = outside.asked

    assert (len(away.items), away.skipped.scan) == (0, 3)
    assert sorted(map(str, contents(found))) == ["The vault is green", "The vault is old"]
    assert sorted(map(str, contents(recalled(pipeline)))) == sorted(map(str, contents(found)))
    assert outside.asked == asked == 6
    assert len(holds(pipeline)) == 1


def test_what_judges_a_text_as_a_whole_is_not_given_joined_ones(pipeline: Pipeline) -> None:
    """SPEC R5: each memory is scanned by all, and what they say together by those that name a place."""
    for number in range(2):
        written(pipeline, f"The vault has door {number}")
    bad = written(pipeline, "They open the vault at nine")
    placing, learned = Spotting(version="2"), Spotting("open the vault", version="2")
    learned.name = "learned"
    pipeline.scanning = Scanning((placing,), of_whole_texts=(learned,))
    found = recalled(pipeline)

    assert len(found.items) == 2
    assert now(pipeline, bad).status is Status.QUARANTINED
    assert sorted(text.count("The vault") for text in learned.seen) == [0, 1, 1]
    assert max(text.count("The vault") for text in placing.seen) == 2


def test_what_waits_is_never_asked_about(pipeline: Pipeline) -> None:
    """SPEC L6: only what would be shown is scanned again."""
    held(pipeline, "Pays by invoice, open the vault")
    scanner = Spotting("open the vault", version="3")
    pipeline.scanning = scanning(scanner)

    assert contents(recalled(pipeline)) == []
    assert scanner.seen == []


@given(
    st.lists(
        st.sampled_from(["a b c", "x a b c", "a", "b", "c", "a b", "b c", "x", "c x", "y a"]),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    st.integers(1, 6),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_shown_has_a_hit_and_nothing_else_is_left_out(
    pipeline: Pipeline, texts: list[str], limit: int
) -> None:
    """SPEC R5: alone or together, whatever was written in whichever order and however many are asked for."""
    subject, told = f"customer-{next(_numbers)}", len(alerts(pipeline))
    pipeline.scanning = scanning(BLIND)
    stored = [
        written(pipeline, text, subject=subject, source=source(id_=f"{subject}-{at}"))
        for at, text in enumerate(texts)
    ]
    pipeline.scanning = scanning(Spotting("a b c", version="2"))
    found = recalled(pipeline, "a b c x y", subject=subject, limit=limit)

    shown = [item.memory for item in found.items]
    alone = [memory for memory in stored if "a b c" in str(memory.content)]
    sound = [memory for memory in stored if memory not in alone]
    assert not {memory.id for memory in shown} & {memory.id for memory in alone}
    for order in orders(shown):
        line = [str(shown[at].content) for at in order]
        nothing = [frozenset[str]() for _ in line]
        assert crossings_of(line, nothing, pipeline.scanning.findings) == ()
    taking_part = {
        memory_id for alert in alerts(pipeline)[told:] for memory_id in str(alert.about).split(",")
    }
    left_out = {str(memory.id) for memory in sound} - {str(memory.id) for memory in shown}
    assert found.skipped.together <= len(taking_part & left_out)
    assert len(shown) == min(limit, len(sound) - found.skipped.together)
    statuses = {memory.id: now(pipeline, memory).status for memory in stored}
    assert all(statuses[memory.id] is Status.ACTIVE for memory in sound)
    assert sum(status is Status.QUARANTINED for status in statuses.values()) == found.skipped.scan
