"""The one analyser: what finds what, and that no text breaks it or keeps it long."""

import threading
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.wording import (
    ANALYSED_CHARACTERS_MAX,
    TERM_CHARACTERS_MAX,
    TERMS_MAX,
    Language,
    analyse,
    analyser,
)

ANY_TEXT = st.text(alphabet=st.characters(), max_size=400)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("Prefers window seats", ["prefer", "window", "seat"]),
        ("Kim's meetings aren't long", ["kim", "meet", "long"]),
        ("Kim\u2019s meeting", ["kim", "meet"]),
        ("\uff26\uff55\uff4c\uff4c WIDTH \ufb01nish", ["full", "width", "finish"]),
        ("2,000 units in 2024", ["2000", "unit", "2024"]),
        ("caf\u00e9 Z\u00fcrich", ["cafe", "zurich"]),
        ("naïve ignoring", ["naiv", "ignor"]),
        ("STRASSE Stra\u00dfe", ["strass", "strass"]),
        ("\u0391\u03a3 \u03b1\u03c2", ["\u03b1\u03c3", "\u03b1\u03c3"]),
        ("ze\u200bro wi\u00addth \u202eleft", ["zero", "width", "left"]),
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
        ("2031-05-04", {"2031-05-04", "2031-05", "2031"}),
        ("2031-05-04T10:30:00Z", {"2031-05-04", "2031-05", "2031"}),
        ("2031-13", {"2031-13", "2031", "13"}),
        ("1,234,567.50", {"1234567.50", "1234567"}),
        ("1,2,3", {"1,2,3", "1", "2", "3"}),
        ("8th", {"8"}),
        ("5GB", {"5gb", "5", "gb"}),
        ("3.5kg", {"3.5kg", "3.5", "kg"}),
        ("C++ and C#", {"c++", "c#", "c"}),
        ("#topic @kim", {"topic", "kim"}),
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
        ("東京駅", ["東京", "京駅", "東", "京", "駅"]),
        ("猫", ["猫"]),
        ("ﾃﾞｰﾀ", ["デー", "ータ"]),
        ("한국어 말", ["한국", "국어", "한", "국", "어", "말"]),
        ("ไทย", ["ไท", "ทย"]),
        ("iPhoneを買う", ["phone", "i", "iphon", "を買", "買う", "買"]),
        ("\U00020000\U00020001", ["\U00020000\U00020001", "\U00020000", "\U00020001"]),
    ],
)
def test_scripts_without_spaces_are_found_by_pairs(text: str, terms: list[str]) -> None:
    """SPEC R2: every two neighbours; characters that are words alone stand for themselves, too."""
    assert sorted(set(analyse(text)) - {"i"}) == sorted(set(terms) - {"i"})


def test_marks_stay_with_their_letters() -> None:
    """Vowel signs do not tear a word apart."""
    assert analyse("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("猫", "黒い猫が好きです"),
        ("물", "물을 마셔요"),
        ("cafe", "Café"),
        ("Zurich", "Zu\u0308rich"),
        ("كتاب", "كِتَاب"),
        ("שלום", "שָׁלוֹם"),
        ("2023", "٢٠٢٣"),
        ("2023", "२०२३"),
        ("\N{BANANA}", "A \N{BANANA} a day"),
        ("\N{THUMBS UP SIGN}", "yes \N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-5}"),
        ("\N{HEAVY BLACK HEART}", "love \N{HEAVY BLACK HEART}\ufe0f"),
        ("\U0001f1eb\U0001f1f7", "moved to \U0001f1eb\U0001f1f7 and \U0001f1e9\U0001f1ea"),
        ("\uff46\uff55\uff4c\uff4c \uff57\uff49\uff44\uff54\uff48", "full width"),
        ("e\u200bmail", "e-mail"),
        ("8th of May", "8 May"),
        ("who is it", "Who is it?"),
    ],
)
def test_what_is_asked_in_another_spelling_is_found(asked: str, written: str) -> None:
    """SPEC R2: all scripts; accents, points, widths, digits, pictures and what shows nothing."""
    assert set(analyse(asked)) & set(analyse(written))


def test_flags_are_told_apart() -> None:
    """Two letters make a flag; one of them alone says nothing."""
    france, germany = "\U0001f1eb\U0001f1f7", "\U0001f1e9\U0001f1ea"

    assert analyse(france + germany) == [france, germany]
    assert not set(analyse(france)) & set(analyse(germany))


@pytest.mark.parametrize("text", ["The of and it", "who is it?", "To be or not to be", "was"])
def test_nothing_but_stop_words_is_found_by_them(text: str) -> None:
    """SPEC R2: a question of such words is a question."""
    assert analyse(text)


def test_the_language_decides_over_stems_and_stop_words() -> None:
    """SPEC R2: the configured language; without one, words are found as they are written."""
    text = "die Häuser were running"

    assert analyse(text, Language.ENGLISH) == ["die", "hauser", "run"]
    assert analyse(text, Language.GERMAN) == ["die", "haus", "wer", "running"]
    assert analyse(text, Language.NONE) == ["die", "hauser", "were", "running"]
    assert analyse("les éléphants", Language.FRENCH) == ["le", "eleph"]


@pytest.mark.parametrize("language", Language)
def test_every_language_has_a_stemmer_and_a_name_of_its_own(language: Language) -> None:
    """A store opened with another language sees by the name that its words have to be made anew."""
    assert analyse("meetings 会議 2031", language)
    assert [one for one in Language if analyser(one) == analyser(language)] == [language]


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


@pytest.mark.parametrize(
    "text",
    [
        "a" * 32_000 + " aB",
        "aB" * 16_000,
        "a." * 16_000,
        "1," * 16_000,
        "\u0300" * 10**6,
        "\ufdfa" * 10**6,
        "a中" * 16_000,
        "\N{BANANA}" * 10**6,
        "+" * 10**6,
        "'s" * 500_000,
    ],
    ids=[
        "letters",
        "humps",
        "dots",
        "commas",
        "marks",
        "ligatures",
        "scripts",
        "pictures",
        "pluses",
        "quotes",
    ],
)
def test_no_text_is_made_to_waste_time(text: str) -> None:
    """Attack: a text whose analysis takes time that grows faster than the text."""
    begun = process_time()

    terms = analyse(text)

    assert len(terms) <= TERMS_MAX
    assert process_time() - begun < 2


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
