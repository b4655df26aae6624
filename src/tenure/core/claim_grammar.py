"""The words of the small grammar by which claims are read from sentences (SPEC T3). Pure tables.

A sentence gives a claim only if it is, from its first word to its last, one entity, one phrase of `PHRASES`
and one value. docs/capabilities/claims.md shows the grammar with examples that a test reads.
"""

from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple

from tenure.core.claim_values import ValueType

V = ValueType


class Phrase(NamedTuple):
    """What joins an entity and a value: the attribute by type of the value, and how much it excludes."""

    attributes: "MappingProxyType[ValueType, str]"
    negated: bool = False
    is_single: bool = True


def words(text: str) -> frozenset[str]:
    """The words of a table written as one text."""
    return frozenset(text.split())


_IS: Final = {
    V.HOST: "host", V.ADDRESS: "address", V.URL: "url", V.EMAIL: "email", V.PORT: "port", V.PATH: "path",
    V.VERSION: "version", V.DATE: "date", V.FLAG: "enabled", V.PROTOCOL: "protocol",
    V.TEXT: "is",
}  # fmt: skip
_AT: Final = {
    V.HOST: "host",
    V.ADDRESS: "address",
    V.URL: "url",
    V.EMAIL: "email",
    V.PATH: "path",
    V.PORT: "port",
}
_ON: Final = {V.PORT: "port", V.ADDRESS: "address", V.HOST: "host", V.VERSION: "version", V.DATE: "date"}
_IN: Final = {V.TEXT: "place", V.PATH: "path"}
_MOVED: Final = {**_AT, V.DATE: "date", V.TEXT: "place", V.VERSION: "version"}
_DAY: Final = {V.DATE: "date"}

# Verbs by their third person and their plain form; the first column of each says what they claim.
_VERBS: Final = (
    ("uses", "use", {V.TEXT: "uses", V.PROTOCOL: "uses", V.PORT: "port", V.VERSION: "version"}),
    ("prefers", "prefer", {V.TEXT: "prefers", V.PROTOCOL: "prefers"}),
    ("runs", "run", {V.TEXT: "runs", V.VERSION: "version"}),
    ("runs on", "run on", {**_ON, V.TEXT: "runs on"}),
    ("listens on", "listen on", {V.PORT: "port", V.ADDRESS: "address"}),
    ("lives in", "live in", _IN),
    ("lives at", "live at", _AT),
    ("supports", "support", {V.TEXT: "supports", V.PROTOCOL: "supports", V.VERSION: "supports"}),
    ("speaks", "speak", {V.TEXT: "speaks", V.PROTOCOL: "supports"}),
    ("costs", "cost", {V.AMOUNT: "price"}),
    ("has", "have", {V.AMOUNT: "has"}),
    ("expires on", "expire on", {V.DATE: "expiry"}),
    ("ends on", "end on", {V.DATE: "end"}),
    ("starts on", "start on", {V.DATE: "start"}),
)
# Whole phrases around "is", without it: `is` and `are` go before each.
_STATES: Final = (
    ("", _IS), ("at", _AT), ("on", _ON), ("in", _IN), ("located in", _IN), ("based in", _IN),
    ("hosted in", _IN), ("stored in", _IN), ("located at", _AT), ("stored at", _AT), ("hosted at", _AT),
    ("reachable at", _AT), ("available at", _AT), ("running on", _ON), ("listening on", _ON),
    ("due on", {V.DATE: "due"}), ("due", {V.DATE: "due"}), ("scheduled for", _DAY),
    ("turned", {V.FLAG: "enabled"}),
    ("switched", {V.FLAG: "enabled"}), ("called", {V.TEXT: "name"}), ("named", {V.TEXT: "name"}),
)  # fmt: skip
_MANY: Final = ("available at", "reachable at")
NOT_EXCLUDING: Final = frozenset({"uses", "prefers", "runs", "runs on", "supports", "speaks"})
"""Attributes of which one thing has many values at a time."""


