"""Instances out of files, by their endings: .csv, .geojson, and TSPLIB's for all others."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytsp.exceptions import InstanceError
from pytsp.io.convert import as_instance, of_columns
from pytsp.io.tsplib.reader import read
from pytsp.problem.instance import Instance


def read_any(path: Path | str, metric: str | None = None) -> Instance:
    """Read an instance: of ``*.csv``, whose header names columns x and y, or latitude and longitude; of ``*.geojson``;
    or of TSPLIB's files, ``"-"`` for one on standard input.

    A `metric`, as `as_instance` takes it, is for the others than TSPLIB's, which say their own.
    """
    ending = Path(path).suffix.lower()
    if ending in _READERS:
        try:
            return _READERS[ending](Path(path), metric)
        except UnicodeDecodeError as error:
            raise InstanceError(f"{path}: it is not a text in UTF-8: {error}") from error
    if metric is not None:
        raise InstanceError(f"{path}: metric {metric!r} is for .csv and .geojson files; a TSPLIB file says its own")
    return read(path)


def says_its_metric(path: Path) -> bool:
    """Tell whether a file's format has a word for the metric; those of the others are said beside them."""
    return path.suffix.lower() not in _READERS


def _read_csv(path: Path, metric: str | None) -> Instance:
    rows: list[list[str]] = []
    lines: list[int] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = [label.strip() for label in next(reader, [])]
            for row in filter(None, reader):
                if len(row) != len(header):
                    raise InstanceError(
                        f"{path}:{reader.line_num}: {len(row)} fields, but the header has {len(header)}"
                    )
                lines.append(reader.line_num)
                rows.append(row)
        except csv.Error as error:
            raise InstanceError(f"{path}:{reader.line_num}: {error}") from error
    if len(set(header)) < len(header):
        raise InstanceError(f"{path}:1: columns must have different names; the header is: {', '.join(header)}")
    table = _Numbers({label: [row[index] for row in rows] for index, label in enumerate(header)}, lines)
    with _named(path):
        return of_columns(table, metric, None, path.stem)


class _Numbers(dict[str, list[str]]):
    """A table of texts whose columns are lists of numbers where they are asked for."""

    def __init__(self, table: dict[str, list[str]], lines: Sequence[int]) -> None:
        super().__init__(table)
        self._lines = lines

    def __getitem__(self, label: str) -> Any:
        return [_number(text, label, line) for text, line in zip(super().__getitem__(label), self._lines, strict=True)]


def _number(text: str, label: str, line: int) -> float:
    try:
        # Python's own readers take 1_000 for a number, which is none in a table.
        return float(text.replace("_", "?"))
    except ValueError:
        raise InstanceError(f"line {line}, column {label}: {text!r:.60} is not a number") from None


def _read_geojson(path: Path, metric: str | None) -> Instance:
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InstanceError(f"{path}: it is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise InstanceError(f"{path}: GeoJSON is an object; this is a {type(document).__name__}")
    with _named(path):
        return as_instance(document, metric=metric, name=path.stem)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Have errors name the file."""
    try:
        yield
    except InstanceError as error:
        raise InstanceError(f"{path}: {error}") from error


_READERS = {".csv": _read_csv, ".geojson": _read_geojson}
