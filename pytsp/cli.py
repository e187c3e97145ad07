"""The command line: `pytsp solve`, `info`, `backends`, `compare` and `generate`.

What is not needed to understand the arguments is imported where it is used: a device opens in a thread, while NumPy
and what solves are imported and the instance is read.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pytsp._names import KICKS, MOVES, PART_OF, PIVOTS, SOLVERS, STARTS
from pytsp.backends import BACKENDS, open_backend, status
from pytsp.exceptions import PytspError

if TYPE_CHECKING:
    from pytsp.compare import Comparison
    from pytsp.history import Progress as Snapshot
    from pytsp.instance import Instance

EXAMPLES = """examples:
  pytsp solve uniform100
  pytsp solve kroA100.tsp.gz --seed 0 --output kroA100.tour
  pytsp solve big.tsp --backend cuda --time-limit 10 --json
  pytsp solve kroA100.tsp.gz --solver restarts --climbers 100000
  pytsp info pr2392.tsp
  pytsp backends
  pytsp compare kroA100.tsp --backends c,multicore,cuda
  pytsp generate uniform --n 10000 --seed 10000 --output E10k.0.tsp
"""

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
        The exit code: 0, or 1 for a failure, told in one line on standard error. Wrong usage exits with 2.
    """
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        return 0
    except (PytspError, OSError, ValueError) as error:
        print(f"pytsp: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("pytsp: interrupted before there was a tour", file=sys.stderr)
    if arguments is None and any(thread.name == _OPENING for thread in threading.enumerate()):
        # A driver that is still at work may crash while an orderly end takes down its libraries; none is needed here.
        sys.stdout.flush()
        os._exit(1)
    return 1


class _Version(argparse.Action):
    """Print the installed version, which is looked up only where it is asked for, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # noqa: PLC0415

        print(f"pytsp {version('pytsp')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pytsp",
        description="Solve travelling-salesman problems on CPUs and GPUs.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("solve", help="find a short tour", description="Find a short tour.")
    command.set_defaults(run=_solve)
    command.add_argument(
        "instance", metavar="FILE|NAME", help="a TSPLIB file, - for standard input, or a name in data/"
    )
    command.add_argument("--solver", choices=SOLVERS, default="auto", help="default: by size and options")
    command.add_argument("--climbers", type=_whole(1), metavar="N", help="how many climbers (default: by size)")
    command.add_argument("--seed", type=_whole(0), default=0, metavar="S", help="seed of what is random (default: 0)")
    command.add_argument("--backend", choices=("auto", *BACKENDS), default="auto", help="default: the fastest here")
    command.add_argument("--threads", type=_whole(1), metavar="T", help="threads of multicore (default: all cores)")
    command.add_argument("--device", type=_device, metavar="D", help="which GPU: its number or a part of its name")
    command.add_argument("--time-limit", type=_seconds, metavar="SEC", help="stop after so many seconds")
    command.add_argument("--target", type=float, metavar="LENGTH", help="stop at a tour that is no longer")
    _add_shared(command.add_argument_group("edge assembly crossover (eax), iterated local search (ils), one huge tour"))
    _add_ils(command.add_argument_group("iterated local search (ils); --start, --temperature, --piece: one huge tour"))
    group = command.add_argument_group("random restarts (restarts), and --k for two-opt")
    group.add_argument("--mapping", choices=("auto", "block", "thread"), default="auto", help="climbers on a GPU")
    group.add_argument("--k", type=_moves_a_pass, default=1, metavar="K", help="moves a pass: a number, or inf")
    command.add_argument("--output", metavar="FILE", help="write the tour to this file, in TSPLIB's format")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--quiet", action="store_true", help="show no progress")

    command = commands.add_parser("info", help="describe an instance", description="Describe an instance.")
    command.set_defaults(run=_info)
    command.add_argument(
        "instance", metavar="FILE|NAME", help="a TSPLIB file, - for standard input, or a name in data/"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")

    command = commands.add_parser("backends", help="list what can run here", description="List what can run here.")
    command.set_defaults(run=_backends)
    command.add_argument("--json", action="store_true", help="print one JSON object")

    command = commands.add_parser(
        "compare", help="run several backends on one instance", description="Run several backends on one instance."
    )
    command.set_defaults(run=_compare)
    command.add_argument(
        "instance", metavar="FILE|NAME", help="a TSPLIB file, - for standard input, or a name in data/"
    )
    command.add_argument("--backends", metavar="B,…", help="with commas between them (default: all usable ones)")
    command.add_argument("--solver", choices=("restarts", "ils", "eax"), default="restarts", help="default: restarts")
    command.add_argument("--climbers", type=_whole(1), metavar="N", help="how many climbers (default: by size)")
    command.add_argument("--seed", type=_whole(0), default=0, metavar="S", help="seed of what is random (default: 0)")
    command.add_argument("--iterations", type=_whole(0), metavar="N", help="by ils and eax (default: by size)")
    command.add_argument("--k", type=_moves_a_pass, default=1, metavar="K", help="moves a pass: a number, or inf")
    command.add_argument("--json", action="store_true", help="print one JSON object")

    command = commands.add_parser("generate", help="make an instance", description="Make an instance.")
    command.set_defaults(run=_generate)
    command.add_argument("kind", choices=("uniform",), help="uniform: the DIMACS challenge's uniformly random cities")
    command.add_argument("--n", type=_whole(1), required=True, metavar="N", help="the number of cities")
    command.add_argument("--seed", type=_whole(0), required=True, metavar="S", help="seed of the random cities")
    command.add_argument("--output", default="-", metavar="FILE", help="default: standard output")
    return parser


def _add_shared(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern every solver but random restarts."""
    group.add_argument("--iterations", type=_whole(0), metavar="N", help="kicks, generations, rounds or passes")
    group.add_argument("--initial-tour", metavar="FILE", help="joins the climbers (eax), or is the start")
    group.add_argument("--neighbours", type=_whole(1), metavar="K", help="length of the neighbour lists")
    group.add_argument("--moves", choices=MOVES, default="3-opt", help="the local search's moves (default: 3-opt)")
    group.add_argument("--pivot", choices=PIVOTS, default="first", help="which improving move is made (default: first)")


def _add_ils(group: argparse._ArgumentGroup) -> None:
    """Add the options that concern iterated local search; some concern one huge tour as well."""
    group.add_argument("--start", choices=STARTS, help="the first tour (default: a curve; two-opt: greedy)")
    group.add_argument("--kick", choices=KICKS, default="mixed", help="where a tour changes (default: mixed)")
    group.add_argument("--temperature", type=float, metavar="LENGTH", help="accept so much longer tours at first")
    group.add_argument("--draws", type=_whole(1), metavar="K", help="moves a step draws by --pivot random-k")
    group.add_argument("--piece", type=_whole(8), metavar="N", help="cities of a piece (large)")
    group.add_argument("--exchange", type=_whole(1), metavar="N", help="exchange good tours after so many iterations")


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


@contextmanager
def _late_control_c() -> Iterator[None]:
    """Have Ctrl-C come after a block of imports: NumPy takes an interruption of its own for a broken installation."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pressed:
        raise KeyboardInterrupt


def _solve(options: argparse.Namespace) -> None:
    _begin_to_open(options.backend, options.threads, options.device, _likely_part(options))
    with _late_control_c():
        from pytsp import tsplib  # noqa: PLC0415
        from pytsp.solve import solve  # noqa: PLC0415

    instance = _read(options.instance)
    initial_tour = None if options.initial_tour is None else tsplib.read_tour(options.initial_tour)
    with _progress(instance, quiet=options.quiet) as progress:
        result = solve(
            instance,
            solver=options.solver,
            climbers=options.climbers,
            seed=options.seed,
            backend=options.backend,
            threads=options.threads,
            device=options.device,
            mapping=options.mapping,
            k=options.k,
            iterations=options.iterations,
            time_limit=options.time_limit,
            target=options.target,
            initial_tour=initial_tour,
            start=options.start,
            neighbours=options.neighbours,
            moves=options.moves,
            pivot=options.pivot,
            draws=options.draws,
            kick=options.kick,
            temperature=options.temperature,
            exchange=options.exchange,
            piece=options.piece,
            progress=progress,
        )
    print(json.dumps(result.to_dict()) if options.json else result)
    # Last, so that a file that cannot be written costs nobody the result.
    if options.output:
        tsplib.write_tour(options.output, result.tour, name=instance.name, length=result.length)


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
        "comment": instance.comment,
        "optimum": instance.optimum,
        "canonical_length": instance.tour_length(range(instance.n)),
    }
    if options.json:
        print(json.dumps(facts))
    else:
        shown = {name.replace("_", " "): "not known" if fact is None else fact for name, fact in facts.items()}
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


def _generate(options: argparse.Namespace) -> None:
    from pytsp import generate  # noqa: PLC0415
    from pytsp._tsplib_write import write  # noqa: PLC0415

    write(options.output, generate.uniform(options.n, options.seed))


def _print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(*headers)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def _read(name: str) -> Instance:
    from pytsp import datasets, tsplib  # noqa: PLC0415

    return tsplib.read(name if name == "-" else datasets.find(name))


@contextmanager
def _progress(instance: Instance, *, quiet: bool) -> Iterator[Callable[[Snapshot], None] | None]:
    """Show a line of progress on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    console = Console(stderr=True)
    # Names may hold brackets, which are markup to rich.
    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), TextColumn("{task.fields[count]}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as display:
        task = display.add_task(instance.name, count="")

        def show(now: Snapshot) -> None:
            gap = f", gap {100 * (now.length / instance.optimum - 1):.2f} %" if instance.optimum else ""
            description = f"{instance.name}: length {now.length:.10g}{gap}"
            done, total, count = _count(now)
            display.update(task, total=total, completed=done, description=description, count=count)

        yield show


def _count(now: Snapshot) -> tuple[int, int | None, str]:
    """Say how far a solve has come: what is done, of how much if that is known, and both in words.

    Climbers are done one by one in random restarts only; by other solvers all go through the same iterations.
    """
    if now.climbers_done:
        return now.climbers_done, now.climbers, f"{now.climbers_done}/{now.climbers} climbers"
    if now.iteration == 0:
        return 0, now.iterations, f"{now.climbers} climbers"
    if now.iterations is None:
        return now.iteration, None, f"{now.iteration} iterations"
    return now.iteration, now.iterations, f"{now.iteration}/{now.iterations} iterations"


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


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"must be positive; it is {text}")
    return seconds


_moves_a_pass.__name__ = "number of moves"
_seconds.__name__ = "number of seconds"
