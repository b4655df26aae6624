"""A stranger holds a certificate against its key, and one changed byte is enough to refuse it (SPEC F8)."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from tests.journeys.installation import Installation
from tests.journeys.keys import kept
from tests.stores.places import NewEngine
from tests.usecases.asking import OFFICER, SUBJECT, written

from tenure.core.erasure import Certificate, signed_bytes
from tenure.usecases.certificates import FOREIGN_KEY, Verified, Why, verify
from tenure.usecases.erasure import EraseSubject, erase

DOCS = Path(__file__).resolve().parents[2] / "docs" / "forgetting.md"


def is_signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Ed25519, by the library alone."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def erased(installation: Installation) -> Certificate:
    """A certificate with a memory, a key and all checks in it."""
    kept(installation.pipeline)
    return erase(installation.pipeline, OFFICER, EraseSubject(subject=SUBJECT))


@pytest.fixture
def certificate(installation: Installation) -> Certificate:
    """A fresh certificate."""
    return erased(installation)


@pytest.fixture
def text(certificate: Certificate) -> bytes:
    """Its file."""
    return msgspec.json.encode(certificate)


def test_it_holds_against_the_key_of_its_installation(installation: Installation, text: bytes) -> None:
    """SPEC F8: with the key that somebody got on another way, and, told apart, without one."""
    key = installation.pipeline.keyring.public_key()

    compared, alone = verify(text, key, is_signed=is_signed), verify(text, None, is_signed=is_signed)

    assert isinstance(compared, Verified)
    assert isinstance(alone, Verified)
    assert (compared.key_checked, alone.key_checked) == (True, False)
    assert compared.certificate.statement.subject == SUBJECT


def test_a_byte_that_is_changed_anywhere_is_enough_to_refuse_it(text: bytes) -> None:
    """SPEC F8: every position, in the statement, the key and the signature alike."""
    for position in range(len(text)):
        for changed in (text[position] ^ 1, text[position] ^ 128, (text[position] + 1) % 256):
            altered = text[:position] + bytes([changed]) + text[position + 1 :]
            assert isinstance(verify(altered, None, is_signed=is_signed), Why), (position, changed)


def test_a_byte_that_is_missing_or_added_is_enough_to_refuse_it(text: bytes) -> None:
    """SPEC F8: spaces between members alone mean nothing; within what is said nothing may come or go."""
    for position in range(len(text)):
        assert isinstance(verify(text[:position] + text[position + 1 :], None, is_signed=is_signed), Why)
        longer = text[:position] + b"x" + text[position:]
        assert isinstance(verify(longer, None, is_signed=is_signed), Why), position


@pytest.mark.parametrize("keyed", ["its own key", "no key"])
def test_one_of_another_installation_is_refused(
    installation: Installation, new_engine: NewEngine, text: bytes, keyed: str
) -> None:
    """SPEC F8: it is signed, but not by whom the reader asked for."""
    other = Installation(new_engine(), installation.clock)
    try:
        theirs = msgspec.json.encode(erased(other))
        key = installation.pipeline.keyring.public_key() if keyed == "its own key" else None

        found = verify(theirs, key, is_signed=is_signed)

        assert isinstance(verify(text, key, is_signed=is_signed), Verified)
        if key is None:
            assert isinstance(found, Verified)
        else:
            assert found == Why(because=FOREIGN_KEY)
    finally:
        other.close()


def test_whoever_signs_it_again_with_a_key_of_their_own_is_found_out_by_the_key(
    installation: Installation, certificate: Certificate
) -> None:
    """SPEC F8: a whole forgery holds against itself, and against nothing else."""
    forger = Ed25519PrivateKey.generate()
    statement = msgspec.structs.replace(certificate.statement, memories_erased=99)
    forged = Certificate(
        statement=statement,
        public_key=forger.public_key().public_bytes_raw().hex(),
        signature=forger.sign(signed_bytes(statement)).hex(),
    )

    found = verify(
        msgspec.json.encode(forged), installation.pipeline.keyring.public_key(), is_signed=is_signed
    )

    assert found == Why(because=FOREIGN_KEY)


def test_the_key_stays_the_same_across_restarts_and_erasures(installation: Installation) -> None:
    """SPEC F8: one installation signs with one key, whatever keys of subjects it destroys."""
    before = installation.pipeline.keyring.public_key()
    first = erased(installation)
    installation.restart()
    written(installation.pipeline, "Has come back")
    second = erase(installation.pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    assert {first.public_key, second.public_key} == {before.hex()}
    assert first != second


def test_a_stranger_verifies_it_with_the_lines_that_are_printed(tmp_path: Path, text: bytes) -> None:
    """SPEC F8: docs/forgetting.md has all that is needed, and no Tenure in it."""
    [printed] = re.findall(r"^```python\n(.*?)^```", DOCS.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert "tenure" not in printed
    whole, altered = tmp_path / "whole.json", tmp_path / "altered.json"
    whole.write_bytes(msgspec.json.format(text))
    altered.write_bytes(text.replace(b'"memories_erased":1', b'"memories_erased":2'))

    done = [
        subprocess.run(
            [sys.executable, "-I", "-c", printed, str(file)], capture_output=True, timeout=60, check=False
        )
        for file in (whole, altered)
    ]

    assert [one.returncode for one in done] == [0, 1]
    assert b"InvalidSignature" in done[1].stderr
