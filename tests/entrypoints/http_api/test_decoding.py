"""Which field is named, and what is said about it (SPEC S2)."""

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.http_api.decoding import decode_body, decode_query
from tenure.entrypoints.http_api.memories import ListQuery, RememberBody
from tenure.entrypoints.http_api.recall import InfluenceBody

DECODER = msgspec.json.Decoder(RememberBody)
SECRET = "green cheese"


def refusal(raw: bytes) -> InvalidRequest:
    """What a body is refused with."""
    with pytest.raises(InvalidRequest) as caught:
        decode_body(raw, RememberBody, DECODER)
    return caught.value


def test_an_unknown_word_is_answered_with_the_known_ones() -> None:
    """The hint lists what the field may be; the word itself is not repeated."""
    error = refusal(b'{"kind": "green cheese", "content": "c", "source": {"type": "tool", "id": "t"}}')

    assert error.field == "kind"
    assert error.hint is not None
    assert "preference, fact, skill" in error.hint
    assert SECRET not in error.message


def test_an_unknown_word_inside_is_answered_as_well() -> None:
    """Through optional records and lists."""
    error = refusal(b'{"kind": "fact", "content": "c", "source": {"type": "gossip", "id": "t"}}')

    assert (error.field, error.hint) == (
        "source.type",
        "Known: direct_user, application, email, document, web, tool, other_agent.",
    )


def test_a_field_in_a_list_is_named_without_its_position() -> None:
    """``tool_calls.id`` is what the description calls it."""
    raw = b'{"response_id": "r", "used_memory_ids": [], "tool_calls": [{"id": "a", "name": "b"}, {"id": 7}]}'

    with pytest.raises(InvalidRequest) as caught:
        decode_body(raw, InfluenceBody, msgspec.json.Decoder(InfluenceBody))

    assert caught.value.field == "tool_calls.id"
    assert caught.value.message == "tool_calls.id is of the wrong kind: expected `str`, got `int`"


def test_an_odd_name_is_not_repeated() -> None:
    """A field's name is the caller's text too: it is repeated only where it is plain and short."""
    for name in ("green cheese", "x" * 100, "<script>", "a`b"):
        error = refusal(msgspec.json.encode({name: 1}))

        assert error.field == "a field of this name"
        assert name not in error.message


@given(st.binary(max_size=200))
def test_no_bytes_but_a_proposal_get_through(raw: bytes) -> None:
    """SPEC S2: whatever comes in, the outcome is a proposal or an InvalidRequest."""
    with contextlib.suppress(InvalidRequest):
        decode_body(raw, RememberBody, DECODER)


@given(st.text(max_size=50), st.sampled_from(["kind", "subject", "key", "id", "scope", "source"]))
def test_no_value_is_repeated(value: str, field: str) -> None:
    """SPEC E6: the message is the same whatever the value was."""
    told = {
        refusal(msgspec.json.encode({"content": 7, field: wrong, "kind": {}})).message
        for wrong in (value, f"{value} again")
    }

    assert len(told) == 1


@given(st.binary(max_size=200))
def test_no_query_but_a_listing_gets_through(raw: bytes) -> None:
    """SPEC S2: the same for what stands behind the question mark."""
    with contextlib.suppress(InvalidRequest):
        decode_query(raw, ListQuery)


def test_a_query_is_read_as_written() -> None:
    """Percent-encoding, UTF-8 and numbers."""
    query = decode_query(b"subject=M%C3%BCller+%26+Co&limit=7&status=active", ListQuery)

    assert (query.subject, query.limit, query.status) == ("Müller & Co", 7, "active")
