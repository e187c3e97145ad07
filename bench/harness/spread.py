"""Points of the plane that are spread in many ways: in clusters of any scale, on lines, on lattices, in one place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

# The cities of a village, and of the largest share of all that are outside a dense cluster.
VILLAGE, OUTSIDE = 50, 0.005


def uniform(rng: np.random.Generator, n: int) -> Points:
    """Draw points of the unit square."""
    return rng.random((n, 2))


def villages(rng: np.random.Generator, n: int) -> Points:
    """Draw clusters of some fifty points within 1e-6, all over the unit square."""
    count = 1 + n // VILLAGE
    return rng.random((count, 2))[rng.integers(0, count, n)] + 1e-6 * rng.random((n, 2))


def dense_cluster(rng: np.random.Generator, n: int) -> Points:
    """Draw nearly all points of a square of side 1e-6, the others of the unit square."""
    points = rng.random((n, 2))
    points[: n - 1 - int(OUTSIDE * n)] *= 1e-6
    return points


def two_scales(rng: np.random.Generator, n: int) -> Points:
    """Draw half of the points of a square of side 1e-9, the others of the unit square."""
    points = rng.random((n, 2))
    points[: n // 2] = 0.3 + 1e-9 * points[: n // 2]
    return points


def line(rng: np.random.Generator, n: int) -> Points:
    """Draw points of a horizontal line."""
    return np.column_stack([rng.random(n), np.zeros(n)])


def diagonal(rng: np.random.Generator, n: int) -> Points:
    """Draw points of a diagonal line."""
    x = rng.random(n)
    return np.column_stack([x, 1 - x])


def lattice(_: np.random.Generator, n: int) -> Points:
    """Return the crossings of a lattice over the unit square, but for the last ones."""
    side = int(np.ceil(np.sqrt(n)))
    return np.column_stack(np.divmod(np.arange(n), side)) / side


def flat_lattice(rng: np.random.Generator, n: int) -> Points:
    """Return a lattice whose columns are a million times as far apart as its rows."""
    return lattice(rng, n) * [1.0, 1e-6]


def bells(rng: np.random.Generator, n: int) -> Points:
    """Draw points of a mixture of ten normal distributions, each ten times as narrow as the one before."""
    which = rng.integers(0, 10, n)
    return rng.random((10, 2))[which] + rng.normal(size=(n, 2)) * np.power(10.0, -which)[:, None]


def heavy_tails(rng: np.random.Generator, n: int) -> Points:
    """Draw points of Cauchy's distribution, of which few are far away, at every scale."""
    return rng.standard_cauchy((n, 2))


def one_place(_: np.random.Generator, n: int) -> Points:
    """Return the same point n times."""
    return np.full((n, 2), 0.5)


SPREADS: dict[str, Callable[[np.random.Generator, int], Points]] = {
    "uniform": uniform,
    "villages": villages,
    "dense cluster": dense_cluster,
    "two scales": two_scales,
    "line": line,
    "diagonal": diagonal,
    "lattice": lattice,
    "flat lattice": flat_lattice,
    "bells": bells,
    "heavy tails": heavy_tails,
    "one place": one_place,
}
"""Functions of a random generator and a number of points, by their names."""
