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
from pytsp.cli.options import given_options

if TYPE_CHECKING:
    from pytsp.api.compare import Comparison


def run_compare(options: argparse.Namespace) -> None:
    """Run the command `compare`."""
    from pytsp.api.compare import compare  # noqa: PLC0415

    def listed(words: str | None) -> list[str] | None:
        return [name.strip() for name in words.split(",")] if words else None

    found = compare(
        read_instance(options),
        listed(options.backends),
        solver=options.solver,
        seed=options.seed,
        neighbourhoods=listed(options.neighbourhoods) or (),
        mappings=listed(options.mappings) or (),
        threads=options.threads,
        devices=options.devices,
        repeats=options.repeats,
        bound=options.bound,
        **given_options(options),
    )
    if options.json:
        print(json.dumps(found.to_dict()))
        return
    shown = [column for column in _COMPARED if any(column.of(row) for row in found)]
    _print(False, [column.heading for column in shown], found, lambda row: [column.of(row) for column in shown])


@dataclass(frozen=True)
class _Column:
    """A column of a comparison: it is shown where a row has something there."""

    heading: str
    of: Callable[[Comparison], str]


def _way(row: Comparison) -> str:
    """Say how a row was solved: the backend, and what it alone has."""
    threads = None if row.threads is None else f"{row.threads} threads"
    return ", ".join(filter(None, (row.backend, row.neighbourhood, row.mapping, threads, row.device)))


def _seconds(row: Comparison) -> str:
    spread = "" if row.least is None else f" ({row.least:.3f} … {row.most:.3f})"
    return f"{row.seconds:.3f}{spread}"


def _bound(row: Comparison) -> str:
    return "" if row.gap_bound is None else f"at most {100 * row.gap_bound:.2f} %"


def _speed(row: Comparison) -> str:
    """Say how fast a backend was, by what its solver counts."""
    if row.moves is not None:
        return f"{row.moves / row.seconds / 1e9:.2f} G moves/s"
    return f"{(row.iterations or 0) / row.seconds:,.0f} iterations/s"


_COMPARED = (
    _Column("backend", _way),
    _Column("seconds", _seconds),
    _Column("times the first", lambda row: f"{row.ratio:.2f}"),
    _Column("speed", _speed),
    _Column("length", lambda row: f"{row.length:.10g}"),
    _Column("above the shortest", _bound),
    _Column("equal", lambda row: "yes" if row.equal else "NO"),
)


def run_backends(options: argparse.Namespace) -> None:
    """Run the command `backends`."""
    if options.scheduler is not None:
        from pytsp.distributed.dask import connect, offers  # noqa: PLC0415

        with connect(options.scheduler) as client:
            rows = [_Offered(worker, each) for worker, found in offers(client).items() for each in found]
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


def add_datasets(commands: Any) -> None:
    """Add the command `datasets`."""
    command = commands.add_parser(
        "datasets",
        help="list or download TSPLIB's instances",
        description="List TSPLIB's symmetric instances, or download some of them into the user's cache folder.",
    )
    command.set_defaults(run=_run_datasets)
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
