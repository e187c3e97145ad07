"""The form in which a kernel gets an instance: whole-number distances, as a matrix or from points."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.doubled import DoubledWays
from pytsp.problem.instance import Instance
from pytsp.problem.location import SPHERES, further_city, is_located, is_planar, located, places_of
from pytsp.problem.long_edges import shorten_edges
from pytsp.problem.metrics import (
    ARCS_UP,
    arc_over,
    arcs,
    metric_named,
    with_further,
    with_pairs,
)
from pytsp.utils.deadline import look
from pytsp.utils.extremes import extremes
from pytsp.utils.memory import check_room

# A gain adds two distances and subtracts two: under this bound it never leaves 32 bits.
MOST_DISTANCE = 2**30 - 1
# `grid` keeps r * r + r in 32 bits for every root r.
MOST_GRID_DISTANCE = 46_000
MATRIX_BYTES = 2 * 2**30
# Points of a sphere are told to 2**-40 of its radius: of less than 2**-34 kilometres their arcs know nothing.
LEAST_ARC_EXPONENT = -34
# A matrix of fewer cities fits a core's cache, and is faster there than most formulas.
MATRIX_CITIES = 1_500
# About what a byte of a matrix takes that is written for the first time, be it here or where kernels have their copy.
BYTE_SECONDS = 1e-9
# Bytes from which on writing is tried first: memory that a virtual machine gets from its host takes ten times as long.
MANY_BYTES = 1 << 28
# Bytes that are tried.
TRIED_BYTES = 1 << 25
# Bytes per floating-point distance whose writing takes as long as the check for distances out of proportion.
SHORTENED_BYTES = 12
# Distances converted together: what that needs in between stays in the cache.
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Form:
    """Input of a kernel: an instance in one form of distances.

    `kind` is the prefix of the kernels' entry points: "grid", "plane", "space" or "matrix"; `arguments` load the
    instance. Tour lengths of `whole`, an instance of whole numbers, are the kernel's. It is the instance itself, a
    scaled copy in which edges that no short tour has are shortened, or points in space for cities of a sphere. One unit
    of the kernel's lengths is 2**exponent of the instance's, which may be less than the smallest number. They are equal
    if `is_exact`.
    """

    kind: str
    arguments: tuple[NDArray[np.generic] | bool | int | float, ...]
    whole: Instance
    exponent: int = 0
    is_exact: bool = True
    is_shortened: bool = False

    @property
    def unit(self) -> int | float:
        """One unit of the kernel's lengths in the instance's, or 0 if it is below the smallest number."""
        return math.ldexp(1.0, self.exponent) if self.exponent else 1

    def to_lengths(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the kernel's lengths in the instance's units, each rounded once."""
        return np.ldexp(lengths.astype(np.float64), self.exponent)

    def in_units(self, length: float) -> float:
        """Return one of the instance's lengths in the kernel's units; infinite where that is too large."""
        return float(np.ldexp(np.float64(length), -self.exponent))