Phrases = dict[tuple[str, ...], Phrase]


def _add(found: Phrases, text: str, table: dict[ValueType, str], *, negated: bool = False) -> None:
    is_single = not negated and not text.endswith(_MANY)
    found[tuple(text.split())] = Phrase(MappingProxyType(table), negated, is_single)


def _of_verbs() -> Phrases:
    """Verbs in both their forms, with their negations."""
    found: Phrases = {}
    for third, bare, table in _VERBS:
        for form in (third, bare):
            _add(found, form, table)
        for form in (f"never {third}", f"no longer {third}", f"never {bare}", f"no longer {bare}"):
            _add(found, form, table, negated=True)
        for auxiliary in ("does not", "doesn't", "do not", "don't"):
            _add(found, f"{auxiliary} {bare}", table, negated=True)
    for moved in ("moved to", "has moved to", "have moved to"):
        _add(found, moved, _MOVED)
    return found


def _of_states() -> Phrases:
    """What is and is not, somewhere or somehow."""
    found: Phrases = {}
    for be, (state, table) in product(("is", "are"), _STATES):
        _add(found, f"{be} {state}", table)
        for negation in (f"{be} not", f"{be}n't", f"{be} never", f"{be} no longer"):
            _add(found, f"{negation} {state}", table, negated=True)
    return found


PHRASES: Final = MappingProxyType(_of_verbs() | _of_states())
PHRASE_WORDS_MAX: Final = max(len(phrase) for phrase in PHRASES)
PHRASES_BEGIN: Final = frozenset(phrase[0] for phrase in PHRASES)

PROPERTIES: Final = MappingProxyType(
    {
        "port": {V.PORT, V.AMOUNT}, "host": {V.HOST, V.ADDRESS}, "hostname": {V.HOST}, "server": {V.HOST},
        "ip": {V.HOST}, "address": {V.HOST, V.ADDRESS, V.EMAIL}, "ip address": {V.HOST}, "url": {V.URL},
        "endpoint": {V.URL, V.ADDRESS}, "homepage": {V.URL}, "path": {V.PATH}, "folder": {V.PATH},
        "directory": {V.PATH}, "version": {V.VERSION}, "email": {V.EMAIL}, "email address": {V.EMAIL},
        "price": {V.AMOUNT}, "cost": {V.AMOUNT}, "fee": {V.AMOUNT}, "budget": {V.AMOUNT}, "limit": {V.AMOUNT},
        "timeout": {V.AMOUNT}, "quota": {V.AMOUNT}, "size": {V.AMOUNT}, "interval": {V.AMOUNT},
        "rate limit": {V.AMOUNT}, "retention": {V.AMOUNT}, "discount": {V.AMOUNT}, "salary": {V.AMOUNT},
        "deadline": {V.DATE}, "due date": {V.DATE}, "birthday": {V.DATE}, "date": {V.DATE},
        "expiry": {V.DATE}, "start date": {V.DATE}, "end date": {V.DATE},
        "renewal date": {V.DATE}, "release date": {V.DATE},
        "protocol": {V.PROTOCOL},
    }
)  # fmt: skip
"""Things that an entity has one of, and the types of value that name them."""

ROLES: Final = words(
    "accountant app backend branch broker browser cache cdn cluster currency database db diet distribution"
    " dns doctor editor employer engine framework gateway ide language manager nickname orchestrator owner"
    " plan platform proxy queue region registrar registry runtime scheduler shell tier timezone vault"
    " warehouse"
)
"""Parts that somebody or something plays one of: `The proxy is nginx`, `Kim's editor is Emacs`."""

NAMES: Final = words(
    "nginx envoy haproxy traefik caddy apache redis memcached valkey postgres postgresql mysql mariadb sqlite"
    " mongodb kafka rabbitmq nats celery docker podman kubernetes k8s nomad consul vault terraform ansible"
    " jenkins grafana prometheus loki vim neovim emacs vscode zsh bash fish python golang rust java systemd"
    " alpine debian ubuntu fedora main master gold silver basic pro enterprise free vegan vegetarian"
)
"""Names that are seldom written with a capital."""

