"""The options of `pytsp solve` and `pytsp compare`, and what several commands share of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pytsp.backends.kinds import BACKENDS
from pytsp.cli import data
from pytsp.cli.arguments import whole, words
from pytsp.cli.help import Commands, Run, add_command
from pytsp.cli.limits import add_checkpoint, add_limits
from pytsp.solvers.options.fields import Field
from pytsp.solvers.registry import OPTIONS, SOLVERS, fields

# Options of the solvers that `pytsp solve --help` shows, and those that reproduce papers; --help-all shows all.
COMMON = ("climbers", "iterations", "moves", "merge", "population", "islands", "piece", "stripes")
PAPERS = (
    *("mapping", "neighbourhood", "shared_matrix", "blocks", "lanes", "rows", "pivot", "draws", "draw_blocks"),
    "acceptance",
)
# Solvers that serve comparison come behind the others.
_LATE = ("restarts", "two-opt", "annealing", "ants")


def add_solve(commands: Commands, run: Run) -> None:
    """Add the command `solve`."""
    command = add_command(commands, "solve", run, "find a short tour")
    machine = command.add_argument_group("where it runs")
    more = command.add_argument_group("limits and output")
    paths = command.add_argument_group("paths, and data without a metric of its own")
    data.add_instance(command)
    add_limits(command, more)
    add_output(command, more)
    command.add_argument(
        "--seed",
        type=whole(0, "random"),
        default=0,
        metavar="S",
        help="seed of all random choices (default: 0), or random",
    )
    names = ", ".join(SOLVERS)
    command.add_argument("--solver", choices=SOLVERS, default="auto", metavar="NAME", help=names)
    add_backend(command, "auto", "default: the fastest here", machine)
    add_workers(machine)
    command.add_argument("--bound", action="store_true", help="also compute a lower bound on the optimal length")
    add_checkpoint(command, more)
    more.add_argument("--initial-tour", metavar="FILE", help="start from this tour (eax: add it to the climbers)")
    more.add_argument("--keep", action="store_true", help="only insert the cities missing in the initial tour")
    data.add_path(paths, "find an open path, which does not return", "first city")
    data.add_reading(paths)
    general = {action.dest for action in command._actions} - {"order", "verbose", "checkpoint_interval"}
    add_solver_options(command)
    command.shorten_help({*general, *COMMON})


def add_solver_options(command: argparse.ArgumentParser) -> None:
    """Add the options of several solvers, those of each solver, and at the end those that reproduce papers."""
    options = {name: specs for name, specs in fields().items() if name not in PAPERS}
    shared = command.add_argument_group("several solvers")
    for name, specs in options.items():
        if len(specs) > 1:
            _add_option(shared, name, list(specs.values()), f" ({', '.join(specs)})")
    for solver in (*(name for name in OPTIONS if name not in _LATE), *_LATE):
        group = command.add_argument_group(f"{OPTIONS[solver].title} ({solver})")
        for name, specs in options.items():
            if [*specs] == [solver]:
                _add_option(group, name, [*specs.values()])
    papers = command.add_argument_group("to reproduce papers")
    for name in PAPERS:
        specs = fields()[name]
        _add_option(papers, name, list(specs.values()), f" ({', '.join(specs)})")


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the solver options given on the command line."""
    return {name: getattr(arguments, name) for name in fields() if name in arguments}


def _add_option(group: argparse._ActionsContainer, name: str, specs: Sequence[Field], concerned: str = "") -> None:
    """Add one option, which is there only if it is given."""
    flag, spec = f"--{name.replace('_', '-')}", specs[0]
    choices = tuple(dict.fromkeys(choice for each in specs for choice in each.choices))
    how: dict[str, Any] = {"action": "store_true"}
    if choices:
        how = {"choices": choices, "type": type(choices[0]), "metavar": spec.metavar or None}
    elif spec.least is not None:
        how = {"type": whole(spec.least, *spec.words), "metavar": spec.metavar}
    elif spec.read is not None:
        how = {"type": spec.read, "metavar": spec.metavar}
    elif spec.default is None:
        how = {"action": argparse.BooleanOptionalAction}
    group.add_argument(flag, default=argparse.SUPPRESS, help=spec.help + concerned, **how)


