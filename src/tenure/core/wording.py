"""The one analyser, for what is indexed and for what is asked. Pure.

It is bounded: any text, however long or odd, gives an answer and never an error, in time that grows with the
text. A change to `analyse` changes what every stored text is found by, so it needs a new `_VERSION`: a store
whose word index was made by another analyser than `analyser` names makes it anew.
"""

import re
import threading
import unicodedata
from enum import StrEnum
from typing import Final

import Stemmer

TERM_CHARACTERS_MAX: Final = 64
TERMS_MAX: Final = 2_000
# More text than this cannot add terms that are kept, short of a text made to waste time.
ANALYSED_CHARACTERS_MAX: Final = 32_768
STEMS_KEPT_MAX: Final = 8_192
_VERSION: Final = 2


class Language(StrEnum):
    """In which language words are brought to their stems; words of others are found as they are written."""

    ENGLISH = "english"
    ARABIC = "arabic"
    ARMENIAN = "armenian"
    BASQUE = "basque"
    CATALAN = "catalan"
    DANISH = "danish"
    DUTCH = "dutch"
    FINNISH = "finnish"
    FRENCH = "french"
    GERMAN = "german"
    GREEK = "greek"
    HINDI = "hindi"
    HUNGARIAN = "hungarian"
    INDONESIAN = "indonesian"
    IRISH = "irish"
    ITALIAN = "italian"
    LITHUANIAN = "lithuanian"
    NEPALI = "nepali"
    NORWEGIAN = "norwegian"
    PORTUGUESE = "portuguese"
    ROMANIAN = "romanian"
    RUSSIAN = "russian"
    SERBIAN = "serbian"
    SPANISH = "spanish"
    SWEDISH = "swedish"
    TAMIL = "tamil"
    TURKISH = "turkish"
    YIDDISH = "yiddish"
    NONE = "none"


# Words that stand in nearly every text and so find nothing.
_STOPS: Final = (
    "a about am an and any are as at be been being but by can did do does doing for from had has have"
    " having he her him his how i if in into is it its itself me my of on or our she so than that the"
    " their them then there these they this those to too us was we were what when where which who whom why"
    " will with would you your i'm i've i'd i'll you're you've you'll he's she's it's we're we've we'll"
    " they're they've that's there's don't doesn't didn't isn't aren't wasn't weren't won't can't"
)
_STOP_WORDS: Final = frozenset(_STOPS.split())
_NO_STOP_WORDS: Final[frozenset[str]] = frozenset()

# Scripts written without spaces between words, whose words are found by pairs of characters.
_UNSPACED_RANGES: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17dd"  # Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"  # Hangul
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
# Of these, the characters that are often a word alone: Han, and whole syllables of Hangul.
_LONE_RANGES: Final = "\uac00-\ud7a3\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Marks that belong to the letter before them but are not letters themselves.
_MARK_RANGES: Final = (
    "\u0300-\u036f"  # accents that have no composed form
    "\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u06d6-\u06ed"  # Hebrew and Arabic points
    "\u0730-\u074a\u07a6-\u07b0"  # Syriac, Thaana
    "\u0900-\u0963\u0966-\u0dff"  # the scripts of India
    "\u0f71-\u0f84"  # Tibetan
)
# What many write and many leave out: accents, points of Hebrew and Arabic, the stretching of Arabic.
_OPTIONAL_RANGES: Final = "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670"
# What shows nothing: joiners, zero-width spaces, soft hyphens, marks of direction, variants, tags.
_INVISIBLE_RANGES: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
# The zeros of scripts with digits of their own: each is followed by its other nine.
_ZEROS: Final = (
    "\u0660\u06f0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u0f20\u1040\u17e0"
)
# What joins the parts of an identifier, a path, an address, a number or a hyphenated word.
_JOINT: Final = r"(?:://|::|[.@:/\\#&=%~+'-]|(?<=[0-9]),(?=[0-9]))"
# What ends the name of a language such as C++ or C#.
_SHARP: Final = r"(?:\+\+|#(?!\w))?"

