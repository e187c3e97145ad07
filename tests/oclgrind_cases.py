"""A program that test_oclgrind.py runs under oclgrind: climbers of the opencl backend, compared with those of c.

With the argument "no-barriers", the kernels are compiled with their barriers taken out.
"""

from __future__ import annotations

import sys
from contextlib import suppress

import numpy as np

from pytsp import Instance, backends, solve
from pytsp.exceptions import PytspError


def instance_of(kind: str, n: int) -> Instance:
    """Random cities that a kernel takes as a fine or a coarse grid, as points of the plane, or as a matrix."""
    side = {"coarse": 30_000}.get(kind, 60)
    points = np.random.default_rng(n).integers(0, side, (n, 2))
    if kind == "matrix":
        return Instance.from_coordinates(points, metric="MAN_2D")
    return Instance.from_coordinates(points / 2 if kind == "plane" else points)


def compare(kind: str, n: int, mapping: str, k: int | str) -> None:
    """Say whether three climbers of opencl end where those of c do."""
    instance = instance_of(kind, n)
    found = solve(instance, climbers=3, backend="opencl", mapping=mapping, k=k)
    expected = solve(instance, climbers=3, backend="c", k=k)
    fields = ("lengths", "steps", "passes", "tour")
    equal = all(np.array_equal(getattr(found, field), getattr(expected, field)) for field in fields)
    print(f"{kind} {n} {found.mapping} {k}: {'equal' if equal else 'DIFFERENT'}", flush=True)


def main() -> None:
    """Run all cases, or without barriers one."""
    if sys.argv[1:] == ["no-barriers"]:
        backends._OPENCL_PREFIX = b"#define barrier(flags)\n" + backends._OPENCL_PREFIX
        # What races leave behind is hardly a tour.
        with suppress(PytspError):
            compare("fine", 24, "block", 1)
        return
    for n in (24, 30):
        for mapping in ("block", "thread"):
            for k in (1, "inf"):
                compare("fine", n, mapping, k)
    for kind in ("coarse", "plane", "matrix"):
        for mapping in ("block", "thread"):
            compare(kind, 30, mapping, 1)
    compare("fine", 9, "auto", 2)


if __name__ == "__main__":
    main()
