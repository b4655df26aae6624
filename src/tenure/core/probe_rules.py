"""What may be looked at, tenant by tenant: without a rule, nothing (SPEC T6).

    TENANT RULE             the tenant by its name, or * for every tenant

    https://status.example.com              any path there, port 443
    http://10.0.0.7:8080/health/*           what lies below a path
    https://*.example.com/version           any name below a domain, not the domain itself; exactly that path
    tcp://db.example.com:5432               a port; 8000-8099 is every port from the first to the last
    dns:*.example.com
    file:/etc/nginx/*                       what lies below a folder, which must lie in one of the roots
    flag:checkout-*

A star stands at the beginning of a name or at the end of a path or flag, and nowhere else.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from tenure.core.probing import Place, Target, TargetKind, flag_of, host_in, place_of, target

EVERY_TENANT: Final = "*"


class BadRule(ValueError):
    """The text is no rule; the message says what one looks like."""


class ProbeRule(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing, or one family of things, that a tenant may have looked at; made by ``probe_rule``."""

    tenant: str
    kind: TargetKind
    scheme: str = ""
    host: str = ""
    ports: tuple[int, int] = (0, 0)
    text: str = ""
    """The path or the flag, up to its star."""
    is_beginning: bool = False

    def permits(self, one: Target) -> bool:
        """Whether it covers this thing."""
        if one.kind is not self.kind:
            return False
        match one.kind:
            case TargetKind.URL | TargetKind.ENDPOINT:
                place = place_of(one)
                return place is not None and self._covers_place(place)
            case TargetKind.DNS_NAME:
                return self._covers_host(one.what)
            case TargetKind.PATH:
                return self._covers_text(one.what)
            case TargetKind.FLAG:
                flag = flag_of(one.what)
                return flag is not None and self._covers_text(flag[0])

    def _covers_place(self, place: Place) -> bool:
        first, last = self.ports
        return (
            place.scheme == self.scheme
            and first <= place.port <= last
            and self._covers_host(place.host)
            and self._covers_text(place.path)
        )

    def _covers_host(self, host: str) -> bool:
        return host.endswith(self.host[1:]) if self.host.startswith("*") else host == self.host

    def _covers_text(self, text: str) -> bool:
        """Below a beginning is more than the beginning itself."""
        if not self.is_beginning:
            return text == self.text
        return text.startswith(self.text)


class Allowances:
    """The rules of all tenants."""

    def __init__(self, rules: Iterable[ProbeRule] = ()) -> None:
        self._by_tenant: dict[str, list[ProbeRule]] = {}
        for rule in rules:
            self._by_tenant.setdefault(rule.tenant, []).append(rule)

    def permits(self, tenant: str, one: Target) -> bool:
        """Whether this tenant may have this looked at."""
        names = {tenant, EVERY_TENANT}
        return any(rule.permits(one) for name in names for rule in self._by_tenant.get(name, ()))


def allowances(texts: Iterable[str]) -> Allowances:
    """The rules that these texts are. Raises BadRule."""
    return Allowances([probe_rule(text) for text in texts])


def probe_rule(text: str) -> ProbeRule:
    """The rule that a text is. Raises BadRule."""
    tenant, _, rule = text.strip().partition(" ")
    rule = rule.strip()
    for kind, shape in _SHAPES:
        found = shape.fullmatch(rule)
        if found is not None and tenant:
            made = _made(tenant, kind, found.groupdict(default=""))
            if made is not None:
                return made
    raise BadRule(
        f"{text!r} allows nothing: write the tenant (or *), a space, and https://HOST, "
        "http://HOST:PORT/PATH/*, tcp://HOST:PORT, dns:NAME, file:/PATH/* or flag:NAME"
    )


_HOST: Final = r"(?P<star>\*\.)?(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+))"
_SHAPES: Final = (
    (TargetKind.URL, re.compile(rf"(?P<scheme>https?)://{_HOST}(?::(?P<port>[0-9]+))?(?P<text>/[^\s*?#]*\*?)?")),
    (TargetKind.ENDPOINT, re.compile(rf"tcp://{_HOST}:(?P<port>[0-9]{{1,5}})(?:-(?P<last>[0-9]{{1,5}}))?")),
    (TargetKind.DNS_NAME, re.compile(rf"dns:{_HOST}")),
    (TargetKind.PATH, re.compile(r"file:(?P<text>/[^*]*\*?)")),
    (TargetKind.FLAG, re.compile(r"flag:(?P<text>[^\s*=]*\*?)")),
)  # fmt: skip


def _made(tenant: str, kind: TargetKind, parts: dict[str, str]) -> ProbeRule | None:
    match kind:
        case TargetKind.URL | TargetKind.ENDPOINT | TargetKind.DNS_NAME:
            return _placed(tenant, kind, parts)
        case TargetKind.PATH | TargetKind.FLAG:
            return _named(tenant, kind, parts["text"])


def _placed(tenant: str, kind: TargetKind, parts: dict[str, str]) -> ProbeRule | None:
    """A rule about a host: it is read as a target would be, so that both mean the same."""
    host = host_in(parts["six"] or parts["host"])
    if host is None or (parts["six"] and parts["star"]):
        return None
    star = "*." if parts["star"] else ""
    if kind is TargetKind.DNS_NAME:
        named = target(kind, host)
        return None if named is None else ProbeRule(tenant=tenant, kind=kind, host=star + host)
    scheme, said, text = parts.get("scheme") or "tcp", parts.get("port", ""), parts.get("text", "")
    # The text up to its star must itself be something to look at: no step upwards, no odd character.
    inside = f"[{host}]" if ":" in host else host
    port = f":{said}" if said else ""
    example = (
        f"{inside}{port}" if kind is TargetKind.ENDPOINT else f"{scheme}://{inside}{port}{text.rstrip('*')}"
    )
    read = target(kind, example)
    place = None if read is None else place_of(read)
    if place is None or not _ends_a_step(text):
        return None
    last = int(parts.get("last") or place.port)
    if not place.port <= last < 65_536:  # noqa: PLR2004 -- the last port that there is
        return None
    is_beginning = kind is TargetKind.URL and (not text or text.endswith("*"))
    return ProbeRule(
        tenant=tenant,
        kind=kind,
        scheme=scheme,
        host=star + host,
        ports=(place.port, last),
        text=place.path,
        is_beginning=is_beginning,
    )


def _named(tenant: str, kind: TargetKind, text: str) -> ProbeRule | None:
    """A rule about a file or a flag."""
    beginning = text.removesuffix("*")
    is_beginning = beginning != text
    if kind is TargetKind.PATH:
        read = target(kind, beginning)
        if read is None or not _ends_a_step(text):
            return None
        beginning = f"{read.what}/" if is_beginning else read.what
    elif beginning and flag_of(beginning) is None:
        return None
    if not beginning and not is_beginning:
        return None
    return ProbeRule(tenant=tenant, kind=kind, text=beginning, is_beginning=is_beginning)


def _ends_a_step(text: str) -> bool:
    """A star after a slash, or none: ``/v1*`` would cover ``/v10``, which nobody means."""
    return not text.endswith("*") or text.endswith("/*")
