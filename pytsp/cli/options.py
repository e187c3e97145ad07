"""The options of `pytsp solve` and `pytsp compare`, and what several commands share of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pytsp.backends.kinds import BACKENDS
from pytsp.cli import arguments
from pytsp.cli.help import Commands, Run, add_command
from pytsp.io.results import ENDINGS
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
    command = add_command(commands, "solve", run, "find a short tour")
    machine = command.add_argument_group("where it runs")
    more = command.add_argument_group("limits and output")
    paths = command.add_argument_group("paths, and data without a metric of its own")
    arguments.add_instance(command)
    arguments.add_limits(command, more)
    add_output(command, more)
    words = "seed of all random choices (default: 0), or random"
    command.add_argument("--seed", type=arguments.whole(0, "random"), default=0, metavar="S", help=words)
    names = ", ".join(SOLVERS)
    command.add_argument("--solver", choices=SOLVERS, default="auto", metavar="NAME", help=names)
    add_backend(command, machine, "auto", "default: the fastest here")
    add_workers(machine)
    command.add_argument("--bound", action="store_true", help="also compute a lower bound on the optimal length")
    command.add_argument("--checkpoint", metavar="FILE", help="save the state here, for 'pytsp resume'")
    arguments.add_interval(more)
    more.add_argument("--initial-tour", metavar="FILE", help="start from this tour (eax: add it to the climbers)")
    more.add_argument("--keep", action="store_true", help="only insert the cities missing in the initial tour")
    arguments.add_path(paths, "find an open path, which does not return", "first city")
    arguments.add_reading(paths)
    general = {action.dest for action in command._actions} - {"order", "verbose", "checkpoint_interval"}
    add_solver_options(command)
    command.shorten_help({*general, *COMMON})


def add_solver_options(command: argparse.ArgumentParser) -> None:
    """Add the options of several solvers, those of each solver, and at the end those that reproduce papers."""
    options = {name: specs for name, specs in fields().items() if name not in PAPERS}
    shared = command.add_argument_group("several solvers")
    for name, specs in options.items():
        if len(specs) > 1:
            _add_option(shared, name, specs, is_shared=True)
    for solver in (*(name for name in OPTIONS if name not in _LATE), *_LATE):
        group = command.add_argument_group(f"{OPTIONS[solver].title} ({solver})")
        for name, specs in options.items():
            if [*specs] == [solver]:
                _add_option(group, name, specs)
    papers = command.add_argument_group("to reproduce papers")
    for name in PAPERS:
        _add_option(papers, name, fields()[name], is_shared=True)


def given_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the solver options given on the command line."""
    return {name: getattr(options, name) for name in fields() if name in options}


def _add_option(
    group: argparse._ActionsContainer, name: str, specs: Mapping[str, Field], *, is_shared: bool = False
) -> None:
    """Add one option of some solvers, which is there only if it is given."""
    flag, spec = f"--{name.replace('_', '-')}", next(iter(specs.values()))
    concerned = f" ({', '.join(specs)})" if is_shared else ""
    choices = tuple(dict.fromkeys(choice for each in specs.values() for choice in each.choices))
    how: dict[str, Any] = {"action": "store_true"}
    if choices:
        how = {"choices": choices, "type": type(choices[0]), "metavar": spec.metavar or None}
    elif spec.least is not None:
        how = {"type": arguments.whole(spec.least, *spec.words), "metavar": spec.metavar}
    elif spec.read is not None:
        how = {"type": spec.read, "metavar": spec.metavar}
    elif spec.default is None:
        how = {"action": argparse.BooleanOptionalAction}
    group.add_argument(flag, default=argparse.SUPPRESS, help=spec.help + concerned, **how)


def add_compare(commands: Commands, run: Run) -> None:
    command = add_command(commands, "compare", run, "run several backends on one instance")
    arguments.add_instance(command)
    arguments.add_reading(command)
    words = "separated by commas (default: all usable ones)"
    command.add_argument("--backends", type=arguments.words, metavar="B,…", help=words)
    command.add_argument("--solver", choices=tuple(OPTIONS), default="restarts", help="default: restarts")
    words = "seed of all random choices (default: 0)"
    command.add_argument("--seed", type=arguments.whole(0), default=0, metavar="S", help=words)
    for name in ("climbers", "iterations", "k"):
        _add_option(command, name, fields()[name], is_shared=True)
    words = "runs of each combination (default: 1)"
    command.add_argument("--repeats", type=arguments.whole(1), default=1, metavar="N", help=words)
    words = "neighbourhoods of restarts that each backend runs"
    command.add_argument("--neighbourhoods", type=arguments.words, default=(), metavar="N,…", help=words)
    words = "mappings of climbers on each GPU"
    command.add_argument("--mappings", type=arguments.words, default=(), metavar="M,…", help=words)
    command.add_argument("--threads", type=_counts, default=(), metavar="T,…", help="numbers of threads of multicore")
    command.add_argument("--devices", type=_devices, default=(), metavar="D,…", help="GPUs, by number or name")
    command.add_argument("--bound", action="store_true", help="also compute a lower bound on the optimal length")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def add_backend(
    command: argparse.ArgumentParser, more: argparse._ActionsContainer, default: str | None, said: str
) -> None:
    """Add the backend, and to `more` its threads and its device."""
    words = f"auto, {', '.join(BACKENDS)} ({said})"
    command.add_argument("--backend", choices=("auto", *BACKENDS), default=default, metavar="NAME", help=words)
    words = "threads of multicore (default: all cores)"
    more.add_argument("--threads", type=arguments.whole(1), metavar="T", help=words)
    more.add_argument("--device", type=_device, metavar="D", help="the GPU: its number, or part of its name")


def placement_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return where kernels are to run."""
    return {name: getattr(options, name) for name in ("backend", "threads", "device")}


def add_workers(command: argparse._ActionsContainer) -> None:
    group = command.add_mutually_exclusive_group()
    words = "share the solve among N processes here"
    group.add_argument("--workers", type=arguments.whole(1), metavar="N", help=words)
    group.add_argument("--devices", type=_devices, metavar="D,…", help="share it among these GPUs, or all")
    group.add_argument("--scheduler", metavar="ADDRESS", help="share it on a Dask cluster: tcp://host:8786")


@contextmanager
def work_of(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Return who is to run a solve, as `pytsp.solve` takes it."""
    if options.workers is None and options.devices is None and options.scheduler is None:
        yield {}
    elif options.scheduler is None:
        yield {"executor": options.workers, "devices": "all" if options.devices == ["all"] else options.devices}
    else:
        from pytsp.distributed.dask import connect  # noqa: PLC0415

        with connect(options.scheduler) as client:
            yield {"executor": client}


def add_output(command: argparse.ArgumentParser, more: argparse._ActionsContainer) -> None:
    """Add the output of a solve, and to `more` the less common part of it."""
    words = f"write the tour to a {', '.join(ENDINGS)}"
    command.add_argument("-o", "--output", type=arguments.output_file, metavar="FILE", help=words)
    printed = command.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print one JSON object")
    printed.add_argument("--order", action="store_true", help="also print the cities in the order of the visit")
    command.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    more.add_argument("-v", "--verbose", action="store_true", help="log on standard error")


def _devices(text: str) -> list[int | str]:
    return list(map(_device, arguments.words(text)))


def _counts(text: str) -> list[int]:
    if not all(word.isdecimal() and int(word) for word in arguments.words(text)):
        raise argparse.ArgumentTypeError(f"must be whole numbers of at least 1, commas between them; it is {text!r}")
    return list(map(int, arguments.words(text)))


def _device(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
