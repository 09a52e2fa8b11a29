"""Parts of a graph, with all attributes: which nodes they have is computed here, NetworkX copies them."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

from . import unweighted, weighted
from .graph import NxGraph, of
from .measures import core_numbers, simple_and_undirected
from .support import function, place_of


def _part(graph: NxGraph, nodes: Iterable) -> Any:
    return graph.original.subgraph(nodes).copy()


def _can_be_near(
    G: Any, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> bool | str:
    if distance is not None and undirected and G.is_directed():
        return "distances without directions are left to NetworkX"
    return weighted.names_an_attribute(distance)


@function(_can_be_near, gain="part")
def ego_graph(
    G: Any, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> Any:
    graph = of(G)
    if distance is not None:
        near = list(weighted.single_source_dijkstra_path_length(graph, n, radius, distance))
    else:
        place = place_of(graph, n, f"Source {n} is not in G")
        core = graph.undirected_core if undirected else graph.core
        levels = unweighted.run(core, "bfs", place).columns["level"]
        near = graph.called((levels >= 0) & (levels <= unweighted.depth_of(radius)))
    part = _part(graph, near)
    if not center:
        part.remove_node(n)
    return part


def _cores(graph: NxGraph, given: dict | None) -> Any:
    """The core number of each place."""
    if given is None:
        return core_numbers(graph)
    return np.array([given[node] for node in graph.nodes])


def _can_peel(G: Any, k: Any = None, core_number: dict | None = None) -> bool | str:
    return simple_and_undirected(G)


def _highest(cores: Any) -> int:
    return max(cores.tolist())


@function(_can_peel, gain="often")
def k_core(G: Any, k: Any = None, core_number: dict | None = None) -> Any:
    graph = of(G)
    cores = _cores(graph, core_number)
    return _part(graph, graph.called(cores >= (_highest(cores) if k is None else k)))


@function(_can_peel, gain="often")
def k_shell(G: Any, k: Any = None, core_number: dict | None = None) -> Any:
    graph = of(G)
    cores = _cores(graph, core_number)
    return _part(graph, graph.called(cores == (_highest(cores) if k is None else k)))


@function(_can_peel, gain="often")
def k_crust(G: Any, k: Any = None, core_number: dict | None = None) -> Any:
    graph = of(G)
    cores = _cores(graph, core_number)
    return _part(graph, graph.called(cores <= (_highest(cores) - 1 if k is None else k)))


@function(_can_peel, gain="often")
def k_corona(G: Any, k: Any, core_number: dict | None = None) -> Any:
    graph = of(G)
    cores = _cores(graph, core_number)
    inside = graph.sources[cores[graph.targets] >= k]
    return _part(graph, graph.called((cores == k) & (np.bincount(inside, minlength=len(graph)) == k)))
