"""The command `spillway` of this package, for the environment's folder of scripts."""

from __future__ import annotations

import os
import sys

from .errors import Error


def path() -> str:
    """SPILLWAY_COMMAND, or the program that was installed with this package."""
    own = os.path.join(os.path.dirname(__file__), "bin", "spillway")
    found = os.environ.get("SPILLWAY_COMMAND", own)
    if not os.path.exists(found):
        raise Error(f"{found}: the command `spillway` is not there; SPILLWAY_COMMAND names another")
    return found


def main() -> None:
    program = path()
    os.execv(program, [program, *sys.argv[1:]])
