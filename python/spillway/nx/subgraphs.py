"""Parts of a graph, with all attributes: which nodes they have is computed here, NetworkX copies them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import converted
from .measures import core_numbers, simple_and_undirected
from .support import function, place_of, run
from .unweighted import depth_of
from .weighted import names_an_attribute, single_source_dijkstra_path_length


def _can_be_near(G: Any, undirected: bool, distance: Any, **_: Any) -> bool | str:
    if distance is not None and undirected and G.is_directed():
        return "distances without directions are left to NetworkX"
    return names_an_attribute(distance)


@function(_can_be_near, cost="local")
def ego_graph(
    G: Any, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> Any:
    graph = converted(G)
    if distance is not None:
        near = list(single_source_dijkstra_path_length(graph, n, radius, distance))
    else:
        place = place_of(graph, n, f"Source {n} is not in G")
        core = graph.undirected_core if undirected else graph.core
        levels = run(core, "bfs", place).columns["level"]
        near = graph.nodes_at((levels >= 0) & (levels <= depth_of(radius)))
    part = graph.part(near)
    if not center:
        part.remove_node(n)
    return part


def _can_peel(G: Any, k: Any, core_number: Any, **_: Any) -> bool | str:
    if not isinstance(k, (int, float, type(None))):
        return "k is a number here"
    return simple_and_undirected(G) if core_number is None else "there is nothing left to compute"


def _highest(cores: Any) -> int:
    return max(cores.tolist())


@function(_can_peel, cost="weighted")
def k_core(G: Any, k: Any = None, core_number: dict | None = None) -> Any:
    graph = converted(G)
    cores = core_numbers(graph)
    return graph.part(graph.nodes_at(cores >= (_highest(cores) if k is None else k)))


@function(_can_peel, cost="weighted")
def k_shell(G: Any, k: Any = None, core_number: dict | None = None) -> Any:
    graph = converted(G)
    cores = core_numbers(graph)
    return graph.part(graph.nodes_at(cores == (_highest(cores) if k is None else k)))


@function(_can_peel, cost="weighted")
def k_crust(G: Any, k: Any = None, core_number: dict | None = None) -> Any:
    graph = converted(G)
    cores = core_numbers(graph)
    return graph.part(graph.nodes_at(cores <= (_highest(cores) - 1 if k is None else k)))


@function(_can_peel, cost="weighted")
def k_corona(G: Any, k: Any, core_number: dict | None = None) -> Any:
    graph = converted(G)
    cores = core_numbers(graph)
    inside = graph.sources[cores[graph.targets] >= k]
    return graph.part(graph.nodes_at((cores == k) & (np.bincount(inside, minlength=len(graph)) == k)))
