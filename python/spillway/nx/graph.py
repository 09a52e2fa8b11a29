"""A graph of NetworkX as arrays, and as graphs of this package.

Rows hold the neighbours in the order in which NetworkX has them, each once: where there are parallel edges,
`multiplicity` says how many.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Iterable

import numpy as np

from .. import _core
from .._graph import Graph, from_edges
from .._ids import object_array


class NxGraph:
    """Vertices are called by their places in the order of the nodes."""

    __networkx_backend__ = "spillway"

    def __init__(self, nodes: list, index: dict, offsets: Any, targets: Any, multiplicity: Any, directed: bool):
        self.nodes, self.index = nodes, index
        self.offsets, self.targets, self.multiplicity = offsets, targets, multiplicity
        self.directed = directed
        self._original: Any = lambda: None
        self._weights: dict[Any, Weights] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.multiplicity is not None

    # ------------------------------------------------------------------------------------------------ nodes

    @cached_property
    def node_array(self) -> Any:
        return object_array(self.nodes)

    def called(self, places: Any) -> list:
        """The nodes at these places."""
        return self.node_array[places].tolist()

    def per_node(self, values: Any) -> dict:
        """A dictionary as NetworkX answers with: values of all nodes, in their order."""
        return dict(zip(self.nodes, values.tolist()))

    def bunch(self, nbunch: Any) -> list[int]:
        """Places of the nodes that NetworkX' nbunch_iter gives."""
        import networkx as nx

        if nbunch is None:
            return list(range(len(self)))
        if self.has(nbunch):
            return [self.index[nbunch]]
        try:
            return [self.index[node] for node in nbunch if node in self.index]
        except TypeError as error:
            if "iter" in error.args[0]:
                raise nx.NetworkXError("nbunch is not a node or a sequence of nodes.") from error
            raise nx.NetworkXError(f"Node {nbunch} in sequence nbunch is not a valid node.") from error

    def has(self, node: Any) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    # -------------------------------------------------------------------------------------- rows and degrees

    @cached_property
    def sources(self) -> Any:
        """The source of each arc."""
        return np.repeat(np.arange(len(self), dtype=np.uint32), np.diff(self.offsets).astype(np.int64))

    @cached_property
    def reversed_rows(self) -> tuple:
        """Offsets and sources of the in-arcs: in NetworkX' order, or that of the nodes where its graph is gone."""
        original = self._original()
        if original is not None:
            return _rows([_plain(original._pred[node]) for node in self.nodes], self.index)
        counts = np.bincount(self.targets, minlength=len(self))
        return _offsets(counts), self.sources[np.argsort(self.targets, kind="stable")]

    def rows(self, reverse: bool = False) -> tuple:
        return self.reversed_rows if reverse and self.directed else (self.offsets, self.targets)

    def is_loop(self) -> Any:
        return self.sources == self.targets

    def edges_of_arcs(self) -> Any:
        """How many edges each arc stands for."""
        return np.ones(len(self.targets), np.int64) if self.multiplicity is None else self.multiplicity

    def edge_count(self) -> int:
        edges = self.edges_of_arcs()
        arcs = int(edges.sum())
        return arcs if self.directed else (arcs + int(edges[self.is_loop()].sum())) // 2

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

    @cached_property
    def core(self) -> Graph:
        """Each neighbour once, without weights."""
        return self._graph(self.sources, self.targets, None)

    @cached_property
    def reversed_core(self) -> Graph:
        return self._graph(self.targets, self.sources, None) if self.directed else self.core

    @cached_property
    def undirected_core(self) -> Graph:
        return _load_edges(self.sources, self.targets, None, len(self), True) if self.directed else self.core

    @cached_property
    def core_of_all_edges(self) -> Graph:
        """With parallel edges."""
        if self.multiplicity is None:
            return self.core
        return self._graph(np.repeat(self.sources, self.multiplicity), np.repeat(self.targets, self.multiplicity), None)

    def _graph(self, sources: Any, targets: Any, bits: Any) -> Graph:
        if self.directed:
            return _load_edges(sources, targets, bits, len(self), False)
        once = sources <= targets  # the rows have both ends of an edge
        return _load_edges(sources[once], targets[once], None if bits is None else bits[once], len(self), True)

    def weights(self, attribute: Any) -> Weights:
        """Of the arcs: the least of parallel edges, and 1 where the attribute is missing."""
        found = self._weights.get(attribute)
        if found is None:
            found = self._weights[attribute] = self._extracted(attribute)
        return found

    def _extracted(self, attribute: Any) -> Weights:
        original = self._original()
        if attribute is None or original is None:
            return Weights(self, np.ones(len(self.targets), np.int64), same=True)
        return _weights_of(self, original, attribute)

    @property
    def original(self) -> Any:
        """The graph that this was made of, as NetworkX has it."""
        original = self._original()
        return self.to_networkx() if original is None else original

    def to_networkx(self) -> Any:
        """Nodes, edges and the weights that were converted; other attributes are in the original only."""
        import networkx as nx

        kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph}
        graph = kinds.get((self.directed, self.is_multigraph()), nx.MultiDiGraph)()
        graph.add_nodes_from(self.nodes)
        kept = np.ones(len(self.targets), bool) if self.directed else self.sources <= self.targets
        arcs = np.repeat(np.flatnonzero(kept), self.edges_of_arcs()[kept])
        ends = self.called(self.sources[arcs]), self.called(self.targets[arcs])
        graph.add_edges_from(zip(*ends))
        for name, weights in self._weights.items():
            if name is not None and not graph.is_multigraph():
                nx.set_edge_attributes(graph, dict(zip(zip(*ends), weights.values[arcs].tolist())), name)
        return graph


