"""Importing conversations: one proposal a turn, each through the gate like any other write (SPEC L1, M4).

    for scope, turn in read_from_a_file:
        items += conversion.proposals(scope, turn)
    imported = import_batch(pipeline, tenant, items)

Laws: the same turn proposed again into the same boundary is answered, not stored again (SPEC L9); the gate
judges an imported turn as it judges any other write; converting is pure.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

import msgspec

from tenure.core.errors import InvalidRequest, MemoryRejected, NotFound, TenureError, Unavailable
from tenure.core.identity import NAME_CHARACTERS_MAX, Caller, Grants, Role, SourceType, checked_name
from tenure.core.proposals import Remember
from tenure.core.remembering import Written
from tenure.core.vocabulary import Kind, Outcome, Source
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER

LOCAL_IMPORT: Final = "local:import"
"""Who acts when the machine's owner vouches for a file (SPEC A3)."""
BATCH_ITEMS_MAX: Final = 500
CONTENT_CHARACTERS_MAX: Final = 2_000
SPEAKER_CHARACTERS_MAX: Final = 200
PROBLEMS_MAX: Final = 5
"""How many refused turns an answer names; it counts all of them."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a conversation as the file has it."""

    id: str | int
    text: str
    speaker: str = ""
    session: str | int = ""
    date: str | None = None


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, or a part of a long one, ready for the gate."""

    command: Remember
    idempotency_key: str


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was refused before the policy could judge it, and why; never its text."""

    source_id: str
    code: str
    message: str


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the proposals.

    ``rejected`` counts by the policy's rule, ``refused`` by the error's code. ``repeated`` were imported
    before; ``forgotten`` were too, and were forgotten since, so they stay away (SPEC F4a).
    """

    proposals: int = 0
    admitted: int = 0
    quarantined: int = 0
    repeated: int = 0
    forgotten: int = 0
    rejected: dict[str, int] = {}
    refused: dict[str, int] = {}
    problems: tuple[Trouble, ...] = ()

    def plus(self, other: "Imported") -> "Imported":
        """Both together."""
        return Imported(
            proposals=self.proposals + other.proposals,
            admitted=self.admitted + other.admitted,
            quarantined=self.quarantined + other.quarantined,
            repeated=self.repeated + other.repeated,
            forgotten=self.forgotten + other.forgotten,
            rejected=dict(Counter(self.rejected) + Counter(other.rejected)),
            refused=dict(Counter(self.refused) + Counter(other.refused)),
            problems=(*self.problems, *other.problems)[:PROBLEMS_MAX],
        )


class Conversion:
    """Turns into proposals for one boundary; it numbers the turns of each thread in the order they come."""

    def __init__(
        self,
        *,
        agent: str,
        purpose: str,
        subject: str | None = None,
        characters_max: int = CONTENT_CHARACTERS_MAX,
    ) -> None:
        self._agent = checked_name(agent, field="agent")
        self._purpose = checked_name(purpose, field="purpose")
        self._subject = checked_name(subject, field="subject") if subject is not None else None
        self._characters_max = min(characters_max, CONTENT_CHARACTERS_MAX)
        self._positions: Counter[str] = Counter()

    def proposals(self, scope_id: str, turn: Turn) -> Iterator[Proposed]:
        """One proposal for a turn, several for a long one; raises InvalidRequest for a speaker too long."""
        if len(turn.speaker) > SPEAKER_CHARACTERS_MAX:
            raise InvalidRequest(
                f"speaker may have at most {SPEAKER_CHARACTERS_MAX} characters", field="speaker"
            )
        subject = self._subject or valid_name(scope_id)
        thread = valid_name(f"{scope_id}/session-{turn.session}")
        observed_at = parsed_date(turn.date) if turn.date else None
        for number, content in enumerate(contents(turn.speaker, turn.text, self._characters_max), start=1):
            place = f"{scope_id}/{turn.id}" if number == 1 else f"{scope_id}/{turn.id}#{number}"
            position = self._positions[thread]
            self._positions[thread] += 1
            command = Remember(
                agent=self._agent,
                purpose=self._purpose,
                subject=subject,
                kind=Kind.FACT,
                content=content,
                source=Source(
                    type=SourceType.APPLICATION,
                    id=valid_name(place),
                    observed_at=observed_at,
                    thread=thread,
                    position=position,
                ),
            )
            yield Proposed(command=command, idempotency_key=self._key(subject, place))

    def _key(self, subject: str, place: str) -> str:
        """The same for the same turn and boundary; into another boundary it is another import."""
        said = f"{self._agent}\x1f{self._purpose}\x1f{subject}\x1f{place}"
        return f"import:{_digest(said, 40)}"


def local_import(tenant: str) -> Caller:
    """The owner of the store, vouching for a file: may write, as an application, and nothing else."""
    checked_name(tenant, field="tenant")
    return Caller(
        tenant=tenant,
        id=LOCAL_IMPORT,
        name="import on this machine",
        grants=Grants(roles=frozenset({Role.WRITER}), source_types=frozenset({SourceType.APPLICATION})),
    )


def import_batch(pipeline: Pipeline, tenant: str, items: Sequence[Proposed]) -> Imported:
    """Put proposals through the gate as one batch and count what became of them.

    Raises Unavailable when the store could not take them; what earlier batches stored stays.
    """
    if len(items) > BATCH_ITEMS_MAX:
        raise InvalidRequest(f"a batch has at most {BATCH_ITEMS_MAX} proposals", field="items")
    caller = local_import(tenant)
    known = _known_keys(pipeline, caller, items)
    answers = pipeline.run_many(REMEMBER, caller, [(item.command, item.idempotency_key) for item in items])
    tally = _Tally()
    for item, answer in zip(items, answers, strict=True):
        tally.count(item, answer, is_known=item.idempotency_key in known)
        known.add(item.idempotency_key)
    return tally.imported()


def valid_name(text: str) -> str:
    """The text itself where it may serve as an id, else one made from it: equal for equal text."""
    if _SOUND_NAME.fullmatch(text):
        return text
    kept = _UNSOUND_CHARACTER.sub("-", text).strip() or "-"
    return f"{kept[: NAME_CHARACTERS_MAX - 13].rstrip()}~{_digest(text, 12)}"


def contents(speaker: str, text: str, characters_max: int = CONTENT_CHARACTERS_MAX) -> Iterator[str]:
    """What the memories of a turn say; a long text is cut behind sentences, else words, else anywhere."""
    prefix = f"{speaker}: " if speaker else ""
    if not text.strip():
        # Said by nobody, so that the gate sees that there is nothing and rejects it.
        yield ""
    elif len(prefix) + len(text) <= characters_max:
        yield prefix + text
    else:
        prefix = prefix if len(prefix) * 2 <= characters_max else ""
        for part in _parts(text, characters_max - len(prefix)):
            yield prefix + part


@lru_cache(maxsize=1_024)
def parsed_date(text: str) -> datetime | None:
    """The moment that a conversation's date means, in UTC; None where the spelling is not known."""
    text = text.strip()
    try:
        if found := _SPOKEN.fullmatch(text):
            return _spoken(found)
        if found := _DASHED.fullmatch(text):
            return datetime(int(found["year"]), _month(found["month"]), int(found["day"]), tzinfo=UTC)
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# The same characters as identity.checked_name allows; kept beside it by a test.
_SOUND_NAME: Final = re.compile(r"[\w.@:+/#=~|-](?:[\w .@:+/#=~|-]{0,198}[\w.@:+/#=~|-])?")
_UNSOUND_CHARACTER: Final = re.compile(r"[^\w .@:+/#=~|-]")
_SPOKEN: Final = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2}) (?P<half>[ap]m) on "
    r"(?P<day>\d{1,2}) (?P<month>[a-z]+), (?P<year>\d{4})",
    re.IGNORECASE,
)
_DASHED: Final = re.compile(r"(?P<month>[a-z]+)-(?P<day>\d{1,2})-(?P<year>\d{4})", re.IGNORECASE)
# The program's language is fixed, so that a file means the same in every locale.
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_HALF_DAY_HOURS: Final = 12
_SENTENCE_ENDS: Final = ("\n", ". ", "! ", "? ", "。", "！", "？")  # noqa: RUF001 -- how Chinese and Japanese end them


