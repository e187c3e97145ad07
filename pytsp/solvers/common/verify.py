"""The check of what a kernel says that it found: a tour, and of that length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.exceptions import KernelError
from pytsp.problem.kernel_input import Form
from pytsp.problem.tours import check_tour
from pytsp.solvers.common.incumbent import Best


def verify(best: Best, form: Form, kernels: Backend, seed: int) -> NDArray[np.int32]:
    """Return the tour that a kernel found, shape (n,), once it is known to be one and to have its length.

    Raises
    ------
    TourError
        If it is no tour.
    KernelError
        If its length, recomputed in whole numbers, is another.
    """
    tour = check_tour(best.tour, form.whole.n)
    recomputed = form.whole.tour_length(tour)
    if recomputed != best.length:
        raise KernelError(
            f"backend {kernels.name} reports length {best.length} for the tour of climber {best.climber} of "
            f"seed {seed}, but its length is {recomputed}: the kernels are miscompiled here; please report this"
        )
    return tour
