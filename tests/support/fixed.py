"""Fixed edges for tests: whether a tour has them, the best tour by brute force, and drawn ones."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from pytsp import Instance

METRICS = ("EUC_2D", "EUCLIDEAN", "MAN_2D", "CEIL_2D", "ATT", "MAX_2D", "GEO", "EUC_3D")
"""Metrics of each kind: rounded or not, of the plane, a sphere and space."""


def edges_of(order: Sequence[int], *, is_open: bool) -> set[frozenset[int]]:
    """The edges of a tour or path."""
    around = list(order)
    return {frozenset(edge) for edge in itertools.pairwise(around if is_open else [*around, around[0]])}


def has_all(order: Any, fixed: Any, *, is_open: bool = False) -> bool:
    """Tell whether a tour or path has all fixed edges."""
    return {frozenset(map(int, edge)) for edge in fixed} <= edges_of(np.asarray(order).tolist(), is_open=is_open)


def best_length(
    instance: Instance, fixed: Any, *, is_open: bool = False, start: int | None = None, end: int | None = None
) -> int | float:
    """The length of the shortest tour or path that has all fixed edges, by all orders."""
    measure = instance.path_length if is_open else instance.tour_length
    orders = itertools.permutations(range(instance.n))
    fitting = (
        order
        for order in orders
        if (is_open or order[0] == 0)
        and (start is None or order[0] == start)
        and (end is None or order[-1] == end)
        and has_all(order, fixed, is_open=is_open)
    )
    return min(map(measure, fitting))


def some_edges(order: Sequence[int], share: float, numbers: np.random.Generator) -> list[tuple[int, int]]:
    """Some of the edges of a path through all cities, which a tour can have together, either way round."""
    edges = [edge if numbers.random() < 0.5 else edge[::-1] for edge in itertools.pairwise(order)]
    return [edge for edge in edges if numbers.random() < share]


@st.composite
def instances_with_edges(draw: st.DrawFn, least: int = 1, most: int = 9) -> tuple[Instance, list[tuple[int, int]]]:
    """An instance by coordinates or a matrix, cities in one place among them, and fixed edges that a tour can have."""
    n = draw(st.integers(least, most))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from([*METRICS, "matrix", "float matrix"]))
    if "matrix" in kind:
        d: Any = numbers.integers(0, draw(st.sampled_from([3, 1000])), (n, n))
        d = np.triu(d, 1) / (7 if kind == "float matrix" else 1)
        d = d + d.T
        instance = Instance.from_matrix(d if kind == "float matrix" else d.astype(np.int64))
    else:
        side = draw(st.sampled_from([2, 60]))
        points = numbers.integers(0, side, (n, 3 if kind == "EUC_3D" else 2)).astype(float)
        instance = Instance.from_coordinates(points, kind)
    share = draw(st.sampled_from([0.2, 0.6, 1.0]))
    return instance, some_edges(numbers.permutation(n).tolist(), share, numbers)
