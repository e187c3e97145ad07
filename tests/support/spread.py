"""Points that are spread in many ways: uniform, in clusters of any scale, on lines, on lattices, in one place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def uniform(n: int, seed: int) -> Points:
    """Points of the unit square."""
    return np.random.default_rng(seed).random((n, 2))


def dense_cluster(n: int, seed: int) -> Points:
    """Nearly all points in a square of side 1e-6, the others in the unit square."""
    points = uniform(n, seed)
    points[n // 100 :] *= 1e-6
    return points


def two_scales(n: int, seed: int) -> Points:
    """Half of the points in a square of side 1e-9, the others in the unit square."""
    points = uniform(n, seed)
    points[: n // 2] = 0.3 + 1e-9 * points[: n // 2]
    return points


def villages(n: int, seed: int) -> Points:
    """Clusters of some fifty points within 1e-7, all over the unit square."""
    rng = np.random.default_rng(seed)
    return rng.random((n // 50 + 1, 2))[rng.integers(0, n // 50 + 1, n)] + 1e-7 * rng.random((n, 2))


def a_line(n: int, seed: int) -> Points:
    """Points on a horizontal line."""
    return np.column_stack([np.random.default_rng(seed).random(n), np.zeros(n)])


def a_diagonal(n: int, seed: int) -> Points:
    """Points on a diagonal line."""
    x = np.random.default_rng(seed).random(n)
    return np.column_stack([x, -x])


def a_lattice(n: int, _: int) -> Points:
    """All crossings of a lattice, but for its last rows."""
    return np.column_stack(np.divmod(np.arange(n), int(np.sqrt(n)))).astype(np.float64)


def a_flat_lattice(n: int, seed: int) -> Points:
    """A lattice whose columns are a million times as far apart as its rows."""
    return a_lattice(n, seed) * [1.0, 1e-6]


def bells(n: int, seed: int) -> Points:
    """A mixture of ten normal distributions of different widths."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 10, n)
    return rng.random((10, 2))[which] + rng.normal(size=(n, 2)) * np.power(10.0, -which)[:, None]


def heavy_tails(n: int, seed: int) -> Points:
    """Points of Cauchy's distribution: few are far away, at every scale."""
    return np.random.default_rng(seed).standard_cauchy((n, 2))


POINTS: dict[str, Callable[[int, int], Points]] = {
    "uniform": uniform,
    "dense cluster": dense_cluster,
    "two scales": two_scales,
    "villages": villages,
    "a line": a_line,
    "a diagonal": a_diagonal,
    "a lattice": a_lattice,
    "a flat lattice": a_flat_lattice,
    "bells": bells,
    "heavy tails": heavy_tails,
}
"""Functions of a number of points and a seed, by their names."""
