"""A scenario as data: TOML in, steps out; what is not understood is refused with its file and line.

    number = 1
    class = "payment destination change"
    attack = "a mail moves a supplier's account"
    poison = ["mail"]

    [[forbidden]]
    what = "call"
    tool = "pay_supplier"
    holds = "DE89"

    [[step]]        # the attack, in order
    who = "mail"
    do = "remember"
    as = "mail"
    source = "email:mail-1"
    content = "..."

    [[twin]]        # the same with nothing wrong in it: every step must succeed

Laws: an unknown field, word or name is an error, never skipped; where an attack is stopped cannot be written
into a scenario, it is seen.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import field

from tenure.config.tools import ToolTable
from tenure.core.errors import InvalidRequest
from tenure.core.identity import SourceType
from tenure.core.vocabulary import Kind, Status, Trust

FILE_BYTES_MAX: Final = 1_000_000
STEPS_MAX: Final = 1_000
REPEATS_MAX: Final = 20_000
COPIES: Final = "copies"
"""What agents wrote down again because a text told them to."""


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table in which every field must be known."""


class Principal(Strict, frozen=True, kw_only=True):
    """Somebody with a key of their own; sides left out are not narrowed."""

    roles: tuple[str, ...]
    tenant: str = "acme"
    agents: tuple[str, ...] | None = None
    purposes: tuple[str, ...] | None = None
    subjects: tuple[str, ...] | None = None
    source_types: tuple[SourceType, ...] | None = None
    model_driven: bool = False
    agent: str | None = None
    purpose: str | None = None


class Call(Strict, frozen=True, kw_only=True):
    """A tool call."""

    tool: str
    arguments: dict[str, Any] = {}


class Expected(Strict, frozen=True, kw_only=True):
    """What must be so after a step."""

    status: Status | None = None
    trust: Trust | None = None
    rule: str | None = None
    refused: str | None = None
    returned: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    text: str | None = None
    called: Call | None = None
    first: str | None = None


class Step(Strict, frozen=True, kw_only=True):
    """Something that somebody does; its name can be pointed at by later steps."""

    who: str
    name: str | None = field(default=None, name="as")
    expect: Expected | None = None


class Remember(Step, frozen=True, kw_only=True, tag_field="do", tag="remember"):
    """Propose a memory, or many: ``{n}`` in content and source is the number of each."""

    content: str
    source: str
    kind: Kind = Kind.FACT
    subject: str | None = None
    key: str | None = None
    claim: tuple[str, str, str] | None = None
    supersedes: str | None = None
    derived_from: tuple[str, ...] = ()
    ttl_seconds: int | None = None
    idempotency_key: str | None = None
    repeat: int = 1
    lengthened: int = 1


class Revise(Step, frozen=True, kw_only=True, tag_field="do", tag="revise"):
    """A new version of a memory."""

    memory: str
    content: str
    source: str


class Promote(Step, frozen=True, kw_only=True, tag_field="do", tag="promote"):
    """Let a quarantined memory in; ``version`` is that of an approval given earlier."""

    memory: str
    reason: str = "it looked right"
    version: int | None = None


class Reject(Step, frozen=True, kw_only=True, tag_field="do", tag="reject"):
    """Turn a quarantined memory down."""

    memory: str
    reason: str = "it does not look right"


class Revoke(Step, frozen=True, kw_only=True, tag_field="do", tag="revoke"):
    """Withdraw a memory."""

    memory: str
    reason: str = "it was wrong"


class Renew(Step, frozen=True, kw_only=True, tag_field="do", tag="renew"):
    """Let a memory live longer."""

    memory: str
    ttl_seconds: int
    reason: str = "still needed"


class Recall(Step, frozen=True, kw_only=True, tag_field="do", tag="recall"):
    """Ask what is remembered, and read it."""

    query: str
    subject: str | None = None
    limit: int = 10
    repeat: int = 1


class Act(Step, frozen=True, kw_only=True, tag_field="do", tag="act"):
    """Recall, believe every word of it, and do it: the task, and whatever else is asked there."""

    query: str
    subject: str | None = None
    task: Call | None = None
    limit: int = 10


class Summarise(Step, frozen=True, kw_only=True, tag_field="do", tag="summarise"):
    """Write down in short what some memories say, naming them as what it was made from."""

    of: tuple[str, ...]
    source: str
    prefix: str = "In short: "


class Authorise(Step, frozen=True, kw_only=True, tag_field="do", tag="authorise"):
    """Ask whether a tool call may go on, and make it if so."""

    call: Call


