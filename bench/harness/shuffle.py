"""The same cities in another order: some files of TSPLIB list them in the order of a short tour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import pytsp


def shuffled(instance: pytsp.Instance, seed: int) -> tuple[pytsp.Instance, NDArray[np.int64]]:
    """Return the instance with its cities in a random order, and the order: city i of the new one was `order[i]`."""
    order = np.random.default_rng(seed).permutation(instance.n)
    if instance.coordinates is not None:
        return replace(instance, coordinates=instance.coordinates[order], display=None), order
    assert instance.matrix is not None
    return replace(instance, matrix=instance.matrix[np.ix_(order, order)], display=None), order
