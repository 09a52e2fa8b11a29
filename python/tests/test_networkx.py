"""The NetworkX backend: answers of every function are NetworkX' own, on graphs of all four kinds."""

from __future__ import annotations

import copy
import gc
import inspect
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator

import networkx as nx
import numpy as np
import pytest

import spillway as sp
from spillway.nx.info import FUNCTIONS, get_info
from spillway.nx.interface import backend
from spillway.nx.support import FUNCTIONS as REGISTERED

DISPATCHED = nx.utils.backends._registered_algorithms
nx.config.warnings_to_ignore.add("cache")


def _random(kind, seed: int, n: int, m: int, loops: bool = True) -> nx.Graph:
    rng = np.random.default_rng(seed)
    graph = kind()
    graph.add_nodes_from(rng.permutation(n).tolist())
    for u, v, w in zip(rng.integers(0, n, m).tolist(), rng.integers(0, n, m).tolist(), rng.integers(0, 9, m).tolist()):
        if loops or u != v:
            graph.add_edge(u, v, weight=w, cost=w / 4)
    return graph


GRAPHS = {
    "empty": nx.Graph(),
    "one node": nx.empty_graph(1),
    "two nodes": nx.path_graph(2),
    "a directed path": nx.path_graph(6, nx.DiGraph),
    "a cycle": nx.cycle_graph(7),
    "a tree": nx.balanced_tree(2, 4),
    "a grid of pairs": nx.grid_2d_graph(4, 5),
    "words": nx.les_miserables_graph(),
    "karate": nx.karate_club_graph(),
    "mixed nodes": nx.Graph([(1, "a"), ("a", (2, 3)), ((2, 3), None.__class__), (1, frozenset({4}))]),
    "undirected": _random(nx.Graph, 1, 40, 90),
    "undirected, no loops": _random(nx.Graph, 2, 30, 120, loops=False),
    "few edges": _random(nx.Graph, 3, 60, 30, loops=False),
    "directed": _random(nx.DiGraph, 4, 40, 120),
    "few arcs": _random(nx.DiGraph, 5, 40, 35),
    "parallel edges": _random(nx.MultiGraph, 6, 15, 60),
    "parallel arcs": _random(nx.MultiDiGraph, 7, 15, 70),
}


def calls(name: str, graph: nx.Graph) -> list[tuple[tuple, dict]]:
    """Arguments to try a function with, beside the graph."""
    nodes = list(graph)
    parameters = inspect.signature(DISPATCHED[name].orig_func).parameters
    required = [p.name for p in list(parameters.values())[1:] if p.default is p.empty]
    if required and not nodes:
        return []
    a, b = (nodes[0], nodes[-1]) if nodes else (None, None)
    given: list[tuple[tuple, dict]] = {
        (): [((), {})],
        ("source",): [((a,), {}), ((b,), {})],
        ("target",): [((a,), {}), ((b,), {})],
        ("sources",): [(({a, b},), {}), (({b},), {})],
        ("source", "target"): [((a, b), {}), ((b, a), {}), ((a, a), {})],
        ("sources", "targets"): [((nodes[:4], nodes), {}), ((nodes[:1] * 2, nodes), {})],
        ("source", "distance"): [((a, d), {}) for d in (0, 1, 2, 50)],
        ("n",): [((a,), {}), ((b,), {})],
        ("k",): [((k,), {}) for k in (0, 1, 2)],
    }[tuple(required)]
    first = given[0][0]
    extra = {
        "cutoff": [{"cutoff": c} for c in (0, 1, 2.5, 3, -1)],
        "depth_limit": [{"depth_limit": d} for d in (0, 1, 2)],
        "reverse": [{"reverse": True}],
        "weight": [{"weight": w} for w in (None, "weight", "cost", "nix")],
        "endpoints": [{"endpoints": True}, {"endpoints": True, "k": 3, "seed": 5}],
        "normalized": [{"normalized": False}, {"normalized": True}],
        "seed": [{"k": 3, "seed": 1}, {"k": 1, "seed": 2}, {"k": 3, "seed": 1, "normalized": False}],
        "nodes": [{"nodes": nodes[:3]}, {"nodes": a}, {"nodes": [a, "nix"]}],
        "count_zeros": [{"count_zeros": False}],
        "return_seen": [{"return_seen": True}, {"target": b}, {"target": b, "return_seen": True}],
        "radius": [{"radius": r} for r in (0, 2)] + [{"undirected": True}, {"center": False}, {"distance": "weight"}],
        "alpha": [{"alpha": 0.5}, {"personalization": {a: 1}}, {"personalization": dict.fromkeys(nodes, 2)},
                  {"dangling": dict.fromkeys(nodes, 1)}, {"weight": None}],
        "method": [{"method": "bellman-ford"}, {"weight": "weight", "method": "bellman-ford"}],
    }
    if "source" in parameters and "source" not in required and "target" in parameters:
        extra["source"] = [{"source": a}, {"target": b}, {"source": a, "target": b}, {"source": a, "weight": "weight"},
                           {"target": b, "weight": "cost"}, {"source": a, "target": b, "weight": "weight"}]
    for parameter, values in extra.items():
        if parameter in parameters and parameter not in required and (nodes or parameter not in ("nodes", "source")):
            given += [(first, value) for value in values]
    if "target" in parameters and "target" not in required and "source" in required and "return_seen" not in parameters:
        given += [((a,), {"target": b})]
    return given


