"""Numbers of nodes and of whole graphs: degrees, cores, triangles, centralities, ranks."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Iterator

import numpy as np

from .graph import NxGraph, converted
from .support import function, run


def simple_and_undirected(G: Any, **_: Any) -> bool | str:
    if G.is_directed():
        return "directed graphs are left to NetworkX"
    return "multigraphs are left to NetworkX" if G.is_multigraph() else True


# ---------------------------------------------------------------------------------------------- degrees


def _degree_centrality(G: Any, direction: str) -> dict:
    graph = converted(G)
    if len(graph) <= 1:
        return dict.fromkeys(graph.nodes, 1)
    return graph.per_node(graph.degrees(direction) * (1.0 / (len(graph) - 1.0)))


@function(cost="local")
def degree_centrality(G: Any) -> dict:
    return _degree_centrality(G, "both")


@function(cost="local")
def in_degree_centrality(G: Any) -> dict:
    return _degree_centrality(G, "in")


@function(cost="local")
def out_degree_centrality(G: Any) -> dict:
    return _degree_centrality(G, "out")


@function(cost="local")
def isolates(G: Any) -> Iterator:
    graph = converted(G)
    return iter(graph.nodes_at(graph.degrees() == 0))


@function(cost="local")
def is_isolate(G: Any, n: Any) -> bool:
    import networkx as nx

    graph = converted(G)
    if n not in graph:
        raise nx.NetworkXError(f"Node {n} is not in the graph.")
    return bool(graph.degrees()[graph.index[n]] == 0)


@function(cost="local")
def number_of_isolates(G: Any) -> int:
    return int(np.count_nonzero(converted(G).degrees() == 0))


@function(cost="local")
def number_of_selfloops(G: Any) -> int:
    graph = converted(G)
    return int(graph.edges_of_arcs()[graph.is_loop()].sum())


def _not_parallel(G: Any, nodes: Any = None, **_: Any) -> bool | str:
    if nodes is not None:
        return "reciprocity of single nodes is left to NetworkX"
    return "multigraphs are left to NetworkX" if G.is_multigraph() else True


@function(_not_parallel)
def overall_reciprocity(G: Any) -> float:
    import networkx as nx

    graph = converted(G)
    arcs = len(graph.targets)
    if arcs == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    if not graph.directed:
        return 0.0  # no edge is two, says NetworkX
    low, high = np.minimum(graph.sources, graph.targets), np.maximum(graph.sources, graph.targets)
    pairs = len(np.unique(low.astype(np.uint64) << np.uint64(32) | high))
    return (arcs - pairs) * 2 / arcs


@function(_not_parallel)
def reciprocity(G: Any, nodes: Any = None) -> float:
    return overall_reciprocity(G)


# ------------------------------------------------------------------------------------------------ cores


def core_numbers(graph: NxGraph) -> Any:
    import networkx as nx

    if graph.is_loop().any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return run(graph.core, "kcore").columns["core"]


@function(simple_and_undirected, cost="weighted")
def core_number(G: Any) -> dict:
    graph = converted(G)
    return graph.per_node(core_numbers(graph))


# -------------------------------------------------------------------------------------------- triangles


def _only(graph: NxGraph, nodes: Any, per_node: dict) -> Any:
    """The value of one node, or of all that are asked for."""
    if nodes is None:
        return per_node
    if nodes in graph:
        return per_node[nodes]
    return {graph.nodes[place]: per_node[graph.nodes[place]] for place in graph.places_in(nodes)}


def _cost(nodes: Any, **_: Any) -> str:
    return "superlinear" if nodes is None else "local"


@function(simple_and_undirected, cost=_cost)
def triangles(G: Any, nodes: Any = None) -> Any:
    graph = converted(G)
    return _only(graph, nodes, graph.per_node(run(graph.core, "tc", per_vertex=True).columns["triangles"]))


def _unweighted_clustering(G: Any, weight: Any, **_: Any) -> bool | str:
    return simple_and_undirected(G) if weight is None else "weights are left to NetworkX"


@function(_unweighted_clustering, cost=_cost)
def clustering(G: Any, nodes: Any = None, weight: Any = None) -> Any:
    graph = converted(G)
    return _only(graph, nodes, graph.per_node(run(graph.core, "lcc").columns["coefficient"]))


@function(_unweighted_clustering, cost=_cost)
def average_clustering(G: Any, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    values = clustering(G, nodes, weight).values()
    counted = values if count_zeros else [value for value in values if value > 0]
    return sum(counted) / len(counted)


@function(simple_and_undirected, cost="superlinear")
def transitivity(G: Any) -> float:
    graph = converted(G)
    neighbors = np.bincount(graph.sources[~graph.is_loop()], minlength=len(graph)).astype(object)  # of any size
    corners = 6 * run(graph.core, "tc").facts["triangles"]
    return corners / int((neighbors * (neighbors - 1)).sum()) if corners else 0


# ------------------------------------------------------------------------------------------ betweenness


def _can_be_between(G: Any, weight: Any, endpoints: bool, **_: Any) -> bool | str:
    if endpoints and G.is_directed():
        return "endpoints in directed graphs are left to NetworkX"
    return True if weight is None else "weights are left to NetworkX"


@function(_can_be_between, cost="superlinear")
def betweenness_centrality(
    G: Any, k: Any = None, normalized: bool = True, weight: Any = None, endpoints: bool = False, seed: Any = None
) -> dict:
    graph, n = converted(G), len(converted(G))
    sampled = None if k is None or k == n else [graph.index[node] for node in seed.sample(graph.nodes, k)]
    between = _between(graph, sampled)
    if endpoints:
        between += _as_endpoints(graph, sampled)
    return graph.per_node(between * _scale(graph, sampled, normalized, endpoints))


def _between(graph: NxGraph, sources: list[int] | None) -> Any:
    """Shares of the shortest paths from these (None: from all), over ordered pairs."""
    if len(graph) == 0 or sources == []:  # of which _scale has something to say
        return np.zeros(len(graph))
    asked = {"sources": "all"} if sources is None else {"source": sources}
    return run(graph.core, "bc", **asked).columns["centrality"].astype(np.float64)


def _as_endpoints(graph: NxGraph, sources: list[int] | None) -> Any:
    """How often each node begins or ends a path of another node: as often as its component has others."""
    n = len(graph)
    if n == 0:
        return np.zeros(0)
    labels = run(graph.core, "cc").columns["component"]
    is_source = np.ones(n, np.int64)
    if sources is not None:
        is_source = np.bincount(sources, minlength=n)
    sizes, begun = np.bincount(labels, minlength=n), np.bincount(labels, weights=is_source, minlength=n)
    return is_source * (sizes[labels] - 1) + begun[labels] - is_source


def _scale(graph: NxGraph, sampled: list[int] | None, normalized: bool, endpoints: bool) -> Any:
    """NetworkX' own: with sampling and without endpoints, nodes that were drawn are the end of fewer paths."""
    others = len(graph) if endpoints else len(graph) - 1
    if others < 2:
        return 1.0
    both_ways = 1 if graph.directed else 2
    drawn = others if sampled is None else len(sampled)

    def scale(count: int) -> float:
        return 1 / (count * (others - 1)) if normalized else others / (count * both_ways)

    if sampled is None or endpoints:
        return scale(drawn)
    per_node = np.full(len(graph), scale(drawn))
    per_node[sampled] = scale(drawn - 1) if drawn > 1 else np.nan
    return per_node


