"""The one analyser and the token estimate: what finds what, and that no text breaks either."""

import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.wording import (
    ANALYSED_CHARACTERS_MAX,
    TERM_CHARACTERS_MAX,
    TERMS_MAX,
    TOKEN_RESERVE,
    analyse,
    estimate_tokens,
)

ANY_TEXT = st.text(alphabet=st.characters(), max_size=400)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("The of and it", []),
        ("Prefers window seats", ["prefer", "window", "seat"]),
        ("Kim's meetings aren't long", ["kim", "meet", "long"]),
        ("Kim\u2019s meeting", ["kim", "meet"]),
        ("\uff26\uff55\uff4c\uff4c WIDTH \ufb01nish", ["full", "width", "finish"]),
        ("2,000 units in 2024", ["2000", "unit", "2024"]),
        ("caf\u00e9 Z\u00fcrich", ["caf\u00e9", "z\u00fcrich"]),
        ("naïve ignoring", ["naïv", "ignor"]),
    ],
)
def test_words_are_folded_stemmed_and_freed_of_stop_words(text: str, terms: list[str]) -> None:
    """SPEC R2: what is asked and what is written meet in the same terms."""
    assert sorted(analyse(text)) == sorted(terms)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("kim@mail.example.org", {"kim@mail.example.org", "kim", "mail", "exampl", "org"}),
        ("/etc/nginx/nginx.conf", {"etc/nginx/nginx.conf", "etc", "nginx", "conf"}),
        ("api.example.org:8443", {"api.example.org:8443", "api", "exampl", "org", "8443"}),
        ("deploy_service", {"deploy_service", "deploy", "servic"}),
        ("https://example.org/a", {"https://example.org/a", "https", "exampl", "org"}),
        ("std::vector", {"std::vector", "std", "vector"}),
        ("parseHttpRequest", {"parsehttprequest", "pars", "http", "request"}),
        ("2031-05-04", {"2031-05-04", "2031", "05", "04"}),
        ("e-mail", {"email", "e", "mail"}),
        ("10.0.0.1", {"10.0.0.1", "10", "0", "1"}),
        ("__init__", {"init"}),
    ],
)
def test_names_are_found_whole_and_in_parts(text: str, terms: set[str]) -> None:
    """SPEC R2: identifiers, paths, addresses, hosts, dates."""
    assert set(analyse(text)) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("東京駅", ["東京", "京駅"]),
        ("猫", ["猫"]),
        ("ﾃﾞｰﾀ", ["デー", "ータ"]),
        ("한국어 말", ["한국", "국어", "말"]),
        ("ไทย", ["ไท", "ทย"]),
        ("iPhoneを買う", ["phone", "i", "iphon", "を買", "買う"]),
        ("\U00020000\U00020001", ["\U00020000\U00020001"]),
    ],
)
def test_scripts_without_spaces_are_found_by_pairs(text: str, terms: list[str]) -> None:
    """SPEC R2: every two neighbours; a lone character stands for itself."""
    assert sorted(set(analyse(text)) - {"i"}) == sorted(set(terms) - {"i"})


def test_marks_stay_with_their_letters() -> None:
    """Vowel signs do not tear a word apart."""
    assert analyse("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_a_question_meets_what_it_asks_for() -> None:
    """SPEC R2: one analyser on both sides."""
    written = set(analyse("The nightly e-mails are sent by mail-worker.example.org at 02:30."))

    assert set(analyse("which worker sends nightly email?")) & written >= {"worker", "night", "email"}


@MODEST
@given(ANY_TEXT)
def test_any_text_gives_bounded_terms(text: str) -> None:
    """Lone surrogates, marks and unassigned characters included."""
    terms = analyse(text)

    assert len(terms) <= TERMS_MAX
    assert all(0 < len(term) <= TERM_CHARACTERS_MAX for term in terms)
    assert all(not any(character.isspace() for character in term) for term in terms)


@MODEST
@given(ANY_TEXT)
def test_the_same_text_gives_the_same_terms(text: str) -> None:
    """A rebuild finds what was found before."""
    assert analyse(text) == analyse(text)


@MODEST
@given(st.text(alphabet="abcdefghijk XYZ", max_size=80))
def test_case_does_not_matter_to_whole_words(text: str) -> None:
    """SPEC R2: terms in capitals are the same terms."""
    assert analyse(text.lower()) == analyse(text.upper())


def test_long_words_and_long_texts_are_cut() -> None:
    """No text makes an index grow without end."""
    assert analyse("a1" * 500) == [("a1" * 500)[:TERM_CHARACTERS_MAX]]
    assert len(analyse("word " * ANALYSED_CHARACTERS_MAX)) == TERMS_MAX
    assert len(analyse("." * 10**6)) == 0


def test_many_threads_analyse_at_once() -> None:
    """Each thread has a stemmer of its own."""
    text = "Running engines were constantly generating surprisingly many relational hypotheses"
    expected = analyse(text)
    wrong: list[list[str]] = []

    def work() -> None:
        wrong.extend(terms for _ in range(300) if (terms := analyse(text)) != expected)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("", 0),
        ("one", 1),
        ("Prefers short answers.", 4),
        ("猫が好きです", 6),
        ("Hello, world!", 4),
        ("1234567", 3),
    ],
)
def test_tokens_are_counted_as_models_count_them(text: str, counted: int) -> None:
    """SPEC R4: an estimate with a reserve of a tenth."""
    assert estimate_tokens(text) == math.ceil(counted * TOKEN_RESERVE)


@MODEST
@given(ANY_TEXT, ANY_TEXT)
def test_a_longer_text_never_counts_much_less(first: str, second: str) -> None:
    """SPEC R4: adding text does not free budget, save for the tokens that join at the seam."""
    assert estimate_tokens(first + second) >= estimate_tokens(first) - 3


@MODEST
@given(ANY_TEXT)
def test_any_text_has_an_estimate(text: str) -> None:
    """SPEC R4: never an error, never less than nothing, never more than a few tokens a character."""
    assert 0 <= estimate_tokens(text) <= 3 * len(text) + 1
