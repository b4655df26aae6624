"""Durable writes through one node over PostgreSQL, beside bare commits to the same server, in turns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
from tests.postgres.server import DURABLE, MILLISECOND_COMMITS, PostgresServer, memory_place

from bench import databases
from bench.results import Row, middle, milliseconds, rate, share
from bench.round_trips import Relay
from bench.running import Paced, Run, paced
from bench.stores import Proposal, proposals, remember, session, warmed
from tenure import Tenure
from tenure.entrypoints.library.sessions import Session

LEAVES_OUT = """\
postgres: the server, the node and its callers share the machine's cores and speak over loopback without
TLS; there is one node, and no standby that a commit waits for. The bare commit is one prepared INSERT of
a row of 300 bytes in autocommit, so one round trip, into a table with one index, by one connection.
Subjects and tenants have their keys. Rounds take turns, and each figure is the median of its rounds."""
LEAVES_OUT_SLOW = """\
postgres-1ms: the same with a server that lies in memory where there is room, and whose every flush waits
for 0.9 ms (commit_delay), so that a commit costs 1 ms whatever the disk does meanwhile."""

BARE_TIMES_MAX: Final = 3.0
GROUPED_RATIO_MIN: Final = 2.5
CALLERS: Final = 32
TENANTS: Final = 1_000
ROW_BYTES: Final = 300
DATABASE: Final = "tenure"
COUNTED: Final = "counted"
HOT: Final = "hot"


class Asked(NamedTuple):
    """A proposal, and who makes it."""

    principal: Session
    proposal: Proposal


class Round(NamedTuple):
    """One round, and what core time of the server one write of it cost."""

    paced: Paced
    server_seconds: float


def measure(run: Run) -> Iterator[Row]:
    """With commits as the disk makes them."""
    yield from _measured(run, run.folder, DURABLE, "")


def measure_slow(run: Run) -> Iterator[Row]:
    """With commits that cost a millisecond."""
    yield from _measured(run, memory_place() or run.folder, MILLISECOND_COMMITS, ", 1 ms")


def _measured(run: Run, place: Path, settings: Mapping[str, str], suffix: str) -> Iterator[Row]:
    with databases.server(place, settings) as server:
        server.create_database(DATABASE)
        with databases.node(run, server, DATABASE) as store, psycopg.connect(server.url()) as connection:
            rounds = _rounds(run, server, store, connection)
        bare = middle([one.paced.per_second for one in rounds["bare"]])
        one = middle([one.paced.per_second for one in rounds["one"]])
        yield _bare(rounds["bare"], f"bare commit, PostgreSQL{suffix}")
        yield _one_caller(rounds["one"], bare, f"write, PostgreSQL{suffix}, 1 caller")
        for name, where in (("many", f"{run.size(TENANTS, 200):,} tenants"), ("hot", "1 tenant")):
            measured = f"write, PostgreSQL{suffix}, {CALLERS} callers, {where}"
            yield _grouped(rounds[name], one, measured)
        if not suffix:
            yield _round_trips(run, server)


def _rounds(
    run: Run, server: PostgresServer, store: Tenure, connection: psycopg.Connection
) -> dict[str, list[Round]]:
    """Rounds of bare commits, one caller, many callers of many tenants, and of one, turn by turn."""
    hot = session(store, HOT)
    warmed(hot)
    many = [session(store, f"tenant-{number}") for number in range(run.size(TENANTS, 200))]
    first = proposals(seed=4, count=1)[0]
    paced(CALLERS, _remember, [Asked(one, first) for one in many])
    connection.autocommit = True
    connection.execute(
        "CREATE TABLE bare (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text)"
    )
    found: dict[str, list[Round]] = {"bare": [], "one": [], "many": [], "hot": []}
    for turn in range(run.size(3, 1)):
        alone, busy, spread = (
            proposals(seed=10 * turn + part, count=run.size(12_000, 4_000)) for part in (5, 6, 7)
        )
        rows = ["x" * ROW_BYTES] * run.size(60_000, 20_000)
        to_many = [
            Asked(many[at % len(many)], one._replace(subject=first.subject)) for at, one in enumerate(spread)
        ]
        found["bare"].append(_round(run, server, 1, lambda text: _insert(connection, text), rows))
        found["one"].append(_round(run, server, 1, _remember, [Asked(hot, one) for one in alone]))
        found["many"].append(_round(run, server, CALLERS, _remember, to_many))
        found["hot"].append(_round(run, server, CALLERS, _remember, [Asked(hot, one) for one in busy]))
    return found


def _round(
    run: Run, server: PostgresServer, callers: int, call: Callable[[Any], object], items: Sequence[Any]
) -> Round:
    before = databases.server_seconds(server)
    mine = paced(callers, call, items, seconds_max=run.round_seconds_max)
    return Round(mine, (databases.server_seconds(server) - before) / len(mine.seconds))


def _remember(one: Asked) -> None:
    remember(one.principal, one.proposal)


def _insert(connection: psycopg.Connection, text: str) -> None:
    connection.execute("INSERT INTO bare (text) VALUES (%s)", (text,), prepare=True)


def _bare(rounds: Sequence[Round], measured: str) -> Row:
    bare = middle([one.paced.per_second for one in rounds])
    return Row(
        measured=f"{measured} ({_latency(rounds)})",
        figure=rate(bare),
        beside=_core_time(rounds),
        values={"per_second": bare},
    )


def _one_caller(rounds: Sequence[Round], bare: float, measured: str) -> Row:
    mine = middle([one.paced.per_second for one in rounds])
    times = bare / mine
    return Row(
        measured=f"{measured} ({_latency(rounds)})",
        figure=rate(mine),
        beside=_core_time(rounds),
        ratio=times,
        target=f"≤ {BARE_TIMES_MAX:.0f} × bare's time",
        reached=times <= BARE_TIMES_MAX,
        values={"per_second": mine, "bare_per_second": bare, **_used(rounds)},
    )


def _grouped(rounds: Sequence[Round], one: float, measured: str) -> Row:
    mine = middle([each.paced.per_second for each in rounds])
    return Row(
        measured=f"{measured} ({_latency(rounds)})",
        figure=rate(mine),
        beside=_core_time(rounds),
        ratio=mine / one,
        target=f"≥ {GROUPED_RATIO_MIN} × 1 caller",
        reached=mine / one >= GROUPED_RATIO_MIN,
        values={"per_second": mine, "one_caller_per_second": one, **_used(rounds)},
    )


def _round_trips(run: Run, server: PostgresServer) -> Row:
    """What one write says to the server, once statements are prepared and subjects have their keys."""
    writes = 50
    server.create_database(COUNTED)
    with Relay(server.port) as relay, databases.node(run, server, COUNTED, port=relay.port) as store:
        hot = session(store, HOT)
        warmed(hot)
        before = relay.counted()
        for one in proposals(seed=9, count=writes):
            remember(hot, one)
        after = relay.counted()
    statements, turns = after.statements - before.statements, after.turns - before.turns
    return Row(
        measured="write, PostgreSQL, 1 caller: round trips",
        figure=f"{turns / writes:.1f}",
        beside=f"{statements / writes:.1f} statements",
        values={"round_trips": turns / writes, "statements": statements / writes},
    )


def _core_time(rounds: Sequence[Round]) -> str:
    node, server = _used(rounds).values()
    return f"core time {milliseconds(node)}, server {milliseconds(server)}"


def _used(rounds: Sequence[Round]) -> dict[str, float]:
    return {
        "processor_seconds": middle([one.paced.processor_seconds for one in rounds]),
        "server_seconds": middle([one.server_seconds for one in rounds]),
    }


def _latency(rounds: Sequence[Round]) -> str:
    return f"p99 {milliseconds(share([one for each in rounds for one in each.paced.seconds], 0.99))}"
