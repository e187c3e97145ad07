"""Lengths of tours of many instances, together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import metric_named
from pytsp.problem.tours import check_tour

# The cities whose distances are computed together: they stay in the cache.
MOST_CITIES = 1 << 14


def tour_lengths(
    instances: Sequence[Instance],
    tours: Sequence[NDArray[np.int32]] | NDArray[np.int32],
    *,
    is_rounded_once: bool = True,
) -> list[int | float]:
    """Return `Instance.tour_length` of one tour in each instance, of those of equal size in fewer steps.

    Without `is_rounded_once`, floating-point lengths are near these, and take less time.
    """
    lengths: list[int | float] = [0] * len(instances)
    alike: dict[tuple[str, int, int], list[int]] = {}
    for number, instance in enumerate(instances):
        points = instance.coordinates if type(instance) is Instance else None
        if points is not None and 1 < len(points) <= MOST_CITIES:
            alike.setdefault((instance.metric, *points.shape), []).append(number)
        else:
            lengths[number] = instance.tour_length(tours[number])
    for (metric, n, _), numbers in alike.items():
        for first in range(0, len(numbers), MOST_CITIES // n):
            block = numbers[first : first + MOST_CITIES // n]
            given = tours[block] if isinstance(tours, np.ndarray) else [tours[number] for number in block]
            orders = _checked(given, n)
            cities = np.concatenate([cast("NDArray[np.float64]", instances[number].coordinates) for number in block])
            visited = cities.take(orders + n * np.arange(len(block), dtype=np.int32)[:, None], axis=0)
            found = metric_named(metric).between(visited, np.roll(visited, -1, axis=1))
            if metric_named(metric).is_exact or not is_rounded_once:
                made = found.sum(axis=1).tolist()
            else:
                made = [math.fsum(row) for row in found.tolist()]
            for number, length in zip(block, made, strict=True):
                lengths[number] = length
    return lengths


def _checked(tours: Sequence[NDArray[np.int32]] | NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Return tours of n cities as rows, once they are tours."""
    if isinstance(tours, np.ndarray):
        rows = tours
    elif all(tour.shape == (n,) and tour.dtype == np.int32 for tour in tours):
        rows = np.stack(tours)
    else:
        # One at least is none, or is told in another way.
        return np.stack([check_tour(tour, n) for tour in tours])
    if rows.dtype == np.int32 and rows.shape[1] == n and (np.sort(rows, axis=1) == np.arange(n, dtype=np.int32)).all():
        return rows
    return np.stack([check_tour(tour, n) for tour in rows])
