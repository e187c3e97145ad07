"""The doubt about a tour whose search compared lengths that were rounded too coarsely for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.run.result import Result
from pytsp.utils.notices import MOST_NAMED, some_of, warn_user

# The share of the mean way that a unit may be.
MOST_SHARE = 1e-6
# The share of the mean way between the others that a unit may be where cities are far from all others.
MOST_REST_SHARE = 1e-4
# Most edges whose roundings may all add up; those of more even out.
MOST_WAYS = 128
# The share of the cities that may be far from all others.
FAR_SHARE = 0.25
# A tour to a city far from all others is shorter than this in units: four times the longest distance.
LONGEST_FAR_TOUR = 2.0**31


def with_doubt(result: Result, *, is_rescaled: bool = False) -> Result:
    """Return a result with `is_coarse`. If it `is_rescaled`, the distances may be coarser than its unit."""
    instance, tour, is_open = result.instance, result.tour, result.is_open
    doubtful = is_coarse(instance, tour, result.length, result.resolution, is_open=is_open)
    if is_rescaled and not doubtful:
        doubtful = bool(_far_cities(instance, tour, _unit(result), is_open=is_open)[0])
    return replace(result, is_coarse=True) if doubtful else result


def warn_of_resolution(result: Result) -> None:
    """Warn of a result that is coarse."""
    instance, length, unit = result.instance, result.length, _unit(result)
    # Where the unit is not too coarse for all cities, some are known to be far.
    is_known = not _is_coarse_for_all(instance.n, length, result.resolution)
    cities, rest = _far_cities(instance, result.tour, unit, is_open=result.is_open, is_known=is_known)
    kind = "path" if result.is_open else "tour"
    if cities:
        shown = some_of([_describe(instance, city) for city in cities[:MOST_NAMED]], len(cities))
        verb = "are" if len(cities) > 1 else "is"
        cause = f"{shown} {verb} too far from all others"
        share, remedy = unit * instance.n / rest, "correct or leave out what stands for missing data"
    else:
        cause = "distances span too many decades"
        share, remedy = unit * instance.n / length, "give the solve more time, and no checkpoint or limits that end it"
    warn_user(
        f"{instance.name or 'instance'}: the {kind} may be longer than it could be: {cause}, so that lengths are "
        f"compared in units of {unit:.3g}, {share:.2g} of the mean way between the other cities; {remedy}"
    )


def _describe(instance: Instance, city: int) -> str:
    """Return a city's number, name and coordinates."""
    name = f" ({instance.names_of([city])[0]})" if instance.labels is not None else ""
    where = "" if instance.coordinates is None else f" at {instance.coordinates[city].tolist()}"
    return f"city {city}{name}{where}"


def is_coarse(
    instance: Instance, tour: NDArray[np.int32], length: float, resolution: float, *, is_open: bool = False
) -> bool:
    """Tell whether rounding to multiples of `resolution` leaves a doubt about a tour or path."""
    if resolution == 0 or not 0 < length < math.inf:
        return False
    if _is_coarse_for_all(instance.n, length, resolution):
        return True
    return length < LONGEST_FAR_TOUR * resolution and bool(_far_cities(instance, tour, resolution, is_open=is_open)[0])


def _is_coarse_for_all(n: int, length: Any, resolution: Any) -> Any:
    """Tell whether roundings may add up to more than lengths, whatever their ways; both may be arrays."""
    return resolution * min(n, MOST_WAYS) > MOST_SHARE * length


def may_be_coarse(
    ways: Callable[[NDArray[np.intp]], NDArray[Any]],
    n: int,
    lengths: NDArray[np.float64],
    resolutions: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Tell which of b tours of n cities each may be coarse, by their lengths and resolutions, shape (b,).

    `ways` returns the ways of some of the tours in units, in order, shape (m, n).
    """
    found: NDArray[np.bool_] = _is_coarse_for_all(n, lengths, resolutions)
    others = np.flatnonzero(~found & (lengths < LONGEST_FAR_TOUR * resolutions))
    if others.size:
        least = _least_rest(n, 1.0)
        is_far, rest = _far_positions(ways(others), least)
        count = is_far.sum(axis=1)
        found[others] = (count > 0) & (count <= FAR_SHARE * n) & (rest < least)
    return found


def _far_cities(
    instance: Instance, tour: NDArray[np.int32], unit: float, *, is_open: bool, is_known: bool = False
) -> tuple[list[int], float]:
    """Return the cities far from all others that leave the others too few units, and the length of the others' ways.

    There are none where the others have enough units, or more than a quarter of the cities would be far. If it
    `is_known` that there are some, they are those with long ways.
    """
    n, least = instance.n, _least_rest(instance.n, unit)
    ways = instance.distances(tour, np.roll(tour, -1)).astype(np.float64)
    is_far, rest = _far_positions(ways[None], least, is_open=is_open)
    far = np.sort(tour[is_far[0]])
    # Cities in one place have all the same tours.
    if not 0 < len(far) <= FAR_SHARE * n or not 0 < rest[0] < least:
        return [], 0.0
    others = np.setdiff1d(np.arange(n), far)
    for city in [] if is_known else far:
        nearest = instance.distances(city, others).min()
        if instance.asymmetric:
            nearest = min(nearest, instance.distances(others, city).min())
        if nearest <= least:
            return [], 0.0
    return far.tolist(), float(rest[0])


def _unit(result: Result) -> float:
    """Return the unit of a result's lengths, or what 64-bit numbers of its length differ by where that is more."""
    return max(result.resolution, float(np.spacing(result.length)))


def _least_rest(n: int, resolution: float) -> float:
    """Return the least length of all ways between the cities that are not far."""
    return resolution * min(n, MOST_WAYS) / MOST_REST_SHARE


def _far_positions(
    ways: NDArray[Any], least: float, *, is_open: bool = False
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return where cities have no way shorter than `least`, shape (b, n), and the length of the others' ways, (b,)."""
    is_far = np.minimum(ways, np.roll(ways, 1, axis=1)) > least
    is_between = ~(is_far | np.roll(is_far, -1, axis=1))
    if is_open:
        is_between[:, -1] = False
    return is_far, ways.sum(axis=1, where=is_between, dtype=np.float64)
