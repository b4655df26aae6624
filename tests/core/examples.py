"""What the tests of the rules are built from: one memory, one caller, one moment, one event of each type.

Every builder takes changes by name, so that a test states only what it is about.
"""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tenure.core.access_events import AccessDenied, KeyCreated, KeyRevoked
from tenure.core.admission import default_policy
from tenure.core.events import (
    Admitted,
    AlertRaised,
    Endorsed,
    ErasureBegun,
    Event,
    EventData,
    Expired,
    ForgetProbed,
    HoldPlaced,
    HoldReleased,
    MemoryForgotten,
    Promoted,
    Quarantined,
    Recalled,
    Refused,
    Rejected,
    Renewed,
    Revised,
    Revoked,
    ScopeCompacted,
    ScopedKeyForgotten,
    Secret,
    SubjectErased,
    SubjectForgotten,
    Superseded,
)
from tenure.core.identity import Caller, Grants, Moment, Role, Scope, SourceType, Tier
from tenure.core.incident_events import (
    CalledTool,
    Held,
    Influenced,
    Looked,
    PolicyReevaluated,
    PolicySwitched,
    SourceRevocationFinished,
    SourceRevoked,
    ToolAuthorized,
    ToolRefused,
)
from tenure.core.memory import Memory, evolve
from tenure.core.proposals import Remember
from tenure.core.refused_parameters import RefusedParameter
from tenure.core.retention import Ladder
from tenure.core.scanning import Finding, FindingKind
from tenure.core.truth_events import (
    ContradictionFound,
    ContradictionResolved,
    Corroborated,
    Merged,
    Pruned,
    Reinstated,
    Unmerged,
    ValidUntil,
)
from tenure.core.vocabulary import Claim, Kind, Origin, Source, Trust, Verdict
from tenure.core.write_facts import WriteFacts, WriteRules

NOW: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER: Final = NOW + timedelta(hours=1)
FINGERPRINT: Final = bytes(range(32))
MODEST: Final = settings(max_examples=60, deadline=None)
"""How hard the properties are tried: enough to find what a table would miss, and still quick."""

CONTENT: Final = "Prefers the blue notebook"
KEY: Final = "favourite-notebook"
URI: Final = "https://mail.example/thread/marker-in-uri"
CLAIM: Final = Claim(entity="marker-entity", attribute="marker-attribute", value="marker-value")
REASON: Final = "marker-in-reason"
SECRET: Final = Secret(
    content=CONTENT,
    fingerprint=FINGERPRINT,
    key=KEY,
    key_digest=b"k" * 32,
    claim=CLAIM,
    uri=URI,
    reason=REASON,
)

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=80)
"""Any text that the store can carry."""


def id_of(number: int) -> UUID:
    """An id that is plain to read in a failure."""
    return UUID(int=number)


def moment(*, now: datetime = NOW, number: int = 100) -> Moment:
    """The world at a fixed time, with a fresh id that is known beforehand."""
    return Moment(now=now, fresh_id=id_of(number))


def caller(*roles: Role, **changes: object) -> Caller:
    """A caller of the tenant acme with these roles and no narrowed side; changes are to its grants."""
    grants = replace(Grants(roles=frozenset(roles)), **changes)
    return Caller(tenant="acme", id="caller-1", name="Caller one", grants=grants)


WRITER: Final = caller(Role.WRITER)
REVIEWER: Final = replace(caller(Role.REVIEWER), id="reviewer-1")


def source(**changes: object) -> Source:
    """A message that a person wrote."""
    return replace(Source(type=SourceType.DIRECT_USER, id="message-1"), **changes)


def proposal(**changes: object) -> Remember:
    """A person's own preference, which the default policy admits."""
    return replace(
        Remember(
            agent="support",
            purpose="service",
            subject="customer-7",
            kind=Kind.PREFERENCE,
            content=CONTENT,
            source=source(),
        ),
        **changes,
    )


def facts(**changes: object) -> WriteFacts:
    """Nothing was found, and nothing is in the way."""
    return replace(WriteFacts(findings=(), fingerprint=FINGERPRINT), **changes)


