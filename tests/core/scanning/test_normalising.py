"""The views that scanners see: disguises undone, and every place led back to the content as it was given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.scanning.decoding import views_of
from tenure.core.scanning.normalising import Form, fold, plain, view_of

ANY_TEXT = st.text(alphabet=st.characters(), max_size=200)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("plain", "plain"),
        ("\uff46\uff55\uff4c\uff4c width", "full width"),
        ("caf\u00e9 and cafe\u0301", "cafe and cafe"),
        ("\u0441\u0440\u0430\u0441e", "cpace"),
        ("\u03bf\u03bfps", "oops"),
        ("in\u200bvi\u00adsi\ufeffble", "invisible"),
        ("he\u202ello\u202c", "hello"),
        ("hid\U000e0069\U000e0067den", "hidden"),
        ("\u2018quoted\u2019 \u2013 \u201ctwice\u201d", "'quoted' - \"twice\""),
        ("\ufb01ne", "fine"),
        ("\ud55c\uad6d\uc5b4", "\ud55c\uad6d\uc5b4"),
        ("\udc80 alone", "\udc80 alone"),
    ],
)
def test_a_disguise_is_made_plain(written: str, read: str) -> None:
    """SPEC M5b, scenarios 19 and 20: the same verdict as for the plain text."""
    assert plain(written) == read


@MODEST
@given(ANY_TEXT)
def test_the_folded_text_is_as_long_as_the_text(text: str) -> None:
    """A place in one is a place in the other, whatever a character folds to."""
    view = view_of(text, plain(text))

    assert len(view.folded) == len(view.text)


@MODEST
@given(ANY_TEXT)
def test_folding_twice_changes_nothing(text: str) -> None:
    """What is folded stays so."""
    assert fold(fold(text)) == fold(text)


@MODEST
@given(ANY_TEXT, st.data())
def test_every_place_leads_back_into_the_content(text: str, data: st.DataObject) -> None:
    """A finding never points outside the content, in no view."""
    for view in views_of(text):
        start = data.draw(st.integers(0, len(view.text)))
        end = data.draw(st.integers(start, len(view.text)))

        found_start, found_end = view.locator()(start, end)

        assert 0 <= found_start <= found_end <= len(text)


def test_a_place_is_found_in_spite_of_characters_that_are_not_shown() -> None:
    """What was removed or widened before the place is counted."""
    content = "\ufb01rst \u200b\u200bse\u00adcret"
    view = view_of(content, plain(content))
    start = view.text.index("secret")

    found = view.locator()(start, start + len("secret"))

    assert content[slice(*found)] == "se\u00adcret"


def test_a_place_that_cannot_be_led_back_is_the_whole_content() -> None:
    """Letters composed from parts are not told apart."""
    content = "\u1112\u1161\u11ab secret"
    view = view_of(content, plain(content))

    assert view.locator()(0, 1) == (0, len(content))


def test_word_starts_stop_at_any_other_script() -> None:
    """A word beside letters of another script is still seen."""
    assert "ignor" in view_of("\u8bf7ignore", "\u8bf7ignore").starts


def test_a_plain_content_has_one_view() -> None:
    """Ordinary text costs one look."""
    assert [view.form for view in views_of("Nothing is hidden in here.")] == [Form.PLAIN]