def _to_all(G: Any, sources: Any, targets: Any, weight: Any, **_: Any) -> bool | str:
    if weight is not None:
        return "weights are left to NetworkX"
    if not (hasattr(targets, "__len__") and hasattr(sources, "__len__")):
        return "sources and targets that can be gone over once only are left to NetworkX"
    return True if set(G) <= set(targets) else "targets that are not all nodes are left to NetworkX"


@function(_to_all, cost="superlinear")
def betweenness_centrality_subset(
    G: Any, sources: Any, targets: Any, normalized: bool = False, weight: Any = None
) -> dict:
    graph = converted(G)
    times = Counter(graph.index[node] for node in sources)
    between = _between(graph, list(times))
    for place, count in times.items():
        if count > 1:
            between += (count - 1) * _between(graph, [place])
    return graph.per_node(between * _scale(graph, None, normalized, endpoints=False))


# ------------------------------------------------------------------------------------------------ ranks

# Ranks are 32-bit floats: all together they do not settle closer than this.
_RESOLVED = 1e-6


def _can_rank(
    G: Any,
    alpha: float,
    personalization: dict | None,
    max_iter: Any,
    tol: float,
    nstart: Any,
    dangling: dict | None,
    **_: Any,
) -> bool | str:
    n = len(G)
    if nstart is not None:
        return "a start of one's own is left to NetworkX"
    if type(max_iter) is not int or max_iter > 2**30:
        return "so many iterations are left to NetworkX"
    if not n * tol >= _RESOLVED and n > 0:
        return f"ranks are 32-bit floats, which do not settle within {n * tol:g}"
    if not 0 <= alpha <= 0.999999:
        return f"damping by {alpha} is left to NetworkX"
    if personalization is not None and _restart(G, personalization) is None:
        return "a personalization other than all nodes alike, or one node, is left to NetworkX"
    if dangling is not None and (personalization is not None or _restart(G, dangling) != "all"):
        return "dangling nodes that lead elsewhere than the restart are left to NetworkX"
    return True


def _restart(G: Any, shares: dict) -> Any:
    """ "all", or a list of the one node where a walk restarts; None: something else, or nothing at all."""
    if not all(isinstance(share, (int, float)) and 0 <= share < math.inf for share in shares.values()):
        return None
    given = {node: share for node, share in shares.items() if node in G and share != 0}
    if len(given) == 1:
        return list(given)
    alike = len(given) == len(G) and len(set(given.values())) == 1
    return "all" if alike and min(given.values(), default=0) > 0 else None


@function(_can_rank, cost="weighted")
def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: dict | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: dict | None = None,
    weight: Any = "weight",
    dangling: dict | None = None,
) -> dict:
    import networkx as nx

    graph = converted(G)
    if len(graph) == 0:
        return {}
    if not graph.weights(weight).are_same:
        raise NotImplementedError("ranks by weights are left to NetworkX")
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    asked = {"damping": alpha, "tolerance": min(2.0, len(graph) * tol), "iterations": max_iter}
    restart = "all" if personalization is None else _restart(graph.index, personalization)
    if restart == "all":
        answer = run(graph.core_of_all_edges, "pagerank", **asked)
    else:
        answer = run(graph.core_of_all_edges, "ppr", graph.index[restart[0]], **asked)
    if not answer.facts["converged"]:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return graph.per_node(answer.columns["rank"])
