"""A user's own program, compiled and asked."""

from __future__ import annotations

import pathlib
import shutil

import numpy as np
import pytest

import spillway as sp
from spillway import _command

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def compiler():
    if shutil.which("c++") is None:
        pytest.skip("there is no C++ compiler")
    try:
        _command.path()
    except sp.Error as error:
        pytest.skip(str(error))


def test_a_program_is_a_function_and_a_method():
    spread = sp.compile(EXAMPLES / "label_spread.cpp")
    name = spread.__name__
    graph = sp.from_edges([0, 1, 5], [1, 0, 6], undirected=True)
    answer = spread(graph, seeds=[0, 6])
    assert answer.vertex.tolist() == [0, 1, 5, 6] and answer.columns
    assert getattr(sp, name) is spread and name in dir(sp)
    assert name in [each[0] for each in sp.algorithms()]
    for column, values in getattr(graph, name)([0, 6]).columns.items():
        assert np.array_equal(values, answer[column])


def test_mistakes_are_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        sp.compile(tmp_path / "missing.cpp")
    (tmp_path / "wrong.cpp").write_text("int main( {")
    with pytest.raises(sp.BadInput, match="wrong.cpp"):
        sp.compile(tmp_path / "wrong.cpp")
    (tmp_path / "none.so").write_bytes(b"\x7fELF")
    with pytest.raises(sp.BadInput, match="none.so"):
        sp.load(tmp_path / "none.so")
