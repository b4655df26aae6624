"""docs/log-format.md is enough: its numbers are real, and a program written from it agrees with us."""

import hashlib
import re
import subprocess
import sys
from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.stores.engine import Engine

from tenure import Source, Tenure
from tenure.core.access_events import AccessDenied, KeyRevoked
from tenure.core.checkpoints import Head, Verifier, origin, signed
from tenure.core.events import Event, EventData, Promoted, Revoked, encode_header
from tenure.core.ledger import GENESIS, body_digest, link
from tenure.core.merkle import BLOCK, Tree, leaf_hash
from tenure.core.vocabulary import Trust
from tenure.usecases.evidence import export, line_of
from tenure.usecases.ports import StoredEvent
from tenure.usecases.proofs import ConsistencyProof, InclusionProof

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = (ROOT / "docs" / "log-format.md").read_text(encoding="utf-8")
VERIFIER_PROGRAM: Final = ROOT / "examples" / "verify_checkpoint.py"
SECONDS_MAX: Final = 60

TENANT: Final = "acme"
KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
VERIFIER: Final = Verifier(name=origin("example.com", TENANT), public_key=KEY.public_key().public_bytes_raw())
MEMORY: Final = UUID("019a0000-0000-7000-8000-000000000001")
DEK: Final = UUID("019a0000-0000-4000-8000-0000000000aa")
CREDENTIAL: Final = UUID("019a0000-0000-7000-8000-000000000009")

STORY: Final[tuple[tuple[EventData, bytes | None], ...]] = (
    (Promoted(trust=Trust.REVIEWER_VERIFIED), b"sealed bytes that nobody can read"),
    (AccessDenied(permission="memory:review", because="not granted", field="role"), None),
    (KeyRevoked(key_id=CREDENTIAL), None),
    (Revoked(), b"sealed bytes that were destroyed since"),
    (AccessDenied(permission="log:read", because="not granted", field="role"), None),
)
"""Five events that never happened; the body of the fourth is gone."""


def made_up_log() -> list[StoredEvent]:
    """The log of the page's example."""
    previous, stored = GENESIS, []
    for seq, (data, body) in enumerate(STORY, 1):
        is_about_memory = body is not None
        event = Event(
            tenant=TENANT,
            at=datetime(2031, 5, 4, 9, seq, tzinfo=UTC),
            actor="key:ann",
            data=data,
            stream=MEMORY if is_about_memory else None,
            version=seq if is_about_memory else None,
            subject="customer-7" if is_about_memory else None,
        )
        digest = body_digest(body) if body is not None else None
        header = encode_header(event, dek=DEK if is_about_memory else None, body_sha256=digest)
        previous = link(previous, seq, header)
        stored.append(StoredEvent(seq, header, None if seq == 4 else body, previous))
    return stored


LOG: Final = made_up_log()


def tree(size: int) -> Tree:
    """The tree over the first events of the example."""
    return Tree(size, [], lambda block: [one.link for one in LOG][block * BLOCK : size])


def note(size: int) -> str:
    """The checkpoint of the example at a size."""
    return signed(Head(origin=VERIFIER.name, size=size, root=tree(size).root()), VERIFIER, KEY.sign)


def expected() -> dict[str, str]:
    """Every block of the example, by the words that stand before it."""
    export = b"".join(msgspec.json.encode(line_of(TENANT, stored)) + b"\n" for stored in LOG).decode()
    inclusion = InclusionProof(
        seq=2,
        size=5,
        header=LOG[1].header.decode(),
        previous_link=LOG[0].link.hex(),
        link=LOG[1].link.hex(),
        leaf_hash=leaf_hash(LOG[1].link),
        hashes=tuple(tree(5).inclusion(1)),
        checkpoint=note(5),
    )
    consistency = ConsistencyProof(
        from_size=3,
        size=5,
        hashes=tuple(tree(5).consistency(3)),
        from_checkpoint=note(3),
        checkpoint=note(5),
    )
    return {
        "The export": export,
        "The leaf hashes": "".join(f"{one.seq} {leaf_hash(one.link).hex()}\n" for one in LOG),
        "The checkpoint of size 3": note(3),
        "The checkpoint of size 5": note(5),
        "The verifier key": VERIFIER.text() + "\n",
        "The inclusion proof of event 2": pretty(inclusion),
        "The consistency proof from 3 to 5": pretty(consistency),
    }


def pretty(proof: msgspec.Struct) -> str:
    """A proof as the page prints it."""
    return msgspec.json.format(msgspec.json.encode(proof), indent=2).decode() + "\n"


