"""Hostile input: for each an exact answer of every solver that takes it, or an error that says what is wrong.

`docs/trust.md` shows the same table; a test compares them.
"""

from __future__ import annotations

import gzip
import itertools
import math
import os
import re
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from paths import ROOT
from processes import run_python

import pytsp
from pytsp import Instance, PytspError, Result
from pytsp.backends import Backend

SMALL: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 20},
    "ils": {"climbers": 2, "iterations": 30},
    "eax": {"climbers": 8},
    "large": {"iterations": 2, "piece": 8},
    "two-opt": {"k": "inf"},
    "annealing": {"climbers": 2, "iterations": 60},
    "ants": {"climbers": 1, "iterations": 20},
}
# Sizes at which all tours can be tried, and every solver here finds the shortest.
TRIED = 5
RNG = np.random.default_rng(6)
CITIES = RNG.integers(0, 1000, (12, 2))
EXACT = "exact"


@dataclass(frozen=True)
class Case:
    """An input, and what comes of it: EXACT, or a pattern of the error's text.

    `kind` is the error where it is none of pytsp's own.
    """

    name: str
    make: Callable[[], Any]
    outcome: str = EXACT
    kind: type[Exception] = PytspError


def distances(n: int = 12, unit: float = 1) -> NDArray[Any]:
    """A symmetric matrix of numbers up to 1000 units, in the unit's own type."""
    half = np.triu(np.random.default_rng(n).integers(1, 1000, (n, n)), 1)
    return (half + half.T) * unit


def changed(i: int, j: int, value: float) -> NDArray[np.float64]:
    """The matrix with one pair of elements replaced."""
    matrix = distances() * 1.0
    matrix[i, j] = matrix[j, i] = value
    return matrix


def plane(points: Any, metric: str = "EUC_2D") -> Callable[[], Instance]:
    """Make an instance later, so that a refusal belongs to its test."""
    return lambda: Instance.from_coordinates(points, metric)


def explicit(matrix: Any, **options: Any) -> Callable[[], Instance]:
    return lambda: Instance.from_matrix(matrix, **options)


def raw(data: Any) -> Callable[[], Any]:
    """What is given to `solve` as it is."""
    return lambda: data


def two_clusters(apart: float) -> NDArray[np.float64]:
    return np.vstack((RNG.random((8, 2)), RNG.random((8, 2)) + [apart, 0]))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array = array.copy()
    array.setflags(write=False)
    return array


TOO_LONG = "the longest distance is .* kernels take distances up to 1073741823: divide"
NOT_NUMBERS = "must hold integers or floats of at most 64 bits, but the dtype is "
MIXED: Any = [[0, 0], [3, "4"], [1, 1], [2, 2]]

