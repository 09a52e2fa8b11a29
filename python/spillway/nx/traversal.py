"""Breadth-first search in the order of NetworkX: one queue, and neighbours as the graph has them."""

from __future__ import annotations

from typing import Any, Iterator

from .graph import NxGraph, converted
from .support import function
from .unweighted import depth_of, queue_order


def _in_own_order(sort_neighbors: Any, **_: Any) -> bool | str:
    return True if sort_neighbors is None else "an order of neighbors of one's own is left to NetworkX"


def _of_own_neighbors(neighbors: Any, **_: Any) -> bool | str:
    return True if neighbors is None else "neighbors of one's own are left to NetworkX"


def _place(graph: NxGraph, node: Any) -> int:
    import networkx as nx

    if node not in graph.index:  # TypeError of what cannot be a node
        raise nx.NetworkXError(f"The node {node} is not in the graph.")
    return graph.index[node]


def _tree(G: Any, source: Any, reverse: bool, depth_limit: Any) -> tuple[list, list]:
    """Parents and children, as they are met."""
    graph = converted(G)
    order, parents, _ = queue_order(graph, [_place(graph, source)], depth_of(depth_limit), reverse)
    return graph.nodes_at(parents[1:]), graph.nodes_at(order[1:])


@function(_in_own_order)
def bfs_edges(
    G: Any, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: Any = None
) -> Iterator:
    return zip(*_tree(G, source, reverse, depth_limit))


@function(_of_own_neighbors)
def generic_bfs_edges(G: Any, source: Any, neighbors: Any = None, depth_limit: Any = None) -> Iterator:
    return zip(*_tree(G, source, False, depth_limit))


@function(_in_own_order)
def bfs_tree(
    G: Any, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: Any = None
) -> Any:
    import networkx as nx

    edges = bfs_edges(G, source, reverse, depth_limit)
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(edges)
    return tree


@function(_in_own_order)
def bfs_predecessors(G: Any, source: Any, depth_limit: Any = None, sort_neighbors: Any = None) -> Iterator:
    parents, children = _tree(G, source, False, depth_limit)
    return zip(children, parents)


@function(_in_own_order)
def bfs_successors(G: Any, source: Any, depth_limit: Any = None, sort_neighbors: Any = None) -> Iterator:
    parents, children = _tree(G, source, False, depth_limit)
    return _families(source, parents, children)


def _families(source: Any, parents: list, children: list) -> Iterator:
    """Each parent with its children, which follow each other; the source has an entry in any case."""
    parent, first = source, 0
    for place, each in enumerate(parents):
        if each is not parent and each != parent:
            yield parent, children[first:place]
            parent, first = each, place
    yield parent, children[first:]


@function()
def bfs_layers(G: Any, sources: Any) -> Iterator:
    graph = converted(G)
    together = [sources] if sources in graph else list(set(sources))
    order, _, starts = queue_order(graph, [_place(graph, each) for each in together])
    nodes, starts = graph.nodes_at(order), starts.tolist()
    return (nodes[begin:end] for begin, end in zip(starts, starts[1:]) if begin < end)


def _levels_off(distance: Any, **_: Any) -> bool | str:
    return True if isinstance(distance, (int, float)) and distance == distance else "a distance is a number here"


@function(_levels_off, cost="local")
def descendants_at_distance(G: Any, source: Any, distance: Any) -> set:
    graph = converted(G)
    order, _, starts = queue_order(graph, [_place(graph, source)], depth_of(distance))
    if distance not in range(len(starts) - 1):
        return set()
    level = int(distance)
    return set(graph.nodes_at(order[starts[level] : starts[level + 1]]))


@function()
def descendants(G: Any, source: Any) -> set:
    return _reached(converted(G), source, reverse=False)


@function()
def ancestors(G: Any, source: Any) -> set:
    return _reached(converted(G), source, reverse=True)


def _reached(graph: NxGraph, source: Any, reverse: bool) -> set:
    return set(graph.nodes_at(queue_order(graph, [_place(graph, source)], reverse=reverse)[0][1:]))
