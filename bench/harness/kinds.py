"""Instances of every kind that pytsp solves, by a number of cities and a seed, and their nearest-neighbour tours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.spread import SPREADS
from pytsp.io.convert import decimal_degrees, degrees_and_minutes
from pytsp.problem.kernel_input import MATRIX_CITIES
from pytsp.problem.metrics import METRICS

SIDE = 10**6
# The side of spreads with whole coordinates, in which clusters are hundreds wide; and that in degrees.
WIDE_SIDE, GLOBE_SIDE = 5 * 10**8, 90.0
# A way is up to so much longer than the straight line.
DETOUR = 0.5
# Most cities with coordinates, without a matrix and for solvers that need one.
MOST_POINTS, MOST_MATRIX_POINTS = 10**7, 13_000
# What files of distances have at most; asymmetric ones have a matrix of twice as many cities.
MOST_DISTANCES, MOST_DOUBLED_FLOATS = 8_000, 3_000
# The solvers that need no matrix of any metric.
IN_SPACE = ("auto", "eax", "ils", "large")
# For how many cities a tree is asked at first, and how many times as many where all of them are visited.
WIDTH, WIDER = 8, 4

Draw = Callable[[np.random.Generator, int], NDArray[Any]]


@dataclass(frozen=True)
class Kind:
    """A kind of instances.

    Attributes
    ----------
    draw : callable
        Return the coordinates or distances of n cities.
    most : int
        The most cities.
    metric : str or None
        Of coordinates; None where distances are drawn.
    ends : tuple of int, or None
        The ends of an open path that are given, -1 for the last city; None for closed tours.
    asymmetric : bool
    """

    draw: Draw
    most: int
    metric: str | None = None
    ends: tuple[int, ...] | None = None
    asymmetric: bool = False

    def data(self, n: int, seed: int) -> NDArray[Any]:
        """Draw coordinates or distances."""
        return self.draw(np.random.default_rng((seed, n)), n)

    def instance(self, n: int, seed: int, name: str = "") -> pytsp.Instance:
        """Draw an instance."""
        return self._instance(self.data(n, seed), name)

    def _instance(self, data: NDArray[Any], name: str) -> pytsp.Instance:
        if self.metric is not None:
            return pytsp.Instance.from_coordinates(data, self.metric, name)
        return pytsp.Instance.from_matrix(data, name, asymmetric=self.asymmetric)

    def write(self, folder: Path, n: int, seed: int, name: str) -> tuple[Path, pytsp.Instance]:
        """Draw an instance, and write it: into a TSPLIB file where that can hold its coordinates, else as an array."""
        data = self.data(n, seed)
        instance = self._instance(data, name)
        if self._is_tsplib:
            file = folder / f"{name}.tsp"
            pytsp.write(file, instance)
        else:
            file = folder / f"{name}.npy"
            np.save(file, data)
        return file, instance

    @property
    def _is_tsplib(self) -> bool:
        return self.metric is not None and METRICS[self.metric].is_exact

    def given_ends(self, n: int) -> list[int]:
        """Return the cities at the ends of an open path that are given."""
        return [end % n for end in self.ends or ()]

    def options(self, n: int) -> dict[str, object]:
        """Return what `pytsp.solve` is told of the ends."""
        ends = dict(zip(("start_city", "end_city"), self.given_ends(n), strict=False))
        return {} if self.ends is None else {"open": True, **ends}

    def words(self, n: int) -> list[str]:
        """Return what the command line is told of a file."""
        words = ["--metric", self.metric] if self.metric and not self._is_tsplib else []
        words += ["--asymmetric"] if self.asymmetric else []
        words += [] if self.ends is None else ["--open"]
        for flag, city in zip(("--start-city", "--end-city"), self.given_ends(n), strict=False):
            words += [flag, str(city)]
        return words

    def length(self, instance: pytsp.Instance, tour: NDArray[Any]) -> int | float:
        """Return the length of a tour, or of an open path."""
        return instance.tour_length(tour) if self.ends is None else instance.path_length(tour)

    def nearest_neighbour(self, instance: pytsp.Instance) -> NDArray[np.int64]:
        """Return the tour from the given end, or city 0, to the nearest city that waits; a second end comes last."""
        first, *last = self.given_ends(instance.n) or [0]
        waits = np.ones(instance.n, dtype=np.bool_)
        waits[[first, *last]] = False
        nearest = _nearest_by_rows(instance, waits) if self.metric is None else _nearest_by_tree(instance, waits)
        order = [first]
        for left in range(int(waits.sum()), 0, -1):
            order.append(nearest(order[-1], left))
            waits[order[-1]] = False
        return np.array([*order, *last], dtype=np.int64)

    def takes(self, solver: str) -> bool:
        """Tell whether a solver takes such instances."""
        return solver != "large" or self.metric is not None

    def distances(self, n: int, solver: str) -> int:
        """Return how many distances the matrix has that n cities need; 0 where kernels compute them from points."""
        is_planar = self.metric in ("EUC_2D", "EUCLIDEAN") and self.ends is None
        is_in_space = self.metric is not None and solver in IN_SPACE and (n > MATRIX_CITIES or solver == "large")
        if is_planar or is_in_space:
            return 0
        return ((n + (self.ends is not None)) * (1 + self.asymmetric)) ** 2


def whole_points(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Draw points of the plane with whole coordinates."""
    return rng.integers(0, SIDE, (n, 2))


