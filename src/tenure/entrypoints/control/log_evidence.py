"""Verifying and importing the log behind the socket (SPEC E2, E4).

A file is read by whoever carries the operation out: its path must be absolute. Checkpoints are small, and are
sent along.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.protocol import LINE_BYTES_MAX, Line, Progress, item, result
from tenure.usecases import evidence, log_importing
from tenure.usecases.known_roots import GivenNote, roots_of_these_logs
from tenure.wiring import Node


class VerifyLogArguments(Arguments, frozen=True, kw_only=True):
    """The chain of one tenant, or of all, and checkpoints to compare it with."""

    operation: ClassVar[str] = "log.verify"

    tenant: str | None = None
    checkpoints: list[GivenNote] = msgspec.field(default_factory=list)


class ImportLogArguments(Arguments, frozen=True, kw_only=True):
    """An export to put in, by its absolute path."""

    operation: ClassVar[str] = "log.import"

    path: str
    tenant: str | None = None
    checkpoints: list[GivenNote] = msgspec.field(default_factory=list)
    without_keys: bool = False


class LogVerified(msgspec.Struct, frozen=True, kw_only=True):
    """Whether every chain that was asked for holds."""

    holds: bool
    events: int
    tenants: int


def verify_log(node: Node, arguments: VerifyLogArguments) -> Iterator[Line]:
    """Walk the chains, one item a tenant; a break is located, not only noticed (SPEC E2)."""
    named = tenants(node.pipeline, arguments.tenant)
    given = roots_of_these_logs(node.pipeline.keyring, arguments.checkpoints, named)
    holds, events = True, 0
    for done, tenant in enumerate(named):
        yield Line(progress=Progress(done=done, total=len(named)))
        verified = evidence.verify(node.pipeline, tenant, given.get(tenant, ()))
        holds, events = holds and verified.holds, events + verified.events
        yield item(verified)
    yield result(LogVerified(holds=holds, events=events, tenants=len(named)))


def import_log(node: Node, arguments: ImportLogArguments) -> Iterator[Line]:
    """Put an export in, whole or not at all (SPEC E4)."""
    path = Path(arguments.path)
    if not path.is_absolute():
        raise InvalidRequest("path must be absolute", field="path")
    imported = log_importing.import_log(
        node.pipeline,
        lambda: file_lines(path),
        tenant=arguments.tenant,
        given=arguments.checkpoints,
        without_keys=arguments.without_keys,
    )
    yield result(imported)


def file_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, with their ends, too long ones in pieces; raises InvalidRequest for none."""
    try:
        with path.open("rb") as file:
            yield from iter(lambda: file.readline(LINE_BYTES_MAX), b"")
    except OSError as fault:
        raise InvalidRequest(
            f"{path} cannot be read ({fault.strerror})",
            field="file",
            hint="Name a file that exists; where a server runs, one that it may read.",
        ) from None


LOG_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(VerifyLogArguments, verify_log),
    operation(ImportLogArguments, import_log),
)
