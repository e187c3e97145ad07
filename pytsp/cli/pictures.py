"""The commands `pytsp plot` and `pytsp report`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytsp
from pytsp.cli.help import Commands, add_command
from pytsp.exceptions import PytspError
from pytsp.plotting import PICTURES

_FILES = "output of `pytsp solve --json`"
_COMPARISON = "or of `pytsp compare --json`"
_INSTANCE = "instance of the tours (default: the file that the result names, or one of the same name)"


def add_commands(commands: Commands) -> None:
    description = "Draw a tour, the difference of two, or the curves of runs."
    plot = add_command(commands, "plot", _plot, "draw tours and runs", description)
    files = f"a tour file, or {_FILES}; - for standard input"
    plot.add_argument("files", nargs="+", metavar="TOUR|RESULT", help=files)
    plot.add_argument("--kind", choices=PICTURES, default="tour", help="kind of picture (default: tour)")
    description = (
        "Make one HTML page of a run, of several of the same instance, or of a comparison. It needs no network."
    )
    report = add_command(commands, "report", _report, "make a page of runs", description)
    report.add_argument("files", nargs="+", metavar="RESULT", help=f"{_FILES}, {_COMPARISON}; - for standard input")
    for command, output in (
        (plot, "a .png, .svg or .pdf (default: the first file's name, .png)"),
        (report, "default: the first file's name, .html"),
    ):
        command.add_argument("--instance", metavar="FILE|NAME", help=_INSTANCE)
        command.add_argument("-o", "--output", metavar="FILE", help=output)


def _plot(options: argparse.Namespace) -> None:
    from pytsp.plotting import figures  # noqa: PLC0415
    from pytsp.run.saved_runs import read_runs  # noqa: PLC0415

    output = options.output or _default_output(options.files[0], ".png")
    # Before the work, which may be long.
    ending = figures.check_ending(output)
    runs = read_runs(options.files, options.instance, needs_instance=options.kind == "tour")
    Path(output).write_bytes(figures.encode(figures.figure_of(runs, options.kind), ending))
    print(output)


def _report(options: argparse.Namespace) -> None:
    from pytsp.run.saved_runs import contents, read_runs  # noqa: PLC0415

    output = options.output or _default_output(options.files[0], ".html")
    first = options.files[0]
    data = contents(first)
    found = _json(data)
    if pytsp.report.is_comparison(found):
        if len(options.files) > 1:
            raise PytspError(f"{first}: a page is of one comparison, or of runs; give its file alone")
        text = pytsp.report.comparison_page(found, "<stdin>" if first == "-" else first)
    else:
        text = pytsp.report.page(read_runs(options.files, options.instance, read_already={first: data}))
    Path(output).write_text(text, encoding="utf-8")
    print(output)


def _json(data: bytes) -> object:
    """Return JSON, None where it is none: whoever reads runs says what is wrong."""
    try:
        return json.loads(data) if data.lstrip()[:1] == b"{" else None
    except (ValueError, RecursionError):
        return None


def _default_output(file: str, ending: str) -> str:
    return ("pytsp" if file == "-" else Path(file).name.split(".")[0]) + ending