def outcome(function, *args, **kwargs):
    try:
        result = function(*args, **kwargs)
        return list(result) if isinstance(result, Iterator) else result
    except NotImplementedError as error:
        if not isinstance(error, nx.NetworkXException):
            raise
        return type(error)
    except Exception as error:
        return type(error)


def same_paths(graph: nx.Graph, ours, theirs, weight) -> bool:
    """Of several shortest paths either answer may have any."""
    if not theirs:
        return ours == theirs
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same_paths(graph, ours[k], theirs[k], weight) for k in theirs)
    if isinstance(theirs[0], tuple) and len(theirs[0]) == 2 and isinstance(theirs[0][1], dict):  # of all pairs
        return [n for n, _ in ours] == [n for n, _ in theirs] and same_paths(graph, dict(ours), dict(theirs), weight)
    return ours[-1] == theirs[-1] and nx.is_path(graph, ours) and _weight_of(graph, ours, weight) == _weight_of(graph, theirs, weight)


def _weight_of(graph: nx.Graph, path: list, weight) -> float:
    if not graph.is_multigraph():
        return sum(graph.edges[edge].get(weight, 1) for edge in zip(path, path[1:]))
    return sum(min(data.get(weight, 1) for data in graph[u][v].values()) for u, v in zip(path, path[1:]))


def check(name: str, graph: nx.Graph, args: tuple, kwargs: dict, ours, theirs) -> None:
    weight = kwargs.get("weight", inspect.signature(DISPATCHED[name].orig_func).parameters.get("weight"))
    weight = getattr(weight, "default", weight)
    if isinstance(theirs, type) or isinstance(ours, type):
        assert ours == theirs
    elif isinstance(theirs, nx.Graph):
        assert nx.utils.graphs_equal(ours, theirs)
    elif "predecessor_and_distance" in name:
        assert ours[1] == pytest.approx(theirs[1])
        assert {k: set(v) for k, v in ours[0].items()} == {k: set(v) for k, v in theirs[0].items()}
    elif name in ("single_source_dijkstra", "multi_source_dijkstra", "single_source_bellman_ford", "bidirectional_dijkstra"):
        assert ours[0] == theirs[0]
        assert same_paths(graph, ours[1], theirs[1], weight)
    elif name == "all_pairs_dijkstra":
        assert [n for n, _ in ours] == [n for n, _ in theirs]
        assert [d for _, (d, _) in ours] == [d for _, (d, _) in theirs]
        assert all(same_paths(graph, a, b, weight) for (_, (_, a)), (_, (_, b)) in zip(ours, theirs))
    elif name == "multi_source_dijkstra_path":
        assert same_paths(graph, ours, theirs, weight)
    elif "path" in name and "length" not in name and name != "has_path":
        assert same_paths(graph, ours, theirs, weight)
    elif name == "pagerank":
        assert ours.keys() == theirs.keys()
        assert sum(abs(ours[k] - theirs[k]) for k in theirs) <= 0.85 / 0.15 * 2e-6 * len(graph) + 1e-5
    elif name.endswith("strongly_connected_components") and not name.startswith("number"):
        assert set(map(frozenset, ours)) == set(map(frozenset, theirs))
        place = {node: place for place, component in enumerate(ours) for node in component}
        assert all(place[v] <= place[u] for u, v in graph.edges())
    elif "betweenness" in name:
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12, nan_ok=True)
    else:
        assert ours == theirs


