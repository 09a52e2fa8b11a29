"""Graphs from the tables and graphs of other libraries."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import spillway as sp
from test_graphs import arcs

EXPECTED = {("a", "b"): 1.5, ("b", "c"): 2.0}
COLUMNS = {"src": ["a", "b"], "dst": ["b", "c"], "w": [1.5, 2.0], "n": [10, 20], "m": [20, 30]}


def test_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS)
    assert arcs(sp.from_pandas(frame, "src", "dst", "w")) == EXPECTED
    assert arcs(sp.from_pandas(frame, "n", "m")).keys() == {(10, 20), (20, 30)}
    assert arcs(sp.from_pandas(frame.astype({"src": "category", "dst": "category"}), "src", "dst", "w")) == EXPECTED
    assert arcs(sp.from_pandas(frame.astype({"n": "Int64", "m": "Int64"}), "n", "m")).keys() == {(10, 20), (20, 30)}
    with pytest.raises(sp.BadInput, match="no column 'nix'; there are src, dst"):
        sp.from_pandas(frame, "nix", "dst")
    with pytest.raises(TypeError, match="source 1 is"):
        sp.from_pandas(pd.DataFrame({"src": ["a", None], "dst": ["b", "c"]}), "src", "dst")


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(COLUMNS)
    for each in (frame, frame.lazy(), frame.cast({"src": pl.Categorical, "dst": pl.Categorical})):
        assert arcs(sp.from_polars(each, "src", "dst", "w")) == EXPECTED
    assert arcs(sp.from_polars(frame, "n", "m")).keys() == {(10, 20), (20, 30)}
    with pytest.raises(sp.BadInput, match="1 nulls"):
        sp.from_polars(pl.DataFrame({"src": [1, None], "dst": [1, 2]}), "src", "dst")


def test_arrow_and_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = pa.table(COLUMNS)
    assert arcs(sp.from_arrow(table, "src", "dst", "w")) == EXPECTED
    assert arcs(sp.from_arrow(table.to_batches()[0], "n", "m")).keys() == {(10, 20), (20, 30)}
    assert arcs(sp.from_arrow(pa.concat_tables([table, table]), "n", "m", dedup=True)).keys() == {(10, 20), (20, 30)}
    pyarrow.parquet.write_table(table, tmp_path / "edges.parquet")
    assert arcs(sp.read(tmp_path / "edges.parquet", source="src", target="dst", weight="w")) == EXPECTED
    assert arcs(sp.read(tmp_path / "edges.parquet")).keys() == EXPECTED.keys()
    with pytest.raises(sp.BadInput, match="no column 'nix'"):
        sp.read(tmp_path / "edges.parquet", source="nix")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
def test_scipy(kind):
    matrix = scipy.sparse.random_array((30, 30), density=0.1, rng=np.random.default_rng(1)).asformat(kind)
    graph = sp.from_scipy(matrix)
    assert graph.vertex_count == 30 and graph.weight_type == "f32"
    assert np.allclose(graph.to_scipy().toarray(), matrix.toarray())
    assert sp.from_scipy(matrix, weights=False).weight_type == "none"
    assert sp.from_scipy(matrix != 0).weight_type == "none"
    with pytest.raises(ValueError, match="square"):
        sp.from_scipy(scipy.sparse.csr_array((2, 3)))
    with pytest.raises(TypeError, match="sparse matrix"):
        sp.from_scipy([[1]])


def test_scipy_keeps_nothing_of_the_matrix():
    matrix = scipy.sparse.csr_array(np.array([[0, 1], [1, 0]]))
    graph = sp.from_scipy(matrix)
    matrix.indices[:] = 1_000_000
    matrix.indptr[:] = 1_000_000
    assert graph.cc().components == 1


def test_networkx():
    graph = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "b")])
    graph.add_node("z")
    ours = sp.from_networkx(graph)
    assert ours.vertex.tolist() == ["a", "b", "z"] and ours.arc_count == 3 and not ours.symmetric
    assert sp.from_networkx(nx.path_graph(3)).symmetric
    assert sp.from_networkx(nx.path_graph(3)).weight_type == "none"
    some = nx.Graph([(0, 1, {"weight": 3}), (1, 2, {})])
    assert sp.from_networkx(some).sssp(0).distance.tolist() == [0, 3, 4]
    assert sp.from_networkx(some, weight=None).weight_type == "none"
    assert sp.from_networkx(nx.Graph()).vertex_count == 0
    with pytest.raises(ValueError, match="Python objects"):
        sp.from_networkx(nx.Graph([((0, 0), (0, 1))])).save("x.txt")


def test_igraph():
    ig = pytest.importorskip("igraph")
    graph = ig.Graph([(0, 1), (1, 2)], directed=True, vertex_attrs={"name": ["a", "b", "c"]})
    graph.es["weight"] = [1.5, 2.0]
    assert arcs(sp.from_igraph(graph)) == EXPECTED
    lone = sp.from_igraph(ig.Graph(n=4, edges=[(0, 1)]))
    assert lone.vertex_count == 4 and lone.symmetric
