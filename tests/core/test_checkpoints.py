"""Checkpoints as C2SP writes them, read with suspicion (SPEC E2)."""

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as some

from tenure.core.checkpoints import (
    NOTE_CHARACTERS_MAX,
    BadNote,
    Head,
    Verifier,
    encoded_tenant,
    log_name,
    origin,
    read,
    read_verifier,
    signed,
    verify,
)
from tenure.entrypoints.cli.signatures import is_signed

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
ORIGIN = "tenure.example/acme"
VERIFIER = Verifier(name=ORIGIN, public_key=KEY.public_key().public_bytes_raw())
HEAD = Head(origin=ORIGIN, size=1_500, root=hashlib.sha256(b"root").digest())
NOTE = signed(HEAD, VERIFIER, KEY.sign)
MARK = "\u2014 "

KNOWN_VERIFIER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
KNOWN_SIGNED_TEXT = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
)
KNOWN_SIGNATURE = (
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
)


def below(text: str, *lines: str) -> str:
    """A note of this text with these lines below it."""
    return text + "\n" + "".join(f"{line}\n" for line in lines)


def test_a_note_is_three_lines_a_gap_and_a_signature_line() -> None:
    """SPEC E2: nothing else stands in it, and every line ends in a newline."""
    lines = NOTE.split("\n")

    assert lines[:4] == [ORIGIN, "1500", base64.b64encode(HEAD.root).decode(), ""]
    assert lines[4].startswith(f"{MARK}{ORIGIN} ")
    assert lines[5:] == [""]
    raw = base64.b64decode(lines[4].rsplit(" ", 1)[1])
    assert raw[:4] == hashlib.sha256(ORIGIN.encode() + b"\n\x01" + VERIFIER.public_key).digest()[:4]
    assert is_signed(VERIFIER.public_key, raw[4:], HEAD.text().encode())


def test_a_verifier_key_of_another_implementation_is_read_and_written_alike() -> None:
    """SPEC E2: the known answer of the format: name, id and key, and a signature behind the id."""
    verifier = read_verifier(KNOWN_VERIFIER)
    raw = base64.b64decode(KNOWN_SIGNATURE)

    assert verifier.text() == KNOWN_VERIFIER
    assert (verifier.name, verifier.key_id.hex()) == ("PeterNeumann", "c74f20a3")
    assert raw[:4] == verifier.key_id
    assert is_signed(verifier.public_key, raw[4:], KNOWN_SIGNED_TEXT.encode())


def test_what_was_signed_is_read_back() -> None:
    """SPEC E2: as text, and as the bytes of a file."""
    assert verify(NOTE, VERIFIER, is_signed=is_signed) == HEAD
    assert verify(NOTE.encode(), VERIFIER, is_signed=is_signed) == HEAD
    assert read_verifier(f" {VERIFIER.text()}\n") == VERIFIER


def test_a_witness_may_sign_below() -> None:
    """Signatures of keys that are not known are passed over, wherever they stand."""
    witness = Verifier(name="witness.example/w1", public_key=OTHER_KEY.public_key().public_bytes_raw())
    witnessed = NOTE + signed(HEAD, witness, OTHER_KEY.sign).rpartition("\n\n")[2]

    assert verify(witnessed, VERIFIER, is_signed=is_signed) == HEAD
    with pytest.raises(BadNote, match="another log than the one"):
        verify(witnessed, witness, is_signed=is_signed)


def test_a_note_of_another_key_or_log_is_refused() -> None:
    """SPEC E2: a checkpoint of another installation, and one of another tenant."""
    foreign = Verifier(name=ORIGIN, public_key=OTHER_KEY.public_key().public_bytes_raw())
    other_log = Head(origin="tenure.example/other", size=1, root=HEAD.root)

    for note, verifier in (
        (NOTE, foreign),
        (NOTE, Verifier(name="tenure.example/other", public_key=VERIFIER.public_key)),
        (signed(HEAD, foreign, OTHER_KEY.sign), VERIFIER),
    ):
        with pytest.raises(BadNote, match="not signed by the key to compare with"):
            verify(note, verifier, is_signed=is_signed)
    with pytest.raises(BadNote, match="of another log"):
        verify(signed(other_log, VERIFIER, KEY.sign), VERIFIER, is_signed=is_signed)


@given(at=some.integers(0, len(NOTE.encode()) - 1), bit=some.integers(0, 7))
def test_no_flipped_bit_is_believed(at: int, bit: int) -> None:
    """SPEC E2: whichever bit of a note is altered, it says nothing any more."""
    raw = bytearray(NOTE.encode())
    raw[at] ^= 1 << bit

    with pytest.raises(BadNote):
        verify(bytes(raw), VERIFIER, is_signed=is_signed)


