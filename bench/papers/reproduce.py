"""The tables of a paper, and the data of its figures, by pytsp beside the paper's own.

Without --full a reproduction takes about --seconds: where a paper's sizes do not fit, they are made smaller or left
out, and the tables say so. Figures are stored with the tables; `python -m bench.papers.pages` draws them. Instances are
read from --tsplib and from where `pytsp datasets --fetch NAME` puts them. Random cities stand in for those that are in
neither, and a line says so.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
import time
from importlib import import_module
from pathlib import Path

from bench.harness.arguments import parser, positive
from bench.harness.machine import describe
from bench.papers.instances import ABOUT_STAND_INS, stand_ins
from bench.papers.tables import Report, Table, stored
from bench.papers.task import Task
from pytsp.backends import open_backend
from pytsp.backends.devices import usable_cores

PAPERS = ("oneil2011", "utne2023", "rocki2013", "robinson2018", "delevacq2012")
SECONDS = 240.0


def arguments() -> argparse.ArgumentParser:
    """Make the parser of the command line."""
    made = parser(__doc__ or "")
    made.prog = "python -m bench.papers.reproduce"
    made.add_argument("paper", choices=PAPERS)
    made.add_argument("--backend", default="auto", help="default: the fastest here")
    made.add_argument(
        "--seconds", type=positive, default=SECONDS, help=f"what it takes, about (default: {SECONDS:.0f})"
    )
    made.add_argument("--full", action="store_true", help="all of the paper, however long it takes")
    made.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    made.add_argument("--json", type=Path, metavar="FILE", help="store tables and figures' data here")
    made.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables here")
    made.add_argument("--stored", type=Path, metavar="FILE", help="show what --json stored; run nothing")
    return made


def reproduce(paper: str, task: Task, command: str, file: Path | None = None) -> Report:
    """Run a paper's module; print each table, and store what there is, as soon as it is there."""
    module = import_module(f"bench.papers.{paper}")
    kernels = open_backend(task.backend)
    report = Report(paper, module.TITLE, f"{describe()}; {kernels.describe()}", command, task.seed)
    if busy := busy_machine():
        report.remark(busy)
    print(report.titled(), flush=True)
    for made in module.run(task):
        if stand_ins():
            report.remark(ABOUT_STAND_INS)
        if isinstance(made, Table):
            report.tables.append(made)
            print(made.markdown(), flush=True)
        else:
            report.figures.append(made)
        report.seconds = round(time.perf_counter() - task.began, 1)
        if file is not None:
            report.store(file)
    return report


def busy_machine() -> str | None:
    """Return a sentence where other programs keep more cores busy than this process may use; else None."""
    load, cores = os.getloadavg()[0], usable_cores()
    if load <= cores:
        return None
    return f"The machine was busy at the start (load {load:.1f} on {cores} cores), so its times are too long."


def main(words: list[str] | None = None) -> int:
    """Reproduce the paper that the command line names, or show what is stored of it."""
    words = sys.argv[1:] if words is None else words
    options = arguments().parse_args(words)
    if options.stored:
        report = stored(options.stored)
        print(report.markdown())
    else:
        # Files and folders are this machine's, and say nothing of what was run.
        said = [f"--backend {shlex.quote(options.backend)}"] if options.backend != "auto" else []
        said += ["--full"] if options.full else [f"--seconds {options.seconds:g}"]
        said += [f"--seed {options.seed}"] if options.seed else []
        task = Task(options.backend, math.inf if options.full else options.seconds, options.seed, options.tsplib)
        command = " ".join(["python -m bench.papers.reproduce", options.paper, *said])
        report = reproduce(options.paper, task, command, options.json)
        print(f"{report.seconds} s")
    if options.markdown:
        options.markdown.write_text(report.markdown(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
