"""The contract of what stands beside the memories: marks, scopes that ended, holds, erasures, alerts."""

from datetime import timedelta

from tests.clock import START
from tests.stores.engine import Opened
from tests.stores.forgetting_items import (
    LEAF,
    NAME,
    VALUE,
    a_family,
    alert_raised,
    compacted,
    erased,
    erasure_begun,
    expired,
    giraffe,
    hold_placed,
    hold_released,
    key_forgotten,
    memory_forgotten,
    placed,
    probed,
    rejected,
)
from tests.stores.items import HOUR, SUBJECT, TENANT, forgotten, number, put, renewed
from tests.stores.looking import AT, found, standing, words_left

from tenure.core.rows import AlertRow, ErasureRow, HoldRow, microseconds
from tenure.usecases.ports import Appended, EndedScope

PROBE_AT = START + HOUR


def test_a_forget_of_a_leaf_alone_holds_is_probed_and_is_over(opened: Opened) -> None:
    """SPEC F6: it holds until its time, is due an instant later, is put off when it failed, and ends."""
    keys = opened.keyring
    put(opened, key_forgotten(keys, 20, floors=["task:t-1"], probe_at=PROBE_AT))
    put(opened, key_forgotten(keys, 20, floors=["task:t-1"], probe_at=PROBE_AT, tenant="globex"))
    until = microseconds(PROBE_AT)

    with opened.store.reading() as reading:
        [row] = reading.suppressions(TENANT, SUBJECT, until - 1)
        assert (row.forget_id, row.place, row.key_digest, row.seq) == (number(20), "task:t-1", NAME, 1)
        assert reading.suppressions(TENANT, SUBJECT, until) == []
        assert reading.suppressions(TENANT, "customer-8", AT) == []
        assert reading.suppression(TENANT, number(20)) == row
        assert reading.suppression(TENANT, number(21)) is None
        assert reading.probes_due(until - 1, 9) == []
        assert {one.tenant for one in reading.probes_due(until, 9)} == {TENANT, "globex"}
        assert len(reading.probes_due(until, 1)) == 1

    put(opened, probed(keys, 20, passed=False))
    with opened.store.reading() as reading:
        assert [one.tenant for one in reading.probes_due(until, 9)] == ["globex"]
        assert len(reading.probes_due(microseconds(START + 9 * HOUR), 9)) == 2

    put(opened, probed(keys, 20, passed=True))
    with opened.store.reading() as reading:
        assert reading.suppression(TENANT, number(20)) is None
        assert reading.suppression("globex", number(20)) is not None


def ended_scopes(opened: Opened) -> list[tuple[str, str, str, str]]:
    """The scopes that can be compacted now."""
    with opened.store.reading() as reading:
        ended: list[EndedScope] = reading.scopes_ended(AT, 50)
    return sorted((one.tenant, one.subject, one.tier, one.scope_id) for one in ended)


def test_of_a_compacted_scope_what_has_ended_goes_and_nothing_else(opened: Opened) -> None:
    """SPEC F3: what is active or waits stays, and so does every other scope; no floor is laid."""
    keys = opened.keyring
    leaf = {"scope": LEAF, "expires_at": START}
    put(
        opened,
        giraffe(keys, 1, **leaf),
        giraffe(keys, 2, scope=LEAF),
        giraffe(keys, 3, scope=LEAF, is_held=True),
        giraffe(keys, 4, **leaf, agent="sales"),
        giraffe(keys, 5, **leaf, subject="customer-8"),
        giraffe(keys, 6, expires_at=START),
        giraffe(keys, 7, **leaf, fingerprint=VALUE, is_held=True),
        giraffe(keys, 8, scope=placed("session", "t-1"), expires_at=START),
    )
    put(
        opened,
        *(expired(keys, one) for one in (1, 4, 6, 8)),
        expired(keys, 5, subject="customer-8"),
        rejected(keys, 7),
    )
    assert ended_scopes(opened) == [
        (TENANT, SUBJECT, "session", "t-1"),
        (TENANT, SUBJECT, "task", "t-1"),
        (TENANT, SUBJECT, "task", "t-1"),
        (TENANT, "customer-8", "task", "t-1"),
    ]

    results = put(opened, compacted(keys))

    assert results == [Appended(seq=15, dropped=2)]
    assert standing(opened) == {2, 3, 4, 5, 6, 8}
    assert found(opened) == {2}
    with opened.store.reading() as reading:
        assert reading.forgot_seq(TENANT) == 14
    assert opened.store.rebuild().identical


def test_what_something_was_made_from_stays_in_a_compacted_scope(opened: Opened) -> None:
    """SPEC F3, F9: or a forget of its key would not find what was made from it."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1, scope=LEAF, expires_at=START, key_digest=NAME),
        giraffe(keys, 2, derived_from=(number(1),)),
        giraffe(keys, 3, scope=LEAF, expires_at=START),
        expired(keys, 1),
    )
    assert ended_scopes(opened) == []
    put(opened, expired(keys, 3))
    assert ended_scopes(opened) == [(TENANT, SUBJECT, "task", "t-1")]

    assert put(opened, compacted(keys)) == [Appended(seq=6, dropped=1)]
    assert standing(opened) == {1, 2}
    assert ended_scopes(opened) == []

    assert put(opened, key_forgotten(keys, 20, floors=["task:t-1"])) == [Appended(seq=7, dropped=2)]
    assert standing(opened) == found(opened) == set()


def test_a_scope_of_a_subject_on_hold_is_not_compacted(opened: Opened) -> None:
    """SPEC F10: until the hold is released; the hold of another tenant's subject is not ours."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1, scope=LEAF, expires_at=START), expired(keys, 1))
    put(opened, hold_placed(keys, tenant="globex"))
    assert ended_scopes(opened) == [(TENANT, SUBJECT, "task", "t-1")]

    put(opened, hold_placed(keys))
    assert ended_scopes(opened) == []

    put(opened, hold_released(keys))
    assert ended_scopes(opened) == [(TENANT, SUBJECT, "task", "t-1")]


