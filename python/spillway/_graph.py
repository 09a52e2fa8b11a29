"""The graph: made from files, arrays and tables of other libraries; asked by algorithms."""

from __future__ import annotations

import contextlib
import operator
import os
from typing import Any, Iterable, Union

from . import _core
from ._ids import Ids
from ._progress import Progress, ticking
from ._registered import Algorithms, named
from ._registry import arguments, python_name, run_options
from ._results import Result
from ._tables import Plan
from .errors import BadInput, ClosedError, MissingFile

Vertex = Union[int, str]
Size = Union[int, str]

_PARQUET = (".parquet", ".pq")


class Graph(Algorithms):
    """A graph in memory, which does not change. Every algorithm is a method: `help(g.bfs)`.

    `g.close()`, or the end of a `with` block, gives its memory back at once; answers stay.
    """

    __networkx_backend__ = "spillway"  # NetworkX' functions take graphs of this package, too

    def __init__(self, core: Any, labels: list | None = None):
        if not isinstance(core, _core.Graph):
            raise TypeError("graphs are made by spillway.read, spillway.from_edges and others like them")
        self._core, self._process = core, os.getpid()
        self._ids = Ids(core.ids(), labels)
        self._labels = labels
        self._nx: Any = None  # as NetworkX' functions need it, if one was called

    def _open(self) -> Any:
        """What computes; the exception says why nothing does."""
        core = self._core
        if core is None:
            raise ClosedError("this graph is closed")
        if self._process != os.getpid():
            raise ClosedError(
                "this graph was made before the process was forked, and its threads stayed there; make the graph in "
                "this process, or start processes by 'spawn' (multiprocessing.set_start_method)"
            )
        return core

    def close(self) -> None:
        """Gives the memory of the graph back. What its algorithms have answered stays."""
        self._core = self._nx = None

    @property
    def closed(self) -> bool:
        return self._core is None

    def __enter__(self) -> Graph:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def vertex_count(self) -> int:
        return self._open().vertex_count

    @property
    def arc_count(self) -> int:
        """An undirected edge is two arcs."""
        return self._open().arc_count

    @property
    def symmetric(self) -> bool:
        """Whether every arc is known to have its reverse."""
        return self._open().symmetric

    def is_directed(self) -> bool:
        """As NetworkX asks: unless it is known that every arc has its reverse."""
        return not self.symmetric

    def is_multigraph(self) -> bool:
        """As NetworkX asks: whether there are parallel arcs."""
        from .nx.graph import converted

        self._open()
        return converted(self).is_multigraph()

    @property
    def weight_type(self) -> str:
        """none, u32 or f32."""
        return self._open().weights

    @property
    def vertex(self) -> Any:
        """The ids of all vertices, in the order of the columns of results."""
        self._open()
        return self._ids.array

    @property
    def memory(self) -> int:
        """Bytes that the graph holds, beside mapped files."""
        return self._open().memory

    @property
    def notes(self) -> list[str]:
        """What a person should know of how the graph was read: gaps in ids, columns that were ignored."""
        return self._open().report["notes"]

    def rows(self) -> tuple:
        """Offsets, targets and weights (None: there are none) of the out-edges, without a copy."""
        return self._open().rows(None)

    def to_scipy(self) -> Any:
        """The adjacency matrix; arcs without weights are ones."""
        import numpy
        import scipy.sparse

        offsets, targets, weights = self.rows()
        values = numpy.ones(len(targets), numpy.int64) if weights is None else weights
        size = self.vertex_count
        return scipy.sparse.csr_array((values, targets.astype(numpy.int64), offsets.astype(numpy.int64)), (size, size))

    def with_unit_weights(self, *, threads: int = 0) -> Graph:
        """The same graph, every arc of weight 1."""
        return Graph(self._open().with_unit_weights(threads, None), self._labels)

    def with_random_weights(self, seed: int = 1, least: int = 1, most: int = 64, *, threads: int = 0) -> Graph:
        """The same graph with whole weights at random, the same for both directions of an edge."""
        return Graph(self._open().with_random_weights(seed, least, most, threads, None), self._labels)

    def save(self, path: str | os.PathLike, format: str = "auto", *, progress: Progress = None) -> list[str]:
        """Writes the graph in the format that the suffix names. Returns what that format has no place for."""
        core = self._open()
        if self._labels is not None:
            raise ValueError("the vertices of this graph are Python objects, for which files have no place")
        with ticking(progress) as tick:
            return core.save(os.fspath(path), format, tick)

    def plan(self, algorithm: str, *given: Any, **named_values: Any) -> Plan:
        """What running an algorithm would do, and why, without running it: a table of all candidates."""
        asked, core = named(algorithm), self._open()
        first = self._first_vertex(asked, given, named_values)
        values, options = arguments(asked, self._ids, given, {**first, **named_values})
        with ticking(options.pop("progress", None)) as tick:
            return Plan(asked["name"], _core.plan(core, asked["name"], values, options, tick))

    def _first_vertex(self, asked: dict, given: tuple, named_values: dict) -> dict:
        """From any vertex the plan is the same: if none is given, it is the first."""
        source = next((python_name(name) for name, _, _, kind in asked["parameters"] if kind == "source"), None)
        if source is None or given or source in named_values or self.vertex_count == 0:
            return {}
        return {source: self._ids.array[0]}

    def _run(self, algorithm: dict, given: tuple, named_values: dict) -> Any:
        core = self._open()
        values, options = arguments(algorithm, self._ids, given, named_values)
        if algorithm["needs_weights"] and core.weights == "none" and core.arc_count > 0:
            raise BadInput(
                f"{algorithm['name']} needs weights and the graph has none; with_unit_weights() gives every arc "
                "weight 1, with_random_weights(seed) random weights from 1 to 64"
            )
        with ticking(options.pop("progress", None)) as tick:
            answer = _core.run(core, algorithm["name"], values, options, tick)
        if answer.graph is not None:
            return self._part(answer.graph)
        return Result(answer, self._ids, algorithm, algorithm["name"])

    def _part(self, core: Any) -> Graph:
        """A graph of some of the vertices, which are called as here."""
        if self._labels is None:
            return Graph(core)
        return Graph(core, [self._labels[place] for place in Ids(core.ids()).array])

    def __len__(self) -> int:
        return self.vertex_count

    def __repr__(self) -> str:
        if self._core is None:
            return "<spillway.Graph, closed>"
        weights = "" if self.weight_type == "none" else f", {self.weight_type} weights"
        both = ", symmetric" if self.symmetric else ""
        return f"<spillway.Graph: {self.vertex_count:,} vertices, {self.arc_count:,} arcs{both}{weights}>"


