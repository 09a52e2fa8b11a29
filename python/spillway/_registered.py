"""A function for every algorithm of the registry, and a method of graphs.

Nothing here names an algorithm: `spillway algorithms` lists the same. Type checkers read _registered.pyi, which the
build makes of the registry, too.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable

from . import _core
from ._registry import documentation, python_name, signature
from .errors import UsageError

__all__: list[str] = []  # the functions, filled in below

_by_name: dict[str, dict] = {}  # algorithms by their names and aliases


class Algorithms:
    """The methods of a graph that are algorithms."""


def named(name: str) -> dict:
    """The algorithm of this name or alias."""
    algorithm = _by_name.get(python_name(str(name).lower()))
    if algorithm is None:
        raise UsageError(f"there is no algorithm '{name}'; there are {', '.join(each['name'] for each in known())}")
    return algorithm


def known() -> list[dict]:
    """All algorithms, each once."""
    return list({each["name"]: each for each in _by_name.values()}.values())


def register(algorithm: dict) -> Callable:
    """Makes a function and a method of it, under its name and its aliases. A name that is taken stays as it is."""
    algorithm["signature"] = signature(algorithm)
    function = _function(algorithm)
    for name in [algorithm["name"], *algorithm["aliases"]]:
        own = python_name(name)
        _by_name.setdefault(own, algorithm)
        if not hasattr(Algorithms, own) and own not in globals():
            setattr(Algorithms, own, function)
            globals()[own] = function
            __all__.append(own)
    return function


def _function(algorithm: dict) -> Callable:
    def function(graph: Any, /, *given: Any, **named_values: Any) -> Any:
        if not hasattr(graph, "_run"):
            raise TypeError(f"{name}: a graph of spillway is expected, not {type(graph).__name__}; from_networkx, from_edges and others make them")
        return graph._run(algorithm, given, named_values)

    own, name = algorithm["signature"], python_name(algorithm["name"])
    graph = inspect.Parameter("graph", inspect.Parameter.POSITIONAL_ONLY)
    function.__name__, function.__qualname__, function.__module__ = name, name, "spillway"
    function.__signature__ = own.replace(parameters=[graph, *own.parameters.values()])  # type: ignore[attr-defined]
    function.__doc__ = documentation(algorithm)
    return function


for _algorithm in _core.algorithms():
    register(_algorithm)
