"""A user's own program: compiled by the command `spillway build`, loaded as a plug-in."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import Any, Sequence

from . import _command, _core, _registered
from .errors import BadInput, MissingFile


def compile(source: str | os.PathLike, *, output: str | os.PathLike | None = None, flags: Sequence[str] = ()) -> Any:
    """Compiles a C++ program of your own, and returns its algorithm: a function of a graph, also a method of graphs.

    A file that offers several gives a list. output: where the plug-in stays as a file (default: nowhere).
    flags: more for the compiler.
    """
    path = os.fspath(source)
    if not os.path.exists(path):
        raise MissingFile(2, "there is no such file", path)
    with tempfile.TemporaryDirectory(prefix="spillway-") as folder:  # what is loaded needs its file no more
        name = os.path.splitext(os.path.basename(path))[0]
        place = os.fspath(output or os.path.join(folder, f"{name}.so"))
        words = [_command.path(), "build", path, "-o", place, *(["--", *flags] if flags else [])]
        built = subprocess.run(words, capture_output=True, text=True)
        if built.returncode != 0:
            raise BadInput((built.stderr or built.stdout).strip())
        return load(place)


def load(path: str | os.PathLike) -> Any:
    """The algorithm of a plug-in that `spillway build` has made; of one that offers several, a list."""
    made = [_registered.register(each) for each in _core.load_plugin(os.path.abspath(os.fspath(path)))]
    return made[0] if len(made) == 1 else made
