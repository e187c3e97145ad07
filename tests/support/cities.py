"""Instances of random cities that many tests solve."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import METRICS


def uniform(n: int, seed: int = 0, side: int = 300, metric: str = "EUC_2D", **rest: Any) -> Instance:
    """Uniformly random whole points of a square, with some ties."""
    points = np.random.default_rng([n, seed]).integers(0, side, (n, 2))
    return Instance.from_coordinates(points, metric, f"uniform{n}", **rest)


def scattered(n: int, metric: str, seed: int) -> Instance:
    """Random cities of a metric, with a fair number of equal distances; a matrix for EXPLICIT."""
    random = np.random.default_rng([seed, n])
    if metric == "EXPLICIT":
        half = np.triu(random.integers(0, 50, (n, n)), 1)
        return Instance.from_matrix(half + half.T)
    if metric in ("GEO", "GEOM"):
        return Instance.from_coordinates(np.round(random.uniform(-59, 59, (n, 2))), metric)
    return Instance.from_coordinates(random.integers(0, 60, (n, METRICS[metric].widths[0])), metric=metric)
