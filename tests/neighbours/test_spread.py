"""How much work neighbour lists are: no more for clusters of any scale, lines and lattices than for uniform cities."""

from __future__ import annotations

import numpy as np
import pytest
from checkout import needs_checkout
from clocks import fastest, seconds_of
from numpy.typing import NDArray

from pytsp import Instance
from pytsp.backends import open_backend
from pytsp.neighbours.boxes import boxes_by
from pytsp.neighbours.hilbert import along_hilbert
from pytsp.neighbours.lists import lists_along, neighbour_lists

needs_checkout("bench")
from bench.harness.spread import SPREADS  # noqa: E402

# The cities of a leaf (`nearest.fut`).
LEAF = 12


def drawn(name: str, n: int) -> NDArray[np.float64]:
    """Points in order along the curve."""
    points = SPREADS[name](np.random.default_rng(0), n)
    return points[along_hilbert(points).order]


def leaves_within(points: NDArray[np.float64], k: int) -> float:
    """The mean number of leaves that are no farther from a city than its k-th neighbour, of points in order."""
    far = neighbour_lists(Instance.from_coordinates(points, metric="EUCLIDEAN"), k)[:, -1]
    parts = np.array_split(points, np.arange(LEAF, len(points), LEAF))
    low, high = (np.array([edge(part, axis=0) for part in parts]) for edge in (np.min, np.max))
    away = np.maximum(0, np.maximum(low - points[:, None], points[:, None] - high))
    limit = np.square(points - points[far]).sum(axis=1)
    return float((np.square(away).sum(axis=2) <= limit[:, None]).sum(axis=1).mean())


# Of one place all leaves are as near as the last neighbour.
@pytest.mark.parametrize("name", [name for name in SPREADS if name != "one place"])
def test_boxes_exclude_as_much_whatever_the_spread(name: str) -> None:
    assert leaves_within(drawn(name, 3_000), 8) < 3 * leaves_within(drawn("uniform", 3_000), 8)


@pytest.mark.timed
@pytest.mark.parametrize("quadrants", [False, True], ids=["nearest", "quadrants"])
@pytest.mark.parametrize("name", SPREADS)
def test_lists_take_no_longer_whatever_the_spread(name: str, quadrants: bool) -> None:
    """Boxes in no order take hundreds of times as long."""

    def seconds(spread: str) -> float:
        kernels, points = open_backend("c"), drawn(spread, 20_000)
        instance = Instance.from_coordinates(points, metric="EUCLIDEAN")

        def work() -> None:
            if quadrants:
                with boxes_by(kernels):
                    neighbour_lists(instance, 8, quadrants=True)
            else:
                lists_along(instance, 8, kernels)

        return seconds_of(work)

    # The first call of all opens what later ones have.
    seconds(name)
    bound = 20 * seconds("uniform")
    assert fastest(lambda: seconds(name), bound) < bound
