"""docs/python.md is run from top to bottom, and prints what it says."""

from __future__ import annotations

import doctest
import pathlib
import re

import pytest

import spillway as sp

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_the_tour(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    text = DOCUMENT.read_text().replace("```", "")  # a fence is no output
    examples = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", str(DOCUMENT), 0)
    said: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=flags).run(examples, out=said.append)
    assert failed == 0, "".join(said)
    assert tried > 20


def test_every_name_in_the_tour_exists():
    text = DOCUMENT.read_text()
    for name in set(re.findall(r"sp\.(\w+)", text)):
        assert hasattr(sp, name), name
