"""Tables of durations and distances as road servers answer with them: OSRM, openrouteservice, GraphHopper, Valhalla."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytsp.exceptions import InstanceError
from pytsp.utils.notices import warn_user

# The names of tables; of several, the first one is taken.
_TABLES = ("durations", "times", "distances")
# Valhalla's table, and what its cells call the numbers.
_NESTED = "sources_to_targets"
_CELLS = {"time": "durations", "distance": "distances"}


def is_road_table(document: Mapping[str, Any]) -> bool:
    """Tell whether a document is a road server's answer: a table, or why there is none."""
    return "type" not in document and (any(key in document for key in (*_TABLES, _NESTED)) or _failure(document) != "")


def table_of(document: Mapping[str, Any], columns: Sequence[str] | None) -> tuple[list[Any], list[str] | None]:
    """Return the rows of a road server's table, and the names of its places if it has any.

    `columns` names the table to take. By default it is the first of several, with a warning.
    """
    tables = _tables(document)
    if not tables:
        failure = _failure(document)
        raise InstanceError(f"the road server gives no table, but {failure}" if failure else "the table is null")
    names = list(tables)
    if columns is not None and (isinstance(columns, str) or len(columns) != 1 or columns[0] not in tables):
        raise InstanceError(f"columns={columns!r} must be a list with one of the tables: {', '.join(names)}")
    chosen = names[0] if columns is None else columns[0]
    if columns is None and len(tables) > 1:
        warn_user(
            f"the road server gives {' and '.join(names)}; its {chosen} are taken, and with columns=['{names[1]}'] "
            f"(--columns {names[1]}) its {names[1]}"
        )
    _check_places(document)
    return tables[chosen], _labels(document, len(tables[chosen]))


def _tables(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the tables of a document, by name."""
    nested = document.get(_NESTED)
    if isinstance(nested, Mapping):
        document = nested
    elif isinstance(nested, list):
        return {_CELLS[key]: [[_cell(cell, key) for cell in row] for row in _rows(nested)] for key in _CELLS}
    return {name: _rows(document[name], name) for name in _TABLES if document.get(name) is not None}


def _rows(table: Any, name: str = _NESTED) -> list[Any]:
    if not isinstance(table, list | tuple) or not all(isinstance(row, list | tuple) for row in table):
        raise InstanceError(f"{name} must be a list of rows, each a list of numbers")
    return list(table)


def _cell(cell: Any, key: str) -> Any:
    return cell.get(key) if isinstance(cell, Mapping) else cell


def _failure(document: Mapping[str, Any]) -> str:
    """Return what a server says in place of a table."""
    code = document.get("code")
    if not isinstance(code, str) or code == "Ok":
        return ""
    return f"code {code:.60}: {str(document.get('message', ''))!r:.200}"


def _check_places(document: Mapping[str, Any]) -> None:
    """Refuse a table from some places to others: a tour needs the ways between all of them."""
    sources, targets = (_places(document.get(key)) for key in ("sources", "destinations"))
    if sources is None or targets is None:
        return
    odd = next((k for k, pair in enumerate(zip(sources, targets, strict=False)) if pair[0] != pair[1]), None)
    if odd is None and len(sources) == len(targets):
        return
    found = f"there are {len(sources)} and {len(targets)}"
    if odd is not None:
        found = f"number {odd} (counted from 0) is at {sources[odd]!r:.60} and {targets[odd]!r:.60}"
    raise InstanceError(f"sources and destinations must be the same places, in the same order; {found}")


def _places(listed: Any) -> list[Any] | None:
    """Return the locations of a table's sources or destinations, if it has them."""
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) and "location" in each for each in listed):
        return None
    return [each["location"] for each in listed]


def _labels(document: Mapping[str, Any], n: int) -> list[str] | None:
    """Return the names of the sources, if any has one."""
    listed = document.get("sources")
    if not isinstance(listed, list) or len(listed) != n:
        return None
    names = [str(each.get("name") or "") if isinstance(each, Mapping) else "" for each in listed]
    return names if any(names) else None
