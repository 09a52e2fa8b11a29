"""Graphs from arrays of all kinds, and from files of all formats."""

from __future__ import annotations

import array
import gzip

import numpy as np
import pytest

import spillway as sp

ARCS = {(3, 7): 2, (7, 3): 5, (7, 12): 1}
SOURCES, TARGETS, WEIGHTS = [3, 7, 7], [7, 3, 12], [2, 5, 1]


def arcs(graph: sp.Graph) -> dict:
    offsets, targets, weights = graph.rows()
    ids = graph.vertex.tolist()
    found = {}
    for v in range(len(ids)):
        for i in range(int(offsets[v]), int(offsets[v + 1])):
            found[ids[v], ids[targets[i]]] = None if weights is None else weights[i].item()
    return found


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"])
def test_numbers_of_every_type(dtype):
    graph = sp.from_edges(np.array(SOURCES, dtype), np.array(TARGETS, dtype), np.array(WEIGHTS, dtype))
    assert arcs(graph) == ARCS and graph.weight_type == "u32"


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        lambda v: array.array("q", v),
        lambda v: memoryview(array.array("i", v)),
        lambda v: np.array(v, dtype=object),
        lambda v: np.repeat(v, 2)[::2],
        lambda v: np.array(v)[::-1][::-1],
        lambda v: np.stack([v, v], axis=1)[:, 0],
        lambda v: np.array([(0, i) for i in v], dtype=[("a", "i1"), ("b", "i4")])["b"],
    ],
    ids="list tuple iterator array buffer objects stride reversed column packed".split(),
)
def test_whatever_holds_numbers(make):
    assert arcs(sp.from_edges(make(SOURCES), make(TARGETS), WEIGHTS)) == ARCS


def test_numbers_by_dlpack():
    class OnlyDlpack:
        def __init__(self, values):
            self.values = np.array(values)

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    assert arcs(sp.from_edges(OnlyDlpack(SOURCES), OnlyDlpack(TARGETS), OnlyDlpack(WEIGHTS))) == ARCS


def test_types_may_differ():
    assert arcs(sp.from_edges(np.array(SOURCES, "i4"), np.array(TARGETS, "u8"))).keys() == ARCS.keys()
    large = sp.from_edges(np.array([2**63], "u8"), np.array([1], "i4"))
    assert large.vertex.tolist() == [1, 2**63]
    with pytest.raises(sp.BadInput, match="not negative"):
        sp.from_edges(np.array([2**63], "u8"), np.array([-1], "i4"))


@pytest.mark.parametrize("make", [list, np.array, lambda v: np.array(v, object), lambda v: np.array(v, "S")])
def test_names(make):
    graph = sp.from_edges(make(["ann", "bob"]), make(["bob", "cy"]))
    assert graph.vertex.tolist() == ["ann", "bob", "cy"]
    assert graph.bfs("ann").level.tolist() == [0, 1, 2]


def test_odd_names():
    names = ["", "a,b", '"', "@x", "ü", "日本", "\udcff", "a\nb", "-1", "auto"]
    graph = sp.from_edges(names, names[1:] + names[:1])
    assert sorted(graph.vertex.tolist()) == sorted(names)
    for name in names[1:]:
        assert graph.bfs(name).top(1) == [(name, 0)]
    assert graph.induced(names[1:4]).vertex_count == 3
    assert graph.bc(source=["auto"]).centrality.sum() > 0


def test_weights_are_whole_or_floats():
    def kind(weight, **options):
        return sp.from_edges([0], [1], weight, **options).weight_type

    assert kind([1]) == "u32" and kind([1.5]) == "f32" and kind([-1]) == "f32" and kind(None) == "none"
    assert kind(np.array([1], "f4")) == "f32" and kind([True]) == "u32" and kind([2], weight_type="f32") == "f32"
    assert kind([2], weight_type="none") == "none"
    assert kind([2**40], weight_type="f32") == "f32"


