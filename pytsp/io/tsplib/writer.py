"""TSPLIB's instances and tours into their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from pytsp.exceptions import InstanceError
from pytsp.io.streams import Source, check_target, is_path, write_text
from pytsp.problem.instance import Instance
from pytsp.problem.tours import check_tour
from pytsp.utils.text import one_line


def write(target: Source, instance: Instance) -> None:
    """Write a TSPLIB instance file; `pytsp.read` reads the same instance back.

    Parameters
    ----------
    target : str, path-like or stream
        A path, ``"-"`` for standard output, or an open stream of bytes or text.
    instance : Instance
        With coordinates, or with a matrix of whole numbers, symmetric (TYPE TSP) or not (TYPE ATSP). Fixed edges are
        written, `display` is not.

    Raises
    ------
    InstanceError
        If its distances are floating-point numbers, for which TSPLIB has no form; nothing is written then.
    TypeError
        If an argument has another type.
    OSError
        If the file cannot be written.
    """
    check_target(target)
    if not isinstance(instance, Instance):
        raise TypeError(f"instance must be a pytsp.Instance; it is a {type(instance).__name__}")
    write_text(target, "\n".join(_lines(instance)), errors="strict")


def _lines(instance: Instance) -> Iterator[str]:
    if not instance.is_exact:
        raise InstanceError(
            f"{instance.name or 'instance'}: metric {instance.metric} has floating-point distances, which a TSPLIB "
            "file cannot hold; write a metric that rounds, such as EUC_2D, or a matrix of whole numbers"
        )
    yield f"NAME : {one_line(instance.name)}"
    yield f"TYPE : {'ATSP' if instance.asymmetric else 'TSP'}"
    for line in instance.comment.splitlines():
        yield f"COMMENT : {one_line(line)}"
    yield f"DIMENSION : {instance.n}"
    yield f"EDGE_WEIGHT_TYPE : {instance.metric}"
    if instance.coordinates is not None:
        yield "NODE_COORD_SECTION"
        yield from (f"{city} {' '.join(map(repr, point))}" for city, point in enumerate(_points(instance), start=1))
    else:
        yield "EDGE_WEIGHT_FORMAT : FULL_MATRIX"
        yield "EDGE_WEIGHT_SECTION"
        yield from (" ".join(map(str, row)) for row in instance.distance_matrix().tolist())
    if instance.fixed is not None:
        yield "FIXED_EDGES_SECTION"
        yield from (f"{a} {b}" for a, b in (instance.fixed + 1).tolist())
        yield "-1"
    yield "EOF\n"


def _points(instance: Instance) -> list[list[float]]:
    """Return the coordinates as whole numbers if they all are, so that files stay short."""
    points = instance.coordinates
    assert points is not None
    whole = bool(np.all(np.floor(points) == points) and np.all(np.abs(points) < 2**53))
    rows: list[list[float]] = (points.astype(np.int64) if whole else points).tolist()
    return rows


def write_tour(
    target: Source, tour: ArrayLike, *, name: str | None = None, comment: str = "", length: int | float | None = None
) -> None:
    """Write a TSPLIB tour file; `read_tour` reads it back unchanged.

    Parameters
    ----------
    target : str, path-like or stream
        A path, ``"-"`` for standard output, or an open stream of bytes or text.
    tour : array_like of integers, shape (n,)
        Cities counted from 0, each once.
    name : str, optional
        The file's NAME; by default the path's last part.
    comment : str
        Any number of lines.
    length : int or float, optional
        The tour's length, written as a comment.

    Raises
    ------
    TourError
        If `tour` does not visit every city exactly once; nothing is written then.
    TypeError
        If `target` is not one of these.
    OSError
        If the file cannot be written.
    """
    check_target(target)
    cities = check_tour(tour, np.size(tour))
    if name is None:
        name = Path(target).name if is_path(target) else "tour"
    comments = [*comment.splitlines(), *([] if length is None else [f"Length {length}"])]
    lines = [
        f"NAME : {one_line(name)}",
        *(f"COMMENT : {one_line(line)}" for line in comments),
        "TYPE : TOUR",
        f"DIMENSION : {len(cities)}",
        "TOUR_SECTION",
        *map(str, (cities.astype(np.int64) + 1).tolist()),
        "-1",
        "EOF\n",
    ]
    write_text(target, "\n".join(lines))
