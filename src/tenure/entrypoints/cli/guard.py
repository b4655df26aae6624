"""Where every command ends: an error becomes a message and an exit code, never a trace.

A trace quotes arguments and locals of any depth, so it could quote a memory (SPEC E6).
"""

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import typer
from typer.core import TyperGroup

from tenure.config import ConfigError
from tenure.core.errors import InvalidRequest, TenureError
from tenure.entrypoints.cli import driver_log
from tenure.entrypoints.cli.output import complain
from tenure.entrypoints.replies import EXIT_FAILED, EXIT_FINE, EXIT_USAGE, Internal, exit_code

_PACKAGE: Final = Path(__file__).resolve().parents[2]


class GuardedGroup(TyperGroup):
    """The root of the commands: 0 fine, 1 failed, 2 asked wrongly (SPEC S2, E6)."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **named: Any) -> Any:
        """Run the command line and exit with its code."""
        arguments = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in arguments
        driver_log.silence()
        try:
            ended = super().main(
                arguments, *rest, **{"prog_name": "tenure", **named, "standalone_mode": False}
            )
            code = ended if isinstance(ended, int) else EXIT_FINE
        except ConfigError as error:
            complain(InvalidRequest(str(error)), as_json=as_json)
            code = EXIT_USAGE
        except TenureError as error:
            complain(error, as_json=as_json)
            code = exit_code(error)
        except typer.Abort:
            code = EXIT_FAILED
        except Exception as error:  # noqa: BLE001 -- the last resort: whatever it is, its text is not shown
            complain(_usage(error) if isinstance(error, _Usage) else _fault(error), as_json=as_json)
            code = EXIT_USAGE if isinstance(error, _Usage) else EXIT_FAILED
        sys.exit(code)


@runtime_checkable
class _Usage(Protocol):
    """An argument that the framework refused; it has no public name for them."""

    exit_code: int

    def format_message(self) -> str:
        """What is wrong."""


def _usage(error: _Usage) -> InvalidRequest:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "tenure"
    message = " ".join(error.format_message().split()).rstrip(".")
    return InvalidRequest(message[:1].lower() + message[1:], hint=f"See '{command} --help'.")


def _fault(error: Exception) -> Internal:
    """A fault by its type and place alone: its text may quote anything."""
    places = [
        f"{Path(frame.filename).relative_to(_PACKAGE.parent).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_PACKAGE)
    ]
    place = f" at {places[-1]}" if places else ""
    return Internal(
        f"an unexpected {type(error).__name__}{place}; its text is not shown, since it may quote a memory",
        hint="This is a fault of Tenure: please report this line. What was acknowledged before it is kept.",
    )
