"""Whether values that were stored have the types that the program gives them.

Knows nothing of events or options. A database may be damaged or edited by hand: what is read is checked
once, where it comes in, so that nothing later fails on it. Works on annotations, without pydantic, which
takes long to import.
"""

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

ShapeCheck: TypeAlias = Callable[[object], bool]


@cache
def checks_of(kind: type[Any]) -> Mapping[str, ShapeCheck]:
    """Return a check for each annotated field of a class."""
    return {name: _check(hint) for name, hint in get_type_hints(kind).items()}


def first_misfit(kind: type[Any], values: Mapping[str, Any]) -> str:
    """Return the name of the first value that does not have the type of its field; empty if all have."""
    checks = checks_of(kind)
    return next((name for name, value in values.items() if not checks[name](value)), "")


def _check(hint: Any) -> ShapeCheck:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: True
    if origin is Literal:
        return lambda value: any(value == one and type(value) is type(one) for one in arguments)
    if origin in (Union, types.UnionType):
        options = [_check(argument) for argument in arguments]
        return lambda value: any(option(value) for option in options)
    if origin is not None and issubclass(origin, Mapping):
        inside = _check(arguments[1])
        return lambda value: isinstance(value, Mapping) and all(inside(one) for one in _values(value))
    if origin is not None and issubclass(origin, Sequence):
        item = _check(arguments[0])
        return lambda value: isinstance(value, list | tuple) and all(item(one) for one in _items(value))
    return _scalar(hint)


def _scalar(hint: type[Any]) -> ShapeCheck:
    if hint is bool:
        return lambda value: isinstance(value, bool)
    accepted = (int, float) if hint is float else (hint,)
    # True is a number to Python, and to nobody else.
    return lambda value: isinstance(value, accepted) and not isinstance(value, bool)


def _values(value: Any) -> Iterable[object]:
    return cast("Mapping[object, object]", value).values()


def _items(value: Any) -> Iterable[object]:
    return cast("Sequence[object]", value)
