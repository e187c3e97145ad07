"""Penalties that raise the bound: subgradient ascent on a graph of near pairs, proved on the complete graph.

K. Helsgaun: An effective implementation of the Lin-Kernighan traveling salesman heuristic. EJOR 126, 2000, section 4.1.
"""

from __future__ import annotations

from time import monotonic

import numpy as np
from numpy.typing import NDArray

from pytsp.bound.certificate import MOST, Certificate, OneTree, check_instance, dense_one_tree, scaled
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.instance import Instance

# The graph of near pairs: so many nearest cities of each, and the trees of the complete graph that were seen.
_NEAR = 16
# The ascent is proved, and its graph completed, so many times on its way.
_PROOFS = 12
# The first step, in the mean length of an edge of the tree, and what is left of it at the end.
_STEP, _LAST = 1.0, 0.0003
# By default so many cities are in all trees of the ascent together, in at least and at most so many trees: where cities
# are in groups far apart, a few hundred are too few, and up to a thousand cities have time for more.
_TREE_CITIES = 3_000_000
_LEAST_ITERATIONS, _MOST_ITERATIONS = 600, 8_000


def lower_bound(instance: Instance, *, iterations: int | None = None, time_limit: float | None = None) -> Certificate:
    """Return a length that no tour is below, Held and Karp's bound, with the penalties that prove it.

    Parameters
    ----------
    instance : Instance
        Symmetric, of at most 20,000 cities.
    iterations : int, optional
        Steps of the ascent, at least 0; by default 3,000,000 / n, but at least 600 and at most 8,000.
    time_limit : float, optional
        Seconds after which no further step is made; a proof of O(n²) is still to come. The bound then depends on the
        machine's speed; without, on the instance and `iterations` only.

    Raises
    ------
    InstanceError
        If the instance is asymmetric, or has more cities.
    ValueError
        If `iterations` is negative, or `time_limit` is not positive.

    Examples
    --------
    >>> square = Instance.from_coordinates([[0, 0], [1, 0], [1, 1], [0, 1]], "EUC_2D")
    >>> lower_bound(square).bound
    4
    """
    check_instance(instance)
    if iterations is None:
        iterations = default_iterations(instance.n)
    if iterations < 0:
        raise ValueError(f"iterations is {iterations}, but must be at least 0")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit is {time_limit}, but must be above 0")
    end = float("inf") if time_limit is None else monotonic() + time_limit
    n = instance.n
    penalties = np.zeros(n, np.int64)
    scale = 1 if n < 3 else _scale_of(instance)
    tree = dense_one_tree(instance, penalties, scale)
    best = Certificate(tree.bound, scale, penalties)
    if n < 3 or not iterations:
        return best
    pairs = _near_pairs(instance, tree)
    lengths = scaled(instance, instance.distances(pairs[:, 0], pairs[:, 1]), scale)
    tree_lengths = scaled(instance, instance.distances(tree.edges[:, 0], tree.edges[:, 1]), scale)
    first = _STEP * max(1.0, float(tree_lengths.mean()))
    decay = _LAST ** (1 / iterations)
    steps = first * decay ** np.arange(iterations)
    for share in np.array_split(steps, _PROOFS):
        penalties = _ascend(n, pairs, lengths, penalties, share, end)
        tree = dense_one_tree(instance, penalties, scale)
        if tree.bound > best.bound:
            best = Certificate(tree.bound, scale, penalties)
        if monotonic() >= end:
            break
        pairs = _united(n, pairs, tree.edges)
        lengths = scaled(instance, instance.distances(pairs[:, 0], pairs[:, 1]), scale)
    return best


def default_iterations(n: int) -> int:
    """Return how many steps the ascent has where nothing else is said."""
    return max(_LEAST_ITERATIONS, min(_TREE_CITIES // max(n, 1), _MOST_ITERATIONS))


def _scale_of(instance: Instance) -> int:
    """Return the power of two that makes distances fine enough, and leaves penalties room."""
    cities = np.arange(instance.n)
    row = instance.distances(0, cities)
    longest = float(row[np.isfinite(row)].max(initial=1.0))
    scale = 128 if instance.is_exact else 1 << 30
    while scale > 1 and longest * scale > MOST >> 8:
        scale >>= 1
    return scale


def _near_pairs(instance: Instance, tree: OneTree) -> NDArray[np.int64]:
    lists = neighbour_lists(instance, _NEAR)
    near = np.column_stack([np.repeat(np.arange(instance.n), lists.shape[1]), lists.ravel()]).astype(np.int64)
    return _united(instance.n, near, tree.edges)


def _united(n: int, pairs: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all pairs (i, j), i < j, of both, once each."""
    both = np.sort(np.concatenate([pairs, others]), axis=1)
    keys = np.unique(both[:, 0] * n + both[:, 1])
    return np.column_stack([keys // n, keys % n])


def _ascend(
    n: int,
    pairs: NDArray[np.int64],
    lengths: NDArray[np.int64],
    penalties: NDArray[np.int64],
    steps: NDArray[np.float64],
    end: float,
) -> NDArray[np.int64]:
    """Return the best penalties on the way: at each step cities of degree 1 become cheaper, those above 2 dearer."""
    # SciPy's module takes a tenth of a second to import.
    from scipy.sparse import csr_matrix  # noqa: PLC0415
    from scipy.sparse.csgraph import minimum_spanning_tree  # noqa: PLC0415

    best, best_total = penalties, None
    before = np.zeros(n, np.int64)
    starts = np.searchsorted(pairs[:, 0], np.arange(n + 1))
    for step in steps:
        costs = lengths + penalties[pairs[:, 0]] + penalties[pairs[:, 1]]
        order = np.argsort(costs, kind="stable")
        # By their ranks, edges have different lengths, none of them 0, which would be no edge.
        ranks = np.empty(len(order))
        ranks[order] = np.arange(1, len(order) + 1)
        tree = minimum_spanning_tree(csr_matrix((ranks, pairs[:, 1], starts), shape=(n, n)))
        chosen = order[tree.data.astype(np.int64) - 1]
        degrees = np.bincount(pairs[chosen].ravel(), minlength=n)
        others = np.ones(len(costs), bool)
        others[chosen] = False
        # The shortest edge besides the tree's at each leaf; the leaf where it is longest gets it.
        second = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(second, pairs[others].ravel(), np.repeat(costs[others], 2))
        leaves = np.flatnonzero((degrees == 1) & (second < np.iinfo(np.int64).max))
        total = int(costs[chosen].sum()) - 2 * int(penalties.sum())
        if len(leaves):
            leaf = leaves[second[leaves].argmax()]
            total += int(second[leaf])
            at = others & ((pairs == leaf).any(axis=1)) & (costs == second[leaf])
            degrees[pairs[at.argmax()]] += 1
        if best_total is None or total > best_total:
            best, best_total = penalties, total
        excess = degrees - 2
        if not excess.any() or monotonic() >= end:
            break
        change = np.rint(step * (0.7 * excess + 0.3 * before)).astype(np.int64)
        penalties = np.clip(penalties + change, -MOST, MOST)
        before = excess
    return best
