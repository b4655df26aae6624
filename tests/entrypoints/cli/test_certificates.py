"""`tenure certificate`: anybody checks a certificate, offline and without a store (SPEC F8)."""

import json
from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import program, ran
from tests.entrypoints.cli.customers import ABOUT, STORE, customer

from tenure.entrypoints.cli.signatures import is_signed
from tenure.wiring import open_store

FILE = "erasure-customer-7.json"


@pytest.fixture
def key() -> str:
    """The installation's public key, once a customer was erased there."""
    customer()
    assert ran("erase", *ABOUT).code == 0
    return str(ran("certificate", "public-key", "--json").json["public_key"])


def elsewhere(file: str = FILE) -> None:
    """Leave nothing here but the certificate: no store to compare with."""
    assert Path(file).exists()
    STORE.rename(STORE.with_name("moved"))


def test_a_stranger_verifies_it_with_the_installations_key(key: str) -> None:
    """SPEC F8: no store, no server; what it says is shown."""
    elsewhere()

    done = ran("certificate", "verify", FILE, "--public-key", key)
    as_json = ran("certificate", "verify", FILE, "--public-key", key, "--json").json

    assert done.code == 0
    assert "subject      customer-7 of tenant acme" in done.out
    assert "it is the key given" in done.out
    assert (as_json["holds"], as_json["key_checked"]) == (True, True)
    assert as_json["fingerprint"] in done.out
    assert as_json["statement"]["memories_erased"] == 1
    assert not STORE.exists()


def test_the_key_may_lie_in_a_file(key: str) -> None:
    """SPEC F8: as 'tenure certificate public-key' prints it."""
    Path("key.txt").write_text(ran("certificate", "public-key").out, encoding="ascii")
    elsewhere()

    assert Path("key.txt").read_text(encoding="ascii") == f"{key}\n"
    assert ran("certificate", "verify", FILE, "--public-key", "key.txt").code == 0


@pytest.mark.usefixtures("key")
def test_without_a_key_the_store_here_is_compared_with() -> None:
    """SPEC F8: its owner need not type the key."""
    done = ran("certificate", "verify", FILE, "--json").json

    assert (done["key_checked"], done["compared_with"]) == (True, "the store in ./tenure-data")


@pytest.mark.usefixtures("key")
def test_without_a_key_and_without_a_store_it_says_that_the_key_was_not_checked() -> None:
    """SPEC F8: the signature holds, and anybody may have made it."""
    elsewhere()

    done = ran("certificate", "verify", FILE)
    as_json = ran("certificate", "verify", FILE, "--json").json

    assert done.code == 0
    assert "NOT CHECKED" in done.out
    assert (as_json["key_checked"], as_json["compared_with"]) == (False, None)
    assert not STORE.exists()


@pytest.mark.usefixtures("key")
def test_a_store_that_cannot_be_asked_is_said_and_one_that_was_named_is_needed() -> None:
    """SPEC F8, S5: another program may keep it to itself."""
    with open_store(STORE):
        by_chance = ran("certificate", "verify", FILE)
        named = ran("certificate", "verify", FILE, "--data", STORE)
    nowhere = ran("certificate", "verify", FILE, "--data", "nowhere")

    assert (by_chance.code, named.code, nowhere.code) == (0, 1, 1)
    assert "NOT CHECKED" in by_chance.out
    assert "in use" in by_chance.out


def test_another_installations_certificate_is_told(key: str) -> None:
    """SPEC F8: by a key that is given, and by the store that is here."""
    elsewhere()
    customer()

    by_store = ran("certificate", "verify", FILE)
    by_key = ran("certificate", "verify", FILE, "--public-key", "ab" * 32, "--json")

    assert (by_store.code, by_key.code) == (1, 1)
    assert "another installation" in by_store.out
    assert by_key.json["holds"] is False
    assert key not in by_store.out


def test_what_is_no_certificate_is_told_and_never_a_trace(key: str) -> None:
    """SPEC F8, E6: altered, torn, empty, another kind of file, another format."""
    text = Path(FILE).read_bytes()
    bad = {
        "altered": text.replace(b"customer-7", b"customer-8"),
        "torn": text[: len(text) // 2],
        "empty": b"",
        "bytes": bytes(range(256)),
        "list": b"[1]",
        "format": text.replace(b"certificate/1", b"certificate/9"),
        "member": text.replace(b'"statement":{', b'"statement":{"also":"all copies",'),
    }
    for name, content in bad.items():
        Path(name).write_bytes(content)

    results = {name: ran("certificate", "verify", name, "--public-key", key) for name in bad}

    assert {name: (result.code, result.err) for name, result in results.items()} == dict.fromkeys(
        bad, (1, "")
    )
    assert all(result.out.startswith(f"{name}: DOES NOT HOLD: ") for name, result in results.items())
    assert text not in bad.values()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing.json",), "cannot be read"),
        ((".",), "cannot be read"),
        ((FILE, "--public-key", "zz"), "64 hexadecimal digits"),
        ((FILE, "--public-key", "ab" * 300), "64 hexadecimal digits"),
        ((FILE, "--public-key", FILE), "64 hexadecimal digits"),
    ],
    ids=["absent", "folder", "word", "long", "file"],
)
def test_what_cannot_be_read_was_asked_wrongly(arguments: tuple[str, ...], said: str) -> None:
    """SPEC S2: exit 2, with what to do."""
    Path(FILE).write_text("{}", encoding="utf-8")

    done = ran("certificate", "verify", *arguments)

    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_file_that_is_too_large_is_not_read_whole() -> None:
    """SPEC S3: a limit on everything."""
    with Path("huge.json").open("wb") as file:
        file.truncate(65 * 1_048_576)

    assert ran("certificate", "verify", "huge.json").code == 2


@pytest.mark.usefixtures("key")
def test_the_certificate_on_standard_output_verifies_when_it_is_kept(tmp_path: Path) -> None:
    """SPEC F8: as a program of its own, from its first byte to its last."""
    printed = program("erase", *ABOUT, "--json")
    Path("kept.json").write_text(printed.out, encoding="utf-8")
    Path("laid-out.json").write_text(json.dumps(json.loads(printed.out), indent=2), encoding="utf-8")

    assert [
        ran("certificate", "verify", tmp_path / name).code for name in ("kept.json", "laid-out.json")
    ] == [
        0,
        0,
    ]


def test_what_is_no_key_signed_nothing() -> None:
    """SPEC F8: whatever its length."""
    assert not is_signed(b"key", b"signature", b"message")
    assert not is_signed(bytes(32), bytes(64), b"message")
