"""The golden files: one stored example of each event, name and version, that must stay readable for ever.

``python -m tests.core.golden_files`` writes those that are missing, and never touches one that is there: what
was once stored stays as it was stored.
"""

import sys
from pathlib import Path
from typing import Final

import msgspec
from tests.core.examples import EXAMPLES, FINGERPRINT, event, id_of

from tenure.core.events import (
    NAMES,
    Event,
    EventData,
    decode_event,
    decode_header,
    decode_secret,
    encode_header,
    encode_secret,
)

FOLDER: Final = Path(__file__).resolve().parent / "golden"


class Golden(msgspec.Struct, frozen=True, kw_only=True):
    """The two texts of a stored event; the secret is in plain here, since these events are made up."""

    header: str
    secret: str


def path_of(name: str, version: int) -> Path:
    """Where the golden file of an event lies."""
    return FOLDER / f"{name}.v{version}.json"


def read(path: Path) -> Event:
    """The event that a golden file holds, as this version of the program reads it."""
    golden = msgspec.json.decode(path.read_bytes(), type=Golden)
    return decode_event(decode_header(golden.header), decode_secret(golden.secret.encode()))


def stored(data: EventData) -> Golden:
    """An event as this version of the program stores it."""
    one = event(data)
    header = encode_header(one, dek=id_of(9), body_sha256=FINGERPRINT)
    return Golden(header=header.decode(), secret=encode_secret(one.secret).decode() if one.secret else "{}")


def write_missing() -> list[Path]:
    """Write a golden file for each event that has none yet."""
    written = []
    for data in EXAMPLES:
        path = path_of(*NAMES[type(data)])
        if not path.exists():
            path.write_bytes(msgspec.json.format(msgspec.json.encode(stored(data)), indent=2) + b"\n")
            written.append(path)
    return written


if __name__ == "__main__":
    for new in write_missing():
        sys.stdout.write(f"{new.name}\n")
