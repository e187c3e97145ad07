"""Tables of text, by any separator and decimal sign: coordinates below a header, distances with or without one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.io.convert import as_instance, check_different, concerns_not, name_column, of_columns
from pytsp.problem.instance import Instance

# The first of these that stands in the first line, outside quotation marks, parts its fields; else blanks do.
_SEPARATORS = (";", "\t", ",")
# What a whole number does not hold: decimal signs, exponents, nan and infinity.
_FRACTION = re.compile("[.,eEnNiI]")


def of_table(text: str, metric: str | None, columns: Sequence[str] | None, asymmetric: bool, name: str) -> Instance:
    """Return the instance of a table.

    Below a header with the names of columns, a line is a city. Where those behind the first one are also what the lines
    begin with, the table holds distances. Without a header, where the first line holds numbers, it is an array.

    Raises
    ------
    InstanceError
        If the text is no table, or makes no instance; the message names the line.
    """
    table = _Table(text)
    rows = table.rows()
    header = [label.strip() for label in next(rows, [])]
    if header and all(map(table.is_number, header)):
        array = np.stack([table.numbers(row) for row in chain([header], rows)])
        return as_instance(array, metric=metric, asymmetric=asymmetric, columns=columns, name=name)
    check_different(header)
    first = next(rows, None)
    body = rows if first is None else chain([first], rows)
    if first is not None and columns is None and [first[0].strip()] == header[1:2]:
        concerns_not("distances", metric=metric)
        matrix = table.distances(body, header[1:])
        return Instance.from_matrix(matrix, name, asymmetric=asymmetric, labels=header[1:])
    concerns_not("coordinates in a table", asymmetric=asymmetric)
    cities = [(table.line, row) for row in body]
    named = name_column(header)
    labels = None if named is None else [row[header.index(named)].strip() for _, row in cities]
    return of_columns(_Columns(table, header, cities), metric, columns, name, labels)


class _Table:
    """A text whose rows are asked for one after the other; `line` is that of the last one, counted from 1."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines(keepends=True)
        start = re.sub('"[^"]*"', "", next((line for line in lines if line.strip()), ""))
        self._separator = next((each for each in _SEPARATORS if each in start), " ")
        has_blanks = self._separator == " "
        self._reader = csv.reader(
            (line.strip() for line in lines) if has_blanks else lines,
            delimiter=self._separator,
            skipinitialspace=has_blanks,
            strict=True,
        )
        # The decimal signs that numbers have had.
        self._signs: set[str] = set()

    @property
    def line(self) -> int:
        return self._reader.line_num

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows that are not empty; they have as many fields as the first one."""
        width = None
        try:
            for row in filter(None, self._reader):
                width = width or len(row)
                if len(row) != width:
                    raise InstanceError(f"line {self.line}: {len(row)} fields, but the first line has {width}")
                yield row
        except csv.Error as error:
            raise InstanceError(f"line {self.line}: {error}") from error

    def distances(self, rows: Iterable[list[str]], labels: list[str]) -> NDArray[Any]:
        """Return the matrix of rows that begin with these labels, in their order."""
        matrix: list[NDArray[Any]] = []
        for row in rows:
            city = len(matrix)
            if [row[0].strip()] != labels[city : city + 1]:
                belongs = f"those of {labels[city]!r} belong" if city < len(labels) else "there are all"
                raise InstanceError(f"line {self.line}: the distances of {row[0].strip()!r} are where {belongs}")
            matrix.append(self.numbers(row[1:]))
        return np.stack(matrix)

    def numbers(self, row: list[str]) -> NDArray[Any]:
        """Return a row of numbers, whole ones where none has a fraction."""
        joined = "".join(row)
        read = float if _FRACTION.search(joined) else int
        try:
            numbers = np.array([read(self._pointed(text)) for text in row])
        except ValueError:
            return np.array([self.number(text, f"field {place}") for place, text in enumerate(row, 1)])
        self._note(joined)
        return numbers

    def number(self, text: str, place: str, line: int | None = None) -> float:
        """Return a number, or say where there is none."""
        try:
            number = float(self._pointed(text))
        except ValueError:
            raise InstanceError(f"line {line or self.line}, {place}: {text!r:.60} is not a number") from None
        self._note(text)
        return number

    def is_number(self, text: str) -> bool:
        """Tell whether a text is a number."""
        try:
            float(self._pointed(text))
        except ValueError:
            return False
        return True

    def _pointed(self, text: str) -> str:
        """Return a number as Python has it, which takes 1_000 for one: that is none in a table."""
        text = text.replace("_", "?") if "_" in text else text
        return text if self._separator == "," else text.replace(",", ".")

    def _note(self, text: str) -> None:
        """Heed the decimal signs of numbers: where some are points and others commas, one of them means thousands."""
        self._signs.update(sign for sign in ".," if sign in text)
        if len(self._signs) > 1:
            raise InstanceError(f"line {self.line}: there are both decimal points and decimal commas")


class _Columns(dict[str, int]):
    """The columns of a table by their names, lists of numbers where they are asked for."""

    def __init__(self, table: _Table, header: list[str], cities: Sequence[tuple[int, list[str]]]) -> None:
        super().__init__({label: place for place, label in enumerate(header)})
        self._table, self._cities = table, cities

    def __getitem__(self, label: str) -> Any:
        place = super().__getitem__(label)
        return [self._table.number(row[place], f"column {label}", line) for line, row in self._cities]
