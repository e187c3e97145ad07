"""The travelling-salesman instance: a frozen dataclass that checks its own laws and knows exact lengths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import InstanceError
from pytsp.problem.chains import check_fixed
from pytsp.problem.metrics import DEFAULT_METRIC, EXPLICIT, metric_named
from pytsp.problem.tours import check_tour
from pytsp.problem.validation import (
    FORBIDDEN,
    as_distances,
    as_numbers,
    check_cities,
    check_coordinates,
    check_matrix,
    check_points,
    warn_of_minutes,
)
from pytsp.utils.arguments import whole_number
from pytsp.utils.deadline import look
from pytsp.utils.lazy import registered
from pytsp.utils.memory import check_room
from pytsp.utils.text import hint, printable

__all__ = ["FORBIDDEN", "Instance"]

# Distances held at once while a matrix is built: a few temporaries of this size stay in the cache.
_BLOCK = 1 << 17
# Most stretches of a tour that one thread does.
_FEW_STRETCHES = 4


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """A travelling-salesman instance of n cities, given by coordinates or by a matrix.

    Make one with `from_coordinates`, `from_matrix` or `pytsp.read`. The arrays are read-only copies.

    Attributes
    ----------
    name : str
        Control characters could change a terminal; U+FFFD replaces them here, in the comment and in labels.
    metric : str
        TSPLIB's EDGE_WEIGHT_TYPE; ``"EXPLICIT"`` for a matrix; ``"GEOM"``, Concorde's; ``"EUCLIDEAN"`` and
        ``"HAVERSINE"`` for lengths not rounded.
    coordinates : ndarray of float64, shape (n, 2) or (n, 3), or None
    matrix : ndarray of int64 or float64, shape (n, n), or None
        Exactly one of `coordinates` and `matrix` is given. The diagonal is ignored and stored as zero.
    comment : str
    optimum : int, float or None
        Length of a shortest tour, where it is known.
    display : ndarray of float64, shape (n, 2) or (n, 3), or None
        Positions for pictures of an instance that is given by a matrix. No length depends on them.
    asymmetric : bool
        True if the distance to a city may differ from the distance back. A symmetric matrix gives False.
    labels : tuple of str, n of them, or None
        Names of the cities, if they have any.
    fixed : ndarray of int32, shape (m, 2), or None
        Edges that every tour of a solve has: pairs of cities, each once, the smaller number first.

    Raises
    ------
    InstanceError
        If n is 0, coordinates are not finite, a distance is negative or not a number, the matrix is not symmetric
        without `asymmetric`, or lengths may exceed int64. Also if no tour has all fixed edges.
    """

    name: str
    metric: str
    coordinates: NDArray[np.float64] | None = None
    matrix: NDArray[Any] | None = None
    comment: str = ""
    optimum: int | float | None = None
    display: NDArray[np.float64] | None = None
    asymmetric: bool = False
    labels: tuple[str, ...] | None = None
    fixed: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        for text in ("name", "comment"):
            object.__setattr__(self, text, printable(getattr(self, text)))
        if (self.coordinates is None) == (self.matrix is None):
            raise InstanceError("an instance has either coordinates or a matrix, and not both")
        if self.coordinates is None:
            if self.metric != EXPLICIT:
                raise InstanceError(f"the metric of a matrix is {EXPLICIT!r}, not {self.metric!r}")
            matrix, is_symmetric = check_matrix(self._array, self.asymmetric, self.labels)
            object.__setattr__(self, "matrix", matrix)
            object.__setattr__(self, "asymmetric", not is_symmetric)
        elif self.asymmetric:
            raise InstanceError("distances between coordinates are symmetric; asymmetric=True needs a matrix")
        else:
            metric = metric_named(self.metric)
            object.__setattr__(self, "metric", metric.name)
            object.__setattr__(self, "coordinates", check_coordinates(self.coordinates, metric, self.labels))
        if self.display is not None:
            display = check_points(self.display, "display", (2, 3))
            if len(display) != self.n:
                raise InstanceError(f"display has {len(display)} rows, but the instance has {self.n} cities")
            object.__setattr__(self, "display", display)
        if self.labels is not None:
            labels = tuple(map(printable, self.labels))
            if len(labels) != self.n:
                raise InstanceError(f"labels must be {self.n}, one a city; there are {len(labels)}")
            object.__setattr__(self, "labels", labels)
        if self.fixed is not None:
            self._check_fixed(self.fixed)

    def _check_fixed(self, given: Any) -> None:
        """Take fixed edges, once they are known to be in a tour."""
        names = None if self.labels is None else self.names_of(np.arange(self.n))
        fixed = check_fixed(given, self.n, names, is_directed=self.asymmetric)
        if fixed is not None and self.matrix is not None:
            lengths = self.matrix[fixed[:, 0], fixed[:, 1]]
            forbidden = np.flatnonzero(lengths == FORBIDDEN[lengths.dtype.kind])
            if forbidden.size:
                a, b = self.names_of(fixed[forbidden[0]])
                raise InstanceError(f"the edge {a}–{b} is fixed and forbidden")
        object.__setattr__(self, "fixed", fixed)

    @classmethod
    def from_coordinates(
        cls,
        xy: ArrayLike,
        metric: str = DEFAULT_METRIC,
        name: str = "",
        *,
        comment: str = "",
        optimum: int | float | None = None,
        labels: Iterable[object] | None = None,
        fixed: Iterable[Sequence[int]] | None = None,
    ) -> Instance:
        """Make an instance whose distances follow from coordinates.

        Parameters
        ----------
        xy : array_like of integers or floats, shape (n, 2) or (n, 3)
        metric : str, optional
            In upper or lower case. ``"euclidean"``, the default, gives floats that are not rounded. A TSPLIB
            EDGE_WEIGHT_TYPE on coordinates, such as ``"EUC_2D"``, gives integers. For latitudes and longitudes in
            decimal degrees, ``"haversine"`` gives kilometres, and ``"geom"`` Concorde's whole metres.
        name, comment : str
        optimum : int, float or None
            Length of a shortest tour, where it is known.
        labels : iterable of n texts, optional
            What the cities are called.
        fixed : iterable of pairs of int, optional
            Edges that every tour of a solve has, by the numbers of their cities.

        Raises
        ------
        InstanceError
            If the coordinates are not finite, lack the metric's shape, are too large for exact lengths, or, with a
            metric of the globe, are not latitudes and longitudes.

        Warns
        -----
        PytspWarning
            If minutes of metric GEO are 60 or more.

        Examples
        --------
        >>> cities = [[0, 0], [0, 3], [1, 4], [4, 0]]
        >>> Instance.from_coordinates(cities).tour_length([0, 1, 2, 3])
        13.414213562373096
        >>> Instance.from_coordinates(cities, "EUC_2D").tour_length([0, 1, 2, 3])
        13
        """
        named = None if labels is None else tuple(map(str, labels))
        points = as_numbers(xy, "coordinates")
        made = cls(name, metric, coordinates=points, comment=comment, optimum=optimum, labels=named, fixed=fixed)  # type: ignore[arg-type]
        warn_of_minutes(points, made.metric, named)
        return made

    @classmethod
    def from_matrix(
        cls,
        d: ArrayLike,
        name: str = "",
        *,
        comment: str = "",
        optimum: int | float | None = None,
        display: ArrayLike | None = None,
        asymmetric: bool = False,
        labels: Iterable[object] | None = None,
        fixed: Iterable[Sequence[int]] | None = None,
    ) -> Instance:
        """Make an instance from a matrix of distances.

        Parameters
        ----------
        d : array_like of integers or floats, shape (n, n)
            Symmetric and not negative; the diagonal is ignored. Integers are kept as int64 and give exact lengths.
            Floats are kept as float64, even if all are whole, and give float lengths. Infinity among floats and
            2**31 - 1 among integers forbid an edge. So does None in a list or in an array of objects.
        name, comment : str
        optimum : int, float or None
            Length of a shortest tour, where it is known.
        display : array_like of floats, shape (n, 2) or (n, 3), optional
            Where to draw the cities.
        asymmetric : bool
            Take a matrix that is not symmetric; d[i, j] is the distance from i to j.
        labels : iterable of n texts, optional
            What the cities are called.
        fixed : iterable of pairs of int, optional
            Edges that every tour of a solve has, by the numbers of their cities; the matrix must be symmetric.

        Raises
        ------
        InstanceError
            If the matrix is not square, has an element that is negative or not a number, is not symmetric without
            `asymmetric`, or its tours may exceed int64.

        Examples
        --------
        >>> Instance.from_matrix([[0, 1, 2], [1, 0, 3], [2, 3, 0]]).tour_length([0, 1, 2])
        6
        """
        shown = None if display is None else as_numbers(display, "display")
        matrix = as_distances(d)
        named = None if labels is None else tuple(map(str, labels))
        return cls(
            name,
            EXPLICIT,
            matrix=matrix,
            comment=comment,
            optimum=optimum,
            display=shown,
            asymmetric=asymmetric,
            labels=named,
            fixed=fixed,  # type: ignore[arg-type]
        )

    def _in_order(self, order: NDArray[np.int32]) -> Instance:
        """The same cities, given by coordinates, with new numbers. Kernels need no copy of these columns."""
        points = self.coordinates
        assert points is not None
        return Instance._of_lawful(np.asfortranarray(points[order]), self.name, self.metric)

    @staticmethod
    def _of_lawful(
        array: NDArray[Any], name: str = "", metric: str = EXPLICIT, *, asymmetric: bool = False
    ) -> Instance:
        """Instance of coordinates, or of a matrix, also of int32, that keep all laws: neither copied nor checked."""
        array.setflags(write=False)
        made = object.__new__(Instance)
        given = "matrix" if metric == EXPLICIT else "coordinates"
        vars(made).update({given: array}, name=name, metric=metric, asymmetric=asymmetric)
        return made

    def __repr__(self) -> str:
        way = ", asymmetric" if self.asymmetric else ""
        return f"Instance(name={self.name!r}, n={self.n}, metric={self.metric!r}, optimum={self.optimum}{way})"

    def _repr_html_(self) -> str:
        """Describe it in a notebook, with a picture where matplotlib is installed."""
        return str(registered("html_of_instance")(self))

    def _repr_png_(self) -> bytes | None:
        """Return a picture of the cities, for front ends without HTML; None where it cannot be drawn."""
        picture: bytes | None = registered("png_of_instance")(self)
        return picture

    @property
    def n(self) -> int:
        """Number of cities."""
        return len(self._array)

    def names_of(self, cities: ArrayLike) -> list[str]:
        """Names of cities: their labels, or else their numbers."""
        numbers = np.asarray(cities).tolist()
        return [str(city) if self.labels is None else self.labels[city] or str(city) for city in numbers]

    @property
    def is_exact(self) -> bool:
        """True if every length is an integer."""
        if self.coordinates is None:
            return self._array.dtype.kind == "i"
        return metric_named(self.metric).is_exact

    @property
    def _array(self) -> NDArray[Any]:
        array = self.matrix if self.coordinates is None else self.coordinates
        assert array is not None
        return array

    def distance(self, i: int, j: int) -> int | float:
        """Distance from the city `i` to the city `j`, counted from 0."""
        length: int | float = self.distances(i, j).item()
        return length

    def distances(self, a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
        """Distances between the cities `a` and the cities `b`, element by element.

        Parameters
        ----------
        a, b : array_like of integers, broadcastable
            Cities, counted from 0.

        Returns
        -------
        ndarray of int64, or of float64 where the instance is not exact
            Zero between a city and itself.

        Raises
        ------
        InstanceError
            If an element is not an integer of 0 … n - 1.
        """
        return self._between(check_cities(a, self.n), check_cities(b, self.n))

    def distance_matrix(self) -> NDArray[Any]:
        """All distances, shape (n, n), int64 or, where the instance is not exact, float64.

        O(n²) memory: 8 n² bytes and little more.

        Raises
        ------
        InstanceError
            If they do not fit the free memory.
        """
        check_room(f"{self.name or 'instance'}: a matrix of {self.n} x {self.n} distances", 8 * self.n**2)
        result = np.empty((self.n, self.n), np.int64 if self.is_exact else np.float64)
        rows = max(1, _BLOCK // self.n)
        for first in range(0, self.n, rows):
            look(first * self.n)
            result[first : first + rows] = self.distance_rows(first, first + rows)
        return result

    def distance_rows(self, first: int, end: int) -> NDArray[Any]:
        """Distances from each of the cities `first`, …, `end` - 1, at most n - 1, to all cities.

        For an instance given by a matrix, a view of the matrix, not a copy.
        """
        if self.matrix is not None:
            return self.matrix[first:end]
        cities = np.arange(self.n)
        return self._between(cities[first:end, None], cities)

    def tour_length(self, tour: ArrayLike) -> int | float:
        """Length of a closed tour, exact.

        Parameters
        ----------
        tour : array_like of integers, shape (n,)
            Every city once, counted from 0.

        Returns
        -------
        int or float
            TSPLIB's integer length, summed in int64. For an instance that is not exact, the correctly rounded sum of
            its float64 distances; so it does not depend on the starting city. Only in an asymmetric instance does it
            depend on the direction.

        Raises
        ------
        TourError
            If `tour` does not visit every city exactly once.

        Notes
        -----
        O(n) time and memory.
        """
        return self._along(check_tour(tour, self.n), is_closed=True)

    def path_length(self, path: ArrayLike) -> int | float:
        """Length of an open path, exact: `tour_length` without the way back from the last city to the first.

        Parameters
        ----------
        path : array_like of integers, shape (n,)
            Every city once, counted from 0.

        Returns
        -------
        int or float

        Raises
        ------
        TourError
            If `path` does not visit every city exactly once.

        Examples
        --------
        >>> Instance.from_coordinates([[0, 0], [0, 3], [4, 3], [4, 0]]).path_length([0, 1, 2, 3])
        10.0
        """
        return self._along(check_tour(path, self.n), is_closed=False)

    def forbidden_edges(self, tour: ArrayLike, *, is_open: bool = False) -> int:
        """Count the forbidden edges of a tour, or with `is_open` of a path.

        Parameters
        ----------
        tour : array_like of integers, shape (n,)
        is_open : bool, optional

        Returns
        -------
        int

        Raises
        ------
        TourError
            If `tour` does not visit every city exactly once.

        Examples
        --------
        >>> from math import inf
        >>> ring = Instance.from_matrix([[0, 1, inf, 1], [1, 0, 1, inf], [inf, 1, 0, 1], [1, inf, 1, 0]])
        >>> ring.forbidden_edges([0, 1, 2, 3]), ring.forbidden_edges([0, 2, 1, 3])
        (0, 2)
        """
        order = check_tour(tour, self.n)
        if self.matrix is None or self.n < 2:
            return 0
        forbidden = FORBIDDEN[self.matrix.dtype.kind]
        steps = map(self._step, _stretches(order, is_closed=not is_open))
        return sum(int(np.count_nonzero(each == forbidden)) for each in steps)

    def _step(self, stretch: NDArray[np.int32]) -> NDArray[Any]:
        return self._between(stretch[:-1], stretch[1:])

    def _along(self, order: NDArray[np.int32], *, is_closed: bool) -> int | float:
        """Sum the distances between consecutive cities, whole numbers of many of them on all cores."""
        stretches = _stretches(order, is_closed=is_closed)
        if not self.is_exact:
            return math.fsum(chain.from_iterable(self._step(each).tolist() for each in stretches))

        def length(stretch: NDArray[np.int32]) -> int:
            return int(self._step(stretch).sum(dtype=np.int64))

        if len(stretches) <= _FEW_STRETCHES:
            return sum(map(length, stretches))
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

        with ThreadPoolExecutor() as pool:
            return sum(pool.map(length, stretches))

    def canonical_tour(self) -> NDArray[np.int32]:
        """The tour 0, 1, …, n - 1, shape (n,): TSPLIB gives its length for some instances, as a check."""
        return np.arange(self.n, dtype=np.int32)

    def _between(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        if self.coordinates is None:
            lengths = np.asarray(self._array[a, b])
            return lengths if lengths.dtype.itemsize == 8 else lengths.astype(np.int64)
        lengths = metric_named(self.metric).between(self.coordinates[a], self.coordinates[b])
        # GEO gives 1 where TSPLIB, and everyone else, means 0.
        return np.where(a == b, lengths.dtype.type(0), lengths)


def _stretches(order: NDArray[np.int32], *, is_closed: bool) -> list[NDArray[np.int32]]:
    """Cut a tour into stretches, of which each begins with the last city of the one before: temporaries stay small."""
    stretches = [order[first : first + _BLOCK + 1] for first in range(0, len(order) - 1, _BLOCK)]
    return [*stretches, order[[-1, 0]]] if is_closed else stretches


def city_number(instance: Instance, name: str, value: Any) -> int | None:
    """Return the number of a city that the argument `name` gives by its number or its label; None for None."""
    if value is None:
        return None
    if not isinstance(value, str):
        return whole_number(name, value, 0, instance.n - 1)
    if instance.labels is None:
        raise ValueError(
            f"{name}={value!r} is a label, but the cities of {instance.name or 'the instance'} have none; give a "
            f"number from 0 to {instance.n - 1}"
        )
    found = [city for city, label in enumerate(instance.labels) if label == value]
    if not found:
        raise ValueError(f"{name}={value!r} is no city's label{hint(value, instance.labels)}")
    if len(found) > 1:
        numbers = ", ".join(map(str, found[:3])) + (", …" if len(found) > 3 else "")
        raise ValueError(f"{name}={value!r} is the label of {len(found)} cities; give the number of one: {numbers}")
    return found[0]
