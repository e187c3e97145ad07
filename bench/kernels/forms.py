"""Speed of the three forms of distances on one thread: the same random cities on a grid, in the plane, as a matrix.

The plane's cities have coordinates up to a million, too far apart for the grid; the grid's are a fiftieth of them, cut
off to whole numbers; the matrix holds the plane's distances.
"""

from __future__ import annotations

import argparse

import numpy as np

import pytsp
from bench.harness.machine import describe
from bench.harness.tables import print_head, row
from bench.kernels.cpu import rate
from pytsp.generate import uniform
from pytsp.problem.kernel_input import form_of

SIZES = (100, 200, 500, 1000, 2000, 4000)
FORMS = ("grid", "plane", "matrix")
SHRINK = 50


def instances(n: int) -> list[pytsp.Instance]:
    """Make the instances of n cities, in the order of `FORMS`."""
    plane = uniform(n, n)
    assert plane.coordinates is not None
    grid = pytsp.Instance.from_coordinates(np.floor(plane.coordinates / SHRINK), metric="EUC_2D")
    return [grid, plane, pytsp.Instance.from_matrix(plane.distance_matrix())]


def main() -> None:
    """Print the table; a cell names the form where `pytsp.problem.kernel_input` chose another."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=1.0, help="of each run (default: 1)")
    seconds = arguments.parse_args().seconds
    print(describe())
    print_head("n", *(f"{form}, G moves/s" for form in FORMS))
    for n in SIZES:
        cells = []
        for form, instance in zip(FORMS, instances(n), strict=True):
            kind = form_of(instance).kind
            cells.append(f"{rate(instance, 'c', seconds):.2f}" + (f" ({kind})" if kind != form else ""))
        print(row(n, *cells), flush=True)


if __name__ == "__main__":
    main()