CASES = [
    Case("no cities", raw([]), "the shape is"),
    Case("no cities, shape (0, 2)", raw(np.zeros((0, 2))), "n at least 1, but the shape is"),
    Case("no distances, shape (0, 0)", explicit(np.zeros((0, 0))), "n at least 1, but the shape is"),
    *(Case(f"{n} {'city' if n == 1 else 'cities'}", plane(CITIES[:n])) for n in range(1, TRIED + 1)),
    *(Case(f"{n} × {n} distances", explicit(distances(n))) for n in range(1, TRIED + 1)),
    Case("all cities in one place", plane(np.full((12, 2), 7))),
    Case("all cities in one place, not rounded", plane(np.full((12, 2), 7.25), "EUCLIDEAN")),
    Case("all distances zero", explicit(np.zeros((12, 12), int))),
    Case("half of the distances zero", explicit(np.where(distances() < 500, 0, distances()))),
    Case("two clusters 10^8 apart", plane(two_clusters(1e8), "EUCLIDEAN")),
    Case("two clusters 10^12 apart", plane(two_clusters(1e12), "EUCLIDEAN")),
    Case("cities on one line", plane(np.column_stack((RNG.permutation(20), np.zeros(20))))),
    Case("cities on a slant, not rounded", plane(np.outer(RNG.permutation(20), [1 / 3, 1 / 7]), "EUCLIDEAN")),
    Case("a unit square of floats", raw(RNG.random((TRIED, 2)))),
    Case("distances below 1", raw(distances(unit=1e-3))),
    Case("coordinates to ±10^9, not rounded", plane(RNG.uniform(-1e9, 1e9, (12, 2)), "EUCLIDEAN")),
    Case("coordinates to ±10^9, rounded", plane([[-(10**9), 0], [10**9, 0], [0, 5], [7, 10**9]]), TOO_LONG),
    Case("coordinates near 10^9, rounded", plane(CITIES + 10**9)),
    Case("coordinates to 10^300", plane(CITIES * 1e298, "EUCLIDEAN"), "scale the coordinates down"),
    Case("coordinates of 10^-9", plane(CITIES * 1e-12, "EUCLIDEAN")),
    Case("coordinates of 10^-9, rounded to 0", plane(CITIES * 1e-12)),
    Case("coordinates of 10^-135", plane(CITIES * 1e-138, "EUCLIDEAN")),
    Case("coordinates of 10^-150", plane(CITIES * 1e-153, "EUCLIDEAN"), "scale the coordinates up"),
    Case("distances of 10^-310", explicit(distances(unit=1e-313))),
    Case("lengths beyond 2^31", explicit(distances() * 2**20)),
    Case("lengths beyond 2^53, floats", explicit(distances(unit=2.0**50))),
    Case("distances of 10^300", explicit(distances(unit=1e298))),
    Case("distances beyond 2^30, integers", explicit(distances() * 2**25), TOO_LONG),
    Case("lengths beyond 2^63", explicit(distances() * 2**53), "must not exceed .*, for a tour of 12 cities"),
    Case("a negative distance", explicit(changed(2, 5, -1)), r"must not be negative, but \[2, 5\] is -1"),
    Case("a distance that is nan", explicit(changed(2, 5, math.nan)), r"must hold numbers, but \[2, 5\] is nan"),
    Case("a distance that is infinite", explicit(changed(2, 5, math.inf))),
    Case("a distance that is minus infinity", explicit(changed(2, 5, -math.inf)), "must not be negative, .* is -inf"),
    Case("a distance of 10^12 among those up to 1000", explicit(changed(2, 5, 1e12))),
    Case("a distance of 2^31 - 1, integers", explicit(changed(2, 5, 2**31 - 1).astype(int))),
    Case("a distance of 2^40, integers", explicit(changed(2, 5, 2**40).astype(int))),
    Case("a coordinate that is nan", plane([[0, 0], [1, math.nan]]), r"must be finite, but \[1, 1\] is nan"),
    Case("a coordinate that is infinite", plane([[0, 0], [-math.inf, 1]]), r"must be finite, but \[1, 0\] is -inf"),
    Case("a matrix that is not square", raw(np.ones((4, 5))), r"must have shape .* the shape is \(4, 5\)"),
    Case("a 3 × 3 array", raw(np.zeros((3, 3))), "are coordinates or distances: metric= makes them coordinates"),
    Case("rows of different lengths", raw([[0, 0], [1], [2, 2]]), "must be a rectangular array of numbers"),
    Case("an asymmetric matrix", raw(np.triu(distances())), r"must be symmetric, but \[0, 1\] .*asymmetric=True"),
    Case("an asymmetric matrix, asymmetric=True", explicit(np.triu(distances()), asymmetric=True)),
    Case("half precision", raw(CITIES.astype(np.float16))),
    Case("single precision", raw(CITIES.astype(np.float32))),
    Case("bytes as numbers", raw((CITIES % 256).astype(np.uint8))),
    Case("big-endian floats", raw(CITIES.astype(">f8"))),
    Case("big-endian integers, a matrix", raw(distances().astype(">i4"))),
    Case("columns first in memory", raw(np.asfortranarray(CITIES))),
    Case("every second row, backwards", raw(np.repeat(CITIES, 2, axis=0)[::-2])),
    Case("a read-only array", raw(read_only(CITIES))),
    Case("whole coordinates beyond 2^53", raw([[0, 0], [1, 2**53 + 1], [2, 2], [3, 3]]), r"must not exceed 2\*\*53"),
    Case("numbers beyond 64 bits", raw([[0, 0], [1, 10**400], [2, 2], [3, 3]]), NOT_NUMBERS + "object"),
    Case("strings for numbers", raw([["0", "0"]] * 4), NOT_NUMBERS + "<U1"),
    Case("a string among numbers", raw(MIXED), NOT_NUMBERS + "<U"),
    Case("None among numbers", raw([[0, 0], [1, None], [2, 2], [3, 3]]), NOT_NUMBERS + "object"),
    Case("truth values", raw(np.ones((4, 2), bool)), NOT_NUMBERS + "bool"),
    Case("complex numbers", raw(np.ones((4, 2), complex)), NOT_NUMBERS + "complex128"),
    Case("dates", raw(np.ones((4, 2), "M8[s]")), NOT_NUMBERS + "datetime64"),
    Case("a masked array", raw(np.ma.masked_less(CITIES, 9)), "does not say what its masked elements are"),
    Case("masked coordinates", plane(np.ma.masked_less(CITIES, 9)), "does not say what its masked elements are"),
    Case("the name of a file", raw("cities.tsp"), "it is a str; pytsp.read reads files", TypeError),
    Case("nothing", raw(None), "it is a NoneType", TypeError),
]


