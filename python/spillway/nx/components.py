"""Connected, weakly and strongly connected components, and trees, which are questions about them."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from .. import _core
from .graph import NxGraph, converted
from .support import function, run
from .unweighted import queue_order


def _labels(graph: NxGraph, algorithm: str) -> Any:
    return run(graph.core, algorithm).columns["component"]


def _sets(graph: NxGraph, labels: Any, order: Any = None) -> Iterator:
    """In the order of the labels that are given; otherwise in that of their first nodes, as NetworkX has them."""
    nodes = graph.nodes_at(np.argsort(labels, kind="stable"))
    ends = np.cumsum(np.bincount(labels, minlength=len(graph)))
    order = np.unique(labels) if order is None else order
    return (set(nodes[begin:end]) for begin, end in zip(np.append(0, ends)[order].tolist(), ends[order].tolist()))


def _strong_sets(graph: NxGraph) -> Iterator:
    """A component comes after those that it leads to, as NetworkX' programs rely on."""
    labels = _labels(graph, "scc")
    order = _core.component_order(graph.rows(), labels.astype(np.uint32), None)
    return _sets(graph, labels, order)


def _count(G: Any, algorithm: str) -> int:
    return run(converted(G).core, algorithm).facts["components"]


def _is_one(G: Any, algorithm: str) -> bool:
    import networkx as nx

    if len(converted(G)) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _count(G, algorithm) == 1


@function()
def connected_components(G: Any) -> Iterator:
    graph = converted(G)
    return _sets(graph, _labels(graph, "cc"))


@function()
def number_connected_components(G: Any) -> int:
    return _count(G, "cc")


@function()
def is_connected(G: Any) -> bool:
    return _is_one(G, "cc")


@function()
def node_connected_component(G: Any, n: Any) -> set:
    graph = converted(G)
    return set(graph.nodes_at(queue_order(graph, [graph.index[n]])[0]))


@function()
def weakly_connected_components(G: Any) -> Iterator:
    graph = converted(G)
    return _sets(graph, _labels(graph, "cc"))


@function()
def number_weakly_connected_components(G: Any) -> int:
    return _count(G, "cc")


@function()
def is_weakly_connected(G: Any) -> bool:
    return _is_one(G, "cc")


@function()
def strongly_connected_components(G: Any) -> Iterator:
    return _strong_sets(converted(G))


def _from_anywhere(source: Any, **_: Any) -> bool | str:
    return True if source is None else "a source of the search is left to NetworkX"


@function(_from_anywhere)
def kosaraju_strongly_connected_components(G: Any, source: Any = None) -> Iterator:
    return _strong_sets(converted(G))


@function()
def number_strongly_connected_components(G: Any) -> int:
    return _count(G, "scc")


@function()
def is_strongly_connected(G: Any) -> bool:
    return _is_one(G, "scc")


# ------------------------------------------------------------------------------------------------ trees


def _graph_with_nodes(G: Any) -> NxGraph:
    import networkx as nx

    graph = converted(G)
    if len(graph) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return graph


@function()
def is_tree(G: Any) -> bool:
    graph = _graph_with_nodes(G)
    return graph.edge_count() == len(graph) - 1 and _count(graph, "cc") == 1


@function()
def is_forest(G: Any) -> bool:
    """A component has at least an edge less than nodes: if all together have no more, each is a tree."""
    graph = _graph_with_nodes(G)
    return graph.edge_count() == len(graph) - _count(graph, "cc")


def _one_parent_each(graph: NxGraph) -> bool:
    return bool(graph.degrees("in").max(initial=0) <= 1)


@function()
def is_arborescence(G: Any) -> bool:
    return is_tree(G) and _one_parent_each(converted(G))


@function()
def is_branching(G: Any) -> bool:
    return is_forest(G) and _one_parent_each(converted(G))
