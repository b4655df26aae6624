"""Check digits tell real numbers from other rows of digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.scanning.checksums import is_coin_address, is_iban, is_payment_card

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)


@pytest.mark.parametrize(
    "text", ["DE89 3704 0044 0532 0130 00", "gb29nwbk60161331926819", "NO93 8601 1117 947"]
)
def test_an_iban_with_its_check_digits_is_one(text: str) -> None:
    """SPEC L4: examples of the standard, with and without blanks."""
    assert is_iban(text)


@pytest.mark.parametrize("text", ["DE88 3704 0044 0532 0130 00", "DE89", "", "D" * 40, "\u0661\u0662" * 10])
def test_any_other_row_is_no_iban(text: str) -> None:
    """SPEC L4: one wrong digit is enough."""
    assert not is_iban(text)


@pytest.mark.parametrize(
    "text",
    ["4111 1111 1111 1111", "5555555555554444", "378282246310005", "6011-1111-1111-1117", "2223003122003222"],
)
def test_a_card_number_with_its_check_digit_is_one(text: str) -> None:
    """SPEC L4: the test numbers of the networks."""
    assert is_payment_card(text)


@pytest.mark.parametrize(
    "text", ["4111 1111 1111 1112", "1234567812345670", "5011111111111110", "0" * 16, "", "4"]
)
def test_any_other_row_is_no_card(text: str) -> None:
    """SPEC L4: a wrong check digit, or first digits that no network issues."""
    assert not is_payment_card(text)


def test_a_coin_address_with_its_check_octets_is_one() -> None:
    """SPEC L4: the first address ever paid, and the same with one letter changed."""
    assert is_coin_address("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")
    assert not is_coin_address("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb")
    assert not is_coin_address("1" + "z" * 60)


@MODEST
@given(ANY_TEXT)
def test_no_text_breaks_a_check(text: str) -> None:
    """SPEC L5: a check answers yes or no."""
    assert is_iban(text) in {True, False}
    assert is_payment_card(text) in {True, False}
    assert is_coin_address(text) in {True, False}
