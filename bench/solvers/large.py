"""One huge tour by `solver="large"`: the gap over the time, the seconds of each phase, and the time a city over n.

Each instance has a process of its own, which reads or generates it, compiles nothing any more when its clocks start,
and runs one seed and one time limit after the other. A run knows its limit, so that the gap inside a longer run is not
that of a shorter one. Seconds inside a run count from the call of `pytsp.solve`: renumbering the cities, their
neighbour lists and the first tour are in them, reading is not. What renumbering and lists take is measured by calling
the same functions once more. "begins" is when the first tour was known, after all of that. Peak memory is that of the
process, Python and the file's text among it.

Gaps are to the best known lengths: those of the DIMACS challenge for its uniform instances (E10k.0 is
`pytsp.generate.uniform(10_000, 10_000)`), the optima of TSPLIB, and those of its collections of countries and VLSI for
the rest. Every tour is checked, and its length computed anew.

With `--check`, tours after `--rounds` rounds are compared with those of another backend. With `--scaling`, uniform
instances of 10^3.5 … 10^6 cities go through as many rounds each.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.harness.arguments import numbers, parser
from bench.harness.machine import describe
from bench.harness.pictures import pyplot
from bench.harness.tables import load, print_head, row, store
from bench.harness.workers import Failure, Worker
from bench.solvers.large_runs import UNIFORM, Line, Task, measure

INSTANCES = "E10k.0,E100k.0,E1M.0,ara238025,usa115475,pla33810,pla85900,d18512"
SIZES = "3162,10000,31623,100000,316228,1000000"
SIDE = 1e6
# Seconds of a run after which its gap is reported.
MOMENTS = (1, 3, 10, 15, 20, 30, 60)
# Seconds beyond its limits after which an instance's process is ended.
PATIENCE = 3_600.0
HEADS = ("instance", "n", "seed", "limit, s", "read, s", "renumbered, s", "lists, s", "begins, s", "seconds", "rounds")
ENDS = ("length", "gap, %", *(f"{moment} s" for moment in MOMENTS), "valid", "exact", "local optimum", "MiB")
SCALING_HEADS = ("n", "rounds", "µs a city until it begins", "of rounds", "in all", "length / √(n A)", "gap, %", "MiB")


def of_process(task: Task) -> tuple[list[Line], str]:
    """Measure an instance in a process of its own; return its runs, and what is wrong, if anything is."""
    worker = Worker(measure)
    try:
        lines, is_equal = worker.ask(task, PATIENCE + 2 * task.seeds * sum(task.limits))
    except Failure as failure:
        return [], f"{task.name}: {failure}"
    finally:
        worker.end()
    if not all(line.is_exact for line in lines):
        return lines, f"{task.name}: what was returned is not a tour of its length"
    return lines, f"{task.name}: {task.check} differs" if is_equal is False else ""


def reports(number: float, digits: int = 2) -> str:
    """Write a number; nothing for none."""
    return "" if math.isnan(number) else f"{number:.{digits}f}"


def yes(is_so: bool) -> str:
    """Write yes or no."""
    return "yes" if is_so else "no"


def show(line: Line) -> str:
    """Write a run's row."""
    return row(
        line.instance,
        line.n,
        line.seed,
        "" if line.limit is None else f"{line.limit:g}",
        *map(reports, (line.read, line.renumbered, line.listed, line.begins, line.seconds)),
        line.rounds,
        line.length,
        reports(line.gap_of(line.length), 3),
        *(reports(line.gap_at(moment)) for moment in MOMENTS),
        *map(yes, (line.is_valid, line.is_exact, line.is_optimum)),
        reports(line.mebibytes, 0),
    )


def show_scaling(line: Line) -> str:
    """Write a size's row."""
    micro = 1e6 / line.n
    times = (line.begins, line.seconds - line.begins, line.seconds)
    return row(
        line.n,
        line.rounds,
        *(reports(micro * seconds) for seconds in times),
        reports(line.length / math.sqrt(line.n * SIDE**2), 4),
        reports(line.gap_of(line.length), 3),
        reports(line.mebibytes, 0),
    )


def draw(lines: Iterable[Line], file: Path, plt: Any) -> None:
    """Draw the gap over the time, a colour an instance and a curve a seed, of the runs with the longest limit."""
    figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
    known = [line for line in lines if line.best_known]
    for number, name in enumerate(dict.fromkeys(line.instance for line in known)):
        same = [line for line in known if line.instance == name]
        longest = max(line.limit or 0 for line in same)
        for place, line in enumerate(each for each in same if each.limit == longest):
            curve = [(seconds, line.gap_of(length)) for seconds, length in (*line.history, (line.seconds, line.length))]
            label = name if place == 0 else None
            panel.step(*zip(*curve, strict=True), where="post", color=f"C{number}", linewidth=1.2, label=label)
    panel.set(xscale="log", yscale="log", xlabel="seconds", ylabel="above the best known, %")
    panel.yaxis.set_major_formatter("{x:g}")
    panel.grid(visible=True, which="both", linewidth=0.3)
    panel.legend()
    figure.savefig(file, dpi=120)
    plt.close(figure)