@given(some.text(max_size=300) | some.binary(max_size=300))
def test_whatever_is_no_note_is_refused(note: str | bytes) -> None:
    """SPEC E2: hostile input meets one error, and never another."""
    with pytest.raises(BadNote):
        verify(note, VERIFIER, is_signed=is_signed)


TEXT = HEAD.text()
LINE = NOTE.split("\n")[4]


@pytest.mark.parametrize(
    ("note", "because"),
    [
        ("", "no empty line"),
        (TEXT, "no empty line"),
        (TEXT + "\n", "line with a signature"),
        (NOTE.removesuffix("\n"), "line with a signature"),
        (below(TEXT, LINE.replace(MARK, "- ")), "not a signature"),
        (below(TEXT, f"{MARK}{ORIGIN}"), "not a signature"),
        (below(TEXT, f"{MARK}{ORIGIN} AAAA"), "not a signature"),
        (below(TEXT, f"{MARK}a+b {LINE.rsplit(' ', 1)[1]}"), "not a signature"),
        (below(TEXT, LINE + "="), "not a signature"),
        (below(TEXT, *[LINE] * 65), "more than 64"),
        (NOTE.replace("\n", "\r\n"), "control characters"),
        (NOTE.encode()[:-2] + b"\xff\n", "not UTF-8"),
        (NOTE + "\ud800", "not UTF-8"),
        ("x" * (NOTE_CHARACTERS_MAX + 1), "too long"),
        (below(f"{ORIGIN}\n1500\n", LINE), "three lines"),
        (below(f"\n1500\n{TEXT.splitlines()[2]}\n", LINE), "three lines"),
        (NOTE.replace("1500", "01500"), "size of a log"),
        (NOTE.replace("1500", "-1"), "size of a log"),
        (NOTE.replace("1500", "\u0661"), "size of a log"),
        (NOTE.replace("1500", "9" * 19), "size of a log"),
        (NOTE.replace(TEXT.splitlines()[2], "AAAA"), "not a root"),
    ],
)
def test_a_bad_note_is_told_what_is_wrong(note: str | bytes, because: str) -> None:
    """SPEC E2: a clear word for each way in which a file is no checkpoint."""
    with pytest.raises(BadNote, match=because):
        read(note)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "acme",
        "acme+00000000",
        VERIFIER.text().replace("+", " "),
        VERIFIER.text() + "A",
        VERIFIER.text().removesuffix(VERIFIER.text()[-4:]),
        f"{ORIGIN}+{VERIFIER.key_id.hex()}+{base64.b64encode(b'x02' + VERIFIER.public_key).decode()}",
        VERIFIER.text().replace("acme", "acne"),
        VERIFIER.text().replace(VERIFIER.key_id.hex(), "00000000"),
    ],
)
def test_a_bad_verifier_key_is_refused(text: str) -> None:
    """SPEC E2: name, id and key must belong together."""
    with pytest.raises(BadNote, match="verifier key"):
        read_verifier(text)


def test_a_longer_text_is_read_and_its_further_lines_are_signed_too() -> None:
    """The format allows lines behind the root; ours has none, and an added one breaks the signature."""
    longer = NOTE.replace("\n\n", "\nmore\n\n")

    assert read(longer).head == HEAD
    with pytest.raises(BadNote, match="altered"):
        verify(longer, VERIFIER, is_signed=is_signed)


@given(some.text(min_size=1).filter(lambda name: name.isprintable()))
def test_any_tenant_has_an_origin_that_is_a_key_name(tenant: str) -> None:
    """SPEC E2: whatever a tenant is called, its notes can be read, and its part of a path is one part."""
    name = origin("tenure.example", tenant)
    verifier = Verifier(name=name, public_key=VERIFIER.public_key)
    head = Head(origin=name, size=0, root=HEAD.root)

    assert verify(signed(head, verifier, KEY.sign), verifier, is_signed=is_signed) == head
    assert read_verifier(verifier.text()) == verifier
    assert not {"/", "\\", ".", "+", " "} & set(encoded_tenant(tenant))


def test_two_installations_never_share_a_name() -> None:
    """SPEC E2: where nobody chose a name, it comes from the key."""
    assert log_name(VERIFIER.public_key) == "tenure-" + hashlib.sha256(VERIFIER.public_key).hexdigest()[:16]
    assert log_name(VERIFIER.public_key) != log_name(OTHER_KEY.public_key().public_bytes_raw())
