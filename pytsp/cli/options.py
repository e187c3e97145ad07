"""The options of `pytsp solve` and `pytsp compare`, and what several commands share of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from pytsp.backends.kinds import BACKENDS
from pytsp.cli import data
from pytsp.cli.arguments import whole
from pytsp.cli.limits import add_checkpoint, add_limits
from pytsp.solvers.options.fields import Field
from pytsp.solvers.registry import OPTIONS, SOLVERS, fields

Run: TypeAlias = Callable[[argparse.Namespace], None]
"""What runs a command."""


def add_solve(commands: argparse._SubParsersAction[argparse.ArgumentParser], run: Run) -> None:
    """Add the command `solve`."""
    command = commands.add_parser("solve", help="find a short tour", description="Find a short tour.")
    command.set_defaults(run=run)
    data.add_instance(command)
    command.add_argument("--solver", choices=SOLVERS, default="auto", help="default: by size and options")
    command.add_argument(
        "--seed", type=whole(0, "random"), default=0, metavar="S", help="of what is random (default: 0), or random"
    )
    command.add_argument("--initial-tour", metavar="FILE", help="joins the climbers (eax), or is the start")
    command.add_argument(
        "--keep", action="store_true", help="search nothing: only insert the cities that the initial tour has not"
    )
    add_backend(command, "auto", "default: the fastest here")
    add_workers(command)
    add_limits(command)
    command.add_argument(
        "--bound", action="store_true", help="find a length, too, that no tour is below, in a fifth of the time limit"
    )
    add_checkpoint(command)
    add_solver_options(command)
    data.add_data_options(command.add_argument_group("other data than closed tours of TSPLIB files"))
    add_output(command)


def add_solver_options(command: argparse.ArgumentParser) -> None:
    """Add what each solver may be asked for, in a group of its own; what several may be asked for comes first."""
    options = fields()
    shared = command.add_argument_group("several solvers")
    for name, specs in options.items():
        if len(specs) > 1:
            _add_option(shared, name, list(specs.values()), f" ({', '.join(specs)})")
    for solver, kind in OPTIONS.items():
        group = command.add_argument_group(f"{kind.title} ({solver})")
        for name, spec in kind.fields().items():
            if len(options[name]) == 1:
                _add_option(group, name, [spec])


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what a solver is asked for on the command line."""
    return {name: getattr(arguments, name) for name in fields() if name in arguments}


def _add_option(group: argparse._ActionsContainer, name: str, specs: Sequence[Field], concerned: str = "") -> None:
    """Add one option, which is there only if it is given."""
    flag, spec = f"--{name.replace('_', '-')}", specs[0]
    choices = tuple(dict.fromkeys(choice for each in specs for choice in each.choices))
    how: dict[str, Any] = {"action": "store_true"}
    if choices:
        how = {"choices": choices, "type": type(choices[0])}
    elif spec.least is not None:
        how = {"type": whole(spec.least, *spec.words), "metavar": spec.metavar}
    elif spec.read is not None:
        how = {"type": spec.read, "metavar": spec.metavar}
    elif spec.default is None:
        how = {"action": argparse.BooleanOptionalAction}
    group.add_argument(flag, default=argparse.SUPPRESS, help=spec.help + concerned, **how)


def add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser], run: Run) -> None:
    """Add the command `compare`."""
    command = commands.add_parser(
        "compare", help="run several backends on one instance", description="Run several backends on one instance."
    )
    command.set_defaults(run=run)
    data.add_instance(command)
    data.add_reading(command)
    command.add_argument("--backends", metavar="B,…", help="with commas between them (default: all usable ones)")
    command.add_argument("--solver", choices=tuple(OPTIONS), default="restarts", help="default: restarts")
    command.add_argument("--seed", type=whole(0), default=0, metavar="S", help="seed of what is random (default: 0)")
    for name in ("climbers", "iterations", "k"):
        specs = fields()[name]
        _add_option(command, name, list(specs.values()), f" ({', '.join(specs)})")
    command.add_argument("--repeats", type=whole(1), default=1, metavar="N", help="runs of each way (default: 1)")
    command.add_argument("--neighbourhoods", metavar="N,…", help="those of restarts that each backend runs")
    command.add_argument("--mappings", metavar="M,…", help="how each GPU lays climbers out")
    command.add_argument("--threads", type=_counts, default=(), metavar="T,…", help="how many multicore has")
    command.add_argument("--devices", type=_listed_devices, default=(), metavar="D,…", help="GPUs, by number or name")
    command.add_argument("--bound", action="store_true", help="say how far above the shortest the tours are at most")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def add_backend(command: argparse.ArgumentParser, default: str | None, words: str) -> None:
    """Add where kernels run."""
    command.add_argument("--backend", choices=("auto", *BACKENDS), default=default, help=words)
    command.add_argument("--threads", type=whole(1), metavar="T", help="threads of multicore (default: all cores)")
    command.add_argument("--device", type=_device, metavar="D", help="which GPU: its number or a part of its name")


def add_workers(command: argparse.ArgumentParser) -> None:
    """Add who runs a solve beside this process."""
    group = command.add_argument_group("other processes").add_mutually_exclusive_group()
    group.add_argument("--workers", type=whole(1), metavar="N", help="so many processes of this machine")
    group.add_argument(
        "--devices", type=_devices, metavar="D,…", help="these GPUs side by side, by number or name; or all"
    )
    group.add_argument("--scheduler", metavar="ADDRESS", help="the workers of a Dask cluster, as tcp://host:8786")


@contextmanager
def work_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Return who is to run a solve, as `pytsp.solve` takes it."""
    if arguments.workers is None and arguments.devices is None and arguments.scheduler is None:
        yield {}
    elif arguments.scheduler is None:
        yield {"executor": arguments.workers, "devices": arguments.devices}
    else:
        from pytsp.distributed.dask import connect  # noqa: PLC0415

        with connect(arguments.scheduler) as client:
            yield {"executor": client}


def add_output(command: argparse.ArgumentParser) -> None:
    """Add what is told of a solve."""
    command.add_argument("-o", "--output", type=data.output_file, metavar="FILE", help=data.OUTPUT_HELP)
    told = command.add_mutually_exclusive_group()
    told.add_argument("--json", action="store_true", help="print one JSON object")
    told.add_argument(
        "--order", action="store_true", help="print the cities in the order of the visit, too, one a line"
    )
    command.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    command.add_argument("-v", "--verbose", action="store_true", help="log on standard error what is done")


def _devices(text: str) -> str | list[int | str]:
    return text if text == "all" else _listed_devices(text)


def _listed_devices(text: str) -> list[int | str]:
    return [_device(word.strip()) for word in text.split(",")]


def _counts(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) for word in words):
        raise argparse.ArgumentTypeError(f"must be whole numbers of at least 1, commas between them; it is {text!r}")
    return [int(word) for word in words]


def _device(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
