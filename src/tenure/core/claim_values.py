"""Values of claims with their types, in one form each, and whether two of them differ (SPEC T2, T3). Pure.

Laws: equal things are equal; `differs` is symmetric and says yes only where no reading makes both true; what
cannot be compared (another unit, a name against an address, the part against the whole) is unknown.
"""

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec

from tenure.core.claim_amounts import amount, plain
from tenure.core.claim_dates import day_text

VALUE_CHARACTERS_MAX: Final = 512
PORT_MAX: Final = 65_535


class ValueType(StrEnum):
    """What sort of thing a value is."""

    HOST = "host"
    PORT = "port"
    ADDRESS = "address"
    PROTOCOL = "protocol"
    URL = "url"
    PATH = "path"
    VERSION = "version"
    FLAG = "flag"
    AMOUNT = "amount"
    DATE = "date"
    EMAIL = "email"
    TEXT = "text"


class Differs(StrEnum):
    """Whether two values differ; unknown is never taken for either."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class TypedValue(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A value in the one form of its type; two that are equal say the same."""

    type: ValueType
    text: str
    unit: str = ""


PROTOCOLS: Final = frozenset(
    "http https http/1.1 http/2 http/3 tcp udp quic ssh sftp ftp ftps smtp smtps imap imaps pop3 ldap ldaps"  # noqa: SIM905
    " tls ssl mtls grpc amqp amqps mqtt mqtts websocket websockets icmp snmp nfs smb rsync".split()
)
ON: Final = frozenset({"true", "on", "enabled", "yes"})
OFF: Final = frozenset({"false", "off", "disabled", "no"})
ALIASES: Final = {
    "postgres": "postgresql", "k8s": "kubernetes", "golang": "go", "nodejs": "node.js",
    "mongo": "mongodb", "e-mail": "email", "ms teams": "microsoft teams",
    "time zone": "timezone", "email address": "email", "e mail": "email",
    "vs code": "visual studio code", "vscode": "visual studio code",
}  # fmt: skip
"""Names that many write in two ways."""

DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ssh": 22}
# Endings of file names that are seldom those of hosts.
FILE_ENDINGS: Final = frozenset(
    "bak c cfg cmd conf config cpp crt css csv db dll env exe gz go h html ini ipynb jar java jpg js json key"  # noqa: SIM905
    " lock log md mjs pdf pem php png properties py rb rs service sh so sock sql sqlite svg tar toml ts tsx"
    " txt xml yaml yml zip".split()
)
_NOT_HOSTS: Final = frozenset({"asp.net", "vb.net", "socket.io", "e.g", "i.e", "a.m", "p.m"})
_HOST_WORDS: Final = frozenset({"host", "hostname", "server", "node", "machine"})
_VERSION_WORDS: Final = frozenset({"version", "release"})
_ARTICLES: Final = ("the ", "a ", "an ")

_LABEL: Final = r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_NAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*+")
_LAST_LABEL: Final = re.compile(r"[a-z]{2,24}|xn--[a-z0-9-]{1,59}")
_EMAIL: Final = re.compile(r"([a-z0-9.!#$%&*+/=?^_{|}~-]{1,64})@([a-z0-9.-]{3,253})")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{0,15}://\S+")
_PORT: Final = re.compile(r"(?:(?:tcp |udp )?ports? )?#?([0-9]{1,5})(?:/(?:tcp|udp))?")
_UDP: Final = re.compile(r"udp .*|.*/udp")
_SAYS_PORT: Final = re.compile(r".*port.*|[0-9]+/(?:tcp|udp)")
_VERSION: Final = re.compile(
    r"(?:version |release |v\.? ?)?([0-9]{1,9}(?:\.[0-9]{1,9}){0,5}(?:[.+-]?[a-z][a-z0-9.+-]*)?)"
)
_SAYS_VERSION: Final = re.compile(r"(?:version |release |v\.? ?)[0-9].*|[0-9]+(?:\.[0-9]+){2,5}(?:[.+-].*)?")
_FIGURE: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_PATH: Final = re.compile(r"(?:~|\.{1,2})?/[^\s\"'<>|?*]*")
_DRIVE: Final = re.compile(r"[a-z]:[\\/][^\s\"'<>|?*]*", re.IGNORECASE)


def normalised(value: str, *, attribute: str = "") -> TypedValue:
    """A value in the one form of its type; the attribute helps where the value alone could be several."""
    text = _bare(value)
    if len(text) > VALUE_CHARACTERS_MAX:
        return TypedValue(type=ValueType.TEXT, text=text.casefold())
    hints = frozenset(named(attribute).split())
    for reading in (_web, _path, _flag, _by_hint, _date, _versioned, _port, _host, _protocol, _amount):
        if (found := reading(text, hints)) is not None:
            return found
    return TypedValue(type=ValueType.TEXT, text=_free(text))


