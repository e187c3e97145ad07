"""TSPLIB's instances: their sizes, metrics, checksums, and the lengths of their shortest tours, each proven optimal.

Source: the lists of optimal solutions for symmetric and asymmetric TSPs that G. Reinelt published with TSPLIB 95; the
last proof (pla85900) is that of D. Applegate and others, *Certification of an optimal TSP tour through 85,900 cities*,
Operations Research Letters 37 (2009). The tests compare them with the independent list, and with the optimal tours,
that come with the test instances.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

with Path(__file__).with_name("tsplib.csv").open(encoding="ascii", newline="") as _lines:
    _ROWS = [*csv.DictReader(_lines)]
_SYMMETRIC = [row for row in _ROWS if row["type"] == "TSP"]

OPTIMA: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        metric: {row["name"]: int(row["optimum"]) for row in _SYMMETRIC if row["metric"] == metric and row["optimum"]}
        for metric in ("ATT", "CEIL_2D", "EUC_2D", "EXPLICIT", "GEO")
    }
)
"""Optimal length of the symmetric instances by metric and name; every name ends in its number of cities.

linhp318 is left out: its 41345 is that of a tour with its fixed edge (`FIXED_OPTIMA`).
"""

FIXED_OPTIMA: Mapping[str, int] = MappingProxyType({"linhp318": 41345, "lin318": 41345})
"""Optimal length of the instances that have fixed edges, without the length of these, by name.

The file of linhp318 calls itself lin318. Its edge joins the ends of the shortest Hamiltonian path between two cities.
"""

DIRECTED_OPTIMA: Mapping[str, tuple[int, int]] = MappingProxyType(
    {row["name"]: (int(row["n"]), int(row["optimum"])) for row in _ROWS if row["type"] == "ATSP"}
)
"""Number of cities and optimal length of the instances of TYPE ATSP, by name; not every name ends in the number."""

FILES: Mapping[str, tuple[int, str | None, str | None]] = MappingProxyType(
    {
        # There are files of dsj1000 of two metrics.
        row["name"]: (int(row["n"]), row["metric"] if row["name"] != "dsj1000" else None, row["sha256"] or None)
        for row in _SYMMETRIC
    }
)
"""Number of cities, EDGE_WEIGHT_TYPE and the file's checksum (SHA-256) of the symmetric instances, as far as known."""

_NUMBER_AT_END = re.compile(r"\d+$")
_BY_METRIC_AND_NAME = {
    (metric, name.lower()): length for metric, lengths in OPTIMA.items() for name, length in lengths.items()
}


def optimum_of(name: str, n: int, metric: str | None = None, *, has_fixed: bool = False) -> int | None:
    """Return the length of a shortest tour of TSPLIB's instance `name`, or None where it is not known.

    Case does not matter, nor does ``.tsp``. Another number of cities means another instance. Without `metric`, None
    where two metrics give two lengths (dsj1000). With `has_fixed`, the optimum lacks the length of the fixed edges.
    """
    key = name.strip().lower().removesuffix(".tsp")
    ending = _NUMBER_AT_END.search(key)
    if ending is None or ending.group() != str(n):
        return None
    if has_fixed:
        return FIXED_OPTIMA.get(key)
    metrics = OPTIMA if metric is None else (metric.upper(),)
    lengths = {length for each in metrics if (length := _BY_METRIC_AND_NAME.get((each, key))) is not None}
    return lengths.pop() if len(lengths) == 1 else None


def directed_optimum_of(name: str, n: int) -> int | None:
    """Return the length of a shortest tour of TSPLIB's asymmetric instance `name` of `n` cities, or None."""
    cities, length = DIRECTED_OPTIMA.get(name.strip().lower().removesuffix(".atsp"), (0, 0))
    return length if cities == n else None
