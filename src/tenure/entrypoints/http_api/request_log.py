"""What the server says about itself: one line a request, and faults by their kind and place.

Never a query, a body, a path with its ids, or the message of an unexpected exception: any of them could
hold the content of a memory (SPEC E6).
"""

import logging
import traceback
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from tenure.config import Log

FRAMES_MAX: Final = 8
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def open_log(settings: Log, stream: BinaryIO) -> FilteringBoundLogger:
    """A logger that writes entries of the wanted level and shape to a stream of bytes."""
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.BytesLogger(stream),
        processors=_processors(settings),
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[settings.level]),
    )
    # Bound once, here; a logger that is not yet bound binds itself again at every line.
    return logger.bind()


def open_process_log(settings: Log, stream: BinaryIO) -> FilteringBoundLogger:
    """The same logger, to which whatever else of Tenure logs in this process is passed on."""
    log = open_log(settings, stream)
    library = logging.getLogger("tenure")
    library.handlers = [_PassOn(log)]
    library.propagate = False
    return log


class _PassOn(logging.Handler):
    """Hands an entry of the standard library's logging on; Tenure's own never hold content."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write the entry in the process's own shape; a stream that is gone must not end who was logging."""
        try:
            self._log.log(record.levelno, record.getMessage(), logger=record.name)
        except Exception:  # noqa: BLE001 -- what a handler owes to logging
            self.handleError(record)


def _processors(settings: Log) -> list[Processor]:
    return [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        _json if settings.format == "json" else _text,
    ]


def place(fault: BaseException) -> list[str]:
    """Where an exception came from: files, lines and functions, innermost last; never its message."""
    frames = traceback.extract_tb(fault.__traceback__)[-FRAMES_MAX:]
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


def _json(_logger: object, _method: str, entry: EventDict) -> bytes:
    return msgspec.json.encode(entry)


def _text(_logger: object, _method: str, entry: EventDict) -> bytes:
    head = f"{entry.pop('timestamp')} {entry.pop('level'):<7} {entry.pop('event')}"
    return " ".join((head, *(f"{name}={value}" for name, value in entry.items()))).encode()
