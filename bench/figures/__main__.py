"""Draw the figures of docs/algorithms: ``python -m bench.figures [NAME …]``; without a name all of them.

They are made on the c backend from generated instances and seeds; the same commit draws the same figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.figures import many_tours, one_tour
from bench.figures.canvas import SETTINGS, written

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images" / "algorithms"

FIGURES: dict[str, Callable[[], Any]] = {
    "descent": one_tour.descent,
    "move": one_tour.move,
    "flat": one_tour.flat,
    "k-swap": one_tour.k_swap,
    "two-opt": one_tour.two_opt,
    "neighbours": one_tour.neighbours,
    "starts": one_tour.starts,
    "three-opt": one_tour.three_opt,
    "kick": one_tour.kick,
    "pieces": one_tour.pieces,
    "annealing": many_tours.annealing,
    "ants": many_tours.ants,
    "crossover": many_tours.crossover,
    "open-path": one_tour.open_path,
    "one-tree": one_tour.one_tree,
}
"""The figures by their names, in the order of the pages."""


def draw(name: str, folder: Path) -> Path:
    """Draw one figure into a folder; return its file."""
    file = folder / f"{name}.svg"
    with import_module("matplotlib").rc_context(SETTINGS):
        written(FIGURES[name](), file)
    return file


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw those that are asked for, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.figures", description="Draw the figures of docs/algorithms.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FIGURES)} (default: all)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to (default: docs/images/algorithms)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in FIGURES]
    if unknown:
        parser.error(f"figure {unknown[0]!r} is not known; known: {', '.join(FIGURES)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or FIGURES:
        print(draw(name, options.folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