def test_vertices_without_edges():
    assert sp.from_edges([1], [2], vertices=4).vertex.tolist() == [0, 1, 2, 3]
    assert sp.from_edges([1], [2], vertices=[9, 2]).vertex.tolist() == [1, 2, 9]
    assert sp.from_edges(["a"], ["b"], vertices=["z", "a"]).vertex.tolist() == ["a", "b", "z"]
    assert sp.from_edges([5], [2], ids="dense").vertex_count == 6
    assert sp.from_edges([], []).vertex_count == 0
    assert sp.from_edges([], [], vertices=3).cc().components == 3
    assert sp.from_edges([], [], vertices=["a", "b"]).vertex.tolist() == ["a", "b"]


def test_a_count_of_vertices_may_be_numpys():
    assert sp.from_edges([0, 1], [1, 2], vertices=np.int64(5)).vertex_count == 5
    assert sp.from_edges([0, 1], [1, 2], vertices=[7]).vertex.tolist() == [0, 1, 2, 7]


def test_changes_are_asked_for():
    assert sp.from_edges([0, 0, 1], [1, 1, 1]).arc_count == 3
    assert sp.from_edges([0, 0, 1], [1, 1, 1], undirected=True).arc_count == 5
    assert sp.from_edges([0, 0, 1], [1, 1, 1], dedup=True, drop_loops=True).arc_count == 1
    assert sp.from_edges([0], [1], undirected=True).symmetric
    assert sp.from_edges([0, 1], [1, 2], edges=True).pagerank(method="edges").converged


@pytest.mark.parametrize("suffix", ["txt", "csv", "tsv", "mtx", "graph", "sg", "wsg", "bcsr", "bwcsr", "spill"])
def test_files_that_are_written_are_read(suffix, tmp_path):
    weighted = suffix in ("wsg", "bwcsr")
    both = suffix == "graph"  # METIS
    made = sp.from_edges(SOURCES, TARGETS, WEIGHTS if weighted else None, undirected=both, dedup=both)
    made.save(tmp_path / f"g.{suffix}")
    read = sp.read(tmp_path / f"g.{suffix}")
    assert (read.vertex_count, read.arc_count, read.symmetric) == (made.vertex_count, made.arc_count, made.symmetric)
    if suffix in ("txt", "csv", "tsv", "spill"):
        assert arcs(read) == arcs(made)


def test_columns_by_name_and_compression(tmp_path):
    path = tmp_path / "follows.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("day,follower,followee,amount\n1,ann,bob,2.5\n2,bob,cy,1\n")
    graph = sp.read(path, source="follower", target="followee", weight="amount")
    assert arcs(graph) == {("ann", "bob"): 2.5, ("bob", "cy"): 1.0}
    assert sp.read(path, source=2, target=3, weight="none").weight_type == "none"


def test_notes_tell_of_gaps(tmp_path):
    (tmp_path / "gaps.txt").write_text("1 5\n5 9\n")
    assert "ids have gaps" in sp.read(tmp_path / "gaps.txt").notes[0]


def test_other_weights(small):
    assert small.with_unit_weights().sssp(0).distance.tolist() == [0, 1, 2, np.inf]
    assert small.with_random_weights(seed=3).weight_type == "u32"


def test_generated_graphs():
    graph = sp.generate("kron", scale=8, undirected=True, dedup=True)
    assert graph.symmetric and graph.vertex_count == 256
    with pytest.raises(ValueError, match="scale"):
        sp.generate("kron", scale="x")


def test_a_large_graph_of_arrays_is_that_of_the_file(tmp_path):
    rng = np.random.default_rng(7)
    for high in (5_000, 2**45):  # indexed with, looked up
        u, v = rng.integers(0, high, (2, 50_000))
        np.savetxt(tmp_path / "g.txt", np.stack([u, v], 1), fmt="%d")
        made, read = sp.from_edges(u, v, threads=2), sp.read(tmp_path / "g.txt", ids="sparse")
        assert np.array_equal(made.vertex, read.vertex)
        for a, b in zip(made.rows()[:2], read.rows()[:2]):
            assert np.array_equal(a, b)
