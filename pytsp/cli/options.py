"""The options of `pytsp solve` and `pytsp compare`, and what several commands share of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

from pytsp.backends.registry import BACKENDS
from pytsp.cli import data
from pytsp.cli.arguments import whole
from pytsp.cli.limits import add_checkpoint, add_limits
from pytsp.solvers.registry import KICKS, LOCAL_MOVES, PAIRS, PIVOTS, SCHEDULES, SOLVERS, STARTS, VARIANTS

Run: TypeAlias = Callable[[argparse.Namespace], None]
"""What runs a command."""


def add_solve(commands: argparse._SubParsersAction[argparse.ArgumentParser], run: Run) -> None:
    """Add the command `solve`."""
    command = commands.add_parser("solve", help="find a short tour", description="Find a short tour.")
    command.set_defaults(run=run)
    command.add_argument(
        "instance", metavar="FILE|NAME", help="a TSPLIB file, - for standard input, or a name in data/"
    )
    command.add_argument("--solver", choices=SOLVERS, default="auto", help="default: by size and options")
    command.add_argument("--climbers", type=whole(1), metavar="N", help="how many climbers (default: by size)")
    command.add_argument("--seed", type=whole(0), default=0, metavar="S", help="seed of what is random (default: 0)")
    command.add_argument(
        "--first", type=whole(0), default=0, metavar="N", help="the first climber's number (default: 0)"
    )
    add_backend(command, "auto", "default: the fastest here")
    add_limits(command)
    add_checkpoint(command)
    _add_shared(command.add_argument_group("edge assembly crossover (eax), iterated local search (ils), one huge tour"))
    _add_ils(command.add_argument_group("iterated local search (ils); --start, --temperature, --piece: one huge tour"))
    _add_annealing(command.add_argument_group("simulated annealing (annealing)"))
    _add_ants(command.add_argument_group("ant colonies (ants)"))
    group = command.add_argument_group("random restarts (restarts), and --k for two-opt")
    group.add_argument("--mapping", choices=("auto", "block", "thread"), default="auto", help="climbers on a GPU")
    group.add_argument("--k", type=_moves_a_pass, default=1, metavar="K", help="moves a pass: a number, or inf")
    data.add_data_options(command.add_argument_group("other data than closed tours of TSPLIB files"))
    add_output(command)


def add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser], run: Run) -> None:
    """Add the command `compare`."""
    command = commands.add_parser(
        "compare", help="run several backends on one instance", description="Run several backends on one instance."
    )
    command.set_defaults(run=run)
    command.add_argument(
        "instance", metavar="FILE|NAME", help="a TSPLIB file, - for standard input, or a name in data/"
    )
    command.add_argument("--backends", metavar="B,…", help="with commas between them (default: all usable ones)")
    command.add_argument(
        "--solver",
        choices=("restarts", "ils", "eax", "annealing", "ants"),
        default="restarts",
        help="default: restarts",
    )
    command.add_argument("--climbers", type=whole(1), metavar="N", help="how many climbers (default: by size)")
    command.add_argument("--seed", type=whole(0), default=0, metavar="S", help="seed of what is random (default: 0)")
    command.add_argument("--iterations", type=whole(0), metavar="N", help="by ils and eax (default: by size)")
    command.add_argument("--k", type=_moves_a_pass, default=1, metavar="K", help="moves a pass: a number, or inf")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def add_backend(command: argparse.ArgumentParser, default: str | None, words: str) -> None:
    """Add where kernels run."""
    command.add_argument("--backend", choices=("auto", *BACKENDS), default=default, help=words)
    command.add_argument("--threads", type=whole(1), metavar="T", help="threads of multicore (default: all cores)")
    command.add_argument("--device", type=_device, metavar="D", help="which GPU: its number or a part of its name")


def add_output(command: argparse.ArgumentParser) -> None:
    """Add what is told of a solve."""
    command.add_argument("--output", type=data.output_file, metavar="FILE", help=data.OUTPUT_HELP)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--quiet", action="store_true", help="show no progress")
    command.add_argument("--verbose", action="store_true", help="log on standard error what is done")


def _add_shared(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern every solver but random restarts."""
    group.add_argument("--iterations", type=whole(0), metavar="N", help="kicks, generations, rounds or passes")
    group.add_argument("--initial-tour", metavar="FILE", help="joins the climbers (eax), or is the start")
    group.add_argument("--neighbours", type=whole(1), metavar="K", help="length of the neighbour lists")
    quadrants = "take them from all four quadrants around a city (default: by metric)"
    group.add_argument("--quadrants", action=argparse.BooleanOptionalAction, default=None, help=quadrants)
    group.add_argument("--moves", choices=LOCAL_MOVES, help="the local search's moves (default: 3-opt)")
    group.add_argument("--pivot", choices=PIVOTS, default="first", help="which improving move is made (default: first)")


def _add_ils(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern iterated local search; some concern one huge tour as well."""
    group.add_argument("--start", choices=STARTS, help="the first tour (default: a curve; two-opt: greedy)")
    group.add_argument("--kick", choices=KICKS, default="mixed", help="where a tour changes (default: mixed)")
    group.add_argument("--temperature", type=float, metavar="LENGTH", help="accept so much longer tours at first")
    group.add_argument("--draws", type=whole(1), metavar="K", help="moves a step draws by --pivot random-k")
    group.add_argument("--piece", type=whole(8), metavar="N", help="cities of a piece (large)")
    group.add_argument("--exchange", type=whole(1), metavar="N", help="exchange good tours after so many iterations")
    group.add_argument("--population", type=whole(1), metavar="N", help="cross the best N climbers (eax)")
    group.add_argument("--restart", type=whole(1), metavar="N", help="begin anew after N iterations")
    group.add_argument("--merge", action="store_true", help="merge the climbers' tours in the end (ils)")


def _add_annealing(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern simulated annealing only."""
    group.add_argument("--schedule", choices=SCHEDULES, help="how the temperature falls (default: geometric)")
    group.add_argument("--cooling", type=float, metavar="F", help="ratio of two temperatures that follow each other")
    group.add_argument("--trials", type=whole(1), metavar="N", help="moves tried in an iteration (default: n)")
    group.add_argument("--pairs", choices=PAIRS, default="neighbours", help="cities that a move joins")


def _add_ants(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern ant colonies only."""
    group.add_argument("--variant", choices=VARIANTS, default="max-min", help="default: max-min")
    group.add_argument("--ants", type=whole(1), metavar="N", help="ants of a colony (default: by size)")
    group.add_argument("--alpha", type=float, metavar="A", help="power of the trails (default: 1)")
    group.add_argument("--beta", type=float, metavar="B", help="power of the inverse distances (default: by variant)")
    group.add_argument("--evaporation", type=float, metavar="R", help="share of a trail that an iteration loses")
    group.add_argument("--ranks", type=whole(1), metavar="N", help="weight of the best tour (rank; default: 6)")
    group.add_argument("--smoothing", type=float, metavar="S", help="how far idle trails go back (max-min)")


def _device(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _moves_a_pass(text: str) -> int | str:
    return "inf" if text == "inf" else whole(1)(text)


_moves_a_pass.__name__ = "number of moves"
