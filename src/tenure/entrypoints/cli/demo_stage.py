"""What the demo's story plays on: a store in a temporary folder, its people, and a clock to be moved."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self
from uuid import UUID

import msgspec

from tenure.core.errors import TenureError
from tenure.core.identity import Moment

if TYPE_CHECKING:
    # Only named here: loading the store is for the story.
    from tenure.core.memory import Memory
    from tenure.entrypoints.library.sessions import Session

TENANT: Final = "acme"
AGENT: Final = "support"
PURPOSE: Final = "support"
CUSTOMER: Final = "customer-7"
SUPPLIER: Final = "supplier-12"
VISITOR: Final = "visitor-3"
_FIRST_MORNING: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was looked at, and whether it is so."""

    what: str
    holds: bool


class Step(NamedTuple):
    """One step of the story: what happens, and the checks that it makes."""

    title: str
    story: str
    act: Callable[["Stage"], Iterator[Check]]


class StoryClock:
    """A clock that stands still until it is moved; ids follow its time and their order."""

    def __init__(self) -> None:
        self._now = _FIRST_MORNING
        self._drawn = 0

    def move(self, **by: float) -> None:
        """Let time pass."""
        self._now += timedelta(**by)

    def now(self) -> datetime:
        """The story's time."""
        return self._now

    def moment(self) -> Moment:
        """The story's time, with one fresh id of version 7."""
        self._drawn += 1
        milliseconds = int(self._now.timestamp() * 1_000)
        return Moment(now=self._now, fresh_id=UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62 | self._drawn))

    def secret(self, size_bytes: int) -> bytes:
        """Unguessable bytes, here as anywhere."""
        return os.urandom(size_bytes)


@dataclass
class Stage:
    """The store and who acts on it; steps leave here what later ones look at again."""

    folder: Path
    clock: StoryClock = field(default_factory=StoryClock)
    kept: dict[str, "Memory"] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def open(self) -> None:
        """Open the store, for the first time or again."""
        from tenure.entrypoints.library.embedded import Tenure

        self.store: Tenure = Tenure.open(self.folder / "store", clock=self.clock)

    @property
    def agent(self) -> "Session":
        """The support agent, steered by a model: writes what people and its application say, and recalls."""
        return self._acting("support-agent", "writer", "reader", sources=("direct_user", "application"))

    @property
    def mailbox(self) -> "Session":
        """The mail connector: may write what stands in e-mails, and read nothing."""
        return self._acting("mail-connector", "writer", sources=("email",))

    @property
    def mailbox_reviewing(self) -> "Session":
        """The mail connector again, by somebody's mistake with a reviewer's role."""
        return self._acting("mail-connector", "writer", "reviewer", sources=("email",))

    @property
    def reviewer(self) -> "Session":
        """Ann, who decides on what waits in quarantine."""
        return self._acting("ann", "reviewer")

    @property
    def privacy_officer(self) -> "Session":
        """Paul, who forgets and erases whom he must."""
        return self._acting("paul", "privacy_officer")

    def other_agent(self) -> "Session":
        """The sales agent of the same company."""
        return self.store.session(TENANT, "sales", "sales", name="sales-agent", model_driven=True)

    def _acting(self, name: str, *roles: str, sources: tuple[str, ...] = ()) -> "Session":
        is_model = name == "support-agent"
        return self.store.session(
            TENANT, AGENT, PURPOSE, roles=roles, source_types=sources, name=name, model_driven=is_model
        )


def refusal(attempt: Callable[[], object]) -> TenureError | None:
    """The error that an attempt was refused with, or None where it went through."""
    try:
        attempt()
    except TenureError as error:
        return error
    return None