def finding(kind: FindingKind) -> Finding:
    """One finding of a kind."""
    return Finding(kind=kind, rule=f"{kind}.example", scanner="example/1", start=0, end=4, confidence=0.9)


RULES: Final = WriteRules(policy=default_policy(), ladder=Ladder())


def admitted(**changes: object) -> Admitted:
    """What is known of an admitted memory, without anything that may be left out."""
    return replace(
        Admitted(
            agent="support",
            purpose="service",
            kind=Kind.PREFERENCE,
            scope=Scope(tier=Tier.USER, id="customer-7"),
            source_type=SourceType.DIRECT_USER,
            source_id="message-1",
            trust=Trust.USER_ASSERTED,
            confidence=1.0,
            expires_at=NOW + timedelta(days=90),
            rule="direct_user_preference",
            reason="a person states their own preference",
            policy_version="default-1",
            tokens=5,
        ),
        **changes,
    )


def quarantined(**changes: object) -> Quarantined:
    """What is known of a memory that is held back."""
    held = {name: getattr(admitted(), name) for name in admitted().__struct_fields__}
    held |= {"source_type": SourceType.EMAIL, "trust": Trust.UNTRUSTED, "rule": "external_source"}
    return replace(Quarantined(**held), **changes)


def revised(**changes: object) -> Revised:
    """A new version of a memory, by the same person."""
    return replace(
        Revised(
            source_type=SourceType.DIRECT_USER,
            source_id="message-2",
            trust=Trust.USER_ASSERTED,
            confidence=0.5,
            rule="direct_user_preference",
            reason="a person states their own preference",
            policy_version="default-1",
            tokens=7,
        ),
        **changes,
    )


def event(data: EventData, **changes: object) -> Event:
    """Something that happened to memory 1 of customer-7."""
    return replace(
        Event(
            tenant="acme",
            at=NOW,
            actor="caller-1",
            data=data,
            stream=id_of(1),
            version=1,
            subject="customer-7",
            secret=SECRET,
        ),
        **changes,
    )


def memory(**changes: object) -> Memory:
    """An active memory at version 1, written now."""
    return replace(evolve(None, event(admitted())), **changes)


def held_memory(**changes: object) -> Memory:
    """A quarantined memory at version 1, written now by somebody who is not the reviewer."""
    return replace(evolve(None, event(quarantined())), **changes)


_FULL: Final = {
    "source_version": "2",
    "observed_at": NOW - timedelta(days=1),
    "thread": "thread-1",
    "position": 3,
    "valid_from": NOW - timedelta(days=2),
    "valid_to": NOW + timedelta(days=2),
    "supersedes": id_of(2),
    "derived_from": (id_of(3), id_of(4)),
    "origins": (Origin(type=SourceType.EMAIL, id="mail-1"), Origin(type=SourceType.WEB, id="page-1")),
    "findings": (
        Verdict(kind="sensitive", rule="iban", scanner="sensitive/1", start=0, end=4, confidence=0.9),
    ),
}
_REVISED_TOO: Final = ("source_version", "observed_at", "thread", "position", "origins", "findings")

