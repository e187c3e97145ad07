"""A report: one HTML page of a run, or of several of one instance, that holds all it shows and needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from pytsp.exceptions import InstanceError, PytspError
from pytsp.plotting.figures import figure_of
from pytsp.plotting.maps import Map, map_of
from pytsp.problem.instance import Instance
from pytsp.report.parts import UNKNOWN, as_base64, environments, fill, image, page_of, table_of, template
from pytsp.run.saved_runs import Run, label_runs
from pytsp.utils.text import one_line

if TYPE_CHECKING:
    from pytsp.run.result import Result

# Steps of the map's longer side to which coordinates are rounded: 16 bits each.
_STEPS = 2**16 - 1
# A page of more cities than this, all its tours together, takes too long to open.
MOST_CITIES = 2_000_000
# Most cities with names on the map and in the list of the visit.
MOST_LABELLED, MOST_LISTED = 100_000, 10_000
# A table's columns: those of numbers, and others.
_NUMBERS = ("seed", "climbers", "iterations", "length", "forbidden_edges", "gap", "lower_bound", "gap_bound", "seconds")
_COLUMNS = ("solver", "backend", *_NUMBERS, "stop_reason", "device", "date")
_NO_ENVIRONMENT = "The runs do not tell it; those that pytsp solve --json prints do."
_ON_CLIMBERS = (
    "Dashed: the best tour. Of edge assembly crossover (eax) the climbers are those of the last population, "
    "which need not be the one that found it."
)


def page(runs: Sequence[Run | Result]) -> str:
    """Return the page: tours on a map to zoom and pan, the curves of the runs, a table and the environment.

    Parameters
    ----------
    runs : sequence of Result
        One or more, all of the same instance.

    Raises
    ------
    PytspError
        If there is no run, they are of different instances, or matplotlib, which draws the curves, is not installed.
    """
    labelled = label_runs([run if isinstance(run, Run) else Run.of(run) for run in runs])
    instance = _common_instance(labelled)
    by_length = sorted(labelled, key=lambda run: float(run.facts["length"]))
    tour, data = _tours(instance, by_length)
    rows = [{**run.facts, "run": run.label} for run in labelled]
    sections = {
        "Tour": tour,
        "Order of the visit": _visit(instance, by_length[0]),
        "Runs": table_of("runs", ("run", *_COLUMNS), rows, _cell, _NUMBERS, best=labelled.index(by_length[0])),
        "Curves": _curves(labelled),
        "Environment": environments([(run.label, run.facts.get("environment")) for run in labelled], _NO_ENVIRONMENT),
    }
    title = f"{instance.name or 'instance'}: {instance.n:,} cities"
    return page_of(title, _summary(instance, by_length), sections, script=template("report.js"), data=data)


def _common_instance(runs: Sequence[Run]) -> Instance:
    if not runs:
        raise PytspError("a report is of one run or of several; there is none")
    instances = []
    for run in runs:
        if run.instance is None:
            raise PytspError(f"{run.label}: its instance is needed for a report")
        instances.append(run.instance)
    for run, instance in zip(runs, instances, strict=True):
        if not _are_equal(instances[0], instance):
            raise PytspError(
                "a report is of one instance, but "
                f"{runs[0].label} is of {instances[0].name!r} and {run.label} of {instance.name!r}"
            )
    return instances[0]


def _are_equal(a: Instance, b: Instance) -> bool:
    if a is b or (a.metric, a.n, a.matrix is None) != (b.metric, b.n, b.matrix is None):
        return a is b
    return np.array_equal(*[each.coordinates if each.matrix is None else each.matrix for each in (a, b)])  # type: ignore[arg-type]


def _summary(instance: Instance, by_length: Sequence[Run]) -> str:
    best = by_length[0]
    words = [f"{instance.n:,} cities, {instance.metric}"]
    if instance.comment:
        words.append(one_line(instance.comment))
    if best.optimum is not None:
        words.append(f"optimum {best.optimum:,.10g}")
    of = f", the best of {len(by_length)} runs ({best.label})" if len(by_length) > 1 else ""
    kind = "open path" if best.is_open else "tour"
    words.append(f"{kind} of length {best.facts['length']:,.10g}{best.describe_gap(3)}{best.describe_bound()}{of}")
    return "; ".join(words) + "."


def _tours(instance: Instance, by_length: Sequence[Run]) -> tuple[str, str]:
    """Return the map's part of the page, and its data; in place of a map the reason why there is none."""
    try:
        cities = map_of(instance)
    except InstanceError as error:
        return f'<p class="note">Not drawn: {escape(str(error))}.</p>', "null"
    every = -(-instance.n // MOST_CITIES)
    drawn = by_length[: max(1, MOST_CITIES // instance.n)]
    points, orders = cities.xy, [run.tour for run in drawn]
    if every > 1:
        points = points[orders[0][::every]]
        orders = [np.arange(len(points), dtype=np.int32)]
    # Both axes have the same steps.
    lowest, extent = points.min(axis=0), np.ptp(points, axis=0)
    step = float(extent.max()) / _STEPS or 1.0
    steps = np.rint((points - lowest) / step).astype("<u2")
    width, height = steps.max(axis=0).tolist()
    data = {
        "width": width,
        "height": height,
        "period": None if cities.period is None else cities.period / step,
        "xy": as_base64(steps),
        "names": instance.names_of(np.arange(instance.n)) if instance.n <= MOST_LABELLED else None,
        "tours": [
            {"order": as_base64(order.astype("<u2" if len(points) <= 2**16 else "<u4")), "open": run.is_open}
            for run, order in zip(drawn, orders, strict=True)
        ],
    }
    labels = (f"{escape(run.label)} ({run.facts['length']:,.10g})" for run in drawn)
    options = "".join(f'<option value="{k}">{label}</option>' for k, label in enumerate(labels))
    other = f'<label>beside <select id="other"><option value="-1">no other</option>{options}</select></label>'
    notes = _notes(cities, step, every, len(by_length) - len(drawn))
    parts = {"options": options, "other": other if len(drawn) > 1 else "", "notes": notes}
    return fill("map.html", parts).rstrip("\n"), _json(data)


def _visit(instance: Instance, run: Run) -> str:
    """Return the list of the cities in the order in which the best run visits them."""
    items = "".join(f"<li>{escape(name)}</li>" for name in instance.names_of(run.tour[:MOST_LISTED]))
    words = ["Cities by their numbers, counted from 0."] if instance.labels is None else []
    words += [] if run.is_open else ["Behind the last one the tour returns to the first."]
    words += [f"Only the first {MOST_LISTED:,} of {instance.n:,} are listed."] if instance.n > MOST_LISTED else []
    note = f'<p class="note">{" ".join(words)}</p>'
    return f'<details><summary>{escape(run.label)}</summary>{note}<ol id="visit">{items}</ol></details>'


def _notes(cities: Map, step: float, every: int, left_out: int) -> str:
    notes = [
        "Wheel, pinch, + and - zoom; dragging and arrow keys pan. Where there is room, cities have their names.",
        f"Coordinates are rounded to steps of {step:.3g}.",
    ]
    if cities.note:
        notes.append(f"{cities.note[0].upper()}{cities.note[1:]}.")
    if every > 1:
        notes.append(f"Only one city of {every} along the tour is in this page, which would else be too large.")
    if left_out:
        notes.append(f"The tours of {left_out} longer runs are not in this page, which would else be too large.")
    return f'<p class="note">{escape(" ".join(notes))}</p>'


def _cell(name: str, fact: object) -> str:
    if fact is None:
        return UNKNOWN
    if isinstance(fact, (int, float)):
        percent = f"{100 * fact:.3f} %"
        formats = {"gap": percent, "gap_bound": percent, "seconds": f"{fact:,.2f}", "seed": str(fact)}
        return formats.get(name, f"{fact:,.10g}")
    return str(fact)


def _curves(runs: Sequence[Run]) -> str:
    """Return pictures of what the runs hold; a tour file holds neither curve."""
    pictures = (
        ("convergence", "length of the best tour over the time", [run for run in runs if len(run.history)]),
        ("climbers", "how the lengths of the climbers are distributed", [run for run in runs if len(run.lengths) > 1]),
    )
    parts = [image(kind, words, figure_of(some, kind)) for kind, words, some in pictures if some]
    if pictures[1][2]:
        parts.append(f'<p class="note">{_ON_CLIMBERS}</p>')
    return "\n".join(parts) or '<p class="note">The runs tell neither improvements nor climbers.</p>'


def _json(value: object) -> str:
    """Return JSON that is safe inside a script element, whatever the names in it."""
    return json.dumps(value).replace("<", "\\u003c")
