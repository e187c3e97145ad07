"""Solve an instance, by the solver that is asked for or that its arguments concern."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from pytsp._names import PART_OF, SOLVERS
from pytsp._options import Options
from pytsp._planar import LEAST_CITIES, can_be_large
from pytsp._restarts import moves_a_pass, restarts
from pytsp.backends import Backend, open_backend
from pytsp.forms import form_of
from pytsp.history import Improvement, Progress, Watch
from pytsp.instance import Instance
from pytsp.result import Result

if TYPE_CHECKING:
    from pytsp.starts import Start

__all__ = ["SOLVERS", "moves_a_pass", "solve"]

# The solvers that an argument concerns, where these are not all, or one value of an argument, as a message shows it.
CONCERNED = {
    "climbers": ("restarts", "ils", "eax"),
    "first": ("restarts", "ils", "eax"),
    "mapping": ("restarts",),
    "k": ("restarts", "two-opt"),
    "iterations": ("ils", "eax", "large", "two-opt"),
    "initial_tour": ("ils", "eax", "large", "two-opt"),
    "neighbours": ("ils", "eax", "large"),
    "quadrants": ("ils", "eax", "large"),
    "moves": ("ils", "eax"),
    "pivot": ("ils", "eax"),
    "start": ("ils", "large", "two-opt"),
    "kick": ("ils",),
    "temperature": ("ils", "large"),
    "exchange": ("ils",),
    "draws": ("ils",),
    "piece": ("large",),
    "pivot='random-k'": ("ils",),
}
# Instances that "auto" gives to "eax": there is something to recombine, and a population of tours is not too much.
RECOMBINED_CITIES = range(8, 12_001)


def solve(
    instance: Instance,
    *,
    solver: str = "auto",
    climbers: int | None = None,
    seed: int = 0,
    first: int = 0,
    backend: str = "auto",
    threads: int | None = None,
    device: str | int | None = None,
    mapping: str = "auto",
    k: int | float | str = 1,
    iterations: int | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    initial_tour: ArrayLike | None = None,
    start: Start | None = None,
    neighbours: int | ArrayLike | None = None,
    quadrants: bool | None = None,
    moves: str = "3-opt",
    pivot: str = "first",
    draws: int | None = None,
    kick: str = "mixed",
    temperature: float | None = None,
    exchange: int | None = None,
    piece: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    on_improvement: Callable[[Improvement], None] | None = None,
) -> Result:
    """Search a short tour.

    By edge assembly crossover ("eax"), the climbers of a population go each to a local optimum, and then take over from
    each other what makes their tours shorter, until they agree [1]_. By iterated local search ("ils"), each climber
    goes from its starting tour to a local optimum, and from there on changes its tour at random in one place (a kick: a
    double bridge), repairs it by local search, and keeps what is not longer than before [2]_ [3]_. By random restarts
    ("restarts"), many climbers go each from its own random tour to a local optimum, by the best of all n (n - 3) / 2
    2-opt moves at a time [4]_ [5]_. By "two-opt", one tour, of however many cities, goes from a good start to a local
    optimum in the same way [7]_. By "large", pieces of one tour go through an iterated local search side by side, and
    moves between the pieces join what lies across their borders; the pieces are cut elsewhere in each round [8]_.

    Where a climber ends depends on (`instance`, `seed`, its number, and the arguments of its solver) only, not on the
    backend, the number of threads or, without `exchange`, the other climbers. A time limit, a target and Ctrl-C end it
    earlier.

    Parameters
    ----------
    instance : Instance
    solver : {"auto", "restarts", "ils", "eax", "large", "two-opt"}, optional
        "auto" is "eax" from 8 to 12,000 cities; above, "large" for cities in the plane (EUC_2D, CEIL_2D, EUCLIDEAN), if
        no argument says otherwise; and "ils" for all else. But it is "restarts" or "ils" where an argument is given
        that concerns only it, and "ils" where `iterations` is. "two-opt" is never chosen; `climbers`, `first` and what
        is said of neighbours, moves and kicks does not concern it.
    climbers : int, optional
        How many climbers, at least 1. By default, in edge assembly crossover 100 (from 2,000 cities on fewer, down to
        24), or on a GPU 512, and with a time limit as many as it lets converge; in an iterated local search one a core,
        or on a GPU 4,096 as far as its memory holds them; in random restarts 10,000, or as many as about 2e10 moves
        allow: 30 at 1,000 cities.
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
        Restarts: how climbers are laid out on a GPU, one a thread block or one a thread. The results are the same;
        "auto" takes the faster.
    k : int or "inf", optional
        Restarts, two-opt: how many moves a pass over the neighbourhood may make, at least 1: the best one of each edge,
        in the order of their gains, as long as they do not overlap [6]_. With 1 the climbers make the best move only;
        more moves a pass take fewer passes, which pays from some hundred cities on.
    iterations : int, optional
        ILS: how many kicks each climber tries, at least 0. By default as many as the time limit allows; without one, a
        number that depends on n, the number of climbers and the kind of machine, so that the solve ends by itself,
        within 3 s for up to 1,000 cities. EAX: how many generations there are at most; by default, and without a time
        limit, as many as shorten any tour. With a time limit, populations follow each other, until ten in a row have
        found nothing shorter. Large: how many rounds, in each of which a piece tries a kick for each ten of its cities;
        by default 100, or as many as the time limit allows. Two-opt: how many passes there are at most; by default as
        many as shorten the tour.
    time_limit : float, optional
        Seconds after which no further kernel call begins, but for a last one in which an iterated local search makes
        sure of its local optima. Climbers on their way count with the tours they have. Edge assembly crossover goes on
        with new climbers until then, or until populations have converged ten times in a row without a shorter tour.
        The temperature has fallen to 0 by then, too. Large leaves a tenth of it, at most 2 s, for a descent over the
        whole tour, and ends that 0.3 s after the limit.
    target : float, optional
        Stop as soon as a tour of at most this length is found; looked at between two kernel calls.
    initial_tour : array_like of integers, shape (n,), optional
        ILS: the tour from which all climbers start. EAX: a tour that belongs to the population. Large, two-opt: the
        tour that becomes shorter.
    piece : int, optional
        Large: how many cities a piece has, at least 8. By default 5,000; on a GPU 1,000 … 4,000, as many as keep it
        busy. A GPU takes what fits the shared memory of a block, 10,000 cities on recent ones.
    start : {"greedy", "nearest-neighbour", "space-filling-curve", "random"}, optional
        Two-opt, large: the tour that becomes shorter (see `pytsp.starts`), by default "greedy" and
        "space-filling-curve". ILS: the tour from which climber 0 starts, by default "space-filling-curve", without
        coordinates "greedy". Climbers 1, …, 63 start from nearest-neighbour tours that begin in different cities, all
        others from random tours; with "random" all do.
    neighbours : int or array_like of integers, shape (n, k), optional
        ILS, EAX, large: the cities to which local search tries new edges: so many nearest of each city, or those
        listed. By default 10; large: 8.
    quadrants : bool, optional
        ILS, EAX, large: whether the nearest are taken from all four quadrants around a city (see
        `pytsp.neighbours.neighbour_lists`). By default they are where there are such, as for EUC_2D; large: not.
    moves : {"3-opt", "or-opt"}, optional
        ILS, EAX: the local search's neighbourhood: sequential 3-opt moves, which include all others here, or 2-opt
        moves and Or-opt moves of segments of up to three cities.
    pivot : {"first", "best", "random-k"}, optional
        ILS, EAX: make the first move of a city that shortens the tour, or the best. ILS: with "random-k", draw `draws`
        moves of the cities that wait and make the best of all; where it does not shorten the tour, local search ends
        [3]_. The result then need not be a local optimum.
    draws : int, optional
        ILS with `pivot` "random-k": how many moves a step of local search draws, at least 1. By default 200. The time
        of an iteration grows with them.
    kick : {"mixed", "segments", "walk"}, optional
        ILS: the double bridge's four edges lie within some tens of positions along the tour, or are found by random
        walks on the neighbour lists; by default either, as it is drawn.
    temperature : float, optional
        ILS, large: what an accepted change may make a tour longer at first, a random amount of about this length, at
        least 0. As in simulated annealing [9]_ it falls to 0, ILS: with the square of the iterations or the time that
        are left, large: with the third power. The climber's best tour is kept beside. By default 1.2 times the mean
        distance between a city and its two nearest neighbours.
    exchange : int, optional
        ILS: after each so many iterations the quarter of the climbers with the longest tours takes over the tours of
        the quarter with the shortest. By default never.
    progress : callable, optional
        Called after every kernel call with a `Progress`.
    on_improvement : callable, optional
        Called with an `Improvement`, (seconds, iteration, length), whenever a kernel call has found a shorter tour.

    Returns
    -------
    Result
        Ctrl-C ends the search as the time limit does: the best tour so far is returned.

    Raises
    ------
    ValueError
        If an argument is out of its range, or does not concern the solver.
    TourError
        If the initial tour is none.
    InstanceError
        If the instance cannot be put before a kernel (see `pytsp.forms.form_of`).
    BackendError
        If the backend is not built, cannot run here, or fails.

    References
    ----------
    .. [1] Nagata, Kobayashi: A Powerful Genetic Algorithm Using Edge Assembly Crossover for the Traveling Salesman
       Problem, INFORMS Journal on Computing 25(2), 2013.
    .. [2] Lourenço, Martin, Stützle: Iterated Local Search, Handbook of Metaheuristics, 2003.
    .. [3] Delévacq, Delisle, Krajecki: Parallelization Strategies for Local Search Algorithms on Graphics Processing
       Units, 2012.
    .. [4] O'Neil, Tamir, Burtscher: A Parallel GPU Version of the Traveling Salesman Problem, PDPTA 2011.
    .. [5] Utne, Hansen: Solving TSP on the GPU based on heuristic algorithms, University of Copenhagen, 2023.
    .. [6] Robinson, Vrbsky, Hong, Eddy: Analysis of a High-Performance TSP Solver on the GPU, ACM JEA 23, 2018, 3.4.
    .. [7] Rocki, Suda: High Performance GPU Accelerated Local Optimization in TSP, IPDPS Workshops 2013.
    .. [8] Helsgaun: General k-opt submoves for the Lin-Kernighan TSP heuristic, Mathematical Programming Computation 1,
       2009, whose segments of a tour these pieces are.
    .. [9] Martin, Otto, Felten: Large-Step Markov Chains for the Traveling Salesman Problem, Complex Systems 5, 1991.

    Examples
    --------
    >>> square = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]])
    >>> solve(square).length
    36
    """
    if not isinstance(instance, Instance):
        raise TypeError(f"instance must be a pytsp.Instance (see pytsp.read); it is a {type(instance).__name__}")
    asked = {
        "iterations": iterations,
        "initial_tour": initial_tour,
        "start": start,
        "neighbours": neighbours,
        "quadrants": quadrants,
        "moves": moves,
        "pivot": pivot,
        "draws": draws,
        "kick": kick,
        "temperature": temperature,
        "exchange": exchange,
        "piece": piece,
    }
    given = _given({"climbers": climbers, "first": first, "mapping": mapping, "k": k, **asked})
    solver = _chosen(solver, given, instance)
    options = Options(climbers=climbers, seed=seed, first=first, **asked)  # type: ignore[arg-type]
    watch = Watch(time_limit=time_limit, target=target, progress=progress, on_improvement=on_improvement)
    if solver == "large" and instance.n < LEAST_CITIES:
        solver = "ils"

    def opened() -> Backend:
        return open_backend(backend, threads=threads, device=device, part=PART_OF[solver])

    if solver == "large":
        from pytsp.large import large  # noqa: PLC0415

        return large(instance, opened(), watch, options)
    form = form_of(instance)
    if solver == "two-opt":
        from pytsp.two_opt import descended  # noqa: PLC0415

        return descended(instance, form, opened(), watch, options, k)
    if solver != "restarts":
        # They need SciPy, which takes longer to import than all else; a device may be opening meanwhile.
        from pytsp.eax import evolved  # noqa: PLC0415
        from pytsp.ils import iterated  # noqa: PLC0415

        return (evolved if solver == "eax" else iterated)(instance, form, opened(), watch, options)
    return restarts(
        instance,
        form,
        opened(),
        watch,
        climbers=options.climbers,
        seed=options.seed,
        first=options.first,
        mapping=mapping,
        k=k,
    )


def _given(arguments: Mapping[str, object]) -> dict[str, str]:
    """Return the arguments of `solve` that are not its defaults, as a message shows them."""
    parameters = signature(solve).parameters
    return {
        # What may be an array is None by default.
        name: f"{name}={value!r}" if isinstance(value, int | float | str) else name
        for name, value in arguments.items()
        if (value is not None if parameters[name].default is None else value != parameters[name].default)
    }


def _chosen(solver: str, given: Mapping[str, str], instance: Instance) -> str:
    """Return the solver that is meant, which is not "auto".

    Raises
    ------
    ValueError
        If there is no such solver, or an argument does not concern it.
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver {solver!r} is not known; known: {', '.join(SOLVERS)}")
    if solver == "auto":
        is_large = instance.n > RECOMBINED_CITIES[-1] and can_be_large(instance)
        if is_large and all("large" in _concerned_by(name, shown) for name, shown in given.items()):
            return "large"
        is_recombined = instance.n in RECOMBINED_CITIES and "iterations" not in given
        solver = _concerned(given) or ("eax" if is_recombined else "ils")
    for name, shown in given.items():
        if solver not in _concerned_by(name, shown):
            others = " or ".join(f"solver={other!r}" for other in _concerned_by(name, shown))
            raise ValueError(f"{shown} does not concern solver={solver!r}; it is for {others}")
    return solver


def _concerned(given: Mapping[str, str]) -> str | None:
    """Return the one solver that arguments concern, if one concerns only one, leaving those for one huge tour aside."""
    aside = {"large", "two-opt"}
    concerned = {shown: set(_concerned_by(name, shown)) for name, shown in given.items()}
    concerned = {shown: solvers - aside or solvers for shown, solvers in concerned.items()}
    single = {solver: shown for shown, solvers in concerned.items() if len(solvers) == 1 for solver in solvers}
    if len(single) > 1:
        (one, first), (other, second) = single.items()
        raise ValueError(f"{first} is for solver={one!r} and {second} for solver={other!r}; give one of the two")
    return next(iter(single), None)


def _concerned_by(name: str, shown: str) -> tuple[str, ...]:
    """Return the solvers that an argument concerns as it is given."""
    return CONCERNED.get(shown, CONCERNED[name])
