"""Two servers that do not keep their word: the negative control of every test that kills a leader."""

from typing import Final, Self

import psycopg
from tests.postgres.server import HOST, SUPERUSER, PostgresServer
from tests.postgres.waiting import wait_until

PROMOTION_SECONDS_MAX: Final = 60.0
STOP_SECONDS_MAX: Final = 20.0


class LaggingPair:
    """A primary that acknowledges alone, and a standby that can be made to receive nothing more.

    Promote the standby after the death of the primary, and what was acknowledged since then is lost.
    """

    def __init__(self) -> None:
        self.primary = PostgresServer()
        try:
            self.standby = PostgresServer(copy_of=self.primary)
        except BaseException:
            self.primary.close()
            raise

    def leader_url(self, database: str = SUPERUSER, *, user: str = SUPERUSER) -> str:
        """Where a database is that can be written to: both servers, of which a client takes the right one."""
        places = ",".join(f"{HOST}:{server.port}" for server in (self.primary, self.standby))
        return f"postgresql://{user}@{places}/{database}?target_session_attrs=read-write&connect_timeout=2"

    def pause_receiving(self) -> None:
        """From here on nothing of what the primary writes reaches the standby."""
        self.standby.query("ALTER SYSTEM SET primary_conninfo = ''")
        self.standby.query("SELECT pg_reload_conf()")
        wait_until(self._receives_nothing, what="the standby receives nothing", seconds_max=STOP_SECONDS_MAX)

    def kill_primary(self) -> None:
        """SIGKILL to the primary, which stays dead."""
        self.primary.kill()

    def promote(self) -> None:
        """Make the standby the one that takes writes, with whatever it has."""
        with psycopg.connect(self.standby.url(), autocommit=True) as connection:
            done = connection.execute("SELECT pg_promote(true, %s)", [int(PROMOTION_SECONDS_MAX)]).fetchone()
        assert done == (True,), "the standby was not promoted"

    def close(self) -> None:
        """End both and remove their folders."""
        try:
            self.standby.close()
        finally:
            self.primary.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receives_nothing(self) -> bool:
        return self.standby.query("SELECT count(*) FROM pg_stat_wal_receiver") == [(0,)]