def solved(data: Any, solver: str, backend: Backend) -> Result:
    """One solver's result; `solve_many` stands for a solver, too."""
    if solver == "solve_many":
        instance = data if isinstance(data, Instance) else pytsp.as_instance(data)
        return pytsp.solve_many([instance], backend=backend.name, climbers=8)[0]
    return pytsp.solve(data, solver=solver, backend=backend.name, **SMALL[solver])


def assert_exact(result: Result) -> None:
    """The tour is one, and its length what plain Python makes of the distances; of few cities it is the shortest."""
    n = result.instance.n
    matrix = result.instance.distance_matrix().tolist()
    assert sorted(result.tour.tolist()) == list(range(n))
    assert result.length == length_of(result.tour.tolist(), matrix)
    assert math.isfinite(result.length)
    if n <= TRIED:
        tours = ([0, *rest] for rest in itertools.permutations(range(1, n)))
        assert result.length <= min(length_of(tour, matrix) for tour in tours) * (1 + 1e-15)


def assert_same_numbers(instance: Instance, data: Any) -> None:
    """An array reaches the solver number by number, however it lies in memory."""
    if not isinstance(data, Instance):
        held = instance.matrix if instance.coordinates is None else instance.coordinates
        assert held is not None and held.tolist() == [[number.item() for number in row] for row in data]


def length_of(tour: list[int], matrix: list[list[float]]) -> float:
    edges = [matrix[a][b] for a, b in itertools.pairwise([*tour, tour[0]])]
    return sum(edges) if all(isinstance(edge, int) for edge in edges) else math.fsum(edges)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hostile_input(backend: Backend, case: Case) -> None:
    for solver in (*SMALL, "solve_many"):
        if solver == "large" and backend.device is not None:
            continue
        if case.outcome == EXACT and not refuses(solver, case.make()):
            data = case.make()
            result = solved(data, solver, backend)
            assert_exact(result)
            assert_same_numbers(result.instance, data)
            continue
        # A solver that takes nothing of this kind may say so first.
        words = [REFUSED[solver]] if solver in REFUSED else []
        words += [case.outcome] if case.outcome != EXACT else []
        with pytest.raises(case.kind, match="|".join(words)):
            solved(case.make(), solver, backend)


# What a solver does not take, though others do.
REFUSED = {"large": "needs cities in the plane", "solve_many": "its distances are asymmetric"}


def refuses(solver: str, data: Any) -> bool:
    instance = data if isinstance(data, Instance) else pytsp.as_instance(data)
    if solver == "solve_many":
        return instance.asymmetric
    return solver == "large" and instance.coordinates is None and instance.n >= 8


def test_lines_and_clusters_are_solved_to_optimality(backend: Backend) -> None:
    cases = {case.name: case.make() for case in CASES if case.name.startswith(("two clusters", "cities on"))}
    for name, instance in cases.items():
        for solver in ("ils", "eax"):
            points = instance.coordinates[solved(instance, solver, backend).tour]
            # Along the axis of both clusters, and of every line, a shortest tour goes once there and once back.
            way = np.abs(np.diff(points[:, 0], append=points[0, 0])).sum()
            apart = 2 * np.ptp(points[:, 0])
            assert way <= apart * (1 + 1e-12) + (16 if name.startswith("two") else 0)


