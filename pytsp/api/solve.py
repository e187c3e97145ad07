"""Solve an instance, by the solver that is asked for or that its options concern."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

# What a first solve by "auto" takes is imported with this module: its time limit is for the search.
import pytsp.api.collapsed
import pytsp.api.rescaled
import pytsp.solvers.eax
import pytsp.solvers.large.solver  # noqa: F401
from pytsp.api.dispatch import dispatch
from pytsp.api.request import Request
from pytsp.backends.cuda import driver

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike

    from pytsp.problem.instance import Instance
    from pytsp.run.monitor import Improved, Progress
    from pytsp.run.result import Result
    from pytsp.solvers.options.fields import Options

__all__ = ["solve"]


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
    """Search a short tour.

    Where a climber ends depends on (`instance`, `seed`, its number, and the options of its solver) only, not on the
    backend, the number of threads or, without `exchange` and `merge`, the other climbers. A time limit, a target and
    Ctrl-C end it earlier. The machine decides the defaults of `solver`, `climbers`, `piece` and `moves`: pass these to
    get the same tour on every machine.

    Parameters
    ----------
    instance : Instance, or what `pytsp.as_instance` takes
        Coordinates, a matrix, a data frame, a graph: `as_instance` says how they are read. An asymmetric one is solved
        as a symmetric one of twice as many cities, 11,585 at most (see `pytsp.problem.asymmetric`).
    solver : options object or str, optional
        `pytsp.EAX`, `pytsp.ILS`, `pytsp.LargeTour`, `pytsp.RandomRestarts`, `pytsp.TwoOpt`, `pytsp.Annealing` or
        `pytsp.AntColony`, with what it is asked for; or a name, "eax", "ils", "large", "restarts", "two-opt",
        "annealing", "ants" or "auto". "auto" is "eax" from 8 to 20,000 cities, on a GPU to as many as its memory holds
        16 tours of, unless the time limit is too short for it: on a CPU by what its first climbers take, on a GPU below
        7 µs a city, or 0.15 s and 0.8 µs a city. Where distances are asymmetric it is "eax" to 2,000 cities and from 1
        ms a city on, or where near cities are about as far there as back, as on roads, to 1,000 and from 5 µs times the
        square of the cities on; on a GPU to 5,000. Else it is "ils" on a CPU up to 20,000 cities, and with up to three
        threads to 500,000 where the time limit leaves 0.01 ms a city, "large", which the CPU alone has, for cities that
        have coordinates, if no option says otherwise, and "ils" for all else. But it is "restarts" or "ils" where an
        option is given that concerns only it, and "ils" where `iterations` is. "two-opt", "annealing" and "ants", which
        are there to be compared with, are chosen only by an option that is theirs alone.
    open : bool, optional
        Search the shortest open path through all cities, which does not return to its first one, by a matrix of 23,169
        cities at most (see `pytsp.problem.open_paths`). `Result.is_open` tells paths from tours.
    start_city, end_city : int or str, optional
        Where an open path begins and ends: a number counted from 0, or a label. By default where the path is shortest.
        A closed tour is told from `start_city` on, and has no `end_city`.
    fixed : iterable of pairs of int or str, optional
        Edges that every tour has, by the numbers or labels of their cities; by default those of the instance, as a file
        of TSPLIB may have them. They make paths, of which only the order and the direction are searched (see
        `pytsp.problem.fixed_edges`). Distances must be symmetric, and at most 2**29 - 2 where they are whole numbers;
        "annealing" and "ants" keep none.
    seed : int or None, optional
        0 ≤ seed < 2**64. None draws one, which `Result.seed` tells.
    backend : {"auto", "c", "multicore", "opencl", "cuda"}, optional
        "auto" takes the fastest that works here.
    threads : int, optional
        The number of threads of the multicore backend; by default all usable cores.
    device : str or int, optional
        Which device, of several.
    time_limit : float, optional
        Seconds after which no further kernel call begins, but for a last one in which an iterated local search makes
        sure of its local optima; a call that cannot be cut and does not fit is not begun. Climbers on their way count
        with the tours they have; where the time is over before there is a search, the initial tour, or one along a
        curve, or by nearest neighbours where there is a matrix. One huge tour leaves a tenth of it, at most 2 s, or on
        millions of cities up to a third, for a descent over the whole tour. Without `iterations` the limit is what the
        search is laid out for: edge assembly crossover goes on with new climbers until then, or until populations have
        converged ten times in a row without a shorter tour, and a temperature has fallen to 0 by then. With
        `iterations` it only cuts them short: one that is not reached changes nothing.
    target : float, optional
        Stop as soon as a tour of at most this length is found; looked at between two kernel calls.
    target_gap : float, optional
        Stop as soon as a tour is longer than the known optimum by at most this fraction; where none is known, with
        `bound`, than the lower bound: `stop_reason` is "proven" then.
    patience : float, optional
        Stop after so many seconds without a shorter tour.
    bound : bool, optional
        Find a length that no tour, with `open` no path, is below, too (`pytsp.lower_bound`): `Result.lower_bound` and
        `Result.gap_bound`. A fifth of `time_limit` is kept for it, and what else the search leaves of that; without a
        limit it takes as long as it does. It is found behind the search, so that Ctrl-C never costs a tour, and before
        it where `target_gap` needs it. Ctrl-C and a callback's True then leave the best bound so far. At most 20,000
        cities but for tours in the plane, of asymmetric instances 10,000.
    initial_tour : array_like of integers, shape (n,), optional
        With `open` a path. What it is for says the solver's class: the tour from which climbers start, which becomes
        shorter, or which belongs to the population. Where it has fewer cities, the others are inserted first, each
        where the tour becomes longer by least (`pytsp.problem.insertion`).
    keep : bool, optional
        Search nothing: return the initial tour, with the cities inserted that it has not, and the order of the others
        as it is.
    checkpoint : str or os.PathLike, optional
        A file that must not be there yet, into which the solve writes where it stands: at the beginning, in intervals,
        and when it ends or Ctrl-C ends it. At any instant the file is whole; `pytsp.resume` goes on from it. Where it
        can no longer be written, a warning is logged and the solve goes on. Floating-point distances then keep their
        first scale (`Result.resolution`).
    checkpoint_interval : float, optional
        Seconds between two checkpoints, at least 0. There are fewer where writing takes more than a twentieth of the
        time.
    progress : callable, optional
        Called after every kernel call with a `Progress`, which has the best tour on demand. Where it returns True, the
        solve ends with the best tour so far; other answers mean nothing.
    on_improvement : callable, optional
        Called with an `Improvement`, (seconds, iteration, length), whenever a kernel call has found a shorter tour; it
        has the attribute `tour`, too. True ends the solve as well.
    executor : int, concurrent.futures.Executor, pytsp.distributed.Processes or distributed.Client, optional
        What runs the search: so many processes of this machine, anything with the interface of an executor, or a Dask
        cluster. Climbers that know nothing of each other (random restarts, iterated local search, annealing, ants) go
        in ranges, the islands of `EAX` and the stripes of `LargeTour` each by themselves; all else is one part. Where
        it is not a time limit that ends the solve, the tour is that of one process, whatever the workers, their
        number, and which of them are lost. `Result.tasks` tells what they were sent and did. Give `climbers` and the
        solver, which depend on the machine otherwise, and `threads`, where a machine has several workers.
    devices : "all" or sequence of int or str, optional
        In place of `executor`: the machine's GPUs, by their numbers or parts of their names; each has a thread.
    **options
        What the solver is asked for, as its class has it: `solve(instance, solver="ils", iterations=100)` is
        `solve(instance, solver=pytsp.ILS(iterations=100))`. And `metric`, `asymmetric` and `columns`: how data are read
        that are no instance yet, as `pytsp.as_instance` takes them.

    Returns
    -------
    Result
        Ctrl-C ends the search as the time limit does: the best tour so far is returned.

    Raises
    ------
    ValueError
        If an argument is out of its range, or does not concern the solver or fixed edges.
    TypeError
        If the instance is none, nor anything that `pytsp.as_instance` takes, or there is no such option.
    TourError
        If the initial tour is none.
    CheckpointError
        If the checkpoint is there already, or cannot be written at the beginning.
    InstanceError
        If no tour has all fixed edges; if the instance cannot be put before a kernel (see
        `pytsp.problem.kernel_input.form_of`); or if the matrix that this takes does not fit the memory.
    BackendError
        If the backend is not built, cannot run here, or fails; or a worker has another version or build of pytsp.
    WorkerLost
        If workers are lost with a task more than three times; a checkpoint that it names goes on.

    Warns
    -----
    PytspWarning
        If the metric rounds, and that leaves nothing of most distances between neighbours; or if floating-point
        distances span so many decades that the tour may be longer than it could be (`Result.is_coarse`).

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
    request = Request(
        reading={name: options.pop(name) for name in ("metric", "asymmetric", "columns") if name in options},
        solver=solver,
        open=open,
        fixed=fixed,
        given_ends=(start_city, end_city),
        seed=seed,
        backend=backend,
        threads=threads,
        device=device,
        time_limit=time_limit,
        target=target,
        target_gap=target_gap,
        patience=patience,
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
    result = dispatch(instance, request)
    if result.is_coarse:
        from pytsp.run.coarse import warn_of_resolution  # noqa: PLC0415

        warn_of_resolution(result, stacklevel=2)
    return result
