"""What pages are made of: templates and what fills them, tables, and bytes as text."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from numpy.typing import NDArray

__all__ = ["as_base64", "fill", "heading", "table_of", "template"]

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
    """Return a file of the templates."""
    return (files("pytsp.report") / "templates" / name).read_text(encoding="utf-8")


def fill(name: str, parts: Mapping[str, str]) -> str:
    """Return a template with its parts, HTML each, in place of their names between two @."""
    return re.sub("@([a-z]+)@", lambda found: parts[found[1]], template(name))


def as_base64(data: bytes | NDArray[Any]) -> str:
    """Return bytes as text."""
    return base64.b64encode(bytes(data)).decode("ascii")


def heading(name: str) -> str:
    """Return a column's heading, by the name of what stands in it."""
    return _HEADINGS.get(name, name.replace("_", " "))


def table_of(name: str, headings: Sequence[str], rows: Sequence[Sequence[str]], are_numbers: Sequence[bool]) -> str:
    """Return a table whose headings and cells are text; a row's headings stand beside its cells on a narrow screen."""
    aligned = [' class="number"' if is_number else "" for is_number in are_numbers]
    head = "".join(f"<th{how}>{escape(each)}</th>" for each, how in zip(headings, aligned, strict=True))
    lines = []
    for cells in rows:
        columns = zip(headings, cells, aligned, strict=True)
        line = "".join(f'<td data-name="{escape(each)}"{how}>{escape(cell)}</td>' for each, cell, how in columns)
        lines.append(f"<tr>{line}</tr>")
    return f'<div class="wide"><table id="{name}"><tr>{head}</tr>{"".join(lines)}</table></div>'
