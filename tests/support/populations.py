"""Strategies of whole populations on one instance: any cities, many tours nearly alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import strategies
from hypothesis import strategies as st

from pytsp.problem.instance import Instance


@st.composite
def populations(
    draw: st.DrawFn, min_n: int = 1, max_n: int = 60, *, related: bool = False
) -> tuple[Instance, list[list[int]]]:
    """Cities anywhere, on a lattice, in one place, or at any distances, with up to seven tours.

    Where they are to be `related`, all tours are alike, and nearly all distances differ.
    """
    scattered = Instance.from_coordinates(np.random.default_rng(max_n).integers(0, 1000, (max_n, 2)), metric="EUC_2D")
    instance = (
        scattered
        if related
        else draw(
            st.one_of(
                strategies.coordinate_instances(("EUC_2D",), min_n, max_n),
                strategies.lattice_instances(("EUC_2D", "MAN_2D"), min_n, max_n),
                st.integers(min_n, max_n).map(lambda n: Instance.from_coordinates([[3, 3]] * n, metric="EUC_2D")),
                random_matrices(min_n, max_n),
            )
        )
    )
    n, p = instance.n, draw(st.sampled_from([1, 2, 3, 4, 7]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    alike = related or draw(st.booleans())
    first = random.permutation(n)
    tours = [rearranged(first, random) if alike else random.permutation(n) for _ in range(p)]
    return instance, [tour.tolist() for tour in tours]


@st.composite
def random_matrices(draw: st.DrawFn, min_n: int, max_n: int) -> Instance:
    """Matrices of random whole numbers, many of them zero or equal, or up to the largest distance."""
    n, largest = draw(st.integers(min_n, max_n)), draw(st.sampled_from([0, 1, 50, 2**30 - 1]))
    half = np.triu(np.random.default_rng(draw(st.integers(0, 999))).integers(0, largest + 1, (n, n)), 1)
    return Instance.from_matrix(half + half.T)


def rearranged(tour: Any, random: np.random.Generator) -> Any:
    """A tour with stretches turned round or exchanged, most of them short, some with what is between them."""
    n, tour = len(tour), tour.copy()
    for _ in range(random.integers(0, 12)):
        tour = np.roll(tour, random.integers(n))
        i, j, k, m = sorted(random.integers(0, min(n, random.choice((8, 20, n))) + 1, 4))
        if random.integers(3) == 0:
            tour[i:j] = tour[i:j][::-1]
        else:
            # A double bridge, or a 3-opt move where stretches are empty.
            tour = np.concatenate([tour[:i], tour[k:m], tour[j:k], tour[i:j], tour[m:]])
    return tour


def random_spots(n: int, random: np.random.Generator) -> tuple[Any, Any]:
    """Spots of n cities, also at the borders, many of them equal."""
    spots = random.integers(0, 2**20, (2, n)).astype(np.int32)
    spots[random.random((2, n)) < 0.2] = 2**20 - 1
    spots[random.random((2, n)) < 0.2] = 0
    return spots[0].copy(), spots[1].copy()