def form_of(instance: Instance, *, in_space_above: int | None = None) -> Form:
    """Choose the form of an instance: points where that is exact, else the matrix.

    More cities than `in_space_above` are points by metrics other than EUC_2D and CEIL_2D, too; the distances are the
    same.

    Lengths of GEO, GEOM and HAVERSINE are computed from chords, by an arc sine that every processor computes alike. A
    length of GEO may differ from TSPLIB's by one kilometre where the distance is a whole number but for 10^-8, and a
    length of GEOM from Concorde's by one metre.

    Floating-point distances are multiplied by the power of two that brings the longest to 2**28 … 2**29, and rounded.
    In a matrix, edges that no short tour has are shortened before (`shorten_edges`). Users see lengths of the instance
    itself.

    A distance of a short tour above 2**30 - 1, a matrix above 2 GiB, or asymmetric distances raise `InstanceError`.
    """
    if instance.asymmetric:
        raise InstanceError(
            f"{instance.name or 'instance'}: its distances are asymmetric, which kernels do not take; pytsp.solve "
            "solves it through a symmetric instance (see pytsp.problem.asymmetric)"
        )
    if is_planar(instance):
        return _planes([instance])[0]
    if isinstance(instance, DoubledWays):
        # No edge is out of proportion, and all are scaled as they are doubled.
        check_kernel_matrix(instance, 8 * instance.n**2)
        exponent = _exponent(instance.forbidden)
        return _scaled_form(instance.scaled(exponent), instance.name, exponent)
    if instance.matrix is not None:
        if instance.matrix.dtype != np.int32:
            # Kernels have a copy, and looking for edges to be shortened takes less than that.
            _check_size(instance)
            check_kernel_matrix(instance, 8 * instance.n**2)
            look(instance.n**2, (1 if instance.is_exact else SHORTENED_BYTES) * BYTE_SECONDS * instance.n**2)
        distances = shorten_edges(instance.matrix, MOST_DISTANCE)
        if distances is instance.matrix:
            return _matrix_form(instance)
        shortened = _matrix_form(Instance._of_lawful(distances, instance.name))
        return replace(shortened, is_exact=False, is_shortened=True)
    # Places within some metres are too close together for points of a sphere.
    if instance.metric.startswith("HAVERSINE") and _exponent(_longest_of_all(instance)) < LEAST_ARC_EXPONENT:
        return _matrix_form(instance)
    whole, exponent = _in_whole_numbers(instance)
    may_be_in_space = in_space_above is not None and whole.n > in_space_above
    if may_be_in_space and metric_named(whole.metric).formula is not None:
        return Form("space", _in_space(whole), whole, exponent, whole is instance)
    return Form("matrix", (_matrix(whole),), whole, exponent, whole is instance)


