"""Wrong input is a clear exception, never a crash."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import spillway as sp


@pytest.mark.parametrize(
    "source, target, weight, error, words",
    [
        ([0, 1], [1], None, ValueError, "2 sources for 1 targets"),
        ([0, 1], [1, 0], [1], ValueError, "1 weights for 2 edges"),
        ([-1], [1], None, sp.BadInput, "source 0 is -1"),
        (np.array([0, 3, -7]), np.arange(3), None, sp.BadInput, "source 2 is -7"),
        (np.array([-7], dtype=np.int8), np.array([1]), None, sp.BadInput, "source 0 is -7"),
        ([1.5], [1], None, TypeError, "source 0 is 1.5"),
        (np.array([1.5]), [1], None, TypeError, "array of float64"),
        ([1, "a"], [1, 2], None, TypeError, "source 1 is 'a'"),
        (["a", 1], [1, 2], None, TypeError, "source 1 is 1"),
        (np.array([1, "a"], dtype=object), [1, 2], None, TypeError, "source 1 is 'a'"),
        ([1, None], [1, 2], None, TypeError, "source 1 is None"),
        ([True], [1], None, TypeError, "source 0 is True"),
        (np.array([True]), [1], None, TypeError, "array of bool"),
        (["a"], [1], None, ValueError, "different types"),
        ([2**64], [1], None, sp.BadInput, "too large"),
        (np.zeros((2, 2), int), [1], None, ValueError, "2 dimensions"),
        (None, [1], None, TypeError, "NoneType"),
        (3, [1], None, TypeError, "source is int"),
        ("abc", [1], None, TypeError, "source is str"),
        ([1], [1], [float("nan")], sp.BadInput, "weight 0 is nan"),
        ([1], [1], [np.inf], sp.BadInput, "weight 0 is inf"),
        ([1], [1], [1e300], sp.BadInput, "no finite 32-bit float"),
        ([1], [1], [2**32], sp.BadInput, "does not fit 32 bits"),
        ([1], [1], ["x"], TypeError, "weights are numbers"),
        ([1], [1], [[1]], ValueError, "2 dimensions"),
    ],
)
def test_edges(source, target, weight, error, words):
    with pytest.raises(error, match=words):
        sp.from_edges(source, target, weight)


def test_vertices_bound_ids():
    assert sp.from_edges([0], [1], vertices=5).vertex_count == 5
    with pytest.raises(sp.BadInput, match="vertex 1 in a graph of 1 vertices"):
        sp.from_edges([0], [1], vertices=1)
    with pytest.raises(ValueError, match="vertices is -1"):
        sp.from_edges([0], [1], vertices=-1)


@pytest.mark.parametrize(
    "ask, error, words",
    [
        (lambda g: g.bfs(), TypeError, "bfs: missing a required argument: 'source'"),
        (lambda g: g.bfs(0, 1), TypeError, "too many positional"),
        (lambda g: g.bfs(0, depth=3), TypeError, "unexpected keyword argument 'depth'"),
        (lambda g: g.bfs(99), sp.BadInput, "vertex '99' is not in the graph"),
        (lambda g: g.bfs(-1), sp.BadInput, "vertex '-1' is not in the graph"),
        (lambda g: g.bfs([0, 1]), TypeError, "a vertex is a whole number or a string"),
        (lambda g: g.bfs(1.5), TypeError, "source is 1.5"),
        (lambda g: g.sssp(0), sp.BadInput, "needs weights"),
        (lambda g: g.pagerank(damping=7), ValueError, "--damping is 7"),
        (lambda g: g.pagerank(iterations=[1]), TypeError, "iterations is"),
        (lambda g: g.pagerank(threads=0), ValueError, "threads is 0"),
        (lambda g: g.pagerank(threads="2"), ValueError, "threads is '2'"),
        (lambda g: g.pagerank(device="abacus"), ValueError, "--device takes auto, cpu, cuda"),
        (lambda g: g.pagerank(device=3), TypeError, "device is 3"),
        (lambda g: g.pagerank(method="nix"), ValueError, "no method 'nix'"),
        (lambda g: g.pagerank(device_memory="4GX"), ValueError, "such as '4GiB'"),
        (lambda g: g.tc(per_vertex="yes"), TypeError, "True or False"),
        (lambda g: g.bc(source=[0, 77]), sp.BadInput, "vertex '77' is not in the graph"),
        (lambda g: g.induced([]), ValueError, "induced needs a value"),
        (lambda g: g.plan("nothing"), ValueError, "there is no algorithm 'nothing'"),
        (lambda g: g.tc().top(), ValueError, "no columns"),
        (lambda g: g.save("x.unknown"), ValueError, "no format is written under this suffix"),
    ],
)
def test_questions(small, ask, error, words):
    with pytest.raises(error, match=words):
        ask(small)


def test_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        sp.read(tmp_path / "missing.txt")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("0,1\n1,2\n2,x\n")
    with pytest.raises(sp.BadInput, match="wrong.csv"):
        sp.read(wrong, ids="sparse")
    wrong.write_bytes(b"")
    with pytest.raises(sp.BadInput, match="empty"):
        sp.read(wrong)
    with pytest.raises(ValueError, match="ids is one of auto, dense"):
        sp.read(wrong, ids="roman")
    with pytest.raises(ValueError, match="unknown format"):
        wrong.write_text("0 1\n")
        sp.read(wrong, format="roman")


def test_budgets(tmp_path):
    with pytest.raises(MemoryError, match="needs at least"):
        sp.from_edges(np.arange(100_000), np.arange(100_000), host_memory="1MiB")
    with pytest.raises(sp.DoesNotFit):
        sp.from_edges([0], [1], host_memory=100)
    with pytest.raises(ValueError, match="a number of bytes or a size"):
        sp.from_edges([0], [1], host_memory="much")


def test_exceptions_are_one_family():
    for each in (sp.BadInput, sp.UsageError, sp.DoesNotFit, sp.DeviceError, sp.ClosedError, sp.MissingFile):
        assert issubclass(each, sp.Error)
    assert issubclass(sp.DoesNotFit, MemoryError) and issubclass(sp.UsageError, ValueError)


def test_a_closed_graph(small):
    r = small.bfs(0)
    with small as g:
        assert g.vertex_count == 4
    assert small.closed and repr(small) == "<spillway.Graph, closed>"
    for ask in (lambda: small.bfs(0), lambda: small.vertex_count, lambda: small.plan("bfs"), small.rows):
        with pytest.raises(sp.ClosedError, match="closed"):
            ask()
    small.close()
    assert r.vertex.tolist() == [0, 1, 2, 5] and r.level.tolist() == [0, 1, 2, -1]


def test_graphs_are_made_by_functions():
    with pytest.raises(TypeError, match="graphs are made by spillway.read"):
        sp.Graph(None)


def test_a_folder_that_cannot_be_written(small, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert small.pagerank().converged
    with pytest.raises(sp.Error):
        small.save("/proc/nowhere/graph.spill")


@pytest.mark.parametrize(
    "make",
    [
        lambda: sp.from_edges([0], [1], undirected="no"),
        lambda: sp.from_edges([0], [1], ids=3),
        lambda: sp.generate("kron", scale=4, seed=-1),
        lambda: sp.from_scipy(scipy.sparse.eye_array(3).tocsr(), bogus=1),
        lambda: sp.from_scipy(scipy.sparse.eye_array(3).tocsr(), symmetrize="no"),
        lambda: sp.pagerank(nx.path_graph(3)),
        lambda: sp.from_edges([0], [1]).pagerank(deterministic=1),
        lambda: list(sp.from_edges([0], [1]).pagerank()),
        lambda: sp.from_edges([0], [1]).pagerank().top(2.5),
    ],
)
def test_options_of_a_wrong_kind(make):
    with pytest.raises(TypeError) as error:
        make()
    assert "incompatible function arguments" not in str(error.value)


def test_values_that_would_change_unasked():
    masked = np.ma.masked_array([3, 1, 2], mask=[1, 0, 0])
    for make in (lambda: sp.from_edges(masked, [1, 2, 3]), lambda: sp.from_edges([0, 1, 2], [1, 2, 0], masked)):
        with pytest.raises(sp.BadInput, match="masked"):
            make()
    with pytest.raises(sp.BadInput, match="tell from 0"):
        sp.from_edges([0], [1], [1e-46])
    with pytest.raises(sp.UsageError, match="weight_type"):
        sp.from_edges([0], [1], [1], weight_type="bogus")
    with pytest.raises(ValueError, match="at most"):
        sp.from_edges([0], [1]).pagerank(threads=10**9)
    with pytest.raises(sp.DoesNotFit):
        sp.from_scipy(scipy.sparse.random_array((3000, 3000), density=0.1, format="csr"), host_memory="1MiB")
    assert sp.from_edges([0] * 300, [1] * 300).to_scipy().sum() == 300


def test_tables_that_are_no_edges(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    (tmp_path / "bad.parquet").write_bytes(b"no table")
    pyarrow.parquet.write_table(pa.table({"a": [1]}), tmp_path / "one.parquet")
    for name in ("bad.parquet", "one.parquet"):
        with pytest.raises(sp.BadInput, match=name):
            sp.read(tmp_path / name)
