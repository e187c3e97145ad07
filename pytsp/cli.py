"""The command line: `pytsp solve`, `resume`, `info`, `backends`, `compare`, `plot`, `report`, …

What is not needed to understand the arguments is imported where it is used: a device opens in a thread, while NumPy
and what solves are imported and the instance is read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pytsp import _cli_data, _cli_help, _cli_runs, _pictures_cli
from pytsp._names import KICKS, LOCAL_MOVES, PAIRS, PART_OF, PIVOTS, SCHEDULES, SOLVERS, STARTS, VARIANTS
from pytsp.backends import BACKENDS, open_backend, status
from pytsp.exceptions import PytspError

if TYPE_CHECKING:
    from pytsp.compare import Comparison
    from pytsp.history import Progress as Snapshot
    from pytsp.instance import Instance
    from pytsp.result import Result

# The name of a thread that opens a backend.
_OPENING = "pytsp opening"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `pytsp`; by default those of the process.

    Returns
    -------
    int
        The exit code: 0, or 1 for a failure, told in one line on standard error. Wrong usage exits with 2. Where Ctrl-C
        or SIGTERM ends the command before there is a tour, it is 130 or 143.
    """
    if arguments is None:
        # Nothing here multiplies matrices, and threads for that would be half of what NumPy's import takes.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    parser = _parser()
    _cli_help.complete(parser)
    options = parser.parse_args(arguments)
    options.began = time.perf_counter() - (_cli_runs.seconds_since_start() if arguments is None else 0.0)
    code = 1
    try:
        with _cli_runs.ended_by_sigterm():
            options.run(options)
        return 0
    except (PytspError, OSError, ValueError) as error:
        print(f"pytsp: {error}", file=sys.stderr)
    except MemoryError as error:
        print(f"pytsp: the memory does not suffice: {str(error) or 'Python does not say for what'}", file=sys.stderr)
    except KeyboardInterrupt as error:
        said, code = _cli_runs.told_interruption(error)
        print(f"pytsp: {said}{' before there was a tour' if options.run in (_solve, _resume) else ''}", file=sys.stderr)
    if arguments is None and any(thread.name == _OPENING for thread in threading.enumerate()):
        # A driver that is still at work may crash while an orderly end takes down its libraries; none is needed here.
        sys.stdout.flush()
        os._exit(code)
    return code


