"""How long work reports itself: as a bar of tqdm, to a function, or not at all."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, Union

Progress = Union[bool, Callable[[str, int, int, str], None], None]


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Bar:
    """A bar that begins anew with each stage of the work."""

    def __init__(self, tqdm: Any):
        self._tqdm, self._stage = tqdm, ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        if self._bar is None or stage != self._stage:
            self.close()
            scale = unit == "bytes"
            self._bar = self._tqdm(desc=stage, total=total or None, unit="B" if scale else unit, unit_scale=True)
            self._stage = stage
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextlib.contextmanager
def ticking(progress: Progress) -> Iterator[Any]:
    """What the core calls now and then; None where nobody listens. In a notebook somebody does, unless told not to."""
    if callable(progress):
        yield progress
        return
    try:
        tqdm = _tqdm() if progress or (progress is None and _in_notebook()) else None
    except ImportError:
        if progress:
            raise ImportError("progress=True shows a bar of tqdm, which is not installed: pip install tqdm") from None
        tqdm = None
    bar = _Bar(tqdm) if tqdm else None
    try:
        yield bar
    finally:
        if bar:
            bar.close()


def _tqdm() -> Any:
    from tqdm.auto import tqdm

    return tqdm
