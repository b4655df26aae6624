"""The arguments of a guarded function: which are sensitive, what is given of them, where a value goes."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from tenure.core.errors import InvalidRequest

Resolver = Callable[..., Any]

_PLACED_LATER: Final = object()
"""Stands for a sensitive argument until its resolver has said it."""
_MANY: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class NamedResolver:
    """A resolver that is called with those of a tool's arguments that it names."""

    def __init__(self, path: str, resolver: Resolver, ordinary: frozenset[str] | None) -> None:
        self._resolver = resolver
        self.is_awaited = inspect.iscoroutinefunction(resolver)
        parameters = _signature(path, resolver).parameters.values()
        self._takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
        self._names = [one.name for one in parameters if one.kind not in _MANY]
        needed = {one.name for one in parameters if one.default is one.empty and one.kind not in _MANY}
        unknown = sorted(needed - ordinary) if ordinary is not None else []
        if unknown or any(one.kind is inspect.Parameter.POSITIONAL_ONLY for one in parameters):
            raise InvalidRequest(
                f"the resolver of {path} wants {', '.join(unknown) or 'unnamed arguments'}, "
                "which the tool does not have beside its sensitive parameters",
                field="resolve",
                hint="Name its parameters as the tool does.",
            )

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """What the resolver says for this call."""
        names = arguments if self._takes_all else [name for name in self._names if name in arguments]
        return self._resolver(**{name: arguments[name] for name in names})


class GuardedTool:
    """A function under the name of its declared tool, and how its sensitive parameters are resolved."""

    def __init__(self, name: str, function: Callable[..., Any], resolve: Mapping[str, Resolver]) -> None:
        self.name = name
        self.function = function
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters
        self._many = next(
            (one.name for one in parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD), None
        )
        self._hidden = frozenset(path for path in resolve if "." not in path)
        self._heads = frozenset(path.partition(".")[0] for path in resolve)
        self._check_names(resolve)
        named = frozenset(parameters) - self._hidden
        ordinary = named if self._many is None else None
        self.resolvers = {path: NamedResolver(path, one, ordinary) for path, one in resolve.items()}
        shown = [one for one in parameters.values() if one.name not in self._hidden]
        self.visible = self._signature.replace(parameters=shown)
        self.annotations = {
            key: said for key, said in inspect.get_annotations(function).items() if key not in self._hidden
        }

    def bind(self, args: tuple[Any, ...], named: dict[str, Any]) -> inspect.BoundArguments:
        """The arguments by their names; raises TypeError where they are not those of the function."""
        given = self._signature.bind_partial(*args, **named).arguments
        later: dict[str, Any] = {
            name: _PLACED_LATER if name in self._hidden else {}
            for name in self._heads
            if name in self._signature.parameters and name not in given
        }
        bound = self._signature.bind(*args, **named, **later)
        bound.apply_defaults()
        return bound

    def sensitive(self, bound: inspect.BoundArguments) -> dict[str, Any]:
        """What was given of the sensitive parameters, and what stands around them; nothing else is sent."""
        return {
            name: msgspec.to_builtins(value, str_keys=True, enc_hook=str)
            for name, value in self._flat(bound).items()
            if name in self._heads and value is not _PLACED_LATER
        }

    def ordinary(self, bound: inspect.BoundArguments) -> dict[str, Any]:
        """The arguments that a resolver may be called with."""
        return {name: value for name, value in self._flat(bound).items() if name not in self._hidden}

    def place(self, bound: inspect.BoundArguments, path: str, value: Any) -> None:
        """Put a resolved value where its parameter is; what the caller gave is copied, never changed."""
        head, _, rest = path.partition(".")
        arguments = bound.arguments
        if head not in self._signature.parameters and self._many is not None:
            arguments = bound.arguments[self._many] = dict(bound.arguments[self._many])
        arguments[head] = _with(arguments.get(head, {}), rest.split("."), value, path) if rest else value

    def _flat(self, bound: inspect.BoundArguments) -> dict[str, Any]:
        arguments = dict(bound.arguments)
        if self._many is not None:
            arguments.update(arguments.pop(self._many))
        return arguments

    def _check_names(self, resolve: Mapping[str, Resolver]) -> None:
        parameters = self._signature.parameters
        for path in resolve:
            own = parameters.get(path.partition(".")[0])
            is_missing = own is None and self._many is None
            if is_missing or (own is not None and own.kind in (*_MANY, inspect.Parameter.POSITIONAL_ONLY)):
                raise InvalidRequest(
                    f"{self.name} has no parameter {path} that a name could be given for",
                    field="resolve",
                    hint="Name the function's own parameters, best after a *.",
                )


def _signature(path: str, resolver: Resolver) -> inspect.Signature:
    try:
        return inspect.signature(resolver)
    except ValueError:
        raise InvalidRequest(
            f"the resolver of {path} does not say what it takes",
            field="resolve",
            hint="Wrap it in a function whose parameters are named as the tool's.",
        ) from None


def _with(value: Any, steps: list[str], placed: Any, path: str) -> Any:
    """A copy of a dictionary with a value placed deeper in it."""
    if not isinstance(value, Mapping):
        raise InvalidRequest(
            f"{path} cannot be placed: what stands around it is no dictionary; nothing was executed",
            field=path,
            hint="Give dictionaries around what is resolved.",
        )
    first, *rest = steps
    inner = _with(value.get(first, {}), rest, placed, path) if rest else placed
    return {**value, first: inner}