class _Version(argparse.Action):
    """Print the installed version, which is looked up only where it is asked for, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # noqa: PLC0415

        print(f"pytsp {version('pytsp')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _cli_help.Parser(
        prog="pytsp",
        description="Solve travelling-salesman problems on CPUs and GPUs.",
        epilog=_cli_help.epilog("pytsp"),
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    _add_solve(commands)
    command = commands.add_parser(
        "resume", help="go on with a solve from its checkpoint", description="Go on with a solve from its checkpoint."
    )
    command.set_defaults(run=_resume)
    command.add_argument("checkpoint", metavar="FILE", help="what --checkpoint of 'pytsp solve' named")
    _add_backend(command, None, "default: as the solve was asked for")
    _cli_runs.add_limits(command)
    _cli_runs.add_interval(command)
    _add_output(command)

    command = commands.add_parser("info", help="describe an instance", description="Describe an instance.")
    command.set_defaults(run=_info)
    command.add_argument(
        "instance", metavar="FILE|NAME", help="a TSPLIB file, - for standard input, or a name in data/"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")

    command = commands.add_parser("backends", help="list what can run here", description="List what can run here.")
    command.set_defaults(run=_backends)
    command.add_argument("--json", action="store_true", help="print one JSON object")

    _add_compare(commands)
    _pictures_cli.add_commands(commands)
    _cli_data.add_datasets(commands, _print_table)
    _cli_data.add_generate(commands, _whole)
    _cli_help.add_completion(commands)
    _cli_help.add_examples(commands)
    return parser


def _add_solve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("solve", help="find a short tour", description="Find a short tour.")
    command.set_defaults(run=_solve)
    command.add_argument(
        "instance", metavar="FILE|NAME", help="a TSPLIB file, - for standard input, or a name in data/"
    )
    command.add_argument("--solver", choices=SOLVERS, default="auto", help="default: by size and options")
    command.add_argument("--climbers", type=_whole(1), metavar="N", help="how many climbers (default: by size)")
    command.add_argument("--seed", type=_whole(0), default=0, metavar="S", help="seed of what is random (default: 0)")
    command.add_argument(
        "--first", type=_whole(0), default=0, metavar="N", help="the first climber's number (default: 0)"
    )
    _add_backend(command, "auto", "default: the fastest here")
    _cli_runs.add_limits(command)
    _cli_runs.add_checkpoint(command)
    _add_shared(command.add_argument_group("edge assembly crossover (eax), iterated local search (ils), one huge tour"))
    _add_ils(command.add_argument_group("iterated local search (ils); --start, --temperature, --piece: one huge tour"))
    _add_annealing(command.add_argument_group("simulated annealing (annealing)"))
    _add_ants(command.add_argument_group("ant colonies (ants)"))
    group = command.add_argument_group("random restarts (restarts), and --k for two-opt")
    group.add_argument("--mapping", choices=("auto", "block", "thread"), default="auto", help="climbers on a GPU")
    group.add_argument("--k", type=_moves_a_pass, default=1, metavar="K", help="moves a pass: a number, or inf")
    _cli_data.add_ways(command.add_argument_group("other data than closed tours of TSPLIB files"), _whole)
    _add_output(command)


def _add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "compare", help="run several backends on one instance", description="Run several backends on one instance."
    )
    command.set_defaults(run=_compare)
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
    command.add_argument("--climbers", type=_whole(1), metavar="N", help="how many climbers (default: by size)")
    command.add_argument("--seed", type=_whole(0), default=0, metavar="S", help="seed of what is random (default: 0)")
    command.add_argument("--iterations", type=_whole(0), metavar="N", help="by ils and eax (default: by size)")
    command.add_argument("--k", type=_moves_a_pass, default=1, metavar="K", help="moves a pass: a number, or inf")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _add_backend(command: argparse.ArgumentParser, default: str | None, words: str) -> None:
    """Add where kernels run."""
    command.add_argument("--backend", choices=("auto", *BACKENDS), default=default, help=words)
    command.add_argument("--threads", type=_whole(1), metavar="T", help="threads of multicore (default: all cores)")
    command.add_argument("--device", type=_device, metavar="D", help="which GPU: its number or a part of its name")


def _add_output(command: argparse.ArgumentParser) -> None:
    """Add what is told of a solve."""
    command.add_argument("--output", type=_cli_data.output_file, metavar="FILE", help=_cli_data.OUTPUT_HELP)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--quiet", action="store_true", help="show no progress")
    command.add_argument("--verbose", action="store_true", help="log on standard error what is done")


def _add_shared(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern every solver but random restarts."""
    group.add_argument("--iterations", type=_whole(0), metavar="N", help="kicks, generations, rounds or passes")
    group.add_argument("--initial-tour", metavar="FILE", help="joins the climbers (eax), or is the start")
    group.add_argument("--neighbours", type=_whole(1), metavar="K", help="length of the neighbour lists")
    quadrants = "take them from all four quadrants around a city (default: by metric)"
    group.add_argument("--quadrants", action=argparse.BooleanOptionalAction, default=None, help=quadrants)
    group.add_argument("--moves", choices=LOCAL_MOVES, help="the local search's moves (default: 3-opt)")
    group.add_argument("--pivot", choices=PIVOTS, default="first", help="which improving move is made (default: first)")


