"""Erasure: never under a hold, once until there is something new, and a certificate with one exact text."""

import base64
import json
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import LATER, MODEST, NOW, caller, id_of, moment

from tenure.core import erasure
from tenure.core.decision import Decided, Refused
from tenure.core.erasure import (
    FORMAT,
    METADATA_KEPT,
    OUT_OF_REACH,
    SAMPLED_MAX,
    Certificate,
    Check,
    EraseFacts,
    Erasing,
    Statement,
    begin,
    completed,
    decoded,
    needles,
    sampled,
    signed_bytes,
)
from tenure.core.errors import InvalidRequest, OnHold
from tenure.core.events import ErasureBegun, Event, SubjectErased
from tenure.core.identity import Role
from tenure.core.rows import ErasureRow, HoldRow, microseconds

OFFICER = caller(Role.PRIVACY_OFFICER)
KEYS = (id_of(6), id_of(7))
LAST = ErasureRow("acme", "customer-7", id_of(20), 12, 14)
UNDER_WAY = ErasureRow("acme", "customer-7", id_of(20), 12, 0)
HELD = HoldRow("acme", "customer-7", 5, "caller-1", microseconds(NOW), None)
STATEMENT = Statement(
    format=FORMAT,
    certificate_id=id_of(20),
    tenant="acme",
    subject="customer-7",
    requested_by="caller-1",
    begun_at=NOW,
    completed_at=LATER,
    final_after=LATER + timedelta(days=30),
    memories_erased=2,
    memory_ids=(id_of(1), id_of(2)),
    sealed_bodies_removed_up_to=12,
    keys_destroyed=KEYS,
    log_position=12,
    log_link="ab" * 32,
    metadata_kept=METADATA_KEPT,
    checks=(Check(name="keys of the subject", passed=True, detail="0 left"),),
    out_of_reach=OUT_OF_REACH,
)
CERTIFICATE = Certificate(statement=STATEMENT, public_key="aa" * 32, signature="bb" * 64)

contents = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(
    lambda text: len(text.strip().encode()) >= erasure.NEEDLE_BYTES_MIN and len(text.split()) > 1
)
words = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=6, max_size=30)
plain_words = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=6, max_size=30)
padding = st.binary(max_size=7)


def facts(
    *,
    hold: HoldRow | None = None,
    last: ErasureRow | None = None,
    keys: tuple[UUID, ...] = KEYS,
    memories: int = 2,
) -> EraseFacts:
    """A subject with two memories and two keys, never erased and not held."""
    return EraseFacts(hold=hold, last=last, keys=keys, memories=memories)


@pytest.mark.parametrize("last", [None, LAST, UNDER_WAY])
def test_nothing_is_erased_under_a_hold(last: ErasureRow | None) -> None:
    """SPEC F10: refused, whatever went before, and no event."""
    refused = begin("customer-7", facts(hold=HELD, last=last), OFFICER, moment())

    assert isinstance(refused, Refused)
    assert isinstance(refused.error, OnHold)
    assert refused.error.details["placed_at"] == NOW.isoformat()


@pytest.mark.parametrize(
    ("last", "keys", "memories", "begins"),
    [
        (None, KEYS, 2, True),
        (None, (), 0, True),
        (None, KEYS, 0, True),
        (LAST, (), 0, False),
        (UNDER_WAY, (), 0, False),
        (LAST, KEYS, 0, True),
        (LAST, (), 1, True),
        (UNDER_WAY, KEYS, 0, True),
    ],
)
def test_an_erasure_begins_anew_only_where_there_is_something_new_to_erase(
    last: ErasureRow | None, keys: tuple[UUID, ...], memories: int, *, begins: bool
) -> None:
    """SPEC F8: the same certificate is given again until then; one that was left half-way goes on."""
    decided = begin("customer-7", facts(last=last, keys=keys, memories=memories), OFFICER, moment(now=LATER))

    assert isinstance(decided, Decided)
    if not begins:
        assert last is not None
        assert decided.events == ()
        assert decided.answer == Erasing(
            erasure_id=last.erasure_id, begun_seq=last.begun_seq, done_seq=last.done_seq
        )
        return
    (event,) = decided.events
    assert decided.answer == Erasing(erasure_id=id_of(100), begun_seq=0)
    assert (event.data, event.stream, event.subject) == (ErasureBegun(keys=keys), id_of(100), "customer-7")
    assert (event.actor, event.at, event.version, event.secret) == ("caller-1", LATER, None, None)


@pytest.mark.parametrize("subject", ["", " a", "a\n", "x" * 201])
def test_a_subject_that_is_no_name_is_refused(subject: str) -> None:
    """SPEC S2: the field is named."""
    with pytest.raises(InvalidRequest) as caught:
        begin(subject, facts(), OFFICER, moment())

    assert caught.value.field == "subject"


def test_the_event_that_ends_an_erasure_carries_the_certificate_and_who_asked() -> None:
    """SPEC F8: in the log, where anybody who may read it finds it."""
    begun = Event(
        tenant="acme",
        at=NOW,
        actor="caller-1",
        data=ErasureBegun(keys=KEYS),
        stream=id_of(20),
        subject="customer-7",
    )

    event = completed(CERTIFICATE, begun, 12, moment(now=LATER))

    assert isinstance(event.data, SubjectErased)
    assert event.data.begun_seq == 12
    assert decoded(event.data.certificate) == CERTIFICATE
    assert (event.tenant, event.actor, event.stream, event.subject) == (
        "acme",
        "caller-1",
        id_of(20),
        "customer-7",
    )
    assert (event.at, event.secret) == (LATER, None)


