"""Tables of text: coordinates below a header, distances with or without labels, arrays without a header."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.io.convert import (
    as_instance,
    check_different,
    concerns_not,
    coordinate_columns,
    is_header,
    name_column,
    of_columns,
)
from pytsp.io.table_text import Row, TableText, is_hole
from pytsp.problem.instance import FORBIDDEN, Instance
from pytsp.utils.notices import MOST_NAMED, some_of, warn_user


def of_table(text: str, metric: str | None, columns: Sequence[str] | None, asymmetric: bool, name: str) -> Instance:
    """Return the instance of a table.

    The first line is a header where none of its fields is a number. Below a header with the names of columns, a line is
    a city. Where the fields behind the first one are also the beginnings of the lines, they are labels, which may be
    numbers, and the table holds distances. Without a header the table is an array.

    A field without a number, such as NA, is no way in a table of distances, and refused elsewhere. Rows without any
    value are left out, but for distances without labels, where as many rows as columns are cities.
    """
    table = TableText(text)
    rows = table.rows()
    blank, first = _first_row(rows)
    if first is None and blank:
        raise InstanceError(f"line {blank[0].line}: no field has a value")
    header = [] if first is None else [field.strip() for field in first.fields]
    form, body = "columns", rows
    if first is not None and any(map(table.is_number, header)) and not is_header(header, columns):
        form, body = _form(table, first, header, rows)
    elif header and all(map(is_hole, header)):
        form = "array"
    if form == "array":
        assert first is not None
        return _of_array(table, chain(blank, [first], body), metric, columns, asymmetric, name)
    with _on_line(first):
        check_different(header)
    more, second = _first_row(body)
    body = chain(blank, more, [] if second is None else [second], body)
    begins_with_a_label = second is not None and columns is None and [second.fields[0].strip()] == header[1:2]
    if form == "labels" or begins_with_a_label:
        concerns_not("distances", metric=metric, columns=columns)
        numbers = _Numbers(table, _in_order(_without_blank(body), header[1:]), 1)
        return Instance.from_matrix(numbers.distances(), name, asymmetric=asymmetric, labels=header[1:])
    with _on_line(first):
        concerns_not("coordinates in a table", asymmetric=asymmetric)
    cities = list(_without_blank(body))
    named = name_column(header)
    labels = None if named is None else [row.fields[header.index(named)].strip() for row in cities]
    with _on_line(first):
        chosen, _ = coordinate_columns(header, metric, columns)
    found = {
        label: [table.number(row.fields[header.index(label)], f"column {label}", row.line) for row in cities]
        for label in chosen
    }
    return of_columns(found, metric, columns, name, labels)


@contextmanager
def _on_line(row: Row | None) -> Iterator[None]:
    """Begin errors with the line of a row."""
    try:
        yield
    except InstanceError as error:
        raise error if row is None else InstanceError(f"line {row.line}: {error}") from error


def _first_row(rows: Iterator[Row]) -> tuple[list[Row], Row | None]:
    """Return the rows without a value at the beginning, and the first one that has any, if there is one."""
    blank: list[Row] = []
    for row in rows:
        if not row.is_blank:
            return blank, row
        blank.append(row)
    return blank, None


# What a first line with numbers is


def _form(table: TableText, first: Row, header: list[str], rows: Iterator[Row]) -> tuple[str, Iterator[Row]]:
    """Tell whether a first line with numbers is a row of an "array", or of "labels", and return the other rows again.

    A city is lost where a row of distances is taken as labels: those of a symmetric matrix are what its lines begin
    with, too. Where both may be meant, the table is refused.
    """
    texts = [place for place, field in enumerate(header) if not (table.is_number(field) or is_hole(field))]
    corner, labels = header[0], header[1:]
    if table.is_number(corner):
        if texts:
            raise _mixed(table, first, header, texts)
        return "array", rows
    others = list(rows)
    lines = [row for row in others if not row.is_blank]
    if 0 in texts:
        # A symmetric matrix may have x or ? in its first field, or any word on its diagonal.
        diagonal = [row.fields[place].strip() for place, row in enumerate(lines, 1) if place < len(row.fields)]
        is_a_word = sum(map(str.isalpha, corner)) > 1 and corner not in (*labels, *diagonal)
        if not (is_a_word and lines and lines[0].fields[0].strip() == labels[0]):
            raise _mixed(table, first, header, texts)
        return "labels", iter(others)
    if texts:
        raise _mixed(table, first, header, texts)
    return _form_of_numbers(table, first, labels, lines), iter(others)


def _form_of_numbers(table: TableText, first: Row, labels: list[str], lines: list[Row]) -> str:
    """Tell whether numbers behind a field without one are labels: by the diagonal, which such a field is on, too."""
    if len(set(labels)) < len(labels) or len(labels) != len(lines) or any(map(is_hole, labels)):
        return "array"
    diagonal = [row.fields[place] for place, row in enumerate(lines, 1)]
    has_numbers, is_empty = any(map(table.is_number, diagonal)), not first.fields[0].strip()
    is_matched = sorted(row.fields[0].strip() for row in lines) == sorted(labels)
    if not is_matched or not all(label.isdecimal() for label in labels) or len(labels) < 2:
        if has_numbers and is_empty:
            raise _undecided(first)
        return "array"
    numbers = [int(label) for label in labels]
    if is_empty and all(map(table.is_zero, diagonal)):
        if numbers not in ([*range(len(numbers))], [*range(1, len(numbers) + 1)]):
            warn_user(
                f"line {first.line} is taken as labels, since its first field is empty and the lines begin with its "
                "others; 0 there says that they are distances"
            )
        return "labels"
    # Distances in such an order are rare, numbers of cities are not.
    if has_numbers or numbers == sorted(numbers):
        raise _undecided(first)
    warn_user(
        f"line {first.line} is taken as distances, since the diagonal has no numbers either; a word such as city in "
        "its first field says that the others are labels"
    )
    return "array"


def _mixed(table: TableText, first: Row, header: list[str], texts: list[int]) -> InstanceError:
    number = next(place for place, field in enumerate(header) if table.is_number(field))
    return InstanceError(
        f"line {first.line}, field {texts[0] + 1}: {header[texts[0]]!r:.60} is not a number, but field {number + 1}, "
        f"{header[number]!r:.60}, is one; a header has no numbers, unless they are labels that the lines begin with, "
        "and in distances NA, null, - or an empty field is no way"
    )


def _undecided(first: Row) -> InstanceError:
    return InstanceError(
        f"line {first.line}, field 1: {first.fields[0].strip()!r} leaves open whether the other fields are labels or "
        "distances; 0 says distances, a word such as city labels"
    )


# Distances


class _Numbers:
    """The numbers of rows, and where there is none; messages name the line and the field."""

    def __init__(self, table: TableText, rows: Iterable[Row], first: int = 0) -> None:
        """Take the fields of each row from the field `first` on; rows without a value are kept apart."""
        self.blank: list[Row] = []
        self._first = first
        self._lines: list[int] = []
        self._numbers: list[NDArray[Any]] = []
        # The fields of each city where there is no number, and what stands there.
        self._holes: list[dict[int, str]] = []
        # The cities before each row without a value.
        self._before: list[int] = []
        for row in rows:
            if row.is_blank:
                self.blank.append(row)
                self._before.append(len(self._lines))
                continue
            numbers, holes = table.numbers(row, first)
            self._lines.append(row.line)
            self._numbers.append(numbers)
            # Rows have few different ones.
            self._holes.append({place: sys.intern(row.fields[first + place].strip()) for place in holes})

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of cities and of fields."""
        return len(self._lines), len(self._numbers[0]) if self._numbers else 0

    def take_blank(self) -> None:
        """Make cities without a way of the rows without a value."""
        width = self.shape[1]
        for number, (before, row) in enumerate(zip(self._before, self.blank, strict=True)):
            self._lines.insert(before + number, row.line)
            self._numbers.insert(before + number, np.zeros(width, dtype=np.int64))
            self._holes.insert(before + number, dict.fromkeys(range(width), ""))
        self.blank, self._before = [], []

    def complete(self, why: str) -> NDArray[Any]:
        """Return the numbers, or refuse a field without one."""
        for city, holes in enumerate(self._holes):
            for place, held in holes.items():
                raise InstanceError(f"{self._place(city, place)}: {held!r} is not a number; {why}")
        return np.stack(self._numbers)

    def distances(self) -> NDArray[Any]:
        """Return distances, in which a field without a number forbids an edge, with a warning."""
        if not self._numbers:
            return np.empty((0, 0))
        array = np.stack(self._numbers)
        if array.dtype.kind == "f" and array.shape[0] == array.shape[1]:
            np.fill_diagonal(array, 0.0)
            for city, place in np.argwhere(np.isnan(array)):
                raise InstanceError(
                    f"{self._place(city, place)}: 'nan' is not a number; inf, NA, null, - or an empty field is no way"
                )
        # What is too large for 64 bits is refused with its place.
        array = array if array.dtype.kind in "if" else array.astype(object)
        named: list[str] = []
        count = 0
        for city, holes in enumerate(self._holes):
            array[city, [*holes]] = FORBIDDEN.get(array.dtype.kind)
            holes.pop(city, None)
            count += len(holes)
            if len(named) < MOST_NAMED:
                named += [f"{self._place(city, place)} ({held!r})" for place, held in holes.items()]
        if count:
            warn_user(
                f"{count} field{'s' if count > 1 else ''} without a number taken as no way, a forbidden edge: "
                f"{some_of(named, count)}"
            )
        return array

    def _place(self, city: int, place: int) -> str:
        """Name a field."""
        return f"line {self._lines[city]}, field {self._first + place + 1}"


