"""The temperature at which a search begins, in units of the kernels' lengths."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.kernel_input import Form
from pytsp.problem.location import excess_of

# The default first temperature of local search, in mean distances between a city and its two nearest
# (docs/algorithms).
TEMPERATURE = 1.2
# The same for directed ways, whose chains find fewer moves that shorten a tour (docs/algorithms/open-and-directed.md).
DIRECTED_TEMPERATURE = 4.0
# The largest temperature of a kernel, in its units: far above the lengthening of a tour by a kick.
MOST_TEMPERATURE = 1e12
# Cities whose nearest are asked for together.
_BLOCK = 131_072


def first_temperature(form: Form, lists: NDArray[np.int32], given: float | None, *, is_doubled: bool = False) -> float:
    """Return the temperature that is given, or a fraction of the mean distance between a city and its two nearest."""
    if given is not None:
        return in_units(form, given)
    if lists.shape[1] == 0:
        return 0.0
    near, total = lists[:, :2], 0
    # Directed ways, or pairs that stay together, make all ways longer by as much, which does not count.
    longer = form.whole.distance(0, 1) // 2 if is_doubled else int(excess_of(form.whole, lists)[0])
    for first in range(0, len(near), _BLOCK):
        block = near[first : first + _BLOCK]
        lengths = form.whole.distances(np.arange(first, first + len(block))[:, None], block)
        # The other city of a pair, where a list has it, is at distance 0.
        total += int(np.maximum(lengths - longer, 0).sum())
    return (DIRECTED_TEMPERATURE if is_doubled else TEMPERATURE) * total / near.size


def in_units(form: Form, temperature: float) -> float:
    """Return a temperature that is given, in units of the kernel's lengths, or refuse more than a kernel takes."""
    if form.in_units(temperature) > MOST_TEMPERATURE:
        most = math.ldexp(MOST_TEMPERATURE, form.exponent)
        raise ValueError(f"temperature must be at most {most:g} here; it is {temperature!r}")
    return form.in_units(temperature)
