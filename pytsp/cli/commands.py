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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import pytsp
from pytsp.backends.registry import open_backend
from pytsp.cli import arguments, bound, pictures, process, segments, tables
from pytsp.cli import help as _help
from pytsp.cli import options as _options
from pytsp.distribution import VERSION
from pytsp.exceptions import PytspError
from pytsp.io.results import text_of
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import OPTIONS
from pytsp.utils.text import json_number, one_line

# Bytes of a file, compressed or not, above which it most likely holds one huge tour for the host of a GPU; the same
# with a number of iterations.
_LARGE_FILE, _LARGE_FILE_OF_ITERATIONS = 40_000_000, 400_000
# Options that `solve` takes as they are.
_PASSED_ON = ("solver", "bound", "keep", "checkpoint", "checkpoint_interval")
# Options of one kind of generated instance only.
_CONCERNED = {"clusters": "clustered", "share": "grid"}
# The name of a thread that opens a backend.
_OPENING = "pytsp opening"


def main(words: Sequence[str] | None = None) -> int:
    """Run the command of the words after `pytsp`, by default those of the process, and return its exit code.

    That is 0, or 1 for a failure, told in one line on standard error. Wrong usage exits with 2. Where Ctrl-C, SIGTERM
    or SIGHUP ends the command before there is a tour, it is 130, 143 or 129.
    """
    is_process = words is None
    if is_process:
        process.secure()
        # Nothing here multiplies matrices, and threads for that would be half of what NumPy's import takes.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    parser = _parser()
    _help.complete(parser)
    options = parser.parse_args(words)
    options.began = time.perf_counter() - (arguments.seconds_since_start() if is_process else 0.0)
    code = 1
    try:
        with process.end_on_signals(for_good=is_process), process.tell_warnings():
            options.run(options)
            sys.stdout.flush()
        return 0
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        process.complain(f"{place}{error.strerror or error}")
    except (PytspError, ValueError) as error:
        process.complain(str(error))
    except MemoryError as error:
        process.complain(f"the memory does not suffice: {str(error) or 'Python does not say for what'}")
    except KeyboardInterrupt as error:
        said, code = process.describe_interruption(error)
        process.complain(f"{said}{' before there was a tour' if options.run in (_solve, _resume) else ''}")
    if is_process and any(thread.name == _OPENING for thread in threading.enumerate()):
        # A driver that is still at work may crash while an orderly end takes down its libraries; none is needed here.
        os._exit(code)
    return code


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _help.Parser(
        prog="pytsp",
        description="Solve travelling-salesman problems on CPUs and GPUs.",
        epilog=_help.examples("pytsp"),
    )
    words = "print the version and exit"
    parser.add_argument("--version", action=_help.Print, const=lambda _: f"pytsp {VERSION}\n", nargs=0, help=words)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    _options.add_solve(commands, _solve)
    command = _help.add_command(commands, "resume", _resume, "resume a solve from its checkpoint")
    command.add_argument("checkpoint", metavar="FILE", help="the file of 'pytsp solve --checkpoint'")
    _options.add_backend(command, command, None, "default: that of the solve")
    _options.add_workers(command.add_argument_group("other processes"))
    arguments.add_limits(command, command)
    arguments.add_interval(command)
    _options.add_output(command, command)

    command = _help.add_command(commands, "info", _info, "describe an instance")
    arguments.add_instance(command)
    arguments.add_reading(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")

    tables.add_backends(commands)
    _options.add_compare(commands, tables.run_compare)
    pictures.add_commands(commands)
    segments.add_segments(commands)
    bound.add_commands(commands)
    tables.add_datasets(commands)
    _add_generate(commands)
    _help.add_completion(commands)
    return parser


def _likely_part(options: argparse.Namespace) -> str:
    """Return the part of the kernels that a solve will call, as far as that is known before the instance is read.

    Another costs time only: the solve then opens its own part as well.
    """
    given = _options.given_options(options)
    solver = options.solver
    if solver == "auto":
        is_counted = "iterations" in given
        is_restarted = {"k", "mapping", "neighbourhood", "blocks", "lanes", "rows"} & given.keys()
        solver = "restarts" if is_restarted else "ils" if is_counted else "eax"
        with suppress(OSError):
            large = _LARGE_FILE_OF_ITERATIONS if is_counted else _LARGE_FILE
            if not is_restarted and os.stat(options.instance).st_size > large:
                solver = "large"
    with suppress(TypeError, ValueError):
        return OPTIONS[solver](**given).kernels_part
    return OPTIONS[solver].part


def _begin_to_open(part: str, *, backend: str, threads: int | None, device: int | str | None) -> None:
    """Begin to open a part of a backend in a thread, for a solve on it, which then waits for it or finds it open.

    A failure is told by the solve, which meets it again if it comes so far. The process does not wait for the thread.
    """

    def opened() -> None:
        with suppress(Exception):
            open_backend(backend, threads=threads, device=device, part=part)

    # NumPy's import sets this variable and takes it away again, unless it is there. A driver that comes up meanwhile
    # looks for variables of its own, and must not find the environment moved: before 2.41 the GNU C library lets that
    # crash.
    os.environ.setdefault("OPENBLAS_MAIN_FREE", "1")
    threading.Thread(target=opened, name=_OPENING, daemon=True).start()


def _solve(options: argparse.Namespace) -> None:
    with process.hold_signals():
        if options.workers is options.devices is options.scheduler is None:
            _begin_to_open(_likely_part(options), **_options.placement_of(options))
        solve, read_tour = pytsp.solve, pytsp.read_tour

    instance = arguments.read_instance(options)
    process.try_targets(options, instance)
    initial_tour = None if options.initial_tour is None else read_tour(options.initial_tour)
    with _options.work_of(options) as work, _followed(instance, options) as progress:
        result = solve(
            instance,
            seed=None if options.seed == "random" else options.seed,
            initial_tour=initial_tour,
            progress=progress,
            **{name: getattr(options, name) for name in _PASSED_ON},
            **arguments.path_of(instance, options),
            **_options.placement_of(options),
            limits=arguments.limits_of(options),
            **_options.given_options(options),
            **work,
        )
    _tell(result, options)


def _recorded(result: pytsp.Result, options: argparse.Namespace) -> dict[str, object]:
    """Return what is printed of a result; neither a file nor a device that is gone by now costs anybody the result."""
    from pytsp.run.provenance import made_now  # noqa: PLC0415

    file = device = None
    with suppress(PytspError):
        # A checkpoint holds its instance.
        file = None if "instance" not in options or options.instance == "-" else pytsp.datasets.find(options.instance)
    assert isinstance(result.options, Options)
    part = result.options.kernels_part
    with suppress(PytspError):
        device = open_backend(options.backend, threads=options.threads, device=options.device, part=part).device_name
    reading = {name: value for name, value in arguments.reading(options).items() if name != "metric"}
    place = {"file": None if file is None else str(file.resolve()), **reading, "device": device}
    return {**result.with_arrays(), **place, **made_now()}


def _resume(options: argparse.Namespace) -> None:
    with process.hold_signals():
        from pytsp.api.resume import resume_stored  # noqa: PLC0415
        from pytsp.checkpoint.checkpoint import Stored  # noqa: PLC0415

    stored = Stored(options.checkpoint)
    process.try_targets(options, stored.instance)
    placement = stored.placement(**_options.placement_of(options))
    options.backend, options.threads, options.device = placement.values()
    limits = arguments.limits_of(options)
    with _options.work_of(options) as work, _followed(stored.instance, options) as progress:
        result = resume_stored(stored, placement, limits, options.checkpoint_interval, **work, progress=progress)
    _tell(result, options)


def _tell(result: pytsp.Result, options: argparse.Namespace) -> None:
    """Tell what a solve has found: in one JSON object, as the tour, or in a few lines."""
    from pytsp.utils.json_text import json_object  # noqa: PLC0415

    def text() -> str:
        if options.output == process.STDOUT:
            return text_of(result, ".tour").rstrip("\n")
        if options.json:
            return json_object(_recorded(result, options))
        return "\n".join([str(result), *(map(one_line, result.order) if options.order else ())])

    process.tell_result(result, options, text)


def _info(options: argparse.Namespace) -> None:
    instance = arguments.read_instance(options)
    length = instance.tour_length(range(instance.n))
    names = ("n", "metric", "asymmetric", "comment", "optimum")
    facts = {"instance": instance.name, **{name: getattr(instance, name) for name in names}, "canonical_length": length}
    if options.json:
        print(json.dumps(facts | {"canonical_length": json_number(length)}))
    else:
        words = {None: "not known", True: "yes", False: "no"}
        shown = {name.replace("_", " "): fact for name, fact in facts.items()}
        shown |= {name: words[fact] for name, fact in shown.items() if fact is None or isinstance(fact, bool)}
        print("\n".join(f"{name:17} {fact}" for name, fact in shown.items()))


def _add_generate(commands: _help.Commands) -> None:
    command = _help.add_command(commands, "generate", _generate, "make an instance")
    words = "uniform and clustered as in the DIMACS challenge; grid: places of a square grid"
    command.add_argument("kind", choices=("uniform", "clustered", "grid"), help=words)
    command.add_argument("--n", type=arguments.whole(1), required=True, metavar="N", help="number of cities")
    words = "seed of the random cities"
    command.add_argument("--seed", type=arguments.whole(0), required=True, metavar="S", help=words)
    words = "clustered: number of clusters (default: N / 100)"
    command.add_argument("--clusters", type=arguments.whole(1), metavar="C", help=words)
    words = "grid: share of the places that are taken (default: 0.5)"
    command.add_argument("--share", type=float, metavar="P", help=words)
    command.add_argument("-o", "--output", default="-", metavar="FILE", help="default: standard output")


def _generate(options: argparse.Namespace) -> None:
    given = {name: getattr(options, name) for name in _CONCERNED if getattr(options, name) is not None}
    for name in given:
        if _CONCERNED[name] != options.kind:
            raise ValueError(f"--{name} has no effect with {options.kind} instances; it is for {_CONCERNED[name]} ones")
    pytsp.write(options.output, getattr(pytsp.generate, options.kind)(options.n, options.seed, **given))


@contextmanager
def _followed(
    instance: pytsp.Instance, options: argparse.Namespace
) -> Iterator[Callable[[pytsp.Progress], None] | None]:
    """Have a solve show its progress and its log, as the options ask."""
    from pytsp.cli.progress import log_to_stderr, show_progress  # noqa: PLC0415

    with show_progress(instance, quiet=options.quiet) as progress, log_to_stderr(verbose=options.verbose):
        yield progress
