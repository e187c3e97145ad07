"""Instances into TSPLIB files."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.io.tsplib.lexer import Source
from pytsp.problem.instance import Instance

__all__ = ["write"]


def write(target: Source, instance: Instance) -> None:
    """Write a TSPLIB instance file; `pytsp.read` reads the same instance back.

    Parameters
    ----------
    target : str, path-like or stream
        A path, ``"-"`` for standard output, or an open stream of bytes or text.
    instance : Instance
        With coordinates, or with a matrix of whole numbers, symmetric (TYPE TSP) or not (TYPE ATSP). Where to draw the
        cities is not written.

    Raises
    ------
    InstanceError
        If its distances are floating-point numbers, for which TSPLIB has no form; nothing is written then.
    OSError
        If the file cannot be written.
    """
    text = "\n".join(_lines(instance))
    if isinstance(target, (str, os.PathLike)) and target != "-":
        Path(target).write_text(text, encoding="utf-8", newline="\n")
        return
    stream = sys.stdout if isinstance(target, (str, os.PathLike)) else target
    if isinstance(stream, io.TextIOBase):
        stream.write(text)
    else:
        stream.write(text.encode("utf-8"))  # type: ignore[arg-type]


def _lines(instance: Instance) -> Iterator[str]:
    if not instance.is_exact:
        raise InstanceError(
            f"{instance.name or 'instance'}: metric {instance.metric} has floating-point distances, which a TSPLIB "
            "file cannot hold; write a metric that rounds, such as EUC_2D, or a matrix of whole numbers"
        )
    yield f"NAME : {' '.join(instance.name.split())}"
    yield f"TYPE : {'ATSP' if instance.asymmetric else 'TSP'}"
    for line in instance.comment.splitlines():
        yield f"COMMENT : {' '.join(line.split())}"
    yield f"DIMENSION : {instance.n}"
    yield f"EDGE_WEIGHT_TYPE : {instance.metric}"
    if instance.coordinates is not None:
        yield "NODE_COORD_SECTION"
        yield from (
            f"{city} {' '.join(map(repr, point))}" for city, point in enumerate(_plain(instance.coordinates), start=1)
        )
    else:
        yield "EDGE_WEIGHT_FORMAT : FULL_MATRIX"
        yield "EDGE_WEIGHT_SECTION"
        yield from (" ".join(map(str, row)) for row in instance.distance_matrix().tolist())
    yield "EOF\n"


def _plain(coordinates: NDArray[np.float64]) -> list[list[float]]:
    """Return the coordinates as whole numbers if they all are, so that files stay short."""
    whole = bool(np.all(np.floor(coordinates) == coordinates) and np.all(np.abs(coordinates) < 2**53))
    points: list[list[float]] = (coordinates.astype(np.int64) if whole else coordinates).tolist()
    return points