def test_what_networkx_is_told_is_what_there_is():
    assert set(FUNCTIONS) == set(REGISTERED)
    assert all(name in DISPATCHED for name in FUNCTIONS)
    assert "spillway" in nx.utils.backends.backend_info
    assert get_info()["functions"].keys() == FUNCTIONS.keys()
    assert "spillway : Graphs of any size" in nx.pagerank.__doc__


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_parameters_are_those_of_networkx(name):
    def plain(function):
        return [(p.name, p.default, p.kind) for p in inspect.signature(function).parameters.values()]

    assert plain(getattr(backend, name)) == plain(DISPATCHED[name].orig_func)


# Calls of those above that are left to NetworkX, by what the reason has in it.
REFUSED = {
    "average_clustering": {"directed", "multigraphs", "weights"},
    "betweenness_centrality": {"weights", "endpoints"},
    "betweenness_centrality_subset": {"weights"},
    "bellman_ford_predecessor_and_distance": {"of a target"},
    "clustering": {"directed", "multigraphs", "weights"},
    "core_number": {"directed"},
    "ego_graph": {"without directions"},
    "k_core": {"directed"},
    "k_corona": {"directed"},
    "k_crust": {"directed"},
    "k_shell": {"directed"},
    "kosaraju_strongly_connected_components": {"source"},
    "overall_reciprocity": {"multigraphs"},
    "pagerank": {"by weights", "dangling", "personalization"},
    "reciprocity": {"multigraphs", "single nodes"},
    "transitivity": {"directed", "multigraphs"},
    "triangles": {"multigraphs"},
}


def compare(name: str, label: str, graph: nx.Graph, given: nx.Graph | sp.Graph) -> int:
    """How many calls were answered: about `given`, as NetworkX answers about `graph`."""
    function, answered = getattr(nx, name), 0
    for args, kwargs in calls(name, graph):
        # What stands around the function in NetworkX (kinds of graphs, seeds) stands around it here, too.
        expected = outcome(function, graph, *args, **kwargs, backend="networkx")
        try:
            actual = outcome(function, given, *args, **kwargs, backend="spillway")
        except NotImplementedError as error:
            reason = str(error.__cause__ or backend.can_run(name, (given, *args), kwargs))
            assert any(word in reason for word in REFUSED.get(name, ())), f"{label}: {args} {kwargs}: {reason}"
            continue
        try:
            check(name, graph, args, kwargs, actual, expected)
        except AssertionError as error:
            raise AssertionError(f"{label}: {args} {kwargs}: {actual!r}, expected {expected!r}") from error
        answered += not isinstance(actual, type)
    return answered


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_answers_are_those_of_networkx(name):
    assert sum(compare(name, label, graph, graph) for label, graph in GRAPHS.items()) >= 3


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_graphs_of_this_package_are_answered_alike(name):
    answered = 0
    for label in ("undirected", "few edges", "directed", "words", "a grid of pairs", "parallel edges", "parallel arcs"):
        own = sp.from_networkx(GRAPHS[label])
        theirs = backend.convert_to_nx(own)  # in the order of its vertices
        assert theirs.is_multigraph() == GRAPHS[label].is_multigraph()
        answered += compare(name, label, theirs, own)
    assert answered >= 2


@pytest.mark.parametrize("name", ["bfs_edges", "bfs_tree", "bfs_layers", "bfs_successors", "bfs_predecessors",
                                  "single_source_shortest_path", "single_source_shortest_path_length",
                                  "single_target_shortest_path_length", "predecessor", "connected_components"])
