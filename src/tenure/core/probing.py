"""What a memory names that can be looked at, and what a look at it says (SPEC T6).

Laws:

- A target is written in one plain form or is none: no user, password or query in an address, no number that
  only some programs read as an address, no path with ``..`` in it. What cannot be read for sure is no target.
- A verdict is one of a fixed list of reasons and a time. It holds nothing of what was looked at.
- Only a look that found something else than was said fails. What was not allowed, came too late or cannot be
  judged is unknown, and unknown is never taken for false.
"""

import ipaddress
import re
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from tenure.core.probe_advice import Advice, ProbeOutcome, TargetKind

__all__ = [
    "PATH_CHARACTERS_MAX",
    "TARGETS_PER_MEMORY_MAX",
    "URL_CHARACTERS_MAX",
    "Advice",
    "Place",
    "ProbeOutcome",
    "ProbeVerdict",
    "Reason",
    "Target",
    "TargetKind",
    "advice",
    "flag_of",
    "host_in",
    "outcome_of",
    "place_of",
    "target",
    "targets_of",
]

TARGETS_PER_MEMORY_MAX: Final = 5
PATH_CHARACTERS_MAX: Final = 1_024
URL_CHARACTERS_MAX: Final = 2_000


class Target(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing to look at, in its plain form; made by ``target``."""

    kind: TargetKind
    what: str


class Place(NamedTuple):
    """Where a URL or an endpoint lies; the scheme of an endpoint is ``tcp`` and its path is empty."""

    scheme: str
    host: str
    port: int
    path: str


class Reason(StrEnum):
    """Why the outcome is what it is."""

    ANSWERS = "answers"
    CONNECTS = "connects"
    RESOLVES = "resolves"
    EXISTS = "exists"
    AS_SAID = "as_said"

    NO_ANSWER = "no_answer"
    REFUSED = "refused"
    BROKEN_OFF = "broken_off"
    NO_SUCH_NAME = "no_such_name"
    NOT_FOUND = "not_found"
    SERVER_ERROR = "server_error"
    NOT_HTTP = "not_http"
    BAD_CERTIFICATE = "bad_certificate"
    NO_TLS = "no_tls"
    OTHERWISE = "otherwise"

    NOT_ALLOWED = "not_allowed"
    INTERNAL_ADDRESS = "internal_address"
    LEADS_ELSEWHERE = "leads_elsewhere"
    REDIRECTS_ON = "redirects_on"
    WANTS_MORE = "wants_more"
    UNREADABLE = "unreadable"
    UNRESOLVED = "unresolved"
    NO_WAY = "no_way"
    NO_VALUE = "no_value"
    NO_PROBER = "no_prober"
    NO_ROOM = "no_room"
    LATE = "late"
    FAULT = "fault"


_MEANINGS: Final = {
    Reason.ANSWERS: (ProbeOutcome.HOLDS, "the address answers"),
    Reason.CONNECTS: (ProbeOutcome.HOLDS, "the port takes connections"),
    Reason.RESOLVES: (ProbeOutcome.HOLDS, "the name leads to an address"),
    Reason.EXISTS: (ProbeOutcome.HOLDS, "it exists"),
    Reason.AS_SAID: (ProbeOutcome.HOLDS, "the flag has the value that was said"),
    Reason.NO_ANSWER: (ProbeOutcome.FAILS, "there was no answer in time"),
    Reason.REFUSED: (ProbeOutcome.FAILS, "the connection was refused"),
    Reason.BROKEN_OFF: (ProbeOutcome.FAILS, "the connection was broken off"),
    Reason.NO_SUCH_NAME: (ProbeOutcome.FAILS, "there is no such name"),
    Reason.NOT_FOUND: (ProbeOutcome.FAILS, "it does not exist"),
    Reason.SERVER_ERROR: (ProbeOutcome.FAILS, "the server answers with an error"),
    Reason.NOT_HTTP: (ProbeOutcome.FAILS, "what answers there does not speak HTTP"),
    Reason.BAD_CERTIFICATE: (ProbeOutcome.FAILS, "its certificate is not valid for that name"),
    Reason.NO_TLS: (ProbeOutcome.FAILS, "what answers there does not speak TLS"),
    Reason.OTHERWISE: (ProbeOutcome.FAILS, "the flag has another value than was said"),
    Reason.NOT_ALLOWED: (ProbeOutcome.UNKNOWN, "looking there is not allowed for this tenant"),
    Reason.INTERNAL_ADDRESS: (ProbeOutcome.UNKNOWN, "the name leads to an address that is not probed"),
    Reason.LEADS_ELSEWHERE: (ProbeOutcome.UNKNOWN, "it leads to where looking is not allowed"),
    Reason.REDIRECTS_ON: (ProbeOutcome.UNKNOWN, "it leads on and on"),
    Reason.WANTS_MORE: (ProbeOutcome.UNKNOWN, "it asks for more than a probe gives"),
    Reason.UNREADABLE: (ProbeOutcome.UNKNOWN, "what was found there cannot be judged"),
    Reason.UNRESOLVED: (ProbeOutcome.UNKNOWN, "the name could not be looked up"),
    Reason.NO_WAY: (ProbeOutcome.UNKNOWN, "there was no way to it from here"),
    Reason.NO_VALUE: (ProbeOutcome.UNKNOWN, "nobody knows the value of the flag"),
    Reason.NO_PROBER: (ProbeOutcome.UNKNOWN, "nothing here can look at such a thing"),
    Reason.NO_ROOM: (ProbeOutcome.UNKNOWN, "too many probes were under way"),
    Reason.LATE: (ProbeOutcome.UNKNOWN, "the look was not done in time"),
    Reason.FAULT: (ProbeOutcome.UNKNOWN, "the look went wrong"),
}


class ProbeVerdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one look found, and when."""

    reason: Reason
    probed_at: datetime

    @property
    def outcome(self) -> ProbeOutcome:
        """What it says about the memory."""
        return outcome_of(self.reason)


def outcome_of(reason: Reason) -> ProbeOutcome:
    """What a reason says about the memory."""
    return _MEANINGS[reason][0]


def advice(verdicts: Iterable[ProbeVerdict]) -> Advice | None:
    """The worst of the verdicts in words, the oldest of its kind; None where nothing was looked at.

    One failure is enough to say "do not act on this". That everything is still there does not make the memory
    true, so the warning about its age stays.
    """
    by_outcome: dict[ProbeOutcome, list[ProbeVerdict]] = {}
    for verdict in verdicts:
        by_outcome.setdefault(verdict.outcome, []).append(verdict)
    for outcome in (ProbeOutcome.FAILS, ProbeOutcome.UNKNOWN, ProbeOutcome.HOLDS):
        if outcome in by_outcome:
            worst = min(by_outcome[outcome], key=lambda verdict: verdict.probed_at)
            return Advice(outcome=outcome, probed_at=worst.probed_at, note=_note(outcome, worst))
    return None


def target(kind: TargetKind, text: str) -> Target | None:
    """The thing in its plain form; None where it cannot be read for sure."""
    what = _plain(kind, text)
    return None if what is None else Target(kind=kind, what=what)


def targets_of(named: Iterable[tuple[TargetKind, str]]) -> tuple[Target, ...]:
    """The first few things to look at among those that a memory names, each once, in their order."""
    found = (target(kind, text) for kind, text in named)
    return tuple(dict.fromkeys(one for one in found if one is not None))[:TARGETS_PER_MEMORY_MAX]


def place_of(one: Target) -> Place | None:
    """Where a URL or an endpoint lies, read anew; None for everything else."""
    match one.kind:
        case TargetKind.URL:
            return _place_of_url(one.what)
        case TargetKind.ENDPOINT:
            return _place_of_endpoint(one.what)
        case TargetKind.DNS_NAME | TargetKind.PATH | TargetKind.FLAG:
            return None


def flag_of(what: str) -> tuple[str, bool | None] | None:
    """The name of a flag, and the value that it is said to have if one is said."""
    found = _FLAG.fullmatch(what)
    if found is None:
        return None
    said = found["said"]
    return found["name"], None if said is None else said.lower() in {"on", "true"}


def host_in(text: str) -> str | None:
    """A host name, or an address in its plain form; what only some programs read as one is none."""
    host = text.lower().removesuffix(".")
    if not host.isascii() or len(host) > _HOST_CHARACTERS_MAX:
        return None
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host if _HOST.fullmatch(host) and not _NUMBER.fullmatch(host.rpartition(".")[2]) else None
    # A zone is a matter of this machine.
    return None if "%" in host else address.compressed


_HOST_CHARACTERS_MAX: Final = 253
_PORTS: Final = range(1, 65_536)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_COMPONENTS_MAX: Final = 64

_LABEL: Final = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_AUTHORITY: Final = r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9._-]{1,254}))"
_URL: Final = re.compile(
    rf"(?P<scheme>https?)://{_AUTHORITY}(?::(?P<port>[0-9]{{1,5}}))?"
    r"(?P<path>/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(?:#.*)?",
    re.ASCII,
)
_ENDPOINT: Final = re.compile(rf"{_AUTHORITY}:(?P<port>[0-9]{{1,5}})", re.ASCII)
# A step upwards, or a separator that hides from whoever compares the beginnings of paths.
_CLIMBS: Final = re.compile(r"(^|/)\.{1,2}(/|$)|%2e|%2f|%5c|%00", re.ASCII | re.IGNORECASE)
_FLAG: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._:/-]{0,199})(?:=(?P<said>on|off|true|false))?", re.ASCII
)


