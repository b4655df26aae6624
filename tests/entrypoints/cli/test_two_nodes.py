"""`tenure serve` twice over one database is one memory, and commands need neither to reach it (SPEC S5)."""

import base64
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import psycopg
import pytest
from tests.entrypoints.cli.commands import PROGRAM, SECONDS_MAX, Ran, Serving, clean_environment, ran
from tests.postgres.server import PostgresServer, free_port
from tests.postgres.waiting import wait_until

from tenure.wiring import open_store

PASSWORD = "hunter2-in-the-address"
CONTENT = "Prefers the green entrance by the canal"
QUESTION = "which entrance does the customer prefer?"
KEK = base64.b64encode(bytes(range(32))).decode()
GIVES_UP_SECONDS = 15.0
TAKES_OVER_SECONDS_MAX = 40.0
"""The lease's ten seconds, and what a busy machine adds."""

Json = dict[str, Any]


class TwoNodes(NamedTuple):
    """Two servers over one database, and what everybody needs to reach it."""

    a: Serving
    b: Serving
    url: str
    folder: Path

    def command(self, *arguments: str) -> Ran:
        """Run a command against the database."""
        return ran(*arguments, "--database-url", self.url, "--data", self.folder, "--json")

    def log(self, name: str) -> str:
        """What a node wrote about itself so far."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")


@contextmanager
def node(url: str, folder: Path, name: str, **environment: str) -> Iterator[Serving]:
    """A server over the database, whose log goes to a file; it is stopped with a signal."""
    folder.mkdir(exist_ok=True)
    place = ["--database-url", url, "--data", str(folder), "--port", "0", "--json"]
    often = {"TENURE_UPKEEP__INTERVAL_SECONDS": "0.2"}
    with (
        (folder / f"{name}.log").open("wb") as log,
        subprocess.Popen(
            [PROGRAM, "serve", *place],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=clean_environment() | often | environment,
        ) as process,
    ):
        try:
            yield Serving(process, folder, announced(process))
        finally:
            process.terminate()
            process.wait(SECONDS_MAX)


def announced(process: "subprocess.Popen[str]") -> Json:
    """What a server says once it answers."""
    assert process.stdout is not None
    said: Json = msgspec.json.decode(process.stdout.readline() or "{}")
    assert "url" in said, said
    return said


def with_password(url: str) -> str:
    """The same address with a password in it, which the server of the tests does not look at."""
    return url.replace("@", f":{PASSWORD}@", 1)


@contextmanager
def two_nodes(database_url: str, folder: Path) -> Iterator[TwoNodes]:
    """A first node, which does the rounds, and then a second."""
    url = with_password(database_url)
    with node(url, folder, "a") as a:
        wait_until(
            lambda: holder(database_url), what="the first node does the rounds", seconds_max=SECONDS_MAX
        )
        with node(url, folder, "b") as b:
            yield TwoNodes(a, b, url, folder)


@pytest.fixture(scope="module")
def nodes(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoNodes]:
    """Two nodes for all tests that do them no harm."""
    url = postgres_server.create_database("two_nodes")
    with two_nodes(url, tmp_path_factory.mktemp("nodes") / "data") as running:
        yield running
    postgres_server.drop_database("two_nodes")


def holder(database_url: str) -> str | None:
    """Who does the rounds, by the database's word."""
    with psycopg.connect(database_url) as connection:
        if connection.execute("SELECT to_regclass('tenure.lease')").fetchone() == (None,):
            return None
        row = connection.execute("SELECT holder FROM tenure.lease WHERE name = 'upkeep'").fetchone()
    return row[0] if row else None


def bot(nodes: TwoNodes, name: str) -> dict[str, str]:
    """The headers of somebody who writes, reads and forgets, whose key a command made."""
    roles = ("--role", "writer", "--role", "reader", "--role", "privacy_officer")
    side = ("--agent", "support", "--purpose", "support")
    made = nodes.command("key", "create", "--tenant", "acme", "--name", name, *roles, *side)
    assert made.code == 0, made.out
    return {"Authorization": f"Bearer {made.json['token']}"}


def call(
    server: Serving, headers: dict[str, str], method: str, path: str, body: object = None
) -> httpx.Response:
    """Ask one node."""
    return httpx.request(
        method, f"{server.announced['url']}/v1/{path}", headers=headers, json=body, timeout=30
    )


def preference(subject: str, **sides: object) -> Json:
    """A memory that is admitted at once."""
    source = {"type": "direct_user", "id": "chat-1"}
    return {"subject": subject, "kind": "preference", "content": CONTENT, "source": source, **sides}


def recalled(server: Serving, headers: dict[str, str], subject: str) -> list[str]:
    """The ids that a recall on one node finds."""
    answer = call(server, headers, "POST", "recall", {"query": QUESTION, "subject": subject})
    assert answer.status_code == 200, answer.text
    return [each["memory"]["id"] for each in answer.json()["items"]]


