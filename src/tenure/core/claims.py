"""Claims: what a memory says of what, in a form that can be compared (SPEC T2, T3). Pure.

Laws: extraction is the same for the same text everywhere; it takes time that grows with the text; whatever it
is unsure of gives nothing: hedges, questions, conditions, quotations, orders, the past, lists. What is denied
is kept apart from what is said. A claim that does not exclude others (`uses Redis`) says so.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from tenure.core.claim_grammar import (
    ASKING,
    DOUBTING,
    EXCLUSIVE,
    JOINING,
    NAMES,
    NOT_EXCLUDING,
    PASSING,
    PHRASE_WORDS_MAX,
    PHRASES,
    PHRASES_BEGIN,
    PLACES,
    POINTING,
    PRONOUNS,
    PROPERTIES,
    ROLES,
    STOPPING,
    TAKING_BACK,
    UNSURE,
    Phrase,
)
from tenure.core.claim_values import Differs, TypedValue, ValueType, differs, named, normalised
from tenure.core.vocabulary import Claim

READ_CHARACTERS_MAX: Final = 16_384
"""A longer content gives no claims: it is a document, and its end may take back its beginning."""
FOUND_MAX: Final = 32
SENTENCE_WORDS_MIN: Final = 3
SENTENCE_WORDS_MAX: Final = 24
ENTITY_WORDS_MAX: Final = 6
VALUE_WORDS_MAX: Final = 6
FREE_WORDS_MAX: Final = 3
WORD_CHARACTERS_MAX: Final = 256

_END: Final = re.compile(r"[.!?;]+(?=\s|$)|\n")
_ODD: Final = re.compile(r"[\"“”«»<>(){}\[\]|…]|(?<!\w)'|'(?!\w)|```|~~|=>|->")
_SETTING: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.-]{0,127})\s?=\s?(\S{1,256})\s*")
_REGION: Final = re.compile(r"[a-z]{2,8}-[a-z]{2,12}(?:-?[0-9])?")
_POSSESSED: Final = "'s"
_SIZES: Final = frozenset(
    {"s", "g", "metre", "byte", "kb", "mb", "gb", "tb", "kbit", "mbit", "gbit", "year", "month"}
)
_FAVOURITE: Final = ("favourite ", "favorite ", "preferred ")
# Both ports of the web are often served by one and the same.
_COMPANY: Final = frozenset({"80", "443"})


class Found(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A claim that a content makes: of what, which attribute and value, where, and how it is meant.

    `negated`: the content denies it. `is_single`: an entity has one such value at a time, so that another one
    contradicts it.
    """

    entity: str
    attribute: str
    value: TypedValue
    start: int
    end: int
    negated: bool = False
    is_single: bool = True


class _Sentence(NamedTuple):
    start: int
    end: int
    text: str
    mark: str


def thing(entity: str, attribute: str) -> tuple[str, str]:
    """What a claim is about, in one form: `the API's port` is the port of the API, however it is written."""
    of, has = _possessed(entity)
    said = named(attribute)
    if has and said in {"", "is", "value"}:
        return of, has
    return named(entity), said


def value_of(claim: Claim) -> TypedValue:
    """The value of a claim that a caller gave, read with the help of its attribute."""
    return normalised(claim.value, attribute=thing(claim.entity, claim.attribute)[1])


def found_opposed(one: Found, other: Found) -> Differs:
    """Whether two extracted claims contradict: other values of one thing, or one and its denial."""
    if (one.entity, one.attribute) != (other.entity, other.attribute):
        return Differs.NO
    apart = differs(one.value, other.value)
    if one.negated and other.negated:
        return Differs.NO if apart is Differs.NO else Differs.UNKNOWN
    if one.negated != other.negated:
        return Differs.YES if apart is Differs.NO else Differs.UNKNOWN
    if apart is Differs.YES and not (one.is_single and other.is_single):
        return Differs.UNKNOWN
    return apart


