"""Speed of the neighbourhoods of random restarts on every backend, in moves a second of whole solves.

All of them make the same moves: where a climber ends otherwise by one than by another, the program says so and stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pytsp
from bench.harness.arguments import parser, positive
from bench.harness.machine import describe, tsplib
from bench.kernels.cpu import climbed, speed_of
from bench.papers.tables import Cell, Table, columns
from pytsp.backends import BACKENDS, open_backend, status
from pytsp.solvers.common.placement import fits_with_distances
from pytsp.solvers.options.restarts import ENUMERATIONS

INSTANCES = ("berlin52", "kroA100", "kroA200", "pcb442", "pr1002")
SECONDS = 0.7


def layouts(backends: list[str], n: int) -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """Tell how climbers on n cities may be laid out: a label, its options, and the neighbourhoods that there are."""
    for name in backends:
        kernels = open_backend(name)
        if kernels.device is None:
            yield name, {"backend": name}, ENUMERATIONS
            continue
        yield f"{name}, block", {"backend": name, "mapping": "block"}, (*ENUMERATIONS, "tiles")
        if fits_with_distances(n, kernels):
            shared = {"backend": name, "mapping": "block", "shared_matrix": True}
            yield f"{name}, block, all distances in its memory", shared, ENUMERATIONS
        yield f"{name}, thread", {"backend": name, "mapping": "thread"}, ENUMERATIONS
        yield f"{name}, all climbers together", {"backend": name}, ("flat",)


def backends_of(chosen: str) -> list[str]:
    """Name the backends to measure: the chosen one, or with "auto" all that run here."""
    if chosen != "auto":
        return [chosen]
    found = {each.name for each in status() if each.usable}
    return [name for name in BACKENDS if name in found]


def agree(one: pytsp.Result, other: pytsp.Result) -> bool:
    """Tell whether the climbers that ended in both runs ended alike: lengths, moves and passes of each."""
    fewest = min(len(one.done), len(other.done))
    both = one.done[:fewest] & other.done[:fewest]
    return all(
        np.array_equal(getattr(one, name)[:fewest][both], getattr(other, name)[:fewest][both])
        for name in ("lengths", "steps", "passes")
    )


def table(
    folder: Path,
    backend: str,
    seconds: float,
    instances: Sequence[str] = INSTANCES,
    read: Callable[[Path, str], pytsp.Instance] = tsplib,
) -> Table:
    """Measure each neighbourhood on each backend, with runs of that many seconds; `read` reads an instance."""
    made = Table(
        "Every neighbourhood on every backend",
        "G moves/s of a whole solve. Climbers that ended in two runs ended alike: the program compares them. On a GPU "
        "a climber has a block or a thread of its own; there are no tiles on a CPU.",
        columns("instance|", "backend|", *(f"{name}|.3g" for name in (*ENUMERATIONS, "tiles"))),
    )
    for name in instances:
        instance = read(folder, name)
        first: pytsp.Result | None = None
        for label, options, neighbourhoods in layouts(backends_of(backend), instance.n):
            cells: list[Cell] = [name, label, *[None] * (len(ENUMERATIONS) + 1)]
            for place, neighbourhood in enumerate(neighbourhoods):
                reported = options | {"neighbourhood": neighbourhood}
                climbed(instance, seconds=seconds / 4, **reported)
                found = climbed(instance, seconds=seconds, **reported)
                first = first or found
                if not agree(first, found):
                    raise SystemExit(f"{name}: {reported} ends on other climbers")
                cells[2 + place] = speed_of(found)
            made.rows.append(cells)
    return made


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--backend", default="auto", help="default: all that are usable here")
    arguments.add_argument("--seconds", type=positive, default=SECONDS, help=f"of each run (default: {SECONDS})")
    reported = arguments.parse_args()
    print(f"{describe()}\n")
    print(table(reported.tsplib, reported.backend, reported.seconds).markdown())


if __name__ == "__main__":
    main()
