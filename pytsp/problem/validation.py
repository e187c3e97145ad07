"""Arrays that are given for instances, checked: refused by name, value and law, or taken as read-only copies."""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.metrics import Metric
from pytsp.utils.arguments import is_masked
from pytsp.utils.extremes import extremes
from pytsp.utils.memory import check_room
from pytsp.utils.notices import some_of, warn_user


class MappedFile(mmap.mmap):
    """A file that is read by mapping it: arrays on it are taken as they are, unlike those that a caller maps."""


FORBIDDEN = {"i": 2**31 - 1, "f": math.inf}
"""The distance, in a matrix of integers or of floats, that forbids an edge: no tour has one that can do without."""

# Kinds of coordinates, if not decimal degrees.
_DEGREES = {"GEO": "degrees and minutes (DDD.MM)"}
# Above it neighbouring integers share one float64, and x + 0.5 is no longer exact.
_LARGEST_EXACT = 2**52
# Above it a float64 square overflows.
_LARGEST_FLOAT = 1e150
# Below it the squares of what lies a little closer together than all do underflow, and distances become 0.
_LEAST_FLOAT = 1e-140
# GEO's coordinates are DDD.MM, so 0.60 is a whole degree. Decimal fractions are not exact.
_HOUR = 0.6 - 1e-9
# The bytes of the widest number.
_WIDEST = np.dtype(np.float64).itemsize
# Rows and columns that are compared together: two squares of them stay in the cache.
_SQUARE = 128


def as_numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """Return an array of integers or floats of at most 64 bits; refuse everything else."""
    array = as_array(values, what)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > _WIDEST:
        raise _not_numbers(array, values, what)
    return array


def as_distances(values: ArrayLike, what: str = "matrix") -> NDArray[Any]:
    """Return distances as `as_numbers` does; None among them, as road servers give it, forbids an edge."""
    array = as_array(values, what)
    if array.dtype.kind != "O" or array.ndim not in (1, 2):
        return as_numbers(array, what) if array.dtype.kind in "iuf" else as_numbers(values, what)
    is_missing = np.frompyfunc(_is_missing, 1, 1)(array).astype(np.bool_)
    is_number = np.frompyfunc(_is_number, 1, 1)(array).astype(np.bool_)
    if not (is_missing | is_number).all():
        raise _not_numbers(array, values, what, is_odd=~(is_missing | is_number))
    # Whole numbers stay whole.
    numbers = np.array(array[is_number].tolist())
    kind = "f" if numbers.dtype.kind == "f" else "i"
    distances = np.full(array.shape, FORBIDDEN[kind], np.float64 if kind == "f" else np.int64)
    distances[is_number] = numbers
    return distances


def as_array(values: ArrayLike, what: str) -> NDArray[Any]:
    """Return an array of any dtype, or say why there is none."""
    if is_masked(values):
        raise InstanceError(f"{what}: a masked array does not say what its masked elements are; fill them, by filled()")
    try:
        return np.asarray(values)
    # A tensor on another device, or one that is differentiated, raises the latter two.
    except (TypeError, ValueError, OverflowError, RuntimeError, BufferError) as error:
        raise InstanceError(f"{what} must be a rectangular array of numbers: {_uneven(values) or error}") from error


def _uneven(values: Any) -> str:
    """Name the first row of lists that has another number of elements than the first one has."""
    try:
        lengths = [len(row) for row in values]
    except TypeError:
        return ""
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    return "" if odd is None else f"row {odd} has {lengths[odd]} elements, but row 0 has {lengths[0]}"


def _is_missing(value: object) -> bool:
    # pandas has a value of its own for what is missing.
    return value is None or type(value).__name__ == "NAType"


def _is_number(value: object) -> bool:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return bool(-(2**63) <= value < 2**63)
    return isinstance(value, (float, np.floating))


def _not_numbers(
    array: NDArray[Any], values: ArrayLike, what: str, is_odd: NDArray[np.bool_] | None = None
) -> InstanceError:
    """Return the error that an array of another dtype is refused with: it names the first element that is no number.

    `is_odd` marks the elements that are refused; by default all that are no numbers.
    """
    remedy = "; convert it with astype"
    if array.dtype.kind in "OUS" and array.ndim:
        # NumPy makes texts of the numbers beside a text.
        elements = array if array.dtype.kind == "O" else np.asarray(values, dtype=object)
        where = np.ndindex(elements.shape) if is_odd is None else map(tuple, np.argwhere(is_odd))
        at = next((at for at in where if is_odd is not None or not _is_number(elements[at])), None)
        if at is not None:
            axes = ("element",) if array.ndim == 1 else ("row", "column", "layer")
            place = ", ".join(f"{axis} {k}" for axis, k in zip(axes, at, strict=False))
            remedy = f": {place} (counted from 0) is {elements[at]!r:.60}"
    return InstanceError(
        f"{what} must hold integers or floats of at most 64 bits, but the dtype is {array.dtype}{remedy}"
    )


