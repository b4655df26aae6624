"""Looking for what somebody said, in whatever form it may lie about, in every file of an installation."""

import base64
import itertools
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import apsw
from tests.postgres.server import PostgresServer, binary
from tests.stores.engine import Engine, PostgresEngine, SqliteEngine

SYLLABLES: Final = ("zorb", "qvax", "vimp", "jolk", "wuft", "nyzz", "gruk", "fjob", "dwax", "klij")
_INDEX_FILES: Final = """
    WITH tables AS (
        SELECT oid, reltoastrelid FROM pg_class
        WHERE oid IN ('tenure.posting'::regclass, 'tenure.document'::regclass)
    )
    SELECT pg_relation_filepath(oid) FROM (
        SELECT oid FROM tables
        UNION SELECT reltoastrelid FROM tables WHERE reltoastrelid <> 0
        UNION SELECT indexrelid FROM pg_index JOIN tables ON indrelid = oid
    ) AS pieces
"""
_NUMBERS: Final = itertools.count(1)


def unheard_of() -> str:
    """A word of its own each time, which no stemmer changes and no other file has."""
    digits = f"{next(_NUMBERS):03d}"[::-1]
    return "".join(SYLLABLES[int(digit)] for digit in digits) + SYLLABLES[1]


def words_with(marker: str, count: int) -> list[str]:
    """Different words which all end in the marker: whoever looks for the marker looks for them all."""
    return [SYLLABLES[number % 10] + SYLLABLES[-number % 7] + marker for number in range(count)]


def disguises(word: str) -> dict[str, bytes]:
    """What a text that has the word in it looks like, wherever the word begins and whatever follows it."""
    plain = word.encode()
    found = {
        "UTF-8": plain,
        "UTF-16 LE": word.encode("utf-16-le"),
        "UTF-16 BE": word.encode("utf-16-be"),
        "hex": plain.hex().encode(),
        "hex, capital": plain.hex().upper().encode(),
        "JSON": word.encode("ascii", "backslashreplace"),
    }
    for before in range(3):
        text = base64.b64encode(bytes(before) + plain + bytes(2))
        found[f"base64, {before} before"] = text[-(-before * 4 // 3) : (before + len(plain)) * 4 // 3]
    return found


def trigrams(word: str) -> set[str]:
    """Every three letters in a row."""
    return {word[start : start + 3] for start in range(len(word) - 2)}


def found_in(files: Iterable[Path], words: Sequence[str]) -> set[tuple[str, str]]:
    """In which files which disguises of the words are."""
    sought = [(name, needle) for word in words for name, needle in disguises(word).items()]
    return {
        (path.name, name)
        for path in files
        for text in [bytes_of(path)]
        for name, needle in sought
        if text.find(needle) >= 0
    }


def files_of(engine: Engine, server: PostgresServer | None, folder: Path) -> list[Path]:
    """Every file that there is: of the store, of the database's server, and a dump of the database."""
    if isinstance(engine, SqliteEngine):
        return _within(engine.folder)
    assert isinstance(engine, PostgresEngine)
    assert server is not None
    server.query("CHECKPOINT")
    dump = folder / "dump.sql"
    command = [binary("pg_dump"), "--no-sync", f"--file={dump}", engine.url]
    subprocess.run(command, check=True, timeout=60)
    return [*_within(server.data), *_within(Path(engine.folder)), dump]


def index_of(engine: Engine, server: PostgresServer | None) -> list[Path]:
    """The files of the word index alone, in which nothing is sealed, so that three letters mean something."""
    if isinstance(engine, SqliteEngine):
        return sorted(engine.folder.glob("search.db*"))
    assert isinstance(engine, PostgresEngine)
    assert server is not None
    server.query("CHECKPOINT")
    with engine.superuser() as connection:
        rows = connection.execute(_INDEX_FILES).fetchall()
    return [server.data / str(row[0]) for row in rows]


def index_terms(engine: Engine) -> str:
    """Every term of the word index, and what the database's planner noted of them."""
    if isinstance(engine, SqliteEngine):
        connection = apsw.Connection(str(engine.folder / "search.db"))
        try:
            rows = list(connection.execute("SELECT term FROM posting UNION ALL SELECT terms FROM document"))
        finally:
            connection.close()
        return repr(rows)
    assert isinstance(engine, PostgresEngine)
    with engine.superuser() as superuser:
        noted = superuser.execute(
            "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE schemaname = 'tenure'"
        ).fetchall()
        terms = superuser.execute("SELECT term FROM posting").fetchall()
        documents = superuser.execute("SELECT terms FROM document").fetchall()
    return repr((terms, documents, noted))


def _within(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def bytes_of(path: Path) -> bytes:
    """What is in a file; one that a server removes meanwhile has nothing in it."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
