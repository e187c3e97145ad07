"""The solvers that are measured side by side, each behind one function: pytsp, fast-tsp, elkai, OR-Tools, linkern.

All but pytsp are optional. fast-tsp, elkai and OR-Tools (`pip install 'pytsp-futhark[peers]'`) are imported where they
are called only, and get the matrix of distances ready-made: making it is not in their times. linkern is Concorde's
program, which $LINKERN or PATH leads to; it reads the cities from a file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pytsp

# So many of an instance's cities serve to warm a backend up, for so long.
WARM_CITIES = 200
WARM_SECONDS = 0.05
# The backends that this process has warmed up, with the instances' names.
WARM: set[tuple[str, str]] = set()
MODULES = {"fast-tsp": "fast_tsp", "elkai": "elkai", "ortools": "ortools"}
LINKERN = "linkern"
# Kicks after which it would end without a time limit.
MOST_KICKS = 10**9


@dataclass(frozen=True)
class Task:
    """The task of a solver.

    Attributes
    ----------
    instance : pytsp.Instance
    peer : str
        "pytsp" with a backend after a blank, a name of `MODULES`, or "linkern".
    seconds : float
        The time limit, for those that take one.
    seed : int
        For those that take one, pytsp and linkern; OR-Tools, fast-tsp and elkai differ by the order of the cities only.
    threads : int or None
        For those that take a number of threads: fast-tsp, and pytsp's multicore.
    target : int, float or None
        A length that is short enough, for those that can stop there: pytsp.
    options : tuple of (str, object)
        Further arguments of `pytsp.solve`.
    runs : int
        How many elkai makes; ten are its default.
    """

    instance: pytsp.Instance
    peer: str
    seconds: float
    seed: int = 0
    threads: int | None = None
    target: int | float | None = None
    options: tuple[tuple[str, object], ...] = ()
    runs: int = 10


@dataclass(frozen=True)
class Answer:
    """The result of a solver: its tour, its seconds, and its lengths over the time if it reports them."""

    tour: NDArray[np.int64]
    seconds: float
    history: tuple[tuple[float, int | float], ...] = ()


def at_hand() -> list[str]:
    """Name the peers that can be run here."""
    imported = [peer for peer, module in MODULES.items() if find_spec(module) is not None]
    return imported + [LINKERN] * (linkern_program() is not None)


def linkern_program() -> str | None:
    """Give the path of Concorde's linkern, or None where it is not here."""
    return shutil.which(os.environ.get("LINKERN") or LINKERN)


def takes_limit(peer: str) -> bool:
    """Tell whether a peer can be given a time limit; elkai cannot."""
    return peer != "elkai"


def answer(task: Task) -> Answer:
    """Solve; the clock runs from the call of the solver to its return."""
    return SOLVERS[task.peer.partition(" ")[0]](task)


def by_pytsp(task: Task) -> Answer:
    """Solve by pytsp on one of its backends, after a short solve of some of the cities."""
    backend = task.peer.partition(" ")[2] or "auto"
    options: dict[str, Any] = {"backend": backend, **dict(task.options)}
    if backend == "multicore":
        options["threads"] = task.threads
    _warm_up(task.instance, backend, options)
    found = pytsp.solve(task.instance, seed=task.seed, time_limit=task.seconds, target=task.target, **options)
    history = tuple((improvement.seconds, improvement.length) for improvement in found.history)
    return Answer(found.tour.astype(np.int64), found.seconds, history)


def _warm_up(instance: pytsp.Instance, backend: str, options: dict[str, Any]) -> None:
    """Solve a part of the instance where it is new to this process: a GPU's kernels load when they first run."""
    if (instance.name, backend) in WARM:
        return
    few = slice(0, WARM_CITIES)
    if instance.coordinates is not None:
        part = replace(instance, coordinates=instance.coordinates[few], display=None)
    else:
        assert instance.matrix is not None
        part = replace(instance, matrix=instance.matrix[few, few], display=None)
    pytsp.solve(part, time_limit=WARM_SECONDS, **options)
    WARM.add((instance.name, backend))


def by_fast_tsp(task: Task) -> Answer:
    """Solve by fast-tsp, which uses up its time limit."""
    find_tour = import_module("fast_tsp").find_tour
    matrix = task.instance.distance_matrix()
    began = time.perf_counter()
    tour = find_tour(matrix, duration_seconds=task.seconds, max_threads=task.threads or 1)
    return Answer(np.array(tour, dtype=np.int64), time.perf_counter() - began)


def by_elkai(task: Task) -> Answer:
    """Solve by elkai, which is LKH, on one thread; it takes the time that it takes."""
    distances = import_module("elkai").DistanceMatrix(task.instance.distance_matrix().tolist())
    began = time.perf_counter()
    tour = distances.solve_tsp(runs=task.runs)
    return Answer(np.array(tour[:-1], dtype=np.int64), time.perf_counter() - began)


def by_ortools(task: Task) -> Answer:
    """Solve by OR-Tools' routing library with guided local search, on one thread."""
    routing = import_module("ortools.constraint_solver.pywrapcp")
    enums = import_module("ortools.constraint_solver.routing_enums_pb2")
    matrix = task.instance.distance_matrix().tolist()
    began = time.perf_counter()
    manager = routing.RoutingIndexManager(task.instance.n, 1, 0)
    model = routing.RoutingModel(manager)
    model.SetArcCostEvaluatorOfAllVehicles(model.RegisterTransitMatrix(matrix))
    parameters = routing.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = enums.FirstSolutionStrategy.SAVINGS
    parameters.local_search_metaheuristic = enums.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromMilliseconds(round(1e3 * task.seconds))
    solution = model.SolveWithParameters(parameters)
    if solution is None:
        raise RuntimeError(f"OR-Tools found no tour in {task.seconds:g} s")
    tour, place = [], model.Start(0)
    while not model.IsEnd(place):
        tour.append(manager.IndexToNode(place))
        place = solution.Value(model.NextVar(place))
    return Answer(np.array(tour, dtype=np.int64), time.perf_counter() - began)


def by_linkern(task: Task) -> Answer:
    """Solve by Concorde's chained Lin-Kernighan on one core; its time limit begins behind its reading of the file."""
    program = linkern_program()
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        cities, tour = Path(folder, "cities.tsp"), Path(folder, "tour")
        pytsp.write(cities, task.instance)
        words = ["-Q", "-R", MOST_KICKS, "-t", task.seconds, "-s", task.seed + 1, "-o", tour, cities]
        began = time.perf_counter()
        done = subprocess.run([program, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - began
        if done.returncode != 0 or not tour.is_file():
            raise RuntimeError(f"linkern ended with {done.returncode}: {done.stderr.strip()[-80:]}")
        # A line for each edge: its ends and its length; the first line says how many there are.
        edges = np.loadtxt(tour, dtype=np.int64, skiprows=1, usecols=0, ndmin=1)
    return Answer(edges, seconds)


SOLVERS: dict[str, Callable[[Task], Answer]] = {
    "pytsp": by_pytsp,
    "fast-tsp": by_fast_tsp,
    "elkai": by_elkai,
    "ortools": by_ortools,
    LINKERN: by_linkern,
}
