"""Positions of the cities of an instance in a picture, and the lines of its tours, across the date line too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.exceptions import InstanceError
from pytsp.io.convert import GLOBE_METRICS, decimal_degrees
from pytsp.problem.instance import Instance

# Nearer to the poles degrees of longitude are hardly longer than this fraction of those of latitude.
_NARROWEST = 0.1


@dataclass(frozen=True, eq=False)
class Map:
    """Points of the plane for the cities of an instance, in equal units along x and y.

    `period` says after how much of x the map begins again, once around the earth; `note` what the map leaves out.
    """

    xy: NDArray[np.float64]
    period: float | None = None
    note: str = ""

    def edge_lines(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
        """Return the edges between the cities `a` and `b`, m each, as rows of points with a nan after each edge.

        An edge that is shorter across the border of the map is two lines there, which leave it on either side.
        """
        start, end = self.xy[np.asarray(a)], self.xy[np.asarray(b)]
        if self.period is not None:
            step = end[:, 0] - start[:, 0]
            across = np.abs(step) > self.period / 2
            around = np.zeros((int(across.sum()), 2))
            around[:, 0] = np.copysign(self.period, step[across])
            start, end = np.concatenate((start, start[across] + around)), np.concatenate((end, end[across]))
            end[: len(across)][across] -= around
        lines = np.full((len(start), 3, 2), np.nan)
        lines[:, 0], lines[:, 1] = start, end
        return lines.reshape((len(start) * 3, 2))

    def tour_line(self, tour: ArrayLike, *, is_open: bool = False) -> NDArray[np.float64]:
        """Return a tour as rows of points: n + 1, n for an open path, or, across the border of the map, its edges."""
        order = np.asarray(tour)
        cities = order if is_open else np.append(order, order[0])
        line: NDArray[np.float64] = self.xy[cities]
        if self.period is not None and np.any(np.abs(np.diff(line[:, 0])) > self.period / 2):
            return self.edge_lines(cities[:-1], cities[1:])
        return line


def map_of(instance: Instance) -> Map:
    """Return where to draw the cities of an instance, or say why nothing is known of that."""
    points = instance.display if instance.coordinates is None else instance.coordinates
    if points is None:
        raise InstanceError(
            f"{instance.name or 'the instance'} is given by a matrix without DISPLAY_DATA: "
            "nothing says where its cities are to be drawn"
        )
    if instance.metric in GLOBE_METRICS:
        latitude, longitude = (decimal_degrees(points) if instance.metric == "GEO" else points).T
        # Degrees of longitude are shortened as they are in the middle of the latitudes.
        middle = np.radians((latitude.min() + latitude.max()) / 2)
        width = max(_NARROWEST, abs(float(np.cos(middle))))
        return Map(np.column_stack((longitude * width, latitude)), period=360 * width)
    note = "cities have three coordinates; the first two are drawn" if points.shape[1] == 3 else ""
    return Map(np.array(points[:, :2]), note=note)
