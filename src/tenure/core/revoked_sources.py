"""What a revoked source may do no more: write, itself or through what was made from it (SPEC I1). Pure.

Laws: whatever comes from a revoked source is refused, however it comes: under its own type or any, through
the credential that brings it, or by way of memories that it was made from. When it was observed does not
matter, since nothing that the source says is believed again.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from tenure.core.memory import Memory
from tenure.core.rows import CONNECTOR, FloorRow
from tenure.core.views import source_target
from tenure.core.vocabulary import Source, Status

SOURCE_KIND: Final = "source"
SOURCE_REVOKED_RULE: Final = "source_revoked"
MADE_FROM_REVOKED_RULE: Final = "derived_from_revoked"


def write_sources(source: Source, connector: str, parents: Sequence[Memory]) -> list[tuple[str, str]]:
    """The floors that a write may be refused by, as kind and target: of everything that its text is from."""
    named = {(str(source.type), source.id)}
    for parent in parents:
        named.add((str(parent.source.type), parent.source.id))
        named.update((str(origin.type), origin.id) for origin in parent.origins)
    connectors = {connector, *(parent.proposed_by for parent in parents)}
    targets = {source_target(CONNECTOR, one) for one in connectors}
    for source_type, source_id in named:
        targets |= {source_target(source_type, source_id), source_target(None, source_id)}
    return [(SOURCE_KIND, target) for target in sorted(targets)]


def from_revoked(floors: Iterable[FloorRow], parents: Iterable[Memory]) -> tuple[str, str] | None:
    """Rule and reason for which a write is refused, where a source of its text was revoked."""
    targets = {floor.target for floor in floors if floor.target_kind == SOURCE_KIND}
    if any(target.startswith(f"{CONNECTOR}\x1f") for target in targets):
        return SOURCE_REVOKED_RULE, "the credential that brought it in was revoked as a source"
    if targets:
        return SOURCE_REVOKED_RULE, "it comes from a source that was revoked"
    if any(parent.status is Status.REVOKED for parent in parents):
        return MADE_FROM_REVOKED_RULE, "it is made from a memory that was revoked"
    return None
