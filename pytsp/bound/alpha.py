"""Neighbour lists by α-nearness: for each city those others to which an edge costs a 1-tree least.

K. Helsgaun: An effective implementation of the Lin-Kernighan traveling salesman heuristic. EJOR 126, 2000, section 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.bound.near_graph import ascend, connected, listed, load, scale_of, steps
from pytsp.problem.instance import Instance
from pytsp.problem.location import mean_excess
from pytsp.utils.deadline import look

# The steps of the ascent before α is computed, the first in the mean length of an edge of the tree, and what is left of
# it at the end.
ALPHA_STEPS = 30
_STEP, _LAST = 1.0, 0.03


def alpha_lists(
    instance: Instance,
    near_lists: NDArray[np.int32],
    kernels: Backend,
    *,
    k: int = 7,
    near: int = 2,
    iterations: int = ALPHA_STEPS,
) -> NDArray[np.int32]:
    """Return for every city the `near` nearest of its `near_lists`, shape (n, m), and those of least α besides, in
    order of distance, shape (n, min(k, m)).

    `kernels` are, on a GPU, its part "bound"; `iterations` are the steps of the ascent.
    """
    n, k = instance.n, min(k, near_lists.shape[1])
    if n < 3 or k == 0:
        return near_lists[:, :k]
    scale = scale_of(instance)
    rows = listed(near_lists)
    graph = load(kernels, instance, rows, scale)
    start = np.zeros(n, np.int64)
    bound, _, parts = kernels.call("one_tree", graph, start)
    if parts > 1:
        graph = load(kernels, instance, connected(instance, near_lists, rows), scale)
        bound, _, _ = kernels.call("one_tree", graph, start)

    def timely() -> bool:
        look(n)
        return False

    look(n)
    state = kernels.call("ascent_given", start)
    first = _STEP * max(1.0, bound / n - scale * mean_excess(instance, near_lists))
    found = ascend(kernels, graph, state, steps(first, _LAST, iterations), timely)
    return kernels.call("alpha_lists", graph, found.penalties, min(near, k), k)  # type: ignore[no-any-return]