def add_compare(commands: Commands, run: Run) -> None:
    """Add the command `compare`."""
    command = add_command(commands, "compare", run, "run several backends on one instance")
    data.add_instance(command)
    data.add_reading(command)
    said = "separated by commas (default: all usable ones)"
    command.add_argument("--backends", type=words, metavar="B,…", help=said)
    command.add_argument("--solver", choices=tuple(OPTIONS), default="restarts", help="default: restarts")
    command.add_argument(
        "--seed", type=whole(0), default=0, metavar="S", help="seed of all random choices (default: 0)"
    )
    for name in ("climbers", "iterations", "k"):
        specs = fields()[name]
        _add_option(command, name, list(specs.values()), f" ({', '.join(specs)})")
    command.add_argument(
        "--repeats", type=whole(1), default=1, metavar="N", help="runs of each combination (default: 1)"
    )
    said = "neighbourhoods of restarts that each backend runs"
    command.add_argument("--neighbourhoods", type=words, default=(), metavar="N,…", help=said)
    said = "mappings of climbers on each GPU"
    command.add_argument("--mappings", type=words, default=(), metavar="M,…", help=said)
    command.add_argument("--threads", type=_counts, default=(), metavar="T,…", help="numbers of threads of multicore")
    command.add_argument("--devices", type=_devices, default=(), metavar="D,…", help="GPUs, by number or name")
    command.add_argument("--bound", action="store_true", help="also compute a lower bound on the optimal length")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def add_backend(
    command: argparse.ArgumentParser,
    default: str | None,
    said: str,
    more: argparse._ActionsContainer | None = None,
) -> None:
    """Add the backend, and to `more` its threads and its device."""
    more = command if more is None else more
    said = f"auto, {', '.join(BACKENDS)} ({said})"
    command.add_argument("--backend", choices=("auto", *BACKENDS), default=default, metavar="NAME", help=said)
    more.add_argument("--threads", type=whole(1), metavar="T", help="threads of multicore (default: all cores)")
    more.add_argument("--device", type=_device, metavar="D", help="the GPU: its number, or part of its name")


def placement_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return where kernels are to run."""
    return {name: getattr(arguments, name) for name in ("backend", "threads", "device")}


def add_workers(command: argparse._ActionsContainer) -> None:
    """Add the workers that share a solve."""
    group = command.add_mutually_exclusive_group()
    group.add_argument("--workers", type=whole(1), metavar="N", help="share the solve among N processes here")
    group.add_argument("--devices", type=_devices, metavar="D,…", help="share it among these GPUs, or all")
    group.add_argument("--scheduler", metavar="ADDRESS", help="share it on a Dask cluster: tcp://host:8786")


@contextmanager
def work_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Return who is to run a solve, as `pytsp.solve` takes it."""
    if arguments.workers is None and arguments.devices is None and arguments.scheduler is None:
        yield {}
    elif arguments.scheduler is None:
        yield {"executor": arguments.workers, "devices": "all" if arguments.devices == ["all"] else arguments.devices}
    else:
        from pytsp.distributed.dask import connect  # noqa: PLC0415

        with connect(arguments.scheduler) as client:
            yield {"executor": client}


def add_output(command: argparse.ArgumentParser, more: argparse._ActionsContainer | None = None) -> None:
    """Add the output of a solve, and to `more` the less common part of it."""
    more = command if more is None else more
    command.add_argument("-o", "--output", type=data.output_file, metavar="FILE", help=data.OUTPUT_HELP)
    printed = command.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print one JSON object")
    printed.add_argument("--order", action="store_true", help="also print the cities in the order of the visit")
    command.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    more.add_argument("-v", "--verbose", action="store_true", help="log on standard error")


def _devices(text: str) -> list[int | str]:
    return list(map(_device, words(text)))


def _counts(text: str) -> list[int]:
    if not all(word.isdecimal() and int(word) for word in words(text)):
        raise argparse.ArgumentTypeError(f"must be whole numbers of at least 1, commas between them; it is {text!r}")
    return list(map(int, words(text)))


def _device(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
