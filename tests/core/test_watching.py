"""What is found in a log, at which event and how often: tables, and a plain model of it (SPEC I3)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import MODEST, NOW, SECRET, admitted

from tenure.core.events import (
    Admitted,
    AlertRaised,
    Event,
    EventData,
    Promoted,
    Quarantined,
    Refused,
    Revised,
)
from tenure.core.identity import SourceType
from tenure.core.vocabulary import Kind, Origin, Trust, Verdict
from tenure.core.watching import AlertKind, Threshold, Watch, WatchRules

OFF: Final = Threshold(count=0, within=timedelta(minutes=1))
ATTACK: Final = Verdict(kind="attack", rule="override", scanner="example/1", start=0, end=4, confidence=0.9)


def only(kind: AlertKind, count: int = 3, seconds: int = 60) -> WatchRules:
    """Rules that watch for one thing."""
    threshold = Threshold(count=count, within=timedelta(seconds=seconds))
    return WatchRules(**{each.value: threshold if each is kind else OFF for each in AlertKind})


def quarantined(**changes: Any) -> Quarantined:
    """A memory from an e-mail that waits."""
    sides = {name: getattr(admitted(), name) for name in Admitted.__struct_fields__}
    email = {"source_type": SourceType.EMAIL, "source_id": "message-9", "trust": Trust.UNTRUSTED}
    return Quarantined(**(sides | email | changes))


def refused(**changes: Any) -> Refused:
    """A proposal that was turned down for an attack."""
    return replace(
        Refused(
            agent="support",
            purpose="service",
            kind=Kind.FACT,
            source_type=SourceType.EMAIL,
            source_id="message-9",
            rule="attack",
            reason="a scanner found an instruction aimed at the agent",
            policy_version="default-1",
            fingerprint=b"f" * 32,
            findings=(ATTACK,),
        ),
        **changes,
    )


def revised(**changes: Any) -> Revised:
    """A new version from a tool, admitted all the same by some policy."""
    return replace(
        Revised(
            source_type=SourceType.TOOL,
            source_id="call-4",
            trust=Trust.UNTRUSTED,
            confidence=0.5,
            rule="of-ours",
            reason="example",
            policy_version="ours-1",
            tokens=4,
        ),
        **changes,
    )


def event(
    data: EventData, seconds: float = 0, *, actor: str = "key:mail", subject: str = "customer-7", **more: Any
) -> Event:
    """Something that happened so many seconds after the first."""
    at = NOW + timedelta(seconds=seconds)
    return Event(tenant="acme", at=at, actor=actor, data=data, subject=subject, **more)


def observed(rules: WatchRules, events: list[Event]) -> list[tuple[int, AlertRaised]]:
    """The alerts of a log, with the number of the event that set each off."""
    watch = Watch(rules)
    return [(seq, alert) for seq, one in enumerate(events, 1) for alert in watch.observe(one, seq)]


def at(found: list[tuple[int, AlertRaised]]) -> list[int]:
    """Where they were raised."""
    return [seq for seq, _alert in found]


def test_more_writes_from_outside_than_are_let_pass_are_a_surge() -> None:
    """SPEC I3: of one connector, whatever the sources; the alert names it and counts, and no more."""
    found = observed(
        only(AlertKind.WRITE_SURGE),
        [event(quarantined(source_id=f"message-{number}"), number) for number in range(4)],
    )

    assert at(found) == [4]
    alert = found[0][1]
    assert (alert.kind, alert.about) == ("write_surge", "connector:key:mail")
    assert alert.message == ("connector:key:mail wrote more than 3 proposals from outside within 1 minute")


@pytest.mark.parametrize(
    ("name", "events", "where"),
    [
        ("as many as are let pass", [event(quarantined(), one) for one in range(3)], []),
        ("over a longer time", [event(quarantined(), one * 20) for one in range(9)], []),
        ("just within the window", [event(quarantined(), one * 19.9) for one in range(4)], [4]),
        ("of two connectors", [event(quarantined(), one, actor=f"key:{one % 2}") for one in range(6)], []),
        ("not from outside", [event(admitted(), one) for one in range(9)], []),
        ("refused ones count", [event(refused(), one) for one in range(4)], [4]),
        ("corrections count", [event(revised(), one) for one in range(4)], [4]),
        ("other events do not", [event(Promoted(trust=Trust.REVIEWER_VERIFIED)) for _ in range(9)], []),
        ("once a window", [event(quarantined(), one) for one in range(60)], [4]),
        ("and again in the next", [event(quarantined(), one) for one in range(70)], [4, 64]),
    ],
)
def test_what_is_a_surge(name: str, events: list[Event], where: list[int]) -> None:
    """SPEC I3: the number, the window, and what counts."""
    assert at(observed(only(AlertKind.WRITE_SURGE), events)) == where, name


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("the kind", quarantined(kind=Kind.SENSITIVE_CHANGE)),
        ("a finding", quarantined(findings=(replace(ATTACK, kind="sensitive"),))),
        ("a credential", refused(findings=(replace(ATTACK, kind="credential"),))),
        ("an attack", refused()),
        ("in a correction", revised(findings=(ATTACK,), source_type=SourceType.EMAIL, source_id="message-9")),
        ("from inside", admitted(findings=(replace(ATTACK, kind="sensitive"),))),
    ],
)
def test_what_is_sensitive(name: str, data: EventData) -> None:
    """SPEC I3: by what it is or by what was found in it, admitted or not."""
    found = observed(only(AlertKind.REPEATED_SENSITIVE), [event(data, one) for one in range(3)])

    assert at(found) == [3, 3], name
    assert found[0][1].message.startswith("3 sensitive proposals came from connector:key:mail within")


def test_a_failure_to_scan_is_not_sensitive() -> None:
    """SPEC I3: it says nothing about the text."""
    failed = quarantined(findings=(replace(ATTACK, kind="failure"),))

    assert observed(only(AlertKind.REPEATED_SENSITIVE), [event(failed) for _ in range(9)]) == []


def test_one_source_is_found_behind_many_connectors_and_one_connector_behind_many_sources() -> None:
    """SPEC I3: either alone is an alert."""
    by_source = [event(refused(), one, actor=f"key:{one}") for one in range(3)]
    by_connector = [event(refused(source_id=f"message-{one}"), one) for one in range(3)]
    rules = only(AlertKind.REPEATED_SENSITIVE)

    assert [alert.about for _, alert in observed(rules, by_source)] == ["email:message-9"]
    assert [alert.about for _, alert in observed(rules, by_connector)] == ["connector:key:mail"]


def spread(subjects: list[str], data: Callable[[], EventData] = quarantined) -> list[Event]:
    """One text for many subjects."""
    return [
        event(data(), number, subject=subject, secret=SECRET if data is quarantined else None)
        for number, subject in enumerate(subjects)
    ]


def test_one_text_for_many_subjects_is_an_alert_without_the_text() -> None:
    """SPEC I3: it is named by the beginning of a keyed digest."""
    ((seq, alert),) = observed(only(AlertKind.SPREAD_FINGERPRINT), spread(["a", "b", "c"]))

    assert SECRET.fingerprint is not None
    assert (seq, alert.about) == (3, f"fingerprint:{SECRET.fingerprint.hex()[:16]}")
    assert alert.message == "one text was proposed for 3 subjects within 1 minute"


@pytest.mark.parametrize(
    ("name", "events", "where"),
    [
        ("one subject often", spread(["a"] * 9), []),
        ("refused ones count", spread(["a", "b", "c"], refused), [3]),
        ("of which nothing can be opened", [event(quarantined(), subject=str(one)) for one in range(9)], []),
        ("without a subject", [replace(one, subject=None) for one in spread(["a"] * 9)], []),
    ],
)
def test_what_is_a_text_that_spreads(name: str, events: list[Event], where: list[int]) -> None:
    """SPEC I3: different subjects count; an erased one's text is not known any more."""
    assert at(observed(only(AlertKind.SPREAD_FINGERPRINT), events)) == where, name


