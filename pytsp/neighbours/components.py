"""The components of the graph whose edges are those of neighbour lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Cities from which the graph is searched at the same time. More leave more labels to be joined, fewer take more rounds.
_SOURCES = 512
# The neighbours of a city that the search follows. They join nearly all cities of most instances.
_FOLLOWED = 4


def components(lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the number of each city's component in the graph of `lists`, shape (n,), whichever way an edge is listed.

    Components are numbered 0, …, c - 1 in order of their first cities. A city that its own list names is no edge.
    Work O(n k) where few neighbours join nearly all cities, else O(n k log n).
    """
    n = len(lists)
    labels = _search(lists[:, :_FOLLOWED])
    if lists.shape[1] <= _FOLLOWED:
        return labels
    # What all others list mostly joins them to the largest component, whose own lists need not be read then.
    others = np.flatnonzero(labels != np.bincount(labels).argmax()) if n else np.arange(0)
    for cities in (others, np.arange(n)):
        if (labels == 0).all():
            break
        near, own = labels[lists[cities]], labels[cities][:, None]
        is_between = near != own
        labels = join_labels(labels, np.broadcast_to(own, near.shape)[is_between], near[is_between])
    return labels


def _search(lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the components of short lists, by a search from many cities at once that labels what each finds first."""
    n, k = lists.shape
    labels = np.full(n, -1, dtype=np.int32)
    seen_at = np.empty(n, dtype=np.int32)
    pairs = []
    cities = np.arange(0, n, max(1, n // _SOURCES))
    count = 0
    while count < n:
        labels[cities] = np.arange(count, count + len(cities), dtype=np.int32)
        count += len(cities)
        while len(cities):
            found, sources = lists[cities].ravel(), np.repeat(labels[cities], k)
            new = np.flatnonzero(labels[found] < 0)
            cities = found[new]
            labels[cities] = sources[new]
            is_between = labels[found] != sources
            pairs.append((labels[found[is_between]], sources[is_between]))
            # A city that several have found is searched from once.
            seen_at[cities] = np.arange(len(cities), dtype=np.int32)
            cities = cities[seen_at[cities] == np.arange(len(cities))]
        # Those that no list has named so far.
        cities = np.flatnonzero(labels < 0)
        if len(cities) == 0:
            break
    if not pairs:
        return labels
    return join_labels(labels, *(np.concatenate(ends) for ends in zip(*pairs, strict=True)))


def join_labels(labels: NDArray[np.int32], a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the numbers of components, as `components` has them, where labels a[i] and b[i] are of one component."""
    root = np.arange(int(labels.max(initial=-1)) + 1, dtype=np.int32)
    while len(a):
        above = np.arange(len(root), dtype=np.int32)
        # One of the smaller labels, whichever comes last. Each component has one label fewer than half, or one.
        above[np.maximum(a, b)] = np.minimum(a, b)
        while not np.array_equal(above, up := above[above]):
            above = up
        root, a, b = above[root], above[a], above[b]
        is_open = a != b
        a, b = a[is_open], b[is_open]
    if not root.any():
        return np.zeros(len(labels), dtype=np.int32)
    _, first, numbers = np.unique(root[labels], return_index=True, return_inverse=True)
    ranks = np.empty(len(first), dtype=np.int32)
    ranks[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return ranks[numbers.ravel()]