def draw_scaling(lines: Iterable[Line], file: Path, plt: Any) -> None:
    """Draw the time a city over the number of cities: medians over the seeds."""
    figure, panel = plt.subplots(figsize=(6, 3.6), layout="constrained")
    sizes: dict[int, list[Line]] = {}
    for line in lines:
        sizes.setdefault(line.n, []).append(line)
    parts: dict[str, Callable[[Line], float]] = {
        "in all": lambda line: line.seconds,
        "rounds": lambda line: line.seconds - line.begins,
        "until the first tour": lambda line: line.begins,
    }
    for label, seconds in parts.items():
        curve = [(n, statistics.median(1e6 * seconds(line) / n for line in same)) for n, same in sizes.items()]
        panel.plot(*zip(*curve, strict=True), "o-", markersize=4, label=label)
    panel.set(xscale="log", xlabel="cities", ylabel="µs a city")
    panel.set_ylim(bottom=0)
    panel.grid(visible=True, linewidth=0.3)
    panel.legend()
    figure.savefig(file, dpi=120)
    plt.close(figure)


def plot(lines: list[Line], gaps: Path | None, scaling: Path | None) -> None:
    """Draw what is asked for, of runs with time limits and with rounds, where matplotlib is installed."""
    if gaps is None and scaling is None:
        return
    if find_spec("matplotlib") is None:
        print("not drawn: matplotlib is not installed; what --json has stored, --stored draws elsewhere")
        return
    plt = pyplot()
    if gaps is not None:
        draw([line for line in lines if line.limit is not None], gaps, plt)
    if scaling is not None:
        draw_scaling([line for line in lines if line.limit is None], scaling, plt)


def tasks(options: argparse.Namespace) -> Iterator[tuple[Task, Callable[[Line], str]]]:
    """Print the heads of the tables, and yield what is measured for them and how a row is written."""
    common = (options.rounds, options.seeds, options.piece)
    names = [name for name in options.instances.split(",") if name]
    if names:
        print_head(*HEADS, *ENDS)
    for name in names:
        yield Task(name, options.tsplib, options.backend, tuple(options.seconds), *common, options.check), show
    if options.scaling:
        print_head(*SCALING_HEADS)
        of_size = {str(n): name for name, n in UNIFORM.items()}
        for size in options.sizes.split(","):
            name = of_size.get(size, f"uniform-{size}")
            yield Task(name, options.tsplib, options.backend, (), *common), show_scaling


def main() -> int:
    """Print the tables; end with 1 if anything failed, a tour is wrong or a backend differs."""
    arguments = parser(__doc__ or "")
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("--instances", default=INSTANCES, help=f"with commas between (default: {INSTANCES})")
    arguments.add_argument("--backend", default="auto", help="default: the fastest here")
    arguments.add_argument("--seconds", type=numbers, default=[60.0], metavar="S,S", help="time limits (default: 60)")
    arguments.add_argument("--seeds", type=int, default=1, metavar="N", help="how many (default: 1)")
    arguments.add_argument("--rounds", type=int, default=10, help="of --check and --scaling (default: 10)")
    arguments.add_argument("--piece", type=int, metavar="CITIES", help="default: pytsp's; of --check, 1000")
    arguments.add_argument("--check", metavar="BACKEND", help="compare with this backend, such as c")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store all runs here")
    arguments.add_argument("--plot", type=Path, metavar="FILE", help="draw the gaps over the time (with matplotlib)")
    arguments.add_argument("--scaling", type=Path, metavar="FILE", help="draw the time a city over n (with matplotlib)")
    arguments.add_argument("--sizes", default=SIZES, metavar="N,N", help=f"of --scaling (default: {SIZES})")
    arguments.add_argument("--stored", type=Path, metavar="FILE", help="run nothing, draw what --json has stored here")
    options = arguments.parse_args()
    if options.stored:
        stored = load(options.stored)
        plot([Line(**line) for line in stored["runs"]], options.plot, options.scaling)
        return 0
    machine = describe()
    print(machine, flush=True)
    lines: list[Line] = []
    wrong = []
    for task, written in tasks(options):
        found, problem = of_process(task)
        lines += found
        for line in found:
            print(written(line), flush=True)
        if problem:
            wrong.append(problem)
            print(problem, flush=True)
        elif task.check:
            print(f"{task.name}: after {task.rounds} rounds on {task.check}: the same", flush=True)
    if lines:
        print(f"on {lines[0].backend}")
    store(options.json, {"machine": machine, "runs": [asdict(line) for line in lines], "wrong": wrong})
    plot(lines, options.plot, options.scaling)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
