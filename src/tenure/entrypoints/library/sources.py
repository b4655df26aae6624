"""Source constructors: one for each source type (API.md, "Python")."""

from datetime import datetime
from typing import Any

from tenure.core import vocabulary
from tenure.core.identity import SourceType


class Source(vocabulary.Source, frozen=True, kw_only=True, omit_defaults=True):
    """Where a text came from: an immutable reference (a message, document or call id) and its place there."""

    @classmethod
    def direct_user(cls, id: str, **place: Any) -> "Source":  # noqa: A002 -- the contract's own name
        """Something that a person said to the agent."""
        return _source(SourceType.DIRECT_USER, id, **place)

    @classmethod
    def application(cls, id: str, **place: Any) -> "Source":  # noqa: A002 -- the contract's own name
        """Something that an application vouches for."""
        return _source(SourceType.APPLICATION, id, **place)

    @classmethod
    def email(cls, id: str, **place: Any) -> "Source":  # noqa: A002 -- the contract's own name
        """A message."""
        return _source(SourceType.EMAIL, id, **place)

    @classmethod
    def document(cls, id: str, **place: Any) -> "Source":  # noqa: A002 -- the contract's own name
        """A document."""
        return _source(SourceType.DOCUMENT, id, **place)

    @classmethod
    def web(cls, id: str, **place: Any) -> "Source":  # noqa: A002 -- the contract's own name
        """A page."""
        return _source(SourceType.WEB, id, **place)

    @classmethod
    def tool(cls, id: str, **place: Any) -> "Source":  # noqa: A002 -- the contract's own name
        """What a tool answered."""
        return _source(SourceType.TOOL, id, **place)

    @classmethod
    def other_agent(cls, id: str, **place: Any) -> "Source":  # noqa: A002 -- the contract's own name
        """What another agent said."""
        return _source(SourceType.OTHER_AGENT, id, **place)


def _source(
    kind: SourceType,
    id: str,  # noqa: A002 -- the contract's own name
    *,
    uri: str | None = None,
    version: str | None = None,
    observed_at: datetime | None = None,
    thread: str | None = None,
    position: int | None = None,
) -> Source:
    return Source(
        type=kind, id=id, uri=uri, version=version, observed_at=observed_at, thread=thread, position=position
    )
