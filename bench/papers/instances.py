"""Instances of the papers: TSPLIB's files, or random cities in place of those that are not at hand."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytsp
from bench.harness.machine import LARGE, file_of
from pytsp.datasets.registry import tsplib

# The side of the square in which the cities of a stand-in lie, as in most of TSPLIB's plane instances.
SIDE = 10_000
# Up to that many cities a stand-in has a reference length in place of its optimum, by that many kicks a city.
REFERENCE_CITIES, KICKS_A_CITY, LEAST_KICKS = 5_000, 20, 20_000
ABOUT_STAND_INS = "Random cities stand in for instances that are not at hand; nothing here compares with the paper."

_STAND_INS: dict[str, None] = {}


def instance_of(folder: Path, name: str, *, with_reference: bool = False) -> pytsp.Instance:
    """Read an instance of a paper, or return a stand-in and print one line that says so.

    Parameters
    ----------
    folder : Path
        TSPLIB's files.
    name : str
        The instance's name, which ends with its number of cities.
    with_reference : bool
        Whether a stand-in has a reference length as its `optimum`, which takes some seconds.
    """
    large = LARGE / f"{name}.tsp.gz"
    file = large if large.is_file() else file_of(folder, name)
    if file is not None:
        return pytsp.read(file)
    if name not in _STAND_INS:
        _STAND_INS[name] = None
        print(f"{name} is not at hand: random cities stand in for it. To have it, {how_to_fetch(name)}.\n", flush=True)
    return with_a_reference(name) if with_reference else stand_in(name)


def how_to_fetch(name: str) -> str:
    """Say how the user gets an instance."""
    if name in {each.name for each in tsplib()}:
        return f"run 'pytsp datasets --fetch {name}'"
    return f"put {name}.tsp.gz into {LARGE}"


def stand_ins() -> list[str]:
    """Name the instances for which random cities stood in so far in this process."""
    return list(_STAND_INS)


@functools.cache
def stand_in(name: str) -> pytsp.Instance:
    """Make random cities, as many as an instance's name says, and the same for the same name."""
    points = pytsp.generate.uniform(cities_of(name), crc32(name.encode()) % 10**9).coordinates
    assert points is not None
    return pytsp.Instance.from_coordinates(points // (10**6 // SIDE), "EUC_2D", name=name)


@functools.cache
def with_a_reference(name: str) -> pytsp.Instance:
    """Make the same, with the length of a tour by iterated local search as `optimum` if there are few cities."""
    made = stand_in(name)
    if made.n > REFERENCE_CITIES:
        return made
    kicks = max(LEAST_KICKS, KICKS_A_CITY * made.n)
    found = pytsp.solve(made, solver="ils", moves="3-opt", climbers=1, iterations=kicks, seed=0, backend="c")
    return replace(made, optimum=found.length)


def cities_of(name: str) -> int:
    """Read the number of cities that ends an instance's name."""
    digits = re.search(r"\d+$", name)
    if digits is None:
        raise ValueError(f"the name of an instance must end with its number of cities; it is {name!r}")
    return int(digits[0])
