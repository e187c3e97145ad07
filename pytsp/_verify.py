"""The check of what a kernel says that it found: a tour, and of that length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends import Backend
from pytsp.exceptions import KernelError
from pytsp.forms import Form
from pytsp.instance import Instance
from pytsp.tours import check_tour


def verified(
    tour: NDArray[np.int32], length: int, climber: int, form: Form, kernels: Backend, seed: int
) -> NDArray[np.int32]:
    """Return the tour that a kernel found, shape (n,), once it is known to be one and to have that length.

    Raises
    ------
    TourError
        If it is no tour.
    KernelError
        If its length, recomputed in whole numbers, is another.
    """
    tour = check_tour(tour, form.whole.n)
    recomputed = form.whole.tour_length(tour)
    if recomputed != length:
        raise KernelError(
            f"backend {kernels.name} reports length {length} for the tour of climber {climber} of "
            f"seed {seed}, but its length is {recomputed}: the kernels are miscompiled here; please report this"
        )
    return tour


def told_length(instance: Instance, tour: NDArray[np.int32], length: int) -> int | float:
    """Return the length of a tour as users see it: the kernel's, unless distances are floating-point numbers."""
    return length if instance.is_exact else instance.tour_length(tour)
