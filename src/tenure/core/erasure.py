"""Erasing a subject, and the certificate that says so (SPEC F7, F8, F10). Pure.

    erasing = begin(…)                      out of every read, at once; no new use of the old keys
    (the keys are destroyed, bodies and words taken away, and what is left is looked for)
    certificate(erasing, checks, …)         signed by the installation, verified offline

Laws: nothing is erased under a hold; a certificate names ids and counts, never content; the same certificate
is given again until there is something new to erase.
"""

import base64
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.decision import Decided, Refused
from tenure.core.events import ErasureBegun, Event, SubjectErased
from tenure.core.holds import forbids
from tenure.core.identity import Caller, Moment, checked_name
from tenure.core.rows import ErasureRow, HoldRow
from tenure.core.wording import Language, analyse

FORMAT: Final = "tenure-erasure-certificate/1"
SAMPLED_MAX: Final = 40
"""So many contents are looked for in the files, byte by byte: the shortest and the longest say most."""
NEEDLE_BYTES_MIN: Final = 6
METADATA_KEPT: Final = (
    "event headers: ids, times, kinds, actors, sources, trust, rules and versions, so that the log verifies",
    "forget floors: the subject's id and keyed digests of keys, so that old data cannot come back",
    "answers of idempotency keys: keyed digests of requests, so that a repeated command is not done twice",
    "digests of proposals that the gate refused: keyed, without content",
)
OUT_OF_REACH: Final = (
    "copies of the keyring made before: until they are destroyed, or the root key and all its copies are",
    "what callers were answered before: prompts, responses, their own logs and caches",
    "copies that the operator's machines made: snapshots, swap, database logs that are not recycled yet",
)


class EraseFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read before deciding."""

    hold: HoldRow | None
    last: ErasureRow | None
    keys: tuple[UUID, ...]
    memories: int


class Erasing(msgspec.Struct, frozen=True, kw_only=True):
    """An erasure under way, or one that is done and has its certificate at this position."""

    erasure_id: UUID
    begun_seq: int
    done_seq: int = 0


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One look for what could be left, and what it found."""

    name: str
    passed: bool
    detail: str


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What a certificate says. Its exact bytes, sorted by name and without spaces, are what is signed."""

    format: str
    certificate_id: UUID
    tenant: str
    subject: str
    requested_by: str
    begun_at: datetime
    completed_at: datetime
    final_after: datetime
    memories_erased: int
    memory_ids: tuple[UUID, ...]
    sealed_bodies_removed_up_to: int
    keys_destroyed: tuple[UUID, ...]
    log_position: int
    log_link: str
    metadata_kept: tuple[str, ...]
    checks: tuple[Check, ...]
    out_of_reach: tuple[str, ...]


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """A statement, and who signed it: Ed25519 (RFC 8032) over the statement's canonical bytes."""

    statement: Statement
    public_key: str
    signature: str


def begin(subject: str, facts: EraseFacts, caller: Caller, moment: Moment) -> Decided[Erasing] | Refused:
    """Take everything out of every read and name the keys to destroy; refused under a hold."""
    checked_name(subject, field="subject")
    if facts.hold is not None:
        return Refused(forbids(facts.hold))
    last = facts.last
    if last is not None and not facts.keys and facts.memories == 0:
        return Decided(
            answer=Erasing(erasure_id=last.erasure_id, begun_seq=last.begun_seq, done_seq=last.done_seq)
        )
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        data=ErasureBegun(keys=facts.keys),
        stream=moment.fresh_id,
        subject=subject,
    )
    return Decided(answer=Erasing(erasure_id=moment.fresh_id, begun_seq=0), events=(event,))


def completed(certificate: Certificate, begun: Event, begun_seq: int, moment: Moment) -> Event:
    """The event that ends an erasure."""
    return Event(
        tenant=begun.tenant,
        at=moment.now,
        actor=begun.actor,
        stream=begun.stream,
        subject=begun.subject,
        data=SubjectErased(certificate=msgspec.json.encode(certificate).decode(), begun_seq=begun_seq),
    )


def signed_bytes(statement: Statement) -> bytes:
    """What a certificate's signature is over."""
    return msgspec.json.encode(statement, order="sorted")


def needles(contents: Iterable[str]) -> list[bytes]:
    """The byte sequences that a content would show as: text in three codings, base64 and JSON (SPEC F7).

    A lone word is not looked for as it stands: it may be another subject's, in the word index, or an id.
    """
    found: list[bytes] = []
    for content in contents:
        text = content.strip()
        plain = text.encode("utf-8", "surrogatepass")
        if len(plain) < NEEDLE_BYTES_MIN:
            continue
        shown = [plain, json.dumps(text)[1:-1].encode()]
        shown.append(json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass"))
        found += shown if _tells(text) else [one for one in shown if one != plain]
        found += [text.encode("utf-16-le", "surrogatepass"), text.encode("utf-16-be", "surrogatepass")]
        found += _in_base64(plain)
    return list(dict.fromkeys(found))


def indexed(texts: Iterable[str], language: Language = Language.ENGLISH) -> list[bytes]:
    """How the word index writes the words of texts down: each text's own, sorted, as JSON."""
    return [
        msgspec.json.encode(words)
        for words in (sorted(set(analyse(text, language))) for text in texts)
        if len(words) > 1
    ]


def sampled(contents: Sequence[str]) -> list[str]:
    """Some of the contents: the shortest and the longest, up to a fixed number."""
    if len(contents) <= SAMPLED_MAX:
        return list(contents)
    ordered = sorted(contents, key=len)
    return [*ordered[: SAMPLED_MAX // 2], *ordered[-SAMPLED_MAX // 2 :]]


def _tells(text: str) -> bool:
    """Whether a text is more than one word, also where words are not parted by spaces."""
    return len(text.split()) > 1 or (not text.isascii() and len(analyse(text)) > 1)


def _in_base64(plain: bytes) -> list[bytes]:
    """How bytes look inside base64, wherever they begin in a group of three."""
    found = []
    for before in range(3):
        text = base64.b64encode(bytes(before) + plain)
        first = -(-before * 8 // 6) if before else 0
        last = (before + len(plain)) * 8 // 6
        piece = text[first:last]
        if len(piece) >= NEEDLE_BYTES_MIN:
            found.append(piece)
    return found


def decoded(text: str | bytes) -> Certificate:
    """A certificate as it was stored; raises msgspec.DecodeError or ValidationError."""
    return msgspec.json.decode(text, type=Certificate)
