"""Instances of the command line: reading and generating them, and the options of `solve` for other data.

What they need is imported where it is used, as in the command line itself.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytsp.cli.arguments import whole, words
from pytsp.cli.help import Commands, add_command
from pytsp.io.results import ENDINGS, ending_of

if TYPE_CHECKING:
    from pytsp.problem.instance import Instance

_COLUMNS = "columns of coordinates, or table of a road server"
# Options of one kind of instance only.
_CONCERNED = {"clusters": "clustered", "share": "grid"}


def add_generate(commands: Commands) -> None:
    """Add the command `generate`."""
    command = add_command(commands, "generate", _generate, "make an instance")
    command.add_argument(
        "kind",
        choices=("uniform", "clustered", "grid"),
        help="uniform and clustered as in the DIMACS challenge; grid: places of a square grid",
    )
    command.add_argument("--n", type=whole(1), required=True, metavar="N", help="number of cities")
    command.add_argument("--seed", type=whole(0), required=True, metavar="S", help="seed of the random cities")
    command.add_argument(
        "--clusters", type=whole(1), metavar="C", help="clustered: number of clusters (default: N / 100)"
    )
    command.add_argument(
        "--share", type=float, metavar="P", help="grid: share of the places that are taken (default: 0.5)"
    )
    command.add_argument("-o", "--output", default="-", metavar="FILE", help="default: standard output")


def add_path(group: Any, said: str, start: str = "first city of the path") -> None:
    """Add the options of open paths; `said` is the help of `--open`."""
    group.add_argument("--open", action="store_true", help=said)
    group.add_argument("--start-city", metavar="CITY", help=f"{start}: a label, or a number from 0")
    group.add_argument("--end-city", metavar="CITY", help="last city of the path: a label, or a number from 0")


def city_of(instance: Instance, name: str, text: str | None) -> int | None:
    """Return the number of the city that an option names: a label, or else a number."""
    from pytsp.problem.instance import city_number  # noqa: PLC0415

    is_number = text is not None and text.isdecimal() and text not in (instance.labels or ())
    return city_number(instance, name, int(text) if is_number else text)  # type: ignore[arg-type]


def path_of(instance: Instance, options: argparse.Namespace) -> dict[str, Any]:
    """Return whether a path is asked for, and its ends."""
    ends = {name: city_of(instance, name, getattr(options, name)) for name in ("start_city", "end_city")}
    return {"open": options.open, **ends}


def add_instance(command: Any) -> None:
    """Add the instance of a command."""
    said = "TSPLIB, CSV, JSON or .npy file, name, or - (stdin)"
    command.add_argument("instance", metavar="FILE|NAME", help=said)


def add_reading(group: Any) -> None:
    """Add the options for files that do not name their metric."""
    group.add_argument("--metric", metavar="M", help="default: euclidean, or haversine on the globe")
    group.add_argument("--columns", type=words, metavar="X,Y", help=_COLUMNS)
    group.add_argument("--asymmetric", action="store_true", help="accept distances that are not symmetric")


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return the given options for reading the instance."""
    said = {name: getattr(options, name, None) for name in ("metric", "columns", "asymmetric")}
    return {name: value for name, value in said.items() if value}


def output_file(path: str) -> str:
    """Return a path that results can be written to, as its ending says."""
    if not path:
        raise argparse.ArgumentTypeError("must name a file; it is ''")
    try:
        ending_of(path)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


OUTPUT_HELP = f"write the tour to a {', '.join(ENDINGS)}"


def read_instance(options: argparse.Namespace) -> Instance:
    """Read the instance that a command is of. An open path has no optimum that is known."""
    from pytsp.datasets.reading import read  # noqa: PLC0415

    instance = read(options.instance, **reading(options))
    return replace(instance, optimum=None) if getattr(options, "open", False) else instance


def _generate(options: argparse.Namespace) -> None:
    from pytsp import generate  # noqa: PLC0415
    from pytsp.io.tsplib.writer import write  # noqa: PLC0415

    given = {name: getattr(options, name) for name in _CONCERNED if getattr(options, name) is not None}
    for name in given:
        if _CONCERNED[name] != options.kind:
            raise ValueError(f"--{name} has no effect with {options.kind} instances; it is for {_CONCERNED[name]} ones")
    write(options.output, getattr(generate, options.kind)(options.n, options.seed, **given))
