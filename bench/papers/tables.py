"""Results of a reproduction: tables and figures as plain data, which JSON keeps and Markdown shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.harness.tables import duration, load, row, store

Cell = str | int | float | None


@dataclass(frozen=True)
class Column:
    """A column: its head, and how its cells are written: by one of Python's format specifications, or as a "time"."""

    head: str
    form: str = ""

    def write(self, cell: Cell) -> str:
        """Write a cell; one that holds nothing stays empty."""
        if cell is None or isinstance(cell, str):
            return cell or ""
        return duration(cell) if self.form == "time" else format(cell, self.form)


@dataclass
class Table:
    """A table of a paper.

    Attributes
    ----------
    title, note : str
    columns : list of Column
    rows : list of list of cells
        As they were measured: what is written rounds them. None is what nobody has measured.
    left_out : list of str
        What of the paper's table is not in it.
    reason : str
        Why it is not.
    """

    title: str
    note: str
    columns: list[Column]
    rows: list[list[Cell]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    reason: str = "for want of time"

    def markdown(self) -> str:
        """Write the table with its title and note."""
        lines = [f"### {self.title}", "", self.note, ""]
        if self.rows:
            lines += [row(*(column.head for column in self.columns)), row(*["---"] * len(self.columns))]
        for cells in self.rows:
            lines.append(row(*(column.write(cell) for column, cell in zip(self.columns, cells, strict=True))))
        if self.left_out:
            lines += [""] * bool(self.rows) + [f"Left out {self.reason}: {', '.join(self.left_out)}."]
        return "\n".join(lines) + "\n"


@dataclass
class Series:
    """A line of a figure."""

    label: str
    x: list[float]
    y: list[float]


@dataclass
class Figure:
    """A figure of a paper: its axes, each "linear" or "log", and its lines; or bars, a series each."""

    name: str
    title: str
    x: str
    y: str
    scales: tuple[str, str] = ("linear", "linear")
    series: list[Series] = field(default_factory=list)
    is_bars: bool = False


@dataclass
class Report:
    """A paper's reproduction.

    Attributes
    ----------
    paper, title : str
        Its short name and its reference.
    machine : str
        Date, commit, processor, kernels and backend.
    command : str
        What made it.
    seed : int
        The first seed; notes of the tables say where there are more.
    seconds : float
        What the run took.
    tables : list of Table
    figures : list of Figure
    remarks : list of str
        Sentences about the run: a busy machine, instances that were not at hand.
    """

    paper: str
    title: str
    machine: str
    command: str
    seed: int
    seconds: float = 0.0
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def heading(self) -> str:
        """Write the command, the machine and the remarks."""
        return " ".join([f"`{self.command}`, seed {self.seed}: {self.machine}.", *self.remarks]) + "\n"

    def titled(self) -> str:
        """Write the paper's reference and the heading."""
        return f"## {self.title}\n\n{self.heading()}"

    def remark(self, text: str) -> None:
        """Add a remark, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def markdown(self) -> str:
        """Write the paper's reference, the heading and all tables."""
        return "\n".join([self.titled(), *(table.markdown() for table in self.tables)])

    def store(self, file: Path) -> None:
        """Write the report as JSON."""
        store(file, asdict(self))


def stored(file: Path) -> Report:
    """Read a report that `Report.store` wrote."""
    reported: dict[str, Any] = load(file)
    tables = [Table(**each | {"columns": [Column(**one) for one in each["columns"]]}) for each in reported["tables"]]
    figures = [
        Figure(**each | {"scales": tuple(each["scales"]), "series": [Series(**one) for one in each["series"]]})
        for each in reported["figures"]
    ]
    return Report(**reported | {"tables": tables, "figures": figures})


def columns(*reported: str) -> list[Column]:
    """Make columns of texts such as "length|,", a head and a form behind a bar."""
    return [Column(*each.split("|")) for each in reported]


def ratio(theirs: float | None, ours: float | None) -> float | None:
    """The ratio of their figure to ours; None if one of them is missing."""
    return theirs / ours if theirs is not None and ours else None


def listed(values: Iterable[float]) -> list[float]:
    """Return plain numbers, as JSON keeps them."""
    return [float(value) for value in values]