class Weights:
    """Weights of arcs under one name, and graphs of this package that have them."""

    def __init__(self, graph: NxGraph, values: Any, same: bool):
        self._graph = weakref.ref(graph)
        self.values = values  # int64 or float64
        self.same = same  # whether all edges, parallel ones included, have one weight above zero

    @property
    def whole(self) -> bool:
        return self.values.dtype.kind == "i"

    @cached_property
    def bits(self) -> Any:
        """As they are kept; those that 32 bits cannot hold as they are would change the answer."""
        values = self.values
        if values.size and values.min() < 0:
            raise NotImplementedError("weights are negative")
        if self.whole:
            if values.size and values.max() >= 2**32:
                raise NotImplementedError("weights do not fit 32 bits")
            return values.astype(np.uint32)
        with np.errstate(over="ignore", invalid="ignore"):
            floats = values.astype(np.float32)
        if not (np.isfinite(floats).all() and (floats == values).all()):
            raise NotImplementedError("weights are no 32-bit floats, to which they would be rounded")
        return floats

    def _owner(self) -> NxGraph:
        graph = self._graph()
        assert graph is not None  # whoever asks holds it
        return graph

    @cached_property
    def core(self) -> Graph:
        owner = self._owner()
        return owner._graph(owner.sources, owner.targets, self.bits)

    @cached_property
    def reversed_core(self) -> Graph:
        owner = self._owner()
        return owner._graph(owner.targets, owner.sources, self.bits) if owner.directed else self.core

    def from_all(self, sources: list[int]) -> Graph:
        """With one more vertex, from which arcs of no length lead to all of these."""
        owner, more = self._owner(), len(sources)
        bits = np.concatenate([self.bits, np.zeros(more, self.bits.dtype)])
        starts = np.concatenate([owner.sources, np.full(more, len(owner), np.uint32)])
        ends = np.concatenate([owner.targets, np.array(sources, np.uint32)])
        return _load_edges(starts, ends, bits, len(owner) + 1, False)


def _load_edges(sources: Any, targets: Any, bits: Any, n: int, undirected: bool) -> Graph:
    return from_edges(sources, targets, bits, vertices=n, undirected=undirected)


