"""What merges and contradictions change in the views (SPEC T2, T3). Pure; `views.project` asks it."""

from tenure.core.events import Event, EventData
from tenure.core.rows import (
    CORROBORATES,
    FOREVER,
    MERGED,
    Change,
    ContradictionRow,
    DerivationRow,
    DropEdge,
    EndContradiction,
    MemoryRow,
    Put,
    SupportRow,
    microseconds,
)
from tenure.core.truth_events import (
    ContradictionFound,
    ContradictionResolved,
    Corroborated,
    Merged,
    Unmerged,
)


def merge_changes(row: MemoryRow, data: EventData) -> tuple[Change, ...]:
    """What a merge of the row's memory changes beside the row, or what undoing one does."""
    tenant, subject, evidence = row.tenant, row.subject, row.memory_id
    match data:
        case Merged(into=into):
            edge = DerivationRow(tenant, into, evidence, subject, MERGED)
            return (Put(edge), Put(SupportRow(tenant, into, subject, data.voices, data.trusted_voices)))
        case Unmerged(out_of=stands):
            counted = SupportRow(tenant, stands, subject, data.voices, data.trusted_voices)
            return (DropEdge(tenant, stands, evidence), Put(counted))
        case _:
            return ()


def about_truth(event: Event, seq: int) -> tuple[Change, ...]:
    """What events change that say how two memories stand to each other."""
    data, tenant, subject = event.data, event.tenant, event.subject or ""
    match data:
        case Corroborated(memory_id=memory_id, by=by):
            edge = DerivationRow(tenant, memory_id, by, subject, CORROBORATES)
            return (Put(edge), Put(SupportRow(tenant, memory_id, subject, data.voices, data.trusted_voices)))
        case ContradictionFound() if event.stream is not None:
            row = ContradictionRow(
                tenant,
                event.stream,
                data.agent,
                data.purpose,
                subject,
                data.believed,
                data.doubted,
                data.effect,
                data.because,
                microseconds(data.valid_to_before) if data.valid_to_before is not None else FOREVER,
                seq,
                microseconds(event.at),
            )
            return (Put(row),)
        case ContradictionResolved(kept=kept) if event.stream is not None:
            return (EndContradiction(tenant, event.stream, seq, kept),)
        case _:
            return ()
