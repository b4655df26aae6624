"""Ways of writing a whole text so that a reader can still make it out, undone.

Letters exchanged or turned round, digits for letters, letters set apart, a sentence cut into variables. Each
way has a cheap look that ordinary text does not pass: words that only the rewritten text would have.
"""

import re
from collections.abc import Iterator

from tenure.core.scanning.normalising import START_CHARACTERS, Form, Piece, View, view_of

# Common words, and those an instruction needs; two of them, rewritten, give a cipher away.
_TELLING = (
    "the you your all with from that this when will have should must never always only every please before"
    " after into about without ignore disregard forget override bypass previous prior earlier above"
    " instructions instruction rules guidelines directives restrictions reveal show print send forward share"
    " repeat system prompt prompts password passwords credentials secret secrets token tokens keys user users"
    " assistant model conversation conversations memory remember approve approval payment payments transfer"
    " account external server admin access data files file execute delete disable security safety follow"
    " following respond answer include message messages note instead hidden word words email upload tool call"
)
_TELLING_MIN = 2
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def _exchange(letters: str) -> dict[int, int]:
    """The table that puts these letters in the place of the alphabet's, in both cases."""
    return str.maketrans(_ALPHABET + _ALPHABET.upper(), letters + letters.upper())


_HALF_TURN = _exchange(_ALPHABET[13:] + _ALPHABET[:13])
_MIRRORED = _exchange(_ALPHABET[::-1])


def _starts(words: list[str]) -> frozenset[str]:
    return frozenset(word[:START_CHARACTERS] for word in words)


_ORDINARY = _starts(_TELLING.split())
_HALF_TURN_STARTS = _starts([word.translate(_HALF_TURN) for word in _TELLING.split()]) - _ORDINARY
_MIRRORED_STARTS = _starts([word.translate(_MIRRORED) for word in _TELLING.split()]) - _ORDINARY
_BACKWARDS_STARTS = _starts([word[::-1] for word in _TELLING.split()]) - _ORDINARY
# A text that says which cipher it is written in is taken at its word.
_NAMES = _starts(["rot13", "caesar"])
_CIPHERED = _HALF_TURN_STARTS | _MIRRORED_STARTS | _BACKWARDS_STARTS

# Digits and signs that stand for a letter. One, a stroke and an exclamation mark stand for two: see below.
_SPELLED = str.maketrans("0134567890@$!|+\u20ac", "oieasgtbgoasiite")
_TOKEN = re.compile(r"[^\s\"'`.,;:?()\[\]{}<>=*/\\&#-]+")
_IN_A_WORD = re.compile(r"[a-z][0-9@$!|+\u20ac]{1,3}[a-z]|(?<![a-z0-9@.$])[0-9@$|+\u20ac!]{1,2}[a-z]{2}")
_HEXADECIMAL = re.compile("[0-9a-fx]+")
_SPELLED_WORDS_MIN = 2
_TOKEN_CHARACTERS_MAX = 24
_SPELLED_SHARE_MIN = 0.3
# Words with an l: what stands for it stands for an i as well, and only a known word tells which it is.
_WITH_L = (
    "all tell will rule rules reveal guideline guidelines policy policies disable disabled delete file files"
    " role roles roleplay follow following allow allowed always only already credential credentials email"
    " emails validate validation level protocol protocols illegal harmful ethical filter filters filtering"
    " limit limits limited limitation limitations unlimited help helpful model language developer tool tools"
    " call execute title play like let lets leak unlock url link initial initially original confidential"
    " internal external total full fully simply reply list line lines below clear sql html shell eval payload"
    " jailbreak global approval control controls include included alert tell would could should able"
    " available public personal normal world last long longer old telling child value values vulnerability"
    " malicious legal moral temporarily label silent silently secretly feel left less lying false ill html"
    " html5 clipboard clean conversational special small still until while whole deliver display translate"
    " explain example else also explicit explicitly possible supplier wallet billing balance bill details"
    " detail privilege privileges local locally later latest log logs login load download upload compliance"
    " earlier told recall people plain cancel sell salary employee employees collect delay dollars finally"
    " comply replace helpfully unfiltered celebrity fail failed impossible loop lower really actually"
)
_ONE_FOR_TWO = str.maketrans("l", "i")
_BY_SHAPE = {word.translate(_ONE_FOR_TWO): word for word in _WITH_L.split()}
_SIGNS = ("@", "$", "|", "+", "\u20ac", "!", "\u03b9")
_ENDING_SIGNS = "!|+"

_LETTERS_APART = re.compile(
    r"(?<![^\W_])[^\W_](?:([ ._*|~\u00b7-])[^\W_](?![^\W_]))(?:\1{1,4}[^\W_](?![^\W_]))+"
)
_LETTERS_MIN = 3
_LETTERS = frozenset(_ALPHABET + "0123456789")