def _offsets(counts: Any) -> Any:
    offsets = np.zeros(len(counts) + 1, np.uint64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _sums(places: Any, values: Any, n: int) -> Any:
    """Exact below 2**53."""
    return np.bincount(places, weights=values, minlength=n).astype(np.int64)


# ------------------------------------------------------------------------------------------- from NetworkX


def from_networkx(graph: Any, attributes: Iterable = ()) -> NxGraph:
    """`attributes`: those of edges that will be asked for."""
    nodes = list(graph)
    index = {node: place for place, node in enumerate(nodes)}
    rows = _neighbors(graph)
    offsets, targets = _rows(rows, index)
    multiplicity = None
    if graph.is_multigraph():
        keys = itertools.chain.from_iterable(row.values() for row in rows)
        multiplicity = np.fromiter(map(len, keys), np.int64, len(targets))
    made = NxGraph(nodes, index, offsets, targets, multiplicity, graph.is_directed())
    made._original = weakref.ref(graph)
    for attribute in attributes:
        made._weights[attribute] = _weights_of(made, graph, attribute)
    return made


def _plain(row: Any) -> dict:
    """Views of parts of a graph may say a wrong length; complements have neighbours without attributes."""
    if type(row) is dict:
        return row
    return dict(row) if isinstance(row, Mapping) else dict.fromkeys(row, {})


def _neighbors(graph: Any) -> list[dict]:
    """Of each node: its neighbours with the attributes of the edge, or of all parallel edges."""
    rows = [_plain(row) for _, row in graph.adjacency()]
    if graph.is_multigraph() and rows and any(type(keys) is not dict for row in rows for keys in row.values()):
        rows = [{node: dict(keys) for node, keys in row.items()} for row in rows]
    return rows


def _rows(rows: list, index: dict) -> tuple:
    """Offsets and targets, of dictionaries of neighbours."""
    return _core.rows_of_dictionaries(rows, index, list(index) == list(range(len(index))))


def _weights_of(graph: NxGraph, original: Any, attribute: Any) -> Weights:
    rows = _neighbors(original)
    if graph.multiplicity is None:
        values = _numbers(rows, attribute)
        return Weights(graph, values, same=_same(values))
    everything = _numbers([_plain(keys) for row in rows for keys in row.values()], attribute)
    starts = np.cumsum(graph.multiplicity) - graph.multiplicity
    least = np.minimum.reduceat(everything, starts) if len(everything) else everything
    return Weights(graph, least, same=_same(everything))


def _numbers(rows: list[dict], attribute: Any) -> Any:
    """int64 where all are whole, otherwise float64."""
    numbers = _core.numbers_of_dictionaries(rows, attribute)
    if numbers is None:
        raise NotImplementedError("weights are not all numbers that 64 bits hold")
    return numbers


def _same(values: Any) -> bool:
    return values.size == 0 or bool(values[0] > 0 and np.isfinite(values[0]) and (values == values[0]).all())


# ------------------------------------------------------------------------------------ from this package


def of(graph: Any) -> NxGraph:
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
    multiplicity, firsts = None, np.arange(len(targets))
    first = np.ones(len(targets), bool)
    first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    parallel = not first.all()
    if parallel:
        firsts = np.flatnonzero(first)
        multiplicity = np.diff(np.append(firsts, len(targets)))
        offsets, targets = _offsets(np.bincount(sources[firsts], minlength=len(nodes))), targets[firsts]
    index = {node: place for place, node in enumerate(nodes)}
    made = NxGraph(nodes, index, offsets, targets, multiplicity, not graph.symmetric)
    if not parallel:
        made.core = graph
    if weights is not None:
        kind = np.int64 if weights.dtype.kind == "u" else np.float64
        everything = weights.astype(kind)  # parallel arcs ascend by weight
        made._weights["weight"] = Weights(made, everything[firsts], same=_same(everything))
    return made