def _plain(kind: TargetKind, text: str) -> str | None:
    match kind:
        case TargetKind.URL | TargetKind.ENDPOINT:
            place = _place_of_url(text) if kind is TargetKind.URL else _place_of_endpoint(text)
            return None if place is None else _written(place)
        case TargetKind.DNS_NAME:
            return _name_in(text)
        case TargetKind.PATH:
            return _path_in(text)
        case TargetKind.FLAG:
            flag = flag_of(text)
            if flag is None:
                return None
            name, value = flag
            return name if value is None else f"{name}={'on' if value else 'off'}"


def _written(place: Place) -> str:
    host = f"[{place.host}]" if ":" in place.host else place.host
    if place.scheme == "tcp":
        return f"{host}:{place.port}"
    port = "" if place.port == _DEFAULT_PORTS[place.scheme] else f":{place.port}"
    return f"{place.scheme}://{host}{port}{place.path}"


def _place_of_url(text: str) -> Place | None:
    """The scheme is taken in either case; a query is not taken, since to ask a question may be to act."""
    scheme, colon, rest = text[:URL_CHARACTERS_MAX].partition(":")
    found = _URL.fullmatch(scheme.lower() + colon + rest)
    if found is None or len(text) > URL_CHARACTERS_MAX:
        return None
    path = found["path"] or "/"
    return None if _CLIMBS.search(path) else _placed(found["scheme"], found, path)


