"""What a result offers: arrays without copies, tables of other libraries, facts, and the first of its entries."""

from __future__ import annotations

import gc
import inspect
import os
import pathlib

import networkx as nx
import numpy as np
import pytest

import spillway as sp


def test_columns_share_memory_and_outlive_all_else():
    g = sp.from_edges(np.arange(1000), np.roll(np.arange(1000), 1))
    r = g.pagerank()
    rank = r.rank
    assert rank.dtype == np.float32 and not rank.flags.owndata and not rank.flags.writeable
    copy = rank.copy()
    del g, r
    gc.collect()
    sp.from_edges(np.arange(1000), np.arange(1000)).pagerank()  # takes the memory, if it were free
    assert np.array_equal(rank, copy)


def test_none_is_minus_one_and_never_a_large_number():
    r = sp.from_edges([0], [1]).bfs(1)
    assert r.level.tolist() == [-1, 0] and r.parent.tolist() == [-1, 1]
    named = sp.from_edges(["a"], ["b"]).bfs("b")
    assert named.parent.tolist() == [None, "b"]
    wide = sp.from_edges([10**15], [10**15 + 7]).bfs(10**15 + 7)
    assert wide.parent.tolist() == [-1, 10**15 + 7]


def test_facts(small):
    r = small.pagerank()
    assert r.converged is True and r.residual < 1e-5 and r.seconds >= 0 and r.iterations > 0
    assert r.statistics["device"] == "cpu"
    assert small.cc().components == 2
    assert len(r) == 4 and small.degrees().in_.tolist() == [1, 1, 1, 1]
    assert "effective diameter" in small.radius().facts and small.radius().effective_diameter >= 0
    with pytest.raises(AttributeError, match="pagerank answers vertex, rank, residual"):
        r.score


def test_top(small):
    assert small.bfs(0).top(2) == [(0, 0), (1, 1)]
    assert small.bfs(0).top(10) == [(0, 0), (1, 1), (2, 2)]
    assert small.cc().top() == [(0, 3), (5, 1)]
    assert [v for v, _ in small.degrees().top(2)] == [0, 1]
    assert small.bfs(0).top(0) == []
    assert "vertex  level" in repr(small.bfs(0).top()) and "<th>level</th>" in small.bfs(0).top()._repr_html_()
    star = sp.from_edges([1, 2, 3], [0, 0, 0])
    assert star.pagerank().top(1)[0][0] == 0


@pytest.mark.parametrize("ids", [[1, 2, 3], ["x", "y", "z"], [7, 2**40, 9]], ids=["numbers", "names", "wide"])
def test_tables_of_others(ids):
    r = sp.from_edges(ids, ids[1:] + ids[:1]).pagerank()
    expected = {"vertex": sorted(ids), "rank": r.rank.tolist()}
    assert r.to_pandas().to_dict("list") == expected
    assert pytest.importorskip("polars").DataFrame(expected).equals(r.to_polars().cast({"rank": float}))
    pytest.importorskip("pyarrow")
    assert r.to_arrow().to_pydict() == expected


def test_a_plan_is_a_table(small):
    plan = small.plan("pagerank", device_memory="4GiB")
    assert plan.device == "cpu" and "pagerank" in repr(plan)
    assert small.plan("bfs").device == "cpu"
    assert "<table>" in plan._repr_html_()


def test_help_comes_from_the_registry(small):
    signature = inspect.signature(small.pagerank)
    assert signature.parameters["damping"].default == 0.85
    assert signature.parameters["damping"].kind is inspect.Parameter.KEYWORD_ONLY
    assert inspect.signature(small.bfs).parameters["source"].default is inspect.Parameter.empty
    assert list(inspect.signature(sp.bfs).parameters)[0] == "graph"
    assert "probability that the walk follows an arc" in sp.pagerank.__doc__
    assert "breadth-first" in small.bfs.__doc__


def test_answers_that_are_graphs(small):
    ego = small.egonet(0)
    assert isinstance(ego, sp.Graph) and ego.vertex.tolist() == [0, 1, 2]
    assert small.induced([0, 1]).arc_count == 1
    assert small.crossedges(from_=[0], to=[1]).arc_count == 1


def test_deterministic_runs_are_the_same_bit_for_bit():
    graph = sp.from_networkx(nx.gnp_random_graph(300, 0.05, seed=1))
    first, second = (graph.pagerank(deterministic=True, threads=t).rank for t in (1, 2))
    assert np.array_equal(first, second)


def test_columns_on_the_host_are_not_on_a_gpu(small):
    found = small.bfs(0, device="cpu")
    assert found.on_gpu("level") is None and found.on_gpu("parent") is None
    assert found.on_gpu("level") is None, "also after"
    assert found.level[0] == 0
    for unknown in ("levels", "vertex"):
        with pytest.raises(KeyError, match="bfs answers level, parent, not"):
            found.on_gpu(unknown)
        if unknown != "vertex":
            with pytest.raises(KeyError, match="bfs answers level, parent, not"):
                found[unknown]


def test_results_do_not_keep_the_graph():
    def resident():
        gc.collect()
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    graph = sp.generate("chain", vertices=4_000_000)
    found = graph.bfs(3_999_990, device="cpu", threads=1)
    before = resident()
    graph.close()
    assert before - resident() > 30_000_000, "its rows take 48 MB"
    assert found.level[-1] == 9
