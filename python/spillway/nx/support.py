"""What the functions of the backend share: their table, and how they ask this package."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from .graph import NxGraph


class Function(NamedTuple):
    call: Callable
    can_run: Callable[..., bool | str] | None
    cost: str | Callable[..., str]
    signature: inspect.Signature


FUNCTIONS: dict[str, Function] = {}

# Below, threads that wait for each other take longer than the work, above all on a busy machine.
_FEW_ARCS = 50_000


def function(
    can_run: Callable[..., bool | str] | None = None, cost: str | Callable[..., str] = "linear"
) -> Callable:
    """Registers a function that NetworkX may call by its name, with the same parameters.

    can_run: takes those arguments by their names, before anything is converted, and says why it cannot be (a string),
    or True.
    cost: of NetworkX' own function. "local": a part of the graph, or counts that it has; "half": it ends where a target
    is met; "linear": each edge once; "weighted": a few times, or in order; "superlinear": more for each vertex. Or a
    function that tells it from the arguments.
    """

    def register(call: Callable) -> Callable:
        FUNCTIONS[call.__name__] = Function(call, can_run, cost, inspect.signature(call))
        return call

    return register


def options() -> dict[str, Any]:
    """Where to run: nx.config.backends.spillway."""
    import networkx as nx

    config = nx.config.backends.get("spillway") or {}
    given = {name: config.get(name) for name in ("device", "device_memory", "threads")}
    return {name: value for name, value in given.items() if value is not None}


class Answer(NamedTuple):
    columns: dict[str, Any]  # vertices are places
    facts: dict[str, Any]


def run(graph: Any, algorithm: str, source: int | list[int] | None = None, **parameters: Any) -> Answer:
    """Asks a graph of this package; sources are places."""
    if isinstance(source, list):
        parameters["source"] = [graph.vertex[place] for place in source]
    elif source is not None:
        parameters["source"] = graph.vertex[source]
    chosen = options()
    if graph.arc_count < _FEW_ARCS:
        chosen.setdefault("threads", 1)
    result = getattr(graph, algorithm)(**parameters, **chosen)
    return Answer({name: result._answer.column(i) for i, (name, _) in enumerate(result._answer.columns)}, result.facts)


def place_of(graph: NxGraph, node: Any, message: str) -> int:
    """Where a node is, or NetworkX' exception for one that is not there."""
    import networkx as nx

    if node not in graph:
        raise nx.NodeNotFound(message)
    return graph.index[node]
