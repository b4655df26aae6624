"""A three-node quorum cluster that keeps its word: Patroni beside each PostgreSQL, etcd to elect the leader.

It needs ``etcd`` on the PATH (Debian: ``apt-get install etcd-server``), and what ``make test-cluster``
installs beside that.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

import httpx
import psycopg
from tests.postgres.member import Member
from tests.postgres.processes import END_SECONDS_MAX, Guard, hand_over, start
from tests.postgres.server import HOST, SUPERUSER, free_port, memory_place
from tests.postgres.waiting import Answer, NeverHappened, wait_until

NAMES: Final = ("one", "two", "three")
POLL_SECONDS: Final = 0.1
LOG_CHARACTERS: Final = 6_000
ETCD_SECONDS_MAX: Final = 20.0
START_SECONDS_MAX: Final = 90.0
FAILOVER_SECONDS_MAX: Final = 60.0
"""More than twice the time after which a leader whose agent is dead loses its lease."""
REJOIN_SECONDS_MAX: Final = 60.0

_STANDBYS_THAT_COUNT: Final = """
    SELECT count(*) FROM pg_stat_replication
    WHERE state = 'streaming' AND sync_state = 'quorum'
      AND current_setting('synchronous_standby_names') LIKE 'ANY 1 (%'
"""


class QuorumCluster:
    """Three servers, one of which leads. A commit is acknowledged when another has it too, or never.

    Made, it is whole; ``close``, or the end of a ``with``, ends it and removes its folder.
    """

    def __init__(self) -> None:
        # In memory where there is room: a slow disk would cost the leader its lease.
        self._folder = Path(tempfile.mkdtemp(prefix="tenure-cluster-", dir=memory_place())).resolve()
        hand_over(self._folder)
        self._guard = Guard(self._folder)
        self._etcd: subprocess.Popen[bytes] | None = None
        self._members: dict[str, Member] = {}
        try:
            self._etcd, etcd_port = start_etcd(self._folder)
            self._members = {name: Member(name, self._folder, etcd_port) for name in NAMES}
            for member in self._members.values():
                member.start()
            self.wait_for_leader(seconds_max=START_SECONDS_MAX)
            self.wait_until_whole(seconds_max=START_SECONDS_MAX)
        except BaseException:
            self.close()
            raise

    def leader_url(self, database: str = SUPERUSER, *, user: str = SUPERUSER) -> str:
        """Where a database is that can be written to: all members, of which a client takes the leader."""
        places = ",".join(f"{HOST}:{member.port}" for member in self._members.values())
        return f"postgresql://{user}@{places}/{database}?target_session_attrs=read-write&connect_timeout=2"

    def leader(self) -> str | None:
        """The member that leads now, by its own word; none while there is none."""
        return next((name for name, member in self._members.items() if member.leads()), None)

    def kill_leader(self, *, agent: bool = True) -> str:
        """SIGKILL to the leader's PostgreSQL, and first to its agent unless that may live; gives its name.

        With the agent dead too, as when its machine dies, the others wait for the end of its lease.
        """
        leading = self.wait_for_leader()
        self._members[leading].kill(agent=agent)
        return leading

    def revive(self, name: str) -> None:
        """Start a member's agent if it is dead; the agent does the rest."""
        self._members[name].start()

    def wait_for_leader(
        self, *, other_than: str | None = None, seconds_max: float = FAILOVER_SECONDS_MAX
    ) -> str:
        """The member that leads, as soon as one does; after ``kill_leader``, another than the killed one."""

        def another() -> str | None:
            found = self.leader()
            return None if found == other_than else found

        return self._wait(another, f"a member leads that is not {other_than}", seconds_max)

    def wait_until_whole(self, *, seconds_max: float = REJOIN_SECONDS_MAX) -> None:
        """Give back when both other members follow the leader, count for its commits, and may succeed it."""
        self._wait(self._is_whole, "both standbys follow the leader", seconds_max)

    def log(self) -> str:
        """The last that each member has said."""
        return "\n".join(
            f"--- {name}\n{member.log()[-LOG_CHARACTERS:]}" for name, member in self._members.items()
        )

    def close(self) -> None:
        """End everything, without handing anything over, and remove the folder."""
        self._guard.finish()
        if self._etcd is not None:
            self._etcd.wait(END_SECONDS_MAX)
        for member in self._members.values():
            member.bury()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, probe: Callable[[], Answer | None], what: str, seconds_max: float) -> Answer:
        """An error shows what the members said last."""
        try:
            return wait_until(probe, what=what, seconds_max=seconds_max, interval_seconds=POLL_SECONDS)
        except NeverHappened as error:
            error.add_note(self.log())
            raise

    def _is_whole(self) -> bool:
        """PostgreSQL and etcd learn of a standby one after the other; in between, it would not be elected."""
        leading = self.leader()
        if leading is None or self._members[leading].electable() != set(NAMES) - {leading}:
            return False
        try:
            with psycopg.connect(self.leader_url(), autocommit=True) as connection:
                return connection.execute(_STANDBYS_THAT_COUNT).fetchone() == (len(NAMES) - 1,)
        except psycopg.OperationalError:
            return False


def start_etcd(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start the store in which the members elect their leader, and wait until it answers on its port."""
    if shutil.which("etcd") is None:
        raise RuntimeError("etcd is missing; on Debian and Ubuntu: apt-get install etcd-server")
    port = free_port()
    own, peers = f"http://{HOST}:{port}", f"http://{HOST}:{free_port()}"
    name = ["--name", "only", "--data-dir", str(folder / "etcd"), "--initial-cluster", f"only={peers}"]
    clients = ["--listen-client-urls", own, "--advertise-client-urls", own]
    others = ["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers]
    process = start(["etcd", *name, *clients, *others], folder=folder, log=folder / "etcd.log")

    def healthy() -> bool:
        try:
            return httpx.get(f"{own}/health").is_success
        except httpx.TransportError:
            return False

    wait_until(healthy, what="etcd answers", seconds_max=ETCD_SECONDS_MAX)
    return process, port