def test_what_one_node_took_in_the_other_recalls_and_what_it_forgot_is_gone_from_both(
    nodes: TwoNodes,
) -> None:
    """SPEC S5, F1: one memory; forgotten means absent from every node with the answer."""
    headers = bot(nodes, "story")

    kept = call(nodes.a, headers, "POST", "memories", preference("customer-1")).json()["memory"]["id"]
    found = recalled(nodes.b, headers, "customer-1")
    forgotten = call(nodes.b, headers, "POST", "forget", {"subject": "customer-1"}).json()["forgotten"]

    assert found == [kept]
    assert forgotten == 1
    assert recalled(nodes.a, headers, "customer-1") == []
    assert call(nodes.a, headers, "GET", f"memories/{kept}").status_code == 404


def test_a_retry_on_the_other_node_gets_the_first_answer(nodes: TwoNodes) -> None:
    """SPEC L9: a client that lost its node repeats itself elsewhere, and nothing is doubled."""
    headers = bot(nodes, "retries") | {"Idempotency-Key": "message-17"}

    first, again = (
        call(server, headers, "POST", "memories", preference("customer-2")) for server in (nodes.a, nodes.b)
    )
    other = call(nodes.b, headers, "POST", "memories", preference("customer-3"))

    assert first.json() == again.json()
    assert len(recalled(nodes.b, headers, "customer-2")) == 1
    assert other.status_code == 409


def test_commands_open_the_database_beside_the_nodes(nodes: TwoNodes) -> None:
    """SPEC S1: keys, log and views are in reach without a control socket, and no node is disturbed."""
    headers = bot(nodes, "commands")
    call(nodes.a, headers, "POST", "memories", preference("customer-4"))
    listed = {
        each["name"]: each["id"] for each in nodes.command("key", "list", "--tenant", "acme").json["items"]
    }

    verified = nodes.command("log", "verify")
    exported = nodes.command("log", "export", "log.jsonl")
    rebuilt = nodes.command("rebuild")
    before = [call(server, headers, "GET", "memories").status_code for server in (nodes.a, nodes.b)]
    revoked = nodes.command("key", "revoke", listed["commands"])
    after = [call(server, headers, "GET", "memories").status_code for server in (nodes.a, nodes.b)]

    assert (verified.code, verified.json["holds"]) == (0, True)
    assert exported.json["tenants"] == 2
    assert rebuilt.json["identical"]
    assert revoked.code == 0
    assert (before, after) == ([200, 200], [401, 401])
    assert not list(nodes.folder.glob("*.sock"))
    assert not (nodes.folder / "lock").exists()


def test_conversations_are_imported_into_the_database(nodes: TwoNodes, tmp_path: Path) -> None:
    """SPEC S1, L9: from anywhere, and again without doubling."""
    turns = [{"id": "1", "session": 1, "speaker": "Ines", "text": "The van is red."}]
    (tmp_path / "chat.json").write_bytes(msgspec.json.encode([{"id": "talk", "turns": turns}]))
    arguments = ("import", "chat", "chat.json", "--tenant", "demo", "--agent", "a", "--purpose", "p")

    first, again = nodes.command(*arguments), nodes.command(*arguments)

    assert (first.json["admitted"], again.json["admitted"], again.json["repeated"]) == (1, 0, 1)


def test_neither_content_nor_password_is_in_what_the_nodes_say(nodes: TwoNodes) -> None:
    """SPEC E6: not in their logs, not in what they announce, not in the settings as they are printed."""
    headers = bot(nodes, "quiet")
    call(nodes.a, headers, "POST", "memories", preference("customer-5"))
    recalled(nodes.b, headers, "customer-5")

    settings = nodes.command("config")
    said = [nodes.log("a"), nodes.log("b"), str(nodes.a.announced), str(nodes.b.announced), settings.out]

    assert "/v1/memories" in said[0]
    assert "/v1/recall" in said[1]
    for hidden in (CONTENT, QUESTION, PASSWORD, headers["Authorization"].split()[1]):
        assert not any(hidden in each for each in said)


def test_the_first_operators_key_is_in_the_data_folder(nodes: TwoNodes) -> None:
    """SPEC A1, A4: the node that made it wrote it there, both announce it, and it opens the other too."""
    file = nodes.folder / "bootstrap-key"
    headers = {"Authorization": f"Bearer {file.read_text(encoding='ascii').strip()}"}

    assert [each.announced["bootstrap_key_file"] for each in (nodes.a, nodes.b)] == [str(file)] * 2
    assert call(nodes.b, headers, "GET", "log").status_code == 200


