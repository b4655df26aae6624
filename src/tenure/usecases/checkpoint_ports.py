"""What checkpoints need of the world outside the store."""

from typing import Protocol


class CheckpointPlace(Protocol):
    """Somewhere outside the store where signed checkpoints are put, so that no one hand holds both."""

    @property
    def name(self) -> str:
        """What tells this place from others."""

    def put(self, tenant: str, size: int, note: str) -> bool:
        """Put a note there; gives back whether it is there now. Never raises: it tells what is wrong."""
