"""What the user calls vertices, for columns and for arguments."""

from __future__ import annotations

import operator
from typing import Any, Sequence


def object_array(values: Sequence) -> Any:
    """One entry for each, whatever it is."""
    import numpy as np

    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class Ids:
    """Ids of all vertices of a graph. They outlive it, without its edges."""

    def __init__(self, core: Any, labels: Sequence | None = None):
        self._core, self._labels = core, labels
        self._places: dict | None = None
        self._array: Any = None

    def __len__(self) -> int:
        return self._core.count

    @property
    def array(self) -> Any:
        """In the order of the vertices: int64 (uint64 beyond it), or objects."""
        if self._array is None:
            self._array = self._made()
            self._array.flags.writeable = False
        return self._array

    def _made(self) -> Any:
        import numpy as np

        table: Any = self._labels if self._labels is not None else self._core.table()
        if isinstance(table, int):
            signed = table + len(self) <= 2**63
            return np.arange(table, table + len(self), dtype=np.int64 if signed else np.uint64)
        if not isinstance(table, list):
            return table.view(np.int64) if table.size == 0 or table.max() < 2**63 else table
        return object_array(table)

    def of(self, places: Any) -> Any:
        """The ids of a column of vertices; -1, which is none, stays -1, and is None among names."""
        import numpy as np

        if self._labels is None and self._core.first == 0:
            return places
        ids = self.array
        if ids.dtype == object:
            return np.append(ids, np.array([None], dtype=object))[places]
        if ids.size == 0:
            return ids
        return np.where(places < 0, np.array(-1).astype(ids.dtype), ids[places])

    def text(self, vertex: Any, owner: str, name: str) -> str:
        """A vertex as the command line takes it."""
        from .errors import BadInput

        if self._labels is not None:
            if self._places is None:
                self._places = {label: place for place, label in enumerate(self._labels)}
            try:
                return str(self._places[vertex])
            except (KeyError, TypeError):
                raise BadInput(f"{owner}: vertex {vertex!r} is not in the graph") from None
        if isinstance(vertex, str):
            return vertex
        if not isinstance(vertex, bool):
            try:
                return str(operator.index(vertex))
            except TypeError:
                pass
        raise TypeError(f"{owner}: {name} is {vertex!r}; a vertex is a whole number or a string")
