"""A graph of NetworkX as arrays, and as graphs of this package.

Rows hold the neighbours in the order in which NetworkX has them, each once: where there are parallel edges,
`multiplicity` says how many.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core
from .._graph import Graph, from_edges
from .._ids import object_array

_LARGEST_SUM = 2**32 - 3  # of whole weights; those of floats are doubles


class NxGraph:
    """Vertices are called by their places in the order of the nodes."""

    __networkx_backend__ = "spillway"

    def __init__(self, nodes: list, index: dict, offsets: Any, targets: Any, multiplicity: Any, directed: bool):
        self.nodes, self.index = nodes, index
        self.offsets, self.targets, self.multiplicity = offsets, targets, multiplicity
        self.directed = directed
        self._reference: weakref.ref | None = None  # to what it was converted from, if that is NetworkX'
        self._weights: dict[Any, Weights] = {}
        self.has_weights = False  # of a graph of this package, under the name "weight"
        self._cores: dict[Any, Graph] = {}
        self._process = os.getpid()

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        """False of what cannot be a node, as in NetworkX."""
        try:
            return node in self.index
        except TypeError:
            return False

    def __reduce__(self) -> tuple:
        """Copies of a graph of NetworkX copy its cache; in theirs this is None, and they are converted when asked."""
        return type(None), ()

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.multiplicity is not None

    # ------------------------------------------------------------------------------------------------ nodes

    @cached_property
    def _node_array(self) -> Any:
        return object_array(self.nodes)

    def nodes_at(self, places: Any) -> list:
        return self._node_array[places].tolist()

    def per_node(self, values: Any) -> dict:
        """A dictionary as NetworkX answers with: values of all nodes, in their order."""
        return dict(zip(self.nodes, values.tolist()))

    def places_in(self, nbunch: Iterable) -> list[int]:
        """As NetworkX' nbunch_iter: nodes that are not there are left out."""
        import networkx as nx

        try:
            return [self.index[node] for node in nbunch if node in self.index]
        except TypeError as error:
            if "iter" in error.args[0]:
                raise nx.NetworkXError("nbunch is not a node or a sequence of nodes.") from error
            raise nx.NetworkXError(f"Node {nbunch} in sequence nbunch is not a valid node.") from error

    # -------------------------------------------------------------------------------------- rows and degrees

    @cached_property
    def sources(self) -> Any:
        """The source of each arc."""
        return np.repeat(np.arange(len(self), dtype=np.uint32), np.diff(self.offsets).astype(np.int64))

    @cached_property
    def _out_rows(self) -> Any:
        return _core.Rows(self.offsets, self.targets)

    @cached_property
    def _in_rows(self) -> Any:
        """In NetworkX' order, or in that of the nodes where its graph is gone, or was none of NetworkX."""
        original = self._reference() if self._reference is not None else None
        if original is not None:
            offsets, sources = _arrays_of([_plain(original._pred[node]) for node in self.nodes], self.index)
            _require_same(len(sources) == len(self.targets))
        else:
            offsets = _offsets(np.bincount(self.targets, minlength=len(self)))
            sources = self.sources[np.argsort(self.targets, kind="stable")]
        return _core.Rows(offsets, sources)

    def rows(self, reverse: bool = False) -> Any:
        return self._in_rows if reverse and self.directed else self._out_rows

    def is_loop(self) -> Any:
        return self.sources == self.targets

    def edges_of_arcs(self) -> Any:
        """How many edges each arc stands for."""
        return _ones(len(self.targets)) if self.multiplicity is None else self.multiplicity

    def edges_of_all_arcs(self) -> int:
        return len(self.targets) if self.multiplicity is None else int(self.multiplicity.sum())

    def edge_count(self) -> int:
        arcs = self.edges_of_all_arcs()
        return arcs if self.directed else (arcs + int(self.edges_of_arcs()[self.is_loop()].sum())) // 2

    def degrees(self, direction: str = "both") -> Any:
        """As NetworkX counts: with parallel edges, and a loop of an undirected graph twice."""
        edges, n = self.edges_of_arcs(), len(self)
        out = _sums(self.sources, edges, n)
        if direction == "out":
            return out
        if not self.directed:
            loops = self.is_loop()
            return out + _sums(self.sources[loops], edges[loops], n)
        into = _sums(self.targets, edges, n)
        return into if direction == "in" else out + into

    # ------------------------------------------------------------------------------------------ computing

    def core_named(self, name: Any, make: Callable[[], Graph]) -> Graph:
        """A graph of this package that is kept; a process that was forked makes its own."""
        if self._process != os.getpid():
            self._cores, self._process = {}, os.getpid()
        if name not in self._cores:
            self._cores[name] = make()
        return self._cores[name]

    @property
    def core(self) -> Graph:
        """Each neighbour once, without weights."""
        return self.core_named("out", lambda: self.graph_of(self.sources, self.targets))

    @property
    def reversed_core(self) -> Graph:
        if not self.directed:
            return self.core
        return self.core_named("in", lambda: self.graph_of(self.targets, self.sources))

    @property
    def undirected_core(self) -> Graph:
        if not self.directed:
            return self.core
        return self.core_named("both", lambda: _graph(self.sources, self.targets, None, len(self), True))

    @property
    def core_of_all_edges(self) -> Graph:
        """With parallel edges."""
        if self.multiplicity is None:
            return self.core
        return self.core_named("all", lambda: self.graph_of(self.repeated(self.sources), self.repeated(self.targets)))

    def repeated(self, of_arcs: Any) -> Any:
        """An entry for each parallel edge."""
        return of_arcs if self.multiplicity is None else np.repeat(of_arcs, self.multiplicity)

    def graph_of(self, sources: Any, targets: Any, weights: Any = None) -> Graph:
        if self.directed:
            return _graph(sources, targets, weights, len(self), False)
        once = sources <= targets  # the rows have both ends of an edge
        return _graph(sources[once], targets[once], None if weights is None else weights[once], len(self), True)

    # -------------------------------------------------------------------------------------------- weights

    def weights(self, attribute: Any) -> Weights:
        """Of the arcs: the least of parallel edges, and 1 where the attribute is missing."""
        found = self._weights.get(attribute)
        if found is None:
            found = self._weights[attribute] = self._weights_named(attribute)
        return found

    def _weights_named(self, attribute: Any) -> Weights:
        if attribute is None or self._reference is None:
            return Weights(self, _ones(self.edges_of_all_arcs()), are_ones=True)
        original = self._original()
        rows = neighbors_of(original)
        _require_same(np.array_equal(_arrays_of(rows, self.index)[1], self.targets))
        return _weights_of(self, original, rows, attribute)

    def _original(self) -> Any:
        """The graph that this was converted from."""
        assert self._reference is not None
        original = self._reference()
        if original is None:
            raise RuntimeError("the graph of NetworkX that this was converted from is gone, and with it its attributes")
        return original

    # ---------------------------------------------------------------------------------------- to NetworkX

    def part(self, nodes: Iterable) -> Any:
        """These nodes and the edges between them, as a graph of NetworkX."""
        if self._reference is not None:
            return self._original().subgraph(nodes).copy()
        kept = np.zeros(len(self), bool)
        kept[[self.index[node] for node in nodes]] = True
        return self._to_networkx(kept)

    def to_networkx(self) -> Any:
        if self._reference is not None:
            return self._original()
        return self._to_networkx(np.ones(len(self), bool))

    def _to_networkx(self, kept: Any) -> Any:
        """Of a graph of this package, which has no other attributes than weights."""
        import networkx as nx

        kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph}
        graph = kinds.get((self.directed, self.is_multigraph()), nx.MultiDiGraph)()
        graph.add_nodes_from(self.nodes_at(kept))
        edges = kept[self.sources] & kept[self.targets]
        if not self.directed:
            edges &= self.sources <= self.targets
        times = self.edges_of_arcs()
        ends = (self.nodes_at(np.repeat(each[edges], times[edges])) for each in (self.sources, self.targets))
        if self.has_weights:
            graph.add_weighted_edges_from(zip(*ends, self._weights["weight"].of_edges[np.repeat(edges, times)].tolist()))
        else:
            graph.add_edges_from(zip(*ends))
        return graph