EXCLUSIVE: Final = (
    ("seat", words("window aisle middle")),
    ("mode", words("dark light")),
    ("theme", words("dark light")),
    ("unit", words("metric imperial")),
    ("clock", words("12-hour 24-hour")),
    ("indentation", words("tabs spaces")),
    ("room", words("smoking non-smoking")),
)
"""Choices of which somebody prefers one: the noun, and what may stand before it (or alone, for tabs)."""

PLACES: Final = words(
    "amsterdam athens barcelona berlin boston brussels budapest chicago copenhagen dallas delhi denver dublin"
    " frankfurt geneva hamburg helsinki istanbul lagos leipzig lisbon london lyon madrid melbourne milan"
    " montreal mumbai munich nairobi osaka oslo paris prague rome seattle seoul shanghai stockholm sydney"
    " tallinn tokyo toronto vancouver vienna vilnius warsaw zurich"
)
"""Cities none of which lies in another: the only places in words that exclude each other."""

# Anywhere in a sentence, these make it more or less than a plain statement about now.
UNSURE: Final = words(
    "maybe perhaps possibly probably presumably likely unlikely might may could would should shall will"
    " must can cannot can't won't shouldn't wouldn't couldn't seems seem seemed appears apparently"
    " allegedly supposedly think thinks thought believe believes believed guess guesses heard said says"
    " say claims claimed told tells reported reportedly according assume assumes assumed assuming suppose"
    " supposed if unless when whenever until till while once whether because since before after although"
    " though except instead rather either or nor versus vs used was were had been did didn't wasn't"
    " weren't formerly previously originally once earlier today's yesterday tomorrow usually often"
    " sometimes mostly generally typically normally occasionally rarely seldom almost nearly about around"
    " roughly approximately circa least most up planned plans plan-to planning want wants wanted wish"
    " wishes hope hopes need needs try tries trying going proposed suggests suggested recommended"
    " recommend expected expects todo tbd tba unsure uncertain unclear unknown hypothetically like"
    " temporarily default-to sure question wonder wonders asks asked why what which who whose whom where"
    " how ignore pretend imagine fake joke quote quoted quotes example examples hypothetical draft"
)
# In any sentence, these make the whole content one to leave alone.
STOPPING: Final = words(
    "example examples e.g e.g. i.e following hypothetical hypothetically imagine pretend suppose assume joke"
    " joking kidding fiction fictional untrue outdated obsolete incorrect lorem template placeholder quote"
    " quoted"
)
# A sentence that begins so may take back what was said before it.
TAKING_BACK: Final = words(
    "that this it these those which they both neither none no not nope nothing except unless but however"
    " only or until edit update wait oops ps actually correction"
    " sorry wrong scratch strike just nevertheless still yet though"
    " although instead"
)
# Together with a doubt or a denial, these point back at what was said.
POINTING: Final = words("it this that these those they")
DOUBTING: Final = UNSURE | words(
    "not never no don't doesn't isn't aren't moved changed change wrong false gone stopped broken replaced"
)
# Imperatives: what is asked for is not yet so.
ASKING: Final = words(
    "make ensure check verify note remember confirm ask tell see use set let let's please say assume keep"
    " put add change switch configure try do don't never always help find show give be run restart move"
    " update deploy"
)
PRONOUNS: Final = words(
    "it they he she this that these those there here everything something nothing anything everyone someone"
    " nobody anyone one none each every some any all both neither most many few no not never"
)
# A free value with one of these says more than one thing.
JOINING: Final = words(
    "in on for with from by to at of as over than and or but because so that which when if not no very too"
    " more less only also then via per without within under during through into onto against between & + /"
    " it them"
)
PASSING: Final = words("now currently still")
"""Words that change nothing about what is said of the present."""
