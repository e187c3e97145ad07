"""The commands `datasets` and `generate`, and what `solve` takes of other data: files by their endings, open paths.

What they need is imported where it is used, as in the command line itself.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytsp.io.results import ENDINGS, ending_of

if TYPE_CHECKING:
    from pytsp.problem.instance import Instance
    from pytsp.run.result import Result

_Whole = Callable[[int], Callable[[str], int]]
# How many centres, and which share of the places: each concerns one kind of instance.
_CONCERNED = {"clusters": "clustered", "share": "grid"}


def add_datasets(commands: Any, print_table: Callable[[Sequence[str], Iterable[Sequence[str]]], None]) -> None:
    """Add the command `datasets`."""
    command = commands.add_parser(
        "datasets",
        help="list or download TSPLIB's instances",
        description="List TSPLIB's symmetric instances, or download some of them into the user's cache folder.",
    )
    command.set_defaults(run=_datasets, print_table=print_table)
    command.add_argument("--fetch", nargs="+", metavar="NAME", help="download these, and print where they lie")
    command.add_argument("--url", metavar="URL", help="download from this folder instead of TSPLIB's own")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def add_generate(commands: Any, whole: _Whole) -> None:
    """Add the command `generate`."""
    command = commands.add_parser("generate", help="make an instance", description="Make an instance.")
    command.set_defaults(run=_generate)
    command.add_argument(
        "kind",
        choices=("uniform", "clustered", "grid"),
        help="uniform, clustered: those of the DIMACS challenge; grid: places of a square grid",
    )
    command.add_argument("--n", type=whole(1), required=True, metavar="N", help="the number of cities")
    command.add_argument("--seed", type=whole(0), required=True, metavar="S", help="seed of the random cities")
    command.add_argument("--clusters", type=whole(1), metavar="C", help="clustered: how many (default: N / 100)")
    command.add_argument("--share", type=float, metavar="P", help="grid: the share of places taken (default: 0.5)")
    command.add_argument("--output", default="-", metavar="FILE", help="default: standard output")


def add_ways(group: Any, whole: _Whole) -> None:
    """Add the options of `solve` for open paths, and for the metric of files that say none."""
    group.add_argument("--open", action="store_true", help="find an open path, which does not return to its first city")
    group.add_argument("--start-city", type=whole(0), metavar="CITY", help="where the path begins, counted from 0")
    group.add_argument("--end-city", type=whole(0), metavar="CITY", help="where the path ends, counted from 0")
    group.add_argument(
        "--metric", metavar="M", help="of a .csv or .geojson file (default: euclidean, or haversine on the globe)"
    )


def output_file(path: str) -> str:
    """Return a path that results can be written to, as its ending says."""
    try:
        ending_of(path)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


OUTPUT_HELP = f"write the tour to this file; the ending is one of {', '.join(ENDINGS)}"


def read_instance(name: str, metric: str | None = None, *, is_open: bool = False) -> Instance:
    """Read an instance: a file, `-` for standard input, or a name. An open path has no optimum that is known."""
    from pytsp.datasets import registry as datasets  # noqa: PLC0415
    from pytsp.io.files import read_any  # noqa: PLC0415

    instance = read_any(name if name == "-" else datasets.find(name), metric)
    return replace(instance, optimum=None) if is_open else instance


def write_output(path: str, result: Result) -> None:
    """Write a result as its file's ending says."""
    from pytsp.io.results import write_result  # noqa: PLC0415

    write_result(path, result)


def _datasets(options: argparse.Namespace) -> None:
    from pytsp.datasets import registry as datasets  # noqa: PLC0415

    if options.fetch:
        paths = {name: str(datasets.fetch(name, url=options.url)) for name in options.fetch}
        print(json.dumps(paths) if options.json else "\n".join(paths.values()))
        return
    if options.url:
        raise ValueError("--url is where --fetch downloads from; give --fetch NAME with it")
    listed = datasets.tsplib()
    if options.json:
        print(json.dumps([each.to_dict() for each in listed]))
        return
    cells = (
        (
            each.name,
            str(each.n),
            each.type or "",
            "" if each.optimum is None else str(each.optimum),
            "yes" if each.is_cached else "",
        )
        for each in listed
    )
    options.print_table(("name", "cities", "type", "optimum", "downloaded"), cells)


def _generate(options: argparse.Namespace) -> None:
    from pytsp import generate  # noqa: PLC0415
    from pytsp.io.tsplib.writer import write  # noqa: PLC0415

    given = {name: getattr(options, name) for name in _CONCERNED if getattr(options, name) is not None}
    for name in given:
        if _CONCERNED[name] != options.kind:
            raise ValueError(f"--{name} does not concern {options.kind} instances; it is for {_CONCERNED[name]} ones")
    write(options.output, getattr(generate, options.kind)(options.n, options.seed, **given))
