"""`tenure log checkpoint`, `log proof` and `log key`: what an outsider gets from an operator (SPEC E2)."""

from pathlib import Path

import msgspec
import pytest
from tests.entrypoints.cli.commands import Serving, at, ran
from tests.stores.engine import Engine

from tenure.core.checkpoints import read_verifier, verify
from tenure.entrypoints.cli.signatures import is_signed


@pytest.fixture
def store(engine: Engine) -> tuple[str, ...]:
    """The options that name a store with two events of one tenant."""
    for name in ("one", "two"):
        ran("key", "create", "--tenant", "acme", "--name", name, "--role", "reader", *at(engine))
    return at(engine)


def test_a_note_goes_to_standard_output_and_fits_the_key(store: tuple[str, ...]) -> None:
    """SPEC E2: nothing but the note, so that it can be piped; the only tenant need not be named."""
    made, key = ran("log", "checkpoint", *store), ran("log", "key", "--tenant", "acme", *store)

    head = verify(made.out, read_verifier(key.out), is_signed=is_signed)
    assert (made.code, made.err, head.size) == (0, "", 2)


def test_a_note_goes_to_a_file_byte_for_byte(store: tuple[str, ...], tmp_path: Path) -> None:
    """SPEC E2: what was signed earlier can be had again by its size."""
    first = ran("log", "checkpoint", *store).out
    result = ran("log", "checkpoint", "--size", "2", "--out", tmp_path / "two.note", *store)

    assert (result.code, result.out) == (0, "")
    assert "2 events" in result.err
    assert (tmp_path / "two.note").read_text("utf-8") == first


def test_a_checkpoint_is_one_json_object(store: tuple[str, ...]) -> None:
    """SPEC S2: with the key, under which the note can be checked."""
    said = ran("log", "checkpoint", "--tenant", "acme", *store, "--json").json

    assert set(said) == {"origin", "size", "root", "note", "key", "made_at"}
    keys = ran("log", "key", *store, "--json").json["items"]
    assert keys == [{"tenant": "acme", "key": said["key"]}]


def test_where_there_are_many_tenants_one_must_be_named(store: tuple[str, ...]) -> None:
    """SPEC M2, S2: each has a log of its own."""
    ran("key", "create", "--tenant", "other", "--name", "n", "--role", "reader", *store)

    result = ran("log", "checkpoint", *store, "--json")

    assert (result.code, result.json["field"]) == (2, "tenant")
    assert result.json["hint"] == "Name one with --tenant: acme, other."
    assert len(ran("log", "key", *store).out.splitlines()) == 2


def test_a_proof_is_one_json_object(store: tuple[str, ...], tmp_path: Path) -> None:
    """SPEC E2: to standard output or to a file."""
    ran("log", "checkpoint", *store)

    inclusion = ran("log", "proof", "--tenant", "acme", "--seq", "1", *store).json
    consistency = ran("log", "proof", "--tenant", "acme", "--from", "2", *store, "--json").json
    to_file = ran(
        "log", "proof", "--tenant", "acme", "--seq", "2", "--out", tmp_path / "two.json", *store, "--json"
    )

    assert (inclusion["kind"], inclusion["seq"], inclusion["header"]) == ("inclusion", 1, None)
    assert (consistency["kind"], consistency["from"]) == ("consistency", 2)
    assert to_file.json == {"file": str(tmp_path / "two.json")}
    assert msgspec.json.decode((tmp_path / "two.json").read_bytes())["seq"] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--seq", "9"), 1, "no event at position 9"),
        (("--from", "9"), 1, "no checkpoint of size 9"),
        (("--seq", "1", "--size", "1"), 1, "no checkpoint of size 1"),
        (("--memory", "00000000-0000-7000-8000-000000000000"), 1, "no event of this memory"),
        (("--seq", "0"), 2, "seq must be 1 or more"),
        (("--seq", "1", "--from", "1"), 2, "exactly one thing"),
        ((), 2, "exactly one thing"),
    ],
)
def test_what_cannot_be_proven_is_a_clear_error(
    store: tuple[str, ...], arguments: tuple[str, ...], code: int, says: str
) -> None:
    """SPEC E2, S2: as over HTTP."""
    result = ran("log", "proof", "--tenant", "acme", *arguments, *store)

    assert (result.code, says in result.err) == (code, True)


def test_a_tenant_that_is_not_there_has_no_log(store: tuple[str, ...]) -> None:
    """SPEC S2: a slip makes no new one."""
    for command in (("checkpoint",), ("proof", "--seq", "1"), ("key",)):
        result = ran("log", *command, "--tenant", "acne", *store)
        assert (result.code, "no such tenant" in result.err) == (1, True)


def test_an_empty_store_has_nothing_to_sign(engine: Engine) -> None:
    """SPEC S2."""
    engine.open().close()

    assert ran("log", "checkpoint", *at(engine)).code == 1
    assert ran("log", "key", *at(engine)).out == "The log is empty.\n"


def test_through_a_server_it_is_the_same(served: Serving) -> None:
    """SPEC S1: whichever way the store is reached."""
    ran("key", "create", "--tenant", "signed", "--name", "n", "--role", "reader", "--data", served.folder)
    made = ran("log", "checkpoint", "--tenant", "signed", "--data", served.folder)
    key = ran("log", "key", "--tenant", "signed", "--data", served.folder)
    proof = ran("log", "proof", "--tenant", "signed", "--seq", "1", "--data", served.folder)

    verify(made.out, read_verifier(key.out), is_signed=is_signed)
    assert proof.json["seq"] == 1