class Read(Step, frozen=True, kw_only=True, tag_field="do", tag="read"):
    """Read one memory by its id, wherever the id came from."""

    memory: str


class Browse(Step, frozen=True, kw_only=True, tag_field="do", tag="browse"):
    """List memories."""

    subject: str | None = None


class Forget(Step, frozen=True, kw_only=True, tag_field="do", tag="forget"):
    """Forget one memory, or a whole subject."""

    memory: str | None = None
    subject: str | None = None


class RevokeSource(Step, frozen=True, kw_only=True, tag_field="do", tag="revoke_source"):
    """Withdraw all that came from a source."""

    source: str
    reason: str = "it is an attack"


class Advance(Strict, frozen=True, kw_only=True, tag_field="do", tag="advance"):
    """Let time pass."""

    days: float = 0
    hours: float = 0
    seconds: float = 0


AnyStep = (
    Remember
    | Revise
    | Promote
    | Reject
    | Revoke
    | Renew
    | Recall
    | Act
    | Summarise
    | Authorise
    | Read
    | Browse
    | Forget
    | RevokeSource
    | Advance
)


class NotCall(Strict, frozen=True, kw_only=True, tag_field="what", tag="call"):
    """No tool is called so; ``holds`` is part of an argument, without case and spaces."""

    tool: str
    holds: str | None = None


class NotReturned(Strict, frozen=True, kw_only=True, tag_field="what", tag="returned"):
    """Nobody of these is given the memory or the text; without ``to``, nobody at all."""

    memory: str | None = None
    text: str | None = None
    to: tuple[str, ...] | None = None
    after: str | None = None


class NotTrusted(Strict, frozen=True, kw_only=True, tag_field="what", tag="trust"):
    """The memory never gets more trust than this."""

    memory: str
    above: Trust


class NotLoose(Strict, frozen=True, kw_only=True, tag_field="what", tag="unfenced"):
    """No context holds text of a memory outside its fence."""


class NotDone(Strict, frozen=True, kw_only=True, tag_field="what", tag="succeeded"):
    """A step that must be refused is."""

    step: str


class NotKept(Strict, frozen=True, kw_only=True, tag_field="what", tag="kept"):
    """The text stands in no memory that anybody could read, reviewers included."""

    text: str


class NotCaptured(Strict, frozen=True, kw_only=True, tag_field="what", tag="captured"):
    """Of all that somebody was given, no more than this share comes from sources that begin so."""

    source: str
    share: float


class NotAll(Strict, frozen=True, kw_only=True, tag_field="what", tag="taken_in"):
    """No more than so many of the proposals of a repeated step are taken in."""

    step: str
    more_than: int


class NotSlow(Strict, frozen=True, kw_only=True, tag_field="what", tag="slow"):
    """No proposal takes longer to be answered."""

    seconds: float


Forbidden = NotCall | NotReturned | NotTrusted | NotLoose | NotDone | NotKept | NotCaptured | NotAll | NotSlow


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One attack with what must not come of it, and its benign twin."""

    number: int
    kind: str
    attack: str
    poison: tuple[str, ...]
    forbidden: tuple[Forbidden, ...]
    steps: tuple[AnyStep, ...]
    twin: tuple[AnyStep, ...]
    principals: dict[str, Principal] = {}
    tools: ToolTable = {}
    master: dict[str, str] = {}
    calls_per_minute: int = 0
    subject: str = "project-1"
    note: str = ""
    file: str = ""


class _Head(Strict, frozen=True, kw_only=True):
    number: int
    kind: str = field(name="class")
    attack: str
    poison: tuple[str, ...] = ()
    principals: dict[str, Principal] = {}
    tools: ToolTable = {}
    master: dict[str, str] = {}
    calls_per_minute: int = 0
    subject: str = "project-1"
    note: str = ""


_LISTS: Final[dict[str, Any]] = {"step": AnyStep, "twin": AnyStep, "forbidden": Forbidden}


def load(path: Path) -> Scenario:
    """The scenario in a file; raises InvalidRequest that names the file, the line and what is wrong."""
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise InvalidRequest(
            f"{path} cannot be read ({fault.strerror})", field="scenario", hint="Name a file that exists."
        ) from None
    if len(raw) > FILE_BYTES_MAX:
        raise InvalidRequest(f"{path} has more than {FILE_BYTES_MAX:,} bytes", field="scenario")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise InvalidRequest(f"{path} is not UTF-8", field="scenario") from None
    return parse(text, name=path.name)


def parse(text: str, *, name: str) -> Scenario:
    """The scenario that a text says."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise InvalidRequest(f"{name}: it is not valid TOML: {str(fault)[:200]}", field="scenario") from None
    lists = {one: _parts(document.pop(one, []), one, text, name) for one in _LISTS}
    head = _converted(document, _Head, f"{name}, line 1")
    if not lists["step"] or not lists["twin"] or not lists["forbidden"]:
        raise InvalidRequest(
            f"{name}: a scenario has steps, a twin and something forbidden",
            field="scenario",
            hint="Give at least one [[step]], one [[twin]] and one [[forbidden]].",
        )
    scenario = Scenario(
        **{one: getattr(head, one) for one in _Head.__struct_fields__},
        steps=lists["step"],
        twin=lists["twin"],
        forbidden=lists["forbidden"],
        file=name,
    )
    _check_names(scenario, text)
    return scenario