def test_long_lengths_are_exact_where_nothing_is_searched() -> None:
    weights = distances(TRIED) * 2**49
    instance, tour = Instance.from_matrix(weights), list(range(TRIED))
    assert instance.tour_length(tour) == length_of(tour, weights.tolist()) > 2**53


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(
            (name, "1")
            for name in ("time_limit", "target", "patience", "temperature", "seed", "climbers", "k", "first")
        ),
        *((name, "0.5") for name in ("cooling", "alpha", "beta", "evaporation", "smoothing", "target_gap")),
        *((name, True) for name in ("time_limit", "target", "patience", "temperature", "seed", "climbers")),
        *((name, math.nan) for name in ("time_limit", "target", "patience", "temperature", "cooling", "alpha", "k")),
        ("iterations", "5"),
        ("initial_tour", "012345678901"),
        ("initial_tour", np.arange(12) * 1.0),
        ("initial_tour", np.ma.masked_equal(np.arange(12), 3)),
    ],
)
def test_arguments_that_are_no_numbers_are_named(argument: str, value: Any) -> None:
    word = {"initial_tour": "tour"}.get(argument, argument)
    with pytest.raises((TypeError, ValueError), match=rf"\b{word}\b.* must "):
        pytsp.solve(Instance.from_coordinates(CITIES, metric="EUC_2D"), backend="c", **{argument: value})


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        ("progress", 5, "progress must be callable; it is 5"),
        ("on_improvement", "tell", "on_improvement must be callable; it is 'tell'"),
        ("checkpoint", "", "checkpoint must be the name of a file; it is ''"),
        ("checkpoint", 5, "checkpoint must be a path; it is 5"),
        ("seed", "random", "seed must be a whole number; it is 'random'"),
    ],
)
def test_arguments_of_another_kind_are_named(argument: str, value: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{words}$"):
        pytsp.solve(Instance.from_coordinates(CITIES, metric="EUC_2D"), backend="c", **{argument: value})


def test_a_device_that_no_gpu_can_be_is_named() -> None:
    if any(device.is_gpu for found in pytsp.backends.status() for device in found.devices):
        pytest.skip("there is a GPU, which names its devices")
    with pytest.raises(pytsp.BackendUnavailable, match="^device=99 is for a GPU, and none can run here: cuda: "):
        pytsp.solve(Instance.from_coordinates(CITIES, metric="EUC_2D"), device=99)


def test_what_is_written_the_other_way_round_is_named(tmp_path: Path) -> None:
    instance, path = Instance.from_coordinates(CITIES, metric="EUC_2D"), str(tmp_path / "x.tsp")
    with pytest.raises(TypeError, match=r"^target, the first argument, must be a path; it is Instance\("):
        pytsp.write(instance, path)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^instance must be a pytsp.Instance; it is a str$"):
        pytsp.write(path, path)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^target, the first argument, must be a path; it is \[0, 1, 2"):
        pytsp.write_tour([*range(10**6)], path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^file must be the name of a file; it is ''$"):
        pytsp.resume("")
    assert not list(tmp_path.iterdir())


# Files


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b" \n\t\r\n", "the file is empty"),
        (b"\0" * 100, "is not understood"),
        (gzip.compress(b""), "the file is empty"),
        (gzip.compress(bytes(100 << 20), 9), "expands to more than"),
        (
            b"NAME: x\nTYPE: TSP\nDIMENSION: 999999999999\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n",
            "needs",
        ),
        (b"DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 zero\n2 1 1\n", "'zero' is not a number"),
    ],
    ids=["empty", "blank", "zeros", "empty gzip", "gzip bomb", "huge dimension", "a word for a number"],
)
def test_hostile_files(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "hostile.tsp").write_bytes(content)
    with pytest.raises(pytsp.TsplibError, match=rf"hostile\.tsp.*{words}"):
        pytsp.read(tmp_path / "hostile.tsp")


@pytest.mark.parametrize("ending", ["tsp", pytest.param("csv", marks=pytest.mark.slow)])
def test_a_file_that_exceeds_the_memory_is_told_in_one_line(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"gigantic.{ending}"
    path.touch()
    try:
        os.truncate(path, 2**38)
    except OSError as error:
        pytest.skip(f"no file of this size here: {error}")

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))

    done = run_python("-m", "pytsp", "info", path, preexec_fn=bounded)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(
        r"pytsp: .*(do not fit into memory|the memory does not suffice|line contains NUL).*\n", done.stderr
    )


# The documentation


def rows() -> list[str]:
    """The table of docs/trust.md, row by row."""
    return [f"| {case.name} | {'exact' if case.outcome == EXACT else shown(case)} |" for case in CASES]


def shown(case: Case) -> str:
    """The error and its words, without what makes them a pattern."""
    words = re.sub(r"\\(.)", r"\1", case.outcome.replace(".*", "…")).strip()
    kind = "InstanceError" if case.kind is PytspError else case.kind.__name__
    return f"`{kind}`: … {words} …"


def test_the_documentation_shows_this_table() -> None:
    page = ROOT / "docs" / "trust.md"
    if not page.is_file():
        pytest.skip("docs/ is not there: no checkout")
    shown = page.read_text(encoding="utf-8").partition("| input |")[2].partition("\n\n")[0].splitlines()[2:]
    assert shown == rows()


def test_every_test_that_the_documentation_names_is_there() -> None:
    page = ROOT / "docs" / "trust.md"
    if not page.is_file():
        pytest.skip("docs/ is not there: no checkout")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text(encoding="utf-8"))
    assert len(named) > 20
    missing = [(file, name) for file, name in named if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")]
    assert missing == []
