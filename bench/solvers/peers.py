"""Measure the gaps of pytsp and other solvers after given seconds, and their times to a target.

For each instance and seed the cities are shuffled, and the solvers take turns, each in a process of its own. What takes
a time limit runs once for each of `--seconds`, knowing the limit; elkai runs once, on small instances only. Every tour
is checked and its length computed anew from the instance in the file's order. No solver is told the optimum. Cells of
the table: the median gap in per cent over the seeds, with the smallest and the largest, and the median seconds where
they are not the limit. A second table says for each limit on which instances pytsp is ahead of the best of the others.

With `--target` the cells are the median seconds until a tour was that short: for pytsp, which is told it, when it was
known, for the others the time of the first run, of ascending limits, that ends with such a tour.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import pytsp
from bench.harness.arguments import numbers, parser
from bench.harness.curves import draw, draw_solved
from bench.harness.machine import describe, find
from bench.harness.rivals import Answer, Task, answer, at_hand, takes_limit
from bench.harness.runs import Run
from bench.harness.shuffle import shuffled
from bench.harness.tables import load, print_head, row, store
from bench.harness.workers import Failure, Worker
from bench.solvers.large_runs import BEST_KNOWN, UNIFORM, made
from pytsp.backends.devices import usable_cores
from pytsp.problem.tours import is_tour

INSTANCES = "kroA100,kroA200,lin318,pcb442,rat783,pr1002,pr2392,pcb3038,fnl4461,fl1577"
# Gaps in per cent that differ by no more are level.
LEVEL = 0.02
# Seconds beyond its limit after which a solver is ended.
PATIENCE = 60.0


@dataclass(frozen=True)
class Plan:
    """The measurement: the command line's options."""

    peers: list[str]
    limits: list[float]
    seeds: int
    threads: int
    largest_elkai: int
    options: tuple[tuple[str, object], ...]
    # A gap in per cent, where the time to it is asked for.
    target: float | None

    def limits_of(self, peer: str, n: int) -> list[float | None]:
        """Return the limits of a solver's runs on n cities; for pytsp, the longest alone where a target ends it."""
        if not takes_limit(peer):
            return [None] if n <= self.largest_elkai else []
        return [*self.limits[-1:]] if self.target is not None and peer.startswith("pytsp") else [*self.limits]


def read(folder: Path, name: str) -> pytsp.Instance:
    """Read an instance, or make one of the DIMACS challenge; the best known length counts as its optimum."""
    found = made(name, folder) if name in UNIFORM else find(folder, name)
    return replace(found, name=name, optimum=BEST_KNOWN.get(name, found.optimum))


def measure(instance: pytsp.Instance, plan: Plan, workers: dict[str, Worker[Task, Answer]]) -> Iterator[Run]:
    """Run all solvers on one instance, in turn."""
    for seed in range(plan.seeds):
        for peer in plan.peers:
            for limit in plan.limits_of(peer, instance.n):
                run = _run(instance, plan, workers[peer], peer, limit, seed)
                yield run
                if plan.target is not None and run.gap <= plan.target:
                    break


def _run(
    instance: pytsp.Instance, plan: Plan, worker: Worker[Task, Answer], peer: str, limit: float | None, seed: int
) -> Run:
    mixed, order = shuffled(instance, seed)
    enough = None
    if plan.target is not None and instance.optimum is not None:
        enough = math.floor(instance.optimum * (1 + plan.target / 100))
    # What is not told is not in the instance either: a search ends on a known optimum.
    mixed = replace(mixed, optimum=None)
    task = Task(mixed, peer, limit or 0.0, seed, plan.threads, enough, plan.options)
    run = partial(Run, peer, instance.name, instance.n, seed, limit, optimum=instance.optimum)
    try:
        found = worker.ask(task, (limit or 0.0) + PATIENCE)
        if not is_tour(found.tour, instance.n):
            raise Failure("what it returned is not a tour")
    except Failure as failure:
        return run(seconds=math.nan, length=None, problem=str(failure))
    length = instance.tour_length(order[found.tour])
    return run(seconds=found.seconds, length=length, history=found.history)


