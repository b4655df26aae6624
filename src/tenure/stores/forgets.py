"""The forgets of a batch, for the record that is kept apart from the log and its backups (SPEC F11).

Laws: every forget that happened is in the record, whether or not it was acknowledged; one that is known not
to have happened is not, so that no restore carries it out.

Where the record lies in the database of the log, both are one commit. Elsewhere it is durable before the log
commits, and is taken back when that commit failed. What is left is a forget whose outcome nobody knows: the
process, or the way to the database, was lost within its commit. That one stays. Its caller was told that the
outcome is unknown, or nothing; a restore carries it out, which errs on the side of absence.
"""

from collections.abc import Iterable

from tenure.core.events import FORGETS
from tenure.stores.projecting import StoredRow
from tenure.usecases.ports import StoredEvent

Recorded = tuple[str, StoredEvent]


def forgets_among(rows: Iterable[StoredRow]) -> list[Recorded]:
    """Those of the rows that forget something: ids, times and keyed digests, for they carry no body."""
    return [
        (row.tenant, StoredEvent(row.seq, row.sealed.header, None, row.link))
        for row in rows
        if isinstance(row.sealed.event.data, FORGETS)
    ]
