"""Graphs of any size on one machine.

    import spillway as sp
    g = sp.read("follows.csv.gz", source="follower", target="followee")
    g.pagerank().top(10)

`sp.read`, `sp.from_edges`, `sp.from_pandas` and others make graphs; every algorithm is a method of graphs and a
function of this module. `sp.algorithms()` lists them.
"""

from __future__ import annotations

import atexit as _atexit
from typing import Any

from . import _core, _registered
from ._graph import Graph, from_edges, generate, read
from ._registered import *  # noqa: F403
from ._results import Result
from ._tables import Plan, Table
from .errors import BadInput, ClosedError, DeviceError, DoesNotFit, Error, MissingFile, UsageError

__version__ = _core.version

_LAZY = {
    "from_pandas": "_converters",
    "from_polars": "_converters",
    "from_arrow": "_converters",
    "from_scipy": "_converters",
    "from_networkx": "_converters",
    "from_igraph": "_converters",
    "compile": "_compile",
    "load": "_compile",
}

_atexit.register(_core.finish_all_work)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    if name in _registered.__all__:  # of a plug-in that was loaded later
        return getattr(_registered, name)
    raise AttributeError(f"spillway has no '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_registered.__all__})


def algorithms() -> Table:
    """All algorithms, with what they compute."""
    rows = [(each["name"], each["summary"]) for each in _registered.known()]
    return Table(["name", "summary"], rows)


def devices() -> list[dict]:
    """What this machine can compute with."""
    return _core.devices()
