"""Shortest paths by the number of edges, and the functions that choose between these and weighted ones."""

from __future__ import annotations

import math
from typing import Any, Iterator

import numpy as np

from .. import _core
from . import weighted
from .graph import NxGraph, converted
from .support import function, place_of, run

_ANY_DEPTH = 2**63


def depth_of(cutoff: Any) -> int:
    """Levels that NetworkX goes to: it begins another as long as the cutoff is above the last."""
    if cutoff is None or cutoff >= _ANY_DEPTH:
        return _ANY_DEPTH
    return math.ceil(cutoff) if cutoff > 0 else 0


def levels_from(graph: NxGraph, place: int, reverse: bool = False) -> Any:
    return run(graph.reversed_core if reverse else graph.core, "bfs", place).columns["level"]


def queue_order(graph: NxGraph, places: list[int], depth: int = _ANY_DEPTH, reverse: bool = False) -> tuple:
    """Places in the order in which one queue meets them, the parent of each, and where levels begin."""
    return _core.queue_order(graph.rows(reverse), places, depth, None)


def _lengths(graph: NxGraph, place: int, cutoff: Any, reverse: bool = False) -> dict:
    order, _, starts = queue_order(graph, [place], depth_of(cutoff), reverse)
    return dict(zip(graph.nodes_at(order), _levels(starts).tolist()))


