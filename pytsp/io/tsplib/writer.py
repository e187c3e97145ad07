"""Instances into TSPLIB files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytsp.exceptions import InstanceError
from pytsp.io.streams import Source, check_target, write_text
from pytsp.problem.instance import Instance
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
