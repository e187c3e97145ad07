"""Which instances can be cut into pieces of a tour; light to import, as every solve asks."""

from __future__ import annotations

from pytsp.problem.instance import Instance

LEAST_CITIES = 8
"""Fewer cities have no pieces; iterated local search takes them."""

METRICS = ("EUC_2D", "CEIL_2D", "EUCLIDEAN")
"""The metrics whose instances can be cut into pieces, where cities have two coordinates."""


def can_be_large(instance: Instance) -> bool:
    """Tell whether the solver "large" takes an instance: cities of the plane."""
    points = instance.coordinates
    return instance.metric in METRICS and points is not None and points.shape[1] == 2
