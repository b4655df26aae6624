"""Characters that are not shown: an attack where they hide something, ordinary where a script needs them."""

import pytest

from tenure.core.scanning import FindingKind, scan
from tenure.core.scanning.hidden import RULE


def tags(text: str) -> str:
    """The text in tag characters."""
    return "".join(chr(0xE0000 + ord(character)) for character in text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"Likes tea{tags('and more')}", slice(9, 17)),
        ("total \u202e54321\u202c due", slice(6, 13)),
        ("name \u2066hidden\u2069 end", slice(5, 13)),
        ("smile \U0001f600\ufe01\ufe05\ufe09\ufe02", slice(7, 11)),
        ("pa\u200bss\u200bword", slice(2, 6)),
        ("e\u2060v\u2060ery", slice(1, 4)),
        (f"\U0001f3f4{tags('attack')}\U000e007f", slice(1, 8)),
    ],
)
def test_hidden_characters_are_an_attack(text: str, place: slice) -> None:
    """SPEC L3, scenario 19: refused, whatever they spell."""
    found = [one for one in scan(text) if one.rule == RULE]

    assert [(one.kind, slice(one.start, one.end)) for one in found] == [(FindingKind.ATTACK, place)]


@pytest.mark.parametrize(
    "text",
    [
        "family \U0001f469\u200d\U0001f467 and heart \u2764\ufe0f",
        f"flag \U0001f3f4{tags('gbsct')}\U000e007f of Scotland",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "one web\u200bpage slip",
        "soft\u00adhy\u00adphens from a book",
        "\u05e9\u05dc\u05d5\u05dd \u2067user\u2069 \u202aabc\u202c",
        "\ufeffa file that begins with its mark",
    ],
)
def test_characters_that_a_script_needs_are_ordinary(text: str) -> None:
    """SPEC M5b: joiners in emoji and words, selectors, flags and direction beside right-to-left letters."""
    assert scan(text) == ()


def test_reordering_is_an_attack_even_beside_right_to_left_letters() -> None:
    """An override has no use that an embedding would not serve."""
    assert [one.rule for one in scan("\u05e9\u05dc\u05d5\u05dd \u202egnp.exe")] == [RULE]