def test_what_is_signed_is_one_text_with_its_names_in_order_and_no_spaces() -> None:
    """SPEC F8: a stranger rebuilds the very bytes from the certificate as it was handed out."""
    handed_out = json.dumps(json.loads(msgspec.json.encode(CERTIFICATE)), indent=4)

    text = signed_bytes(STATEMENT)

    assert text == signed_bytes(decoded(handed_out).statement)
    rebuilt = json.dumps(
        json.loads(handed_out)["statement"], sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert text == rebuilt.encode()


@pytest.mark.parametrize("field", Statement.__struct_fields__)
def test_no_side_of_a_statement_changes_without_changing_what_is_signed(field: str) -> None:
    """SPEC F8: every word of it is under the signature."""
    value = getattr(STATEMENT, field)
    changed = replace(STATEMENT, **{field: _another(value)})

    assert signed_bytes(changed) != signed_bytes(STATEMENT)


def _another(value: object) -> object:
    match value:
        case str():
            return value + "x"
        case int():
            return value + 1
        case UUID():
            return id_of(99)
        case tuple():
            return value[1:]
        case _:
            return NOW - timedelta(days=1)


def test_a_certificate_names_counts_and_ids_and_what_lies_out_of_reach() -> None:
    """SPEC F8: what metadata remains and why, and what Tenure cannot reach; no field is for content."""
    assert "content" not in Statement.__struct_fields__
    assert all(": " in kept for kept in METADATA_KEPT)
    assert any("keyring" in place for place in OUT_OF_REACH)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"statement": {}}', "not json"])
def test_a_text_that_is_no_certificate_is_an_error(text: str) -> None:
    """SPEC F8, E5: never misread."""
    with pytest.raises((msgspec.DecodeError, msgspec.ValidationError)):
        decoded(text)


def found_in(content: str, haystack: bytes) -> bool:
    """Whether the look for a content finds it among these bytes."""
    return any(needle in haystack for needle in needles([content]))


@MODEST
@given(
    content=contents,
    before=padding,
    behind=padding,
    coding=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
)
def test_a_content_is_found_as_text_in_any_coding_at_any_offset(
    content: str, before: bytes, behind: bytes, coding: str
) -> None:
    """SPEC F7: wherever its bytes stand in a file."""
    assert found_in(content, before + content.encode(coding) + behind)


@MODEST
@given(content=contents, before=padding, behind=padding)
def test_a_content_is_found_inside_base64_wherever_it_begins(
    content: str, before: bytes, behind: bytes
) -> None:
    """SPEC F7: at each of the three places in a group, whatever stands before and behind it."""
    assert found_in(content, base64.b64encode(before + content.encode() + behind))


@MODEST
@given(content=contents, before=st.text(max_size=5), ascii_only=st.booleans())
def test_a_content_is_found_inside_json(content: str, before: str, *, ascii_only: bool) -> None:
    """SPEC F7: escaped to ASCII or not."""
    text = json.dumps({"content": before + content}, ensure_ascii=ascii_only)

    assert found_in(content, text.encode("utf-8", "surrogatepass"))


@MODEST
@given(content=contents)
def test_a_needle_is_long_enough_to_mean_something(content: str) -> None:
    """SPEC F7: a few bytes are found anywhere; what is looked for is not."""
    assert all(len(needle) >= erasure.NEEDLE_BYTES_MIN for needle in needles([content]))


@MODEST
@given(word=plain_words, before=padding, coding=st.sampled_from(["utf-16-le", "utf-16-be"]))
def test_a_lone_word_is_no_residue_where_others_may_say_it(word: str, before: bytes, coding: str) -> None:
    """SPEC F7: the word index and ids hold plain words; in any other coding it is looked for."""
    assert not found_in(word, before + word.encode() + before)
    assert found_in(word, before + word.encode(coding))
    assert found_in(word, base64.b64encode(before + word.encode()))


def test_a_text_without_spaces_is_more_than_a_word_where_its_language_has_none() -> None:
    """SPEC F7: as the analyser parts it."""
    text = "\u4ed6\u559c\u6b22\u84dd\u8272\u7b14\u8bb0\u672c"

    assert found_in(text, text.encode())
    assert not found_in("\u043b\u044e\u0431\u0438\u0442", "\u043b\u044e\u0431\u0438\u0442".encode())


def test_short_and_repeated_contents_are_looked_for_once_or_not_at_all() -> None:
    """SPEC F7: a content of a few letters says nothing when it is found."""
    assert needles(["yes", "", "  no  "]) == []
    assert needles(["a notebook", " a notebook "]) == needles(["a notebook"])


@pytest.mark.parametrize("count", [0, 1, SAMPLED_MAX, SAMPLED_MAX + 1, 500])
def test_of_many_contents_the_shortest_and_the_longest_are_looked_for(count: int) -> None:
    """SPEC F7: a bounded number of them, so that the look ends in time."""
    texts = ["x" * (number + 1) for number in range(count)]

    found = sampled(texts)

    assert len(found) == min(count, SAMPLED_MAX)
    if count:
        assert {texts[0], texts[-1]} <= set(found)