def test_the_order_is_that_of_networkx(name):
    for graph in GRAPHS.values():
        for args, kwargs in calls(name, graph):
            if graph.is_directed() and name == "connected_components":
                continue
            function = getattr(nx, name)
            theirs = outcome(function, graph, *args, **kwargs, backend="networkx")
            ours = outcome(function, graph, *args, **kwargs, backend="spillway")
            if isinstance(theirs, dict):
                assert list(ours.items()) == list(theirs.items())
            elif isinstance(theirs, nx.Graph):
                assert list(ours.edges) == list(theirs.edges)
            else:
                assert ours == theirs


def refusal(name: str, graph: nx.Graph, *args, **kwargs) -> str:
    reason = backend.can_run(name, (graph, *args), kwargs)
    if reason is not True:
        return reason
    with pytest.raises(NotImplementedError) as error:
        getattr(nx, name)(graph, *args, **kwargs, backend="spillway")
    return str(error.value.__cause__ or error.value)


def weighted(*weights) -> nx.Graph:
    return nx.Graph([(i, i + 1, {"weight": w}) for i, w in enumerate(weights)])


def test_what_would_mean_something_else_is_left_to_networkx():
    graph, directed = nx.cycle_graph(5), nx.cycle_graph(5, nx.DiGraph)
    assert "rounded" in refusal("dijkstra_path", weighted(1 / 3, 2), 0, 1)
    assert "rounded" in refusal("single_source_dijkstra", weighted(0.1, 0.2), 0)
    assert "negative" in refusal("dijkstra_path", weighted(-1, 2), 0, 1)
    assert "so large" in refusal("dijkstra_path", weighted(2**40, 2), 0, 1)
    assert "so large" in refusal("all_pairs_dijkstra", weighted(3_000_000_000, 3_000_000_000))
    assert "not all whole numbers" in refusal("dijkstra_path", weighted("far", 2), 0, 1)
    assert "not all whole numbers" in refusal("dijkstra_path", weighted(None, 2), 0, 1)
    assert "not all whole numbers" in refusal("dijkstra_path", weighted(np.float32(0.5), 2), 0, 1)
    assert "not all whole numbers" in refusal("dijkstra_path", weighted(2**53 + 1, 0.5), 0, 1)
    assert "nothing left" in refusal("k_core", graph, core_number=dict.fromkeys(graph, 2))
    assert "rounded" in refusal("dijkstra_path", weighted(math.nan, 2), 0, 1)
    assert "function" in refusal("dijkstra_path", graph, 0, 1, lambda u, v, data: 1)
    assert "function" in refusal("shortest_path", graph, weight=lambda u, v, data: 1)
    assert "order" in refusal("bfs_edges", graph, 0, sort_neighbors=sorted)
    assert "neighbors" in refusal("generic_bfs_edges", graph, 0, lambda node: [])
    assert "weights" in refusal("pagerank", weighted(1, 2))
    assert "32-bit" in refusal("pagerank", graph, tol=1e-9)
    assert "start" in refusal("pagerank", graph, nstart={0: 1})
    assert "personalization" in refusal("pagerank", graph, personalization={0: 1, 1: 2})
    assert "dangling" in refusal("pagerank", graph, dangling={0: 1})
    assert "directed" in refusal("core_number", directed)
    assert "directed" in refusal("clustering", directed)
    assert "multigraph" in refusal("triangles", nx.MultiGraph(graph))
    assert "weights" in refusal("betweenness_centrality", graph, weight="weight")
    assert "endpoints" in refusal("betweenness_centrality", directed, endpoints=True)
    assert "targets" in refusal("betweenness_centrality_subset", graph, [0], [1])


def test_whole_weights_whose_sums_need_more_than_32_bits():
    graph = weighted(*[2**24] * 600)
    assert nx.dijkstra_path_length(graph, 0, 600, backend="spillway") == 600 * 2**24
    assert nx.dijkstra_path_length(weighted(np.int64(3), True), 0, 2, backend="spillway") == 4


def test_weights_that_are_all_the_same_do_not_change_ranks():
    graph = weighted(7, 7, 7)
    assert nx.pagerank(graph, backend="spillway") == pytest.approx(nx.pagerank(graph, backend="networkx"), abs=1e-5)