def _spoken(found: re.Match[str]) -> datetime:
    hour = int(found["hour"])
    if not 1 <= hour <= _HALF_DAY_HOURS:
        raise ValueError("a clock of twelve hours has no such hour")
    hour = hour % _HALF_DAY_HOURS + (_HALF_DAY_HOURS if found["half"].lower() == "pm" else 0)
    return datetime(
        int(found["year"]), _month(found["month"]), int(found["day"]), hour, int(found["minute"]), tzinfo=UTC
    )


def _month(name: str) -> int:
    return _MONTHS.index(name.lower()) + 1


def _parts(text: str, room: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= room else _cut(text, start, start + room)
        part = text[start:end].strip()
        if part:
            yield part
        start = end


def _cut(text: str, start: int, limit: int) -> int:
    """Behind the last sentence in the second half of the room, else behind the last word, else at its end."""
    middle = (start + limit) // 2
    behind = max(
        (at + len(end) for end in _SENTENCE_ENDS if (at := text.rfind(end, middle, limit)) >= 0), default=0
    )
    if behind:
        return behind
    space = text.rfind(" ", middle, limit)
    return space + 1 if space >= 0 else limit


def _digest(text: str, characters: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:characters]


def _known_keys(pipeline: Pipeline, caller: Caller, items: Sequence[Proposed]) -> set[str]:
    """The keys that were answered before this batch; a repeated answer looks just like a first one."""
    with pipeline.store.reading() as reading:
        return {
            item.idempotency_key
            for item in items
            if reading.first_answer(caller.tenant, item.idempotency_key) is not None
        }


class _Tally:
    """Counts the answers of one batch."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._rejected: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._problems: list[Trouble] = []

    def count(self, item: Proposed, answer: Written | TenureError, *, is_known: bool) -> None:
        """Take one answer in; raises the error that says that the store cannot serve."""
        self._counts["proposals"] += 1
        match answer:
            case Unavailable():
                raise answer
            case NotFound() if is_known:
                self._counts["forgotten"] += 1
            case Written() | MemoryRejected() if is_known:
                self._counts["repeated"] += 1
            case MemoryRejected(rule=rule):
                self._rejected[rule] += 1
            case TenureError():
                self._refuse(item, answer)
            case Written(decision=decision):
                name = "admitted" if decision.outcome is Outcome.APPROVE else "quarantined"
                self._counts[name] += 1

    def imported(self) -> Imported:
        """The counts as an answer."""
        return Imported(
            **self._counts,
            rejected=dict(self._rejected),
            refused=dict(self._refused),
            problems=tuple(self._problems),
        )

    def _refuse(self, item: Proposed, error: TenureError) -> None:
        self._refused[error.code] += 1
        if len(self._problems) < PROBLEMS_MAX:
            self._problems.append(
                Trouble(source_id=item.command.source.id, code=error.code, message=error.message)
            )