class Weights:
    """Weights of arcs under one name, and graphs of this package that have them."""

    def __init__(self, graph: NxGraph, of_edges: Any, are_ones: bool = False):
        """of_edges: int64 or float64; parallel edges follow each other."""
        self._are_ones = are_ones
        _require_same(len(of_edges) == graph.edges_of_all_arcs())
        self._sources = weakref.ref(graph)
        self.of_edges = of_edges
        self.whole = of_edges.dtype.kind == "i"

    @property
    def are_same(self) -> bool:
        """Whether all edges have one weight above zero."""
        values = self.of_edges
        if values.size == 0 or self._are_ones:
            return True
        return bool(values[0] > 0 and np.isfinite(values[0]) and (values == values[0]).all())

    def of_arcs(self, graph: NxGraph) -> Any:
        """The least of parallel edges."""
        if graph.multiplicity is None or not len(self.of_edges):
            return self.of_edges
        return np.minimum.reduceat(self.of_edges, np.cumsum(graph.multiplicity) - graph.multiplicity)

    @cached_property
    def stored(self) -> Any:
        """In the types of this package. What they cannot hold is refused."""
        graph = self._sources()
        assert graph is not None  # whoever asks holds it
        return _stored(self.of_arcs(graph), self.whole, len(graph))

    def as_given(self, distances: Any) -> Any:
        return distances.astype(np.int64) if self.whole else distances

    def core(self, graph: NxGraph, attribute: Any, reverse: bool = False) -> Graph:
        ends = (graph.targets, graph.sources) if reverse and graph.directed else (graph.sources, graph.targets)
        return graph.core_named((attribute, reverse and graph.directed), lambda: graph.graph_of(*ends, self.stored))

    def core_from_all(self, graph: NxGraph, sources: list[int]) -> Graph:
        """With one more vertex, from which arcs of no length lead to all of these."""
        more, dtype = len(sources), self.stored.dtype
        starts = np.concatenate([graph.sources, np.full(more, len(graph), np.uint32)])
        ends = np.concatenate([graph.targets, np.array(sources, np.uint32)])
        return _graph(starts, ends, np.concatenate([self.stored, np.zeros(more, dtype)]), len(graph) + 1, False)


