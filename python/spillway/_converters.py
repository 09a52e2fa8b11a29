"""Graphs from the tables and graphs of other libraries. Loaded when one of these functions is called."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays
from ._graph import Graph, from_edges
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
    try:
        names = pyarrow.parquet.read_schema(path).names
    except pyarrow.ArrowInvalid as error:
        raise BadInput(f"{path}: {error}") from None
    if len(names) < 2:
        raise BadInput(f"{path} has one column, {names[0]!r}; edges have two ends" if names else f"{path} has no columns")
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
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise TypeError(f"a sparse matrix is expected, not {type(matrix).__name__}")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix is {' × '.join(map(str, matrix.shape))}; that of a graph is square")
    rows, n = matrix.tocsr(), matrix.shape[0]
    sources = np.repeat(np.arange(n, dtype=rows.indices.dtype), np.diff(rows.indptr))
    values = rows.data if weights and rows.dtype != bool else None
    return from_edges(sources, rows.indices, values, vertices=n, **options)


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
    if all(isinstance(node, str) for node in nodes) and _are_names(nodes):
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
    if numbers is not None:
        return numbers if found > 0 else None
    edges = [keys for row in adjacency.neighbors_of(graph) for keys in row.values()]
    if graph.is_multigraph():
        edges = [data for keys in edges for data in keys.values()]
    return np.array([data.get(weight, 1) for data in edges])  # of NumPy's kinds; others are refused


def _are_names(nodes: list[str]) -> bool:
    """Whether files can have them, and a question name them."""
    try:
        return "" not in nodes and bool("".join(nodes).encode("utf-8", "surrogateescape") or not nodes)
    except UnicodeEncodeError:
        return False


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
