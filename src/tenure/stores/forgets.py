"""The forgets of a batch, for the record that is kept apart from the log and its backups (SPEC F11).

The record is written before the log commits. So every forget that was acknowledged is in it, and one that
was asked for but failed may be: it is then carried out by a later restore, which errs on the side of absence.
"""

from collections.abc import Iterable

from tenure.core.events import SubjectForgotten
from tenure.stores.projecting import StoredRow
from tenure.usecases.ports import StoredEvent

Recorded = tuple[str, StoredEvent]


def forgets_among(rows: Iterable[StoredRow]) -> list[Recorded]:
    """Those of the rows that forget a subject: ids, times and links only, for they carry no body."""
    return [
        (row.tenant, StoredEvent(row.seq, row.sealed.header, None, row.link))
        for row in rows
        if isinstance(row.sealed.event.data, SubjectForgotten)
    ]
