"""Solve an instance by the named solver, or by one that suits it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

# Modules of a first solve by "auto" are imported here, so that its time limit is for the search.
import pytsp.solvers.eax
import pytsp.solvers.large.solver  # noqa: F401
from pytsp.api.steps import Request
from pytsp.api.transforms import read_instance, solve_instance
from pytsp.backends.cuda import driver
from pytsp.run.coarse import warn_of_resolution
from pytsp.run.limits import Limits

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike

    from pytsp.problem.instance import Instance
    from pytsp.run.monitor import Improved, Progress
    from pytsp.run.result import Result
    from pytsp.solvers.options.fields import Options


def solve(
    instance: Instance | Any,
    *,
    solver: str | Options = "auto",
    open: bool = False,
    start_city: int | str | None = None,
    end_city: int | str | None = None,
    fixed: Iterable[Sequence[int | str]] | None = None,
    seed: int | None = 0,
    backend: str = "auto",
    threads: int | None = None,
    device: str | int | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    target_gap: float | None = None,
    patience: float | None = None,
    limits: Limits | None = None,
    bound: bool = False,
    initial_tour: ArrayLike | None = None,
    keep: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_interval: float = 30.0,
    progress: Callable[[Progress], object] | None = None,
    on_improvement: Callable[[Improved], object] | None = None,
    executor: Executor | Any | None = None,
    devices: str | Sequence[int | str] | None = None,
    **options: Any,
) -> Result:
    """Search for a short tour.

    A climber is one search among several. Its result depends only on (`instance`, `seed`, its number, the options of
    its solver), not on the backend or the threads. Climbers of "eax", or with `exchange` or `merge`, also depend on
    each other. A time limit, a target and Ctrl-C end the search earlier. The defaults of `solver`, `climbers` and
    `moves` depend on the machine; pass them to get the same tour on every machine.

    Parameters
    ----------
    instance : Instance, or anything that `pytsp.as_instance` takes
        Coordinates, a matrix, a data frame, a graph. An asymmetric instance may have at most 11,585 cities. It is
        solved as a symmetric one of twice as many (see `pytsp.problem.asymmetric`).
    solver : options object or str, optional
        An object of `pytsp.EAX`, `ILS`, `LargeTour`, `RandomRestarts`, `TwoOpt`, `Annealing` or `AntColony`, or one of
        the names "eax", "ils", "large", "restarts", "two-opt", "annealing", "ants" and "auto". "auto" chooses by size,
        time limit, machine and options (see the page on solvers); `Result.solver` names the choice.
    open : bool, optional
        Search for the shortest open path through all cities, which does not return. A matrix may then have at most
        23,169 cities (see `pytsp.problem.open_paths`). `Result.is_open` is true for a path.
    start_city, end_city : int or str, optional
        Ends of an open path: numbers counted from 0, or labels. By default the search chooses the ends. For a closed
        tour `start_city` is the first city of the array, and `end_city` is refused.
    fixed : iterable of pairs of int or str, optional
        Edges that every tour has, by the numbers or labels of their cities. By default those of the instance, as in a
        TSPLIB file. They form paths; only the order and direction of these are searched (see
        `pytsp.problem.fixed_edges`). Distances must be symmetric, and whole ones at most 2**29 - 2. "annealing" and
        "ants" do not take fixed edges.
    seed : int or None, optional
        0 ≤ seed < 2**64. None draws a random seed; `Result.seed` holds it.
    backend : {"auto", "c", "multicore", "opencl", "cuda"}, optional
        "auto" takes the fastest that works here.
    threads : int, optional
        Threads for the multicore backend. Default: all available cores.
    device : str or int, optional
        The device, if there are several: its number, or a part of its name.
    time_limit : float, optional
        Seconds after which no further kernel call begins, except a last one that verifies the local optima of an
        iterated local search. A call that cannot be interrupted and does not fit is not begun. Unfinished climbers
        count with their current tours. If the limit passes before the search starts, the result is the initial tour or
        a quick one: along a curve, or by nearest neighbours for a matrix.

        "large" keeps a tenth of the limit, at most 2 s, for a descent over the whole tour; for millions of cities up to
        a third. Without `iterations` the search is planned for the limit. Temperatures fall to 0 by then. Edge assembly
        crossover adds populations until then, or until ten in a row find nothing shorter. With `iterations` a limit
        that is not reached changes nothing.
    target : float, optional
        Stop at a tour of at most this length. It is checked between two kernel calls.
    target_gap : float, optional
        Stop when the tour is at most this fraction longer than the known optimum. If none is known, `bound` supplies a
        lower bound instead, and `stop_reason` is "proven".
    patience : float, optional
        Stop after `patience` seconds without a shorter tour.
    limits : Limits, optional
        The same limits as one `pytsp.Limits`, for several calls. Give each limit here or as its keyword, not both.
    bound : bool, optional
        Also compute a lower bound on the optimal length (`pytsp.lower_bound`), as `Result.lower_bound` and
        `Result.gap_bound`. It is computed after the search, or before it if `target_gap` needs it. At most a
        fifth of `time_limit` is kept for it, plus the time that the search leaves. If Ctrl-C or a callback's True ends
        the bound, the best bound so far is kept. If they end the search first, no bound is computed. The number of
        cities is limited (see `pytsp.lower_bound`).
    initial_tour : array_like of integers, shape (n,), optional
        A tour, or with `open` a path, from which the search starts. The solver's class says how it is used. Missing
        cities are inserted first, each where the tour grows least (`pytsp.problem.insertion`).
    keep : bool, optional
        Do not search. Return the initial tour with the missing cities inserted and the order of the others unchanged.
    checkpoint : str or os.PathLike, optional
        A new file for the state of the solve: at the start, in intervals, and at the end. At any instant the file is
        complete; `pytsp.resume` continues from it. If a later write fails, a warning is logged and the solve continues.
        Floating-point distances keep their first scale (`Result.resolution`).
    checkpoint_interval : float, optional
        Seconds between two checkpoints, at least 0. Writing takes at most a twentieth of the time.
    progress : callable, optional
        Called after every kernel call with a `Progress`, which fetches the best tour when asked. Return True to stop
        with the best tour so far.
    on_improvement : callable, optional
        Called when a kernel call has found a shorter tour, with an `Improvement`: (seconds, iteration, length) and the
        attribute `tour`. Return True to stop.
    executor : int, concurrent.futures.Executor, pytsp.distributed.Processes or distributed.Client, optional
        Workers that share the search: a number of processes on this machine, any executor, or a Dask cluster. Random
        restarts, iterated local search, annealing and ants are divided into ranges of climbers, `EAX` into its islands
        and `LargeTour` into its stripes. Everything else is one part.

        Unless a time limit ends the solve, the tour is that of one process, whatever the workers, and even if some are
        lost. `Result.tasks` counts their work. Pass `climbers` and `solver`, whose defaults depend on the machine, and
        `threads` if several workers share a machine.
    devices : "all" or sequence of int or str, optional
        In place of `executor`: GPUs of this machine that share the search, by number or part of the name. Each has a
        thread.
    **options
        Options of the solver's class: `solve(instance, solver="ils", iterations=100)` is
        `solve(instance, solver=pytsp.ILS(iterations=100))`. Also `metric`, `asymmetric` and `columns`, as in
        `pytsp.as_instance`, for data that are not an instance yet.

    Returns
    -------
    Result
        The best tour. Ctrl-C ends the search as a time limit does.

    Raises
    ------
    ValueError
        If an argument is out of its range, or has no effect with the solver or fixed edges.
    TypeError
        If `pytsp.as_instance` does not take the instance, or there is no such option.
    TourError
        If the initial tour is not a tour.
    CheckpointError
        If the checkpoint exists already, or cannot be written at the start.
    InstanceError
        If no tour has all fixed edges; if kernels cannot take the instance (see
        `pytsp.problem.kernel_input.form_of`); or if its matrix does not fit the memory.
    BackendError
        If the backend is not built, cannot run here, or fails; or a worker has another version or build of pytsp.
    WorkerLost
        If workers are lost with a task more than three times, or no worker is there for a minute. The error names a
        checkpoint to resume.

    Warns
    -----
    PytspWarning
        If the metric rounds away most distances between neighbours; or if floating-point distances span too many
        decades for an exact search (`Result.is_coarse`).

    Examples
    --------
    >>> from pytsp import ILS, Instance
    >>> square = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]])
    >>> solve(square).length
    36.0
    >>> solve(square, solver=ILS(iterations=10), seed=1).length
    36.0
    >>> solve(square, open=True, start_city=1).length
    27.0
    >>> round(solve(square, fixed=[(0, 2)]).length, 3)
    43.456
    >>> solve(square, initial_tour=[0, 2, 3], keep=True).tour
    array([0, 1, 2, 3], dtype=int32)
    """
    began = time.perf_counter()
    if backend in ("auto", "cuda"):
        # Its driver comes up while all else is read.
        driver.begin()
    limits = Limits.of(limits, time_limit=time_limit, target=target, target_gap=target_gap, patience=patience)
    instance = read_instance(instance, options)
    request = Request(
        solver=solver,
        open=open,
        fixed=fixed,
        start_city=start_city,
        end_city=end_city,
        seed=seed,
        placement={"backend": backend, "threads": threads, "device": device},
        limits=limits,
        bound=bound,
        initial_tour=initial_tour,
        keep=keep,
        checkpoint=checkpoint,
        checkpoint_interval=checkpoint_interval,
        progress=progress,
        on_improvement=on_improvement,
        executor=executor,
        devices=devices,
        keywords=options,
        began=began,
    )
    result = solve_instance(instance, request)
    if result.is_coarse:
        warn_of_resolution(result)
    return result
