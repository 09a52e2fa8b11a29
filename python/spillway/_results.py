"""What an algorithm answers: columns with an entry a vertex, facts about the whole, and what the run took."""

from __future__ import annotations

import operator
import os
from typing import Any

from ._ids import Ids
from ._registry import python_name
from ._tables import Table
from .errors import ClosedError

_WORDS = {"yes": True, "no": False}


class Result:
    """Columns and facts are attributes: `r.rank`, `r.vertex`, `r.residual`.

    Columns are NumPy arrays that share the memory of the answer and cannot be written to. Where a vertex has no
    answer, whole numbers are -1 and others are inf; columns of vertices hold ids. What a GPU has answered stays there
    until one of these asks for it (see `on_gpu`).
    """

    def __init__(self, answer: Any, ids: Ids, algorithm: dict, question: str):
        self._answer, self._ids, self._algorithm, self._question = answer, ids, algorithm, question
        self._places = {name: i for i, (name, _) in enumerate(answer.columns)}
        self._read: dict[str, Any] = {}
        self._process = os.getpid()
        self.facts: dict[str, Any] = {name: _WORDS.get(v, v) for name, v in answer.facts.items()}
        self.statistics: dict[str, Any] = answer.statistics

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by their names, without `vertex`."""
        return {name: self._column(name) for name in self._places}

    def _column(self, name: str) -> Any:
        if name not in self._read:
            place = self._place(name)
            values = self._answer.column(place)
            self._read[name] = self._ids.of(values) if self._answer.columns[place][1] else values
        return self._read[name]

    def on_gpu(self, name: str) -> Any:
        """The column where the GPU that made it has it, for `torch.from_dlpack` and `cupy.from_dlpack`.

        They share its memory, and whoever writes to it changes the answer. Vertices are their places in `vertex` there,
        not ids, and -1 for none; whoever has no path has the largest number as its distance. None if the column was made
        or finished on the host, or has been brought there (`r.rank`).
        """
        return self._answer.column_on_gpu(self._place(name))

    def _place(self, name: str) -> int:
        if name not in self._places:
            raise KeyError(f"{self._algorithm['name']} answers {', '.join(self._places) or 'no columns'}, not '{name}'")
        place = self._places[name]
        if self._process != os.getpid() and self._answer.is_on_gpu(place):
            raise ClosedError(
                "this answer was on a GPU when the process was forked, which the new one cannot use; read its columns before"
            )
        return place

    @property
    def vertex(self) -> Any:
        """The id of each vertex, in the order of all columns."""
        return self._ids.array

    @property
    def seconds(self) -> float:
        """What the run took, without preparing for it."""
        return self.statistics["seconds"]

    @property
    def iterations(self) -> int:
        return self.statistics["iterations"]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        for known in self._places:
            if python_name(known) == name:
                return self._column(known)
        for known, value in self.facts.items():
            if python_name(known) == name:
                return value
        raise AttributeError(f"{self._algorithm['name']} answers {', '.join(self._names())}, not '{name}'")

    def __getitem__(self, name: str) -> Any:
        return self.vertex if name == "vertex" else self._column(name)

    __iter__ = None  # len() is that of the columns, and indexing goes by their names

    def _names(self) -> list[str]:
        return ["vertex", *map(python_name, [*self._places, *self.facts])]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names()})

    def __len__(self) -> int:
        return len(self._ids)

    def to_dict(self) -> dict[str, Any]:
        """The columns by their names, `vertex` first."""
        return {"vertex": self.vertex, **self.columns}

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self.to_dict(), copy=True)  # which may be changed

    def to_polars(self) -> Any:
        import polars

        return polars.DataFrame(self.to_dict())

    def to_arrow(self) -> Any:
        import pyarrow

        return pyarrow.table({name: pyarrow.array(values) for name, values in self.to_dict().items()})

    def top(self, k: int = 10) -> Table:
        """What people look for first: the largest values, the nearest vertices, or the largest groups."""
        k = operator.index(k)
        if k < 0:
            raise ValueError(f"k is {k}; it must be 0 or more")
        if not self._places:
            raise ValueError(f"{self._question} answers no columns, only facts: {', '.join(self.facts)}")
        name = next(iter(self._places))
        values = self._column(name)
        order = next((c[2] for c in self._algorithm["columns"] if c[0] == name), "largest")
        if order == "groups":
            return _largest_groups(name, values, k)
        places = _first(values, k, smallest=order == "smallest")
        rows = [(vertex, value) for vertex, value in zip(self.vertex[places].tolist(), values[places].tolist())]
        return Table(["vertex", name], rows)

    def __repr__(self) -> str:
        facts = "".join(f"\n{name}: {value}" for name, value in self.facts.items())
        columns = ", ".join(["vertex", *self._places]) if self._places else "no columns"
        return f"{self._question}: {columns}; {self.seconds * 1000:.2f} ms{facts}"


def _first(values: Any, k: int, smallest: bool) -> Any:
    """Places of the first k; the earlier vertex where values are the same. Whoever has no value is left out."""
    import numpy as np

    places = np.flatnonzero(np.isfinite(values) & (values >= 0)) if smallest else np.arange(len(values))
    keys = values[places] if smallest else -values[places].astype(np.float64)
    k = min(k, len(places))
    if 0 < k < len(places):
        near = keys <= np.partition(keys, k - 1)[k - 1]
        places, keys = places[near], keys[near]
    return places[np.argsort(keys, kind="stable")[:k]]


def _largest_groups(name: str, values: Any, k: int) -> Table:
    import numpy as np

    groups, sizes = np.unique(values, return_counts=True)
    first = np.argsort(-sizes, kind="stable")[:k]
    return Table([name, "vertices"], list(zip(groups[first].tolist(), sizes[first].tolist())))
