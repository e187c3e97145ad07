"""The commands that print a table: `pytsp compare`, `pytsp backends` and `pytsp datasets`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import pytsp
from pytsp.backends.kind import BackendStatus
from pytsp.backends.registry import status
from pytsp.cli.arguments import read_instance
from pytsp.cli.help import Commands, add_command
from pytsp.cli.options import given_options

if TYPE_CHECKING:
    from pytsp.api.compare import Comparison

# Options that `compare` takes as they are.
_PASSED_ON = ("solver", "seed", "neighbourhoods", "mappings", "threads", "devices", "repeats", "bound")
_BACKENDS = ("backend", "built", "usable", "why", "what to do")


def run_compare(options: argparse.Namespace) -> None:
    found = pytsp.compare_backends(
        read_instance(options),
        options.backends,
        **{name: getattr(options, name) for name in _PASSED_ON},
        **given_options(options),
    )
    if options.json:
        print(json.dumps(found.to_dict()))
        return
    shown = {heading: of for heading, of in _COMPARED.items() if any(map(of, found))}
    _print_table(shown, ([of(row) for of in shown.values()] for row in found))


def _way(row: Comparison) -> str:
    """Say how a row was solved: the backend, and what it alone has."""
    threads = None if row.threads is None else f"{row.threads} threads"
    return ", ".join(filter(None, (row.backend, row.neighbourhood, row.mapping, threads, row.device)))


def _seconds(row: Comparison) -> str:
    spread = "" if row.least is None else f" ({row.least:.3f} … {row.most:.3f})"
    return f"{row.seconds:.3f}{spread}"


def _speed(row: Comparison) -> str:
    """Say how fast a backend was, by what its solver counts."""
    if row.moves is not None:
        return f"{row.moves / row.seconds / 1e9:.3g} G moves/s"
    return f"{(row.iterations or 0) / row.seconds:,.0f} iterations/s"


# The columns of a comparison; one is shown where a row has something there.
_COMPARED: dict[str, Callable[[Comparison], str]] = {
    "backend": _way,
    "seconds": _seconds,
    "times the first": lambda row: f"{row.ratio:.2f}",
    "speed": _speed,
    "length": lambda row: f"{row.length:.10g}",
    "above the shortest": lambda row: "" if row.gap_bound is None else f"at most {100 * row.gap_bound:.2f} %",
    "equal": lambda row: "yes" if row.equal else "NO",
}


def add_backends(commands: Commands) -> None:
    words = "list the backends", "List the backends that can run here."
    command = add_command(commands, "backends", _run_backends, *words)
    command.add_argument("--scheduler", metavar="ADDRESS", help="list those of the workers of a Dask cluster")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _run_backends(options: argparse.Namespace) -> None:
    if options.scheduler is not None:
        from pytsp.distributed.dask import connect  # noqa: PLC0415

        with connect(options.scheduler) as client:
            rows = [(worker, each) for worker, found in client.run(status).items() for each in found]
        if options.json:
            print(json.dumps([{"worker": worker, **each.to_dict()} for worker, each in rows]))
        else:
            _print_table(("worker", *_BACKENDS), ((worker, *_cells(each)) for worker, each in rows))
    elif options.json:
        print(json.dumps([each.to_dict() for each in status()]))
    else:
        _print_table(_BACKENDS, map(_cells, status()))


def _cells(each: BackendStatus) -> tuple[str, ...]:
    devices = [f"{device}: {device.trouble}" if device.trouble else str(device) for device in each.devices]
    # Where no device can be used, the reason repeats the first one's trouble.
    reason = "" if each.devices and all(device.trouble for device in each.devices) else each.reason
    return (
        each.name,
        "yes" if each.built else "no",
        "yes" if each.usable else "no",
        "\n".join(filter(None, (*devices, reason))),
        each.remedy,
    )


def add_datasets(commands: Commands) -> None:
    description = "List TSPLIB's symmetric instances, or download some of them into the user's cache folder."
    command = add_command(commands, "datasets", _run_datasets, "list or download TSPLIB's instances", description)
    command.add_argument("--fetch", nargs="+", metavar="NAME", help="download these, and print their paths")
    command.add_argument("--url", metavar="URL", help="download from this folder instead of TSPLIB's own")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _run_datasets(options: argparse.Namespace) -> None:
    if options.fetch:
        paths = {name: str(pytsp.datasets.fetch(name, url=options.url)) for name in options.fetch}
        print(json.dumps(paths) if options.json else "\n".join(paths.values()))
        return
    if options.url:
        raise ValueError("--url is where --fetch downloads from; give --fetch NAME with it")
    listed = pytsp.datasets.tsplib()
    if options.json:
        print(json.dumps([each.to_dict() for each in listed]))
        return
    rows = (
        (
            each.name,
            str(each.n),
            each.type or "",
            "" if each.optimum is None else str(each.optimum),
            "yes" if each.is_cached else "",
        )
        for each in listed
    )
    _print_table(("name", "cities", "type", "optimum", "downloaded"), rows)


def _print_table(headers: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table as wide as the terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table()
    for header in headers:
        # What is too wide goes on in the next line: nothing is cut off.
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
