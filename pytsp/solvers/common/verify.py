"""The check of what a kernel says that it found, a tour, and of that length; and the result that is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.exceptions import KernelError
from pytsp.problem.instance import Instance
from pytsp.problem.kernel_input import Form
from pytsp.problem.tours import check_tour
from pytsp.run.monitor import Watch
from pytsp.run.result import Result


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


def result_of(
    instance: Instance,
    form: Form,
    kernels: Backend,
    watch: Watch,
    *,
    solver: str,
    tour: NDArray[np.int32],
    length: int,
    climber: int,
    seed: int,
    lengths: NDArray[np.int64],
    steps: NDArray[np.int32] | NDArray[np.int64],
    done: NDArray[np.bool_],
    mapping: str,
    stop_reason: str,
    iterations: int | None,
    climbers_done: int = 0,
    passes: NDArray[np.int32] | None = None,
    k: int | None = None,
    cities: NDArray[np.integer[Any]] | None = None,
) -> Result:
    """Check the best tour that kernels found, and return it with what all climbers came to.

    Lengths are given in the kernels' units. `cities` has the cities in the order in which the kernels number them,
    where that is another than the instance's; the history counts iterations, or where there are none, `climbers_done`.
    The rest is as `Result` has it.

    Raises
    ------
    TourError, KernelError
        As `verified` does.
    """
    tour = verified(tour, length, climber, form, kernels, seed)
    if cities is not None:
        tour = cities[tour].astype(np.int32)
    # Recomputed once, in the numbers of the kernel, where what lies close together is near in memory.
    told = told_length(instance, tour, length)
    return Result(
        instance=instance,
        tour=tour,
        length=told,
        climber=climber,
        lengths=lengths if instance.is_exact else form.told(lengths),
        steps=steps,
        passes=np.empty(0, dtype=np.int32) if passes is None else passes,
        done=done,
        seed=seed,
        k=k,
        backend=kernels.name,
        mapping=mapping,
        seconds=watch.seconds,
        stop_reason=stop_reason,
        solver=solver,
        iterations=iterations,
        history=watch.improvements(climbers_done if iterations is None else iterations, told),
    )
