"""The length of a shortest tour or path, by the dynamic programme of Held and Karp (1962): O(2^n n^2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance


def shortest(
    instance: Instance, *, is_open: bool = False, start: int | None = None, end: int | None = None
) -> int | float:
    """Return the length of a shortest tour, or with `is_open` of a shortest path between the ends that are given."""
    d = instance.distance_matrix()
    largest = np.inf if d.dtype.kind == "f" else 2**60
    n = len(d)
    if n == 1:
        return d[0, 0].item()
    if is_open:
        # A further city joins the ends.
        closed = np.full((n + 1, n + 1), largest, dtype=d.dtype)
        closed[:n, :n] = d
        closed[n, :n] = [0 if start in (None, city) else largest for city in range(n)]
        closed[:n, n] = [0 if end in (None, city) else largest for city in range(n)]
        d, n = closed, n + 1
    found: int | float = _shortest_tour(d, largest)
    return found


def _shortest_tour(d: NDArray[Any], largest: float) -> Any:
    m = len(d) - 1
    # best[s, j]: from the last city through the set s to its city j.
    best = np.full((1 << m, m), largest, dtype=d.dtype)
    for city in range(m):
        best[1 << city, city] = d[m, city]
    for visited in range(1, 1 << m):
        inside = [city for city in range(m) if visited >> city & 1]
        if len(inside) > 1:
            for city in inside:
                before = best[visited ^ (1 << city)]
                best[visited, city] = np.minimum(before + d[:m, city], largest).min()
    return (best[-1] + d[:m, m]).min().item()