def test_nodes_that_start_at_once_make_one_operator(postgres_url: str, tmp_path: Path) -> None:
    """SPEC A1: a second key that nobody knows of would be a way in."""
    folders = [tmp_path / "one", tmp_path / "two"]
    environment = clean_environment() | {"TENURE_KEYS__KEK": KEK, "TENURE_DATABASE_URL": postgres_url}
    with ExitStack() as ends:
        started = [
            subprocess.Popen(
                [PROGRAM, "serve", "--data", str(folder), "--port", "0", "--json"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
            for folder in folders
        ]
        for process in started:
            ends.enter_context(process)
            ends.callback(process.terminate)
        files = [announced(process)["bootstrap_key_file"] for process in started]

    assert len([file for file in files if file is not None]) == 1
    assert sum((folder / "bootstrap-key").exists() for folder in folders) == 1


@pytest.mark.parametrize(
    "waits_it_out",
    [pytest.param(True, marks=pytest.mark.slow, id="in time"), pytest.param(False, id="at once")],
)
def test_a_killed_node_is_succeeded(postgres_url: str, tmp_path: Path, *, waits_it_out: bool) -> None:
    """SPEC S5, T8, L11: what it acknowledged is kept, the other goes on, and takes the rounds over.

    That is once the lease is out: ten seconds pass, or the lease is set back as if they had.
    """
    with two_nodes(postgres_url, tmp_path / "data") as nodes:
        headers = bot(nodes, "survives")
        kept = call(nodes.a, headers, "POST", "memories", preference("customer-6")).json()["memory"]["id"]
        dead = holder(postgres_url)
        nodes.a.process.kill()
        nodes.a.process.wait(SECONDS_MAX)

        short = call(nodes.b, headers, "POST", "memories", preference("customer-7", ttl_seconds=1))
        found = recalled(nodes.b, headers, "customer-6")
        still = holder(postgres_url)
        if not waits_it_out:
            with psycopg.connect(postgres_url) as connection:
                connection.execute("UPDATE tenure.lease SET held_until = now() WHERE name = 'upkeep'")
        history = f"memories/{short.json()['memory']['id']}/history"
        wait_until(
            lambda: call(nodes.b, headers, "GET", history).json()["items"][-1]["event"] == "memory.expired",
            what="the other node writes the expiry",
            seconds_max=TAKES_OVER_SECONDS_MAX,
            interval_seconds=0.2,
        )
        heir = holder(postgres_url)
        nodes.b.process.send_signal(signal.SIGTERM)
        code = nodes.b.process.wait(SECONDS_MAX)

    assert found == [kept]
    assert (still, heir not in (None, dead)) == (dead, True)
    assert code == 0
    assert "error" not in nodes.log("b")


def test_a_lost_database_is_told_in_the_nodes_own_shape(
    own_postgres_server: PostgresServer, tmp_path: Path
) -> None:
    """SPEC E6, S3: every line of the log stays an entry, without the driver's words; SIGTERM ends it."""
    url = with_password(own_postgres_server.create_database("lost"))
    with node(url, tmp_path / "data", "only") as server:
        log = tmp_path / "data" / "only.log"
        own_postgres_server.kill()
        wait_until(lambda: b"driver reports" in log.read_bytes(), what="it notices", seconds_max=SECONDS_MAX)
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(SECONDS_MAX)

    entries = [msgspec.json.decode(line) for line in log.read_bytes().splitlines()]
    assert code == 0
    assert {entry["level"] for entry in entries} <= {"info", "warning", "error"}
    assert "127.0.0.1" not in str([entry for entry in entries if "logger" in entry])


@pytest.mark.parametrize(
    "command", [["key", "list"], ["serve", "--port", "0"], ["log", "verify"], ["rebuild"]]
)
def test_a_database_that_refuses_is_a_clear_error(
    command: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """SPEC S2, S3: exit code 1, what is wrong and what to do, and no password, whoever writes it."""
    url = f"postgresql://ann:{PASSWORD}@127.0.0.1:{free_port()}/memory"

    text = ran(*command, "--database-url", url)
    as_json = ran(*command, "--database-url", url, "--json")

    assert (text.code, as_json.code, as_json.json["status"]) == (1, 1, 503)
    assert text.err.startswith("tenure: the database cannot ")
    assert PASSWORD not in text.err + text.out + as_json.out + str(capfd.readouterr())


@pytest.mark.slow
def test_a_database_that_never_answers_is_given_up(tmp_path: Path) -> None:
    """SPEC S3: who starts a node is not left to wait."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://ann:{PASSWORD}@127.0.0.1:{silent.getsockname()[1]}/memory"
        began = time.monotonic()
        result = ran("key", "list", "--database-url", url, "--data", tmp_path / "data")
        taken = time.monotonic() - began

    assert result.code == 1
    assert taken < GIVES_UP_SECONDS
    assert "the database cannot " in result.err
    assert PASSWORD not in result.err


def test_an_embedded_store_in_the_same_folder_is_never_opened_instead(tmp_path: Path) -> None:
    """SPEC S5: with the database out of reach a command fails, whatever lies or runs in the data folder."""
    with open_store(tmp_path / "data"):
        pass
    url = f"postgresql://{PASSWORD}@127.0.0.1:{free_port()}/memory"

    result = ran("log", "verify", "--database-url", url, "--data", tmp_path / "data")

    assert result.code == 1
    assert "the database cannot " in result.err
