"""The token estimate: it errs high, and no text breaks it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.token_estimate import (
    RESERVE,
    RESERVE_OF_OTHER_WORDS,
    RESERVE_OF_WIDE,
    estimate_tokens,
)

ANY_TEXT = st.text(alphabet=st.characters(), max_size=400)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("", 0),
        ("one", 1),
        ("Prefers short answers.", 4),
        ("Hello, world!", 4),
        ("1234567", 3),
    ],
)
def test_tokens_are_counted_as_models_count_them(text: str, counted: int) -> None:
    """SPEC R4: an estimate with a reserve of a tenth."""
    assert estimate_tokens(text) == math.ceil(counted * RESERVE)


@pytest.mark.parametrize(
    ("text", "pieces", "reserve"),
    [
        ("He said that the meeting is in the afternoon and ends late.", 13, RESERVE),
        ("for (index = 0; index < size_bytes; index += step_size) { total = add(total); }", 27, RESERVE),
        ("Ich habe gestern einen langen Brief an meinen Bruder geschrieben.", 11, RESERVE_OF_OTHER_WORDS),
        ("Saya sedang membaca buku di perpustakaan bersama teman lama.", 11, RESERVE_OF_OTHER_WORDS),
        ("Prefers window seats", 3, RESERVE),
    ],
)
def test_words_of_other_languages_are_reserved_more(text: str, pieces: int, reserve: float) -> None:
    """SPEC R4: a vocabulary has few of their words whole; code has no words of either."""
    assert estimate_tokens(text) == math.ceil(pieces * reserve)


@pytest.mark.parametrize(("text", "characters"), [("猫が好きです", 6), ("한국어", 3), ("हिन्दी", 6)])
def test_a_character_of_a_wide_script_is_a_token_with_its_reserve(text: str, characters: int) -> None:
    """SPEC R4: characters by four would come to a third of what is true."""
    assert estimate_tokens(text) == math.ceil(characters * RESERVE_OF_WIDE)


@MODEST
@given(ANY_TEXT)
def test_any_text_has_an_estimate(text: str) -> None:
    """SPEC R4: never an error, never less than nothing, never more than a few tokens a character."""
    assert 0 <= estimate_tokens(text) <= 3 * len(text) + 1