def _add_ils(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern iterated local search; some concern one huge tour as well."""
    group.add_argument("--start", choices=STARTS, help="the first tour (default: a curve; two-opt: greedy)")
    group.add_argument("--kick", choices=KICKS, default="mixed", help="where a tour changes (default: mixed)")
    group.add_argument("--temperature", type=float, metavar="LENGTH", help="accept so much longer tours at first")
    group.add_argument("--draws", type=_whole(1), metavar="K", help="moves a step draws by --pivot random-k")
    group.add_argument("--piece", type=_whole(8), metavar="N", help="cities of a piece (large)")
    group.add_argument("--exchange", type=_whole(1), metavar="N", help="exchange good tours after so many iterations")


def _add_annealing(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern simulated annealing only."""
    group.add_argument("--schedule", choices=SCHEDULES, help="how the temperature falls (default: geometric)")
    group.add_argument("--cooling", type=float, metavar="F", help="ratio of two temperatures that follow each other")
    group.add_argument("--trials", type=_whole(1), metavar="N", help="moves tried in an iteration (default: n)")
    group.add_argument("--pairs", choices=PAIRS, default="neighbours", help="cities that a move joins")


def _add_ants(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern ant colonies only."""
    group.add_argument("--variant", choices=VARIANTS, default="max-min", help="default: max-min")
    group.add_argument("--ants", type=_whole(1), metavar="N", help="ants of a colony (default: by size)")
    group.add_argument("--alpha", type=float, metavar="A", help="power of the trails (default: 1)")
    group.add_argument("--beta", type=float, metavar="B", help="power of the inverse distances (default: by variant)")
    group.add_argument("--evaporation", type=float, metavar="R", help="share of a trail that an iteration loses")
    group.add_argument("--ranks", type=_whole(1), metavar="N", help="weight of the best tour (rank; default: 6)")
    group.add_argument("--smoothing", type=float, metavar="S", help="how far idle trails go back (max-min)")


def _likely_part(options: argparse.Namespace) -> str:
    """Return the part of the kernels that a solve will call, as far as that is known before the instance is read.

    Another costs time only: the solve then opens its own part as well.
    """
    if options.solver != "auto":
        return PART_OF[options.solver]
    return PART_OF["restarts" if options.k != 1 or options.mapping != "auto" else "eax"]


def _begin_to_open(name: str, threads: int | None, device: int | str | None, part: str) -> None:
    """Begin to open a part of a backend in a thread, for a solve on it, which then waits for it or finds it open.

    A failure is told by the solve, which meets it again if it comes so far. The process does not wait for the thread.
    """

    def opened() -> None:
        with suppress(Exception):
            open_backend(name, threads=threads, device=device, part=part)

    threading.Thread(target=opened, name=_OPENING, daemon=True).start()


def _solve(options: argparse.Namespace) -> None:
    _begin_to_open(options.backend, options.threads, options.device, _likely_part(options))
    with _cli_runs.late_signals():
        from pytsp import tsplib  # noqa: PLC0415
        from pytsp.solve import solve  # noqa: PLC0415

    instance = _cli_data.read_instance(options.instance, options.metric, is_open=options.open)
    initial_tour = None if options.initial_tour is None else tsplib.read_tour(options.initial_tour)
    with _followed(instance, options) as progress:
        result = solve(
            instance,
            open=options.open,
            start_city=options.start_city,
            end_city=options.end_city,
            solver=options.solver,
            climbers=options.climbers,
            seed=options.seed,
            first=options.first,
            backend=options.backend,
            threads=options.threads,
            device=options.device,
            mapping=options.mapping,
            k=options.k,
            iterations=options.iterations,
            time_limit=_cli_runs.time_left(options),
            target=options.target,
            target_gap=options.target_gap,
            patience=options.patience,
            checkpoint=options.checkpoint,
            checkpoint_interval=options.checkpoint_interval,
            initial_tour=initial_tour,
            start=options.start,
            neighbours=options.neighbours,
            quadrants=options.quadrants,
            moves=options.moves,
            pivot=options.pivot,
            draws=options.draws,
            kick=options.kick,
            temperature=options.temperature,
            exchange=options.exchange,
            piece=options.piece,
            schedule=options.schedule,
            cooling=options.cooling,
            trials=options.trials,
            pairs=options.pairs,
            variant=options.variant,
            ants=options.ants,
            alpha=options.alpha,
            beta=options.beta,
            evaporation=options.evaporation,
            ranks=options.ranks,
            smoothing=options.smoothing,
            progress=progress,
        )
    _tell(result, options)


def _recorded(result: Result, options: argparse.Namespace) -> dict[str, object]:
    """Return what is printed of a result; neither a file nor a device that is gone by now costs anybody the result."""
    from pytsp import datasets  # noqa: PLC0415
    from pytsp._record import record  # noqa: PLC0415

    file = device = None
    with suppress(PytspError):
        # A checkpoint holds its instance.
        file = None if "instance" not in options or options.instance == "-" else datasets.find(options.instance)
    part = PART_OF[result.solver]
    with suppress(PytspError):
        device = open_backend(options.backend, threads=options.threads, device=options.device, part=part).device_name
    return record(result, file=file, device=device)


def _resume(options: argparse.Namespace) -> None:
    with _cli_runs.late_signals():
        from pytsp.checkpoint import Stored  # noqa: PLC0415

    stored = Stored(options.checkpoint)
    placed = stored.arguments(options.backend, options.threads, options.device)
    options.backend, options.threads, options.device = (placed[name] for name in ("backend", "threads", "device"))
    with _followed(stored.instance, options) as progress:
        result = stored.resume(
            backend=options.backend,
            threads=options.threads,
            device=options.device,
            time_limit=_cli_runs.time_left(options),
            target=options.target,
            target_gap=options.target_gap,
            patience=options.patience,
            checkpoint_interval=options.checkpoint_interval,
            progress=progress,
        )
    _tell(result, options)


def _tell(result: Result, options: argparse.Namespace) -> None:
    """Print what a solve has found, and write its tour."""
    print(json.dumps(_recorded(result, options)) if options.json else result)
    # Last, so that a file that cannot be written costs nobody the result.
    if options.output:
        _cli_data.write_output(options.output, result)


def _compare(options: argparse.Namespace) -> None:
    from pytsp.compare import compare  # noqa: PLC0415

    names = [name.strip() for name in options.backends.split(",")] if options.backends else None
    rows = compare(
        _read(options.instance),
        names,
        solver=options.solver,
        climbers=options.climbers,
        seed=options.seed,
        k=options.k,
        iterations=options.iterations,
    )
    if options.json:
        print(json.dumps([row.to_dict() for row in rows]))
        return
    cells = (
        (
            row.backend,
            f"{row.seconds:.3f}",
            f"{row.ratio:.2f}",
            _speed(row),
            f"{row.length:.10g}",
            "yes" if row.equal else "NO",
        )
        for row in rows
    )
    _print_table(("backend", "seconds", "times the first", "speed", "length", "equal"), cells)


def _speed(row: Comparison) -> str:
    """Say how fast a backend was, by what its solver counts."""
    if row.moves is not None:
        return f"{row.moves / row.seconds / 1e9:.2f} G moves/s"
    return f"{(row.iterations or 0) / row.seconds / 1e3:.1f} k iterations/s"


def _info(options: argparse.Namespace) -> None:
    instance = _read(options.instance)
    facts = {
        "instance": instance.name,
        "n": instance.n,
        "metric": instance.metric,
        "asymmetric": instance.asymmetric,
        "comment": instance.comment,
        "optimum": instance.optimum,
        "canonical_length": instance.tour_length(range(instance.n)),
    }
    if options.json:
        print(json.dumps(facts))
    else:
        words = {None: "not known", True: "yes", False: "no"}
        shown = {name.replace("_", " "): fact for name, fact in facts.items()}
        shown |= {name: words[fact] for name, fact in shown.items() if fact is None or isinstance(fact, bool)}
        print("\n".join(f"{name:17} {fact}" for name, fact in shown.items()))


def _backends(options: argparse.Namespace) -> None:
    backends = status()
    if options.json:
        print(json.dumps([backend.to_dict() for backend in backends]))
        return
    cells = (
        (
            backend.name,
            "yes" if backend.built else "no",
            "yes" if backend.usable else "no",
            "\n".join(filter(None, ("; ".join(str(device) for device in backend.devices), backend.reason))),
            backend.remedy,
        )
        for backend in backends
    )
    _print_table(("backend", "built", "usable", "why", "what to do"), cells)


def _print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(*headers)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def _read(name: str) -> Instance:
    return _cli_data.read_instance(name)


@contextmanager
def _followed(instance: Instance, options: argparse.Namespace) -> Iterator[Callable[[Snapshot], None] | None]:
    """Have a solve show its progress and its log as it is asked for."""
    from pytsp._display import logged, shown  # noqa: PLC0415

    with shown(instance, quiet=options.quiet) as progress, logged(verbose=options.verbose):
        yield progress


def _whole(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}; it is {number}")
        return number

    whole.__name__ = "whole number"
    return whole


def _device(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _moves_a_pass(text: str) -> int | str:
    return "inf" if text == "inf" else _whole(1)(text)


_moves_a_pass.__name__ = "number of moves"