def gap_cell(runs: list[Run]) -> str:
    """Tell the gaps of one solver's runs with one limit, and their seconds where these are not the limit."""
    done = [run for run in runs if not run.problem]
    if not done:
        return runs[0].problem if runs else "–"
    gaps = [run.gap for run in done]
    cell = f"{statistics.median(gaps):.3f}"
    if max(gaps) > min(gaps):
        cell += f" ({min(gaps):.3f} … {max(gaps):.3f})"
    seconds, limit = statistics.median(run.seconds for run in done), done[0].limit
    if limit is None or abs(seconds - limit) > 0.1 * limit:
        cell += f", {seconds:.2g} s"
    return cell + (f", {len(runs) - len(done)} failed" if len(done) < len(runs) else "")


def time_cell(runs: list[Run], seeds: int, gap: float) -> str:
    """Tell when one solver's runs came to a gap of at most `gap` per cent, over the seeds."""
    if not runs or all(run.problem for run in runs):
        return gap_cell(runs)
    best = [math.inf] * seeds
    for run in runs:
        best[run.seed] = min(best[run.seed], run.seconds_to((run.optimum or 0) * (1 + gap / 100)))
    reached = sum(map(math.isfinite, best))
    median = statistics.median(best)
    shown = f"{median:.3g} s" if math.isfinite(median) else "not reached"
    return shown + (f", {reached} of {seeds}" if reached < seeds else "")


def columns(plan: Plan) -> list[tuple[str, float | None]]:
    """Return the solvers and limits that have a column."""
    if plan.target is not None:
        return [(peer, None) for peer in plan.peers]
    return [(peer, limit) for peer in plan.peers for limit in (plan.limits if takes_limit(peer) else [None])]


def show(name: str, n: int, runs: list[Run], plan: Plan) -> str:
    """Write an instance's row."""
    cells = []
    for peer, limit in columns(plan):
        theirs = [run for run in runs if run.peer == peer and (plan.target is not None or run.limit == limit)]
        cells.append(gap_cell(theirs) if plan.target is None else time_cell(theirs, plan.seeds, plan.target))
    return row(name, n, *cells)


def standings(runs: list[Run], plan: Plan) -> Iterator[list[object]]:
    """Yield a row for each limit of each backend of pytsp: the instances on which its median gap is less than the
    least of the others', more by at most `LEVEL`, and more than that."""
    names = list(dict.fromkeys(run.instance for run in runs))

    def median(peer: str, limit: float, name: str) -> float:
        theirs = [run.gap for run in runs if (run.peer, run.limit, run.instance) == (peer, limit, name)]
        return statistics.median(theirs) if theirs else math.inf

    ours = [peer for peer in plan.peers if peer.startswith("pytsp")]
    others = [peer for peer in plan.peers if takes_limit(peer) and peer not in ours]
    for peer in ours if others else ():
        for limit in plan.limits:
            best = {name: min(median(each, limit, name) for each in others) for name in names}
            # Instances that all others refuse are on no side.
            met = [name for name in names if math.isfinite(best[name])]
            apart = {name: round(median(peer, limit, name) - best[name], 6) for name in met}
            ahead = [name for name, difference in apart.items() if difference < 0]
            level = [name for name, difference in apart.items() if 0 <= difference <= LEVEL]
            behind = [f"{name} by {difference:.3f}" for name, difference in apart.items() if difference > LEVEL]
            yield [f"{peer}, {limit:g} s", *(f"{len(each)}: {', '.join(each)}" for each in (ahead, level, behind))]


def gap(text: str) -> float:
    """Read a target: "optimum", or a gap in per cent."""
    try:
        found = 0.0 if text == "optimum" else float(text.removesuffix("%"))
    except ValueError:
        found = -1.0
    if not found >= 0:
        raise argparse.ArgumentTypeError(f"must be 'optimum' or a gap in per cent, such as 0.5; it is {text!r}")
    return found