_CUT = re.compile(
    r"(?:\b\w{1,24}\s{0,4}(?::=|=)|\+|\b(?:part|half|piece|fragment|chunk|step"
    r"|token)\b[^'\"`\n]{0,12})\s{0,4}"
    r"(?:'([^'\n]{1,400})'|\"([^\"\n]{1,400})\"|`([^`\n]{1,400})`)",
    re.IGNORECASE,
)
_PART_STARTS = _starts(["part", "half", "piece", "fragment", "chunk", "step", "token"])
_QUOTES_MIN = 4
_CUTS_MIN = 2


def same_length(view: View, text: str) -> View:
    """The view that shows this text, each character of which stands for the one in its place below."""
    return _whole(view, text, decoded=False)


def _whole(view: View, text: str, *, decoded: bool) -> View:
    piece = Piece(start=0, end=len(text), below_start=0, below_end=len(view.text), decoded=decoded)
    return view_of(view.content, text, form=Form.DECODED, below=view, pieces=(piece,))


def rewritten(view: View) -> Iterator[View]:
    """The view with its cipher undone, and its variables put together."""
    told = view.starts & _CIPHERED
    is_named = not view.starts.isdisjoint(_NAMES)
    if len(told) >= _TELLING_MIN or is_named:
        if is_named or len(told & _HALF_TURN_STARTS) >= _TELLING_MIN:
            yield same_length(view, view.text.translate(_HALF_TURN))
        if len(told & _MIRRORED_STARTS) >= _TELLING_MIN:
            yield same_length(view, view.text.translate(_MIRRORED))
        if len(told & _BACKWARDS_STARTS) >= _TELLING_MIN:
            yield _whole(view, view.text[::-1], decoded=True)
    text = view.text
    if _may_be_cut(view):
        parts = [match[match.lastindex or 0] for match in _CUT.finditer(text)]
        if len(parts) >= _CUTS_MIN:
            yield _whole(view, f"{''.join(parts)}\n{' '.join(parts)}", decoded=True)


def _may_be_cut(view: View) -> bool:
    """Whether there are two quotations, and something that may name or add them."""
    text = view.text
    if text.count("'") + text.count('"') + text.count("`") < _QUOTES_MIN:
        return False
    return "=" in text or "+" in text or not view.starts.isdisjoint(_PART_STARTS)


def joined_letters(view: View) -> Iterator[tuple[int, int, str]]:
    """Each row of letters that stand apart, and the words that they make: a wider gap parts two words."""
    if len(view.starts & _LETTERS) < _LETTERS_MIN:
        return
    for match in _LETTERS_APART.finditer(view.text):
        words = re.split(f"{re.escape(match[1])}{{2,}}", match[0])
        yield match.start(), match.end(), " ".join(word.replace(match[1], "") for word in words)


def _may_be_spelled(view: View) -> bool:
    """Whether there is a word with a digit in it, or a sign that may stand for a letter."""
    text = view.text
    if any(sign in text for sign in _SIGNS):
        return True
    return not all(start.isalpha() or start.isdigit() for start in view.starts)


def unspelled(view: View) -> str | None:
    """The text with letters for the digits and signs that stand for them, or None when there are too few."""
    if not _may_be_spelled(view):
        return None
    tokens = _TOKEN.findall(view.folded)
    spelled = sum(_is_spelled(token) for token in tokens)
    if spelled < _SPELLED_WORDS_MIN and "\u03b9" not in view.content:
        return None
    heavy = spelled >= _SPELLED_SHARE_MIN * len(tokens)
    read = _TOKEN.sub(lambda token: _letters(token[0], heavy=heavy), view.folded)
    return read if read != view.folded else None


def _is_spelled(token: str) -> bool:
    """Whether the token looks like a word with digits or signs for letters, not like a number or a digest."""
    return (
        len(token) <= _TOKEN_CHARACTERS_MAX
        and _IN_A_WORD.search(token) is not None
        and _HEXADECIMAL.fullmatch(token) is None
    )


def _letters(token: str, *, heavy: bool) -> str:
    """The word that a token stands for."""
    if len(token) > _TOKEN_CHARACTERS_MAX or (token.isalpha() and "i" not in token):
        return token
    if not heavy and not any(map(str.isalpha, token)):
        return token
    core = token.rstrip(_ENDING_SIGNS) if not token[-1:].isalnum() else token
    spelled = core.translate(_SPELLED)
    shape = spelled.translate(_ONE_FOR_TWO)
    return _BY_SHAPE.get(shape, spelled) + token[len(core) :]
