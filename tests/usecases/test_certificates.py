"""A certificate is checked from its bytes alone, and nothing beside what was signed gets past (SPEC F8)."""

import json
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tenure.core.erasure import FORMAT, Certificate, Check, Statement, signed_bytes
from tenure.usecases.certificates import (
    ALTERED,
    FOREIGN_KEY,
    NOT_JSON,
    Verified,
    Why,
    fingerprint,
    read_key,
    verify,
)

KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
AT: Final = datetime(2031, 5, 4, 9, 0, tzinfo=UTC)
PUBLIC: Final = KEY.public_key().public_bytes_raw()
RECIPE: Final = """
jq -cjS .statement FILE >statement
jq -j .signature FILE | xxd -r -p >signature
(printf 302a300506032b6570032100; jq -j .public_key FILE) | xxd -r -p >key.der
openssl pkeyutl -verify -rawin -in statement -sigfile signature -pubin -keyform DER -inkey key.der
"""


def is_signed(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """What the installation's library says of a signature."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def statement(**sides: Any) -> Statement:
    """A statement about somebody whose name is not plain letters."""
    whole: dict[str, Any] = {
        "format": FORMAT,
        "certificate_id": UUID(int=7),
        "tenant": "acme",
        "subject": "müller/7",
        "requested_by": "key:pia",
        "begun_at": AT,
        "completed_at": AT + timedelta(milliseconds=1_500),
        "final_after": AT + timedelta(days=30),
        "memories_erased": 2,
        "memory_ids": (UUID(int=1), UUID(int=2)),
        "sealed_bodies_removed_up_to": 12,
        "keys_destroyed": (UUID(int=9),),
        "log_position": 12,
        "log_link": "ab" * 32,
        "metadata_kept": ("headers",),
        "checks": (Check(name="keys", passed=True, detail="0 left"),),
        "out_of_reach": ("copies",),
    }
    return Statement(**(whole | sides))


def signed(by: Ed25519PrivateKey = KEY, **sides: Any) -> Certificate:
    """A certificate that this key really signed."""
    said = statement(**sides)
    return Certificate(
        statement=said,
        public_key=by.public_key().public_bytes_raw().hex(),
        signature=by.sign(signed_bytes(said)).hex(),
    )


def text_of(certificate: Certificate) -> bytes:
    """The bytes of a certificate's file."""
    return msgspec.json.encode(certificate, order="sorted")


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The file of a certificate, after somebody had it in their hands."""
    members: dict[str, Any] = json.loads(text_of(signed()))
    change(members)
    return json.dumps(members).encode()


def check(text: bytes, public_key: bytes | None = PUBLIC) -> Verified | Why:
    """What is said of a file."""
    return verify(text, public_key, is_signed=is_signed)


def test_a_certificate_as_it_was_signed_is_verified() -> None:
    """SPEC F8: and says whose key signed it, in short."""
    certificate = signed()

    assert check(text_of(certificate)) == Verified(
        certificate=certificate, fingerprint=fingerprint(PUBLIC), key_checked=True
    )


def test_without_a_key_to_compare_with_it_says_that_the_key_was_not_checked() -> None:
    """SPEC F8: anybody can sign with a key of their own."""
    forged = check(text_of(signed(OTHER)), None)

    assert isinstance(forged, Verified)
    assert not forged.key_checked


def test_a_certificate_of_another_installation_is_told() -> None:
    """SPEC F8: its signature holds, under a key that is not the one asked for."""
    assert check(text_of(signed(OTHER))) == Why(because=FOREIGN_KEY)


@pytest.mark.parametrize("bit", range(8))
def test_no_byte_can_be_altered(bit: int) -> None:
    """SPEC F8: in a file as it is written, whichever bit of whichever byte it is."""
    text = text_of(signed())

    passed = [
        place
        for place in range(len(text))
        if isinstance(check(text[:place] + bytes([text[place] ^ 1 << bit]) + text[place + 1 :]), Verified)
    ]

    assert passed == []


def test_no_end_can_be_cut_off() -> None:
    """SPEC F8: a torn file is told, wherever it was torn."""
    text = text_of(signed())

    assert all(isinstance(check(text[:end]), Why) for end in range(len(text)))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbf{}",
        b"nothing of the kind",
        b"{} {}",
        b"[" * 100_000,
        b'{"statement": NaN}',
        b'{"statement": ' + b"9" * 10_000 + b"}",
        b'{"statement": {"format": "\\ud800"}}',
        json.dumps({"statement": {}}).encode("utf-16"),
    ],
    ids=["empty", "bytes", "mark", "words", "two", "deep", "nan", "long", "half", "utf-16"],
)
def test_what_is_not_json_is_told_without_a_trace(text: bytes) -> None:
    """SPEC F8, E6: whatever it is."""
    assert check(text) == Why(because=NOT_JSON)


@pytest.mark.parametrize("text", [b"[]", b"7", b"null", b"{}", b'{"statement": []}'])
def test_json_without_a_statement_is_no_certificate(text: bytes) -> None:
    """SPEC F8: another kind of file."""
    found = check(text)

    assert isinstance(found, Why)
    assert "no statement" in found.because


def test_an_unknown_format_is_told_by_the_one_that_is_read() -> None:
    """SPEC F8: a later version's certificate is not said to be altered."""
    found = check(text_of(signed(format="tenure-erasure-certificate/2")))

    assert isinstance(found, Why)
    assert FORMAT in found.because


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.update(note="all copies are gone as well"),
        lambda file: file["statement"].update(note="all copies are gone as well"),
        lambda file: file["statement"]["checks"][0].update(note="fine"),
        lambda file: file["statement"].pop("checks"),
        lambda file: file.pop("signature"),
        lambda file: file["statement"].update(memories_erased="2"),
        lambda file: file["statement"].update(memories_erased=2.0),
        lambda file: file["statement"].update(begun_at="2031-05-04T09:00:00+00:00"),
        lambda file: file["statement"].update(certificate_id=UUID(int=7).hex),
        lambda file: file.update(signature=file["signature"].upper()),
        lambda file: file.update(signature=file["signature"] + "00"),
        lambda file: file.update(public_key=" " + file["public_key"]),
        lambda file: file.update(public_key="key"),
    ],
    ids=[
        "beside",
        "inside",
        "deeper",
        "less",
        "unsigned",
        "text",
        "fraction",
        "zone",
        "uuid",
        "capitals",
        "longer",
        "spaced",
        "no-key",
    ],
)
def test_nothing_is_smuggled_in_beside_what_was_signed(change: Callable[[dict[str, Any]], object]) -> None:
    """SPEC F8: no member more, none less, none in another spelling."""
    found = check(changed(change))

    assert isinstance(found, Why)
    assert found.because not in {NOT_JSON, ALTERED, FOREIGN_KEY}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_member_that_stands_twice_is_told(order: tuple[int, int]) -> None:
    """SPEC F8: readers differ in which of the two they take, so neither is believed."""
    values = (b'"subject":"m\xc3\xbcller/7"', b'"subject":"somebody"')
    text = text_of(signed()).replace(values[0], values[order[0]] + b"," + values[order[1]])

    found = check(text)

    assert isinstance(found, Why)
    assert "twice" in found.because


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file["statement"].update(subject="somebody"),
        lambda file: file["statement"]["checks"][0].update(passed=False),
        lambda file: file["statement"]["memory_ids"].reverse(),
        lambda file: file.update(signature="00" * 64),
        lambda file: file.update(public_key=OTHER.public_key().public_bytes_raw().hex()),
    ],
    ids=["subject", "check", "order", "signature", "key"],
)
def test_what_was_changed_no_longer_fits_its_signature(change: Callable[[dict[str, Any]], object]) -> None:
    """SPEC F8: another value, another order, another key."""
    assert check(changed(change)) == Why(because=ALTERED)