def points(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Draw points of the unit square."""
    return rng.random((n, 2))


def solid(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Draw points of a cube with whole coordinates."""
    return rng.integers(0, SIDE, (n, 3))


def places(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Draw latitudes and longitudes in degrees, uniformly on the globe."""
    return np.column_stack((np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)))


def tsplib_places(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Draw latitudes and longitudes in degrees and minutes, DDD.MM."""
    return degrees_and_minutes(places(rng, n))


def directed_floats(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Draw the lengths of ways between points of a square, there and back apart."""
    corners = SIDE * points(rng, n)
    # A row at a time: the intermediate results of all would take several times as much as the matrix.
    rows = (np.hypot(*(corners - corner).T) * rng.uniform(1, 1 + DETOUR, n) for corner in corners)
    return np.stack([*rows])


def directed(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Draw the lengths of ways in whole numbers."""
    return np.rint(directed_floats(rng, n)).astype(np.int64)


def symmetric_floats(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Draw the lengths of ways that are as long there as back."""
    ways = directed_floats(rng, n)
    shorter: NDArray[np.float64] = np.minimum(ways, ways.T)
    return shorter


def symmetric(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Draw the lengths of ways that are as long there as back, in whole numbers."""
    ways = directed(rng, n)
    shorter: NDArray[np.int64] = np.minimum(ways, ways.T)
    return shorter


def spread(name: str) -> Draw:
    """Return what draws points that are spread in that way."""
    return SPREADS[name]


def whole_spread(name: str) -> Draw:
    """Return what draws points that are spread in that way, with whole coordinates."""

    def draw(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        drawn = SPREADS[name](rng, n)
        low = drawn.min(axis=0)
        side = float((drawn - low).max()) or 1.0
        whole: NDArray[np.int64] = np.rint((drawn - low) * (WIDE_SIDE / side)).astype(np.int64)
        return whole

    return draw


def on_the_globe(name: str) -> Draw:
    """Return what draws latitudes and longitudes in degrees that are spread in that way."""

    def draw(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        drawn = SPREADS[name](rng, n)
        low = drawn.min(axis=0)
        degrees: NDArray[np.float64] = GLOBE_SIDE * ((drawn - low) / (float((drawn - low).max()) or 1.0) - 0.5)
        return degrees

    return draw


def tsplib_bells(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Draw latitudes and longitudes in degrees and minutes, DDD.MM, in clusters of any scale."""
    return degrees_and_minutes(on_the_globe("bells")(rng, n))


def in_a_matrix(name: str) -> Draw:
    """Return what draws the distances of points that are spread in that way."""

    def draw(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        drawn = SPREADS[name](rng, n)
        return np.stack([np.hypot(*(drawn - point).T) for point in drawn])

    return draw


def solid_villages(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Draw clusters of points of a cube with whole coordinates."""
    flat = whole_spread("villages")
    return np.column_stack([flat(rng, n), flat(rng, n)[:, 0]])


PLANE = Kind(whole_points, MOST_POINTS, "EUC_2D")
MATRIX = Kind(symmetric, MOST_DISTANCES)
ASYMMETRIC = Kind(directed, MOST_DISTANCES, asymmetric=True)


def _paths(name: str, kind: Kind) -> dict[str, Kind]:
    """Return the open paths of a kind: with no end given, one, and both."""
    ends = {"path": (), "path-from": (0,), "path-between": (0, -1)}
    return {f"{name}-{ending}": replace(kind, ends=given) for ending, given in ends.items()}


KINDS: dict[str, Kind] = {
    "plane": PLANE,
    "plane-float": Kind(points, MOST_POINTS, "EUCLIDEAN"),
    "haversine": Kind(places, MOST_POINTS, "HAVERSINE"),
    "geo": Kind(tsplib_places, MOST_POINTS, "GEO"),
    "3-d": Kind(solid, MOST_POINTS, "EUC_3D"),
    "att": Kind(whole_points, MOST_POINTS, "ATT"),
    "matrix": MATRIX,
    "matrix-float": Kind(symmetric_floats, MOST_DISTANCES),
    "asymmetric": ASYMMETRIC,
    "asymmetric-float": Kind(directed_floats, MOST_DOUBLED_FLOATS, asymmetric=True),
    **_paths("plane", PLANE),
    **_paths("matrix", MATRIX),
    **_paths("asymmetric", ASYMMETRIC),
    "villages": Kind(spread("villages"), MOST_POINTS, "EUCLIDEAN"),
    "villages-whole": Kind(whole_spread("villages"), MOST_POINTS, "EUC_2D"),
    "villages-path": Kind(whole_spread("villages"), MOST_POINTS, "EUC_2D", ends=()),
    "villages-on-the-globe": Kind(on_the_globe("villages"), MOST_POINTS, "HAVERSINE"),
    "villages-in-space": Kind(solid_villages, MOST_POINTS, "EUC_3D"),
    "dense-cluster": Kind(spread("dense cluster"), MOST_POINTS, "EUCLIDEAN"),
    "two-scales": Kind(spread("two scales"), MOST_POINTS, "EUCLIDEAN"),
    "line": Kind(whole_spread("line"), MOST_POINTS, "EUC_2D"),
    "diagonal": Kind(spread("diagonal"), MOST_POINTS, "EUCLIDEAN"),
    "lattice": Kind(whole_spread("lattice"), MOST_POINTS, "EUC_2D"),
    "flat-lattice": Kind(spread("flat lattice"), MOST_POINTS, "EUCLIDEAN"),
    "bells": Kind(spread("bells"), MOST_POINTS, "EUCLIDEAN"),
    "bells-geo": Kind(tsplib_bells, MOST_POINTS, "GEO"),
    "bells-matrix": Kind(in_a_matrix("bells"), MOST_DISTANCES),
    "heavy-tails": Kind(spread("heavy tails"), MOST_POINTS, "EUCLIDEAN"),
    "one-place": Kind(whole_spread("one place"), MOST_MATRIX_POINTS, "EUC_2D"),
}
"""The kinds by their names."""


def _nearest_by_rows(instance: pytsp.Instance, waits: NDArray[np.bool_]) -> Callable[[int, int], int]:
    """Return what finds the nearest city that waits in a row of the matrix."""
    matrix = instance.matrix
    assert matrix is not None

    def nearest(city: int, _: int) -> int:
        return int(np.argmin(np.where(waits, matrix[city], np.inf)))

    return nearest


def _nearest_by_tree(instance: pytsp.Instance, waits: NDArray[np.bool_]) -> Callable[[int, int], int]:
    """Return what finds the nearest city that waits in a k-d tree, made again where half of its cities are visited."""
    from scipy.spatial import cKDTree  # noqa: PLC0415

    assert instance.coordinates is not None
    where = instance.coordinates
    if instance.metric in ("HAVERSINE", "GEO"):
        # Chords are in the order of arcs.
        where = on_the_sphere(where if instance.metric == "HAVERSINE" else decimal_degrees(where))
    left, tree = np.arange(instance.n), cKDTree(where)

    def nearest(city: int, count: int) -> int:
        nonlocal left, tree
        if 2 * count < len(left):
            left = np.flatnonzero(waits)
            tree = cKDTree(where[left])
        width = WIDTH
        while True:
            _, near = tree.query(where[city], np.arange(1, min(width, len(left)) + 1))
            open_cities = left[near][waits[left[near]]]
            if open_cities.size:
                return int(open_cities[0])
            width *= WIDER

    return nearest


def on_the_sphere(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points of the unit sphere at latitudes and longitudes, shape (n, 3)."""
    latitude, longitude = np.radians(degrees.T)
    across = np.cos(latitude)
    return np.column_stack((across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)))