def _ones(count: int) -> Any:
    """As many as are asked for, in the memory of one."""
    return np.broadcast_to(np.ones(1, np.int64), count)


def _stored(values: Any, whole: bool, n: int) -> Any:
    if values.size == 0:
        return values.astype(np.uint32)
    if values.min() < 0:
        raise NotImplementedError("weights are negative")
    if whole:
        return _stored_whole(values, n)
    with np.errstate(over="ignore", invalid="ignore"):
        floats = values.astype(np.float32)
    if np.isfinite(floats).all() and (floats == values).all():
        return floats
    raise NotImplementedError("weights are no 32-bit floats, and would be rounded")


def _stored_whole(values: Any, n: int) -> Any:
    """Floats where a path could be too long for whole numbers of 32 bits, if they hold each weight."""
    largest = int(values.max())
    if largest * n <= _LARGEST_SUM:
        return values.astype(np.uint32)
    if largest <= 2**24:
        return values.astype(np.float32)
    raise NotImplementedError("weights are so large that their sums may not fit 32 bits")


def _graph(sources: Any, targets: Any, weights: Any, n: int, undirected: bool) -> Graph:
    return from_edges(sources, targets, weights, vertices=n, undirected=undirected)


def _offsets(counts: Any) -> Any:
    offsets = np.zeros(len(counts) + 1, np.uint64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _sums(places: Any, values: Any, n: int) -> Any:
    """Exact below 2**53."""
    return np.bincount(places, weights=values, minlength=n).astype(np.int64)


def _require_same(same: bool) -> None:
    if not same:
        raise RuntimeError("the graph has changed since it was converted")


# ------------------------------------------------------------------------------------------- from NetworkX


def from_networkx(graph: Any, attributes: Iterable = ()) -> NxGraph:
    """`attributes`: those of edges that will be asked for; others are read when they are."""
    nodes = list(graph)
    index = {node: place for place, node in enumerate(nodes)}
    rows = neighbors_of(graph)
    offsets, targets = _arrays_of(rows, index)
    multiplicity = None
    if graph.is_multigraph():
        parallel = (len(keys) for row in rows for keys in row.values())
        multiplicity = np.fromiter(parallel, np.int64, len(targets))
    converted = NxGraph(nodes, index, offsets, targets, multiplicity, graph.is_directed())
    converted._reference = weakref.ref(graph)
    add_weights(converted, graph, attributes, rows)
    return converted


def add_weights(converted: NxGraph, graph: Any, attributes: Iterable, rows: list[dict] | None = None) -> None:
    for attribute in set(attributes) - set(converted._weights):
        try:
            weights = _weights_of(converted, graph, neighbors_of(graph) if rows is None else rows, attribute)
        except NotImplementedError:
            continue  # whoever needs them says so
        converted._weights[attribute] = weights


def _weights_of(converted: NxGraph, graph: Any, rows: list[dict], attribute: Any) -> Weights:
    beneath = getattr(graph, "_graph", graph)
    if beneath.is_directed() and not graph.is_directed():
        raise NotImplementedError("the two directions of an edge of this view may have different weights")
    numbers, _ = numbers_of(rows, graph.is_multigraph(), attribute)
    if numbers is None:
        raise NotImplementedError("weights are not all whole numbers below 2**63, or floats")
    return Weights(converted, numbers)


def numbers_of(rows: list[dict], multigraph: bool, attribute: Any) -> tuple[Any, int]:
    """int64 where all are whole, otherwise float64; None: not all are numbers. And how many edges had the attribute."""
    edges = [_plain(keys) for row in rows for keys in row.values()] if multigraph else rows
    return _core.numbers_of_dictionaries(edges, attribute)


def _plain(row: Any) -> dict:
    """Views of parts of a graph may say a wrong length; complements have neighbours without attributes."""
    if type(row) is dict:
        return row
    return dict(row) if isinstance(row, Mapping) else dict.fromkeys(row, {})


def neighbors_of(graph: Any) -> list[dict]:
    """Of each node: its neighbours with the attributes of the edge, or of all parallel edges."""
    rows = [_plain(row) for _, row in graph.adjacency()]
    if graph.is_multigraph() and any(type(keys) is not dict for row in rows for keys in row.values()):
        rows = [{node: dict(keys) for node, keys in row.items()} for row in rows]
    return rows


def _arrays_of(rows: list[dict], index: dict) -> tuple:
    """Offsets and targets."""
    are_places = all(type(node) is int for node in index) and list(index) == list(range(len(index)))
    return _core.rows_of_dictionaries(rows, index, are_places)


# ------------------------------------------------------------------------------------ from this package


def converted(graph: Any) -> NxGraph:
    """What NetworkX' functions hand over: a converted graph, or one of this package, which is converted once."""
    if isinstance(graph, NxGraph):
        return graph
    if graph._nx is None:
        graph._nx = _from_spillway(graph)
    return graph._nx


def _from_spillway(graph: Graph) -> NxGraph:
    offsets, targets, weights = graph.rows()
    nodes = graph.vertex.tolist()
    sources = np.repeat(np.arange(len(nodes), dtype=np.uint32), np.diff(offsets).astype(np.int64))
    first = np.ones(len(targets), bool)  # of parallel arcs
    first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    multiplicity = None
    if not first.all():
        firsts = np.flatnonzero(first)
        multiplicity = np.diff(np.append(firsts, len(targets)))
        offsets, targets = _offsets(np.bincount(sources[firsts], minlength=len(nodes))), targets[firsts]
    index = {node: place for place, node in enumerate(nodes)}
    made = NxGraph(nodes, index, offsets, targets, multiplicity, not graph.symmetric)
    if multiplicity is None:
        made._cores["out"] = Graph(graph._core, graph._labels)  # another object, or the two would hold each other
    if weights is not None:
        kind = np.int64 if weights.dtype.kind == "u" else np.float64
        made._weights["weight"] = Weights(made, weights.astype(kind))
        made.has_weights = True
    return made