def _owned(array: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """A read-only C-ordered copy, or the array itself if it is one already that nobody can change."""
    is_laid_out = array.flags.c_contiguous and array.flags.aligned and array.dtype == dtype
    if array.flags.writeable or not is_laid_out or not _is_for_good(array):
        check_room(f"a copy of an array of shape {array.shape}", array.size * np.dtype(dtype).itemsize)
        array = np.array(array, dtype=dtype, order="C", copy=True)
        array.setflags(write=False)
    return array


def _is_for_good(array: NDArray[Any]) -> bool:
    """Tell whether nobody can change a read-only array: it is no view, or one of bytes or of a file that was read."""
    base = array.base
    while isinstance(base, np.ndarray):
        if base.flags.writeable or base.base is None:
            return False
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base is None or isinstance(base, bytes | MappedFile)


def check_points(points: ArrayLike, what: str, widths: tuple[int, ...]) -> NDArray[np.float64]:
    array = as_numbers(points, what)
    if array.ndim != 2 or array.shape[1] not in widths or len(array) == 0:
        shapes = " or ".join(f"(n, {width})" for width in widths)
        raise InstanceError(f"{what} must have shape {shapes}, n at least 1, but the shape is {array.shape}")
    if array.dtype.kind in "iu" and max(-int(array.min()), int(array.max())) > 2**53:
        raise InstanceError(f"{what} must not exceed 2**53, where float64 ceases to hold every integer")
    owned = _owned(array, np.float64)
    for city, axis in np.argwhere(~np.isfinite(owned)):
        raise InstanceError(f"{what} must be finite, but [{city}, {axis}] is {owned[city, axis]}")
    return owned


def _longest(metric: Metric, farthest: float) -> float:
    """Return a bound on distances between points that on all axes together lie so far from 0."""
    return metric.stretch * 2.0 * farthest + 1.0


def _limit(metric: Metric, n: int) -> int | float:
    """Return up to which distance the lengths of tours of n cities are correct."""
    return min(_LARGEST_EXACT, 2**63 // (n + 1)) if metric.is_exact else _LARGEST_FLOAT


def coordinate_of(city: int, axis: int, labels: Sequence[object] | None = None) -> str:
    """Name a coordinate of the globe as messages do."""
    label = f", {str(labels[city])!r:.60}," if labels is not None and city < len(labels) else ""
    return f"the {('latitude', 'longitude')[axis]} of city {city}{label}"


def warn_of_minutes(points: NDArray[np.generic], metric: str, labels: Sequence[object] | None = None) -> None:
    """Warn of minutes of 60 and more in GEO's coordinates, shape (n, 2), or (b, n, 2) of many instances."""
    if metric != "GEO" or points.dtype.kind != "f":
        return
    is_odd = np.abs(points - np.trunc(points)) >= _HOUR
    if not is_odd.any():
        return
    places = np.argwhere(is_odd).tolist()
    named = [
        f"{coordinate_of(city, axis, labels)}{f' of instance {number[0]}' if number else ''} is {value}"
        for (*number, city, axis), value in zip(places, points[is_odd], strict=True)
    ]
    warn_user(
        f"metric GEO takes degrees and minutes, DDD.MM, but the minutes are 60 or more in {len(places)} of "
        f"{points.size} coordinates: {some_of(named)} (cities count from 0); decimal degrees are for "
        "metric HAVERSINE or GEOM"
    )


def check_coordinates(points: ArrayLike, metric: Metric, labels: Sequence[object] | None = None) -> NDArray[np.float64]:
    """Return coordinates that keep the laws of a metric; refuse others, by the name of their city if it has one."""
    array = as_numbers(points, "coordinates")
    if array.ndim == 2 and len(array) > 0 and array.shape[1] not in metric.widths:
        widths = " or ".join(map(str, metric.widths))
        raise InstanceError(f"{metric.name} needs {widths} coordinates a city; the shape is {array.shape}")
    owned = check_points(array, "coordinates", metric.widths)
    for city, axis in () if metric.limits is None else np.argwhere(np.abs(owned) > metric.limits):
        raise InstanceError(
            f"{metric.name} takes latitude and longitude in {_DEGREES.get(metric.name, 'decimal degrees')}, in this "
            f"order, up to {' and '.join(f'{limit:g}' for limit in metric.limits or ())}; "
            f"{coordinate_of(city, axis, labels)} is {owned[city, axis]} (cities count from 0)"
        )
    lows, highs = extremes(owned)
    with np.errstate(over="ignore"):
        extents = np.maximum(-lows, highs)
        places = len(extents) - metric.beside
        away = float(extents[places]) if metric.has_further else 0.0
        longest = max(_longest(metric, float(extents[:places].sum())), away) + (metric.longer or 0.0)
    limit = _limit(metric, len(owned))
    if longest > limit:
        raise InstanceError(
            f"coordinates of this size may lie {longest:.3g} apart, but {metric.name} lengths of a tour of "
            f"{len(owned)} cities are correct up to {limit:.3g} a distance only; scale the coordinates down"
        )
    extent = float((highs - lows)[:places].max())
    if not metric.is_exact and 0 < extent < _LEAST_FLOAT:
        raise InstanceError(
            f"coordinates that all lie within {extent:.3g} have {metric.name} lengths that float64 cannot hold; they "
            f"must extend over {_LEAST_FLOAT:g} at least, or not at all: scale the coordinates up"
        )
    return owned


def are_lawful(points: NDArray[Any], metric: Metric) -> bool:
    """Tell whether `check_coordinates` is sure to take each of many instances, coordinates of shape (b, n, d), by
    bounds on all of them; where it is not sure, it may take them yet."""
    if points.size == 0 or is_masked(points) or points.dtype.kind not in "iuf" or points.dtype.itemsize > _WIDEST:
        return False
    if points.shape[2] not in metric.widths or metric.beside:
        return False
    axes = [points[:, :, axis] for axis in range(points.shape[2])]
    farthest = [max(-float(each.min()), float(each.max())) for each in axes]
    if not all(math.isfinite(each) and each <= 2**53 for each in farthest):
        return False
    if metric.limits is not None and any(map(float.__gt__, farthest, metric.limits)):
        return False
    if _longest(metric, sum(farthest)) > _limit(metric, points.shape[1]):
        return False
    if metric.is_exact:
        return True
    extents = np.max([each.max(axis=1) - each.min(axis=1) for each in axes], axis=0)
    return not ((extents > 0) & (extents < _LEAST_FLOAT)).any()


def check_matrix(
    matrix: ArrayLike, may_be_asymmetric: bool, labels: Sequence[object] | None = None
) -> tuple[NDArray[Any], bool]:
    """The matrix, with zeros on its diagonal, and whether it is symmetric."""
    array = as_distances(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) == 0:
        raise InstanceError(f"matrix must have shape (n, n), n at least 1, but the shape is {array.shape}")
    n = len(array)
    if array.dtype.kind == "u" and int(array.max()) >= 2**63:
        raise InstanceError(f"matrix must not exceed int64, but its largest element is {array.max()}")
    owned = _owned(array, np.float64 if array.dtype.kind == "f" else np.int64)
    if owned.diagonal().any():
        if owned is array:
            owned = owned.copy()
        owned.setflags(write=True)
        np.fill_diagonal(owned, 0)
        owned.setflags(write=False)
    if owned.dtype.kind == "f" and np.isnan(owned).any():
        raise _breach(owned, np.isnan(owned), "must hold numbers", "; inf forbids an edge", labels)
    if owned.min() < 0:
        raise _breach(owned, owned < 0, "must not be negative", "", labels)
    is_symmetric = _is_symmetric(owned)
    if not is_symmetric and not may_be_asymmetric:
        way_out = "; asymmetric=True takes it as it is, (d + d.T) / 2 is symmetric where only rounding differs"
        raise _breach(owned, owned != owned.T, "must be symmetric", way_out, labels)
    limit = 2**63 // (n + 1) if owned.dtype.kind == "i" else np.finfo(np.float64).max / n
    if owned.max() > limit and (is_long := (owned > limit) & np.isfinite(owned)).any():
        raise _breach(owned, is_long, f"must not exceed {limit}, for a tour of {n} cities to be summed", "", labels)
    return owned, is_symmetric


def _is_symmetric(matrix: NDArray[Any]) -> bool:
    """Compare a matrix with its transpose, square by square."""
    starts = range(0, len(matrix), _SQUARE)
    return all(
        np.array_equal(matrix[i : i + _SQUARE, j : j + _SQUARE], matrix[j : j + _SQUARE, i : i + _SQUARE].T)
        for i in starts
        for j in starts[i // _SQUARE :]
    )


def _breach(
    matrix: NDArray[Any], where: NDArray[np.bool_], law: str, way_out: str, labels: Sequence[object] | None
) -> InstanceError:
    i, j = (int(k) for k in np.argwhere(where)[0])
    has_names = labels is not None and len(labels) == len(matrix)
    named = f" ({str(labels[i])!r:.60} to {str(labels[j])!r:.60})" if labels is not None and has_names else ""
    return InstanceError(
        f"matrix {law}, but [{i}, {j}]{named} is {matrix[i, j]} and [{j}, {i}] is {matrix[j, i]}{way_out}"
    )


def check_cities(cities: ArrayLike, n: int) -> NDArray[Any]:
    """Cities as an array of integers, each one of 0, …, n - 1."""
    array = np.asarray(cities)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InstanceError(f"cities must be integers, but their dtype is {array.dtype}")
    for city in (array.min(), array.max()):
        if not 0 <= city < n:
            raise InstanceError(f"city {city} is not one of 0 … {n - 1}")
    return array
