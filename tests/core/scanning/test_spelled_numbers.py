"""Account and card numbers in words, and in parts with words between (SPEC L4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.scanning import FindingKind, scan

GERMAN = "DE89370400440532013000"
BRITISH = "GB82WEST12345698765432"
ENGLISH = "zero one two three four five six seven eight nine".split()  # noqa: SIM905 -- one a digit
BETWEEN = (" ", " and then ", " - ", ", followed by ", ". The second half is ", "\nand now ", " ... ")


def rules(text: str) -> set[str]:
    """The rules that find something, all of them for what is sensitive."""
    found = scan(text)
    assert {one.kind for one in found} <= {FindingKind.SENSITIVE}
    return {one.rule for one in found}


@pytest.mark.parametrize(
    "text",
    [
        "Pay to DE eighty-nine 3704 0044 0532 0130 00",
        "It is at DE eighty nine three seven zero four 0044 oh five three two 0130 double zero.",
        "GB eight two WEST one two three four 5698 7654 32, as ever",
        "gb-eighty-two west twelve thirty-four fifty-six ninety-eight 7654 32",
        "FR14 2004 1010 0505 0001 3M02 six zero six",
        "Konto DE neunundachtzig drei sieben null vier 0044 0532 0130 null null",
        "Cuenta ES91 dos uno cero cero 0418 4502 0005 1332",
        "DE89 3704 0044 and then 0532 0130 00",
        "DE89370400 first, and to that 440532013000 is added",
        "Part one: DE89 3704 0044. Part two: 0532 0130 00.",
        "In 12 of 40 cases it is DE89 3704, then 0044 0532, and in the end 0130 00.",
        "BE68 five three nine zero 0754 and last 7034",
    ],
)
def test_an_account_is_found_however_it_is_said(text: str) -> None:
    """SPEC L4: its check digits hold, whoever puts it together."""
    assert "sensitive.iban" in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "The card is four one one one, one one one one, one one one one, one one one one",
        "forty-one eleven, eleven eleven, eleven eleven, eleven eleven",
    ],
)
def test_a_card_is_found_in_words(text: str) -> None:
    """SPEC L4: a card number has a check digit of its own."""
    assert "sensitive.payment-card" in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "The account number is three one nine two six eight one nine",
        "sort code six zero, one six, one three",
        "Kontonummer drei eins neun zwei sechs acht eins neun",
    ],
)
def test_a_number_in_words_that_is_called_an_account_is_one(text: str) -> None:
    """SPEC L4: it has no check digits, so what it is called decides."""
    assert "sensitive.bank-account" in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "Pay to DE eighty-eight 3704 0044 0532 0130 00",
        "DE89 3704 0044 and then 0532 0130 01",
        "Two of the ten came at four, one at six, and three at nine in 2024.",
        "It is 12 degrees, with 3 to 5 at night, 14 at noon and 20241130 in the log of 4711 lines.",
        "No one knew that at 10:30, 11:45, 12:50 and 13:55 the doors of hall 7 were open.",
        "One two three four, one two three four, one two",
        "The account has one entry, two notes and three lines.",
        "Me 12 and be 3456 at 7890 12 or so 34",
        "Order 1200 450 33 of de 12 boxes, 40 pallets and 5 trucks from 2023 to 2024",
    ],
)
def test_ordinary_numbers_are_nothing(text: str) -> None:
    """SPEC L4: a number that is no account of its country is left alone."""
    assert rules(text) == set()


@given(
    number=st.sampled_from([GERMAN, BRITISH]),
    cut=st.integers(8, 18),
    between=st.sampled_from(BETWEEN),
    spoken=st.booleans(),
)
def test_an_account_in_parts_is_found(number: str, cut: int, between: str, spoken: bool) -> None:  # noqa: FBT001 -- drawn
    """SPEC L4: wherever it is cut behind the bank's name, and with digits said one by one."""
    first, second = number[:cut], number[cut:]
    if spoken:
        second = " ".join(ENGLISH[int(one)] for one in second)

    assert "sensitive.iban" in rules(f"Money goes to {first}{between}{second}.")


@given(st.text("0123456789 aedgbn-,.", max_size=300) | st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    """SPEC L5: whatever stands there, scanning answers."""
    assert all(one.kind is not FindingKind.FAILURE for one in scan(text))