# Outside what is written with Latin, Greek, Cyrillic or Armenian letters and the usual marks between them.
_BEYOND: Final = re.compile("[^\u0000-\u00ac\u00ae-\u034e\u0350-\u058f\u2010-\u2027]")
_INVISIBLE: Final = re.compile(f"[{_INVISIBLE_RANGES}]+")
_OPTIONAL: Final = re.compile(f"[{_OPTIONAL_RANGES}]+")
_UNSPACED_RUN: Final = re.compile(f"[{_UNSPACED_RANGES}]+")
_LONE: Final = re.compile(f"[{_LONE_RANGES}]")
# Flags are two letters; a tone of skin is left out, so that a thumb finds every thumb.
_FAR_RUN: Final = re.compile("[\u0e00-\u1fff\u2300-\U0010ffff]+")
_UNSPACED_OR_PICTURE: Final = re.compile(
    f"[{_UNSPACED_RANGES}]+|[\U0001f1e6-\U0001f1ff]{{2}}"
    "|[\u2300-\u23ff\u25a0-\u27bf\u2b05-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_FOREIGN_DIGIT: Final = re.compile("[" + "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in _ZEROS) + "]")
_DIGITS: Final = {ord(zero) + value: str(value) for zero in _ZEROS for value in range(10)}
# Most texts have no marks and no such names, and are read by the simpler of two patterns.
_ASCII_WORD: Final = re.compile(rf"[a-z0-9_]+(?:{_JOINT}[a-z0-9_]+)*")
_ASCII_NAME: Final = re.compile(rf"[a-z0-9_]+(?:{_JOINT}[a-z0-9_]+)*{_SHARP}")
_WORD: Final = re.compile(rf"\w+(?:{_JOINT}\w+)*")
_MARKED_WORD: Final = re.compile(rf"[\w{_MARK_RANGES}]+(?:{_JOINT}[\w{_MARK_RANGES}]+)*{_SHARP}")
_MARKED: Final = re.compile(rf"[#{_MARK_RANGES}]|\+\+")
_JOINTS: Final = re.compile(rf"{_JOINT}|_")
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{2,3})+(?:\.[0-9]+)?")
_MEASURED: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([a-z]{1,3})")
_DATED: Final = re.compile(r"((?:19|20|21)[0-9]{2})-(0[1-9]|1[0-2])(?:-([0-3][0-9])(?:t[0-9:.+z-]*)?)?")
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th"})
_HUMP: Final = re.compile("[a-z][A-Z]")
_ASCII_LETTERS: Final = re.compile("[A-Za-z]{3,}")
_HUMPED_PART: Final = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_local: Final = threading.local()


def analyser(language: Language) -> str:
    """What a word index was made by: its name differs whenever the same text may have other terms."""
    return f"{language}/{_VERSION}/snowball-{Stemmer.version()}"


def analyse(text: str, language: Language = Language.ENGLISH) -> list[str]:
    """The terms by which the text is indexed and asked for, each as often as it stands there, in no order.

    A text of nothing but stop words is found by these.
    """
    text = text[:ANALYSED_CHARACTERS_MAX]
    others: list[str] = []
    if is_plain := text.isascii():
        tokens = (_ASCII_NAME if "++" in text or "#" in text else _ASCII_WORD).findall(text.lower())
    elif _BEYOND.search(text):
        text = _INVISIBLE.sub("", text)
        tokens, others = _taken_in(_folded(text))
    else:
        tokens = _spaced(_folded(text))
    stops = _STOP_WORDS if language is Language.ENGLISH else _NO_STOP_WORDS
    words, wholes = _sorted_out(tokens, stops)
    if _HUMP.search(text):
        words += _humped_parts(text)
    if not words and not wholes and not others:
        words = [token[:TERM_CHARACTERS_MAX] for token in tokens]
    terms = _stems(words, language) + wholes
    if not is_plain:
        terms = [bare for term in terms if (bare := term if term.isascii() else _bare(term))]
    terms += others
    return terms[:TERMS_MAX]


def _folded(text: str) -> str:
    """One spelling for width, case and form; made normal again, since folding a case may undo that."""
    normal = unicodedata.normalize("NFKC", text)[:ANALYSED_CHARACTERS_MAX]
    return unicodedata.normalize("NFKC", normal.casefold()).replace("’", "'")


def _spaced(folded: str) -> list[str]:
    """The words of a text that are parted by spaces, with their joints."""
    words: list[str] = (_MARKED_WORD if _MARKED.search(folded) else _WORD).findall(folded)
    return words


