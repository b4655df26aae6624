"""Tenure inside an asyncio program: the same as Tenure and Session, awaited."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from tenure.config import Settings
from tenure.entrypoints.library.embedded import Tenure
from tenure.entrypoints.library.sessions import Session
from tenure.usecases import evidence, upkeep
from tenure.usecases.ports import Clock, Rebuilt

P = ParamSpec("P")
T = TypeVar("T")

ASYNC_THREADS = 32


class AsyncSession:
    """A Session whose every method is awaited; the work runs on the store's own threads."""

    def __init__(self, session: Session, executor: ThreadPoolExecutor) -> None:
        self._session = session
        self._executor = executor
        self.caller = session.caller

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """The awaited form of a method of Session."""
        if name.startswith("_"):
            raise AttributeError(name)
        return _awaited(getattr(self._session, name), self._executor)


class AsyncTenure:
    """The same as Tenure, awaited."""

    def __init__(self, store: Tenure, executor: ThreadPoolExecutor) -> None:
        self._store = store
        self._executor = executor

    @classmethod
    async def open(
        cls, path: str | Path, *, settings: Settings | None = None, clock: Clock | None = None
    ) -> "AsyncTenure":
        """Open the store in the folder ``path``, making it where there is none."""
        executor = ThreadPoolExecutor(ASYNC_THREADS, thread_name_prefix="tenure")
        opened = await _awaited(Tenure.open, executor)(path, settings=settings, clock=clock)
        return cls(opened, executor)

    def session(self, *args: Any, **grants: Any) -> AsyncSession:
        """An authenticated principal; takes what Tenure.session takes."""
        return AsyncSession(self._store.session(*args, **grants), self._executor)

    async def upkeep(self) -> upkeep.Round:
        """One round of upkeep."""
        return await _awaited(self._store.upkeep, self._executor)()

    async def verify(self, tenant: str) -> evidence.Verified:
        """Walk a tenant's log and say whether it is what was written."""
        return await _awaited(self._store.verify, self._executor)(tenant)

    async def rebuild(self) -> Rebuilt:
        """Drop and rebuild every projection from the log."""
        return await _awaited(self._store.rebuild, self._executor)()

    async def close(self) -> None:
        """Write what still waits and give the folder back."""
        await _awaited(self._store.close, self._executor)()
        self._executor.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        """The store itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()


def _awaited(function: Callable[P, T], executor: ThreadPoolExecutor) -> Callable[P, Awaitable[T]]:
    @functools.wraps(function)
    async def run(*args: P.args, **named: P.kwargs) -> T:
        call = functools.partial(function, *args, **named)
        return await asyncio.get_running_loop().run_in_executor(executor, call)

    return run
