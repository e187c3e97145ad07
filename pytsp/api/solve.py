"""Solve an instance, by the solver that is asked for or that its arguments concern."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any

from pytsp.backends.cuda import driver
from pytsp.solvers.registry import SOLVERS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pytsp.problem.instance import Instance
    from pytsp.run.monitor import Improvement, Progress
    from pytsp.run.result import Result
    from pytsp.starts.construct import Start

__all__ = ["SOLVERS", "solve"]


def solve(
    instance: Instance | Any,
    *,
    open: bool = False,
    start_city: int | None = None,
    end_city: int | None = None,
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
    moves: str | None = None,
    pivot: str = "first",
    draws: int | None = None,
    kick: str = "mixed",
    temperature: float | None = None,
    exchange: int | None = None,
    restart: int | None = None,
    merge: bool = False,
    population: int | None = None,
    piece: int | None = None,
    schedule: str | ArrayLike | None = None,
    cooling: float | None = None,
    trials: int | None = None,
    pairs: str = "neighbours",
    variant: str = "max-min",
    ants: int | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    evaporation: float | None = None,
    ranks: int | None = None,
    smoothing: float | None = None,
    target_gap: float | None = None,
    patience: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_interval: float = 30.0,
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

    Two are there to be compared with. By "annealing", chains make random moves, ever fewer of them for the worse [10]_.
    By "ants", the ants of a colony make tours edge by edge, rather along short edges and strong trails, which good
    tours leave behind [11]_ [12]_ [13]_.

    Where a climber ends depends on (`instance`, `seed`, its number, and the arguments of its solver) only, not on the
    backend, the number of threads or, without `exchange` and `merge`, the other climbers. A time limit, a target and
    Ctrl-C end it earlier.

    Parameters
    ----------
    instance : Instance, or what `pytsp.as_instance` takes
        Coordinates, a matrix, a data frame, a graph: `as_instance` says how they are read. An asymmetric one is solved
        as a symmetric one of twice as many cities, 11,585 at most (see `pytsp.asymmetric`).
    open : bool, optional
        Search the shortest open path through all cities, which does not return to its first one, of 23,169 cities at
        most (see `pytsp.paths`). `Result.is_open` tells paths from tours.
    start_city, end_city : int, optional
        Where an open path begins and ends, counted from 0; by default where it is shortest.
    solver : {"auto", "restarts", "ils", "eax", "large", "two-opt", "annealing", "ants"}, optional
        "auto" is "eax" from 8 to 12,000 cities; above, "large" for cities in the plane (EUC_2D, CEIL_2D, EUCLIDEAN), if
        no argument says otherwise, on a GPU from 5,000 on where the time limit is too short for "eax"; and "ils" for
        all else. But it is "restarts" or "ils" where an argument is given that concerns only it, and "ils" where
        `iterations` is. "two-opt" is never chosen; `climbers`, `first` and what is said of neighbours, moves and kicks
        does not concern it. "annealing" and "ants" are chosen by an argument that concerns only them.
    climbers : int, optional
        How many climbers, at least 1; of many, "auto" crosses the best (see `population`). By default, in edge assembly
        crossover 100 (from 2,000 cities on fewer, down to 24), or on a GPU 512, and with a time limit as many as it
        lets converge; in an iterated local search one a core, or on a GPU 4,096 as far as its memory holds them and
        they begin in a fifth of the time limit; in random restarts 10,000, or as many as about 2e10 moves allow: 30 at
        1,000 cities. In annealing they are the chains, as many as in an iterated local search without a limit; ants:
        the colonies, one, or on a GPU as many as have 16,384 ants together.
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
        many as shorten the tour. Annealing: how many temperatures there are; by default as many as make 2e7 trials,
        1e6 on a GPU, at least 500, or as the time limit allows. Ants: how many tours each ant makes; by default 1,000,
        above 200 cities fewer, at least 50, or as many as the time limit allows.
    time_limit : float, optional
        Seconds after which no further kernel call begins, but for a last one in which an iterated local search makes
        sure of its local optima; a call that cannot be cut and does not fit is not begun. Climbers on their way count
        with the tours they have; where the time is over before there is a search, the initial tour, or one along a
        curve. Edge assembly crossover goes on with new climbers until then, or until populations have converged ten
        times in a row without a shorter tour. The temperature has fallen to 0 by then, too. Large leaves a tenth of it,
        at most 2 s, or on millions of cities up to a third, for a descent over the whole tour.
    target : float, optional
        Stop as soon as a tour of at most this length is found; looked at between two kernel calls.
    initial_tour : array_like of integers, shape (n,), optional
        With `open` a path. ILS, annealing: the tour from which all climbers start. EAX: a tour that belongs to the
        population. Large, two-opt: the tour that becomes shorter. Ants: the best tour at first.
    piece : int, optional
        Large: how many cities a piece has, at least 8. By default 5,000; on a GPU 1,000 … 4,000, as many as keep it
        busy. A GPU takes what fits the shared memory of a block, 10,000 cities on recent ones.
    start : {"greedy", "nearest-neighbour", "space-filling-curve", "random"}, optional
        Two-opt, large: the tour that becomes shorter (see `pytsp.starts`), by default "greedy" and
        "space-filling-curve". ILS: the tour from which climber 0 starts, by default "space-filling-curve", without
        coordinates "greedy". Climbers 1, …, 63 start from nearest-neighbour tours that begin in different cities, all
        others from random tours; with "random" all do. Annealing: the tour from which all chains start, by default
        "greedy"; with "random" each has its own. Ants: the best tour at first, by default "nearest-neighbour".
    neighbours : int or array_like of integers, shape (n, k), optional
        ILS, EAX, large, annealing, ants: the cities to which local search tries new edges, and ants look first: so many
        nearest of each city, or those listed. By default 10; large: 8; ants without a local search: 20.
    quadrants : bool, optional
        The same solvers: whether the nearest are taken from all four quadrants around a city (see
        `pytsp.neighbours.neighbour_lists`). By default they are where there are such, as for EUC_2D; large: not.
    moves : {"3-opt", "or-opt", "2-opt"}, optional
        ILS, EAX: the local search's neighbourhood: sequential 3-opt moves, which include all others here and are the
        default, or 2-opt moves and Or-opt moves of segments of up to three cities. Annealing: the moves that are tried,
        "or-opt", the default, or "2-opt". Ants: by what each ant's tour becomes shorter, by default by nothing.
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
        distance between a city and its two nearest neighbours. Annealing: the same, by default 0.7 times that distance;
        `schedule` says how it falls.
    exchange : int, optional
        ILS: after each so many iterations the quarter of the climbers with the longest tours takes over the tours of
        the quarter with the shortest. By default never.
    restart : int, optional
        ILS: after each so many iterations, in which the temperature falls to 0, climbers begin anew, from a nearest-
        neighbour tour of another city, or from a random one where they started from such; where the temperature is 0
        all the time, those that have found nothing shorter since the last time. Each keeps the shortest tour that it
        has had. By default never.
    merge : bool, optional
        ILS: the climbers' shortest tours, of more than 100 climbers the best of them, are crossed as in "eax" until
        they agree, in the end and each time before climbers begin anew, then with the best tour from before (tour
        merging [14]_). Where a climber ends then depends on the others.
    population : int, optional
        EAX: of how many climbers a population is made at most, those with the shortest tours. By default of all; but of
        300 where "auto" means "eax" and `climbers` is given: a population takes time that grows faster than its size.
    schedule : {"geometric", "linear"} or array_like of floats, optional
        Annealing: how the temperature falls from one iteration to the next: by equal ratios, the default, down to 0.05
        times the mean distance between a city and its two nearest; by equal differences, to 0; or as given.
    cooling : float, optional
        Annealing: the ratio of two temperatures that follow each other, between 0 and 1, of the geometric schedule.
    trials : int, optional
        Annealing: how many moves are tried in an iteration, at one temperature, at least 1. By default n.
    pairs : {"neighbours", "random"}, optional
        Annealing: a move brings a city beside a listed neighbour, or beside any other city.
    variant : {"max-min", "rank", "ant-system"}, optional
        Ants: which tours strengthen the trails of their edges: the best of an iteration, or each second time of all
        so far, with limits to the trails [13]_; the best few of an iteration by their ranks, and the best so far
        [12]_; all [11]_, as Utne and Hansen have it [5]_.
    ants : int, optional
        Ants: how many a colony has, at least 1. By default n, above 700 cities fewer, at least 25; with
        `moves` 25.
    alpha, beta : float, optional
        Ants: the powers of the trail and of the inverse distance by which an ant chooses an edge: multiples of 0.25 up
        to 4 and 16. By default 1 and 5; beta of "max-min" is 3.
    evaporation : float, optional
        Ants: the share of a trail that is lost in an iteration. By default 0.5; of "max-min" 0.1, with `moves` 0.2.
    ranks : int, optional
        Ants with "rank": the best so far counts this many times, the ants one time less for each rank. By default 6.
    smoothing : float, optional
        Ants with "max-min": after long without a shorter tour, trails go this share of their way up to the strongest;
        by default 0.5.
    target_gap : float, optional
        Stop as soon as a tour is longer than the known optimum by at most this fraction.
    patience : float, optional
        Stop after so many seconds without a shorter tour.
    checkpoint : str or os.PathLike, optional
        A file that must not be there yet, into which the solve writes where it stands: at the beginning, in intervals,
        and when it ends or Ctrl-C ends it. At any instant the file is whole; `pytsp.resume` goes on from it. Where it
        can no longer be written, a warning is logged and the solve goes on.
    checkpoint_interval : float, optional
        Seconds between two checkpoints, at least 0. There are fewer where writing takes more than a twentieth of the
        time.
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
    CheckpointError
        If the checkpoint is there already, or cannot be written at the beginning.
    InstanceError
        If the instance cannot be put before a kernel (see `pytsp.forms.form_of`).
    TypeError
        If it is no instance, nor anything that `pytsp.as_instance` takes.
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
    .. [10] Kirkpatrick, Gelatt, Vecchi: Optimization by Simulated Annealing, Science 220, 1983.
    .. [11] Dorigo, Maniezzo, Colorni: Ant System: Optimization by a Colony of Cooperating Agents, IEEE Transactions on
       Systems, Man, and Cybernetics B 26, 1996.
    .. [12] Bullnheimer, Hartl, Strauss: A New Rank Based Version of the Ant System, Central European Journal of
       Operations Research 7, 1999.
    .. [13] Stützle, Hoos: MAX-MIN Ant System, Future Generation Computer Systems 16, 2000.
    .. [14] Cook, Seymour: Tour merging via branch-decomposition, INFORMS Journal on Computing 15, 2003.

    Examples
    --------
    >>> from pytsp import Instance
    >>> square = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]])
    >>> solve(square).length
    36
    >>> solve(square, open=True, start_city=1).length
    27
    """
    # Before there are other names.
    arguments = dict(locals())
    began = time.perf_counter()
    if backend in ("auto", "cuda"):
        # Its driver comes up while all else is imported.
        driver.begin()
    from pytsp.api.dispatch import solved  # noqa: PLC0415

    return solved(arguments, began)
