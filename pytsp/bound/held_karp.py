"""Penalties that raise the bound: subgradient ascent on a graph of near pairs, proved on the complete graph.

K. Helsgaun: An effective implementation of the Lin-Kernighan traveling salesman heuristic. EJOR 126, 2000, section 4.1.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import open_backend
from pytsp.bound.certificate import Certificate, check_instance, dense_one_tree
from pytsp.bound.exact import InMatrix, InPlane, is_in_plane
from pytsp.bound.near_graph import ascend, listed, scale_of, steps
from pytsp.problem.instance import Instance
from pytsp.problem.location import mean_excess

# Nearest cities of each city in the near graph, which the trees of the complete graph join.
_NEAR = 16
# Number of times that the ascent is proved, and its graph completed, on its way.
_PROOFS = 12
# More cities have fewer of both, which leaves a bound nearly as near.
_MANY = 20_000
_FEW_NEAR, _FEW_PROOFS = 6, 4
# The first step, in the mean length of an edge of the tree, and what is left of it at the end.
_STEP, _LAST = 1.0, 0.0003
# Default sum of the cities of all trees of an ascent.
_TREE_CITIES = 3_000_000
# Fewest and most trees: groups of cities far apart need more than a few hundred.
_LEAST_ITERATIONS, _MOST_ITERATIONS = 600, 8_000
# The same above a hundred thousand cities, which have less time.
_MANY_TREE_CITIES, _FEWEST_ITERATIONS = 60_000_000, 100


def lower_bound(
    instance: Instance,
    *,
    iterations: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[Certificate], object] | None = None,
    kernels: Backend | None = None,
) -> Certificate:
    """Return Held and Karp's bound of the tours of a symmetric instance; `pytsp.lower_bound` explains the arguments.

    `kernels` are an open backend, on a GPU its part "bound"; by default c.
    """
    check_instance(instance)
    if iterations is None:
        iterations = default_iterations(instance.n)
    if iterations < 0:
        raise ValueError(f"iterations is {iterations}, but must be at least 0")
    end = float("inf") if time_limit is None else monotonic() + time_limit
    n = instance.n
    if n < 3:
        few = Certificate(dense_one_tree(instance, np.zeros(n, np.int64), 1).bound, 1, np.zeros(n, np.int64))
        if progress is not None:
            progress(few)
        return few
    kernels = kernels or open_backend("c", part="bound")
    cities = InPlane(kernels, instance) if is_in_plane(instance) else InMatrix(kernels, instance)
    scale = scale_of(instance)
    near = cities.nearest(_NEAR if n <= _MANY else _FEW_NEAR)
    excess = mean_excess(instance, near)
    cities.begin(listed(near))
    del near
    penalties = np.zeros(n, np.int64)
    tree = cities.one_tree(penalties, scale)
    found = _certificate(tree.bound, scale, penalties, cities.order)

    def is_enough() -> bool:
        return progress is not None and progress(found) is True

    if is_enough():
        iterations = 0
    first = _STEP * max(1.0, (tree.bound / n - excess) * scale)
    proofs = min(iterations, _PROOFS if n <= _MANY else _FEW_PROOFS)
    for share in np.array_split(steps(first, _LAST, iterations), proofs) if proofs else ():
        cities.join(tree.edges)
        # Of many cities there is no memory for what is not needed any more.
        del tree
        graph = cities.graph(scale)
        state = kernels.call("ascent_given", penalties)
        del penalties
        penalties = ascend(kernels, graph, state, share, lambda: monotonic() >= end).penalties
        graph.free()
        cities.release_memory()
        tree = cities.one_tree(penalties, scale)
        if tree.bound > found.bound:
            found = _certificate(tree.bound, scale, penalties, cities.order)
        if is_enough() or monotonic() >= end:
            break
    return found


def _certificate(
    bound: int | float, scale: int, penalties: NDArray[np.int64], order: NDArray[np.integer[Any]]
) -> Certificate:
    """Return the certificate of the penalties of the cities in some order."""
    in_first_order = np.empty_like(penalties)
    in_first_order[order] = penalties
    return Certificate(bound, scale, in_first_order)


def default_iterations(n: int) -> int:
    least = min(_LEAST_ITERATIONS, max(_FEWEST_ITERATIONS, _MANY_TREE_CITIES // max(n, 1)))
    return max(least, min(_TREE_CITIES // max(n, 1), _MOST_ITERATIONS))
