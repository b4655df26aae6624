"""Evidence: what the ledger adds to a write, verifying a log, the impact of a source, and revoking one."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

import apsw

from bench import histories
from bench.results import Row, middle, milliseconds, rate
from bench.running import Run, paced
from bench.stores import TENANT, open_node, proposals, remember, session, warmed
from tenure import Tenure
from tenure.core import ledger
from tenure.core.identity import Caller, Grants, Role
from tenure.core.incidents import AskImpact, RevokeSource
from tenure.usecases import checkpoints, evidence
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.sources import IMPACT, revoke_source
from tenure.wiring import Node

LEAVES_OUT = """\
evidence: an embedded store. The ledger cannot be taken out of a write, so its parts are timed by
themselves, with the header and the body of a usual memory: the link, the digest of the body, and a checkpoint
of a log that grew by a thousand events, shared by those; held against the core time of whole writes of one
caller in the same run. Verifying walks a log of receipts, reports and memories with sealed bodies, as
`tenure log verify` does, with two kept checkpoints; its floor reads the same rows and hashes them once.
Receipts are appended as recalls leave them, without answering the recalls. Each names five memories by
chance, so that the source has a part in many of them; one in ten was reported on. The look that is timed
answers with every count and up to ten thousand ids of each kind; its floor counts the same receipts with one
statement. Revoking includes the event of each memory, the impact
in its answer, and the end of the revocation; its floor is rows of the same size in a bare SQLite file,
500 to a durable transaction."""

LEDGER_SHARE_MAX: Final = 0.10
CHECKPOINT_EVENTS: Final = 1_000
VERIFIED_PER_SECOND_MIN: Final = 50_000
IMPACT_SECONDS_MAX: Final = 0.2
REVOKED_SECONDS_MAX: Final = 5.0
CHECKPOINTS: Final = 2
HEADER_BYTES: Final = 400
BODY_BYTES: Final = 100
ROWS_AT_ONCE: Final = 500
BAD: Final = "crm-bad"
OPERATOR: Final = Caller(
    tenant=TENANT, id="key:olga", name="olga", grants=Grants(roles=frozenset({Role.OPERATOR}))
)

T = TypeVar("T")


def measure(run: Run) -> Iterator[Row]:
    """The ledger's share, then one long log verified and asked about a source, then a large revocation."""
    yield _share_of_a_write(run)
    path = run.fresh_folder("touched")
    yield from _touched(run, path)
    yield _revoked(run)


def _share_of_a_write(run: Run) -> Row:
    with Tenure.open(run.fresh_folder("ledger")) as store:
        principal = session(store)
        warmed(principal)
        items = proposals(seed=61, count=run.size(4_000, 600))
        wrote = paced(1, lambda one: remember(principal, one), items, seconds_max=run.round_seconds_max)
        chaining = _chaining_seconds(store.node, run.size(100_000, 20_000))
        signing = middle(_signing_seconds(store.node, run.size(9, 3)))
    whole, added = wrote.processor_seconds, chaining + signing / CHECKPOINT_EVENTS
    return Row(
        measured="what the ledger adds to a write",
        figure=f"{added * 1e6:.1f} µs",
        beside=f"the whole: {milliseconds(whole)} of a core",
        ratio=added / whole,
        target=f"≤ {LEDGER_SHARE_MAX:.0%} of it",
        reached=added / whole <= LEDGER_SHARE_MAX,
        values={
            "seconds": added,
            "whole_seconds": whole,
            "chaining_seconds": chaining,
            "checkpoint_seconds": signing,
        },
    )


def _chaining_seconds(node: Node, count: int) -> float:
    """The core time of one link and one digest of a body, over the last memory that was written."""
    with node.store.reading() as reading:
        last = reading.log(TENANT, after=reading.head(TENANT)[0] - 1, limit=1)[0]
    link, body = last.link, last.body or b""
    started = time.process_time()
    for seq in range(count):
        link = ledger.link(link, seq, last.header)
        ledger.body_digest(body)
    return (time.process_time() - started) / count


def _signing_seconds(node: Node, rounds: int) -> list[float]:
    """The core time of checkpoints, each of a log that has grown since the one before."""
    took = []
    checkpoints.make(node.pipeline, TENANT)
    for _ in range(rounds):
        histories.append_reads(node, CHECKPOINT_EVENTS)
        started = time.process_time()
        checkpoints.make(node.pipeline, TENANT)
        took.append(time.process_time() - started)
    return took


