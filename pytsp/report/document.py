"""A report: one HTML page of a run, or of several of one instance, that holds all it shows and needs no network."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError, PytspError
from pytsp.plotting.figures import figure_of, save
from pytsp.plotting.maps import Map, map_of
from pytsp.plotting.runs import Run, run_of, told_apart
from pytsp.problem.instance import Instance

if TYPE_CHECKING:
    from pytsp.run.result import Result

__all__ = ["page"]

# Coordinates are rounded to so many steps of the map's longer side: 16 bits each.
_STEPS = 2**16 - 1
# A page of more cities than this, all its tours together, takes too long to open.
MOST_CITIES = 2_000_000
_COLUMNS = {
    "solver": "solver",
    "backend": "backend",
    "seed": "seed",
    "climbers": "climbers",
    "iterations": "iterations",
    "length": "length",
    "gap": "gap",
    "seconds": "seconds",
    "stop_reason": "stopped",
    "device": "device",
    "date": "date",
}
_UNTOLD = "–"
_ON_CLIMBERS = (
    "Dashed: the best tour. Of edge assembly crossover (eax) the climbers are those of the last population, "
    "which need not be the one that found it."
)


def page(runs: Sequence[Run | Result]) -> str:
    """Return the page, with the tours on a map to zoom and to pan, the runs' curves, a table and the environment.

    Parameters
    ----------
    runs : sequence of Result
        One or more, all of the same instance.

    Raises
    ------
    PytspError
        If there is no run, they are of different instances, or matplotlib, which draws the curves, is not installed.
    """
    known = told_apart([run if isinstance(run, Run) else run_of(run) for run in runs])
    instance = _common_instance(known)
    by_length = sorted(known, key=lambda run: float(run.facts["length"]))
    tour, data = _tours(instance, by_length)
    parts = {
        "title": escape(f"{instance.name or 'instance'}: {instance.n:,} cities"),
        "summary": _summary(instance, by_length),
        "style": _template("report.css"),
        "script": _template("report.js"),
        "tour": tour,
        "data": data,
        "runs": _runs_table(known, best=by_length[0]),
        "curves": _curves(known),
        "environment": _environment(known),
    }
    return re.sub("@([a-z]+)@", lambda found: parts[found[1]], _template("report.html"))


def _common_instance(runs: Sequence[Run]) -> Instance:
    if not runs:
        raise PytspError("a report is of one run or of several; there is none")
    for run in runs:
        if run.instance is None:
            raise PytspError(f"{run.label}: its instance is needed for a report")
    first = runs[0].instance
    assert first is not None
    for run in runs[1:]:
        if run.instance is not None and not _are_equal(first, run.instance):
            raise PytspError(
                "a report is of one instance, but "
                f"{runs[0].label} is of {first.name!r} and {run.label} of {run.instance.name!r}"
            )
    return first


def _are_equal(a: Instance, b: Instance) -> bool:
    if a is b:
        return True
    same = (a.metric, a.n, a.matrix is None) == (b.metric, b.n, b.matrix is None)
    return same and np.array_equal(*[each.coordinates if each.matrix is None else each.matrix for each in (a, b)])  # type: ignore[arg-type]


def _summary(instance: Instance, by_length: Sequence[Run]) -> str:
    best = by_length[0]
    words = [f"{instance.n:,} cities, {instance.metric}"]
    if instance.comment:
        words.append(" ".join(instance.comment.split()))
    if best.optimum is not None:
        words.append(f"optimum {best.optimum:,.10g}")
    of = f", the best of {len(by_length)} runs ({best.label})" if len(by_length) > 1 else ""
    words.append(f"{'open path' if best.is_open else 'tour'} of length {best.facts['length']:,.10g}{_gap_of(best)}{of}")
    return escape("; ".join(words) + ".")


def _gap_of(run: Run) -> str:
    return "" if run.optimum is None else f", {100 * (run.facts['length'] / run.optimum - 1):.3f} % above the optimum"


def _tours(instance: Instance, by_length: Sequence[Run]) -> tuple[str, str]:
    """Return the map's part of the page, and its data; in place of a map the reason why there is none."""
    try:
        cities = map_of(instance)
    except InstanceError as error:
        return f'<p class="note">Not drawn: {escape(str(error))}.</p>', "null"
    n = instance.n
    every = -(-n // MOST_CITIES)
    orders: list[NDArray[np.int32]]
    drawn = by_length[: max(1, MOST_CITIES // n)]
    if every > 1:
        kept = drawn[0].tour[::every]
        points, orders = cities.xy[kept], [np.arange(len(kept), dtype=np.int32)]
    else:
        points, orders = cities.xy, [run.tour for run in drawn]
    # Both axes have the same steps.
    lowest, extent = points.min(axis=0), np.ptp(points, axis=0)
    step = float(extent.max()) / _STEPS or 1.0
    steps = np.rint((points - lowest) / step).astype("<u2")
    width, height = steps.max(axis=0).tolist()
    data = {
        "width": width,
        "height": height,
        "period": None if cities.period is None else cities.period / step,
        "xy": _base64(steps),
        "tours": [
            {"order": _base64(order.astype("<u2" if len(points) <= 2**16 else "<u4")), "open": run.is_open}
            for run, order in zip(drawn, orders, strict=True)
        ],
    }
    notes = _notes(cities, step, every, len(by_length) - len(drawn))
    return _controls(drawn) + notes, _json(data)


def _controls(drawn: Sequence[Run]) -> str:
    options = "".join(
        f'<option value="{k}">{escape(run.label)} ({run.facts["length"]:,.10g})</option>' for k, run in enumerate(drawn)
    )
    compared = (
        f'<label>beside <select id="other"><option value="-1">no other</option>{options}</select></label>'
        if len(drawn) > 1
        else ""
    )
    return (
        f'<div class="controls"><label>tour <select id="run">{options}</select></label>{compared}'
        '<button type="button" id="whole">whole tour</button></div>'
        '<canvas id="map" tabindex="0" role="img" aria-label="Map of the tour: zoom with the wheel or + and -, '
        'pan by dragging or with the arrow keys, 0 shows the whole tour"></canvas>'
        '<p id="status"></p>'
    )


def _notes(cities: Map, step: float, every: int, left_out: int) -> str:
    notes = [
        "Wheel, pinch, + and - zoom; dragging and arrow keys pan.",
        f"Coordinates are rounded to steps of {step:.3g}.",
    ]
    if cities.note:
        notes.append(f"{cities.note[0].upper()}{cities.note[1:]}.")
    if every > 1:
        notes.append(f"Only one city of {every} along the tour is in this page, which would else be too large.")
    if left_out:
        notes.append(f"The tours of {left_out} longer runs are not in this page, which would else be too large.")
    return f'<p class="note">{escape(" ".join(notes))}</p>'


def _runs_table(runs: Sequence[Run], *, best: Run) -> str:
    told = [name for name in _COLUMNS if any(run.facts.get(name) is not None for run in runs)]
    header = "".join(f"<th{_aligned(name)}>{_COLUMNS[name]}</th>" for name in told)
    rows = []
    for run in runs:
        cells = "".join(f"<td{_aligned(name)}>{_cell(name, run.facts.get(name))}</td>" for name in told)
        mark = ' class="best"' if run is best else ""
        rows.append(f"<tr{mark}><td>{escape(run.label)}</td>{cells}</tr>")
    return f'<div class="wide"><table id="runs"><tr><th>run</th>{header}</tr>{"".join(rows)}</table></div>'


def _aligned(name: str) -> str:
    return ' class="number"' if name in ("seed", "climbers", "iterations", "length", "gap", "seconds") else ""


def _cell(name: str, fact: object) -> str:
    if fact is None:
        return _UNTOLD
    if isinstance(fact, (int, float)):
        formats = {"gap": f"{100 * fact:.3f} %", "seconds": f"{fact:,.2f}", "seed": str(fact)}
        return escape(formats.get(name, f"{fact:,.10g}"))
    return escape(str(fact))


def _curves(runs: Sequence[Run]) -> str:
    """Return pictures of what the runs hold; a tour file holds neither curve."""
    pictures = (
        ("convergence", "length of the best tour over the time", [run for run in runs if len(run.history)]),
        ("climbers", "how the lengths of the climbers are distributed", [run for run in runs if len(run.lengths) > 1]),
    )
    shown = [_image(some, kind, words) for kind, words, some in pictures if some]
    if pictures[1][2]:
        shown.append(f'<p class="note">{_ON_CLIMBERS}</p>')
    return "\n".join(shown) or '<p class="note">The runs tell neither improvements nor climbers.</p>'


def _image(runs: Sequence[Run], kind: str, words: str) -> str:
    stream = io.BytesIO()
    save(figure_of(runs, kind), stream, ending=".svg")
    source = base64.b64encode(stream.getvalue()).decode("ascii")
    return f'<img id="{kind}" alt="{words}" src="data:image/svg+xml;base64,{source}">'


def _environment(runs: Sequence[Run]) -> str:
    """Return a table with a column for each environment that runs were made in."""
    columns: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for run in runs:
        told = run.facts.get("environment")
        if isinstance(told, dict):
            columns.setdefault(_json(told), (told, []))[1].append(run.label)
    if not columns:
        return '<p class="note">The runs do not tell it; those that pytsp solve --json prints do.</p>'
    several = len(columns) > 1 or sum(len(labels) for _, labels in columns.values()) < len(runs)
    names = list(dict.fromkeys(name for told, _ in columns.values() for name in told))
    rows = [("run", ["; ".join(labels) for _, labels in columns.values()])] if several else []
    rows += [(name, [str(told.get(name, _UNTOLD)) for told, _ in columns.values()]) for name in names]
    lines = (f"<tr><th>{escape(name)}</th>{_cells(cells)}</tr>" for name, cells in rows)
    return f'<div class="wide"><table id="environment">{"".join(lines)}</table></div>'


def _cells(texts: Iterable[str]) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def _json(value: object) -> str:
    """Return JSON that may stand inside a script element, whatever the names in it."""
    return json.dumps(value).replace("<", "\\u003c")


@cache
def _template(name: str) -> str:
    return (files("pytsp.report") / "templates" / name).read_text(encoding="utf-8")