def _levels(starts: Any) -> Any:
    """Of the entries of an order, by where levels begin."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts).astype(np.int64))


def _paths(graph: NxGraph, place: int, cutoff: Any, reverse: bool = False) -> dict:
    order, parents, _ = queue_order(graph, [place], depth_of(cutoff), reverse)
    first = graph.nodes[place]
    paths = {first: [first]}
    for node, parent in zip(graph.nodes_at(order[1:]), graph.nodes_at(parents[1:])):
        paths[node] = [node, *paths[parent]] if reverse else [*paths[parent], node]
    return paths


@function()
def single_source_shortest_path_length(G: Any, source: Any, cutoff: Any = None) -> dict:
    graph = converted(G)
    return _lengths(graph, place_of(graph, source, f"Source {source} is not in G"), cutoff)


@function()
def single_target_shortest_path_length(G: Any, target: Any, cutoff: Any = None) -> dict:
    graph = converted(G)
    return _lengths(graph, place_of(graph, target, f"Target {target} is not in G"), cutoff, reverse=True)


@function()
def single_source_shortest_path(G: Any, source: Any, cutoff: Any = None) -> dict:
    graph = converted(G)
    return _paths(graph, place_of(graph, source, f"Source {source} not in G"), cutoff)


@function()
def single_target_shortest_path(G: Any, target: Any, cutoff: Any = None) -> dict:
    graph = converted(G)
    return _paths(graph, place_of(graph, target, f"Target {target} not in G"), cutoff, reverse=True)


@function(cost="weighted")
def all_pairs_shortest_path_length(G: Any, cutoff: Any = None) -> Iterator:
    graph = converted(G)
    return ((node, _lengths(graph, place, cutoff)) for place, node in enumerate(graph.nodes))


@function(cost="weighted")
def all_pairs_shortest_path(G: Any, cutoff: Any = None) -> Iterator:
    graph = converted(G)
    return ((node, _paths(graph, place, cutoff)) for place, node in enumerate(graph.nodes))


@function(cost="local")
def bidirectional_shortest_path(G: Any, source: Any, target: Any) -> list:
    import networkx as nx

    graph = converted(G)
    start = place_of(graph, source, f"Source {source} is not in G")
    place = place_of(graph, target, f"Target {target} is not in G")
    parents = run(graph.core, "bfs", start).columns["parent"]
    if parents[place] < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    path = [place]
    while path[-1] != start:
        path.append(int(parents[path[-1]]))
    return graph.nodes_at(path[::-1])


@function(cost="local")
def has_path(G: Any, source: Any, target: Any) -> bool:
    graph = converted(G)
    start = place_of(graph, source, f"Source {source} is not in G")
    place = place_of(graph, target, f"Target {target} is not in G")
    return bool(levels_from(graph, start)[place] >= 0)


@function()
def predecessor(
    G: Any, source: Any, target: Any = None, cutoff: Any = None, return_seen: bool | None = None
) -> dict | list | tuple:
    graph = converted(G)
    place = place_of(graph, source, f"Source {source} not in G")
    order, _, starts = queue_order(graph, [place], max(1, depth_of(cutoff)) if cutoff else _ANY_DEPTH)
    levels = _levels(starts)
    preds = _predecessors(graph, order, levels)
    seen = dict(zip(preds, levels.tolist()))
    if target is None:
        return (preds, seen) if return_seen else preds
    if return_seen:
        return (preds[target], seen[target]) if target in preds else ([], -1)
    return preds.get(target, [])


def _predecessors(graph: NxGraph, order: Any, levels: Any) -> dict:
    """Of each node of the order its neighbours one level above, as the queue met them."""
    rank = np.full(len(graph), -1, np.int64)
    rank[order] = np.arange(len(order))
    degrees = (graph.offsets[order.astype(np.int64) + 1] - graph.offsets[order]).astype(np.int64)
    arcs = np.arange(degrees.sum()) + np.repeat(graph.offsets[order].astype(np.int64) - np.cumsum(degrees) + degrees, degrees)
    from_rank, to_rank = np.repeat(np.arange(len(order)), degrees), rank[graph.targets[arcs]]
    down = (to_rank >= 0) & (levels[to_rank] == levels[from_rank] + 1)
    from_rank, to_rank = from_rank[down], to_rank[down]
    by_target = np.lexsort((from_rank, to_rank))
    above = graph.nodes_at(order[from_rank[by_target]])
    ends = np.cumsum(np.bincount(to_rank, minlength=len(order))).tolist()
    return {node: above[begin:end] for node, begin, end in zip(graph.nodes_at(order), [0, *ends], ends)}


# ------------------------------------------------------------------------------------ either kind of path


def _cost(source: Any, target: Any, weight: Any, **_: Any) -> str:
    if source is not None and target is not None:
        return "local"
    of_all_pairs = source is None and target is None
    return "weighted" if of_all_pairs or weight is not None else "linear"


@function(weighted.names_an_attribute, cost=_cost)
def shortest_path(
    G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    kind = _kind(weight, method)
    if source is None and target is None:
        return {
            "unweighted": lambda: all_pairs_shortest_path(G),
            "dijkstra": lambda: weighted.all_pairs_dijkstra_path(G, weight=weight),
            "bellman-ford": lambda: weighted.all_pairs_bellman_ford_path(G, weight=weight),
        }[kind]()
    if source is None:
        if kind == "unweighted":
            return single_target_shortest_path(G, target)
        return weighted.paths_to(G, target, weight)
    if target is None:
        if kind == "unweighted":
            return single_source_shortest_path(G, source)
        return weighted.single_source_dijkstra_path(G, source, weight=weight)
    if kind == "unweighted":
        return bidirectional_shortest_path(G, source, target)
    if kind == "dijkstra":
        return weighted.bidirectional_dijkstra(G, source, target, weight)[1]
    return weighted.bellman_ford_path(G, source, target, weight)


@function(weighted.names_an_attribute, cost=_cost)
def shortest_path_length(
    G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    kind = _kind(weight, method)
    if source is None and target is None:
        return {
            "unweighted": lambda: all_pairs_shortest_path_length(G),
            "dijkstra": lambda: weighted.all_pairs_dijkstra_path_length(G, weight=weight),
            "bellman-ford": lambda: weighted.all_pairs_bellman_ford_path_length(G, weight=weight),
        }[kind]()
    if source is None:
        if kind == "unweighted":
            return single_target_shortest_path_length(G, target)
        return weighted.lengths_to(G, target, weight)
    if target is None:
        if kind == "unweighted":
            return single_source_shortest_path_length(G, source)
        return weighted.single_source_dijkstra_path_length(G, source, weight=weight)
    if kind == "unweighted":
        return len(bidirectional_shortest_path(G, source, target)) - 1
    if kind == "dijkstra":
        return weighted.dijkstra_path_length(G, source, target, weight)
    return weighted.bellman_ford_path_length(G, source, target, weight)


def _kind(weight: Any, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


def _can_average(weight: Any, method: str | None, **_: Any) -> bool | str:
    if method not in (None, "unweighted", "dijkstra", "bellman-ford"):
        return f"the method {method!r} is left to NetworkX"
    return weighted.names_an_attribute(weight)


@function(_can_average, cost="weighted")
def average_shortest_path_length(G: Any, weight: Any = None, method: str | None = None) -> float:
    import networkx as nx

    graph, n = converted(G), len(converted(G))
    if n == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if n == 1:
        return 0
    whole = run(graph.core, "scc" if graph.directed else "cc").facts["components"] == 1
    if not whole:
        how = "strongly connected" if graph.directed else "connected"
        raise nx.NetworkXError(f"Graph is not {how}.")
    if method == "unweighted" or (method is None and weight is None):
        total = sum(int(levels_from(graph, place).sum(dtype=np.int64)) for place in range(n))
    else:
        total = sum(weighted.distances_from(graph, place, weight).sum().item() for place in range(n))
    return total / (n * (n - 1))
