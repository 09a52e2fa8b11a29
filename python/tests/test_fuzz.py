"""Whatever is given to from_edges: a graph that holds those edges, or an exception of Python's usual kinds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import spillway as sp

ids = st.one_of(
    st.lists(st.integers(-3, 30)),
    st.lists(st.integers(-(2**70), 2**70)),
    st.lists(st.text(max_size=4)),
    st.lists(st.one_of(st.integers(0, 9), st.text(max_size=2), st.none(), st.floats())),
    hnp.arrays(
        st.sampled_from(["i1", "u2", "i4", "u4", "i8", "u8", ">i8", "f8", "?", "U3", "S2", "O", "c8", "M8[s]"]),
        hnp.array_shapes(max_dims=2, min_side=0, max_side=6),
    ),
    st.none(),
    st.integers(),
)
weights = st.one_of(
    st.none(),
    st.lists(st.one_of(st.floats(), st.integers(-5, 2**40))),
    hnp.arrays(st.sampled_from(["f4", "f8", "i8", "u4", "?", "f2", "O"]), st.integers(0, 6)),
)
options = st.fixed_dictionaries(
    {},
    optional={
        "undirected": st.booleans(),
        "symmetrize": st.booleans(),
        "dedup": st.booleans(),
        "drop_loops": st.booleans(),
        "edges": st.booleans(),
        "ids": st.sampled_from(["auto", "dense", "sparse", "string"]),
        "vertices": st.one_of(st.integers(-1, 40), st.lists(st.integers(0, 50)), st.lists(st.text(max_size=2))),
        "threads": st.integers(1, 3),
        "weight_type": st.sampled_from(["u32", "f32", "none"]),
    },
)


@settings(max_examples=400, deadline=None)
@given(ids, ids, weights, options)
def test_anything(source, target, weight, how):
    if how.get("ids") == "dense":  # a table up to the largest id is what was asked for
        how["host_memory"] = "64MiB"
    try:
        graph = sp.from_edges(source, target, weight, **how)
    except (ValueError, TypeError, MemoryError):
        return
    assert graph.cc().vertex.size == graph.vertex_count


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))))
def test_every_edge_is_there(edges):
    graph = sp.from_edges([u for u, _ in edges], [v for _, v in edges])
    offsets, targets, _ = graph.rows()
    names = graph.vertex.tolist()
    assert names == sorted({v for edge in edges for v in edge})
    found = [(names[v], names[t]) for v in range(len(names)) for t in targets[int(offsets[v]) : int(offsets[v + 1])]]
    assert found == sorted(edges)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3))))
def test_every_name_is_there(edges):
    graph = sp.from_edges([u for u, _ in edges], [v for _, v in edges])
    assert set(graph.vertex.tolist()) == {v for edge in edges for v in edge}
    assert graph.arc_count == len(edges)
    place = {name: i for i, name in enumerate(graph.vertex)}
    levels = [graph.bfs(u).level[place[u]] for u, _ in edges if u]
    assert not any(levels)
