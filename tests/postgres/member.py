"""One node of the quorum cluster: a Patroni agent and the PostgreSQL that it runs."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx
from tests.postgres.processes import END_SECONDS_MAX, hand_over, kill_with_children, name_of, start
from tests.postgres.server import HOST, LOOPBACK, SUPERUSER, binary, free_port

LEASE_SECONDS: Final = 20
"""How long a leader that says nothing stays leader; Patroni allows no less."""
ANSWER_SECONDS_MAX: Final = 2.0

# What all members agree on; etcd keeps it.
_AGREED: Final[Mapping[str, Any]] = {
    "ttl": LEASE_SECONDS,
    "loop_wait": 1,
    "retry_timeout": 3,
    # A leader whose PostgreSQL has died steps down at once, instead of recovering in place.
    "primary_start_timeout": 0,
    "synchronous_mode": "quorum",
    # Without a standby a commit waits; the leader alone never acknowledges one.
    "synchronous_mode_strict": True,
    "synchronous_node_count": 1,
    "postgresql": {
        "use_pg_rewind": True,
        "parameters": {"max_connections": LOOPBACK["max_connections"], "wal_log_hints": "on"},
    },
}
# Members die, machines do not: what the operating system has is not lost. Rewinding needs full pages.
_OWN: Final[Mapping[str, str]] = {"fsync": "off", "full_page_writes": "on", "max_wal_size": "128MB"}
_NEW_CLUSTER: Final = [
    {"encoding": "UTF8"},
    {"locale": "C"},
    {"locale-provider": "builtin"},
    {"builtin-locale": "C.UTF-8"},
    "data-checksums",
    "no-sync",
]


class Member:
    """One node, on ports of its own and in a folder of its own; it does not run until ``start``."""

    def __init__(self, name: str, folder: Path, etcd_port: int) -> None:
        self.name = name
        self.port = free_port()
        self._api_port = free_port()
        self._folder = folder / name
        self._folder.mkdir()
        self._agent: subprocess.Popen[bytes] | None = None
        # Every JSON document is a YAML document.
        self._settings.write_text(json.dumps(self._configuration(etcd_port), indent=2), encoding="utf-8")
        hand_over(self._folder)

    def start(self) -> None:
        """Start the agent unless it runs; it starts PostgreSQL, as what the cluster needs."""
        if self._agent is None:
            command = [sys.executable, "-m", "patroni", str(self._settings)]
            self._agent = start(command, folder=self._folder, log=self._log)

    def kill(self, *, agent: bool) -> None:
        """SIGKILL to PostgreSQL with all its processes; to the agent too, and first, if it is to die."""
        if agent and self._agent is not None:
            kill_with_children(self._agent.pid)
            self.bury()
        with contextlib.suppress(FileNotFoundError):
            pid = int((self._data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
            # After a crash the file stays, and its number may have been given to something else.
            if name_of(pid) == "postgres":
                kill_with_children(pid)

    def bury(self) -> None:
        """Take note that the agent was ended from outside."""
        if self._agent is not None:
            self._agent.wait(END_SECONDS_MAX)
            self._agent = None

    def leads(self) -> bool:
        """Whether its agent says, having just asked PostgreSQL, that it holds the lead."""
        try:
            return httpx.get(f"http://{HOST}:{self._api_port}/primary", timeout=ANSWER_SECONDS_MAX).is_success
        except httpx.TransportError:
            return False

    def electable(self) -> frozenset[str]:
        """The members that, as agreed in etcd, may succeed the leader; none when it does not answer."""
        try:
            answer = httpx.get(f"http://{HOST}:{self._api_port}/cluster", timeout=ANSWER_SECONDS_MAX)
        except httpx.TransportError:
            return frozenset()
        members = answer.json().get("members", []) if answer.is_success else []
        return frozenset(one["name"] for one in members if one.get("role") == "quorum_standby")

    def log(self) -> str:
        """All that the agent and PostgreSQL have said, but for the news that there is none."""
        if not self._log.exists():
            return ""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(line for line in lines if "INFO: no action" not in line)

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def _log(self) -> Path:
        return self._folder / "agent.log"

    @property
    def _settings(self) -> Path:
        return self._folder / "patroni.yml"

    def _configuration(self, etcd_port: int) -> Mapping[str, Any]:
        own, api = f"{HOST}:{self.port}", f"{HOST}:{self._api_port}"
        everybody = {"username": SUPERUSER}
        return {
            "scope": "tenure",
            "name": self.name,
            "restapi": {"listen": api, "connect_address": api},
            "etcd3": {"host": f"{HOST}:{etcd_port}"},
            "bootstrap": {"dcs": _AGREED, "initdb": _NEW_CLUSTER},
            "postgresql": {
                "listen": own,
                "connect_address": own,
                "data_dir": str(self._data),
                "bin_dir": str(Path(binary("postgres")).parent),
                "pgpass": str(self._folder / "pgpass"),
                "authentication": {"superuser": everybody, "replication": everybody, "rewind": everybody},
                "pg_hba": [f"host {what} all {HOST}/32 trust" for what in ("all", "replication")],
                "parameters": {**LOOPBACK, **_OWN},
                # A member that cannot be rewound is copied anew.
                "remove_data_directory_on_rewind_failure": True,
            },
        }
