"""Looking for what an erasure left behind: the checks that a certificate names (SPEC F7, F8)."""

import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tenure.usecases.ports import Reading, Residue

SCANNED_BYTES_MAX: Final = 4_000_000_000
"""How much is looked through in all, every sequence through every file: about two seconds on one core."""
NEEDLES_MIN: Final = 24


def kept_residue(look: Reading, tenant: str, subject: str, *, up_to_seq: int) -> list[Residue]:
    """Rows, sealed bodies and words of the subject that are left from before an erasure."""
    rows = sum(seq <= up_to_seq for seq in look.standing(tenant, subject))
    return [
        _checked("memory rows of the subject", rows),
        _checked("sealed bodies of the subject in the log", look.bodies_left(tenant, subject, up_to_seq)),
        _checked("claims of the subject's memories", look.claims_left(tenant, subject, up_to_seq)),
        _checked("entries of the subject in the word index", look.words_left(tenant, subject, up_to_seq)),
    ]


def files_residue(files: Iterable[Path], needles: Sequence[bytes]) -> Residue:
    """None of these byte sequences is in any of the files; of a large store fewer are looked for."""
    looked = list(files)
    size = sum(path.stat().st_size for path in looked)
    needles = needles[: max(NEEDLES_MIN, SCANNED_BYTES_MAX // (size + 1))]
    found = [path.name for path in looked if _holds_any(path, needles)]
    detail = f"{len(needles):,} byte sequences in {len(looked)} files"
    if found:
        detail += f"; found in {', '.join(sorted(found))}"
    return Residue(name="contents in the files of the store", passed=not found, detail=detail)


def _checked(name: str, count: int) -> Residue:
    return Residue(name=name, passed=count == 0, detail=f"{count:,} left")


def _holds_any(path: Path, needles: Sequence[bytes]) -> bool:
    if path.stat().st_size == 0:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return any(text.find(needle) >= 0 for needle in needles)