def named(text: str) -> str:
    """A name of an entity or attribute without its case, spacing, punctuation and article."""
    folded = unicodedata.normalize("NFKC", text[:VALUE_CHARACTERS_MAX]).casefold().replace("’", "'")
    words = re.sub(r"[\s_\"`*,;:!?()\[\]-]+", " ", folded).strip(" .").removesuffix("'s")
    for article in (*_ARTICLES, "our "):
        words = words.removeprefix(article)
    return ALIASES.get(words, words)


def differs(one: TypedValue, other: TypedValue) -> Differs:
    """Whether they cannot both be the value of one thing."""
    if one == other:
        return Differs.NO
    if one.type is not other.type:
        return _across(one, other)
    doubts = _DOUBTS.get(one.type)
    is_unsure = one.unit != other.unit or (doubts is not None and doubts(one.text, other.text))
    return Differs.UNKNOWN if is_unsure else Differs.YES


def _across(one: TypedValue, other: TypedValue) -> Differs:
    """Of two types: the same figures say the same, whatever they were taken for; all else is unknown."""
    is_figure = one.text[:1].isdigit()
    if is_figure and one.text == other.text and not one.unit and not other.unit:
        return Differs.NO
    return Differs.UNKNOWN


def _bare(value: str) -> str:
    """The value without quotation, emphasis, and the punctuation of its sentence."""
    text = " ".join(unicodedata.normalize("NFKC", value).replace("’", "'").split())
    text = text.removeprefix("**").removesuffix("**")
    return text.strip("\"'`“”\u2018 ,;!").removesuffix(".") if len(text) > 1 else text


def _web(text: str, _: frozenset[str]) -> TypedValue | None:
    """A URL or an e-mail address."""
    folded = text.casefold()
    if _SCHEME.fullmatch(folded):
        return _url(text)
    if (mail := _EMAIL.fullmatch(folded.removeprefix("mailto:"))) is not None:
        host = _host_name(mail.group(2))
        return TypedValue(type=ValueType.EMAIL, text=f"{mail.group(1)}@{host}") if host else None
    return None