def forms_of(instances: Sequence[Instance]) -> list[Form]:
    """Return the form of each instance (`form_of`): of equally large ones in the plane in fewer steps."""
    forms: dict[int, Form] = {}
    alike: dict[tuple[str, int], list[int]] = {}
    for number, instance in enumerate(instances):
        if is_planar(instance):
            alike.setdefault((instance.metric, instance.n), []).append(number)
        else:
            forms[number] = form_of(instance)
    for (_, n), numbers in alike.items():
        together = max(1, _BLOCK // n)
        for first in range(0, len(numbers), together):
            block = numbers[first : first + together]
            forms |= zip(block, _planes([instances[number] for number in block]), strict=True)
    return [forms[number] for number in range(len(instances))]


def is_in_space_only(instance: Instance) -> bool:
    """Tell whether an instance has more cities than a matrix, which a GPU would need: they are not of the plane."""
    if 4 * instance.n**2 <= MATRIX_BYTES or instance.coordinates is None or is_planar(instance):
        return False
    return is_located(instance)


def longest_distance(instance: Instance) -> float:
    """Return a bound on distances between coordinates, without the further city and what parts pairs."""
    found, metric = located(instance), metric_named(instance.metric)
    assert found is not None
    low, high = extremes(found.points)
    sides = high - low
    if metric.radius > 0:
        return metric.radius * arc_over(float(np.linalg.norm(sides))) + metric.is_exact
    near = metric_named(metric.alone)
    return float(near.length(np.zeros_like(sides), sides)) + metric.is_exact


def written_seconds(size: int) -> float:
    """Return the estimated seconds to write `size` bytes for the first time, which nothing interrupts."""
    if size < MANY_BYTES:
        return BYTE_SECONDS * size
    began = time.perf_counter()
    np.ones(TRIED_BYTES, dtype=np.uint8)
    return max(BYTE_SECONDS, (time.perf_counter() - began) / TRIED_BYTES) * size


def check_kernel_matrix(instance: Instance, made: int) -> None:
    """Raise `InstanceError` or `OutOfTime` before a matrix is made for kernels; `made` bytes count their copy."""
    check_room(f"{instance.name or 'instance'}: distances for kernels, of {instance.n} cities,", made)
    look(instance.n**2, written_seconds(made))


def _planes(instances: Sequence[Instance]) -> list[Form]:
    """Return the forms of instances in the plane, of one metric and equally large."""
    metric = instances[0].metric
    every = [instance.coordinates for instance in instances if instance.coordinates is not None]
    # Of one instance whose columns lie so there is no copy.
    axes = np.ascontiguousarray((every[0][None] if len(every) == 1 else np.stack(every)).transpose(0, 2, 1))
    low, sides = _box(axes)
    exponents: list[int] = [0] * len(every)
    wholes = instances
    if metric == "EUCLIDEAN":
        exponents = [_exponent(each) for each in metric_named(metric).length(np.zeros_like(sides), sides).tolist()]
        # All lie from 0 to 2**29.
        axes = np.ldexp(axes - low[:, :, None], -np.array(exponents, dtype=np.int32)[:, None, None])
        low, sides = _box(axes)
        wholes = [
            Instance._of_lawful(each.T, instance.name, "EUC_2D") for each, instance in zip(axes, instances, strict=True)
        ]
    longest = np.hypot(*sides.T)
    for instance, length in zip(instances, longest.tolist(), strict=True):
        _check_longest(instance, length)
    may_be_grids = longest <= MOST_GRID_DISTANCE if metric != "CEIL_2D" else np.zeros(len(axes), dtype=np.bool_)
    # Less what all have in common, which would grow with the scale.
    grids = {at: axes[at] - low[at][:, None] for at in np.flatnonzero(may_be_grids).tolist()}
    forms = []
    for at, (whole, exponent) in enumerate(zip(wholes, exponents, strict=True)):
        grid, is_exact = grids.pop(at, None), metric != "EUCLIDEAN"
        if grid is not None and bool(np.all(grid == np.floor(grid))):
            xs, ys = grid.astype(np.int32)
            forms.append(Form("grid", (xs, ys), whole, exponent, is_exact))
        else:
            # Not shifted: rounding is defined on differences of the coordinates as they stand in the file.
            xs, ys = axes[at]
            forms.append(Form("plane", (xs, ys, metric == "CEIL_2D"), whole, exponent, is_exact))
    return forms


def _box(axes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least of each axis, and what the largest is more, of axes of shape (b, d, n)."""
    low = axes.min(axis=2)
    return low, axes.max(axis=2) - low


def _longest_of_all(instance: Instance) -> float:
    """Return a bound on all distances, the further city's too."""
    assert instance.coordinates is not None
    metric = metric_named(instance.metric)
    away = float(instance.coordinates[:, -metric.beside].max()) if metric.has_further else 0.0
    return max(longest_distance(instance), away) + (metric.longer or 0.0)


def _in_whole_numbers(instance: Instance) -> tuple[Instance, int]:
    """Return an instance whose lengths are whole numbers and the kernels', and the exponent of their unit."""
    assert instance.coordinates is not None
    given, further = metric_named(instance.metric), further_city(instance)
    name = given.alone
    if instance.is_exact and name not in SPHERES:
        return instance, 0
    found = located(instance)
    assert found is not None
    places, exponent, metric = found.points, 0, ARCS_UP.get(name)
    if metric is None:
        exponent = _exponent(_longest_of_all(instance))
        metric = arcs(exponent)
    if name not in SPHERES:
        metric = "EUC_2D" if places.shape[1] == 2 else "EUC_3D"
        places = np.ldexp(places - extremes(places)[0], -exponent)
        if not given.beside:
            # All lie from 0 to 2**29.
            return Instance._of_lawful(places, instance.name, metric), exponent
    columns = [places]
    if further is not None:
        aways = np.rint(np.ldexp(instance.coordinates[:, -given.beside], -exponent))
        aways[further] = -1
        columns.append(aways[:, None])
        metric = with_further(metric)
    if given.longer is not None:
        columns.append(instance.coordinates[:, -1:])
        metric = with_pairs(metric, round(math.ldexp(given.longer, -exponent)))
    return Instance.from_coordinates(np.column_stack(columns), metric=metric, name=instance.name), exponent


def _in_space(whole: Instance) -> tuple[NDArray[np.generic] | bool | int | float, ...]:
    """Return what `space` computes distances from."""
    metric, coordinates = metric_named(whole.metric), whole.coordinates
    assert coordinates is not None and metric.formula is not None
    longer = 0 if metric.longer is None else int(metric.longer)
    _check_longest(whole, longest_distance(whole) + longer)
    axes = [np.ascontiguousarray(axis) for axis in places_of(whole).T]
    axes += [np.zeros(whole.n)] * (3 - len(axes))
    away = coordinates[:, -metric.beside].astype(np.int32) if metric.has_further else np.zeros(whole.n, np.int32)
    ties = np.arange(whole.n, dtype=np.int32) if metric.longer is None else coordinates[:, -1].astype(np.int32)
    return (*axes, away, ties, metric.formula, metric.radius, longer)


def _matrix_form(instance: Instance) -> Form:
    """Return the form of an instance whose distances become a matrix, or are scaled."""
    if instance.is_exact:
        return Form("matrix", (_matrix(instance),), instance)
    _check_size(instance)
    check_kernel_matrix(instance, (8 if instance.matrix is not None else 20) * instance.n**2)
    distances = instance.distance_matrix() if instance.matrix is None else instance.matrix
    exponent = _exponent(float(distances.max(initial=0)))
    whole = _in_blocks(instance.n, lambda block: np.rint(np.ldexp(distances[block], -exponent)))
    if instance.matrix is None:
        # A sine's last bit may depend on where in an array it stands, and so on the order of two cities.
        np.maximum(whole, whole.T, out=whole)
    return _scaled_form(whole, instance.name, exponent)


def _scaled_form(whole: NDArray[np.int32], name: str, exponent: int) -> Form:
    return Form("matrix", (whole,), Instance._of_lawful(whole, name), exponent, is_exact=False)


def _matrix(instance: Instance) -> NDArray[np.int32]:
    _check_size(instance)
    if instance.matrix is not None and instance.matrix.dtype == np.int32:
        # It was made for kernels.
        return instance.matrix
    check_kernel_matrix(instance, 8 * instance.n**2)

    def rows_of(block: slice) -> NDArray[Any]:
        rows = instance.distance_rows(block.start, block.stop)
        _check_longest(instance, int(rows.max(initial=0)))
        return rows

    return _in_blocks(instance.n, rows_of)


def _in_blocks(n: int, rows_of: Callable[[slice], NDArray[Any]]) -> NDArray[np.int32]:
    """Return a matrix of whole numbers, shape (n, n), made some rows at a time."""
    matrix = np.empty((n, n), dtype=np.int32)
    rows = max(1, _BLOCK // n)
    for first in range(0, n, rows):
        look(first * n)
        block = slice(first, first + rows)
        matrix[block] = rows_of(block)
    return matrix


def check_side(instance: Instance, needs: str, side: int, *, places: int = 1, further: int = 0, size: str = "") -> None:
    """Refuse an instance that needs too large a matrix for kernels, of `places` for a city and of `further` ones."""
    most = math.isqrt(MATRIX_BYTES // 4) // places - further
    if 4 * side * side > MATRIX_BYTES:
        raise InstanceError(
            f"{instance.name or 'instance'}: {needs} matrix of {side} x {side} distances{size}; the limit is "
            f"{MATRIX_BYTES / 2**30:.0f} GiB ({most} cities)"
        )


def _check_size(instance: Instance) -> None:
    size = f", {4 * instance.n**2 / 2**30:.1f} GiB"
    check_side(instance, f"metric {instance.metric} needs a", instance.n, size=size)


def _exponent(longest: float) -> int:
    """Return the exponent of the power of two by which `longest` is 2**28 … 2**29."""
    return math.frexp(longest)[1] - 29 if longest > 0 else 0


def _check_longest(instance: Instance, longest: float) -> None:
    if longest > MOST_DISTANCE:
        raise InstanceError(
            f"{instance.name or 'instance'}: the longest distance is {longest:.0f}; kernels take distances up to "
            f"{MOST_DISTANCE}: divide the coordinates or distances by a common factor"
        )
