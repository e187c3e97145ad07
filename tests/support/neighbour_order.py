"""In what order neighbours are listed: that of lengths before rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import METRICS

NORMS = {name: metric.norm for name, metric in METRICS.items() if metric.norm is not None}
NORMED = tuple(NORMS)


def unrounded(instance: Instance) -> NDArray[Any]:
    """What the lists are in order of: lengths before rounding (Euclidean ones squared), shape (n, n)."""
    norm = NORMS.get(instance.metric)
    if norm is None or instance.coordinates is None:
        return instance.distance_matrix()
    differences = np.abs(instance.coordinates[:, None] - instance.coordinates)
    if np.isinf(norm):
        return differences.max(axis=2)
    return (differences**norm).sum(axis=2)
