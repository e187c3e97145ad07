"""Parts of pages: templates and their values, tables, and bytes as text."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pytsp.plotting.figures import encode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNKNOWN = "–"
_HEADINGS = {
    "stop_reason": "stopped",
    "gap_bound": "above the shortest, at most",
    "opening": "opened, s",
    "first_call": "first call, s",
    "least": "fastest",
    "most": "slowest",
    "ratio": "times the first",
}


def template(name: str) -> str:
    return (files("pytsp.report") / "templates" / name).read_text(encoding="utf-8")


def fill(name: str, parts: Mapping[str, str]) -> str:
    """Return a template with its parts, HTML each, in place of their names between two @."""
    return re.sub("@([a-z]+)@", lambda found: parts[found[1]], template(name))


def as_base64(data: bytes | NDArray[Any]) -> str:
    return base64.b64encode(bytes(data)).decode("ascii")


def _heading(name: str) -> str:
    """Return a column's heading, by the name of its content."""
    return _HEADINGS.get(name, name.replace("_", " "))


def page_of(title: str, summary: str, sections: Mapping[str, str], *, script: str = "", data: str = "null") -> str:
    """Return a page that needs no network: text on top, then sections, HTML each, by their headings.

    A page without a script allows none.
    """
    parts = [f"<section>\n<h2>{escape(name)}</h2>\n{html}\n</section>" for name, html in sections.items()]
    scripts = f'<script type="application/json" id="tours">{data}</script>\n<script>\n{script}\n</script>\n'
    filled = {
        "title": escape(title),
        "summary": escape(summary),
        "style": template("report.css"),
        "main": "\n".join(parts),
        "scripts": "script-src 'unsafe-inline'; " if script else "",
        "end": scripts if script else "",
    }
    return fill("page.html", filled)


def image(name: str, words: str, figure: Figure) -> str:
    """Return a picture within the page; the words say what it shows."""
    source = as_base64(encode(figure, ".svg"))
    return f'<img id="{name}" alt="{words}" src="data:image/svg+xml;base64,{source}">'


def environments(runs: Sequence[tuple[str, object]], note: str) -> str:
    """Return a table with a column for each environment of runs, which are given by their labels, or else the note."""
    columns: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for label, found in runs:
        if isinstance(found, dict):
            columns.setdefault(json.dumps(found), (found, []))[1].append(label)
    if not columns:
        return f'<p class="note">{note}</p>'
    several = len(columns) > 1 or sum(len(labels) for _, labels in columns.values()) < len(runs)
    rows = [("run", ["; ".join(labels) for _, labels in columns.values()])] if several else []
    names = dict.fromkeys(name for found, _ in columns.values() for name in found)
    rows += [(name, [str(found.get(name, UNKNOWN)) for found, _ in columns.values()]) for name in names]
    lines = (
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, cells in rows
    )
    return f'<div class="wide"><table id="environment">{"".join(lines)}</table></div>'


def table_of(
    name: str,
    columns: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    cell: Callable[[str, Any], str],
    numbers: Sequence[str],
    best: int | None = None,
) -> str:
    """Return a table of the columns that any row has, with one row marked; on a narrow screen a row's headings stand
    beside its cells. `cell` returns the text of a value of a column; `numbers` are the columns of numbers."""
    shown = [column for column in columns if any(row.get(column) is not None for row in rows)]
    aligned = {column: ' class="number"' if column in numbers else "" for column in shown}
    head = "".join(f"<th{how}>{escape(_heading(column))}</th>" for column, how in aligned.items())
    lines = []
    for place, row in enumerate(rows):
        line = "".join(
            f'<td data-name="{escape(_heading(column))}"{how}>{escape(cell(column, row.get(column)))}</td>'
            for column, how in aligned.items()
        )
        mark = ' class="best"' if place == best else ""
        lines.append(f"<tr{mark}>{line}</tr>")
    return f'<div class="wide"><table id="{name}" class="rows"><tr>{head}</tr>{"".join(lines)}</table></div>'