def test_a_hold_stands_until_it_is_released(opened: Opened) -> None:
    """SPEC F10: a second one takes the first one's place."""
    keys = opened.keyring
    put(opened, hold_placed(keys), hold_placed(keys, review_at=START + HOUR))

    with opened.store.reading() as reading:
        assert reading.hold(TENANT, SUBJECT) == HoldRow(
            TENANT, SUBJECT, 2, "pia", AT, microseconds(START + HOUR)
        )
        assert reading.hold(TENANT, "customer-8") is None
        assert reading.hold("globex", SUBJECT) is None
    put(opened, hold_released(keys))
    with opened.store.reading() as reading:
        assert reading.hold(TENANT, SUBJECT) is None


def test_an_erasure_begins_takes_what_stands_beside_and_ends(opened: Opened) -> None:
    """SPEC F7: rows and marks of the subject go at once; it is begun until its certificate stands."""
    keys = opened.keyring
    put(opened, *a_family(keys), giraffe(keys, 6, subject="customer-8"))
    put(opened, key_forgotten(keys, 20, floors=["task:t-1"], probe_at=PROBE_AT), hold_placed(keys))

    assert put(opened, erasure_begun(keys, 30)) == [Appended(seq=9, dropped=5)]

    assert standing(opened) == found(opened) == {6}
    assert words_left(opened) == 0
    with opened.store.reading() as reading:
        begun = ErasureRow(TENANT, SUBJECT, number(30), 9, 0)
        assert reading.erasure(TENANT, SUBJECT) == begun
        assert reading.erasures_begun() == [begun]
        assert reading.suppression(TENANT, number(20)) is None
        assert reading.subject_streams(TENANT, SUBJECT) == [number(one) for one in (1, 2, 4, 3, 5)]
    put(opened, giraffe(keys, 7), erased(keys, 30, begun_seq=9))
    with opened.store.reading() as reading:
        assert reading.erasure(TENANT, SUBJECT) == ErasureRow(TENANT, SUBJECT, number(30), 9, 11)
        assert reading.erasure(TENANT, "customer-8") is None
        assert reading.erasures_begun() == []
    assert standing(opened) == found(opened) == {6, 7}
    assert opened.store.rebuild().identical


def test_alerts_come_newest_first_page_by_page(opened: Opened) -> None:
    """SPEC I3: of one tenant, from before a position."""
    keys = opened.keyring
    put(opened, *(alert_raised(keys, f"forget {one}") for one in range(1, 6)))
    put(opened, alert_raised(keys, tenant="globex"), alert_raised(keys, subject="customer-8"))

    with opened.store.reading() as reading:
        page = reading.alerts(TENANT, subjects=None, before_seq=None, limit=2)
        assert page[1] == AlertRow(TENANT, 5, SUBJECT, "forget-failed", "it is back", "forget 5", AT)
        assert [row.seq for row in page] == [6, 5]
        assert [row.seq for row in reading.alerts(TENANT, subjects=None, before_seq=4, limit=9)] == [3, 2, 1]
        both = reading.alerts(TENANT, subjects={SUBJECT, "customer-8"}, before_seq=None, limit=9)
        one = reading.alerts(TENANT, subjects={"customer-8"}, before_seq=None, limit=9)
        assert ([row.seq for row in both], [row.seq for row in one]) == ([6, 5, 4, 3, 2, 1], [6])
        assert reading.alerts(TENANT, subjects=set(), before_seq=None, limit=9) == []


def test_the_events_about_a_subject_are_all_of_them_and_no_others(opened: Opened) -> None:
    """SPEC F9: in their order, page by page, the forgettings among them."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1),
        giraffe(keys, 2, subject="customer-8"),
        renewed(keys, 1, to_version=2),
        memory_forgotten(keys, 1),
        giraffe(keys, 1, tenant="globex"),
        forgotten(keys),
    )

    with opened.store.reading() as reading:
        events = reading.subject_events(TENANT, SUBJECT, after=0, limit=9)
        assert [stored.seq for stored in events] == [1, 3, 4, 5]
        assert [one.seq for one in reading.subject_events(TENANT, SUBJECT, after=1, limit=2)] == [3, 4]
        assert reading.subject_events(TENANT, "nobody", after=0, limit=9) == []


def test_a_leaf_that_held_for_days_is_probed_as_the_log_says_after_a_rebuild(opened: Opened) -> None:
    """SPEC F6, E1: the time of the next probe is of the log, down to the microsecond."""
    keys = opened.keyring
    at = START + timedelta(days=3, microseconds=7)
    put(opened, key_forgotten(keys, 20, floors=["task:t-1"], probe_at=at))

    assert opened.store.rebuild().identical
    with opened.store.reading() as reading:
        assert [row.probe_at for row in reading.probes_due(microseconds(at), 9)] == [microseconds(at)]