def extracted(content: str) -> tuple[Found, ...]:
    """Every claim that the content makes plainly; none where there is any doubt."""
    if len(content) > READ_CHARACTERS_MAX or "```" in content:
        return ()
    found: list[Found] = []
    quoted = False
    for sentence in _sentences(content):
        words = sentence.text.casefold().replace("’", "'").split()
        bare = {word.strip(".,:;!?*_") for word in words}
        if bare & STOPPING or (words and words[-1].endswith(":")):
            return ()
        if _takes_back(words, bare):
            found.clear()
        if not quoted and sentence.mark != "?":
            found.extend(_read(sentence, bare))
        if len(found) > FOUND_MAX:
            return ()
        quoted ^= (sentence.text.count('"') + sentence.text.count("“") + sentence.text.count("”")) % 2 == 1
    return () if quoted else _without_clashes(found)


def _takes_back(words: list[str], bare: set[str]) -> bool:
    """Whether a sentence may be about the ones before it, and deny or doubt them."""
    begins = bool(words) and words[0].strip(",:") in TAKING_BACK
    return begins or bool(bare & POINTING and bare & DOUBTING)


def _without_clashes(found: list[Found]) -> tuple[Found, ...]:
    """What was found, but for what contradicts itself."""
    of: dict[tuple[str, str], list[Found]] = {}
    for one in found:
        of.setdefault((one.entity, one.attribute), []).append(one)
    unsure = {
        key
        for key, alike in of.items()
        if any(found_opposed(alike[0], other) is Differs.YES for other in alike[1:])
    }
    return tuple(one for one in found if (one.entity, one.attribute) not in unsure)


def _sentences(content: str) -> Iterator[_Sentence]:
    """The sentences of a content with their places; a line ends one."""
    at = 0
    for end in _END.finditer(content):
        yield from _sentence(content, at, end.start(), end.group()[-1:])
        at = end.end()
    yield from _sentence(content, at, len(content), "")


def _sentence(content: str, start: int, end: int, mark: str) -> Iterator[_Sentence]:
    text = content[start:end]
    bare = text.strip()
    if bare:
        first = start + len(text) - len(text.lstrip())
        yield _Sentence(first, first + len(bare), bare, mark)


def _read(sentence: _Sentence, bare: set[str]) -> Iterator[Found]:
    """The claim of one sentence, if it is a plain statement from end to end."""
    if (setting := _SETTING.fullmatch(sentence.text)) is not None:
        yield from _of_setting(sentence, setting.group(1), setting.group(2))
        return
    if _ODD.search(sentence.text):
        return
    text = sentence.text.replace("`", "").replace("’", "'").removeprefix("- ").removeprefix("* ")
    words = [word for word in text.split() if word.casefold() not in PASSING]
    if not _is_plain(words, bare):
        return
    is_also = any(word.casefold() in {"also", "additionally"} for word in words)
    words = [word for word in words if word.casefold() not in {"also", "additionally"}]
    parted = _parted(words)
    if parted is not None:
        yield from _claim(sentence, parted, is_also=is_also)


def _is_plain(words: list[str], bare: set[str]) -> bool:
    """Whether no word hedges, asks, orders, reports or tells of the past."""
    if not SENTENCE_WORDS_MIN <= len(words) <= SENTENCE_WORDS_MAX:
        return False
    if any(len(word) > WORD_CHARACTERS_MAX for word in words):
        return False
    if words[0].casefold() in ASKING or words[0].endswith(","):
        return False
    doubts = bare & UNSURE
    return not doubts or (doubts == {"may"} and _is_month(words))


def _is_month(words: list[str]) -> bool:
    """Whether every "May" stands beside a figure, and so is a month."""
    for at, word in enumerate(words):
        if word.casefold().strip(",.") == "may":
            beside = [*words[max(at - 1, 0) : at], *words[at + 1 : at + 2]]
            if word[0] != "M" or not any(near[0].isdigit() for near in beside):
                return False
    return True


class _Parted(NamedTuple):
    """A sentence in its three parts."""

    entity: list[str]
    phrase: Phrase
    value: list[str]


