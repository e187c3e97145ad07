"""The commands that print a table: `pytsp compare`, `pytsp backends` and `pytsp datasets`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pytsp.backends.context import status
from pytsp.cli.data import read_instance
from pytsp.cli.options import given_options

if TYPE_CHECKING:
    from pytsp.api.compare import Comparison


def run_compare(options: argparse.Namespace) -> None:
    """Run the command `compare`."""
    from pytsp.api.compare import compare  # noqa: PLC0415

    names = [name.strip() for name in options.backends.split(",")] if options.backends else None
    rows = compare(
        read_instance(options.instance),
        names,
        solver=options.solver,
        seed=options.seed,
        **given_options(options),
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
            _word(row.equal, "NO"),
        )
        for row in rows
    )
    _print_table(("backend", "seconds", "times the first", "speed", "length", "equal"), cells)


def _speed(row: Comparison) -> str:
    """Say how fast a backend was, by what its solver counts."""
    if row.moves is not None:
        return f"{row.moves / row.seconds / 1e9:.2f} G moves/s"
    return f"{(row.iterations or 0) / row.seconds / 1e3:.1f} k iterations/s"


def run_backends(options: argparse.Namespace) -> None:
    """Run the command `backends`."""
    backends = status()
    if options.json:
        print(json.dumps([backend.to_dict() for backend in backends]))
        return
    cells = []
    for each in backends:
        reasons = filter(None, ("; ".join(map(str, each.devices)), each.reason))
        cells.append((each.name, _word(each.built), _word(each.usable), "\n".join(reasons), each.remedy))
    _print_table(("backend", "built", "usable", "why", "what to do"), cells)


def add_datasets(commands: Any) -> None:
    """Add the command `datasets`."""
    command = commands.add_parser(
        "datasets",
        help="list or download TSPLIB's instances",
        description="List TSPLIB's symmetric instances, or download some of them into the user's cache folder.",
    )
    command.set_defaults(run=_run_datasets)
    command.add_argument("--fetch", nargs="+", metavar="NAME", help="download these, and print where they lie")
    command.add_argument("--url", metavar="URL", help="download from this folder instead of TSPLIB's own")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _run_datasets(options: argparse.Namespace) -> None:
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
            _word(each.is_cached, ""),
        )
        for each in listed
    )
    _print_table(("name", "cities", "type", "optimum", "downloaded"), cells)


def _word(fact: bool, no: str = "no") -> str:
    return "yes" if fact else no


def _print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as wide as the terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(*headers)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
