"""The command `pytsp segments`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytsp
from pytsp.cli.arguments import seconds, whole
from pytsp.cli.help import Commands, add_command
from pytsp.cli.options import add_backend, placement_of
from pytsp.exceptions import PytspError
from pytsp.io.streams import write_text

# The ending of a file's new name, before that of its kind.
_ORDERED = "-ordered"


def add_segments(commands: Commands) -> None:
    description = (
        "Order the lines of a drawing, and turn them round, so that the pen moves least in the air. Everything else of "
        "the file is kept, and layers and pens stay together."
    )
    words = "order lines for a plotter, a laser or a drill"
    command = add_command(commands, "segments", _segments, words, description)
    command.add_argument("file", metavar="FILE", help="a table, GeoJSON or SVG, by its ending; - for standard input")
    words = "what the file is (default: by its ending)"
    command.add_argument("--format", choices=("csv", "geojson", "svg"), help=words)
    command.add_argument("-o", "--output", metavar="FILE", help=f"default: the file's name with {_ORDERED}")
    command.add_argument("--picture", metavar="FILE", help="draw the moves before and after: a .png, .svg or .pdf")
    command.add_argument("--start", type=_point, metavar="X,Y", help="where the pen comes from (default: anywhere)")
    command.add_argument("--end", type=_point, metavar="X,Y", help="where it goes in the end (default: nowhere)")
    command.add_argument("--closed", action="store_true", help="go back to where the pen came from")
    command.add_argument("--one-way", action="store_true", help="turn no line round")
    command.add_argument("--metric", metavar="METRIC", help="such as MAX_2D (default: by the file)")
    command.add_argument("-t", "--time-limit", type=seconds, metavar="SEC", help="seconds for all (default: none)")
    command.add_argument("--seed", type=whole(0), default=0, metavar="S", help="seed of the search (default: 0)")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    add_backend(command, command, "auto", "where kernels run (default: auto)")


def _point(text: str) -> tuple[float, float]:
    x, y = map(float, text.split(","))
    return x, y


_point.__name__ = "point"


def _segments(options: argparse.Namespace) -> None:
    from pytsp.io.segments import read_drawing  # noqa: PLC0415
    from pytsp.plotting import figures  # noqa: PLC0415

    output = options.output or _default_output(options.file)
    picture = None if options.picture is None else figures.check_ending(options.picture)
    drawing = read_drawing(options.file, None if options.format is None else f".{options.format}")
    is_globe = drawing.metric == "HAVERSINE"
    metric = options.metric or drawing.metric
    if is_globe and options.metric is not None:
        raise PytspError(f"--metric {options.metric} has no effect with GeoJSON, whose places are on the globe")
    # GeoJSON has the longitude first, and so are points written.
    ends = {name: getattr(options, name) for name in ("start", "end")}
    if is_globe:
        ends = {name: point and point[::-1] for name, point in ends.items()}
    found = pytsp.order_segments(
        drawing.lines,
        reversible=not options.one_way,
        open=not options.closed,
        groups=drawing.groups,
        metric=metric,
        time_limit=options.time_limit,
        seed=options.seed,
        **placement_of(options),
        **ends,
    )
    order = zip(found.order.tolist(), found.flips.tolist(), found.entries.tolist(), strict=True)
    write_text(output, drawing.write(order), errors="strict")
    if picture is not None:
        shown = [line[:, ::-1] for line in drawing.lines] if is_globe else drawing.lines
        kind = str(options.format or Path(options.file.removesuffix(".gz")).suffix.lower())
        figure = figures.figure_of_air(shown, found, is_down="svg" in kind)
        Path(options.picture).write_bytes(figures.encode(figure, picture))
    if output != "-":
        _tell(options, output, drawing, found)


def _tell(options: argparse.Namespace, output: str, drawing: Any, found: Any) -> None:
    groups = 1 if drawing.groups is None else len(set(drawing.groups))
    if options.json:
        reported = {"segments": len(drawing.lines), "groups": groups, "flipped": int(found.flips.sum())}
        print(json.dumps({**reported, "before": found.before, "after": found.after, "output": output}))
        return
    several = f", in {groups} groups" if groups > 1 else ""
    share = f" ({100 * found.after / found.before:.1f} %)" if found.before else ""
    print(f"segments  {len(drawing.lines)}{several}; {int(found.flips.sum())} turned round")
    print(f"air       {found.before:.6g} before, {found.after:.6g} after{share}")
    print(output)


def _default_output(file: str) -> str:
    """Return the name of a file for the drawing in its new order."""
    if file == "-":
        return "-"
    path = Path(file.removesuffix(".gz"))
    return str(path.with_name(f"{path.stem}{_ORDERED}{path.suffix}"))