def test_ranks_that_do_not_converge():
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(nx.karate_club_graph(), weight=None, max_iter=2, backend="spillway")
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(nx.karate_club_graph(), weight=None, max_iter=0, backend="spillway")


def test_unknown_nodes():
    graph = nx.path_graph(3)
    for name, args in {"shortest_path": (0, 9), "dijkstra_path": (9, 0), "single_source_shortest_path": (9,),
                       "single_target_shortest_path_length": (9,), "bfs_edges": (9,), "descendants": (9,),
                       "ego_graph": (9,), "has_path": (9, 0), "node_connected_component": (9,),
                       "multi_source_dijkstra": ({0, 9},), "predecessor": (9,), "bellman_ford_path": (9, 0)}.items():
        theirs = outcome(getattr(nx, name), graph, *args, backend="networkx")
        assert isinstance(theirs, type) and outcome(getattr(nx, name), graph, *args, backend="spillway") == theirs, name


def test_numbers_are_of_pythons_own_kinds():
    graph = nx.karate_club_graph()
    lengths = nx.single_source_dijkstra_path_length(graph, 0, backend="spillway")
    assert {type(v) for v in lengths.values()} == {int} and {type(k) for k in lengths} == {int}
    assert type(nx.transitivity(graph, backend="spillway")) is float
    assert type(nx.number_connected_components(graph, backend="spillway")) is int
    assert {type(v) for v in nx.pagerank(graph, weight=None, backend="spillway").values()} == {float}


def test_a_graph_is_converted_once_and_again_when_it_changes():
    graph = nx.path_graph(10)
    assert nx.is_connected(graph, backend="spillway")
    kept = graph.__networkx_cache__["backends"]["spillway"]
    (first,) = kept.values()
    nx.number_connected_components(graph, backend="spillway")
    assert list(kept.values()) == [first]
    graph.add_edge(20, 21)
    assert nx.number_connected_components(graph, backend="spillway") == 2
    assert nx.shortest_path_length(graph, 0, 9, weight="nix", backend="spillway") == 9


def test_attributes_that_are_asked_for_later():
    graph = weighted(4, 5)
    assert nx.has_path(graph, 0, 2, backend="spillway")
    assert nx.dijkstra_path_length(graph, 0, 2, backend="spillway") == 9
    part = nx.ego_graph(graph, 0, radius=4, distance="weight", backend="spillway")
    assert dict(part.edges) == {(0, 1): {"weight": 4}}


def test_small_graphs_stay_with_networkx_unless_they_are_converted():
    graph = nx.path_graph(10)
    assert "too few" in backend.should_run("connected_components", (graph,), {})
    assert "part" in backend.should_run("shortest_path", (graph, 0, 3), {})
    assert backend.should_run("connected_components", (nx.path_graph(200_001),), {}) is True
    assert backend.should_run("core_number", (nx.path_graph(6_000),), {}) is True
    assert backend.should_run("shortest_path", (nx.path_graph(6_000),), {"source": 0, "weight": "weight"}) is True
    assert backend.should_run("triangles", (nx.complete_graph(40),), {}) is True
    nx.is_connected(graph, backend="spillway")
    assert backend.should_run("connected_components", (graph,), {}) is True
    assert "part" in backend.should_run("shortest_path", (graph, 0, 3), {})
    assert backend.should_run("dijkstra_path", (graph, 0, 3), {}) is True
    assert "part" in backend.should_run("single_source_shortest_path_length", (graph, 0), {"cutoff": 2})


def test_odd_cutoffs_and_numbers_are_left_to_networkx():
    graph = nx.path_graph(5)
    for cutoff in (math.nan, [2], 2 + 0j, 2**64, 10**400):
        assert "cutoff" in str(backend.can_run("single_source_dijkstra_path_length", (graph, 0), {"cutoff": cutoff}))
    assert nx.single_source_shortest_path_length(graph, 0, cutoff=-math.inf, backend="spillway") == {0: 0}
    assert nx.single_source_shortest_path_length(graph, 0, cutoff=math.inf, backend="spillway")[4] == 4
    assert "number" in refusal("k_core", graph, [1])
    assert "number" in refusal("descendants_at_distance", graph, 0, [2])
    assert "iterations" in refusal("pagerank", graph, max_iter=2.5)
    assert "iterations" in refusal("pagerank", graph, max_iter=2**31)
    for share in ("a", math.nan, math.inf, -1):
        assert "personalization" in refusal("pagerank", graph, personalization={0: share})
    assert "settle" in refusal("pagerank", graph, tol=math.nan)


