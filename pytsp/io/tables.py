"""Tables of text: coordinates below a header, distances with or without labels, arrays without a header."""

from __future__ import annotations

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
    column_named,
    concerns_not,
    coordinate_columns,
    is_header,
    of_points,
)
from pytsp.io.documents import NAMES
from pytsp.io.table_text import Numbers, Row, TableText, is_hole
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
        lines = [table.numbers(row, 1) for row in _in_order(_without_blank(body), header[1:])]
        return Instance.from_matrix(_distances(lines), name, asymmetric=asymmetric, labels=header[1:])
    with _on_line(first):
        concerns_not("coordinates in a table", asymmetric=asymmetric)
    cities = list(_without_blank(body))
    with _on_line(first):
        chosen, is_globe = coordinate_columns(header, metric, columns)
    named = column_named(header, NAMES)
    labels = None if named is None else [row.fields[header.index(named)].strip() for row in cities]
    places = [(label, header.index(label)) for label in chosen]
    points = [
        [table.number(row.fields[place], f"column {label}", row.line) for row in cities] for label, place in places
    ]
    return of_points(np.column_stack(points), is_globe, metric, name, labels)


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
    if is_empty and all(table.value(field) == 0.0 for field in diagonal):
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


def _distances(lines: Sequence[Numbers]) -> NDArray[Any]:
    """Return distances, in which a field without a number forbids an edge, with a warning."""
    if not lines:
        return np.empty((0, 0))
    array = np.stack([line.values for line in lines])
    if array.dtype.kind == "f" and array.shape[0] == array.shape[1]:
        np.fill_diagonal(array, 0.0)
        for city, place in np.argwhere(np.isnan(array)):
            raise InstanceError(
                f"{lines[city].name(place)}: 'nan' is not a number; inf, NA, null, - or an empty field is no way"
            )
    # What is too large for 64 bits is refused with its place.
    array = array if array.dtype.kind in "if" else array.astype(object)
    named: list[str] = []
    count = 0
    for city, line in enumerate(lines):
        array[city, [*line.holes]] = FORBIDDEN.get(array.dtype.kind)
        line.holes.pop(city, None)
        count += len(line.holes)
        if len(named) < MOST_NAMED:
            named += [f"{line.name(place)} ({held!r})" for place, held in line.holes.items()]
    if count:
        warn_user(
            f"{count} field{'s' if count > 1 else ''} without a number taken as no way, a forbidden edge: "
            f"{some_of(named, count)}"
        )
    return array


def _of_array(
    table: TableText,
    rows: Iterable[Row],
    metric: str | None,
    columns: Sequence[str] | None,
    asymmetric: bool,
    name: str,
) -> Instance:
    lines = [table.numbers(row) for row in rows]
    blank = [line.line for line in lines if line.is_blank]
    width = next(len(line.values) for line in lines if not line.is_blank)
    if (asymmetric or width > 3 or metric is None) and len(lines) == width:
        # A row without a value is a city without a way.
        no_way = np.zeros(width, dtype=np.int64)
        lines = [
            Numbers(line.line, 0, no_way, dict.fromkeys(range(width), "")) if line.is_blank else line for line in lines
        ]
    else:
        _tell_of_blank(blank)
        lines = [line for line in lines if not line.is_blank]
    n = len(lines)
    if n == width and (asymmetric or width > 3):
        concerns_not("a matrix", metric=metric, columns=columns)
        return Instance.from_matrix(_distances(lines), name, asymmetric=asymmetric)
    what = "coordinates" if width in (2, 3) else "no distances"
    unless = ", unless asymmetric=True says that they are distances" if n == width else ""
    for line in lines:
        for place, held in line.holes.items():
            raise InstanceError(
                f"{line.name(place)}: {held!r} is not a number; {n} lines of {width} fields are {what}{unless}"
            )
    array = np.stack([line.values for line in lines])
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
            blank.append(row.line)
        else:
            yield row
    _tell_of_blank(blank)


def _tell_of_blank(blank: Sequence[int]) -> None:
    if blank:
        lines = some_of([f"line {line}" for line in blank])
        warn_user(f"{len(blank)} row{'s' if len(blank) > 1 else ''} without any value left out: {lines}")
