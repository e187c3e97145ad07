"""Where the tests find TSPLIB's own files, which the repository does not hold."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data"
SHARED = ROOT.parent / "shared"
TSPLIB = SHARED / "tsplib"
OPTIMA = TSPLIB / "optima.csv"


def tsplib_file(name: str) -> Path:
    """The file `name` of TSPLIB, such as ``kroA100.tsp`` or ``a280.opt.tour``; skips the test without it."""
    for path in (TSPLIB / f"{name}.gz", TSPLIB / name):
        if path.is_file():
            return path
    pytest.skip(f"{name} is not there: TSPLIB's files are expected in {TSPLIB}")


def all_tsplib(max_n: int | None = None) -> list[str]:
    """Names of the instances of TSPLIB at hand, of at most `max_n` cities, smallest first."""
    names = [path.name.removesuffix(".tsp.gz") for path in TSPLIB.glob("*.tsp.gz")]
    sizes = {name: _cities(name) for name in names}
    return sorted(
        (name for name in names if max_n is None or sizes[name] <= max_n),
        key=lambda name: (sizes[name], name),
    )


def all_optimal_tours() -> list[str]:
    """Names of the instances of TSPLIB at hand that come with an optimal tour."""
    return sorted(path.name.removesuffix(".opt.tour.gz") for path in TSPLIB.glob("*.opt.tour.gz"))


def listed_optima() -> dict[str, int]:
    """Optimal lengths by name, as listed beside TSPLIB's files; skips the test without them."""
    if not OPTIMA.is_file():
        pytest.skip(f"the list of optimal lengths is expected in {OPTIMA}")
    with OPTIMA.open(encoding="ascii", newline="") as lines:
        return {row["name"]: int(row["optimum"]) for row in csv.DictReader(lines)}


def _cities(name: str) -> int:
    return int("".join(c for c in name if c.isdigit()))