def _touched(run: Run, path: Path) -> Iterator[Row]:
    """One long log: how fast it is verified, and how long it takes to see what a source touched."""
    bad, receipts = run.size(1_000, 100), run.size(100_000, 4_000)
    with open_node(path) as node:
        memories = histories.remembered(node, BAD, bad, seed=62)
        memories += histories.remembered(node, "crm-good", 9 * bad, seed=63)
        histories.append_receipts(node, memories, receipts // 2)
        checkpoints.make(node.pipeline, TENANT)
        histories.append_receipts(node, memories, receipts - receipts // 2)
        checkpoints.make(node.pipeline, TENANT)
        yield _verified(run, node.pipeline, path)
        yield _impact(run, node.pipeline, path, bad, receipts)


def _verified(run: Run, pipeline: Pipeline, path: Path) -> Row:
    took = []
    events = 0
    for _ in range(run.size(3, 1)):
        seconds, found = _timed(lambda: evidence.verify(pipeline, TENANT))
        if not found.holds or found.checkpoints < CHECKPOINTS:
            raise AssertionError(f"the log does not verify, so the time says nothing: {found}")
        took.append(seconds)
        events = found.events
    bare = middle([_bare_read_seconds(path) for _ in range(run.size(3, 1))])
    mine = events / middle(took)
    return Row(
        measured=f"verify a log of {events:,} events, {CHECKPOINTS} checkpoints",
        figure=rate(mine),
        beside=f"read and hashed once: {rate(events / bare)}",
        ratio=mine * bare / events,
        target=f"≥ {VERIFIED_PER_SECOND_MIN:,}/s",
        reached=mine >= VERIFIED_PER_SECOND_MIN,
        values={"per_second": mine, "events": events, "bare_per_second": events / bare},
    )


def _bare_read_seconds(path: Path) -> float:
    """How long it takes to read every row of the log in order and hash its bytes."""
    with closing(apsw.Connection(str(path / "log.db"), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        started = time.perf_counter()
        for header, body, link in connection.execute(
            "SELECT header, body, link FROM event WHERE tenant_id = ? ORDER BY seq", (TENANT,)
        ):
            hashlib.sha256(header.encode() + (body or b"") + link).digest()
        return time.perf_counter() - started


def _impact(run: Run, pipeline: Pipeline, path: Path, memories: int, receipts: int) -> Row:
    command = AskImpact(source_type="application", source_id=BAD)
    took = []
    recalls = 0
    for _ in range(run.size(9, 3)):
        seconds, impact = _timed(lambda: pipeline.run(IMPACT, OPERATOR, command))
        if impact.counts.memories != memories or not impact.counts.tool_calls:
            raise AssertionError(f"the impact is not that of the source: {impact.counts}")
        took.append(seconds)
        recalls = impact.counts.recalls
    mine, bare = middle(took), middle([_bare_count_seconds(path, recalls) for _ in range(run.size(9, 3))])
    return Row(
        measured=f"impact of {memories:,} memories, {receipts:,} receipts",
        figure=milliseconds(mine),
        beside=f"{recalls:,} touched, counted: {milliseconds(bare)}",
        ratio=mine / bare,
        target=f"≤ {IMPACT_SECONDS_MAX * 1_000:.0f} ms",
        reached=mine <= IMPACT_SECONDS_MAX,
        values={"seconds": mine, "recalls": recalls, "bare_seconds": bare},
    )


def _bare_count_seconds(path: Path, recalls: int) -> float:
    """How long one statement takes to count the receipts that the source has a part in."""
    with closing(apsw.Connection(str(path / "log.db"), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        started = time.perf_counter()
        counted = connection.execute(
            "SELECT count(DISTINCT s.seq) FROM provenance AS p JOIN shown AS s "
            "ON s.tenant_id = p.tenant_id AND s.memory_id = p.memory_id "
            "WHERE p.tenant_id = ? AND p.source_id = ?",
            (TENANT, BAD),
        ).fetchone()
        took = time.perf_counter() - started
    if counted != (recalls,):
        raise AssertionError(f"the floor counted {counted}, not {recalls}")
    return took


def _revoked(run: Run) -> Row:
    count = run.size(10_000, 1_000)
    with open_node(run.fresh_folder("revoking")) as node:
        histories.remembered(node, BAD, count, seed=64)
        kept = histories.remembered(node, "crm-good", count // 10, seed=65)
        histories.append_receipts(node, kept, count // 10)
        command = RevokeSource(source_type="application", source_id=BAD, reason="was broken into")
        mine, answer = _timed(lambda: revoke_source(node.pipeline, OPERATOR, command))
    if answer.revoked != count or answer.seconds_to_revocation is None:
        raise AssertionError(f"not all was revoked, so the time says nothing: {answer.revoked}")
    bare = _bare_rows_seconds(run, count)
    return Row(
        measured=f"revoke {count:,} memories of a source, one call",
        figure=milliseconds(mine),
        beside=f"bare rows: {milliseconds(bare)}",
        ratio=mine / bare,
        target=f"≤ {REVOKED_SECONDS_MAX:.0f} s",
        reached=mine <= REVOKED_SECONDS_MAX,
        values={"seconds": mine, "bare_seconds": bare, "held_seconds": answer.seconds_to_revocation},
    )


def _bare_rows_seconds(run: Run, count: int) -> float:
    """How long rows of the size of these events take in a file of SQLite's own, durably."""
    row = (bytes(HEADER_BYTES), bytes(BODY_BYTES), bytes(32))
    with closing(apsw.Connection(str(run.fresh_folder("bare") / "rows.db"))) as connection:
        for name, value in (("journal_mode", "WAL"), ("synchronous", "FULL")):
            connection.pragma(name, value)
        connection.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY, header, body, link)")
        started = time.perf_counter()
        for first in range(0, count, ROWS_AT_ONCE):
            with connection:
                connection.executemany(
                    "INSERT INTO event (header, body, link) VALUES (?, ?, ?)",
                    [row] * min(ROWS_AT_ONCE, count - first),
                )
        return time.perf_counter() - started


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    done = work()
    return time.perf_counter() - started, done
