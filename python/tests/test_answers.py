"""Answers are those of NetworkX and SciPy, on every graph of the zoo."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph

import spillway as sp


def values(result: sp.Result, column: str) -> dict:
    return dict(zip(result.vertex.tolist(), result[column].tolist()))


def simple(graph: nx.Graph) -> nx.Graph:
    """Undirected, without loops, as kcore, tc and lcc take graphs."""
    plain = nx.Graph(graph.edges())
    plain.add_nodes_from(graph)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    return plain


def groups(labels: dict) -> set[frozenset]:
    found: dict = {}
    for vertex, label in labels.items():
        found.setdefault(label, set()).add(vertex)
    return {frozenset(group) for group in found.values()}


def test_counts(pair):
    theirs, ours = pair
    assert ours.vertex_count == len(theirs)
    loops = nx.number_of_selfloops(theirs)
    arcs = theirs.number_of_edges() if theirs.is_directed() else 2 * theirs.number_of_edges() - loops
    assert ours.arc_count == arcs


def test_bfs(pair):
    theirs, ours = pair
    r = ours.bfs(0)
    expected = nx.single_source_shortest_path_length(theirs, 0)
    assert values(r, "level") == {v: expected.get(v, -1) for v in theirs}
    for vertex, parent in values(r, "parent").items():
        assert parent == (vertex if vertex == 0 else -1) if vertex not in expected or vertex == 0 else (
            theirs.has_edge(parent, vertex)
        )


def test_sssp(pair):
    theirs, ours = pair
    if theirs.number_of_edges() == 0:
        return
    expected = nx.single_source_dijkstra_path_length(theirs, 0)
    assert values(ours.sssp(0), "distance") == {v: expected.get(v, np.inf) for v in theirs}


def test_sssp_as_scipy(pair):
    _, ours = pair
    if ours.weight_type == "none":
        return
    assert np.array_equal(scipy.sparse.csgraph.dijkstra(ours.to_scipy(), indices=0), ours.sssp(ours.vertex[0]).distance)


def test_pagerank(pair):
    theirs, ours = pair
    expected = nx.pagerank(theirs, tol=1e-9, max_iter=1000, weight=None)
    r = ours.pagerank(tolerance=1e-7, iterations=200)
    for vertex, rank in values(r, "rank").items():
        assert rank == pytest.approx(expected[vertex], abs=2e-5)


def test_components(pair):
    theirs, ours = pair
    expected = nx.weakly_connected_components(theirs) if theirs.is_directed() else nx.connected_components(theirs)
    assert groups(values(ours.cc(), "component")) == set(map(frozenset, expected))


def test_strong_components(pair):
    theirs, ours = pair
    directed = theirs if theirs.is_directed() else theirs.to_directed()
    assert groups(values(ours.scc(), "component")) == set(map(frozenset, nx.strongly_connected_components(directed)))


def test_cores_triangles_and_coefficients(pair):
    theirs, ours = pair
    plain = simple(theirs)
    assert values(ours.kcore(), "core") == nx.core_number(plain)
    assert values(ours.tc(per_vertex=True), "triangles") == nx.triangles(plain)
    assert ours.tc().triangles == sum(nx.triangles(plain).values()) // 3


def test_betweenness(pair):
    theirs, ours = pair
    expected = nx.betweenness_centrality(theirs, normalized=False)
    scale = 1 if theirs.is_directed() else 2  # over ordered pairs
    for vertex, centrality in values(ours.bc(sources="all"), "centrality").items():
        assert centrality == pytest.approx(scale * expected[vertex])


def test_degrees(pair):
    theirs, ours = pair
    if theirs.is_directed():
        assert values(ours.degrees(), "out") == dict(theirs.out_degree())
        assert values(ours.degrees(), "in") == dict(theirs.in_degree())


def test_ego_network(pair):
    theirs, ours = pair
    assert set(ours.egonet(0).vertex.tolist()) == {0, *theirs.to_undirected().neighbors(0)}


def test_any_nodes():
    graph = nx.grid_2d_graph(3, 3)
    graph.add_node("alone")
    r = sp.from_networkx(graph).bfs((0, 0))
    assert values(r, "level") == {**nx.single_source_shortest_path_length(graph, (0, 0)), "alone": -1}
    assert dict(zip(r.vertex, r.parent))["alone"] is None


def test_functions_of_the_module_are_methods(small):
    for name in [each[0] for each in sp.algorithms()]:
        assert callable(getattr(sp, name)) and callable(getattr(small, name))
    assert values(sp.bfs(small, source=0), "level") == values(small.bfs(0), "level")
    assert values(small.breadth_first_search(0), "level") == values(small.bfs(0), "level")