def _of_array(
    table: TableText,
    rows: Iterable[Row],
    metric: str | None,
    columns: Sequence[str] | None,
    asymmetric: bool,
    name: str,
) -> Instance:
    """Return the instance of a table without a header."""
    numbers = _Numbers(table, rows)
    may_be_matrix = asymmetric or numbers.shape[1] > 3 or metric is None
    if may_be_matrix and numbers.shape[0] + len(numbers.blank) == numbers.shape[1]:
        numbers.take_blank()
    _tell_of_blank(numbers.blank)
    n, width = numbers.shape
    if n == width and (asymmetric or width > 3):
        concerns_not("a matrix", metric=metric, columns=columns)
        return Instance.from_matrix(numbers.distances(), name, asymmetric=asymmetric)
    what = "coordinates" if width in (2, 3) else "no distances"
    unless = ", unless asymmetric=True says that they are distances" if n == width else ""
    array = numbers.complete(f"{n} lines of {width} fields are {what}{unless}")
    return as_instance(array, metric=metric, columns=columns, asymmetric=asymmetric, name=name)


def _in_order(rows: Iterable[Row], labels: list[str]) -> Iterator[Row]:
    for city, row in enumerate(rows):
        if [row.fields[0].strip()] != labels[city : city + 1]:
            belongs = f"those of {labels[city]!r} belong" if city < len(labels) else "there are all"
            raise InstanceError(f"line {row.line}: the distances of {row.fields[0].strip()!r} are where {belongs}")
        yield row


# Rows and columns


def _without_blank(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows that have a value; warn about the others at the end."""
    blank = []
    for row in rows:
        if row.is_blank:
            blank.append(row)
        else:
            yield row
    _tell_of_blank(blank)


def _tell_of_blank(blank: Sequence[Row]) -> None:
    if blank:
        lines = some_of([f"line {row.line}" for row in blank])
        warn_user(f"{len(blank)} row{'s' if len(blank) > 1 else ''} without any value left out: {lines}")
