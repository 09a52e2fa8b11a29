"""Graphs from the tables and graphs of other libraries. Loaded when one of these functions is called."""

from __future__ import annotations

from typing import Any

from . import _arrays, _core
from ._graph import Graph, _load, from_edges
from .errors import BadInput
from .nx import graph as adjacency


def _columns(column: Any, names: tuple) -> list:
    """Columns of a table by their names; None stays."""
    return [None if name is None else column(name) for name in names]


def from_pandas(frame: Any, source: Any = "source", target: Any = "target", weight: Any = None, **options: Any) -> Graph:
    """A graph of the rows of a DataFrame: `source`, `target` and `weight` name its columns."""

    def column(name: Any) -> Any:
        if name not in frame.columns:
            raise BadInput(f"there is no column {name!r}; there are {', '.join(map(str, frame.columns))}")
        series = frame[name]
        categories = getattr(series.dtype, "categories", None)
        return series if categories is None else series.astype(categories.dtype)

    return from_edges(*_columns(column, (source, target, weight)), **options)


def from_polars(frame: Any, source: str = "source", target: str = "target", weight: Any = None, **options: Any) -> Graph:
    """A graph of the rows of a DataFrame or LazyFrame of polars."""
    frame = frame.collect() if hasattr(frame, "collect") else frame
    return from_arrow(frame.to_arrow(), source, target, weight, **options)


def from_arrow(table: Any, source: str = "source", target: str = "target", weight: Any = None, **options: Any) -> Graph:
    """A graph of the rows of an Arrow table, or of whatever exports one by the Arrow C data interface."""
    import pyarrow

    if not isinstance(table, (pyarrow.Table, pyarrow.RecordBatch)):
        table = pyarrow.table(table)

    def column(name: str) -> Any:
        if name not in table.schema.names:
            raise BadInput(f"there is no column {name!r}; there are {', '.join(table.schema.names)}")
        values = table.column(name)
        if values.null_count > 0:
            raise BadInput(f"column {name!r} has {values.null_count} nulls; edges have two ends")
        return values

    return from_edges(*_columns(column, (source, target, weight)), **options)


def from_parquet(path: str, options: dict) -> Graph:
    """For `read`: only the columns that are asked for are read."""
    import pyarrow.parquet

    given = {name: value for name, value in options.items() if value is not None}
    idle = {"format", "header", "temporary"}
    source, target, weight = (given.pop(name, None) for name in ("source", "target", "weight"))
    names = pyarrow.parquet.read_schema(path).names
    source, target = source or names[0], target or names[1]
    wanted = [name for name in (source, target, weight) if name not in (None, "none")]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise BadInput(f"{path}: there is no column {missing[0]!r}; there are {', '.join(names)}")
    table = pyarrow.parquet.read_table(path, columns=wanted)
    rest = {name: value for name, value in given.items() if name not in idle}
    return from_arrow(table, source, target, None if weight == "none" else weight, **rest)


def from_scipy(matrix: Any, *, weights: bool = True, **options: Any) -> Graph:
    """A graph of the entries of a square sparse matrix: from the row to the column. Boolean data is no weight."""
    import numpy as np
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise TypeError(f"a sparse matrix is expected, not {type(matrix).__name__}")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix is {' × '.join(map(str, matrix.shape))}; that of a graph is square")
    rows = matrix.tocsr()
    bits = _arrays.weights(rows.data) if weights and rows.dtype != bool else None
    targets = rows.indices.astype(np.uint32, copy=False)
    offsets = rows.indptr.astype(np.uint64, copy=False)
    return Graph(_load(lambda rest, tick: _core.from_csr(offsets, targets, bits, rest, tick), dict(options)))


def from_networkx(graph: Any, weight: str | None = "weight", **options: Any) -> Graph:
    """A graph of NetworkX, its isolated nodes included. Nodes may be any objects; results have them again.

    weight: the attribute of edges; those that lack it weigh 1. Graphs whose edges all lack it have no weights.
    """
    rows = adjacency.from_networkx(graph)
    sources, targets = rows.repeated(rows.sources), rows.repeated(rows.targets)
    weights = _weights_of(graph, weight)
    options.setdefault("undirected", not graph.is_directed())
    if not graph.is_directed():
        once = sources <= targets  # the rows have both ends of an edge
        sources, targets, weights = sources[once], targets[once], None if weights is None else weights[once]
    nodes = rows.nodes
    if all(isinstance(node, str) for node in nodes):
        return from_edges(rows.nodes_at(sources), rows.nodes_at(targets), weights, vertices=nodes, **options)
    if not all(_is_id(node) for node in nodes):
        numbered = from_edges(sources, targets, weights, vertices=len(nodes), **options)
        return Graph(numbered._core, nodes)
    ids = _arrays.ids(nodes, "node")
    are_dense = len(ids) > 0 and int(ids.max()) < len(ids)
    return from_edges(ids[sources], ids[targets], weights, vertices=len(ids) if are_dense else ids, **options)


def _weights_of(graph: Any, weight: str | None) -> Any:
    if weight is None:
        return None
    numbers, found = adjacency.numbers_of(adjacency.neighbors_of(graph), graph.is_multigraph(), weight)
    if numbers is None:
        raise BadInput(f"not every {weight!r} of the edges is a whole number below 2**63 or a float")
    return numbers if found > 0 else None


def _is_id(node: Any) -> bool:
    return isinstance(node, int) and not isinstance(node, bool) and 0 <= node < 2**63


def from_igraph(graph: Any, weight: str | None = "weight", **options: Any) -> Graph:
    """A graph of igraph. Vertices are called by their attribute `name`, if all have one of their own."""
    ends = graph.get_edgelist()
    sources, targets = [u for u, _ in ends], [v for _, v in ends]
    weights = graph.es[weight] if weight in graph.es.attributes() else None
    options.setdefault("undirected", not graph.is_directed())
    names = graph.vs["name"] if "name" in graph.vs.attributes() else []
    if len(set(names)) < graph.vcount() or not all(isinstance(name, str) for name in names):
        return from_edges(sources, targets, weights, vertices=graph.vcount(), **options)
    return from_edges([names[u] for u in sources], [names[v] for v in targets], weights, vertices=names, **options)
