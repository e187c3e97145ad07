"""Solve an instance: batches of climbers on a backend, until all are done, the time is up, or Ctrl-C is pressed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pytsp.backends import open_backend
from pytsp.exceptions import KernelError
from pytsp.forms import form_of
from pytsp.instance import Instance
from pytsp.result import Result
from pytsp.search import MOST_STEPS, Search
from pytsp.tours import check_tour, whole_number

# The default number of climbers: so many, or fewer where they would evaluate more moves than this altogether.
DEFAULT_CLIMBERS = 10_000
DEFAULT_MOVES = 2e10


@dataclass(frozen=True)
class Progress:
    """How far a solve has come: what the `progress` callback of `solve` receives after every kernel call."""

    climbers: int
    climbers_done: int
    length: int | float
    seconds: float


def solve(
    instance: Instance,
    *,
    climbers: int | None = None,
    seed: int = 0,
    first: int = 0,
    backend: str = "auto",
    threads: int | None = None,
    device: str | int | None = None,
    mapping: str = "auto",
    k: int | float | str = 1,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Search a short tour by random restarts: many climbers, each from its own random tour to a local optimum.

    A climber applies the best of all n (n - 3) / 2 2-opt moves until none shortens its tour [1]_ [2]_. Where it ends
    depends on (`instance`, `seed`, its number, `k`) only, not on the backend, the number of threads or the other
    climbers.

    Parameters
    ----------
    instance : Instance
    climbers : int, optional
        How many climbers, at least 1. By default 10,000, or as many as about 2e10 moves allow: 30 at 1,000 cities.
    seed : int, optional
        0 ≤ seed < 2**64.
    first : int, optional
        The number of the first climber: a run may be cut into ranges.
    backend : {"auto", "c", "multicore", "opencl", "cuda"}, optional
        "auto" takes the fastest that works here.
    threads : int, optional
        The number of threads of the multicore backend; by default all usable cores.
    device : str or int, optional
        Which device, of several.
    mapping : {"auto", "block", "thread"}, optional
        How climbers are laid out on a GPU: one a thread block, or one a thread. The results are the same; "auto" takes
        the faster.
    k : int or "inf", optional
        How many moves a pass over the neighbourhood may make, at least 1: the best one of each edge, in the order of
        their gains, as long as they do not overlap [3]_. With 1 the climbers make the best move only; more moves a pass
        take fewer passes, which pays from some hundred cities on.
    time_limit : float, optional
        Seconds after which no further kernel call begins. Climbers on their way count with the tours they have.
    progress : callable, optional
        Called after every kernel call with a `Progress`.

    Returns
    -------
    Result
        Ctrl-C ends the search as the time limit does: the best tour so far is returned.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    InstanceError
        If the instance cannot be put before a kernel (see `pytsp.forms.form_of`).
    BackendError
        If the backend is not built, cannot run here, or fails.

    References
    ----------
    .. [1] O'Neil, Tamir, Burtscher: A Parallel GPU Version of the Traveling Salesman Problem, PDPTA 2011.
    .. [2] Utne, Hansen: Solving TSP on the GPU based on heuristic algorithms, University of Copenhagen, 2023.
    .. [3] Robinson, Vrbsky, Hong, Eddy: Analysis of a High-Performance TSP Solver on the GPU, ACM JEA 23, 2018, 3.4.

    Examples
    --------
    >>> square = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]])
    >>> solve(square, climbers=3).length
    36
    """
    began = time.perf_counter()
    if not isinstance(instance, Instance):
        raise TypeError(f"instance must be a pytsp.Instance (see pytsp.read); it is a {type(instance).__name__}")
    climbers = default_climbers(instance.n) if climbers is None else whole_number("climbers", climbers, 1, 2**40)
    seed = whole_number("seed", seed, 0, 2**64 - 1)
    first = whole_number("first", first, 0, 2**62)
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be a positive number of seconds; it is {time_limit!r}")
    form = form_of(instance)
    kernels = open_backend(backend, threads=threads, device=device)
    search = Search(form, kernels, climbers, seed, first, k=moves_a_pass(k), mapping=mapping)
    stop_reason = "finished"
    try:
        while search.advance():
            seconds = time.perf_counter() - began
            if progress is not None:
                length = search.best.length * form.unit if search.best else 0
                progress(Progress(climbers, search.climbers_done, length, seconds))
            if time_limit is not None and seconds >= time_limit and not search.is_finished:
                stop_reason = "time limit"
                break
    except KeyboardInterrupt:
        if search.best is None:
            raise
        stop_reason = "interrupted"
    return _result(search, instance, stop_reason, began)


def default_climbers(n: int) -> int:
    """Return the number of climbers of a solve that names none: about n steps a climber, n**2 / 2 moves a step."""
    return max(1, min(DEFAULT_CLIMBERS, int(DEFAULT_MOVES / (1.2 * n * max(1, n * (n - 3) / 2)))))


def moves_a_pass(k: int | float | str) -> int:
    """Return `k` as a kernel takes it: "inf", or `math.inf`, is the largest number there is."""
    return MOST_STEPS if k in ("inf", math.inf) else whole_number("k", k, 1, MOST_STEPS)  # type: ignore[arg-type]


def _result(search: Search, instance: Instance, stop_reason: str, began: float) -> Result:
    """Check the best tour against the instance and return it with what all climbers came to."""
    assert search.best is not None
    best, batches = search.best, search.batches.values()
    tour = check_tour(best.tour, instance.n)
    recomputed = search.form.whole.tour_length(tour)
    if recomputed != best.length:
        raise KernelError(
            f"backend {search.kernels.name} reports length {best.length} for the tour of climber {best.climber} of "
            f"seed {search.seed}, but its length is {recomputed}: the kernels are miscompiled here; please report this"
        )
    lengths = np.concatenate([b.lengths for b in batches])
    return Result(
        instance=instance,
        tour=tour,
        length=instance.tour_length(tour),
        climber=best.climber,
        lengths=lengths if instance.is_exact else lengths * search.form.unit,
        steps=np.concatenate([b.steps for b in batches]),
        passes=np.concatenate([b.passes for b in batches]),
        done=np.concatenate([b.done for b in batches]),
        seed=search.seed,
        k=search.k,
        backend=search.kernels.name,
        mapping=search.mapping,
        seconds=time.perf_counter() - began,
        stop_reason=stop_reason,
    )
