"""The decisions of `solver="auto"` and of the solvers: chains or a population, of how many climbers, on cores or a GPU,
when to stop growing and to cross, when to kick the best, and what of a time limit is for what.

They go by what a search has seen of its own calls, and before the first one by `speeds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.devices import usable_cores
from pytsp.problem.instance import FORBIDDEN, Instance
from pytsp.problem.location import is_planar, located
from pytsp.solvers.speeds import SPEEDS

# Instances that "auto" gives to "eax": there is something to recombine, and a population of tours is not too much.
RECOMBINED_CITIES = range(8, 20_001)
# Asymmetric ones: where near cities are about as far there as back, one search is ahead of populations for longer, and
# always from more cities on.
RECOMBINED_ROADS, RECOMBINED_DIRECTED = range(8, 1_001), range(8, 2_001)
# Cities of a tour that the search for joints numbers on a GPU, beside a place in the widest lists.
MOST_NUMBERED = 2**25
# How many times as long as the shortest call so far one of `ils` takes at least: each reads all lists and tours first.
HIDING = 5.0
# Most cities with chains over the whole tour in place of pieces of it, and most threads where they are many.
MOST_CHAINED, MOST_CHAIN_THREADS = 2_000_000, 3
# Share of the time left that a call fills where shorter ones can follow: its iterations may take longer than the last.
CALL_SHARE = 2 / 3
# Of more climbers than these "auto" crosses the best: all of them would take far longer to agree.
MOST_CROSSED = 300
# A population on a CPU needs this many times the seconds that its lists took.
POPULATION_LISTS = 20.0
# Of a limit, chains over the whole tour of up to 20,000 cities need this many times the seconds of lists of the nearest
# cities, and with lists by quadrants the second. With less time they have the nearest ones.
CHAINS_LISTS, QUADRANTS_LISTS = 5.0, 25.0
NEAREST_LISTS: dict[str, Any] = {"neighbours": 8, "quadrants": False}
# Fewest climbers of a population that has the second of its shares of a time limit.
FEWEST_CLIMBERS = 8
# Generations without a shorter tour, and without a shorter best tour, after which a population ends: its other tours
# agree much later. Of the latter only those count that change at most this share of the tours: of many cities the best
# tour may stay for longer while others become shorter, and go on then.
PATIENCE, STALE, STALE_SHARE = 5, 50, 0.05
# Populations in a row without a shorter tour that end a solve before its time limit.
POPULATIONS = 10
# Most cities with several populations if no limit, climbers or generations are given. AGREED in a row that reach the
# shortest length by themselves end such a solve, or CONFIRMATIONS large ones without a shorter tour: in one of four
# solves of gr666 these find what the first three miss.
CONFIRMED_CITIES, AGREED, CONFIRMATIONS = 1_500, 3, 2
# Chains start along a curve if its tour is shorter than this share of the greedy one: from equal ones they end longer.
CURVE_SHARE = 0.98
# Most climbers of a GPU, and ants of its colonies, as far as the memory for climbers holds them.
GPU_CLIMBERS, GPU_ANTS = 4_096, 16_384
# Blocks, or threads, that keep the multiprocessors of a GPU busy with random restarts.
BUSY_BLOCKS, BUSY_THREADS = 528, 65_536
# Most climbers that are merged; of more, the best ones.
MOST_MERGED = 100
# Times of a first descent of `ils`: of a restart, with its tour, and of the last descent, for which no time is kept
# where it takes less than these seconds: a short solve has more of kicks.
ANEW_DESCENTS, POLISH_SHARE, MOST_LATE_SECONDS = 4.0, 0.6, 0.05
# Where only a time limit ends a solve, a CPU makes the descents of more cities than these stretch by stretch of the
# tour: how long a descent of all takes depends on the data. The first stretch has the next.
CUT_CITIES, FIRST_STRETCH = 1 << 9, 1 << 11
# Cities of the smallest piece of a tour; iterated local search takes fewer.
LEAST_PIECE = 8
# Rounds of pieces that begin with a descent, and rounds after which moves between pieces are made: the first, and the
# distance of the others. Most passes each time, besides those that look at all cities.
DESCENTS, FIRST_DESCENT, DESCENT_EVERY, DESCENT_PASSES = 2, 10, 50, 200
# Seconds of overrun allowed for a tour without a search; for shortening one small instances have the next in any case,
# a curve the third, and all cities are looked at in rows of a matrix within the last.
GRACE_SECONDS, SHORT_SHORTENING_SECONDS, SHORT_CURVE_SECONDS, SHORT_ROWS_SECONDS = 0.02, 0.02, 0.06, 0.05
# Shares of what is left of a limit: of more than the first `ils` starts from a population's tour, as another descent
# is dear; exits from clusters take at most the second before a search in pieces, and a tour by rows of a matrix that
# takes more than the third is made before anything else.
DEAR_SHARE, EXITS_SHARE, EARLY_SHARE = 0.2, 0.5, 1 / 60
# Shares of a limit: α-nearness takes at most the first by default, beyond which it does not pay; the second is left for
# merging tours.
ALPHA_SHARE, MERGING_SHARE = 0.05, 0.1
# Lists by α-nearness take so many times as long as those of the nearest cities, on a core.
ALPHA_LISTS = 3.0
# Nearest cities to which those of a lattice have few different distances, and the most on average. The lists of a
# lattice by α-nearness, their share of a limit, and the first temperature there.
LATTICE_NEIGHBOURS, LATTICE_DISTANCES = 8, 2.75
LATTICE_LISTS = {"k": 4, "near": 0, "iterations": 100}
LATTICE_ALPHA_SHARE, LATTICE_TEMPERATURE = 0.2, 0.0
# The fewest cities for which a population on a GPU starts in bulk. Of fewer, and of matrices, the host's cores bring
# climbers to better local optima soon enough.
LEAST_FLAT_CITIES = 1_000
# More cities start from the greedy tour by kernels, which takes a fifth of the time.
QUICK_GREEDY_CITIES = 8_192
# Most cities whose 1-trees take a core less time than a GPU needs to get ready.
HOST_CITIES = 50_000
# A greedy tour of all cities is begun with this many times its likely seconds; with less it is made part by part.
GREEDY_MARGIN = 1.5
# Cities up to which the nearest-neighbour tour takes a few milliseconds, and is shorter than a curve.
FEW_CITIES = 500


class Amounts(NamedTuple):
    """Amounts that suit a kind of machine."""

    # Climbers of a population without a time limit; with one the fewest within the first of its shares, and the most.
    population: int
    least_population: int
    most_population: int
    # Shares of a limit in which climbers descend: as many as fit the first, or as are there after the second.
    descent_share: float
    latest_share: float
    # Climbers that descend in the first call, of a core or of a GPU, and most of a call.
    first_chunk: int
    chunk: int
    # Without a limit, most iterations of `ils`, up to many cities, and the fewest a city.
    kicks: int
    kicks_a_city: int
    # The same of trials of a chain of annealing, and of steps of all ants.
    trials: float
    steps: float


AMOUNTS = {
    "cpu": Amounts(100, 16, 300, 0.38, 0.45, 1, 64, 100_000, 10, 2e7, 4e7),
    "gpu": Amounts(512, 100, 1_024, 0.12, 0.3, 64, 1_024, 3_000, 1, 1e6, 1e9),
}


def recombined(instance: Instance, on_the_cpu: Callable[[], bool], most_on_a_gpu: Callable[[], int]) -> range:
    """Return how many cities an instance like this one may have for its tours to be recombined."""
    # The kernels are opened, and the matrix read, where it depends on them.
    if not instance.asymmetric:
        is_any = instance.n <= RECOMBINED_CITIES[-1] or instance.n > MOST_NUMBERED
        return RECOMBINED_CITIES if is_any or on_the_cpu() else range(RECOMBINED_CITIES[0], most_on_a_gpu() + 1)
    if instance.n not in RECOMBINED_DIRECTED or instance.n in RECOMBINED_ROADS:
        return RECOMBINED_ROADS
    return RECOMBINED_ROADS if is_like_roads(instance) else RECOMBINED_DIRECTED


def is_like_roads(instance: Instance) -> bool:
    """Tell whether near cities of an asymmetric instance are about as far there as back, as on roads.

    From a hundred cities to the ten nearest the two ways differ by at most a quarter of both on average.
    """
    assert instance.matrix is not None
    matrix, n = instance.matrix, instance.n
    cities = np.linspace(0, n - 1, min(n, 100)).astype(np.int64)
    others = matrix[cities].astype(np.float64)
    others[np.arange(len(cities)), cities] = np.inf
    nearest = np.argsort(others, axis=1, kind="stable")[:, : min(n - 1, 10)]
    there, back = (matrix[way].astype(np.float64) for way in ((cities[:, None], nearest), (nearest, cities[:, None])))
    # A way that is forbidden, in one direction or both, says nothing.
    known = np.maximum(there, back) < FORBIDDEN[matrix.dtype.kind]
    there, back = there[known], back[known]
    both = np.abs(there) + np.abs(back)
    return bool((np.abs(there - back) / np.where(both > 0, both, 1.0)).sum() <= 0.25 * both.size)


def is_lattice(instance: Instance, lists: NDArray[np.int32]) -> bool:
    """Tell whether the cities are those of a lattice, by a thousand of them and the nearest ones in their lists.

    Distances are those of the places: rounded ones are equal between the houses of a village, too.
    """
    found = located(instance)
    if found is None or lists.shape[1] < LATTICE_NEIGHBOURS:
        return False
    cities = np.linspace(0, instance.n - 1, min(instance.n, 1_000)).astype(np.int64)
    ways = found.points[lists[cities, :LATTICE_NEIGHBOURS]] - found.points[cities, None]
    distances = np.sort(np.linalg.norm(ways, axis=2), axis=1)
    # Coordinates may be rounded.
    is_farther = distances[:, 1:] > 1.001 * distances[:, :-1]
    return float(np.mean(1 + np.count_nonzero(is_farther, axis=1))) <= LATTICE_DISTANCES


def chain_seconds(n: int) -> float:
    """Return about how long a CPU takes to the first local optimum of chains over a whole tour of n cities."""
    return SPEEDS["chains, start"] + SPEEDS["chains"] * n


def population_seconds(instance: Instance, threads: int | None = 1) -> float:
    """Return the least time limit with which `threads` threads of a CPU, or with None a GPU, begin a population.

    On a CPU chains come to four local optima in that time; the first climbers then tell whether it goes on.
    """
    n = instance.n
    seconds = 4 * chain_seconds(n)
    if threads is None:
        a_city = SPEEDS["GPU, plane" if is_planar(instance) else "GPU, space"]
        seconds = min(SPEEDS["GPU, lists of its host"] * n, SPEEDS["GPU, start"] + a_city * n)
    if not instance.asymmetric:
        return seconds
    directed = SPEEDS["population of roads"] * n if is_like_roads(instance) else SPEEDS["directed population"]
    # The first tours of a population on a GPU are of the host's cores. More than 16 threads were not tried.
    return max(seconds, directed * n / min(threads or usable_cores(), 16))


def are_chained(n: int, limit: float | None, threads: Callable[[], int | None]) -> bool:
    """Tell whether chains over the whole tour are begun in place of pieces of it, on a CPU within a limit.

    Above QUICK_GREEDY_CITIES pieces are begun if chains may be late. When their lists are there, `chains_fit` decides.
    """
    if limit is None or n > MOST_CHAINED or (n > QUICK_GREEDY_CITIES and limit < 2 * chain_seconds(n)):
        return False
    return _are_few(n, threads())


def chains_fit(n: int, threads: int | None, lists_seconds: float, seconds_left: float) -> bool:
    """Tell whether chains over the whole tour have the time, by what the lists of pieces took."""
    # Of more cities fewer are in the caches, and chains lead to all of them.
    needed = CHAINS_LISTS * max(1.0, n / RECOMBINED_CITIES[-1]) ** 0.2 * lists_seconds
    return n <= MOST_CHAINED and _are_few(n, threads) and needed < seconds_left < math.inf


def _are_few(n: int, threads: int | None) -> bool:
    """Tell whether the threads of a CPU are few for n cities: they share pieces of a tour only."""
    return threads is not None and (n in RECOMBINED_CITIES or threads <= MOST_CHAIN_THREADS)


# Populations


def default_population(n: int, machine: str) -> int:
    """Return how many climbers a population has where neither they nor a time limit are given."""
    amounts = AMOUNTS[machine]
    if machine == "gpu":
        return amounts.population
    more = min(amounts.most_population, max(amounts.population, n // 2))
    return min(more, max(24, 200_000 // n))


def growing_population(n: int, before: int) -> int:
    """Return the most climbers of a CPU's population after `before` others; each has twice as many as the last.

    A small one agrees soon. If it has not found the shortest tour, larger ones follow. From 200 to 1,000 cities 24 find
    the optimum in half the time of 64, and 16 never do in some solves.
    """
    return max(24, n // 30) << before


def first_chunk(n: int, kind: str, machine: str, threads: int | None, seconds_left: float) -> int:
    """Return how many climbers descend in the first call: one a thread, or a bulk on a GPU.

    A bulk has at most ten million cities, in space one million, and at most four million for each second that is left.
    """
    first = AMOUNTS[machine].first_chunk
    if threads:
        return first * threads
    cities = min(1e6 if kind == "space" else 1e7, SPEEDS["GPU, bulk"] * max(0.0, seconds_left))
    return min(first, max(1, int(cities) // n))


def is_population_doubtful(instance: Instance, limit: float) -> bool:
    """Tell whether a core that is half as fast as `speeds` says has too little time for a population of many cities."""
    return instance.n > QUICK_GREEDY_CITIES and limit < 2 * population_seconds(instance)


def is_cpu_slow(n: int, lists_seconds: float, seconds_left: float) -> bool:
    """Tell whether a CPU is too slow for a population of many cities, by what their lists took.

    On one idle core they take a twentieth of `population_seconds`.
    """
    return n > QUICK_GREEDY_CITIES and seconds_left < POPULATION_LISTS * lists_seconds


def is_population_late(n: int, there: int, climber_seconds: float, seconds_left: float) -> bool:
    """Tell whether the smallest population would be late, by what its first climbers took.

    Fewer agree on a longer tour than kicks of one climber find.
    """
    return (max(FEWEST_CLIMBERS, n // 1_250) - there) * climber_seconds > 0.65 * seconds_left


# Iterated local search


def timely_climbers(n: int, most: int, threads: int | None, seconds_left: float, nearest: int) -> int:
    """Return how many of at most `most` climbers begin in time: with first tours within a fifth of it.

    On a CPU one is alone if its first local optimum takes 18 % of the other four fifths, 14 % of all. On a GPU the
    first `nearest` climbers start from nearest-neighbour tours, the others from random ones.
    """
    seconds, a_second = 0.2 * seconds_left, SPEEDS["nearest-neighbour tour"]
    if threads:
        is_alone = chain_seconds(n) > 0.18 * (1 - 0.2) * seconds_left
        return min(most, 1 if is_alone else 1 + max(0, int(seconds * a_second / n)))
    first = min(nearest, int(seconds * a_second / n))
    others = int((seconds - first * n / a_second) * SPEEDS["random tour"] / n)
    return max(1, min(most, first + (others if first == nearest else 0)))


def default_kicks(n: int, climbers: int, busy: int, machine: str) -> int:
    """Return how many iterations each climber makes where nothing else ends the solve: 500 a city up to many.

    More climbers than keep the machine busy make fewer, in proportion, but at least one a city.
    """
    amounts = AMOUNTS[machine]
    iterations = max(min(500 * n, amounts.kicks), amounts.kicks_a_city * n)
    return max(int(iterations * min(1.0, busy / climbers)), min(n, iterations))


def settling_seconds(limit: float, passes: float) -> float:
    """Return the seconds of a limit that are kept for the moves between pieces; `passes` are those over all cities."""
    return min(max(min(0.1 * limit, 2.0), passes), 0.35 * limit)
