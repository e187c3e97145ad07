"""Run the same climbers on several backends and in several ways: how long each takes, and whether all end alike."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from pytsp.api.solve import solve
from pytsp.backends.kind import CPU_PART
from pytsp.backends.kinds import KINDS
from pytsp.backends.registry import open_backend, status
from pytsp.bound.bound import lower_bound
from pytsp.problem.instance import Instance
from pytsp.run.provenance import made_now
from pytsp.run.result import Result
from pytsp.solvers.options.shared import FLAT
from pytsp.solvers.policy import default_population
from pytsp.solvers.registry import OPTIONS
from pytsp.utils.arguments import truth_value, whole_number
from pytsp.utils.text import json_number


@dataclass(frozen=True)
class Comparison:
    """One way to solve the instance, run once or several times.

    Attributes
    ----------
    backend : str
    seconds : float
        Median of the solve calls, with the backend open and its kernels compiled.
    ratio : float
        Speed relative to the first combination.
    moves : int or None
        Moves evaluated; None but in random restarts and two-opt.
    length : int or float
    equal : bool
        True if every climber's length, moves and passes, and the best tour, equal those of the first combination, in
        every run.
    iterations : int or None
        Iterations of all climbers together; None in random restarts.
    neighbourhood, mapping : str or None
        As requested, if several are compared.
    threads : int or None
        As requested, if several numbers are compared.
    device : str or None
        The GPU's name, where it has one.
    gap_bound : float or None
        Gap of the tour to the lower bound, as a fraction, if one is computed and is not 0.
    opening : float or None
        Seconds until the backend was open: on a GPU its kernels were compiled, or read from the cache. Next to none
        where this process had it open.
    first_call : float or None
        Seconds of the call before the clock starts, with one climber.
    least, most : float or None
        The seconds of the fastest and of the slowest run, where there are several.
    """

    backend: str
    seconds: float
    ratio: float
    moves: int | None
    length: int | float
    equal: bool
    iterations: int | None = None
    neighbourhood: str | None = None
    mapping: str | None = None
    threads: int | None = None
    device: str | None = None
    gap_bound: float | None = None
    opening: float | None = None
    first_call: float | None = None
    least: float | None = None
    most: float | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the attributes by their names, without those that are None, or infinite, which JSON does not know."""
        facts = asdict(self) | {"length": json_number(self.length)}
        return {name: value for name, value in facts.items() if value is not None}


class Comparisons(tuple[Comparison, ...]):
    """The compared combinations, in order, and their common facts.

    Parameters
    ----------
    rows : iterable of Comparison
    facts : mapping
        Common facts: the instance, the solver, the seed, options, repeats, the date and the machine.
    """

    facts: dict[str, Any]

    def __new__(cls, rows: Iterable[Comparison], facts: Mapping[str, Any]) -> Comparisons:
        made = super().__new__(cls, rows)
        made.facts = dict(facts)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.facts

    def __repr__(self) -> str:
        return f"Comparisons({list(self)!r})"

    def to_dict(self) -> dict[str, object]:
        """Return the facts, and the rows as "comparison": what `pytsp report` makes a page of."""
        return {**self.facts, "comparison": [row.to_dict() for row in self]}


# The iterations that open a device and make its kernels ready, of the solvers that are not short by themselves.
WARMED = {"ils": 0, "annealing": 1, "ants": 1, "large": 0, "two-opt": 1}
MOST_REPEATS = 1_000
_COMPARED = ("lengths", "steps", "passes", "tour")
# Keywords for opening a backend, not for a solver.
_OPENED = ("threads", "device")


