"""Result of a solve: the tour, its exact length, and the results of the climbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.mistakes import cut_off_cities
from pytsp.run.monitor import Improvement
from pytsp.utils.lazy import registered
from pytsp.utils.notices import some_of
from pytsp.utils.text import json_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pytsp.io.streams import Source

FLOPS_A_CHECK = 31
"""The floating-point operations of a move's evaluation as Rocki and Suda (2013) write it down in their listing 1: four
distances of seven operations, the root among them, two sums and a comparison. They give no number, but the 680 GFLOP/s
and the 22.0 G checks/s that they measured at best are 31 a check. Kernels that need fewer operations count as many.
"""


@dataclass(frozen=True)
class Tasks:
    """Work of other processes for a solve: tasks, bytes and seconds.

    Attributes
    ----------
    count : int
        Number of tasks.
    bytes_sent, bytes_received : int
        Bytes of all tasks, including shared data.
    seconds : float
        Seconds of all workers together.
    retries : int
        Tasks that were repeated because a worker was lost.
    workers : int
        Most workers at the same time.
    """

    count: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    seconds: float = 0.0
    retries: int = 0
    workers: int = 0


@dataclass(frozen=True, eq=False)
class Result:
    """The best tour of a solve, its length, and details of the run.

    Attributes
    ----------
    instance : Instance
    tour : numpy.ndarray of int32, shape (n,)
        The best tour, or the best path if `is_open`. Cities count from 0. Read-only.
    length : int or float
        Length of the tour, computed from the instance: a whole number (int64) that equals the kernel's, or a float if
        the distances are floating-point numbers.
    climber : int
        Number of the climber that found the tour. Numbers count from the option `first`, or from 0:
        ``lengths[climber - first]`` is its length, except for "eax" with a time limit.
    lengths : numpy.ndarray of int64 or float64, shape (climbers,)
        Length of each climber's best tour. Floating-point lengths are the kernel's, precise to about `resolution` per
        edge. In tours longer than `length`, an edge longer than a short tour may count as little more than that tour.
        With "eax" these are the lengths of the last population. With a time limit populations follow each other, and
        their climbers are numbered continuously. So `climber` may belong to an earlier population, and `length` may be
        shorter than all of these.
    steps : numpy.ndarray of int32 or int64, shape (climbers,)
        Steps of each climber. Random restarts, two-opt and annealing count the moves made. An iterated local search
        counts the accepted changes that shorten the tour, "large" the kicks tried, ants the shorter tours found.
    passes : numpy.ndarray of int32, shape (climbers,) or (0,)
        Passes over the neighbourhood; the last pass of a finished climber found no move. Empty except for random
        restarts and two-opt.
    done : numpy.ndarray of bool, shape (climbers,)
        True for each climber whose tour is a local optimum. All tours are, unless a limit or Ctrl-C stopped random
        restarts or two-opt, or Ctrl-C stopped an iterated local search. With `pivot` "random-k", annealing and ants no
        tour is known to be a local optimum.
    seed : int
    k : int or None
        Most moves per pass; None without passes.
    backend : str
    mapping : str
        Mapping of climbers: "thread", or on a GPU "block", "lockstep" or "flat".
    seconds : float
        Seconds of the whole solve.
    stop_reason : str
        "finished", "target", "proven", "time limit", "no improvement", "callback" or "interrupted"; "proven" means that
        the tour is within `target_gap` of the lower bound.
    solver : str
        "restarts", "ils", "eax", "large", "two-opt", "annealing" or "ants".
    iterations : int or None
        Iterations of each climber of an iterated local search, of annealing or of ants; generations of edge assembly
        crossover; rounds of large; passes of two-opt, or its kicks with `kicks`. None for random restarts.
    history : tuple of Improvement
        Tuples (seconds, iteration, length) with falling lengths. The last length is `length`, up to rounding for
        floating-point distances.
    is_open : bool
        True if `tour` is an open path, which does not return to its first city, and `length` is that of the path.
    lower_bound : int, float or None
        Lower bound on the optimal length of a tour, or of a path if `is_open`; None if there is none.
    options : object or None
        Options of the solver, such as a `pytsp.EAX`; None if not known.
    tasks : Tasks or None
        Tasks, bytes and seconds of other workers, with `executor` or `devices`.
    resolution : float
        One unit of the lengths that the search compared, in the unit of the distances. Each floating-point distance is
        rounded to a multiple of it. 0.0 if distances are whole numbers, which are exact, or nothing was compared.
    is_coarse : bool
        True if the rounding may have hidden a shorter tour, about which a solve warns. `resolution` is then more than
        10^-6 of the mean edge of the tour; or, if some cities are far from all others, more than 10^-4 of the mean edge
        between the rest. In tours of more than 128 edges, the length divided by 128 counts instead of the mean edge.
    """

    instance: Instance
    tour: NDArray[np.int32]
    length: int | float
    climber: int
    lengths: NDArray[np.int64] | NDArray[np.float64] = field(repr=False)
    steps: NDArray[np.int32] | NDArray[np.int64] = field(repr=False)
    passes: NDArray[np.int32] = field(repr=False)
    done: NDArray[np.bool_] = field(repr=False)
    seed: int
    k: int | None
    backend: str
    mapping: str
    seconds: float
    stop_reason: str
    solver: str = "restarts"
    iterations: int | None = None
    history: tuple[Improvement, ...] = field(default=(), repr=False)
    is_open: bool = False
    lower_bound: int | float | None = field(default=None, repr=False)
    options: object | None = field(default=None, repr=False)
    tasks: Tasks | None = field(default=None, repr=False)
    resolution: float = field(default=0.0, repr=False)
    is_coarse: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if self.tour.flags.writeable:
            # It may be the caller's, as an initial tour is.
            tour = self.tour.copy()
            tour.setflags(write=False)
            object.__setattr__(self, "tour", tour)

    @classmethod
    def _of_fields(cls, same: dict[str, Any], others: Iterable[tuple[str, Any]]) -> Result:
        """Return the result of all fields' values, of which the tour is read-only: sooner than by the constructor."""
        result = object.__new__(cls)
        values = vars(result)
        values.update(same)
        values.update(others)
        return result

    @property
    def climbers(self) -> int:
        """The number of climbers that took part."""
        return len(self.lengths)

    @property
    def optimum(self) -> int | float | None:
        """The length of the shortest tour, where it is known."""
        return self.instance.optimum

    @property
    def forbidden_edges(self) -> int:
        """Number of forbidden edges in the tour; 0 if the search found a tour without any."""
        # Tours of millions of cities need no check here.
        return 0 if self.instance.matrix is None else self.instance.forbidden_edges(self.tour, is_open=self.is_open)

    @property
    def gap(self) -> float | None:
        """Gap of the tour to the optimum, as a fraction; None if the optimum is not known or 0."""
        return self.length / self.optimum - 1 if self.optimum else None

    @property
    def gap_bound(self) -> float | None:
        """Gap of the tour to the lower bound, as a fraction; the gap to the optimum is no larger.

        0 if the tour is proved optimal, None if no bound is known or it is 0.
        """
        if self.is_proved:
            return 0.0
        return self.length / self.lower_bound - 1 if self.lower_bound else None

    @property
    def is_proved(self) -> bool:
        """True if the tour is proved optimal: it is as long as the lower bound."""
        return self.lower_bound is not None and self.length == self.lower_bound

    @property
    def order(self) -> list[str]:
        """The cities in the order of the visit, by their names if they have any, else by their numbers."""
        return self.instance.names_of(self.tour)

    @property
    def moves(self) -> int | None:
        """The number of moves evaluated, n (n - 3) / 2 a pass; None where there are no passes."""
        if self.k is None:
            return None
        n = self.instance.n
        return int(self.passes.sum(dtype=np.int64)) * max(0, n * (n - 3) // 2)

    @property
    def checks(self) -> int | None:
        """The same in the words of Rocki and Suda (2013)."""
        return self.moves

    @property
    def checks_per_second(self) -> float | None:
        """The moves evaluated in a second of the whole solve; None where there are no passes."""
        return None if self.moves is None else self.moves / (self.seconds or math.inf)

    @property
    def flops_per_second(self) -> float | None:
        """The same in floating-point operations, `FLOPS_A_CHECK` each; None where there are no passes."""
        return None if self.checks_per_second is None else FLOPS_A_CHECK * self.checks_per_second

    def describe_bound(self) -> str:
        """Describe the bound on the gap; empty if there is no lower bound, or it is 0."""
        if self.is_proved:
            return "optimal, proved"
        return "" if self.gap_bound is None else f"at most {100 * self.gap_bound:.2f} % above the shortest"

    def to_dict(self) -> dict[str, object]:
        """Return what `pytsp solve --json` prints: plain numbers, strings, and lists: history, lengths and tour.

        With a lower bound, options and names of the cities that are known, it holds these too: of the options, those
        that were given. Forbidden edges are there where the tour has any; a length that is infinite is None then, and
        left out of lists.
        """
        return {
            name: fact.tolist() if isinstance(fact, np.ndarray) else fact for name, fact in self.with_arrays().items()
        }

    def with_arrays(self) -> dict[str, object]:
        """Return the same with arrays in place of the lists of lengths and cities, which may have millions."""
        more: dict[str, object] = {}
        if self.lower_bound is not None:
            more |= {"lower_bound": self.lower_bound, "gap_bound": json_number(self.gap_bound)}
        if forbidden := self.forbidden_edges:
            more["forbidden_edges"] = forbidden
        if self.is_coarse:
            more["is_coarse"] = True
        if is_dataclass(self.options):
            values = ((each, getattr(self.options, each.name)) for each in fields(self.options))
            more["options"] = {
                # Python's own numbers and lists, in place of NumPy's.
                each.name: np.asarray(value).tolist()
                for each, value in values
                if isinstance(value, np.ndarray) or value != each.default
            }
        if self.tasks is not None:
            more["tasks"] = asdict(self.tasks)
        if self.instance.labels is not None:
            more["labels"] = list(self.instance.labels)
        return {
            "instance": self.instance.name,
            "n": self.instance.n,
            "metric": self.instance.metric,
            "length": json_number(self.length),
            "optimum": self.optimum,
            "gap": json_number(self.gap),
            "seconds": self.seconds,
            "solver": self.solver,
            "backend": self.backend,
            "climbers": self.climbers,
            "climbers_done": int(self.done.sum()),
            "climber": self.climber,
            "seed": self.seed,
            "steps": int(self.steps.sum(dtype=np.int64)),
            "passes": None if self.k is None else int(self.passes.sum(dtype=np.int64)),
            "moves": self.moves,
            "k": self.k,
            "mapping": self.mapping,
            "iterations": self.iterations,
            "stop_reason": self.stop_reason,
            "open": self.is_open,
            "resolution": self.resolution,
            **more,
            "history": [list(improvement) for improvement in self.history if math.isfinite(improvement.length)],
            "lengths": self.lengths[np.isfinite(self.lengths)],
            "tour": self.tour,
        }

    def plot(self, kind: str = "tour", *, other: Result | ArrayLike | None = None, ax: Axes | None = None) -> Axes:
        """Draw the tour, or curves of the run, with matplotlib (the extra "plot").

        Parameters
        ----------
        kind : str
            "tour"; "convergence": the lengths over the time; "climbers": how their lengths are distributed, those of
            edge assembly crossover's last population, with the best tour's dashed.
        other : Result or tour, optional
            A result or tour to draw beside it. Edges of both tours are grey.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure of pyplot's.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InstanceError
            If the cities of a matrix have no positions.
        PytspError
            If matplotlib is not installed, or the result lacks the data.
        """
        axes: Axes = registered("plot_result")(self, kind, other=other, ax=ax)
        return axes

    def _repr_html_(self) -> str:
        """Say in a notebook what was found, with a picture where matplotlib is installed."""
        return str(registered("html_of_result")(self))

    def _repr_png_(self) -> bytes | None:
        """Return the tour's picture, for front ends without HTML; None where it cannot be drawn."""
        picture: bytes | None = registered("png_of_result")(self)
        return picture

    def write(self, target: Source, *, ending: str | None = None) -> None:
        """Write the result as the file's ending says: .tour, .csv, .json, .geojson, .txt; see `pytsp.io.results`."""
        from pytsp.io.results import write_result  # noqa: PLC0415

        write_result(target, self, ending=ending)

    def to_csv(self, target: Source) -> None:
        """Write a table of the cities in the order of the visit."""
        self.write(target, ending=".csv")

    def to_json(self, target: Source) -> None:
        """Write one JSON object, that of `to_dict`."""
        self.write(target, ending=".json")

    def to_geojson(self, target: Source) -> None:
        """Write the way as a line and the cities as points, where they are places on the globe."""
        self.write(target, ending=".geojson")

    def __str__(self) -> str:
        gap = "optimum not known" if self.optimum is None else f"optimum {_number(self.optimum)}"
        gap += "" if self.gap is None else f", gap {100 * self.gap:.2f} %"
        kind = (", asymmetric" if self.instance.asymmetric else "") + (", open path" if self.is_open else "")
        lines = [
            f"{self.instance.name or 'instance'}: {self.instance.n} cities, {self.instance.metric}{kind}",
            f"length    {_number(self.length)} ({gap})",
        ]
        if self.lower_bound is not None:
            noun = "path" if self.is_open else "tour"
            proved = f" (the {noun} is {self.describe_bound()})" if self.gap_bound is not None else ""
            lines.append(f"bound     {_number(self.lower_bound)}{proved}")
        if forbidden := self.forbidden_edges:
            cities = self.instance.names_of(cut_off_cities(self.instance, is_open=self.is_open))
            why = f"; all ways are forbidden of {some_of(cities)}" if cities else ""
            lines.append(f"forbidden {forbidden} of the edges; no tour with fewer was found{why}")
        if self.solver == "two-opt":
            kicks = f", {self.iterations} kicks" if getattr(self.options, "kicks", 0) else ""
            made = f"{self.steps[0]} in {self.passes[0]} passes over the neighbourhood"
            lines.append(f"moves     {made}{kicks}, seed {self.seed}")
        else:
            climbers = {"annealing": "chains", "ants": "colonies"}.get(self.solver, "climbers")
            made = "" if self.iterations is None else f", {self.iterations} iterations each"
            spread = " … ".join(_number(f(self.lengths)) for f in (np.min, np.median, np.max))
            lines += [
                f"{climbers:9} {self.climbers}{made}, seed {self.seed}; the best is number {self.climber}",
                f"lengths   {spread} (shortest … median … longest)",
            ]
        seconds = self.seconds or math.inf
        if self.moves is not None:
            speed = f"{self.moves / seconds / 1e9:.2f} G moves/s"
        elif self.solver == "large":
            speed = f"{int(self.steps.sum()) / seconds / 1e3:.0f} k kicks/s"
        else:
            speed = f"{(self.iterations or 0) * self.climbers / seconds / 1e3:.0f} k iterations/s"
        lines.append(f"time      {self.seconds:.2f} s on {self.backend}, {speed}; stopped: {self.stop_reason}")
        return "\n".join(lines)


def _number(length: int | float | np.generic) -> str:
    """Format a length: whole numbers in full up to 2**53, others to six digits."""
    number = float(length)
    return f"{number:.0f}" if number.is_integer() and abs(number) <= 2**53 else f"{number:.6g}"
