"""Writes what type checkers and editors know of the algorithms in the registry, and nothing of the extension module:
spillway/_registered.pyi and _core.pyi, in the folder that is named."""

from __future__ import annotations

import inspect
import pathlib
import sys
import textwrap

from spillway import _registered
from spillway._registry import documentation, python_name

HEAD = '''"""Made by python/stubs.py from the registry of algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import NDArray

from ._graph import Graph, Vertex
from ._progress import Progress
from ._results import Result

def named(name: str) -> dict[str, Any]: ...
def known() -> list[dict[str, Any]]: ...
def register(algorithm: dict[str, Any]) -> Callable[..., Any]: ...
'''


def result_type(algorithm: dict) -> str:
    return "Graph" if algorithm["makes_a_graph"] else f"{algorithm['name'].capitalize()}Result"


def result_class(algorithm: dict) -> str:
    """Columns are properties, so that editors offer them."""
    columns = "".join(
        f"    @property\n    def {python_name(name)}(self) -> NDArray[Any]:\n        {quoted(meaning, 8)}\n"
        for name, meaning, _ in algorithm["columns"]
    )
    return f"class {result_type(algorithm)}(Result):\n{columns or '    ...'}\n"


def quoted(text: str, indent: int) -> str:
    lines = text.replace("\\", "\\\\").replace('"""', "'''")
    return textwrap.indent(f'"""{lines}"""', " " * indent, lambda line: not line.startswith('"""')).rstrip()


def function(algorithm: dict, graph: str, indent: int) -> str:
    parameters = [graph]
    keywords = False
    for each in algorithm["signature"].parameters.values():
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not keywords:
            parameters.append("*")
            keywords = True
        default = "" if each.default is inspect.Parameter.empty else f" = {each.default!r}"
        parameters.append(f"{each.name}: {each.annotation}{default}")
    space = " " * indent
    return (
        f"{space}def {python_name(algorithm['name'])}({', '.join(parameters)}) -> {result_type(algorithm)}:\n"
        f"{space}    {quoted(documentation(algorithm), indent + 4)}\n"
    )


def aliases(algorithm: dict, indent: int) -> str:
    own = python_name(algorithm["name"])
    names = [python_name(alias) for alias in algorithm["aliases"]]
    return "".join(f"{' ' * indent}{name} = {own}\n" for name in names if name in _registered.__all__)


def stubs() -> str:
    known = _registered.known()
    text = HEAD + f"\n__all__ = {sorted(_registered.__all__)!r}\n\n"
    text += "\n".join(result_class(each) for each in known if not each["makes_a_graph"])
    text += '\nclass Algorithms:\n    """The methods of a graph that are algorithms."""\n\n'
    text += "\n".join(function(each, "self", 4) + aliases(each, 4) for each in known)
    return text + "\n" + "\n".join(function(each, "graph: Graph, /", 0) + aliases(each, 0) for each in known)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    (folder / "_registered.pyi").write_text(stubs(), encoding="utf-8")
    (folder / "_core.pyi").write_text("from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n")