@pytest.mark.parametrize(
    ("name", "events", "abouts"),
    [
        ("three agents", [event(quarantined(agent=str(one))) for one in range(3)], ["email:message-9"]),
        ("one agent", [event(quarantined()) for _ in range(9)], []),
        ("three sources", [event(quarantined(agent=str(i), source_id=str(i))) for i in range(3)], []),
        ("from inside", [event(admitted(agent=str(one))) for one in range(9)], []),
        ("refused, so never there", [event(refused(agent=str(one))) for one in range(9)], []),
        (
            "passed on by others",
            [
                event(admitted(agent=str(one), origins=(Origin(type=SourceType.WEB, id="page-1"),)), one)
                for one in range(3)
            ],
            ["web:page-1"],
        ),
    ],
)
def test_what_reaches_many_agents(name: str, events: list[Event], abouts: list[str]) -> None:
    """SPEC I3: a source from outside, by itself or as the root of what others made of it."""
    assert [alert.about for _, alert in observed(only(AlertKind.WIDE_SOURCE), events)] == abouts, name


def test_nothing_is_watched_for_that_is_off() -> None:
    """SPEC I3: 0 turns one off."""
    rules = WatchRules(**{kind.value: OFF for kind in AlertKind})
    events = [event(refused(agent=str(one)), one, subject=str(one)) for one in range(50)]

    assert observed(rules, events) == []
    assert rules.longest == timedelta()


