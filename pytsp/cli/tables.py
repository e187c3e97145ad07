"""The commands that print a table: `pytsp compare` and `pytsp backends`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytsp.backends.registry import status
from pytsp.cli import data as _cli_data

if TYPE_CHECKING:
    from pytsp.api.compare import Comparison


def run_compare(options: argparse.Namespace) -> None:
    """Run the command `compare`."""
    from pytsp.api.compare import compare  # noqa: PLC0415

    names = [name.strip() for name in options.backends.split(",")] if options.backends else None
    rows = compare(
        _cli_data.read_instance(options.instance),
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
    print_table(("backend", "seconds", "times the first", "speed", "length", "equal"), cells)


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
    print_table(("backend", "built", "usable", "why", "what to do"), cells)


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as wide as the terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(*headers)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
