"""Tables in Markdown, printed row by row, and results stored as JSON, a line an entry."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def row(*cells: object) -> str:
    """Write one row of a Markdown table."""
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def print_head(*heads: object) -> None:
    """Print the head of a table."""
    print(row(*heads))
    print(row(*["---"] * len(heads)), flush=True)


def print_rows(rows: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """Print a table of rows by their heads, each as soon as it is there, with "-" for None; return the rows."""
    shown: list[dict[str, object]] = []
    for each in rows:
        if not shown:
            print_head(*each)
        print(row(*("-" if cell is None else cell for cell in each.values())), flush=True)
        shown.append(each)
    return shown


def written(results: dict[str, Any] | list[Any]) -> str:
    """Write results as JSON: a line for each entry of the outermost object or array, however much the entry holds."""

    def compact(entry: Any) -> str:
        return json.dumps(entry, separators=(",", ":"))

    if isinstance(results, dict):
        (first, last), lines = "{}", [f"{compact(key)}:{compact(entry)}" for key, entry in results.items()]
    else:
        (first, last), lines = "[]", [compact(entry) for entry in results]
    return "\n".join([first, ",\n".join(lines), last]) + "\n"


def store(file: Path | None, results: dict[str, Any] | list[Any]) -> None:
    """Write results into a file, where one was asked for."""
    if file is not None:
        file.write_text(written(results), encoding="utf-8")


def load(file: Path) -> Any:
    """Read the results that `store` wrote."""
    return json.loads(file.read_text(encoding="utf-8"))


def duration(seconds: float) -> str:
    """Write a time with the unit that suits it."""
    unit, factor = next(((u, f) for u, f in (("µs", 1e6), ("ms", 1e3)) if seconds * f < 1000), ("s", 1.0))
    return f"{seconds * factor:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
