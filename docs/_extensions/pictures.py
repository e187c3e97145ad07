"""Draw the pictures that git does not keep before Sphinx reads the pages that show them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
IMAGES = DOCS / "images"
# Instances of the picture in docs/benchmarks.md.
SOLVED = ("kroA200", "lin318", "pr439", "pcb442", "rat783", "pr1002")


def draw_algorithms() -> list[Path]:
    """Draw the figures of docs/algorithms: short runs of the c backend."""
    from bench.figures import __main__ as figures  # noqa: PLC0415

    figures.FOLDER.mkdir(parents=True, exist_ok=True)
    return [figures.draw(name, figures.FOLDER) for name in figures.FIGURES]


def draw_papers() -> list[Path]:
    """Draw the figures of docs/papers from stored results."""
    from bench.papers import pages  # noqa: PLC0415

    drawn = []
    pages.FIGURES.mkdir(parents=True, exist_ok=True)
    for page in sorted(pages.PAGES.glob("*.md")):
        for found in pages.MARKED.finditer(page.read_text(encoding="utf-8")):
            report = pages.selected(found)
            for figure in report.figures:
                drawn.append(pages.FIGURES / pages.picture(report, figure, found[2]))
                pages.draw(figure, drawn[-1])
    return drawn


def draw_benchmarks() -> list[Path]:
    """Draw the shares of solved seeds in docs/benchmarks.md from stored results."""
    from bench.harness.curves import draw_solved  # noqa: PLC0415
    from bench.harness.machine import ROOT  # noqa: PLC0415
    from bench.harness.runs import Run  # noqa: PLC0415
    from bench.harness.tables import load  # noqa: PLC0415

    runs = [Run(**run) for run in load(ROOT / "bench" / "results" / "h200-peers.json")["runs"]]
    file = IMAGES / "peers-solved-h200.svg"
    draw_solved([run for run in runs if run.instance in SOLVED], file)
    return [file]


def draw_how_to() -> None:
    """Draw the pictures of docs/how-to/pictures.md but the report's, by the command line."""
    subprocess.run([DOCS / "pictures.sh", sys.executable], check=True, stdout=subprocess.DEVNULL)


def draw_all(_: Any = None) -> None:
    """Draw every picture that git does not keep."""
    draw_algorithms()
    draw_papers()
    draw_benchmarks()
    draw_how_to()


def setup(app: Any) -> dict[str, bool]:
    """Draw the pictures once a build, before any page is read."""
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True}