def test_spaces_and_the_order_of_members_mean_nothing() -> None:
    """SPEC F8: an answer over HTTP that was laid out for reading is the same certificate."""
    backwards = dict(reversed(json.loads(text_of(signed())).items()))
    backwards["statement"] = dict(reversed(backwards["statement"].items()))

    assert isinstance(check(json.dumps(backwards, indent=4).encode() + b"\n"), Verified)
    assert isinstance(check(msgspec.json.encode(signed())), Verified)


def test_what_is_signed_is_the_statement_sorted_by_name() -> None:
    """SPEC F8: so that any language's JSON can make the same bytes from the file."""
    members = json.loads(text_of(signed()))["statement"]
    common = json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert signed_bytes(statement()) == common.encode()


def test_a_stranger_checks_it_with_common_tools(tmp_path: Path) -> None:
    """SPEC F8: the commands in the head of the module, as they stand there."""
    if not all(shutil.which(tool) for tool in ("jq", "xxd", "openssl")):
        pytest.skip("the recipe needs jq, xxd and openssl")
    documented = verify.__globals__["__doc__"]
    assert all(line in documented for line in RECIPE.strip().splitlines())

    verdicts = []
    for text in (text_of(signed()), msgspec.json.encode(signed()), changed(_another_subject)):
        (tmp_path / "certificate.json").write_bytes(text)
        script = "set -e\n" + RECIPE.replace("FILE", "certificate.json")
        done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, check=False)
        verdicts.append(done.returncode == 0)

    assert verdicts == [True, True, False]


def _another_subject(file: dict[str, Any]) -> None:
    file["statement"]["subject"] = "somebody"


def test_a_key_is_read_from_what_people_keep_it_in() -> None:
    """SPEC F8: with the end of a line, or in capitals; anything else is no key."""
    assert read_key(f" {PUBLIC.hex().upper()}\n") == PUBLIC
    assert [read_key(text) for text in ("", "zz", PUBLIC.hex()[:-2], "me")] == [None] * 4
