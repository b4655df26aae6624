"""A guard around a program's own tools: what is sensitive is resolved, never taken from a model (SPEC X2).

    guard = ToolGuard(session)

    @guard.tool("pay_supplier", resolve={"iban": lambda supplier_id: erp.iban_of(supplier_id)})
    def pay_supplier(supplier_id: str, amount: str, *, iban: str) -> str: ...

    with guard.during(found):
        pay_supplier(supplier_id="s-7", amount="120.00")

Laws: a function runs only after the store has allowed and recorded the call; a sensitive value that is given
to it raises ToolRefused, and nothing runs; what the store declares and the decorator does not resolve, or
the other way round, is an error before anything runs.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from tenure.core.errors import InvalidRequest, NotFound, ToolRefused
from tenure.core.toolguard import Authorization
from tenure.entrypoints.library.tool_arguments import GuardedTool, Resolver

R = TypeVar("R")

_SHOWN: Final[ContextVar[Mapping["ToolGuard", tuple[UUID, ...]]]] = ContextVar(
    "tenure_shown", default=MappingProxyType({})
)


class Asks(Protocol):
    """A session or a client, waited for or awaited."""

    @property
    def authorize_tool(self) -> Callable[..., Any]:
        """Whether a tool call may go on."""


class HasReceipt(Protocol):
    """What a recall found."""

    receipt_id: UUID


class ToolGuard:
    """Guards the tools of one session or client; safe to use from many threads and tasks."""

    def __init__(self, session: Asks) -> None:
        self._session = session
        self._is_awaited = inspect.iscoroutinefunction(session.authorize_tool)

    def tool(
        self, name: str, *, resolve: Mapping[str, Resolver]
    ) -> Callable[[Callable[..., R]], Callable[..., R]]:
        """Guard a function as the tool of this name; ``resolve`` has a resolver for each sensitive parameter.

        A resolver is called with those of the function's other arguments that it names. The function's
        signature no longer shows what is resolved, so that no model is asked for it.
        """

        def guarded(function: Callable[..., R]) -> Callable[..., R]:
            tool = GuardedTool(name, function, resolve)
            wrapper = self._awaited(tool) if inspect.iscoroutinefunction(function) else self._waited(tool)
            functools.update_wrapper(wrapper, function)
            vars(wrapper)["__signature__"] = tool.visible
            wrapper.__annotations__ = tool.annotations
            return wrapper

        return guarded

    @contextmanager
    def during(self, *found: HasReceipt) -> Iterator[None]:
        """Within this block, tool calls follow from these recalls; blocks inside add theirs.

        It holds for this thread or task and the tasks made in it. Elsewhere, and without it, the last recalls
        of the caller are looked through.
        """
        shown = _SHOWN.get()
        ids = tuple(dict.fromkeys((*shown.get(self, ()), *(one.receipt_id for one in found))))
        token = _SHOWN.set({**shown, self: ids})
        try:
            yield
        finally:
            _SHOWN.reset(token)

    def _waited(self, tool: GuardedTool) -> Callable[..., Any]:
        if self._is_awaited or any(one.is_awaited for one in tool.resolvers.values()):
            raise InvalidRequest(
                f"{tool.name} does not await, but its guard or one of its resolvers is awaited",
                field="resolve",
                hint="Make the tool an async function, or leave nothing to await.",
            )

        def call(*args: Any, **named: Any) -> Any:
            bound = tool.bind(args, named)
            answer = self._session.authorize_tool(tool.name, tool.sensitive(bound), self._receipt_ids())
            _check(tool, answer)
            for path, resolver in tool.resolvers.items():
                value = resolver.call(tool.ordinary(bound))
                tool.place(bound, path, _resolved(tool, path, value, answer))
            return tool.function(*bound.args, **bound.kwargs)

        return call

    def _awaited(self, tool: GuardedTool) -> Callable[..., Any]:
        async def call(*args: Any, **named: Any) -> Any:
            bound = tool.bind(args, named)
            answer = await self._ask(tool.name, tool.sensitive(bound))
            _check(tool, answer)
            for path, resolver in tool.resolvers.items():
                value = resolver.call(tool.ordinary(bound))
                if inspect.isawaitable(value):
                    value = await value
                tool.place(bound, path, _resolved(tool, path, value, answer))
            return await tool.function(*bound.args, **bound.kwargs)

        return call

    async def _ask(self, name: str, arguments: Mapping[str, Any]) -> Authorization:
        """Ask without keeping the event loop waiting, whatever the session is."""
        ask, receipt_ids = self._session.authorize_tool, self._receipt_ids()
        asked = (
            ask(name, arguments, receipt_ids)
            if self._is_awaited
            else asyncio.to_thread(ask, name, arguments, receipt_ids)
        )
        answer: Authorization = await asked
        return answer

    def _receipt_ids(self) -> tuple[UUID, ...]:
        return _SHOWN.get().get(self, ())


def _check(tool: GuardedTool, answer: Authorization) -> None:
    """Raise what stops the call."""
    if not answer.allowed:
        raise ToolRefused(
            tool=tool.name,
            refused=tuple(one.recorded() for one in answer.refused),
            hint=f"Add [tools.{tool.name}] to the store's configuration. Nothing was executed."
            if answer.undeclared
            else "Leave out what is refused: only its resolver says it. Nothing was executed.",
        )
    unresolved = sorted(set(answer.resolvers) - set(tool.resolvers))
    undeclared = sorted(set(tool.resolvers) - set(answer.resolvers))
    if unresolved:
        raise InvalidRequest(
            f"{tool.name} does not say how {', '.join(unresolved)} is resolved; nothing was executed",
            field="resolve",
            hint="The store's configuration declares it sensitive: add it to resolve.",
        )
    if undeclared:
        raise InvalidRequest(
            f"the store does not know that {', '.join(undeclared)} of {tool.name} is sensitive; "
            "nothing was executed",
            field="resolve",
            hint=f'Add [tools.{tool.name}.parameters."{undeclared[0]}"] to the store\'s configuration.',
        )


def _resolved(tool: GuardedTool, path: str, value: Any, answer: Authorization) -> Any:
    if value is None:
        raise NotFound(
            f"{answer.resolvers[path]} has no {path} for this call of {tool.name}; nothing was executed",
            hint="Look in the authoritative system whether there should be one.",
            parameter=path,
        )
    return value