def block(title: str) -> str:
    """The fenced block below a line of the page that begins with these words."""
    found = re.search(rf"^\*\*{re.escape(title)}.*?^```\w*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def verified(folder: Path, *arguments: str | Path) -> tuple[int, str]:
    """What the example says, as a program that knows nothing of Tenure."""
    ended = subprocess.run(
        [sys.executable, "-I", VERIFIER_PROGRAM, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS_MAX,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what the page prints, a file a block."""
    for name, title in FILES.items():
        (tmp_path / name).write_text(block(title), encoding="utf-8")
    return tmp_path


FILES: Final = {
    "log.jsonl": "The export",
    "three.note": "The checkpoint of size 3",
    "five.note": "The checkpoint of size 5",
    "key": "The verifier key",
    "inclusion.json": "The inclusion proof of event 2",
    "consistency.json": "The consistency proof from 3 to 5",
}
EVERYTHING: Final = (
    ("three.note", "--export", "log.jsonl"),
    ("five.note", "--export", "log.jsonl"),
    ("five.note", "--proof", "inclusion.json"),
    ("five.note", "--proof", "consistency.json", "--earlier", "three.note"),
)


@pytest.mark.parametrize("title", expected())
def test_the_example_on_the_page_is_real(title: str) -> None:
    """SPEC E2: each number is what the product makes of the example's log."""
    assert block(title) == expected()[title]


def test_the_sentences_of_the_example_are_real() -> None:
    """SPEC E2: the roots and the length that stand in the text."""
    assert tree(3).root().hex() in PAGE
    assert tree(5).root().hex() in PAGE
    assert f"the {len(LOG[1].header)} bytes of the header of event 2" in PAGE


def test_the_page_can_be_recomputed_with_nothing_but_a_hash() -> None:
    """SPEC E2: its formulas, word for word, over the export that it prints."""
    lines = [msgspec.json.decode(line) for line in block("The export").splitlines()]
    previous, leaves = bytes(32), []
    for line in lines:
        said = previous + line["seq"].to_bytes(8, "big") + line["header"].encode()
        previous = hashlib.sha256(said).digest()
        assert previous.hex() == line["link"]
        leaves.append(hashlib.sha256(b"\x00" + previous).digest())
        if line["body"] is not None:
            digest = msgspec.json.decode(line["header"])["body_sha256"]
            assert hashlib.sha256(bytes.fromhex(line["body"])).digest() == b64decode(digest)

    def node(left: bytes, right: bytes) -> bytes:
        return hashlib.sha256(b"\x01" + left + right).digest()

    three = node(node(leaves[0], leaves[1]), leaves[2])
    five = node(node(node(leaves[0], leaves[1]), node(leaves[2], leaves[3])), leaves[4])
    for size, root in ((3, three), (5, five)):
        assert b64decode(block(f"The checkpoint of size {size}").split("\n")[2]) == root


@pytest.mark.parametrize("arguments", EVERYTHING)
def test_the_verifier_finds_the_page_in_order(folder: Path, arguments: tuple[str, ...]) -> None:
    """SPEC E2: written from the page alone, it agrees with the page."""
    assert verified(folder, "--key", "key", *arguments)[0] == 0


ALTERATIONS: Final = {
    "log.jsonl": [
        ("denied", "nodded"),
        ('"seq":2', '"seq":3'),
        ("8ce8feca", "8ce8fecb"),
        ("7365616c", "7365616d"),
        ('acme\\",\\"at\\":\\"2031-05-04T09:01', 'acne\\",\\"at\\":\\"2031-05-04T09:01'),
        ('{"tenant":"acme","seq":3', '{"tenant":"acne","seq":3'),
    ],
    "three.note": [("\n3\n", "\n2\n"), ("qKB5", "qKB6"), ("acme\n3", "acne\n3"), ("oCDDRCWc", "oCDDRCWd")],
    "five.note": [("\n5\n", "\n4\n"), ("OousKhRu", "OousKhRv"), ("\u2014", "-"), ("oCDDRI", "oCDDRJ")],
    "key": [("example", "exampie"), ("a020c344", "a020c345"), ("AQOhB7", "AQOhB8"), ("+", "-")],
    "inclusion.json": [
        ("denied", "nodded"),
        ('"seq": 2', '"seq": 3'),
        ("BwJ+", "BwK+"),
        ('"size": 5', '"size": 4'),
    ],
    "consistency.json": [
        ('"from": 3', '"from": 2'),
        ("ZCJN", "ZCJO"),
        ('"size": 5', '"size": 3'),
        ("9Zn4", "9Zn5"),
    ],
}


@pytest.mark.parametrize(
    ("name", "before", "after"), [(name, *pair) for name, pairs in ALTERATIONS.items() for pair in pairs]
)
def test_the_verifier_refuses_whatever_was_altered(folder: Path, name: str, before: str, after: str) -> None:
    """SPEC E2: in a line of the log, in a note, in the key, in a proof."""
    text = (folder / name).read_text("utf-8")
    assert before in text
    (folder / name).write_text(text.replace(before, after, 1), encoding="utf-8")

    said = [
        verified(folder, "--key", "key", *arguments)
        for arguments in EVERYTHING
        if name in (*arguments, "key")
    ]

    assert [code for code, _ in said] == [1] * len(said)
    assert all("DOES NOT HOLD" in words and "Traceback" not in words for _, words in said)


def test_the_verifier_refuses_a_log_that_was_cut_short_or_swapped(folder: Path) -> None:
    """SPEC E2: its tail is gone, an event is missing, two have changed places."""
    lines = (folder / "log.jsonl").read_bytes().splitlines(keepends=True)
    for damaged in (lines[:4], lines[:1] + lines[2:], [lines[1], lines[0], *lines[2:]], [lines[0], *lines]):
        (folder / "log.jsonl").write_bytes(b"".join(damaged))
        code, words = verified(folder, "five.note", "--key", "key", "--export", "log.jsonl")
        assert (code, "DOES NOT HOLD" in words) == (1, True)


def test_the_verifier_refuses_a_log_that_was_written_anew(folder: Path) -> None:
    """SPEC E2: right in itself, with every link made again, and still not what was signed."""
    previous, lines = GENESIS, []
    for stored in LOG:
        header = stored.header.replace(b"key:ann", b"key:bob")
        previous = link(previous, stored.seq, header)
        anew = StoredEvent(stored.seq, header, stored.body, previous)
        lines.append(msgspec.json.encode(line_of(TENANT, anew)) + b"\n")
    (folder / "log.jsonl").write_bytes(b"".join(lines))

    code, words = verified(folder, "five.note", "--key", "key", "--export", "log.jsonl")

    assert (code, "not the 5 events that were signed" in words) == (1, True)


def test_the_verifier_imports_nothing_of_the_product() -> None:
    """SPEC E2: what it knows of the format, it knows from the page."""
    source = VERIFIER_PROGRAM.read_text("utf-8")

    assert set(re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)) == {
        "argparse",
        "base64",
        "cryptography",
        "hashlib",
        "json",
        "pathlib",
        "sys",
        "typing",
        "urllib",
    }


def test_the_verifier_agrees_with_a_store(engine: Engine, tmp_path: Path) -> None:
    """SPEC E2: on a real log of many kinds of events, with all that the product gives out."""
    with Tenure.open(**engine.opening) as store:
        bot = store.session(tenant="acme + söhne/2", agent="support", purpose="support", subject="c-7")
        auditor = store.session(
            tenant="acme + söhne/2", agent="a", purpose="p", roles=("auditor",), name="aud"
        )
        memory = bot.remember("Prefers e-mail", kind="preference", source=Source.direct_user("m-1"))
        first = auditor.checkpoint()
        bot.recall("how to write to them?")
        officer = store.session(
            tenant="acme + söhne/2", agent="a", purpose="p", subject="c-7", roles=("privacy_officer",)
        )
        officer.erase()
        last = auditor.checkpoint()
        files: dict[str, bytes] = {
            "log.jsonl": b"".join(export(store.node.pipeline)),
            "first.note": first.note.encode(),
            "last.note": last.note.encode(),
            "key": last.key.encode(),
            "memory.json": msgspec.json.encode(auditor.log_proof(memory_id=memory.id, size=last.size)),
            "event.json": msgspec.json.encode(auditor.log_proof(seq=1, size=first.size)),
            "grown.json": msgspec.json.encode(auditor.log_proof(from_size=first.size, size=last.size)),
        }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)

    for arguments in (
        ("first.note", "--export", "log.jsonl"),
        ("last.note", "--export", "log.jsonl", "--proof", "memory.json"),
        ("first.note", "--proof", "event.json"),
        ("last.note", "--proof", "grown.json", "--earlier", "first.note"),
    ):
        assert verified(tmp_path, "--key", "key", *arguments)[0] == 0, arguments
    assert verified(tmp_path, "--key", "key", "first.note", "--proof", "memory.json")[0] == 1