def _load(make: Any, options: dict) -> Any:
    progress = options.pop("progress", None)
    run_options({name: options[name] for name in ("threads",) if options.get(name) is not None})
    with ticking(progress) as tick:
        return make(options, tick)


def read(
    path: str | os.PathLike,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    format: str = "auto",
    ids: str = "auto",
    vertices: int | None = None,
    weight_type: str | None = None,
    header: str = "auto",
    undirected: bool = False,
    symmetrize: bool = False,
    dedup: bool = False,
    drop_loops: bool = False,
    edges: bool = False,
    host_memory: Size | None = None,
    temporary: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Graph:
    """A graph from a file of any format that the command line reads, or from a table in a Parquet file.

    source, target, weight: columns of text, by name or by position from 1; weight="none" ignores weights.
    ids: auto, dense (every number up to the largest is a vertex), sparse or string.
    vertices: ids are 0 to N-1, with or without edges.
    weight_type: read weights as u32 or f32, or not at all: none.
    header: whether the first line names columns: auto, yes or no.
    undirected, symmetrize, dedup, drop_loops: changes to the arcs; none happens unasked.
    edges: keep edges in the order of the file, for method="edges".
    host_memory: what loading and running may hold, as bytes or "4GiB" (default: what is free).
    temporary: a folder for what memory does not hold.
    """
    options = {name: value for name, value in locals().items() if name != "path"}  # as the core takes them
    name = os.fspath(path)
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if name != "-" and not os.path.exists(name):
        raise MissingFile(2, "there is no such file", name)
    if name.lower().endswith(_PARQUET):
        from ._converters import from_parquet

        return from_parquet(name, options)
    return Graph(_load(lambda rest, tick: _core.read(name, rest, tick), options))


def from_edges(
    source: Any,
    target: Any,
    weight: Any = None,
    *,
    vertices: int | Iterable[Vertex] | None = None,
    ids: str = "auto",
    weight_type: str | None = None,
    undirected: bool = False,
    symmetrize: bool = False,
    dedup: bool = False,
    drop_loops: bool = False,
    edges: bool = False,
    host_memory: Size | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Graph:
    """A graph of edges from each source to the target beside it.

    source, target: ids, whole numbers or strings: NumPy, CuPy, Torch, Arrow, pandas and polars arrays, lists, and
    whatever has DLPack or the buffer protocol. Numbers of 32 and 64 bits are not copied.
    weight: numbers; whole ones are kept as u32, others as f32.
    vertices: N: ids are 0 to N-1; or ids that are in the graph with or without edges.
    Other options are those of `read`.
    """
    options = {name: value for name, value in locals().items() if name not in ("source", "target", "weight")}
    from . import _arrays

    listed: Any = []
    with contextlib.suppress(TypeError):
        options["vertices"] = vertices = operator.index(vertices)  # type: ignore[arg-type]
    if vertices is not None and not isinstance(vertices, int):
        listed, options["vertices"] = _arrays.ids(vertices, "vertex"), None
    elif vertices is not None and vertices < 0:
        raise ValueError(f"vertices is {vertices}; it must be 0 or more")
    sources, targets, listed = _arrays.same_type(_arrays.ids(source, "source"), _arrays.ids(target, "target"), listed)
    bits = _arrays.weights(weight, weight_type)
    if bits is not None and len(bits) != len(sources):
        raise ValueError(f"{len(bits)} weights for {len(sources)} edges")
    del options["weight_type"]
    return Graph(_load(lambda rest, tick: _core.from_edges(sources, targets, bits, listed, rest, tick), options))


def generate(
    kind: str,
    *,
    seed: int = 1,
    undirected: bool = False,
    dedup: bool = False,
    drop_loops: bool = False,
    weight_type: str = "none",
    weight_min: float = 1,
    weight_max: float = 64,
    host_memory: Size | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **parameters: Any,
) -> Graph:
    """A graph from a few numbers, as `spillway generate` makes it: generate("kron", scale=16)."""
    options = {name: value for name, value in locals().items() if name not in ("kind", "parameters")}
    values = {name.replace("_", "-"): str(value) for name, value in parameters.items()}
    return Graph(_load(lambda rest, tick: _core.generate(kind, values, rest, tick), options))
