"""In what order neighbours are listed: that of lengths before rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.location import SPHERES
from pytsp.problem.metrics import METRICS, unit_vectors

NORMS = {name: metric.norm for name, metric in METRICS.items() if metric.norm is not None}
NORMED = tuple(NORMS)


def unrounded(instance: Instance) -> NDArray[Any]:
    """What the lists are in order of: lengths before rounding (Euclidean ones, and the globe's chords, squared)."""
    points, norm = instance.coordinates, NORMS.get(instance.metric)
    if points is not None and instance.metric in SPHERES:
        points, norm = unit_vectors(instance.metric, points), 2.0
    if norm is None or points is None:
        return instance.distance_matrix()
    differences = np.abs(points[:, None] - points)
    if np.isinf(norm):
        return differences.max(axis=2)
    return (differences**norm).sum(axis=2)