def _sorted_out(tokens: list[str], stops: frozenset[str]) -> tuple[list[str], list[str]]:
    """The words that are to be stemmed, and what is found as it is written."""
    told = [token for token in tokens if token not in stops]
    if "".join(told).isalpha():
        return [token[:TERM_CHARACTERS_MAX] for token in told], []
    words, wholes = [token[:TERM_CHARACTERS_MAX] for token in told if token.isalpha()], []
    for token in told:
        if not token.isalpha():
            whole, parts = _taken_apart(token, stops)
            wholes += whole
            words += parts
    return words, wholes


def _taken_in(folded: str) -> tuple[list[str], list[str]]:
    """The words of a text that are parted by spaces; and the terms of what is not, and of pictures."""
    if _FOREIGN_DIGIT.search(folded):
        folded = folded.translate(_DIGITS)
    found = _UNSPACED_OR_PICTURE.findall(" ".join(_FAR_RUN.findall(folded)))
    runs = [run for run in found if _UNSPACED_RUN.match(run)]
    if not runs:
        return _spaced(folded), found
    pairs = [run[at : at + 2] for run in runs for at in range(len(run) - 1)]
    # A lone character is asked for as such, and has to be found in the middle of a run.
    singles = [run for run in runs if len(run) == 1 and not _LONE.match(run)]
    singles += _LONE.findall(folded)
    pictures = [picture for picture in found if not _UNSPACED_RUN.match(picture)]
    return _spaced(_UNSPACED_RUN.sub(" ", folded)), pairs + singles + pictures


def _taken_apart(token: str, stops: frozenset[str]) -> tuple[list[str], list[str]]:
    """What a token with joints or digits in it is found by: itself whole, and the words in it."""
    token = token.removesuffix("'s")
    if token[:1].isdigit() and (figures := _figures_apart(token)) is not None:
        return figures
    parts = [part[:TERM_CHARACTERS_MAX] for part in _JOINTS.split(token) if part]
    if len(parts) == 1:
        return ([token[:TERM_CHARACTERS_MAX]] if token.endswith(("+", "#")) else []), parts
    words = [part for part in parts if part not in stops]
    if "-" in token and token.replace("-", "").isalpha():
        # Some write e-mail, some email: the joined word finds both.
        return [], ["".join(parts)[:TERM_CHARACTERS_MAX], *words]
    return ([token.strip("_")[:TERM_CHARACTERS_MAX]] if parts else []), words


def _figures_apart(token: str) -> tuple[list[str], list[str]] | None:
    """A number, a measure, a date: 2,000 is found as 2000, 8th as 8, a date by its month and year too."""
    if (dated := _DATED.fullmatch(token)) is not None:
        year, month, day = dated.groups()
        return ([f"{year}-{month}-{day}"] if day else []) + [f"{year}-{month}"], [year]
    if _GROUPED.fullmatch(token):
        plain = token.replace(",", "")
        return [], list(dict.fromkeys([plain, plain.partition(".")[0]]))
    if (measured := _MEASURED.fullmatch(token)) is not None:
        number, unit = measured.groups()
        return ([], [number]) if unit in _ORDINALS else ([token[:TERM_CHARACTERS_MAX]], [number, unit])
    return None


def _humped_parts(text: str) -> list[str]:
    """The words inside names like parseRequest; the whole name is a token of its own."""
    return [
        part.lower()[:TERM_CHARACTERS_MAX]
        for word in _ASCII_LETTERS.findall(text)
        if _HUMP.search(word)
        for part in _HUMPED_PART.findall(word)
    ]


def _bare(term: str) -> str:
    """The term without what many leave out: café and cafe find each other."""
    return unicodedata.normalize("NFC", _OPTIONAL.sub("", unicodedata.normalize("NFD", term)))


def _stems(words: list[str], language: Language) -> list[str]:
    """The stems of words, by the stemmer of this thread: one may not be shared between threads."""
    if language is Language.NONE:
        return words
    stemmers: dict[str, Stemmer.Stemmer] | None = getattr(_local, "stemmers", None)
    if stemmers is None:
        stemmers = _local.stemmers = {}
    stemmer = stemmers.get(language)
    if stemmer is None:
        stemmer = stemmers[language] = Stemmer.Stemmer(language, STEMS_KEPT_MAX)
    stems: list[str] = stemmer.stemWords(words)
    return stems
