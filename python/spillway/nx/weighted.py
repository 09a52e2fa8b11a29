"""Shortest paths by weight: those of Dijkstra and, since no weight is negative here, those of Bellman and Ford."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, NamedTuple

import numpy as np

from .graph import NxGraph, converted
from .support import function, place_of, run


class _Found(NamedTuple):
    """Entries of places that are within the cutoff, nearest first."""

    places: Any
    distances: list
    parents: Any  # of all places; sources have none: -1


def names_an_attribute(weight: Any, **_: Any) -> bool | str:
    return "a function as weight is left to NetworkX" if callable(weight) else True


def _columns(graph: NxGraph, sources: list[int], weight: Any, reverse: bool = False) -> dict:
    """Distances, infinite where there is no path, and parents."""
    weights = graph.weights(weight)
    if len(sources) == 1:
        return run(weights.core(graph, weight, reverse), "sssp", sources[0]).columns
    columns = run(weights.core_from_all(graph, sources), "sssp", len(graph)).columns
    return {name: values[:-1] for name, values in columns.items()}


def _search(graph: NxGraph, sources: list[int], weight: Any, cutoff: Any = None, reverse: bool = False) -> _Found:
    columns = _columns(graph, sources, weight, reverse)
    distances, parents = columns["distance"], columns["parent"].astype(np.int64)
    parents[sources] = -1
    met = np.flatnonzero(np.isfinite(distances))
    met = met[np.argsort(distances[met], kind="stable")]
    if cutoff is not None:
        met = met[(distances[met] <= cutoff) | np.isin(met, sources)]  # those are there, whatever the cutoff
    return _Found(met, graph.weights(weight).as_given(distances[met]).tolist(), parents)


def distances_from(graph: NxGraph, place: int, weight: Any) -> Any:
    """Of all places, which can all be reached."""
    return graph.weights(weight).as_given(_columns(graph, [place], weight)["distance"])


def _lengths(graph: NxGraph, found: _Found) -> dict:
    return dict(zip(graph.nodes_at(found.places), found.distances))


def _paths(graph: NxGraph, found: _Found, reverse: bool = False) -> dict:
    """A parent may be as near as its child, and come after it."""
    nodes, parents = graph.nodes, found.parents.tolist()
    paths: dict = {}
    for place in found.places.tolist():
        climbed = []
        while place >= 0 and nodes[place] not in paths:
            climbed.append(place)
            place = parents[place]
        path = paths[nodes[place]] if place >= 0 else []
        for each in reversed(climbed):
            node = nodes[each]
            path = paths[node] = [node, *path] if reverse else [*path, node]
    return {nodes[place]: paths[nodes[place]] for place in found.places.tolist()}


def _path_to(graph: NxGraph, found: _Found, place: int) -> list:
    path = [place]
    while found.parents[path[-1]] >= 0:
        path.append(int(found.parents[path[-1]]))
    return graph.nodes_at(path[::-1])


def _pair(graph: NxGraph, start: int, place: int, weight: Any, message: str) -> tuple:
    """Distance and path; NetworkX' exception with this message if there is none."""
    import networkx as nx

    found = _search(graph, [start], weight)
    where = np.flatnonzero(found.places == place)
    if not where.size:
        raise nx.NetworkXNoPath(message)
    return found.distances[where[0]], _path_to(graph, found, place)


def paths_to(G: Any, target: Any, weight: Any) -> dict:
    graph = converted(G)
    place = place_of(graph, target, f"Node {target} not found in graph")
    return _paths(graph, _search(graph, [place], weight, reverse=True), reverse=True)


def lengths_to(G: Any, target: Any, weight: Any) -> dict:
    graph = converted(G)
    place = place_of(graph, target, f"Node {target} not found in graph")
    return _lengths(graph, _search(graph, [place], weight, reverse=True))


# --------------------------------------------------------------------------------------------- Dijkstra