class Strict:
    """Compares itself with its own kind only."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        if type(other) is not Strict:
            raise TypeError("compared with something else")
        return self.number == other.number


def test_odd_nodes_and_attributes():
    graph = nx.Graph([(Strict(1), Strict(2)), (Strict(2), Strict(3))])
    assert nx.number_connected_components(graph, backend="spillway") == 1
    assert sp.from_networkx(graph).cc().components == 1

    class Sevens(dict):
        def get(self, key, default=None):
            return 7

    class Graph7(nx.Graph):
        edge_attr_dict_factory = Sevens

    assert "not all whole numbers" in refusal("dijkstra_path_length", Graph7([(0, 1)]), 0, 1)
    for nodes in [("", "x"), ("\ud800", "b")]:
        assert sp.from_networkx(nx.Graph([nodes])).bfs(nodes[0]).level.tolist() == [0, 1]


def test_single_nodes_stay_with_networkx():
    graph = nx.complete_graph(50)
    nx.is_connected(graph, backend="spillway")
    assert "part" in backend.should_run("triangles", (graph, 0), {})
    assert "part" in backend.should_run("clustering", (graph,), {"nodes": [1]})
    with pytest.raises(nx.NetworkXError):
        nx.is_isolate(graph, 99, backend="spillway")


def test_a_shallow_copy_outlives_what_was_converted():
    graph = nx.DiGraph([(0, 1), (1, 2)])
    nx.number_weakly_connected_components(graph, backend="spillway")
    copied = copy.copy(graph)
    del graph
    gc.collect()
    assert nx.single_target_shortest_path_length(copied, 2, backend="spillway") == {2: 0, 1: 1, 0: 2}


def test_a_conversion_that_failed_is_none():
    graph = nx.Graph([(i, i + 1, {"weight": 1 / 3}) for i in range(6_000)])
    with nx.config(backend_priority=["spillway"]):
        assert nx.single_source_dijkstra_path_length(graph, 0)[3] == 1  # by NetworkX
    graph[0][1]["weight"] = 2
    small = weighted(1 / 3)
    with nx.config(backend_priority=["spillway"]):
        nx.single_source_dijkstra_path_length(small, 0)
    assert "too few" in backend.should_run("single_source_dijkstra_path_length", (small, 0), {})


def test_copies_of_a_graph_that_was_converted():
    graph = weighted(4, 5)
    nx.dijkstra_path(graph, 0, 2, backend="spillway")
    for copied in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), copy.copy(graph)):
        assert nx.dijkstra_path_length(copied, 0, 2, backend="spillway") == 9


def test_a_forked_process_converts_by_itself():
    graph = nx.gnm_random_graph(50, 100, seed=1)
    expected = nx.core_number(graph, backend="spillway")
    child = os.fork()
    if child == 0:
        os._exit(0 if nx.core_number(graph, backend="spillway") == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_views():
    graph = nx.path_graph(6)
    part = graph.subgraph(range(6))
    assert nx.number_connected_components(part, backend="spillway") == 1
    graph.remove_edge(2, 3)
    assert nx.number_connected_components(part, backend="spillway") == 2
    directed = nx.DiGraph([(0, 1, {"weight": 1}), (1, 0, {"weight": 5}), (1, 2, {"weight": 1})])
    for view in (directed.reverse(copy=False), directed.to_undirected(as_view=True), nx.restricted_view(directed, [2], [])):
        for source in view:
            theirs = nx.single_source_shortest_path_length(view, source, backend="networkx")
            assert nx.single_source_shortest_path_length(view, source, backend="spillway") == theirs
    assert "two directions" in refusal("dijkstra_path", directed.to_undirected(as_view=True), 1, 0)
    assert nx.dijkstra_path_length(directed.reverse(copy=False), 0, 1, backend="spillway") == 5


def test_a_graph_that_changed_or_is_gone_is_no_wrong_answer():
    graph = weighted(4, 5)
    held = backend.convert_from_nx(graph)
    dict.pop(graph._adj[0], 1), dict.pop(graph._adj[1], 0)  # which NetworkX cannot notice
    with pytest.raises(RuntimeError, match="changed"):
        nx.dijkstra_path_length(held, 0, 2)
    held = backend.convert_from_nx(weighted(4, 5))
    with pytest.raises(RuntimeError, match="gone"):
        nx.dijkstra_path_length(held, 0, 2)
    assert nx.has_path(held, 0, 2)


def test_parts_of_labelled_graphs_have_their_labels():
    grid = sp.from_networkx(nx.grid_2d_graph(3, 3))
    part = grid.egonet((1, 1))
    assert set(part.vertex.tolist()) == {(1, 1), (0, 1), (1, 0), (1, 2), (2, 1)}
    with pytest.raises(ValueError, match="Python objects"):
        part.save("part.txt")


def test_graphs_of_this_package_go_to_networkx_functions():
    graph = sp.from_edges(["a", "b", "c", "c"], ["b", "c", "a", "d"], [1, 2, 3, 4])
    assert nx.shortest_path(graph, "a", "d") == ["a", "b", "c", "d"]
    assert nx.dijkstra_path_length(graph, "a", "d") == 7
    assert sorted(map(len, nx.strongly_connected_components(graph))) == [1, 3]
    assert nx.is_directed(graph) and not graph.is_multigraph()
    with pytest.raises(nx.NetworkXNotImplemented):
        list(nx.connected_components(graph))
    theirs = backend.convert_to_nx(graph)
    assert theirs.edges["c", "d"] == {"weight": 4} and list(theirs) == ["a", "b", "c", "d"]
    with nx.config(fallback_to_nx=True):  # for what this backend does not have
        assert nx.hits(graph)[0] == pytest.approx(nx.hits(theirs)[0], abs=1e-9)
    parallel = sp.from_edges([0, 0, 1], [1, 1, 2])
    assert parallel.is_multigraph()
    assert nx.pagerank(parallel) == pytest.approx(nx.pagerank(nx.MultiDiGraph([(0, 1), (0, 1), (1, 2)])), abs=1e-5)
    gaps = sp.from_edges([10, 20], [20, 40], undirected=True)
    assert list(nx.connected_components(gaps)) == [{10, 20, 40}]
    heavy = sp.from_edges([0, 0, 1], [1, 1, 2], [5, 2, 7])
    with nx.config(fallback_to_nx=True):
        assert nx.closeness_centrality(heavy, distance="weight")[1] == 0.25
    assert nx.ego_graph(gaps, 10).edges == nx.Graph([(10, 20)]).edges


def test_where_it_runs_is_a_setting():
    config = nx.config.backends.spillway
    assert config.device == "auto"
    with config(device="cpu", threads=1):
        assert nx.is_connected(nx.path_graph(3), backend="spillway")
    with config(device="tpu"), pytest.raises(sp.UsageError):
        nx.is_connected(nx.path_graph(3), backend="spillway")


def test_a_priority_of_the_environment_needs_no_change_of_code():
    program = (
        "import networkx as nx\n"
        "graph = nx.gnm_random_graph(2000, 30000, seed=1)\n"
        "print(max(nx.core_number(graph).values()) > 10, 'spillway' in graph.__networkx_cache__['backends'])\n"
    )
    environment = {**os.environ, "NETWORKX_BACKEND_PRIORITY": "spillway"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert (done.stdout.split(), done.returncode) == (["True", "True"], 0), done.stderr


def test_networkx_does_not_wait_for_this_package():
    """NetworkX asks at its import what there is: that must not bring NumPy or NetworkX in."""
    program = "import sys, spillway.nx.info as info; info.get_info(); print('numpy' in sys.modules, 'networkx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"], done.stderr