def test_what_was_raised_already_is_not_raised_again_within_its_window() -> None:
    """SPEC I3: told by the list of alerts, or read in the log."""
    rules, surge = only(AlertKind.WRITE_SURGE), [event(quarantined(), one) for one in range(9)]
    told, read = Watch(rules), Watch(rules)
    told.note("write_surge", "connector:key:mail", NOW)
    raised = AlertRaised(kind="write_surge", message="example", about="connector:key:mail")
    assert read.observe(event(raised), 1) == ()

    assert [alert for watch in (told, read) for one in surge for alert in watch.observe(one, 1)] == []


def test_what_is_recollected_counts_and_sets_nothing_off() -> None:
    """SPEC I3: a node that takes over goes on counting where the last one stopped."""
    watch = Watch(only(AlertKind.WRITE_SURGE))
    for number in range(3):
        watch.recollect(event(quarantined(), number), number)

    (alert,) = watch.observe(event(quarantined(), 3), 3)

    assert alert.kind == "write_surge"


def test_memory_is_bounded_and_the_oldest_goes_first() -> None:
    """SPEC T8: whoever invents a thousand sources takes no thousand places."""
    rules = only(AlertKind.WIDE_SOURCE, count=2, seconds=86_400)
    watch = Watch(rules, keys_max=10)
    flood = [event(quarantined(source_id=f"flood-{number}"), number) for number in range(1_000)]
    for number, one in enumerate([event(quarantined(source_id="old")), *flood]):
        watch.observe(one, number)

    assert len(watch._seen[AlertKind.WIDE_SOURCE]._keys) == 10  # noqa: SLF001 -- what is bounded is what is kept
    assert watch.observe(event(quarantined(source_id="old", agent="b"), 1_001), 1_001) == ()
    assert len(watch.observe(event(quarantined(source_id="flood-999", agent="b"), 1_002), 1_002)) == 1


def test_what_is_over_is_let_go() -> None:
    """SPEC T8: what no later event can count with takes no room."""
    watch = Watch(only(AlertKind.WRITE_SURGE))
    for number in range(50):
        watch.observe(event(quarantined(), number * 60, actor=f"key:{number}"), number)

    assert len(watch._seen[AlertKind.WRITE_SURGE]._keys) == 1  # noqa: SLF001


