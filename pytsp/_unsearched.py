"""What a solve comes to whose time is over before its search has begun."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp._hilbert import hilbert_keys
from pytsp._options import Options
from pytsp.history import Watch
from pytsp.instance import Instance
from pytsp.result import Result
from pytsp.tours import check_tour

__all__ = ["unsearched"]


def unsearched(
    instance: Instance,
    watch: Watch,
    options: Options,
    tour: NDArray[np.int32] | None,
    *,
    solver: str,
    backend: str,
    k: int,
) -> Result:
    """Return a tour that takes next to no time: the initial one, one that is known, that of a curve, or the cities in
    their order."""
    if options.initial_tour is not None:
        tour = check_tour(options.initial_tour, instance.n)
    elif tour is None:
        tour = _quick_tour(instance)
    length = instance.tour_length(tour)
    watch.offer(0, length)
    has_passes = solver in ("restarts", "two-opt")
    return Result(
        instance=instance,
        tour=tour,
        length=length,
        climber=options.first,
        lengths=np.array([length]),
        steps=np.zeros(1, dtype=np.int64),
        passes=np.zeros(int(has_passes), dtype=np.int32),
        done=np.zeros(1, dtype=np.bool_),
        seed=options.seed,
        k=k if has_passes else None,
        backend=backend,
        mapping="thread",
        seconds=watch.seconds,
        stop_reason="time limit",
        solver=solver,
        iterations=None if solver == "restarts" else 0,
        history=watch.improvements(0, length),
    )


def _quick_tour(instance: Instance) -> NDArray[np.int32]:
    points = instance.coordinates
    if points is None or points.shape[1] != 2:
        return instance.canonical_tour()
    return np.argsort(hilbert_keys(points), kind="stable").astype(np.int32)
