"""Stored events: stable names, exact round trips, golden files, and nothing secret in a header."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import (
    CLAIM,
    CONTENT,
    EXAMPLES,
    FINGERPRINT,
    KEY,
    MODEST,
    NOW,
    REASON,
    SECRET,
    URI,
    event,
    id_of,
    texts,
)
from tests.core.golden_files import FOLDER, path_of, read
from tests.core.histories import histories

from tenure.core.access_events import KeyCreated
from tenure.core.events import (
    LIFTS,
    NAMES,
    Event,
    EventData,
    Header,
    Rejected,
    Secret,
    UnknownEvent,
    decode_event,
    decode_header,
    decode_secret,
    encode_header,
    encode_secret,
)
from tenure.core.identity import Grants, Role
from tenure.core.incident_events import CalledTool, Influenced, InfluencedV1
from tenure.core.vocabulary import Claim

LISTED = [
    ("access.denied", 1),
    ("alert.raised", 1),
    ("contradiction.found", 1),
    ("contradiction.resolved", 1),
    ("erasure.begun", 1),
    ("forget.probed", 1),
    ("hold.placed", 1),
    ("hold.released", 1),
    ("key.created", 1),
    ("key.revoked", 1),
    ("memory.admitted", 1),
    ("memory.corroborated", 1),
    ("memory.endorsed", 1),
    ("memory.expired", 1),
    ("memory.forgotten", 1),
    ("memory.held", 1),
    ("memory.merged", 1),
    ("memory.promoted", 1),
    ("memory.pruned", 1),
    ("memory.quarantined", 1),
    ("memory.refused", 1),
    ("memory.reinstated", 1),
    ("memory.rejected", 1),
    ("memory.renewed", 1),
    ("memory.revised", 1),
    ("memory.revoked", 1),
    ("memory.superseded", 1),
    ("memory.unmerged", 1),
    ("memory.valid_until", 1),
    ("policy.reevaluated", 1),
    ("policy.switched", 1),
    ("read.answered", 1),
    ("recall.answered", 1),
    ("recall.influenced", 2),
    ("scope.compacted", 1),
    ("scoped_key.forgotten", 1),
    ("source.revocation_finished", 1),
    ("source.revoked", 1),
    ("subject.erased", 1),
    ("subject.forgotten", 1),
    ("tool.authorized", 1),
    ("tool.refused", 1),
]
EARLIER = [("recall.influenced", 1)]
"""What was once written and is written no more, listed by hand."""
QUOTED = (CONTENT, KEY, URI, REASON, CLAIM.entity, CLAIM.attribute, CLAIM.value)
each_event = pytest.mark.parametrize("data", EXAMPLES, ids=lambda data: NAMES[type(data)][0])

claims = st.builds(Claim, entity=texts, attribute=texts, value=texts)
secrets = st.builds(
    Secret,
    content=st.none() | texts,
    fingerprint=st.none() | st.binary(max_size=40),
    key=st.none() | texts,
    key_digest=st.none() | st.binary(max_size=40),
    claim=st.none() | claims,
    uri=st.none() | texts,
    reason=st.none() | texts,
    things=st.lists(st.binary(max_size=40), max_size=3).map(tuple),
)


def stored_and_read(one: Event) -> Event:
    """The event after it was written down and read again."""
    header = decode_header(encode_header(one, dek=id_of(9), body_sha256=FINGERPRINT))
    return decode_event(header, decode_secret(encode_secret(one.secret)) if one.secret else None)


def test_every_event_is_stored_under_a_name_and_version_of_its_own() -> None:
    """SPEC E3: the names are ours, listed here by hand, and no two events share one."""
    assert sorted(NAMES.values()) == LISTED
    assert set(NAMES) == set(get_args(EventData))


def test_there_is_an_example_of_every_event() -> None:
    """SPEC E3: what follows is tested on all of them."""
    assert {type(data) for data in EXAMPLES} == set(NAMES)


@each_event
def test_an_event_is_read_as_it_was_written(data: EventData) -> None:
    """SPEC E1: nothing is lost between the rules and the log."""
    expected = event(data)

    assert expected == stored_and_read(expected)


@MODEST
@given(events=histories())
def test_every_event_of_any_life_is_read_as_it_was_written(events: list[Event]) -> None:
    """SPEC E1: replay sees what the live rules saw."""
    assert events == [stored_and_read(one) for one in events]


@MODEST
@given(secret=secrets)
def test_a_secret_is_read_as_it_was_sealed(secret: Secret) -> None:
    """SPEC E1: any text that a memory may hold survives."""
    assert secret == decode_secret(encode_secret(secret))


def test_every_event_has_a_golden_file_and_no_golden_file_is_left_over() -> None:
    """SPEC E3: `python -m tests.core.golden_files` writes the file of a new event."""
    expected = sorted(path_of(name, version).name for name, version in (*NAMES.values(), *LIFTS))

    assert expected == sorted(path.name for path in FOLDER.iterdir())
    assert len(set(expected)) == len(expected)


@each_event
def test_a_golden_file_is_read_as_the_event_that_was_once_stored(data: EventData) -> None:
    """SPEC E3: old logs stay readable."""
    expected = event(data)

    assert expected == read(path_of(*NAMES[type(data)]))


def test_every_version_that_was_ever_written_is_still_read() -> None:
    """SPEC E3: a name and version, once written, stays readable, whatever is written today."""
    assert sorted(LIFTS) == EARLIER
    for path in sorted(FOLDER.iterdir()):
        one = read(path)
        assert NAMES[type(one.data)][0] == path.name.rpartition(".v")[0]


def test_every_earlier_version_is_lifted_step_by_step_to_the_one_that_is_written_today() -> None:
    """SPEC E3: versions 1 up to today's have no gap, so no chain of lifts ends before today's shape."""
    today = dict(NAMES.values())

    for name, version in today.items():
        assert [number for known, number in sorted(LIFTS) if known == name] == list(range(1, version))
    assert {name for name, _version in LIFTS} <= set(today)


def test_a_report_of_the_first_version_says_what_it_said_in_the_shape_of_today() -> None:
    """SPEC E3, R7: ids and names of tool calls stood apart, and no fingerprints were kept."""
    lifted = read(path_of("recall.influenced", 1))

    assert lifted == event(
        Influenced(
            response_id="response-1",
            used_memory_ids=(id_of(1),),
            tool_calls=(CalledTool(id="call-1", name="send_mail"),),
        )
    )
    bare = InfluencedV1(response_id="response-1", used_memory_ids=())
    assert bare.lifted() == Influenced(response_id="response-1", used_memory_ids=())


@each_event
def test_a_header_quotes_nothing_of_its_secret(data: EventData) -> None:
    """SPEC E6, F7: what a header says stays in plain text for ever, so content is never in it."""
    header = encode_header(event(data), dek=id_of(9), body_sha256=FINGERPRINT).decode()

    assert [quote for quote in QUOTED if quote in header] == []


@MODEST
@given(secret=secrets, data=st.sampled_from(EXAMPLES))
def test_the_secret_leaves_no_trace_in_the_header(secret: Secret, data: EventData) -> None:
    """SPEC F7: the header is the same whatever the secret holds."""
    assert encode_header(event(data, secret=secret), dek=None, body_sha256=None) == encode_header(
        event(data, secret=SECRET), dek=None, body_sha256=None
    )


@each_event
def test_the_text_of_a_header_is_always_the_same(data: EventData) -> None:
    """SPEC E2: the chain covers exact bytes, so one event has one text."""
    texts_of = {encode_header(replace(event(data)), dek=None, body_sha256=None) for _ in range(3)}

    assert len(texts_of) == 1


def test_grants_in_another_order_have_the_same_text() -> None:
    """SPEC E2: a set has no order, its text has one."""
    names = [f"agent-{number}" for number in range(20)]

    texts_of = {
        encode_header(
            event(
                KeyCreated(
                    key_id=id_of(5),
                    name="key",
                    grants=Grants(roles=frozenset({Role.READER}), agents=frozenset(order)),
                    secret_hash=b"",
                )
            ),
            dek=None,
            body_sha256=None,
        )
        for order in (names, names[::-1], sorted(names))
    }

    assert len(texts_of) == 1


@pytest.mark.parametrize(("name", "version"), [("memory.dreamed", 1), ("memory.admitted", 2), ("", 0)])
def test_an_event_of_a_newer_version_is_named_and_not_guessed_at(name: str, version: int) -> None:
    """SPEC E3, E5: never misread."""
    header = Header(type=name, v=version, tenant="acme", at=NOW, actor="caller-1", data=msgspec.Raw(b"{}"))

    with pytest.raises(UnknownEvent, match=rf"event {name} version {version} is not known"):
        decode_event(header, None)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b'{"type":"memory.revoked","v":1}', b"\xff"])
def test_a_text_that_is_no_header_is_an_error(text: bytes) -> None:
    """SPEC E5: a torn record is refused, never misread."""
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode_header(text)


def test_a_header_names_the_sealing_key_and_the_hash_of_the_body() -> None:
    """SPEC E2: through the hash the chain covers the body as well."""
    header = decode_header(encode_header(event(Rejected()), dek=id_of(9), body_sha256=FINGERPRINT))

    assert (header.dek, header.body_sha256) == (id_of(9), FINGERPRINT)
    assert (header.stream, header.version, header.subject) == (id_of(1), 1, "customer-7")
