"""Names that may serve as ids, scopes that look outward, and the one granted value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.errors import InvalidRequest
from tenure.core.identity import Scope, Tier, checked_name, checked_reference, only
from tenure.core.scopes import places


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "customer-7",
        "Müller Söhne",
        "a@b.example",
        "team/one:two#3~4+5=6",
        "auth0|5f7c8ec7c33c6c004bbafe82",
        "|",
        "名前",
        "x" * 200,
    ],
)
def test_printable_ids_of_up_to_two_hundred_characters_are_accepted(name: str) -> None:
    """SPEC M2: an id is the user's own, and comes back as it was given."""
    assert checked_name(name, field="subject") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        " a",
        "a ",
        "a\n",
        "a\tb",
        "a\x00b",
        "a\u2028b",
        "a<b",
        'a"b',
        "a'b",
        "a\\b",
        "a;b",
        "a\u200bb",
        "x" * 201,
    ],
)
def test_odd_ids_are_refused_and_the_field_is_named(name: str) -> None:
    """SPEC S2: an id with odd characters is an invalid request that names its field."""
    with pytest.raises(InvalidRequest, match="subject must be 1 to 200 letters") as caught:
        checked_name(name, field="subject")

    assert caught.value.field == "subject"


def accepted(name: str) -> str | None:
    """The name, or None when it is refused with a message that does not quote it."""
    try:
        return checked_name(name, field="key")
    except InvalidRequest as error:
        return None if error.message.startswith("key must be 1 to 200 letters") else name


@MODEST
@given(name=st.text(max_size=250))
def test_any_text_is_either_a_printable_name_or_refused(name: str) -> None:
    """SPEC S2: never another error, and what is accepted can stand in a log, a key and a path."""
    printable = name.isprintable() and name == name.strip() and 1 <= len(name) <= 200

    assert accepted(name) in {None, name}
    assert printable or accepted(name) is None


@pytest.mark.parametrize(
    "reference",
    [
        "a",
        "<CAF+9d=x@mail.example>",
        "https://a.example/b?c=d&e=%20#f",
        "call_9;\"quoted\" 'too' \\ {x} (1), [2]!",
        "name|with|bars",
        "メッセージ 7",
        "x" * 500,
    ],
)
def test_a_reference_into_another_system_is_any_printable_text(reference: str) -> None:
    """SPEC M4: message and call ids are of others' making, and come back as they were given."""
    assert checked_reference(reference, field="source.id") == reference


@pytest.mark.parametrize(
    "reference",
    [
        "",
        " ",
        " a",
        "a ",
        "a\n",
        "a\tb",
        "a\x00b",
        "a\x1b[2Jb",
        "a\u2028b",
        "a\u200bb",
        "a\u202eb",
        "a\u00a0b",
        "a\ud800",
        "x" * 501,
    ],
)
def test_a_reference_that_does_not_print_is_refused_and_the_field_is_named(reference: str) -> None:
    """SPEC S2: nor does it begin or end with a space, or go on for ever; it is not quoted."""
    with pytest.raises(InvalidRequest) as caught:
        checked_reference(reference, field="source.id")

    assert caught.value.field == "source.id"
    assert caught.value.message == "source.id must be 1 to 500 printable characters without spaces around"


@MODEST
@given(name=st.text("ab |-.é名", max_size=12))
def test_whatever_may_serve_as_a_name_may_serve_as_a_reference(name: str) -> None:
    """SPEC M4: an id of our own can be the source of something."""
    if accepted(name) is not None:
        assert checked_reference(name, field="source.id") == name


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(tier=Tier.TASK, id="t"), [("task", "t")]),
        (Scope(tier=Tier.TASK, id="t", session="s"), [("task", "t"), ("session", "s")]),
        (
            Scope(tier=Tier.TASK, id="t", session="s", user="u"),
            [("task", "t"), ("session", "s"), ("user", "u")],
        ),
        (Scope(tier=Tier.TASK, id="t", user="u"), [("task", "t"), ("user", "u")]),
        (Scope(tier=Tier.SESSION, id="s", user="u"), [("session", "s"), ("user", "u")]),
        (Scope(tier=Tier.SESSION, id="s", session="other"), [("session", "s")]),
        (Scope(tier=Tier.USER, id="u"), [("user", "u")]),
        (Scope(tier=Tier.USER, id="u", user="other"), [("user", "u")]),
    ],
)
def test_a_scope_looks_outward_innermost_first(scope: Scope, expected: list[tuple[str, str]]) -> None:
    """SPEC F3: a read at an inner scope resolves keys outward."""
    assert expected == list(places(scope, None, Tier))


def test_a_scope_never_looks_inward() -> None:
    """SPEC F3: a session lies inside a user's scope, so a read at the user's scope does not reach into it."""
    assert list(places(Scope(tier=Tier.USER, id="u", session="s"), None, Tier)) == [("user", "u")]


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [(None, None), ((), None), (("a",), "a"), (("a", "b"), None), (frozenset({"b"}), "b")],
)
def test_only_one_granted_value_can_stand_for_what_was_left_out(
    allowed: tuple[str, ...] | None, expected: str | None
) -> None:
    """SPEC A2: nothing is guessed among several."""
    assert expected == only(allowed)