class Proposed(NamedTuple):
    """One proposal of a random log."""

    pause_seconds: int
    actor: int
    agent: int
    subject: int
    fingerprint: int
    source: int
    is_outside: bool
    is_sensitive: bool
    is_refused: bool

    def as_event(self, when: datetime) -> Event:
        """It as the log has it."""
        source_type = SourceType.EMAIL if self.is_outside else SourceType.APPLICATION
        sides: dict[str, Any] = {
            "agent": str(self.agent),
            "source_type": source_type,
            "source_id": str(self.source),
            "findings": (ATTACK,) if self.is_sensitive else (),
        }
        fingerprint = bytes([self.fingerprint]) * 32
        data = refused(fingerprint=fingerprint, **sides) if self.is_refused else quarantined(**sides)
        return Event(
            tenant="acme",
            at=when,
            actor=str(self.actor),
            data=data,
            subject=str(self.subject),
            secret=None if self.is_refused else replace(SECRET, fingerprint=fingerprint),
        )

    def counts_for(self) -> list[tuple[AlertKind, str, object]]:
        """What it is one more of: the kind, the thing, and what must differ; None where nothing must."""
        connector, source = f"connector:{self.actor}", f"{'email' if self.is_outside else 'application'}"
        found: list[tuple[AlertKind, str, object]] = [
            (AlertKind.SPREAD_FINGERPRINT, f"fingerprint:{bytes([self.fingerprint] * 8).hex()}", self.subject)
        ]
        if self.is_outside:
            found.append((AlertKind.WRITE_SURGE, connector, None))
        if self.is_sensitive:
            found.append((AlertKind.REPEATED_SENSITIVE, connector, None))
            found.append((AlertKind.REPEATED_SENSITIVE, f"{source}:{self.source}", None))
        if self.is_outside and not self.is_refused:
            found.append((AlertKind.WIDE_SOURCE, f"{source}:{self.source}", self.agent))
        return found


few = st.integers(0, 2)
proposals = st.lists(
    st.builds(
        Proposed, st.integers(0, 40), few, few, few, few, few, st.booleans(), st.booleans(), st.booleans()
    ),
    max_size=40,
)
counts = st.integers(0, 3)
windows = st.sampled_from([30, 60, 120])
thresholds = st.builds(
    lambda count, seconds: Threshold(count=count, within=timedelta(seconds=seconds)), counts, windows
)
rules_of_any_kind = st.builds(
    WatchRules,
    write_surge=thresholds,
    repeated_sensitive=thresholds,
    spread_fingerprint=thresholds,
    wide_source=thresholds,
)


def expected(rules: WatchRules, log: list[tuple[Proposed, datetime]]) -> list[tuple[int, str, str]]:
    """The same by looking at everything that was ever there, again for each event."""
    raised: list[tuple[int, str, str, datetime]] = []
    for seq, (proposed, now) in enumerate(log, 1):
        for kind, about, _member in proposed.counts_for():
            threshold = rules.of(kind)
            members = [
                number if member is None else member
                for number, (earlier, when) in enumerate(log[:seq])
                for each, what, member in earlier.counts_for()
                if (each, what) == (kind, about) and when > now - threshold.within
            ]
            needed = threshold.count + (kind is AlertKind.WRITE_SURGE)
            is_silent = any(
                (was_kind, was_about) == (kind.value, about) and now < when + threshold.within
                for _seq, was_kind, was_about, when in raised
            )
            if threshold.count and len(set(members)) >= needed and not is_silent:
                raised.append((seq, kind.value, about, now))
    return [(seq, kind, about) for seq, kind, about, _when in raised]


@MODEST
@given(rules_of_any_kind, proposals)
def test_the_fold_finds_what_a_look_at_everything_finds(rules: WatchRules, log: list[Proposed]) -> None:
    """SPEC I3: what is let go on the way never mattered."""
    when, timed = NOW, []
    for proposed in log:
        when += timedelta(seconds=proposed.pause_seconds)
        timed.append((proposed, when))

    found = observed(rules, [proposed.as_event(moment) for proposed, moment in timed])

    assert sorted((seq, alert.kind, alert.about) for seq, alert in found) == sorted(expected(rules, timed))


@MODEST
@given(rules_of_any_kind, proposals, st.lists(st.integers(-100, 100), min_size=40, max_size=40))
def test_clocks_that_disagree_break_nothing(rules: WatchRules, log: list[Proposed], off: list[int]) -> None:
    """SPEC I3: the same events give the same alerts, and the limits hold, in whatever order the times are."""
    events = [
        proposed.as_event(NOW + timedelta(seconds=seconds))
        for proposed, seconds in zip(log, off, strict=False)
    ]

    assert observed(rules, events) == observed(rules, events)
