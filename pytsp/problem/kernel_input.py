"""The form in which a kernel gets an instance: whole-number distances, as a matrix or from points of the plane."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.instance import Instance
from pytsp.problem.long_edges import shorten_edges

# A gain adds two distances and subtracts two: under this bound it never leaves 32 bits.
MOST_DISTANCE = 2**30 - 1
# `grid` keeps r * r + r in 32 bits for every root r.
MOST_GRID_DISTANCE = 46_000
MATRIX_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Form:
    """What a kernel computes on.

    Attributes
    ----------
    kind : str
        The prefix of the kernels' entry points: "grid", "plane" or "matrix".
    arguments : tuple
        The arguments of the entry point that loads the instance.
    whole : Instance
        An instance with whole-number distances whose tour lengths are the kernel's, to check them by: the instance
        itself, or a copy that is scaled where distances are floating-point numbers, and in which edges that no short
        tour has are shortened.
    exponent : int
        One unit of the kernel's lengths is 2**exponent of the instance's; that may be less than the smallest number.
    is_exact : bool
        Whether the kernel's lengths are the instance's.
    is_shortened : bool
        Whether there are edges that are shortened.
    """

    kind: str
    arguments: tuple[NDArray[np.generic] | bool, ...]
    whole: Instance
    exponent: int = 0
    is_exact: bool = True
    is_shortened: bool = False

    @property
    def unit(self) -> int | float:
        """What one unit of the kernel's lengths is in the instance's, 0 where that is less than the smallest number."""
        return math.ldexp(1.0, self.exponent) if self.exponent else 1

    def to_lengths(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the kernel's lengths in the instance's units, each rounded once."""
        return np.ldexp(lengths.astype(np.float64), self.exponent)

    def in_units(self, length: float) -> float:
        """Return one of the instance's lengths in the kernel's units; infinite where that is too large."""
        return float(np.ldexp(np.float64(length), -self.exponent))


def form_of(instance: Instance) -> Form:
    """Choose the form of an instance: points where that is exact, else the matrix.

    Floating-point distances (metric EUCLIDEAN, or a floating-point matrix) are multiplied by the power of two that
    brings the longest to 2**28 … 2**29, and rounded: a climber then compares them to a relative precision of 2**-28 of
    the longest. In a matrix, edges that no short tour has are shortened before (see `shorten_edges`). Lengths that
    users see are computed from the instance itself.

    Raises
    ------
    InstanceError
        If a distance that a short tour may have exceeds 2**30 - 1, the matrix that the metric needs exceeds 2 GiB, or
        the instance is asymmetric.
    """
    if instance.asymmetric:
        raise InstanceError(
            f"{instance.name or 'instance'}: its distances are asymmetric, which kernels do not take; pytsp.solve "
            "solves it through a symmetric instance (see pytsp.asymmetric)"
        )
    if instance.metric in ("EUC_2D", "CEIL_2D"):
        return _plane(instance)
    if instance.matrix is not None:
        distances = shorten_edges(instance.matrix, MOST_DISTANCE)
        if distances is not instance.matrix:
            shortened = _matrix_form(Instance.from_matrix(distances, name=instance.name))
            return replace(shortened, is_exact=False, is_shortened=True)
    return _matrix_form(instance)


def least_and_largest(d: NDArray[Any]) -> tuple[Any, Any]:
    """Return the least and the largest distance between two cities, as Python's numbers; zeros where there is one city.

    The diagonal, which is no distance, is written over meanwhile and is 0 afterwards; a copy would be as large as all.
    """
    if len(d) < 2:
        return d.dtype.type(0).item(), d.dtype.type(0).item()
    largest = d.max().item()
    np.fill_diagonal(d, largest)
    least = d.min().item()
    np.fill_diagonal(d, 0)
    return least, largest


def _plane(instance: Instance) -> Form:
    assert instance.coordinates is not None
    points = _shifted(instance)
    longest = float(np.hypot(*points.max(axis=0)))
    _check_longest(instance, longest)
    up = instance.metric == "CEIL_2D"
    if not up and longest <= MOST_GRID_DISTANCE and bool(np.all(points == np.floor(points))):
        xs, ys = np.ascontiguousarray(points.T.astype(np.int32))
        return Form("grid", (xs, ys), instance)
    # Not shifted: rounding is defined on differences of the coordinates as they stand in the file.
    xs, ys = np.ascontiguousarray(instance.coordinates.T)
    return Form("plane", (xs, ys, up), instance)


def _matrix_form(instance: Instance) -> Form:
    """Return the form of an instance whose distances become a matrix, or are scaled."""
    return Form("matrix", (_matrix(instance),), instance) if instance.is_exact else _scaled(instance)


def _scaled(instance: Instance) -> Form:
    if instance.metric == "EUCLIDEAN" and (points := _shifted(instance)).shape[1] == 2:
        exponent = _exponent(float(np.hypot(*points.max(axis=0))))
        scaled = Instance.from_coordinates(np.ldexp(points, -exponent), metric="EUC_2D", name=instance.name)
        return replace(_plane(scaled), exponent=exponent, is_exact=False)
    distances = instance.distance_matrix()
    exponent = _exponent(float(distances.max(initial=0)))
    whole = np.rint(np.ldexp(distances, -exponent)).astype(np.int64)
    # A sine's last bit may depend on where in an array it stands, and so on the order of two cities.
    scaled = Instance.from_matrix(np.maximum(whole, whole.T), name=instance.name)
    return Form("matrix", (_matrix(scaled),), scaled, exponent=exponent, is_exact=False)


def _matrix(instance: Instance) -> NDArray[np.int32]:
    n = instance.n
    if 4 * n * n > MATRIX_BYTES:
        raise InstanceError(
            f"{instance.name or 'instance'}: metric {instance.metric} needs a matrix of {n} x {n} distances, "
            f"{4 * n * n / 2**30:.1f} GiB; the limit is {MATRIX_BYTES / 2**30:.0f} GiB "
            f"({math.isqrt(MATRIX_BYTES // 4)} cities)"
        )
    matrix = np.empty((n, n), dtype=np.int32)
    rows = max(1, 2**22 // n)
    cities = np.arange(n)
    for first in range(0, n, rows):
        block = instance.distances(cities[first : first + rows, None], cities[None, :])
        _check_longest(instance, int(block.max(initial=0)))
        matrix[first : first + rows] = block
    return matrix


def _shifted(instance: Instance) -> NDArray[np.float64]:
    """Return the coordinates less what all have in common, which would grow with the scale."""
    assert instance.coordinates is not None
    shifted: NDArray[np.float64] = instance.coordinates - instance.coordinates.min(axis=0)
    return shifted


def _exponent(longest: float) -> int:
    """Return the exponent of the power of two by which `longest` is 2**28 … 2**29."""
    return math.frexp(longest)[1] - 29 if longest > 0 else 0


def _check_longest(instance: Instance, longest: float) -> None:
    if longest > MOST_DISTANCE:
        raise InstanceError(
            f"{instance.name or 'instance'}: the longest distance is {longest:.0f}; kernels take distances up to "
            f"{MOST_DISTANCE}: divide the coordinates or distances by a common factor"
        )