def plan_of(arguments: argparse.ArgumentParser, options: argparse.Namespace) -> Plan:
    """Make a plan of the command line's options; ends the program where a peer is not at hand."""
    here = at_hand()
    wanted = here if options.peers is None else [peer for peer in options.peers.split(",") if peer]
    for peer in wanted:
        if peer not in here:
            arguments.error(f"argument --peers: {peer!r} is not here; at hand: {', '.join(here) or 'none'}")
    return Plan(
        peers=[f"pytsp {backend}" for backend in options.backend.split(",")] + wanted,
        limits=options.seconds,
        seeds=options.seeds,
        threads=options.threads,
        largest_elkai=options.largest_elkai,
        options=() if options.solver == "auto" else (("solver", options.solver),),
        target=options.target,
    )


def picture(runs: list[Run], options: argparse.Namespace) -> None:
    """Draw what the command line asks for."""
    if options.plot:
        draw(runs, options.plot)
    if options.solved:
        draw_solved(runs, options.solved)


def main() -> int:
    """Print the table that the command line asks for; the exit code is 1 if a solver returned what is not a tour."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--instances", default=INSTANCES, help=f"with commas between (default: {INSTANCES})")
    arguments.add_argument("--seconds", type=numbers, default=[5.0], metavar="S,S", help="time limits (default: 5)")
    arguments.add_argument("--seeds", type=int, default=10, metavar="N", help="how many (default: 10)")
    arguments.add_argument("--backend", default="multicore", metavar="B,B", help="pytsp's (default: multicore)")
    arguments.add_argument("--solver", default="auto", help="pytsp's (default: auto)")
    arguments.add_argument("--peers", metavar="P,P", help="others (default: all that are here)")
    arguments.add_argument("--threads", type=int, default=usable_cores(), help="of multicore and fast-tsp")
    arguments.add_argument("--largest-elkai", type=int, default=1002, metavar="N", help="its most cities")
    arguments.add_argument("--target", type=gap, help="'optimum' or a gap in per cent: tell the time to it")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store all runs here")
    arguments.add_argument("--plot", type=Path, metavar="FILE", help="draw the gaps over the time (with matplotlib)")
    arguments.add_argument("--solved", type=Path, metavar="FILE", help="draw the seeds on the optimum over the time")
    arguments.add_argument("--stored", type=Path, metavar="FILE", help="run nothing, draw what --json has stored here")
    options = arguments.parse_args()
    if options.stored:
        stored = load(options.stored)
        picture([Run(**run) for run in stored["runs"]], options)
        return 0
    if options.plot and options.target is not None:
        arguments.error("argument --plot: with --target, the runs of longer limits are those of unlucky seeds only")
    plan = plan_of(arguments, options)
    instances = [read(options.tsplib, name) for name in options.instances.split(",")]
    print(f"{describe()}; {plan.threads} threads, {plan.seeds} seeds", flush=True)
    print_head("instance", "n", *(peer + (f", {limit:g} s" if limit else "") for peer, limit in columns(plan)))
    workers = {peer: Worker(answer) for peer in plan.peers}
    runs: list[Run] = []
    try:
        for instance in instances:
            found = list(measure(instance, plan, workers))
            runs += found
            print(show(instance.name, instance.n, found, plan), flush=True)
        if plan.target is None and any(not peer.startswith("pytsp") for peer in plan.peers):
            print()
            print_head("pytsp", "ahead", f"level (up to {LEVEL} more)", "behind")
            for cells in standings(runs, plan):
                print(row(*cells), flush=True)
    finally:
        for worker in workers.values():
            worker.end()
        reported = {"machine": describe(), "threads": plan.threads, "runs": [asdict(run) for run in runs]}
        store(options.json, reported)
    picture(runs, options)
    return int(any("not a tour" in run.problem for run in runs))


if __name__ == "__main__":
    sys.exit(main())
