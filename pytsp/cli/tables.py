"""The commands that print a table: `pytsp compare`, `pytsp backends` and `pytsp datasets`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytsp.backends.kind import BackendStatus
from pytsp.backends.registry import status
from pytsp.cli.data import read_instance
from pytsp.cli.help import Commands, add_command
from pytsp.cli.options import given_options

if TYPE_CHECKING:
    from pytsp.api.compare import Comparison


def run_compare(options: argparse.Namespace) -> None:
    """Run the command `compare`."""
    from pytsp.api.compare import compare  # noqa: PLC0415

    found = compare(
        read_instance(options),
        options.backends,
        solver=options.solver,
        seed=options.seed,
        neighbourhoods=options.neighbourhoods,
        mappings=options.mappings,
        threads=options.threads,
        devices=options.devices,
        repeats=options.repeats,
        bound=options.bound,
        **given_options(options),
    )
    if options.json:
        print(json.dumps(found.to_dict()))
        return
    shown = {heading: of for heading, of in _COMPARED.items() if any(map(of, found))}
    _print(False, [*shown], found, lambda row: [of(row) for of in shown.values()])


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
    """Add the command `backends`."""
    words = "list the backends", "List the backends that can run here."
    command = add_command(commands, "backends", _run_backends, *words)
    command.add_argument("--scheduler", metavar="ADDRESS", help="list those of the workers of a Dask cluster")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _run_backends(options: argparse.Namespace) -> None:
    if options.scheduler is not None:
        from pytsp.distributed.dask import connect  # noqa: PLC0415

        with connect(options.scheduler) as client:
            rows = [_Offered(worker, each) for worker, found in client.run(status).items() for each in found]
        _print(options.json, ("worker", *_BACKENDS), rows, lambda row: (row.worker, *_cells(row.status)))
        return
    _print(options.json, _BACKENDS, status(), _cells)


_BACKENDS = ("backend", "built", "usable", "why", "what to do")


@dataclass(frozen=True)
class _Offered:
    """A backend of a worker."""

    worker: str
    status: BackendStatus

    def to_dict(self) -> dict[str, object]:
        return {"worker": self.worker, **self.status.to_dict()}


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
    """Add the command `datasets`."""
    description = "List TSPLIB's symmetric instances, or download some of them into the user's cache folder."
    command = add_command(commands, "datasets", _run_datasets, "list or download TSPLIB's instances", description)
    command.add_argument("--fetch", nargs="+", metavar="NAME", help="download these, and print their paths")
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
    _print(
        options.json,
        ("name", "cities", "type", "optimum", "downloaded"),
        datasets.tsplib(),
        lambda each: (
            each.name,
            str(each.n),
            each.type or "",
            "" if each.optimum is None else str(each.optimum),
            "yes" if each.is_cached else "",
        ),
    )


def _print(as_json: bool, headers: Sequence[str], rows: Iterable[Any], cells: Callable[[Any], Sequence[str]]) -> None:
    """Print rows as JSON objects, or their cells as a table as wide as the terminal."""
    if as_json:
        print(json.dumps([row.to_dict() for row in rows]))
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table()
    for header in headers:
        # What is too wide goes on in the next line: nothing is cut off.
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*cells(row))
    Console().print(table)
