"""The commands `pytsp plot` and `pytsp report`: their arguments, and what they do with them."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytsp.solvers.registry import PICTURES

__all__ = ["add_commands"]

_PLOT_EXAMPLES = """examples:
  pytsp solve europe --json > europe.json
  pytsp plot europe.json
  pytsp plot europe.json --kind convergence --output europe.svg
  pytsp plot kroA100.tour --instance kroA100.tsp.gz --output kroA100.pdf
  pytsp plot first.json second.json --output difference.png
  pytsp solve europe --solver restarts --json | pytsp plot - --kind climbers --output climbers.png
"""
_REPORT_EXAMPLES = """examples:
  pytsp report europe.json
  pytsp report seed0.json seed1.json seed2.json --output seeds.html
"""
_FILES = "what `pytsp solve --json` printed"
_INSTANCE = "the tours' instance (default: where the result was read from, or the file of the same name)"


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands to those of `pytsp`."""
    command = commands.add_parser(
        "plot",
        help="draw tours and runs",
        description="Draw a tour, the difference of two, or the curves of runs.",
        epilog=_PLOT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=_plot)
    command.add_argument(
        "files", nargs="+", metavar="TOUR|RESULT", help=f"a tour file, or {_FILES}; - for standard input"
    )
    command.add_argument("--kind", choices=PICTURES, default="tour", help="what is drawn (default: tour)")
    command.add_argument("--instance", metavar="FILE|NAME", help=_INSTANCE)
    command.add_argument("--output", metavar="FILE", help="a .png, .svg or .pdf (default: the first file's name, .png)")

    command = commands.add_parser(
        "report",
        help="make a page of runs",
        description="Make one HTML page of a run, or of several of the same instance; it needs no network.",
        epilog=_REPORT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=_report)
    command.add_argument("files", nargs="+", metavar="RESULT", help=f"{_FILES}; - for standard input")
    command.add_argument("--instance", metavar="FILE|NAME", help=_INSTANCE)
    command.add_argument("--output", metavar="FILE", help="default: the first file's name, .html")


def _plot(options: argparse.Namespace) -> None:
    from pytsp.plotting import figures as plots  # noqa: PLC0415
    from pytsp.plotting.runs import read_runs  # noqa: PLC0415

    output = options.output or _default_output(options.files[0], ".png")
    # Before the work, which may be long.
    plots.check_ending(output)
    runs = read_runs(options.files, options.instance, needs_instance=options.kind == "tour")
    plots.save(plots.figure_of(runs, options.kind), output)
    print(output)


def _report(options: argparse.Namespace) -> None:
    from pytsp.plotting.runs import read_runs  # noqa: PLC0415
    from pytsp.report import document as report  # noqa: PLC0415

    output = options.output or _default_output(options.files[0], ".html")
    page = report.page(read_runs(options.files, options.instance))
    Path(output).write_text(page, encoding="utf-8")
    print(output)


def _default_output(file: str, ending: str) -> str:
    return ("pytsp" if file == "-" else Path(file).name.split(".")[0]) + ending