EXAMPLES: Final[tuple[EventData, ...]] = (
    admitted(**_FULL, scope=Scope(tier=Tier.TASK, id="task-1", session="session-1", user="customer-7")),
    quarantined(**_FULL),
    Refused(
        agent="support",
        purpose="service",
        kind=Kind.EXTERNAL_CLAIM,
        source_type=SourceType.WEB,
        source_id="page-1",
        rule="attack",
        reason="a scanner found an instruction aimed at the agent",
        policy_version="default-1",
        fingerprint=FINGERPRINT,
        findings=(Verdict(kind="attack", rule="orders", scanner="words/1", start=0, end=9, confidence=1.0),),
    ),
    Promoted(trust=Trust.REVIEWER_VERIFIED),
    Endorsed(),
    Rejected(),
    Superseded(by=id_of(2)),
    revised(**{name: _FULL[name] for name in _REVISED_TOO}),
    Renewed(expires_at=NOW + timedelta(days=30)),
    Revoked(),
    Expired(expired_at=NOW - timedelta(minutes=5)),
    SubjectForgotten(),
    MemoryForgotten(again=FINGERPRINT, first_at=NOW - timedelta(days=1)),
    ScopedKeyForgotten(
        agent="support",
        purpose="service",
        key_digest=b"k" * 16,
        scope=Scope(tier=Tier.TASK, id="task-1", session="session-1"),
        floors=("task:task-1", "session:session-1", "user:*"),
        holds_until=NOW + timedelta(hours=1),
        probe_at=NOW + timedelta(minutes=61),
        again=FINGERPRINT,
        first_at=NOW - timedelta(days=1),
    ),
    ForgetProbed(passed=False, found_in="user:customer-7", probe_at=NOW + timedelta(days=90)),
    ScopeCompacted(agent="support", purpose="service", tier="task", scope_id="task-1"),
    HoldPlaced(review_at=NOW + timedelta(days=180)),
    HoldReleased(),
    ErasureBegun(keys=(id_of(6), id_of(7)), again=FINGERPRINT, first_at=NOW - timedelta(days=1)),
    SubjectErased(certificate='{"statement":{}}', begun_seq=12),
    AlertRaised(kind="forget-failed", message="a key can be read again", about=str(id_of(8))),
    AccessDenied(permission="memory:recall", because="that agent was not granted", field="agent"),
    KeyCreated(
        key_id=id_of(5),
        name="mail connector",
        grants=Grants(
            roles=frozenset({Role.WRITER, Role.READER}),
            agents=frozenset({"support", "sales"}),
            purposes=frozenset({"service"}),
            subjects=frozenset({"customer-7"}),
            source_types=frozenset({SourceType.EMAIL}),
            model_driven=True,
        ),
        secret_hash=FINGERPRINT,
    ),
    KeyRevoked(key_id=id_of(5)),
    Recalled(
        agent="support",
        purpose="service",
        query_fingerprint=FINGERPRINT,
        memory_ids=(id_of(1), id_of(2)),
        limit=10,
        kinds=(Kind.FACT, Kind.PREFERENCE),
        min_trust=Trust.USER_ASSERTED,
        budget_tokens=800,
    ),
    Influenced(
        response_id="response-1",
        used_memory_ids=(id_of(1),),
        tool_calls=(CalledTool(id="call-1", name="send_mail", arguments_fingerprint="0f1e"),),
    ),
    Held(rule="external_source", reason="text from outside waits", policy_version="strict-2"),
    Looked(what="get", returned=1, memory_id=id_of(1)),
    SourceRevoked(source_type="email", source_id="message-9", reason="phished", detected_at=NOW),
    SourceRevocationFinished(seq=12, revoked=3, seconds=1.5, responses=2, tool_calls=1),
    PolicySwitched(version="strict-2", digest="ab12", before="default-1"),
    PolicyReevaluated(seq=14, version="strict-2", examined=100, held=4),
    ToolAuthorized(tool="pay_supplier", resolved=("iban",), receipt_ids=(id_of(6),)),
    ToolRefused(
        tool="pay_supplier",
        refused=(RefusedParameter(parameter="iban", because="memory", memory_ids=(id_of(1),)),),
        receipt_ids=(id_of(6),),
    ),
    Merged(into=id_of(2), voices=3, trusted_voices=2, cosine=0.984),
    Unmerged(
        out_of=id_of(2),
        voices=2,
        trusted_voices=1,
        source_id="message-1",
        observed_at=NOW - timedelta(days=1),
    ),
    Corroborated(memory_id=id_of(1), by=id_of(2), voices=2, trusted_voices=2),
    ContradictionFound(
        agent="support",
        purpose="service",
        believed=id_of(2),
        doubted=id_of(1),
        effect="superseded",
        because="claim",
        valid_to_before=NOW + timedelta(days=2),
    ),
    ContradictionResolved(kept=id_of(2)),
    ValidUntil(because_of=id_of(2), valid_to=NOW),
    Reinstated(
        instead_of=id_of(2),
        source_id="message-1",
        observed_at=NOW - timedelta(days=1),
        valid_to=NOW + timedelta(days=2),
    ),
    Pruned(because="superseded"),
)
"""One event of each type with every field given, as the golden files hold it."""
