"""Callers and commands, in as few words as a test needs to say what matters to it."""

from itertools import count
from typing import Any
from uuid import UUID

from tenure.core.events import NAMES, Event
from tenure.core.identity import Caller, Grants, Role, SourceType
from tenure.core.incident_events import Looked
from tenure.core.memory import Memory
from tenure.core.proposals import Remember
from tenure.core.retrieval import Recall
from tenure.core.review import Judge
from tenure.core.vocabulary import Kind, Source
from tenure.usecases.pipeline import Pipeline, UseCase
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import PROMOTE, REJECT, REVOKE, JudgeMemory
from tenure.usecases.sealing import open_event

TENANT = "acme"
AGENT = "support"
PURPOSE = "answering"
SUBJECT = "customer-7"


def caller(*roles: Role, name: str = "bot", tenant: str = TENANT, **narrowed: Any) -> Caller:
    """A caller with these roles; sides that are not narrowed stay open."""
    sides = {side: frozenset(names) for side, names in narrowed.items() if side != "model_driven"}
    grants = Grants(
        roles=frozenset(roles or {Role.WRITER, Role.READER}),
        model_driven=bool(narrowed.get("model_driven")),
        **sides,
    )
    return Caller(tenant=tenant, id=f"key:{name}", name=name, grants=grants)


BOT = caller()
"""Writes and reads everything of the tenant."""
REVIEWER = caller(Role.REVIEWER, name="ann")
OFFICER = caller(Role.PRIVACY_OFFICER, name="pia")
OPERATOR = caller(Role.OPERATOR, name="olga")
AUDITOR = caller(Role.AUDITOR, name="aud")

JUDGES: dict[str, UseCase[JudgeMemory, Any, Memory]] = {
    "promote": PROMOTE,
    "reject": REJECT,
    "revoke": REVOKE,
}
"""The three words that a person may say on one memory."""


def source(type_: SourceType = SourceType.APPLICATION, id_: str = "crm-1", **place: Any) -> Source:
    """A source; an application's unless it is said otherwise, so that the gate approves."""
    return Source(type=type_, id=id_, **place)


def proposal(content: str = "Prefers e-mail to phone", **sides: Any) -> Remember:
    """A proposal that the gate approves unless a side of it says otherwise."""
    whole: dict[str, Any] = {
        "agent": AGENT,
        "purpose": PURPOSE,
        "subject": SUBJECT,
        "kind": Kind.FACT,
        "content": content,
        "source": source(),
    }
    return Remember(**(whole | sides))


def question(
    query: str | None = "how should we contact them, by e-mail or by phone?", **sides: Any
) -> Recall:
    """A question to the boundary that proposals are made in."""
    whole: dict[str, Any] = {"agent": AGENT, "purpose": PURPOSE, "subject": SUBJECT, "query": query}
    return Recall(**(whole | sides))


def judgement(memory_id: UUID, version: int, reason: str = "checked with the customer") -> JudgeMemory:
    """A person's word on a memory, at the version that they looked at."""
    return JudgeMemory(memory_id=memory_id, judge=Judge(expected_version=version, reason=reason))


def written(pipeline: Pipeline, content: str = "Prefers e-mail to phone", **sides: Any) -> Memory:
    """A memory that the bot wrote, as the gate left it."""
    memory = pipeline.run(REMEMBER, BOT, proposal(content, **sides)).memory
    assert memory is not None
    return memory


def another(pipeline: Pipeline) -> Memory:
    """A memory that says what no other does, for tests that count what is in the log."""
    return written(pipeline, f"Memory {next(_numbers)}")


_numbers = count(1)


def held(pipeline: Pipeline, content: str = "Pays by invoice now", **sides: Any) -> Memory:
    """A memory that waits in quarantine, since it came by e-mail."""
    return written(pipeline, content, source=source(SourceType.EMAIL, "mail-1"), **sides)


def log(pipeline: Pipeline, tenant: str = TENANT) -> list[Event]:
    """Everything that happened in a tenant, oldest first, opened."""
    pipeline.store.settle()
    return [open_event(stored, pipeline.keyring) for stored in pipeline.store.export(tenant)]


def happened(pipeline: Pipeline, tenant: str = TENANT) -> list[str]:
    """The names of everything that happened in a tenant, oldest first, but for what was only read."""
    return [
        NAMES[type(event.data)][0] for event in log(pipeline, tenant) if not isinstance(event.data, Looked)
    ]


def looked(pipeline: Pipeline, tenant: str = TENANT) -> list[Event]:
    """What reads other than recalls left in a tenant's log, oldest first."""
    return [event for event in log(pipeline, tenant) if isinstance(event.data, Looked)]