def compare(
    instance: Instance,
    backends: Sequence[str] | None = None,
    *,
    solver: str = "restarts",
    climbers: int | None = None,
    seed: int = 0,
    k: int | float | str = 1,
    iterations: int | None = None,
    neighbourhoods: Sequence[str] = (),
    mappings: Sequence[str] = (),
    threads: Sequence[int] = (),
    devices: Sequence[int | str] = (),
    repeats: int = 1,
    bound: bool = False,
) -> Comparisons:
    """Solve an instance on several backends and in several ways, one after the other.

    Parameters
    ----------
    instance : Instance
    backends : sequence of str, optional
        Names of backends. The others are compared with the first one. By default all usable ones.
    solver, climbers, seed, k, iterations
        As in `pytsp.solve`, without "auto". With "ils" the default numbers of climbers and iterations are those of the
        first backend. With "eax" one population is compared, of as many climbers as on the first backend.
    neighbourhoods : sequence of str, optional
        Neighbourhoods of random restarts that every backend runs.
    mappings : sequence of str, optional
        Mappings of climbers that every GPU runs.
    threads : sequence of int, optional
        Numbers of threads with which multicore runs.
    devices : sequence of int or str, optional
        GPUs, by number or part of the name, on which every GPU backend runs.
    repeats : int, optional
        Runs of each combination. Combinations take turns, so that other load on the machine affects all of them.
    bound : bool, optional
        Also compute a lower bound (`pytsp.lower_bound`), once, and the gaps to it.

    Returns
    -------
    Comparisons
        A sequence in the order of `backends`, and of the combinations on each.

    Raises
    ------
    BackendError
        If a backend is unknown or cannot run here.
    TypeError, ValueError
        As `pytsp.solve`.
    """
    repeats = whole_number("repeats", repeats, 1, MOST_REPEATS)
    kind = OPTIONS.get(solver, OPTIONS["restarts"])
    usable = [found.name for found in status() if found.usable]
    if kind.part == CPU_PART:
        usable = [name for name in usable if KINDS[name].on_the_cpu]
    names = usable if backends is None else list(backends)
    axes = {"neighbourhood": neighbourhoods, "mapping": mappings, "threads": threads, "device": devices}
    ways = [way for name in names for way in _ways_on(name, axes)]
    # A backend that cannot run fails before the work.
    for way in ways:
        way.open(kind(**way.asked).kernels_part)
    asked: dict[str, Any] = {"climbers": climbers, "iterations": iterations, "k": k}
    if solver == "eax":
        _ask_for_one_population(ways, asked, instance.n, kind.part)
    proved = lower_bound(instance).bound if truth_value("bound", bound) else None
    options = {"solver": solver, "seed": seed}
    warmed = {"climbers": 1} if "climbers" in kind.fields() else {}
    for way in ways:
        began = time.perf_counter()
        way.solve(instance, **{**asked, **warmed, "iterations": WARMED.get(solver, iterations)}, solver=solver)
        way.first_call = time.perf_counter() - began
    for _ in range(repeats):
        for way in ways:
            way.results.append(way.solve(instance, **options, **asked))
            if len(way.results) == 1 and way is ways[0]:
                # The others take over the choices of the first.
                first = way.results[0]
                asked |= {name: getattr(first, name) for name in ("climbers", "iterations") if name in kind.fields()}
    facts = {"instance": instance.name, "n": instance.n, "metric": instance.metric, **options}
    facts |= {name: value for name, value in asked.items() if value is not None} | {"repeats": repeats, **made_now()}
    return Comparisons([way.row(ways[0], proved) for way in ways], facts)


class _Way:
    """One way to solve: a backend, the options that it alone has, how it is opened, and what came of it."""

    def __init__(self, backend: str, asked: dict[str, Any], opened: dict[str, Any]) -> None:
        self.backend, self.asked, self.opened = backend, asked, opened
        self.opening, self.first_call = 0.0, 0.0
        self.device: str | None = None
        self.results: list[Result] = []

    def open(self, part: str) -> None:
        began = time.perf_counter()
        kernels = open_backend(self.backend, part=part, **self.opened)
        self.opening = time.perf_counter() - began
        self.device = None if kernels.device is None else str(kernels.device)

    def solve(self, instance: Instance, **options: Any) -> Result:
        return solve(instance, backend=self.backend, **{**options, **self.asked, **self.opened})

    def row(self, first: _Way, proved: int | float | None) -> Comparison:
        result, base = self.results[0], first.results[0]
        seconds = [each.seconds for each in self.results]
        median = statistics.median(seconds)
        return Comparison(
            backend=self.backend,
            seconds=median,
            ratio=statistics.median(each.seconds for each in first.results) / median,
            moves=result.moves,
            length=result.length,
            equal=all(_are_equal(base, each) for each in self.results),
            iterations=None if result.iterations is None else result.iterations * result.climbers,
            neighbourhood=self.asked.get("neighbourhood"),
            mapping=self.asked.get("mapping"),
            threads=self.opened.get("threads"),
            device=self.device,
            gap_bound=replace(result, lower_bound=proved).gap_bound,
            opening=self.opening,
            first_call=self.first_call,
            least=min(seconds) if len(seconds) > 1 else None,
            most=max(seconds) if len(seconds) > 1 else None,
        )


def _ways_on(name: str, axes: Mapping[str, Sequence[Any]]) -> Iterator[_Way]:
    """Return the ways on a backend, by the values along each axis that has an effect there."""
    is_cpu = name in KINDS and KINDS[name].on_the_cpu
    idle = {"mapping", "device"} if is_cpu else set()
    idle |= set() if name == "multicore" else {"threads"}
    chosen = {axis: values for axis, values in axes.items() if len(values) and axis not in idle}
    for values in itertools.product(*chosen.values()):
        asked = dict(zip(chosen, values, strict=True))
        opened = {axis: asked.pop(axis) for axis in _OPENED if axis in asked}
        yield _Way(name, asked, opened)


def _ask_for_one_population(ways: list[_Way], asked: dict[str, Any], n: int, part: str) -> None:
    """Have all ways cross one population of as many climbers as the first way's have, which start alike."""
    devices = [open_backend(way.backend, part=part, **way.opened).device for way in ways]
    if any(devices):
        # Tours are equal where they start alike, which a GPU and a CPU do not by themselves.
        for way in ways:
            way.asked |= {"moves": FLAT}
    if devices and asked["climbers"] is None and asked["iterations"] is None:
        asked["climbers"] = default_population(n, "gpu" if devices[0] else "cpu")


def _are_equal(first: Result, result: Result) -> bool:
    return first.climber == result.climber and all(
        np.array_equal(getattr(first, array), getattr(result, array)) for array in _COMPARED
    )