def _places(graph: NxGraph, sources: Iterable) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    return list(dict.fromkeys(place_of(graph, each, f"Node {each} not found in graph") for each in sources))


@function(names_an_attribute, cost="weighted")
def multi_source_dijkstra(
    G: Any, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple:
    import networkx as nx

    graph = converted(G)
    places = _places(graph, sources)
    if target in sources:
        return 0, [target]
    found = _search(graph, places, weight, cutoff)
    if target is None:
        return _lengths(graph, found), _paths(graph, found)
    where = np.flatnonzero(found.places == graph.index.get(target, -1))
    if not where.size:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return found.distances[where[0]], _path_to(graph, found, graph.index[target])


@function(names_an_attribute, cost="weighted")
def multi_source_dijkstra_path(G: Any, sources: Any, cutoff: Any = None, weight: Any = "weight") -> dict:
    graph = converted(G)
    return _paths(graph, _search(graph, _places(graph, sources), weight, cutoff))


@function(names_an_attribute, cost="weighted")
def multi_source_dijkstra_path_length(G: Any, sources: Any, cutoff: Any = None, weight: Any = "weight") -> dict:
    graph = converted(G)
    return _lengths(graph, _search(graph, _places(graph, sources), weight, cutoff))


@function(names_an_attribute, cost="weighted")
def single_source_dijkstra(
    G: Any, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple:
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


@function(names_an_attribute, cost="weighted")
def single_source_dijkstra_path(G: Any, source: Any, cutoff: Any = None, weight: Any = "weight") -> dict:
    return multi_source_dijkstra_path(G, {source}, cutoff, weight)


@function(names_an_attribute, cost="weighted")
def single_source_dijkstra_path_length(G: Any, source: Any, cutoff: Any = None, weight: Any = "weight") -> dict:
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


@function(names_an_attribute, cost="half")
def dijkstra_path(G: Any, source: Any, target: Any, weight: Any = "weight") -> list:
    return single_source_dijkstra(G, source, target, None, weight)[1]


@function(names_an_attribute, cost="half")
def dijkstra_path_length(G: Any, source: Any, target: Any, weight: Any = "weight") -> Any:
    graph = converted(G)
    start = place_of(graph, source, f"Node {source} not found in graph")
    if source == target:
        return 0
    return _pair(graph, start, graph.index.get(target, -1), weight, f"Node {target} not reachable from {source}")[0]


@function(names_an_attribute, cost="local")
def bidirectional_dijkstra(G: Any, source: Any, target: Any, weight: Any = "weight") -> tuple:
    graph = converted(G)
    start = place_of(graph, source, f"Source {source} is not in G")
    place = place_of(graph, target, f"Target {target} is not in G")
    if source == target:
        return 0, [source]
    return _pair(graph, start, place, weight, f"No path between {source} and {target}.")


@function(names_an_attribute, cost="weighted")
def dijkstra_predecessor_and_distance(G: Any, source: Any, cutoff: Any = None, weight: Any = "weight") -> tuple:
    graph = converted(G)
    place = place_of(graph, source, f"Node {source} is not found in the graph")
    found = _search(graph, [place], weight, cutoff)
    return _predecessors(graph, found, weight), _lengths(graph, found)


def _predecessors(graph: NxGraph, found: _Found, weight: Any) -> dict:
    """Of each node those from which an arc makes a path that is as short, nearest first."""
    distance = np.full(len(graph), np.nan)
    distance[found.places] = found.distances
    arcs = np.flatnonzero(distance[graph.sources] + graph.weights(weight).stored == distance[graph.targets])
    arcs = arcs[np.lexsort((distance[graph.sources[arcs]], graph.targets[arcs]))]
    above = graph.nodes_at(graph.sources[arcs])
    counts = np.bincount(graph.targets[arcs], minlength=len(graph))
    ends = np.cumsum(counts)
    spans = zip((ends - counts)[found.places].tolist(), ends[found.places].tolist())
    return {node: above[begin:end] for node, (begin, end) in zip(graph.nodes_at(found.places), spans)}


@function(names_an_attribute, cost="weighted")
def all_pairs_dijkstra(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator:
    graph = _ready(G, weight)
    return ((node, single_source_dijkstra(graph, node, None, cutoff, weight)) for node in graph.nodes)


@function(names_an_attribute, cost="weighted")
def all_pairs_dijkstra_path(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator:
    graph = _ready(G, weight)
    return ((node, single_source_dijkstra_path(graph, node, cutoff, weight)) for node in graph.nodes)


@function(names_an_attribute, cost="weighted")
def all_pairs_dijkstra_path_length(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator:
    graph = _ready(G, weight)
    return ((node, single_source_dijkstra_path_length(graph, node, cutoff, weight)) for node in graph.nodes)


def _ready(G: Any, weight: Any) -> NxGraph:
    """Weights that cannot be used are said at once, as long as NetworkX can take over."""
    graph = converted(G)
    graph.weights(weight).stored
    return graph


# ------------------------------------------------------------------------------------- Bellman and Ford


@function(names_an_attribute, cost="weighted")
def single_source_bellman_ford(G: Any, source: Any, target: Any = None, weight: Any = "weight") -> tuple:
    graph = converted(G)
    if source == target:
        place_of(graph, source, f"Node {source} is not found in the graph")
        return 0, [source]
    place = place_of(graph, source, f"Source {source} not in G")
    if target is None:
        found = _search(graph, [place], weight)
        return _lengths(graph, found), _paths(graph, found)
    return _pair(graph, place, graph.index.get(target, -1), weight, f"Node {target} not reachable from {source}")


@function(names_an_attribute, cost="weighted")
def single_source_bellman_ford_path(G: Any, source: Any, weight: Any = "weight") -> dict:
    return single_source_bellman_ford(G, source, None, weight)[1]


@function(names_an_attribute, cost="weighted")
def single_source_bellman_ford_path_length(G: Any, source: Any, weight: Any = "weight") -> dict:
    graph = converted(G)
    return _lengths(graph, _search(graph, [place_of(graph, source, f"Source {source} not in G")], weight))


@function(names_an_attribute, cost="half")
def bellman_ford_path(G: Any, source: Any, target: Any, weight: Any = "weight") -> list:
    return single_source_bellman_ford(G, source, target, weight)[1]


@function(names_an_attribute, cost="half")
def bellman_ford_path_length(G: Any, source: Any, target: Any, weight: Any = "weight") -> Any:
    graph = converted(G)
    if source == target:
        place_of(graph, source, f"Node {source} not found in graph")
        return 0
    place = place_of(graph, source, f"Source {source} not in G")
    return _pair(graph, place, graph.index.get(target, -1), weight, f"node {target} not reachable from {source}")[0]


def _can_have_predecessors(target: Any, weight: Any, **_: Any) -> bool | str:
    return "predecessors of a target alone are left to NetworkX" if target is not None else names_an_attribute(weight)


@function(_can_have_predecessors, cost="weighted")
def bellman_ford_predecessor_and_distance(
    G: Any, source: Any, target: Any = None, weight: Any = "weight", heuristic: bool = False
) -> tuple:
    graph = converted(G)
    place = place_of(graph, source, f"Node {source} is not found in the graph")
    found = _search(graph, [place], weight)
    return _predecessors(graph, found, weight), _lengths(graph, found)


@function(names_an_attribute, cost="weighted")
def all_pairs_bellman_ford_path(G: Any, weight: Any = "weight") -> Iterator:
    graph = _ready(G, weight)
    return ((node, single_source_bellman_ford_path(graph, node, weight)) for node in graph.nodes)


@function(names_an_attribute, cost="weighted")
def all_pairs_bellman_ford_path_length(G: Any, weight: Any = "weight") -> Iterator:
    graph = _ready(G, weight)
    return ((node, single_source_bellman_ford_path_length(graph, node, weight)) for node in graph.nodes)
