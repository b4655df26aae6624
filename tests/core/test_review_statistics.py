"""Statistics of reviewers, from the events of memories alone (SPEC L7)."""

from datetime import datetime, timedelta

from tests.core.examples import NOW, event, quarantined

from tenure.core.events import Endorsed, Event, EventData, Promoted, Rejected, Revoked
from tenure.core.incident_events import Held
from tenure.core.review_statistics import by_reviewer, words_on
from tenure.core.vocabulary import Trust

YES = Promoted(trust=Trust.REVIEWER_VERIFIED)
AGAIN = Held(rule="strict", reason="a later policy", policy_version="strict-2")


def life(*steps: tuple[EventData, int, str]) -> list[Event]:
    """The events of a memory: what, how many minutes after its birth, and by whom."""
    return [
        event(data, version=version, at=NOW + timedelta(minutes=minutes), actor=actor)
        for version, (data, minutes, actor) in enumerate([(quarantined(), 0, "bot"), *steps], start=1)
    ]


def told(*lives: list[Event], since: datetime = NOW) -> dict[str, tuple[object, ...]]:
    """The figures of each reviewer."""
    words = [word for one in lives for word in words_on(one, since)]
    return {
        one.reviewer: (
            one.endorsed,
            one.promoted,
            one.rejected,
            one.revoked_later,
            one.share_revoked_later,
            one.median_seconds_in_queue,
        )
        for one in by_reviewer(words, lambda _actor: None)
    }


def test_each_decision_counts_for_whoever_made_it() -> None:
    """SPEC L7, A5: the first of two reviewers as well; and whoever proposed or revoked decided nothing."""
    lives = (
        life((Endorsed(), 10, "ann"), (YES, 20, "bea")),
        life((YES, 40, "ann"), (Revoked(), 60, "olga")),
        life((Rejected(), 1, "ann")),
        life(),
    )

    assert told(*lives) == {
        "ann": (1, 1, 1, 1, 1.0, 600.0),
        "bea": (0, 1, 0, 0, 0.0, 1_200.0),
    }


def test_a_yes_was_wrong_if_the_memory_was_revoked_after_it() -> None:
    """SPEC L12: alone or with its source; a revocation that came before does not count against it."""
    alone = life((YES, 1, "ann"), (Revoked(), 2, "olga"))
    with_its_source = life((YES, 1, "ann"), (Revoked(because_of=9), 2, "olga"))
    well = life((YES, 1, "ann"))

    assert told(alone, with_its_source, well)["ann"] == (0, 3, 0, 2, 0.6667, 60.0)


def test_a_memory_that_was_held_back_again_waits_anew() -> None:
    """SPEC I4: the time in the queue counts from when it last came there."""
    twice = life((YES, 5, "ann"), (AGAIN, 100, "tenure:upkeep"), (YES, 103, "bea"))

    assert told(twice) == {"ann": (0, 1, 0, 0, 0.0, 300.0), "bea": (0, 1, 0, 0, 0.0, 180.0)}


def test_what_was_decided_before_the_time_does_not_count() -> None:
    """The window is of decisions; what became of them may lie behind it."""
    early = life((YES, 1, "ann"), (Revoked(), 90, "olga"))

    assert told(early, since=NOW + timedelta(minutes=2)) == {}
    assert told(early, since=NOW + timedelta(minutes=1))["ann"][3] == 1


def test_reviewers_are_named_and_sorted_and_say_when_they_were_last_seen() -> None:
    """SPEC A1: the name for the reader, the id for the audit."""
    words = [*words_on(life((Rejected(), 3, "bea")), NOW), *words_on(life((Rejected(), 7, "ann")), NOW)]

    found = by_reviewer(words, {"ann": "Ann"}.get)

    assert [(one.reviewer, one.name) for one in found] == [("ann", "Ann"), ("bea", None)]
    assert found[0].last_active_at == NOW + timedelta(minutes=7)
    assert found[0].share_revoked_later is None