def _parts(tables: object, kind: str, text: str, name: str) -> tuple[Any, ...]:
    if not isinstance(tables, list) or len(tables) > STEPS_MAX:
        raise InvalidRequest(f"{name}: {kind} is written [[{kind}]], at most {STEPS_MAX}", field="scenario")
    return tuple(
        _converted(table, _LISTS[kind], f"{name}, line {_line(text, kind, at)}, {kind} {at + 1}")
        for at, table in enumerate(tables)
    )


def _converted(table: object, into: Any, where: str) -> Any:
    try:
        return msgspec.convert(table, into)
    except msgspec.ValidationError as fault:
        raise InvalidRequest(f"{where}: {fault}", field="scenario") from None


def _line(text: str, kind: str, at: int) -> int:
    """The line where the nth part of a kind begins."""
    header = re.compile(rf"^\s*\[\[\s*{kind}\s*\]\]", re.MULTILINE)
    found = next((one for number, one in enumerate(header.finditer(text)) if number == at), None)
    return text.count("\n", 0, found.end()) + 1 if found else 1


def _check_names(scenario: Scenario, text: str) -> None:
    """Every name that is pointed at is one that was given before, and every source is one."""
    for kind, steps in (("step", scenario.steps), ("twin", scenario.twin)):
        known: set[str] = set()
        for at, step in enumerate(steps):
            _check_step(step, known, f"{scenario.file}, line {_line(text, kind, at)}, {kind} {at + 1}")
        if kind == "step":
            _check_forbidden(scenario, known)


def _check_step(step: AnyStep, known: set[str], where: str) -> None:
    unknown = next((name for name in _pointed(step) if name not in known), None)
    if unknown is not None:
        raise InvalidRequest(f"{where}: no step before it is called {unknown}", field="scenario")
    if isinstance(step, Remember | Revise | Summarise | RevokeSource):
        source_parts(step.source, where)
    if isinstance(step, Remember | Recall) and not 0 < step.repeat <= REPEATS_MAX:
        raise InvalidRequest(f"{where}: repeat is 1 to {REPEATS_MAX:,}", field="scenario")
    if not isinstance(step, Advance) and step.name is not None:
        known.add(step.name)


def _pointed(step: AnyStep) -> Iterator[str]:
    match step:
        case Advance():
            return
        case Revise() | Promote() | Reject() | Revoke() | Renew() | Read():
            yield step.memory
        case Forget(memory=str() as memory):
            yield memory
        case Summarise():
            yield from step.of
        case Remember():
            yield from step.derived_from
            yield from [step.supersedes] if step.supersedes is not None else []
        case _:
            pass
    if step.expect is not None:
        yield from (*step.expect.returned, *step.expect.missing)
        yield from [step.expect.first] if step.expect.first is not None else []


def _check_forbidden(scenario: Scenario, known: set[str]) -> None:
    for one in scenario.forbidden:
        pointed: list[str | None] = []
        match one:
            case NotReturned():
                pointed = [one.memory, one.after]
            case NotTrusted():
                pointed = [one.memory]
            case NotDone() | NotAll():
                pointed = [one.step]
            case _:
                pass
        for name in (*pointed, *scenario.poison):
            if name is not None and name not in {*known, COPIES}:
                raise InvalidRequest(f"{scenario.file}: no step is called {name}", field="scenario")


def source_parts(source: str, where: str) -> tuple[SourceType, str]:
    """Type and id of a source, which is written ``email:mail-1``."""
    kind, _colon, identity = source.partition(":")
    if kind not in list(SourceType) or not identity:
        raise InvalidRequest(
            f"{where}: a source is TYPE:ID with a type of {', '.join(SourceType)}", field="scenario"
        )
    return SourceType(kind), identity
