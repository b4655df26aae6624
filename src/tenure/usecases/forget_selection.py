"""What a forget asks for: exactly one of a subject, a memory, and a key at a scope (SPEC F1-F5).

One rule for every way in: a scope is never implied, and nothing that was given is left aside in silence.
"""

from typing import Any, Final
from uuid import UUID

import msgspec

from tenure.core.authority import filled
from tenure.core.errors import InvalidRequest, ScopeNotNamed
from tenure.core.forgetting import ForgetKey, Forgotten
from tenure.core.identity import Caller, Scope
from tenure.usecases.forgetting import (
    FORGET_KEY,
    FORGET_MEMORY,
    FORGET_SUBJECT,
    ForgetMemory,
    ForgetSubject,
)
from tenure.usecases.pipeline import Pipeline, UseCase

FORMS: Final = (
    "Name a subject; or a memory_id with its expected_version; or a key with its scope, agent, purpose "
    "and subject."
)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The selectors of a forget, as they were given."""

    subject: str | None = None
    memory_id: UUID | None = None
    expected_version: int | None = None
    key: str | None = None
    scope: Scope | None = None
    agent: str | None = None
    purpose: str | None = None
    leaf_only: bool = False

    def chosen(
        self, caller: Caller, own_subject: str | None = None
    ) -> ForgetSubject | ForgetMemory | ForgetKey:
        """The one thing to forget; raises where the wish could mean another, or something wider."""
        if self.memory_id is not None and (self.key is not None or self.subject is not None):
            raise ScopeNotNamed("name exactly one thing to forget", hint=FORMS, field="subject")
        if self.key is not None:
            return self._of_key(self.key, caller, own_subject)
        if self.subject is None and own_subject is None and self.memory_id is None:
            raise ScopeNotNamed("the request does not say what to forget", hint=FORMS, field="subject")
        self._refuse(("scope", "agent", "purpose", "leaf_only"), belongs_to="key")
        if self.memory_id is not None:
            return self._of_memory(self.memory_id)
        self._refuse(("expected_version",), belongs_to="memory_id")
        return ForgetSubject(subject=self.subject if self.subject is not None else own_subject or "")

    def _of_key(self, key: str, caller: Caller, own_subject: str | None) -> ForgetKey:
        self._refuse(("expected_version",), belongs_to="memory_id")
        if self.scope is None:
            raise ScopeNotNamed("say at which scope to forget the key", hint=FORMS, field="scope")
        grants = caller.grants
        subject = own_subject if self.subject is None else self.subject
        return ForgetKey(
            agent=filled(self.agent, grants.agents, field="agent"),
            purpose=filled(self.purpose, grants.purposes, field="purpose"),
            subject=filled(subject, grants.subjects, field="subject"),
            key=key,
            scope=self.scope,
            leaf_only=self.leaf_only,
        )

    def _of_memory(self, memory_id: UUID) -> ForgetMemory:
        if self.expected_version is None:
            raise InvalidRequest(
                "expected_version is missing",
                field="expected_version",
                hint="Give the version of the memory that you looked at.",
            )
        return ForgetMemory(memory_id=memory_id, expected_version=self.expected_version)

    def _refuse(self, fields: tuple[str, ...], *, belongs_to: str) -> None:
        """Raise InvalidRequest for what narrows nothing here and would be left aside in silence."""
        for field in fields:
            given = getattr(self, field)
            # A version of 0 equals False, and is given.
            if given is not None and given is not False:
                raise InvalidRequest(f"{field} goes with {belongs_to} only", field=field, hint=FORMS)


def use_case_of(command: ForgetSubject | ForgetMemory | ForgetKey) -> UseCase[Any, Any, Forgotten]:
    """What carries a forget out, of whichever kind it is."""
    match command:
        case ForgetSubject():
            return FORGET_SUBJECT
        case ForgetMemory():
            return FORGET_MEMORY
        case ForgetKey():
            return FORGET_KEY


def forget(
    pipeline: Pipeline, caller: Caller, command: ForgetSubject | ForgetMemory | ForgetKey
) -> Forgotten:
    """Carry a forget out."""
    return pipeline.run(use_case_of(command), caller, command)
