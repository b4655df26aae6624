"""What the database's driver logs, told by its place alone: its words could quote a row (SPEC E6)."""

import logging
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    # Only named here: loading it is for the command that serves.
    from structlog.typing import FilteringBoundLogger

DRIVER: Final = "psycopg"


def silence() -> None:
    """Keep it off the terminal: what goes wrong for a command is in the error that the command ends with."""
    _hand_to(logging.NullHandler())


def pass_on(log: "FilteringBoundLogger") -> None:
    """Make entries of it in the process's own log."""
    _hand_to(_Places(log))


class _Places(logging.Handler):
    """Says that the driver has said something, and where in it."""

    def __init__(self, log: "FilteringBoundLogger") -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write the entry."""
        place = f"{record.filename}:{record.lineno} {record.funcName}"
        self._log.log(record.levelno, "the database's driver reports trouble", logger=record.name, at=[place])


def _hand_to(handler: logging.Handler) -> None:
    driver = logging.getLogger(DRIVER)
    driver.handlers = [handler]
    driver.propagate = False