def _url(text: str) -> TypedValue | None:
    """The scheme and host without case, the port only where it is not the scheme's, the rest as it is."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    scheme = parts.scheme.casefold()
    host = f"[{host}]" if ":" in host else host.rstrip(".")
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    place = f":{port}" if port is not None and port != DEFAULT_PORTS.get(scheme) else ""
    tail = f"?{parts.query}" if parts.query else ""
    tail += f"#{parts.fragment}" if parts.fragment else ""
    return TypedValue(type=ValueType.URL, text=f"{scheme}://{user}{host}{place}{parts.path or '/'}{tail}")


def _path(text: str, _: frozenset[str]) -> TypedValue | None:
    """A path of either sort of system; its case counts where there is no drive."""
    if _DRIVE.fullmatch(text):
        parts = [part for part in re.split(r"[\\/]", text.casefold()) if part not in {"", "."}]
        return TypedValue(type=ValueType.PATH, text="/".join(parts))
    if not _PATH.fullmatch(text):
        return None
    first = text.partition("/")[0]
    parts = [part for part in text.split("/")[1:] if part not in {"", "."}]
    return TypedValue(type=ValueType.PATH, text="/".join([first, *parts]) or "/")


def _flag(text: str, _: frozenset[str]) -> TypedValue | None:
    folded = text.casefold().removeprefix("turned ").removeprefix("switched ")
    if folded in ON or folded in OFF:
        return TypedValue(type=ValueType.FLAG, text="on" if folded in ON else "off")
    return None


def _by_hint(text: str, hints: frozenset[str]) -> TypedValue | None:
    """What the attribute says it is, if it can be."""
    folded = text.casefold()
    if hints & _VERSION_WORDS and (version := _VERSION.fullmatch(folded)):
        return TypedValue(type=ValueType.VERSION, text=version.group(1))
    if "port" in hints and (port := _PORT.fullmatch(folded)):
        return _numbered(port.group(1), folded)
    if hints & _HOST_WORDS and (host := _host_name(folded)):
        return TypedValue(type=ValueType.HOST, text=host)
    return None


def _versioned(text: str, _: frozenset[str]) -> TypedValue | None:
    """A version that says so, or has three parts or more and is no address."""
    folded = text.casefold()
    if not _SAYS_VERSION.fullmatch(folded) or _is_literal(folded):
        return None
    version = _VERSION.fullmatch(folded)
    return version and TypedValue(type=ValueType.VERSION, text=version.group(1))


def _date(text: str, _: frozenset[str]) -> TypedValue | None:
    day = day_text(text)
    return None if day is None else TypedValue(type=ValueType.DATE, text=day)


def _port(text: str, _: frozenset[str]) -> TypedValue | None:
    folded = text.casefold()
    port = _PORT.fullmatch(folded)
    return _numbered(port.group(1), folded) if port and _SAYS_PORT.fullmatch(folded) else None


def _numbered(digits: str, said: str = "") -> TypedValue | None:
    """A port; of TCP, unless UDP is said."""
    port = int(digits)
    if not 1 <= port <= PORT_MAX:
        return None
    return TypedValue(type=ValueType.PORT, text=str(port), unit="udp" if _UDP.fullmatch(said) else "")


def _host(text: str, _: frozenset[str]) -> TypedValue | None:
    """A host that shows as one, alone or with its port."""
    folded = text.casefold()
    name, mark, port = folded.rpartition(":")
    takes_port = mark and (name.startswith("[") or ":" not in name) and port.isascii() and port.isdigit()
    if takes_port and _shows_host(name.strip("[]")) and (numbered := _numbered(port)) is not None:
        return TypedValue(type=ValueType.ADDRESS, text=f"{_host_name(name.strip('[]'))}:{numbered.text}")
    if not _shows_host(folded.strip("[]")):
        return None
    return TypedValue(type=ValueType.HOST, text=_host_name(folded.strip("[]")) or folded)


def _shows_host(folded: str) -> bool:
    """Whether it is an address, or a name with dots that is no file, or the one name that all know."""
    if folded == "localhost" or _is_literal(folded):
        return True
    name = folded.rstrip(".")
    last = name.rpartition(".")[2]
    if "." not in name or last in FILE_ENDINGS or name in _NOT_HOSTS:
        return False
    return bool(_NAME.fullmatch(name) and _LAST_LABEL.fullmatch(last))


def _host_name(folded: str) -> str | None:
    """The host in its one form, if it can be a host at all."""
    try:
        return str(ip_address(folded))
    except ValueError:
        name = folded.rstrip(".")
        return name if _NAME.fullmatch(name) else None


def _is_literal(text: str) -> bool:
    """Whether it is an address in figures, with or without a port."""
    bare = text.rpartition(":")[0] if text.count(":") == 1 else text
    try:
        ip_address(bare.strip("[]"))
    except ValueError:
        return False
    return True


def _protocol(text: str, _: frozenset[str]) -> TypedValue | None:
    folded = text.casefold()
    return TypedValue(type=ValueType.PROTOCOL, text=folded) if folded in PROTOCOLS else None


def _amount(text: str, _: frozenset[str]) -> TypedValue | None:
    """An amount; a figure with a dot and no unit may be a version, and stays text."""
    found = amount(text)
    if found is None or (not found.unit and "." in text):
        return None
    return TypedValue(type=ValueType.AMOUNT, text=plain(found.number), unit=found.unit)


def _free(text: str) -> str:
    """Free text without its case and punctuation; figures keep their dots."""
    folded = re.sub(r"[\s_/\"`,;:!?()\[\]-]+", " ", text.casefold()).strip(" .")
    for article in _ARTICLES:
        folded = folded.removeprefix(article)
    return ALIASES.get(folded, folded)


def _begins(one: str, other: str) -> bool:
    """Whether one is the other said less exactly: a month and its day, a release and its patch."""
    shorter, longer = sorted((one, other), key=len)
    return longer.startswith(shorter) and not longer[len(shorter) : len(shorter) + 1].isdigit()


def _is_vague(one: str, other: str) -> bool:
    """Whether two URLs may well be the same place: by a slash at the end, by dots, or by escapes."""
    if one.rstrip("/") == other.rstrip("/"):
        return True
    return any("%" in url or "/." in url for url in (one, other))


def _are_relative(one: str, other: str) -> bool:
    """Whether one of two paths depends on where one stands."""
    return any(path.startswith((".", "~")) or ".." in path for path in (one, other))


def _are_unlike(one: str, other: str) -> bool:
    """Whether one host is a name and the other an address in figures."""
    return _is_literal(one) is not _is_literal(other)


def _may_say_the_same(one: str, other: str) -> bool:
    """Free texts differ only where each has a word that the other has in no form."""
    if _FIGURE.fullmatch(one) and _FIGURE.fullmatch(other):
        return Decimal(one) == Decimal(other)
    mine, theirs = one.split(), other.split()
    return _has_all(mine, theirs) or _has_all(theirs, mine)


def _has_all(words: list[str], others: list[str]) -> bool:
    """Whether each word begins as one of the others does: plurals, and names cut short."""
    starts = {word[:3] for word in others}
    return all(word[:3] in starts for word in words)


_DOUBTS: Final[dict[ValueType, Callable[[str, str], bool]]] = {
    ValueType.HOST: _are_unlike,
    ValueType.ADDRESS: _are_unlike,
    ValueType.VERSION: _begins,
    ValueType.DATE: _begins,
    ValueType.URL: _is_vague,
    ValueType.PATH: _are_relative,
    ValueType.TEXT: _may_say_the_same,
}
