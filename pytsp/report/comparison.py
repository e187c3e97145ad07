"""A page of a comparison: what `pytsp compare --json` prints, as a picture and a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from pytsp.exceptions import PytspError
from pytsp.plotting.figures import bars
from pytsp.report.parts import environments, image, page_of, table_of

# How a way is named: by what it has of these.
_WAY = ("backend", "neighbourhood", "mapping", "threads", "device")
_NUMBERS = ("threads", "opening", "first_call", "seconds", "least", "most", "ratio", "moves", "iterations", "length")
_COLUMNS = ("backend", "neighbourhood", "mapping", *_NUMBERS, "device", "equal")
_FACTS = ("solver", "seed", "climbers", "iterations", "k", "repeats", "date")


def is_comparison(facts: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether JSON is what `pytsp compare --json` prints."""
    return isinstance(facts, dict) and isinstance(facts.get("comparison"), list)


def comparison_page(facts: Mapping[str, Any], source: str) -> str:
    """Return the page of what `pytsp compare --json` printed into the file `source`."""
    rows = [_checked(row, number, source) for number, row in enumerate(facts["comparison"], 1)]
    if not rows:
        raise PytspError(f"{source}: the comparison has no rows")
    title = f"{facts.get('instance') or 'instance'}: {len(rows)} ways compared"
    said = [f"{facts['n']:,} cities, {facts.get('metric')}"] if isinstance(facts.get("n"), int) else []
    said += [f"{name} {facts[name]}" for name in _FACTS if facts.get(name) is not None]
    differ = sum(not row["equal"] for row in rows)
    said.append("all ways end alike" if not differ else f"{differ} of {len(rows)} ways end otherwise than the first")
    sections = {
        "Seconds": _picture(rows),
        "Ways": table_of("ways", _COLUMNS, rows, _cell, _NUMBERS),
        "Environment": environments([("", facts.get("environment"))], "The comparison does not tell it."),
    }
    return page_of(title, "; ".join(said) + ".", sections)


def _checked(row: Any, number: int, source: str) -> dict[str, Any]:
    """Return a row whose numbers are some and whose other cells are words."""
    where = f"{source}: row {number} of the comparison"
    if not isinstance(row, dict):
        raise PytspError(f"{where} is no object")
    for name in ("backend", "seconds", "ratio", "equal"):
        if name not in row:
            raise PytspError(f"{where} has no {name!r}")
    for name in _NUMBERS:
        value = row.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            raise PytspError(f"{where}: {name} must be a finite number of at least 0; it is {value!r}")
    if not isinstance(row["equal"], bool):
        raise PytspError(f"{where}: equal must be true or false; it is {row['equal']!r}")
    return row


def _name(row: Mapping[str, Any]) -> str:
    named = {name: row[name] for name in _WAY if row.get(name) is not None}
    if "threads" in named:
        named["threads"] = f"{named['threads']} threads"
    return ", ".join(str(value) for value in named.values())


def _picture(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the medians as bars, with the fastest and the slowest run of each way."""
    medians = [float(row["seconds"]) for row in rows]
    spread = [(float(row.get("least", row["seconds"])), float(row.get("most", row["seconds"]))) for row in rows]
    label = "seconds, the median; whiskers: fastest and slowest run"
    return image("seconds", "the seconds of each way", bars([_name(row) for row in rows], medians, spread, label))


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if name == "equal":
        return "yes" if value else "NO"
    if name in ("opening", "first_call", "seconds", "least", "most", "ratio"):
        return f"{value:.3f}"
    return f"{value:,.10g}" if isinstance(value, (int, float)) else str(value)
