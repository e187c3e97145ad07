"""Segments of a table: two points a line, or one, below a header."""

from __future__ import annotations

import csv
import io
import math

import numpy as np

from pytsp.exceptions import InstanceError
from pytsp.io.segments.drawing import Drawing, Order, group_named

_ENDS = (("x1", "y1", "x2", "y2"), ("x_start", "y_start", "x_end", "y_end"), ("start_x", "start_y", "end_x", "end_y"))
_POINT = ("x", "y")
_SEPARATORS = ";\t,"


def read_segment_table(text: str) -> Drawing:
    """Read a table with columns x1, y1, x2 and y2, or x and y, and perhaps layer, pen, group or tool."""
    lines = text.splitlines(keepends=True)
    head = next((number for number, line in enumerate(lines) if line.strip()), None)
    if head is None:
        raise InstanceError("the table is empty")
    separator = next((each for each in _SEPARATORS if each in lines[head]), ",")
    ending = "\r\n" if lines[head].endswith("\r\n") else "\n"
    reader = csv.reader(lines[head:], delimiter=separator)
    try:
        header = next(reader)
        rows = [(head + reader.line_num, row) for row in reader if any(field.strip() for field in row)]
    except csv.Error as error:
        raise InstanceError(f"line {head + reader.line_num}: {error}") from error
    named = {name.strip().lower(): place for place, name in enumerate(header)}
    columns = next((each for each in (*_ENDS, _POINT) if all(name in named for name in each)), None)
    if columns is None:
        known = ", or ".join(" ".join(each) for each in (*_ENDS, _POINT))
        raise InstanceError(f"line {head + 1}: the header must have columns {known}; it has {', '.join(header):.100}")
    places = [named[name] for name in columns]
    numbers = np.array([_numbers(line, row, places, header) for line, row in rows]).reshape(len(rows), -1, 2)
    group = group_named(header)
    groups = None if group is None else [row[header.index(group)].strip() for _, row in rows]

    def write(order: Order) -> str:
        made = io.StringIO()
        writer = csv.writer(made, delimiter=separator, lineterminator=ending)
        writer.writerow(header)
        for number, is_flipped in zip(order.order.tolist(), order.flips.tolist(), strict=True):
            row = [*rows[number][1]]
            if is_flipped:
                first, second = places[:2], places[2:]
                for a, b in zip(first, second, strict=True):
                    row[a], row[b] = row[b], row[a]
            writer.writerow(row)
        return "".join(lines[:head]) + made.getvalue()

    return Drawing([*numbers], groups, "EUCLIDEAN", write)


def _numbers(line: int, row: list[str], places: list[int], header: list[str]) -> list[float]:
    """Return the coordinates of a row."""
    if len(row) != len(header):
        raise InstanceError(f"line {line}: {len(row)} fields, but the header has {len(header)}")
    found = []
    for place in places:
        try:
            number = float(row[place])
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InstanceError(
                f"line {line}, column {header[place].strip()}: {row[place]!r:.40} is not a finite number"
            )
        found.append(number)
    return found
