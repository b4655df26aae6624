"""Check a signed checkpoint of a log, and a log or a proof against it, offline.

Written from docs/log-format.md alone: it needs Python's standard library and `cryptography`, and no part of
Tenure. KEY is a verifier key that you knew before, or a file that holds it. Exits with 1, and says why, where
anything does not hold.
"""

import argparse
import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class Head(NamedTuple):
    """What a checkpoint says."""

    origin: str
    size: int
    root: bytes


def check(holds: object, otherwise: str) -> None:
    """Stop here unless something holds."""
    if not holds:
        sys.exit(f"DOES NOT HOLD: {otherwise}")


def sha256(*parts: bytes) -> bytes:
    """The hash of these bytes behind one another."""
    return hashlib.sha256(b"".join(parts)).digest()


def parent(left: bytes, right: bytes) -> bytes:
    """The hash of two nodes of the tree."""
    return sha256(b"\x01", left, right)


def link_of(previous: bytes, seq: int, header: str) -> bytes:
    """The link of an event."""
    return sha256(previous, seq.to_bytes(8, "big"), header.encode())


def checked_note(path: Path, key: str) -> Head:
    """What a note says, once the key is seen to have signed it."""
    name, key_id, encoded = key.strip().split("+", 2)
    public = base64.b64decode(encoded, validate=True)
    check(public[:1] == b"\x01" and len(public) == 1 + 32, "the key is no Ed25519 verifier key")
    identity = sha256(name.encode(), b"\n", public)[:4]
    check(identity.hex() == key_id, "name, id and key of the verifier key do not belong together")
    before, _, below = path.read_bytes().decode().rpartition("\n\n")
    text, is_signed = before + "\n", False
    for line in below.splitlines():
        mark, signer, signature = line.split(" ")
        raw = base64.b64decode(signature, validate=True)
        if (mark, signer, raw[:4]) == ("\u2014", name, identity):
            Ed25519PublicKey.from_public_bytes(public[1:]).verify(raw[4:], text.encode())
            is_signed = True
    check(is_signed, f"{path} is not signed by this key")
    origin, size, root = text.split("\n")[:3]
    check(origin == name, f"{path} is of another log than the key")
    return Head(origin, int(size), base64.b64decode(root, validate=True))


def check_export(path: Path, head: Head) -> None:
    """Chain, bodies and root of the tenant that the origin names."""
    tenant, previous = unquote(head.origin.rpartition("/")[2]), bytes(32)
    with path.open("rb") as file:
        lines = [line for line in map(json.loads, file) if line["tenant"] == tenant]
    check(len(lines) >= head.size, f"cut short: {len(lines)} events, and {head.size} were signed")
    row: list[bytes] = []
    for seq, line in enumerate(lines, 1):
        check(line["seq"] == seq, f"event {seq} is missing, or events were moved or inserted")
        header, link = json.loads(line["header"]), link_of(previous, seq, line["header"])
        check(link.hex() == line["link"], f"event {seq} does not follow from the one before it")
        check(header["tenant"] == tenant, f"event {seq} belongs to another tenant")
        if line["body"] is not None:
            digest = base64.b64encode(sha256(bytes.fromhex(line["body"]))).decode()
            check(digest == header.get("body_sha256"), f"the body of event {seq} was altered")
        previous = link
        row += [sha256(b"\x00", link)] if seq <= head.size else []
    while len(row) > 1:
        pairs = [row[at : at + 2] for at in range(0, len(row), 2)]
        row = [parent(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
    check((row or [sha256()])[0] == head.root, f"these are not the {head.size} events that were signed")


def check_inclusion(proof: dict[str, Any], head: Head) -> None:
    """An event stands in the log at its position."""
    seq, link = proof["seq"], bytes.fromhex(proof["link"])
    if proof["header"] is not None:
        made = link_of(bytes.fromhex(proof["previous_link"]), seq, proof["header"])
        check(made == link, "the link was not made of this header")
    check(proof["size"] == head.size, f"the proof needs the checkpoint of size {proof['size']}")
    check(1 <= seq <= head.size, "the log has no such position")
    n, m, found = seq - 1, head.size - 1, sha256(b"\x00", link)
    for one in hashes_of(proof):
        check(m > 0, "the proof has too many hashes")
        found = parent(one, found) if n % 2 or n == m else parent(found, one)
        n, m = next_level(n, m)
    check(m == 0 and found == head.root, f"event {seq} does not stand there in the log that was signed")


def check_consistency(proof: dict[str, Any], earlier: Head, later: Head) -> None:
    """The earlier log stands at the beginning of the later one."""
    first, last, path = proof["from"], proof["size"], hashes_of(proof)
    check((first, last) == (earlier.size, later.size), f"the proof needs the notes of {first} and {last}")
    check(0 < first <= last, "a log does not shrink")
    if first == last:
        check(not path and earlier.root == later.root, "two logs of one size differ")
        return
    if first & (first - 1) == 0:
        path.insert(0, earlier.root)
    check(path, "the proof has no hashes")
    n, m = first - 1, last - 1
    while n % 2:
        n, m = n // 2, m // 2
    old = new = path[0]
    for one in path[1:]:
        check(m > 0, "the proof has too many hashes")
        is_left = n % 2 or n == m
        old, new = (parent(one, old), parent(one, new)) if is_left else (old, parent(new, one))
        n, m = next_level(n, m)
    grew = m == 0 and old == earlier.root and new == later.root
    check(grew, "the later log did not grow out of the earlier one")


def next_level(n: int, m: int) -> tuple[int, int]:
    """One level up; at the edge of the tree, where nodes are left over, as far as they go alone."""
    while n == m and n % 2 == 0 and n:
        n, m = n // 2, m // 2
    return n // 2, m // 2


def hashes_of(proof: dict[str, Any]) -> list[bytes]:
    """The hashes of a proof."""
    return [base64.b64decode(one, validate=True) for one in proof["hashes"]]


def main() -> None:
    """Check what the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("note", type=Path, metavar="NOTE")
    parser.add_argument("--key", required=True, help="NAME+ID+KEY, or a file that holds it")
    parser.add_argument("--export", type=Path, help="what 'tenure log export' wrote")
    parser.add_argument("--proof", type=Path, help="what 'tenure log proof' wrote")
    parser.add_argument("--earlier", type=Path, help="the earlier note, for a consistency proof")
    given = parser.parse_args()
    key = given.key if "+" in given.key else Path(given.key).read_text("utf-8")
    head = checked_note(given.note, key)
    if given.export:
        check_export(given.export, head)
    proof = json.loads(given.proof.read_bytes()) if given.proof else {"kind": None}
    if proof["kind"] == "consistency":
        check(given.earlier, "name the earlier note that you kept with --earlier")
        check_consistency(proof, checked_note(given.earlier, key), head)
    elif proof["kind"] is not None:
        for one in proof.get("events", [proof]):
            check_inclusion(one, head)
    sys.stdout.write(f"holds: {head.size} events of {head.origin}\n")


if __name__ == "__main__":
    try:
        main()
    except InvalidSignature:
        sys.exit("DOES NOT HOLD: the signature does not fit: the note was altered after it was signed")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        sys.exit(f"DOES NOT HOLD: something cannot be read ({type(fault).__name__}: {fault})")