def _parted(words: list[str]) -> _Parted | None:
    """The sentence around its only phrase; nothing, where it has several or none."""
    folded = [word.casefold() for word in words]
    places: list[tuple[int, int]] = []
    at = 1
    while at < len(words):
        length = _phrase_length(folded, at)
        if length:
            places.append((at, length))
        at += length or 1
    if len(places) != 1:
        return None
    at, length = places[0]
    if at > ENTITY_WORDS_MAX or not 1 <= len(words) - at - length <= VALUE_WORDS_MAX:
        return None
    return _Parted(words[:at], PHRASES[tuple(folded[at : at + length])], words[at + length :])


def _phrase_length(folded: list[str], at: int) -> int:
    """How many words the longest phrase has that begins here and leaves something for a value."""
    if folded[at] not in PHRASES_BEGIN:
        return 0
    for length in range(min(PHRASE_WORDS_MAX, len(folded) - at - 1), 0, -1):
        if tuple(folded[at : at + length]) in PHRASES:
            return length
    return 0


def _claim(sentence: _Sentence, parted: _Parted, *, is_also: bool) -> Iterator[Found]:
    """The claim of the three parts, if each is sure."""
    of, has = _possessed(" ".join(parted.entity))
    if not _is_entity(parted.entity) or not of:
        return
    is_article = parted.value[0].casefold() in {"a", "an", "the"}
    words = parted.value[1:] if is_article else parted.value
    value = _valued(" ".join(words), parted.phrase, has) if words else None
    if value is None:
        return
    attribute = _attribute(parted.phrase, value, has)
    if attribute is None:
        return
    place = (sentence.start, sentence.end)
    is_single = parted.phrase.is_single and not is_also
    chosen = _chosen(attribute, value, words)
    for one in chosen or _spelled(of, attribute, value, words):
        yield Found(
            entity=one[0] or of,
            attribute=one[1],
            value=one[2],
            start=place[0],
            end=place[1],
            negated=parted.phrase.negated,
            is_single=not parted.phrase.negated and not is_also and (is_single if one[3] is None else one[3]),
        )


def _is_entity(words: list[str]) -> bool:
    """Whether the words name one thing: no pronoun, no second article but after "of", no loose ends."""
    folded = [word.casefold() for word in words]
    if any(word in PRONOUNS or word.endswith((",", ":")) for word in folded):
        return False
    if folded[-1] in JOINING or folded[0] in JOINING or {"and", "or", "not", "&"} & set(folded):
        return False
    return all(
        word not in {"the", "a", "an"} or folded[at - 1] == "of" for at, word in enumerate(folded) if at
    )


def _possessed(entity: str) -> tuple[str, str]:
    """Of whom and what: `the API's port`, `the port of the API`, `the API port`; else the whole."""
    folded = " ".join(entity.casefold().replace("’", "'").split())
    whole, mark, has = folded.rpartition(f"{_POSSESSED} ")
    if mark:
        return named(whole), named(has)
    has, mark, whole = folded.partition(" of ")
    if mark and named(has) in {*PROPERTIES, *ROLES}:
        return named(whole), named(has)
    name = named(entity)
    for count in (2, 1):
        words = name.split()
        tail = " ".join(words[-count:])
        if len(words) > count and tail in PROPERTIES:
            return " ".join(words[:-count]), tail
    return ("", name) if name in PROPERTIES else (name, "")


def _valued(said: str, phrase: Phrase, has: str) -> TypedValue | None:
    """The value, if it has a type that the phrase takes, or is free text that is one thing."""
    value = normalised(said, attribute=has)
    if (types := PROPERTIES.get(_last_word(has))) is not None:
        return value if value.type in types else None
    is_answer = value.type is ValueType.FLAG and said.casefold() in {"yes", "no", "true", "false"}
    if value.type not in phrase.attributes or is_answer:
        return None
    if value.type is not ValueType.TEXT:
        return value
    words = said.casefold().replace(",", " , ").split()
    return value if value.text and not {*words} & {*JOINING, *PRONOUNS, ","} else None


