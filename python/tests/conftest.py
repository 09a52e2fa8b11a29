"""Graphs that break things, as edges and as NetworkX has them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import spillway as sp


def _random(seed: int, vertices: int, edges: int) -> nx.DiGraph:
    rng = np.random.default_rng(seed)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(vertices))
    graph.add_weighted_edges_from(
        (int(u), int(v), int(w))
        for u, v, w in zip(
            rng.integers(0, vertices, edges), rng.integers(0, vertices, edges), rng.integers(1, 9, edges)
        )
    )
    return graph


def _weighted(graph: nx.Graph) -> nx.Graph:
    for i, (u, v) in enumerate(sorted(graph.edges())):
        graph.edges[u, v]["weight"] = 1 + i * 7 % 5
    return graph


ZOO: dict[str, nx.Graph] = {
    "no edges": nx.empty_graph(4, nx.DiGraph),
    "a loop": nx.DiGraph([(0, 0)]),
    "a path": nx.path_graph(9, nx.DiGraph),
    "a cycle": nx.cycle_graph(7, nx.DiGraph),
    "a star": nx.DiGraph([(0, i) for i in range(1, 20)]),
    "two parts": nx.disjoint_union(nx.complete_graph(4, nx.DiGraph), nx.cycle_graph(3, nx.DiGraph)),
    "few of many": _random(1, 50, 40),
    "random": _random(2, 40, 160),
    "dense": _random(3, 20, 300),
    "karate": nx.karate_club_graph(),
    "a grid of numbers": nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6), ordering="sorted"),
    "a tree": nx.balanced_tree(2, 4),
}
for _graph in ZOO.values():
    _weighted(_graph)


@pytest.fixture(params=ZOO, ids=lambda name: name.replace(" ", "-"))
def pair(request) -> tuple[nx.Graph, sp.Graph]:
    graph = ZOO[request.param]
    return graph, sp.from_networkx(graph)


@pytest.fixture
def small() -> sp.Graph:
    return sp.from_edges([0, 1, 2, 5], [1, 2, 0, 5])
