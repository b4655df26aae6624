"""The contract of the hard filters: what does not pass them leaves the store in no question (SPEC R1)."""

import pytest
from msgspec.structs import replace
from tests.clock import START
from tests.stores.engine import Opened
from tests.stores.items import DIFFERENT, HOUR, SUBJECT, TENANT, created, forgotten, number, put, renewed

from tenure.core.identity import Tier
from tenure.core.retrieval import Filter
from tenure.core.rows import microseconds
from tenure.core.vocabulary import Kind, Trust
from tenure.core.wording import analyse

NOW = microseconds(START)
TERMS = analyse("the e-mail or the phone?")

ASKED = Filter(
    tenant=TENANT,
    agent="support",
    purpose="answering",
    subjects=frozenset({SUBJECT}),
    kinds=(Kind.FACT.value,),
    trust_min=Trust.APPLICATION_VERIFIED.rank,
    scopes=((Tier.USER.value, SUBJECT),),
    now=NOW,
)


def positions(opened: Opened, where: Filter) -> dict[str, list[int]]:
    """What each of the store's questions lets through."""
    with opened.store.reading() as reading:
        rows, postings = reading.search(where, TERMS, None)
    return {
        "passing": rows.seqs.tolist(),
        "postings": sorted({int(seq) for one in postings.values() for seq in one.seqs}),
        "tokens": rows.tokens.tolist(),
    }


def only(*seqs: int) -> dict[str, list[int]]:
    """These rows, in every answer."""
    found = list(seqs)
    return {"passing": found, "postings": found, "tokens": [5] * len(found)}


@pytest.mark.parametrize("because", DIFFERENT)
def test_what_differs_in_one_thing_is_in_no_answer(opened: Opened, because: str) -> None:
    """SPEC R1: every filter holds in every question, and no count or frequency betrays what it hides."""
    put(opened, created(opened.keyring, 1), created(opened.keyring, 2, **DIFFERENT[because]))

    assert positions(opened, ASKED) == only(1)


@pytest.mark.parametrize("because", DIFFERENT)
def test_what_is_hidden_alone_leaves_nothing(opened: Opened, because: str) -> None:
    """SPEC R1: nothing found, nothing counted."""
    put(opened, created(opened.keyring, 1, **DIFFERENT[because]))

    assert positions(opened, ASKED) == only()


def test_sides_that_are_left_open_are_not_narrowed(opened: Opened) -> None:
    """SPEC R1: without a subject, every subject of the boundary; and never another boundary."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2, subject="customer-8"), created(keys, 3, agent="sales"))
    everybody = Filter(tenant=TENANT, agent="support", purpose="answering", now=NOW)

    assert positions(opened, everybody) == only(1, 2)


def test_several_granted_subjects_are_asked_together(opened: Opened) -> None:
    """SPEC A2: a caller with two subjects asks both, and no third."""
    keys = opened.keyring
    put(opened, *(created(keys, one, subject=f"customer-{one}") for one in range(1, 4)))
    granted = frozenset({"customer-1", "customer-3", "nobody"})
    where = Filter(tenant=TENANT, agent="support", purpose="answering", subjects=granted, now=NOW)

    assert positions(opened, where) == only(1, 3)


def test_no_subject_granted_is_no_subject_asked(opened: Opened) -> None:
    """SPEC A2: an empty grant grants nothing."""
    put(opened, created(opened.keyring, 1))
    where = Filter(tenant=TENANT, agent="support", purpose="answering", subjects=frozenset(), now=NOW)

    assert positions(opened, where) == only()


def test_a_memory_is_skipped_from_the_instant_it_expires(opened: Opened) -> None:
    """SPEC L11: one microsecond before it is there, at the instant it is not."""
    put(opened, created(opened.keyring, 1, expires_at=START + HOUR))
    last = microseconds(START + HOUR) - 1
    where = Filter(tenant=TENANT, agent="support", purpose="answering", now=last)
    after = Filter(tenant=TENANT, agent="support", purpose="answering", now=last + 1)

    assert positions(opened, where) == only(1)
    assert positions(opened, after) == only()


def test_what_holds_is_judged_at_another_time_where_one_is_asked_for(opened: Opened) -> None:
    """SPEC T4: from its first instant up to its last, which is out; while expiry is judged as of now."""
    keys = opened.keyring
    put(opened, created(keys, 1, valid_from=START + HOUR, valid_to=START + 2 * HOUR))
    put(opened, created(keys, 2, expires_at=START))
    begins, ends = microseconds(START + HOUR), microseconds(START + 2 * HOUR)
    everything = Filter(tenant=TENANT, agent="support", purpose="answering", now=NOW)

    seen = {
        at: positions(opened, replace(everything, valid_at=at))
        for at in (None, begins - 1, begins, ends - 1, ends)
    }

    assert seen == {None: only(), begins - 1: only(), begins: only(1), ends - 1: only(1), ends: only()}


def test_what_was_forgotten_is_in_no_answer(opened: Opened) -> None:
    """SPEC F1, R1: the rows, the words and the counts are gone together; what comes after is new."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2))
    put(opened, forgotten(keys))
    before = positions(opened, ASKED)
    put(opened, created(keys, 3))

    assert before == only()
    assert positions(opened, ASKED) == only(4)


def test_rows_of_several_subjects_come_in_the_order_in_which_they_were_written(opened: Opened) -> None:
    """SPEC A2: whoever may see two subjects sees their memories as one line."""
    keys = opened.keyring
    put(opened, *(created(keys, one, subject=f"customer-{one % 2}") for one in range(1, 8)))
    where = Filter(
        tenant=TENANT,
        agent="support",
        purpose="answering",
        subjects=frozenset({"customer-0", "customer-1"}),
        now=NOW,
    )

    with opened.store.reading() as reading:
        rows = reading.search(where, (), None).rows

    assert rows.seqs.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert [one.int for one in rows.ids] == [1, 2, 3, 4, 5, 6, 7]


def test_a_window_lets_through_what_was_written_in_it(opened: Opened) -> None:
    """SPEC R1: from its first instant up to its last, which is out."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2))
    everything = Filter(tenant=TENANT, agent="support", purpose="answering", now=NOW)
    with opened.store.reading() as reading:
        at = int(reading.search(everything, (), None).rows.written_at[0])

    seen = [
        positions(opened, replace(everything, written_from=first, written_until=last))
        for first, last in ((at, at + 1), (at + 1, None), (None, at), (None, None))
    ]

    assert seen == [only(1, 2), only(), only(), only(1, 2)]


def test_what_is_due_is_what_has_expired_and_is_not_marked_so(opened: Opened) -> None:
    """SPEC L11, T8: the oldest first, of every tenant, in a bounded batch."""
    keys = opened.keyring
    put(
        opened,
        created(keys, 1, expires_at=START - HOUR),
        created(keys, 2, expires_at=START - 2 * HOUR, tenant="globex"),
        created(keys, 3, expires_at=START + HOUR),
        created(keys, 4, expires_at=START, is_held=True),
        renewed(keys, 3, to_version=2),
    )

    with opened.store.reading() as reading:
        assert [row.memory_id for row in reading.due(NOW, 10)] == [number(2), number(1), number(4)]
        assert [row.memory_id for row in reading.due(NOW, 1)] == [number(2)]