def _attribute(phrase: Phrase, value: TypedValue, has: str) -> str | None:
    """The attribute that the phrase gives the value; what is possessed gives its own, with "is" alone."""
    if not has:
        return phrase.attributes.get(value.type)
    if value.type is ValueType.FLAG:
        return has
    last = _last_word(has)
    is_known = last in PROPERTIES or last in ROLES or has.startswith(_FAVOURITE)
    return has if is_known and "is" in phrase.attributes.values() else None


def _last_word(name: str) -> str:
    return name.rpartition(" ")[2]


Reading = tuple[str, str, TypedValue, bool | None]


def _chosen(attribute: str, value: TypedValue, words: list[str]) -> list[Reading]:
    """A preference among things of which one is preferred, as a preference of its own."""
    if attribute != "prefers":
        return []
    folded = [word.casefold() for word in words]
    for noun, choices in EXCLUSIVE:
        is_noun = len(folded) == 2 and folded[1].removesuffix("s") == noun  # noqa: PLR2004 -- choice and noun
        if folded[0] in choices and (is_noun or (len(folded) == 1 and noun == "indentation")):
            choice = TypedValue(type=value.type, text=folded[0])
            return [("", f"preferred {noun}", choice, True)]
    return []


def _spelled(of: str, attribute: str, value: TypedValue, words: list[str]) -> list[Reading]:
    """What else the attribute needs to be sure, by its kind; nothing where it lacks it."""
    if attribute in {"runs", "has"} and (figures := _of_figures(attribute, value, words)):
        return figures
    if attribute == "port" and value.text in _COMPANY:
        return [("", attribute, value, False)]
    if attribute == "place":
        return [("", attribute, value, value.text in PLACES or bool(_REGION.fullmatch(words[-1].casefold())))]
    if attribute in NOT_EXCLUDING:
        return [("", attribute, value, False)] if _is_free(words) else []
    if value.type is not ValueType.TEXT or attribute == "name":
        return [("", attribute, value, None)] if attribute != "has" else []
    return _of_role(of, attribute, value, words)


def _of_figures(attribute: str, value: TypedValue, words: list[str]) -> list[Reading]:
    """Which version of something runs, and how many of something there are."""
    if attribute == "has":
        is_counted = value.unit.isalpha() and value.unit.islower() and value.unit not in _SIZES
        number = TypedValue(type=value.type, text=value.text)
        return [("", f"number of {value.unit}", number, True)] if is_counted else []
    version = normalised(words[-1], attribute="version")
    is_version = version.type is ValueType.VERSION and words[-1][-1].isdigit()
    if len(words) == 1 or not is_version:
        return []
    return [("", f"{named(' '.join(words[:-1]))} version", version, True)]


def _of_role(of: str, attribute: str, value: TypedValue, words: list[str]) -> list[Reading]:
    """Who plays a part: only a name does, since `the proxy is slow` says something else of it."""
    if not _is_free(words):
        return []
    if attribute.startswith(_FAVOURITE):
        return [("", attribute.replace("favorite", "favourite"), value, True)]
    is_role = _last_word(of if attribute == "is" else attribute) in ROLES
    return [("", attribute, value, True)] if is_role and _is_name(words) else []


def _is_free(words: list[str]) -> bool:
    return len(words) <= FREE_WORDS_MAX


def _is_name(words: list[str]) -> bool:
    """Whether these are a name: with capitals, or one of those that are written without."""
    return all(word[0].isupper() or word.casefold() in NAMES or word[0].isdigit() for word in words)


def _of_setting(sentence: _Sentence, key: str, said: str) -> Iterator[Found]:
    """A line of configuration: of which file it is nobody knows, so it excludes nothing."""
    value = normalised(said, attribute=key.replace(".", " "))
    yield Found(
        entity=named(key),
        attribute="setting",
        value=value,
        start=sentence.start,
        end=sentence.end,
        is_single=False,
    )
