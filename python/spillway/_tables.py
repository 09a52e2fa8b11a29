"""Small tables for people: aligned text in a terminal, HTML in a notebook, tuples for programs."""

from __future__ import annotations

import html
from typing import Any, Iterator


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


class Table:
    """Rows of a few columns. Iterating gives tuples."""

    def __init__(self, columns: list[str], rows: list[tuple], title: str = "", notes: list[str] | None = None):
        self.columns, self.rows, self.title, self.notes = columns, rows, title, notes or []

    def __iter__(self) -> Iterator[tuple]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> tuple:
        return self.rows[place]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, (Table, list)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def _cells(self) -> list[list[str]]:
        return [[_text(value) for value in row] for row in self.rows]

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(self.columns, *cells)]
        right = [not any(isinstance(row[i], str) for row in self.rows) for i in range(len(self.columns))]
        lines = [
            "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right)).rstrip()
            for line in [self.columns, *cells]
        ]
        return "\n".join([self.title] * bool(self.title) + lines + self.notes)

    def _repr_html_(self) -> str:
        def line(tag: str, cells: list[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        rows = "".join(line("td", cells) for cells in self._cells())
        title = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table>{title}{line('th', self.columns)}{rows}</table>{notes}"


def human_bytes(count: int) -> str:
    """1536 is 1.5 KiB."""
    size, unit = float(count), 0
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while size >= 1024 and unit + 1 < len(units):
        size, unit = size / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{size:.1f} {units[unit]}"


class Plan(Table):
    """Where and how a run would be made, and what else was considered. Nothing was run."""

    def __init__(self, question: str, facts: dict):
        self.device: str = facts["device"]
        self.method: str = facts["method"]
        self.why: list[str] = facts["why"]
        self.state_bytes: int = facts["state_bytes"]
        self.edge_bytes: int = facts["edge_bytes"]
        self.candidates: list[dict] = facts["candidates"]
        super().__init__(
            ["device", "method", "seconds", "prepare", "memory", "over the bus", "excluded"],
            [self._row(each) for each in self.candidates],
            f"{question}: {self.device}, {self.method or 'an algorithm of its own'}",
            [f"why: {reason}" for reason in self.why],
        )

    @staticmethod
    def _row(each: dict) -> tuple:
        words = [each["method"], "compressed" * each["compressed"], "asynchronous" * each["asynchronous"]]
        name = " ".join(word for word in words if word)
        if each["excluded"]:
            return each["device"], name, "–", "–", "–", "–", each["excluded"]
        return (
            each["device"],
            name,
            f"{each['seconds']:.6f}",
            f"{each['prepare_seconds']:.6f}",
            human_bytes(each["device_bytes"]),
            human_bytes(each["bus_bytes"]),
            "",
        )

    def __repr__(self) -> str:
        return super().__repr__() if self.rows else "\n".join([self.title, *self.notes])