def _place_of_endpoint(text: str) -> Place | None:
    found = _ENDPOINT.fullmatch(text)
    return None if found is None else _placed("tcp", found, "")


def _placed(scheme: str, found: re.Match[str], path: str) -> Place | None:
    """The host in brackets is an IPv6 address, and one without them is none."""
    host = host_in(found["six"] or found["host"])
    port = int(found["port"]) if found["port"] is not None else _DEFAULT_PORTS[scheme]
    if host is None or port not in _PORTS or (":" in host) is not (found["six"] is not None):
        return None
    return Place(scheme, host, port, path)


def _name_in(text: str) -> str | None:
    """A name for DNS: an address has none to look up."""
    host = host_in(text)
    return host if host is not None and _HOST.fullmatch(host) and not _is_address(host) else None


def _is_address(host: str) -> bool:
    return bool(_NUMBER.fullmatch(host.rpartition(".")[2]))


def _path_in(text: str) -> str | None:
    """An absolute path without a step upwards; one slash at its end says nothing."""
    path = text.removesuffix("/")
    steps = path.split("/")[1:]
    if not path.startswith("/") or len(path) > PATH_CHARACTERS_MAX or not path.isprintable():
        return None
    if len(steps) > _COMPONENTS_MAX or any(step in {"", ".", ".."} for step in steps):
        return None
    return path


def _note(outcome: ProbeOutcome, verdict: ProbeVerdict) -> str:
    when = f"{verdict.probed_at:%Y-%m-%d %H:%M} UTC"
    said = _MEANINGS[verdict.reason][1]
    match outcome:
        case ProbeOutcome.FAILS:
            return f"Do not act on this: what it names was looked at on {when}, and {said}."
        case ProbeOutcome.UNKNOWN:
            return f"What it names could not be checked on {when}: {said}."
        case ProbeOutcome.HOLDS:
            return f"What it names was looked at on {when}: {said}. That alone does not make it true."
