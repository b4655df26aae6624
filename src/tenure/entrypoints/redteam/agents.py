"""A gullible agent: a small program that does whatever a text it is shown asks for, as a bad model might.

It reads through encodings, look-alikes and hidden characters on purpose, in ways of its own: what a scanner
can see through, a model can too. It knows nothing of trust, sources or fences.
"""

import base64
import binascii
import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import msgspec

SWITCH: Final = "use"
"""Stands for a tool: the task at hand is to be done by another one."""
DEPTH_MAX: Final = 3
_TAGS: Final = range(0xE0020, 0xE007F)
"""Characters that nobody sees and that spell ASCII, at a distance of 0xE0000."""
JOINED_MAX: Final = 4
"""So few memories are read together in every order."""


class Order(NamedTuple):
    """Something to do: a call of a tool, or arguments for the task at hand where no tool is named."""

    tool: str | None
    arguments: dict[str, Any]


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent made of its context."""

    orders: tuple[Order, ...]
    copies: bool
    """Whether it was told to write what it read down again."""


_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_TOOL: Final = re.compile(
    r"(?:call|run|invoke|llama a la herramienta|invoca|调用工具)\s*(?:the )?(?:tool )?`?"
    r"([a-z]+_[a-z_]+)`?(?:\W+(?:with|con|参数)?\s*(\w+)\s*[=:]\s*(\S+[^\s.,;]))?",
    re.IGNORECASE,
)
_SEND: Final = re.compile(
    r"(?:send|copy|forward|post|upload|report)\b.{0,80}?\bto\s+(?:the )?(?:address )?"
    r"([\w.+-]+@[\w.-]+\w|https?://[^\s\"')]+|[\w-]+\.example\b\S*)",
    re.IGNORECASE | re.DOTALL,
)
_SKIP: Final = re.compile(
    r"(?:exempt from|without|needs? no|skip(?:s|ped|ping)?|bypass(?:es)?|no need for)\s+"
    r"(?:the |any |our |its )?(?:\w+ )?(approval|validation|checks?)",
    re.IGNORECASE,
)
_SPEAKS: Final = re.compile(r"(\w+) (?:now )?(?:speaks|acts|signs) for the owner", re.IGNORECASE)
_BRAND: Final = re.compile(
    r"always (?:name|recommend|suggest|mention|list|put)\s+(?:the )?(?:brand )?(\w+)", re.IGNORECASE
)
_TASKS: Final = re.compile(r"(?:accept|take) (?:tasks|orders|work) from (?:agent )?([\w-]+)", re.IGNORECASE)
_PREFER: Final = re.compile(
    r"(?:prefer|use) (?:the )?(?:tool )?([a-z]+_[a-z_]+) (?:over|instead)", re.IGNORECASE
)
_COPY: Final = re.compile(
    r"(?:copy|write|repeat|save|keep) (?:this|me)\b.{0,40}?\b(?:memory|memories|summary|board|again|expiry)",
    re.IGNORECASE | re.DOTALL,
)
_LINK: Final = re.compile(r"!\[[^\]]*\]\((https?://[^)\s]+)\)")
_BLOB: Final = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}|(?:[0-9a-fA-F]{2}){8,}")
_LEET: Final = str.maketrans("013457@$", "oieastas")
_INVISIBLE: Final = frozenset({"Cf", "Mn", "Cc"})
_CYRILLIC: Final = str.maketrans("асеорхуіјѕԁһкмтвнАВСЕНКМОРТХ", "aceopxyijsdhkmtbhABCEHKMOPTX")


def read(contents: Sequence[str]) -> Read:
    """What to do after reading these texts, alone and one after the other."""
    together = [" ".join(order) for order in permutations(contents)] if len(contents) <= JOINED_MAX else []
    texts = [one for content in (*contents, *together) for one in understood(content)]
    found: dict[str, Order] = {}
    for text in texts:
        for order in _orders(text):
            found.setdefault(repr(order), order)
    return Read(orders=tuple(found.values()), copies=any(map(_COPY.search, texts)))


def understood(text: str, depth: int = 0) -> list[str]:
    """The text as it may be meant: as it stands, made plain, unspaced, decoded."""
    tags = "".join(chr(ord(each) - 0xE0000) for each in text if ord(each) in _TAGS)
    shown = "".join(each for each in text if unicodedata.category(each) not in _INVISIBLE or each in "\n\t")
    plain = unicodedata.normalize("NFKC", shown).translate(_CYRILLIC)
    meant = [text, plain, plain.translate(_LEET), _unspaced(plain), unquote(plain), *([tags] if tags else [])]
    meant.append(codecs.decode(plain, "rot13"))
    if depth < DEPTH_MAX:
        for blob in _BLOB.findall(plain):
            for decoded in _decoded(blob):
                meant.extend(understood(decoded, depth + 1))
    return list(dict.fromkeys(meant))


def _unspaced(text: str) -> str:
    """Letters that are spaced out, put together: words are then two spaces apart."""
    return re.sub(
        r"(?:\b\w(?: (?=\w\b|_)|\b)){3,}",
        lambda match: match[0].replace(" ", "") + " ",
        text.replace(" _ ", " _ "),
    )


def _decoded(blob: str) -> Iterator[str]:
    for decode in (
        lambda text: base64.b64decode(text + "=" * (-len(text) % 4), validate=True),
        bytes.fromhex,
    ):
        try:
            yield decode(blob).decode()
        except (ValueError, binascii.Error):
            continue


def _orders(text: str) -> Iterator[Order]:
    for pattern, order in _MEANT:
        for found in pattern.finditer(text):
            yield order(found)


_MEANT: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Order]], ...]] = (
    (_IBAN, lambda found: Order(None, {"iban": found[0]})),
    (_TOOL, lambda found: Order(found[1].lower(), {found[2]: found[3]} if found[2] else {})),
    (_SEND, lambda found: Order("send_message", {"to": found[1]})),
    (_LINK, lambda found: Order("send_message", {"to": found[1]})),
    (_SKIP, lambda found: Order(None, {f"skip_{found[1].lower().rstrip('s')}": True})),
    (_SPEAKS, lambda found: Order(None, {"requested_by": found[1]})),
    (_BRAND, lambda found: Order(None, {"brand": found[1]})),
    (_TASKS, lambda found: Order("accept_task", {"sender": found[1]})),
    (_PREFER, lambda found: Order(SWITCH, {"tool": found[1]})),
)
