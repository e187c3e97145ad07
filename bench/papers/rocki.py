"""Table II of Rocki and Suda (2013), one tour by the complete 2-opt neighbourhood, by pytsp beside theirs.

From the greedy tour (multiple fragment) to the first local minimum. The time of a pass is that of a descent of as many
passes as were needed, the kernels compiled, divided by them; the time to the minimum is that of the first descent,
which does not know their number (where that takes above 10 s, a pass's time is its own, too). Neither holds the greedy
tour or reading the file; theirs hold no more. A descent that is cut by `--seconds` is marked "cut". FLOP/s are checks/s
times 31, the count that their figures come to (`Result.moves`); the kernels need fewer. Theirs are on a GeForce GTX
680; the checks/s are those of their kernel alone. Their paper makes one move a pass, as `k` 1 does. With `--check`,
tours after a number of passes are compared with those of another backend.

K. Rocki, R. Suda: High Performance GPU Accelerated Local Optimization in TSP, IPDPS Workshops 2013.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.harness.arguments import parser
from bench.harness.machine import describe
from bench.harness.tables import duration, print_head, row, store
from bench.papers.instances import instance_of
from pytsp.backends import Backend, open_backend
from pytsp.run.monitor import Watch
from pytsp.run.result import FLOPS_A_CHECK
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.two_opt import TwoOpt
from pytsp.solvers.two_opt import Descent
from pytsp.starts.construct import greedy

# Seconds after which the loss of a descent that does not know its number of passes is nothing.
LONG = 10.0


@dataclass(frozen=True)
class Theirs:
    """A row of their table II.

    Attributes
    ----------
    pass_seconds : float
        The total time of a pass on a GPU, copies among it.
    checks : float
        Checks a second.
    seconds : float
        To the first minimum.
    initial, length : int
        Of the greedy tour and of the minimum.
    """

    pass_seconds: float
    checks: float
    seconds: float
    initial: int
    length: int


THEIRS = {
    "berlin52": Theirs(81e-6, 76.56e6, 687e-6, 9951, 8930),
    "kroE100": Theirs(82e-6, 282.92e6, 897e-6, 24846, 23025),
    "ch130": Theirs(82e-6, 483.81e6, 1183e-6, 7849, 7041),
    "ch150": Theirs(84e-6, 591.2e6, 1342e-6, 7742, 7120),
    "kroA200": Theirs(85e-6, 1015.78e6, 2.547e-3, 34601, 31685),
    "ts225": Theirs(85e-6, 1145.97e6, 1.090e-3, 135193, 128513),
    "pr299": Theirs(87e-6, 1878.46e6, 2.555e-3, 61493, 54895),
    "pr439": Theirs(93e-6, 3307.85e6, 3.067e-3, 124127, 115490),
    "rat783": Theirs(115e-6, 6385.53e6, 8.827e-3, 10734, 9658),
    "vm1084": Theirs(142e-6, 8122.51e6, 11.862e-3, 287710, 267210),
    "pr2392": Theirs(363e-6, 11065.33e6, 89.577e-3, 454068, 412085),
    "pcb3038": Theirs(547e-6, 10689.4e6, 168.02e-3, 165688, 147690),
    "fl3795": Theirs(788e-6, 10529.32e6, 256.19e-3, 34843, 31312),
    "fnl4461": Theirs(815e-6, 14098.03e6, 327.1e-3, 215085, 194746),
    "rl5934": Theirs(1079e-6, 18172.88e6, 291.09e-3, 627417, 582958),
    "pla7397": Theirs(1616e-6, 18153.6e6, 870.2e-3, 26954302, 24734292),
    "usa13509": Theirs(4805e-6, 19481.58e6, 6.5251, 23271693, 20984503),
    "d15112": Theirs(6043e-6, 19272.07e6, 8.6757, 1810355, 1652806),
    "d18512": Theirs(9014e-6, 19268.93e6, 14.975, 745983, 675638),
    "sw24978": Theirs(15.08e-3, 20863.46e6, 37.284, 1002187, 908598),
    "pla33810": Theirs(26.92e-3, 21340.36e6, 68.67, 76680735, 69763154),
    "pla85900": Theirs(168.6e-3, 21915.11e6, 1109.2, 163831861, 149708033),
    "usa115475": Theirs(302.6e-3, 22054.81e6, 3337.8, 7143419, 6492848),
    "ara238025": Theirs(1.2941, 21902.18e6, 26497, 674838, 610795),
}
HEADS = (
    "instance",
    "k",
    "pass",
    "theirs",
    "times as fast",
    "G checks/s",
    "theirs",
    "GFLOP/s",
    "minimum after",
    "theirs",
    "times as fast",
    "greedy",
    "theirs",
    "length",
    "theirs",
    "% of theirs",
    "passes",
    "moves",
)


@dataclass(frozen=True)
class Line:
    """A row: one descent.

    Attributes
    ----------
    instance : str
    n : int
    k : int or str
    pass_seconds, seconds : float
        Of a pass, and of the whole descent.
    checks : float
        Checks a second.
    initial, length : int
        Of the greedy tour and of the last one.
    passes, moves : int
    is_cut : bool
        Whether the time was up before the minimum.
    """

    instance: str
    n: int
    k: int | str
    pass_seconds: float
    seconds: float
    checks: float
    initial: int
    length: int
    passes: int
    moves: int
    is_cut: bool


def descend(
    instance: pytsp.Instance,
    start: NDArray[np.int32],
    kernels: Backend,
    k: int | str,
    passes: int | None,
    seconds: float | None,
) -> tuple[Descent, float]:
    """Descend from a tour by `passes` passes, or for `seconds`; return the descent and its time."""
    descent = Descent(Task(instance, TwoOpt(k=k, iterations=passes), Watch(), 0, None, lambda: kernels), start)
    # Loading the instance is none of it.
    descent.watch = Watch(time_limit=seconds)
    while not descent.is_finished and descent.watch.seconds_left > 0:
        descent.advance()
    return descent, descent.watch.seconds


def passes_of(descent: Descent) -> float:
    """Count the passes of a descent; where the time was up in the midst of one, with what it has done of it."""
    now = descent.standing
    return now.passes + (now.diagonal - 2) / max(1, descent.end_diagonal - 2)


def tour_of(descent: Descent) -> NDArray[np.int32]:
    """Fetch the tour on which a descent stands."""
    return descent.found().best.tour


def measure(instance: pytsp.Instance, start: NDArray[np.int32], kernels: Backend, k: int | str, seconds: float) -> Line:
    """Descend to the minimum, and where that is short, again by as many passes."""
    descend(instance, start, kernels, k, 1, seconds)
    descent, taken = descend(instance, start, kernels, k, None, seconds)
    now = descent.standing
    each = taken / passes_of(descent)
    if now.done and taken < LONG:
        again, net = descend(instance, start, kernels, k, now.passes, seconds)
        each = net / max(1, again.standing.passes)
    n = instance.n
    checks = descent.checks_a_pass / each
    initial = now.start_length
    return Line(instance.name, n, k, each, taken, checks, initial, now.length, now.passes, now.moves, not now.done)


def differences(
    instance: pytsp.Instance, start: NDArray[np.int32], kernels: Backend, other: Backend, k: int | str, passes: int
) -> list[str]:
    """Describe the differences of two backends after `passes` passes."""
    one, two = (descend(instance, start, each, k, passes, None)[0] for each in (kernels, other))
    tours = [tour_of(each) for each in (one, two)]
    found = [
        f"{what} {mine} and {its}"
        for what, mine, its in (
            ("length", one.standing.length, two.standing.length),
            ("moves", one.standing.moves, two.standing.moves),
            ("passes", one.standing.passes, two.standing.passes),
            ("recomputed length", one.form.whole.tour_length(tours[0]), one.standing.length),
        )
        if mine != its
    ]
    return found if np.array_equal(tours[0], tours[1]) else [*found, "tours"]


def show(line: Line) -> str:
    """Write a row of the table."""
    theirs = THEIRS[line.instance]
    return row(
        line.instance,
        line.k,
        duration(line.pass_seconds),
        duration(theirs.pass_seconds),
        f"{theirs.pass_seconds / line.pass_seconds:.1f}",
        f"{line.checks / 1e9:.2f}",
        f"{theirs.checks / 1e9:.2f}",
        f"{FLOPS_A_CHECK * line.checks / 1e9:.0f}",
        f"cut at {duration(line.seconds)}" if line.is_cut else duration(line.seconds),
        duration(theirs.seconds),
        "" if line.is_cut else f"{theirs.seconds / line.seconds:.1f}",
        line.initial,
        theirs.initial,
        line.length,
        theirs.length,
        f"{100 * line.length / theirs.length:.2f}",
        line.passes,
        line.moves,
    )


def ways(text: str) -> list[int | str]:
    """Read numbers of moves a pass, such as 1,inf."""
    return [int(k) if k.isdecimal() else k for k in text.split(",")]


def main() -> int:
    """Print the table; end with 1 if a backend differs."""
    arguments = parser(__doc__ or "")
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("--instances", default=",".join(THEIRS), help="with commas between (default: all)")
    arguments.add_argument("--backend", default="auto", help="default: the fastest here")
    arguments.add_argument("--k", type=ways, default=[1, "inf"], help="moves a pass, with commas (default: 1,inf)")
    arguments.add_argument("--seconds", type=float, default=60, help="the most for a descent (default: 60)")
    arguments.add_argument("--check", metavar="BACKEND", help="compare with this backend, such as c")
    arguments.add_argument("--passes", type=int, default=3, help="how many are compared (default: 3)")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the table here")
    options = arguments.parse_args()
    names = options.instances.split(",")
    for strange in set(names) - set(THEIRS):
        arguments.error(f"{strange} is not in their table; it has {', '.join(THEIRS)}")
    kernels = open_backend(options.backend)
    machine = f"{describe()}; {kernels.describe()}"
    print(machine)
    print_head(*HEADS)
    lines, wrong = [], []
    for name in names:
        instance = instance_of(options.tsplib, name)
        start = greedy(instance)
        for k in options.k:
            line = measure(instance, start, kernels, k, options.seconds)
            print(show(line), flush=True)
            lines.append(line)
            if options.check:
                other = open_backend(options.check)
                found = differences(instance, start, kernels, other, k, options.passes)
                wrong += [f"{name}, k = {k}: {each}" for each in found]
    if options.check:
        reported = "; ".join(wrong) if wrong else "the same"
        print(f"after {options.passes} passes on {kernels.name} and {options.check}: {reported}")
    rows = [asdict(line) | {"theirs": asdict(THEIRS[line.instance])} for line in lines]
    store(options.json, {"machine": machine, "rows": rows, "check": options.check, "differences": wrong})
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
