"""The emulated GPU: it finds what c does, in blocks and in threads, and only tests know of it."""

from __future__ import annotations

from typing import Any

import emulated
import numpy as np
import pytest

import pytsp
from pytsp import Instance
from pytsp.backends import Backend, open_backend, status
from pytsp.cli.commands import main
from pytsp.exceptions import BackendError
from pytsp.solvers.speeds import BYTES

POINTS = np.random.default_rng(0).integers(0, 1000, (60, 2))
INSTANCES = {
    "grid": Instance.from_coordinates(POINTS, metric="EUC_2D"),
    "plane": Instance.from_coordinates(POINTS, metric="euclidean"),
    "matrix": Instance.from_matrix(Instance.from_coordinates(POINTS, metric="EUC_2D").distance_matrix()),
}
MAPPINGS = {"restarts": ("block", "thread"), "ils": ("block", "thread", "lockstep")}
OPTIONS: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 5, "k": 2},
    "two-opt": {"start": "random"},
    "ils": {"climbers": 3, "iterations": 40, "moves": "3-opt"},
    "eax": {"climbers": 8, "moves": "flat"},
    "annealing": {"climbers": 2, "iterations": 50},
    "ants": {"climbers": 2, "iterations": 5},
}

CASES = [
    (solver, kind, mapping)
    for solver in OPTIONS
    for kind in INSTANCES
    for mapping in MAPPINGS.get(solver, ("block", "thread"))
    # Crossover has no blocks.
    if solver != "eax" or mapping == "thread"
]


@pytest.mark.parametrize("name", [emulated.NAMED])
@pytest.mark.parametrize(("solver", "kind", "mapping"), CASES)
def test_a_gpu_finds_what_c_does(
    solver: str, kind: str, mapping: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A city too large for any block.
    if mapping == "thread" and solver not in MAPPINGS:
        monkeypatch.setitem(BYTES, "search block, city", 2**30)
    options = OPTIONS[solver] | ({"mapping": mapping} if solver in MAPPINGS else {})
    found = pytsp.solve(INSTANCES[kind], solver=solver, backend=name, **options)
    expected = pytsp.solve(INSTANCES[kind], solver=solver, backend="c", **OPTIONS[solver])
    assert (found.length, found.climber, found.stop_reason) == (
        expected.length,
        expected.climber,
        expected.stop_reason,
    )
    for field in ("tour", "lengths", "steps", "passes", "done"):
        assert np.array_equal(getattr(found, field), getattr(expected, field)), field
    assert solver not in MAPPINGS or found.mapping == mapping


def test_only_tests_know_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert emulated.NAME not in [each.name for each in status()]
    assert open_backend().name != emulated.NAME
    assert main(["backends"]) == 0
    assert emulated.NAME not in capsys.readouterr().out


@pytest.mark.parametrize("name", [emulated.NAMED])
@pytest.mark.parametrize("kind", INSTANCES)
def test_blocks_make_the_chains_that_c_makes(kind: str, name: str) -> None:
    options = OPTIONS["ils"] | {"moves": "lk"}
    found = pytsp.solve(INSTANCES[kind], solver="ils", backend=name, **options)
    expected = pytsp.solve(INSTANCES[kind], solver="ils", backend="c", **options)
    assert found.mapping != expected.mapping
    assert np.array_equal(found.tour, expected.tour)
    assert np.array_equal(found.lengths, expected.lengths)
    assert np.array_equal(found.steps, expected.steps)


@pytest.mark.parametrize("name", [emulated.NAMED])
def test_chains_of_cities_that_fit_no_block_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BYTES, "search block, city", 2**10)
    words = (
        "moves='lk' needs a thread block a climber on a GPU, up to 22 cities .*; with mapping='thread' take 'or-opt'"
    )
    with pytest.raises(ValueError, match=words):
        pytsp.solve(INSTANCES["grid"], solver="ils", backend=name, moves="lk")
    assert pytsp.solve(INSTANCES["grid"], solver="ils", backend=name, iterations=3).mapping == "thread"


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Backends and entry points in the order of calls."""
    entries: list[str] = []
    call = Backend.call

    def noted(self: Backend, entry: str, *arguments: object) -> Any:
        entries.append(f"{self.name} {entry}")
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", noted)
    return entries


def assert_same(found: pytsp.Result, expected: pytsp.Result) -> None:
    assert found.length == expected.length
    for field in ("tour", "lengths", "steps"):
        assert np.array_equal(getattr(found, field), getattr(expected, field)), field


@pytest.mark.parametrize("name", [emulated.NAMED])
@pytest.mark.parametrize("kind", INSTANCES)
@pytest.mark.parametrize("options", [{}, {"initial_tour": list(range(60))}])
def test_populations_start_and_cross_on_the_gpu(
    kind: str, options: dict[str, Any], name: str, called: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # No host is needed, and without one no other moves are made by default.
    monkeypatch.setattr("pytsp.solvers.eax.host_kernels", lambda kernels: None)
    monkeypatch.setattr("pytsp.neighbours.boxes.LISTED_ON_A_GPU", 1)
    found = pytsp.solve(INSTANCES[kind], solver="eax", backend=name, climbers=8, **options)
    verbs = ("bulk", "cross", *["rounds"] * bool(options))
    assert all(f"{name} {kind}_{verb}" in called for verb in verbs)
    assert all(entry.startswith(f"{name} ") for entry in called)
    assert_same(found, pytsp.solve(INSTANCES[kind], solver="eax", backend="c", climbers=8, moves="flat", **options))


@pytest.mark.parametrize("name", [emulated.NAMED])
@pytest.mark.parametrize("kind", INSTANCES)
@pytest.mark.parametrize("options", [{}, {"initial_tour": list(range(60))}])
@pytest.mark.parametrize("moves", ["or-opt", "3-opt", "lk"])
def test_populations_make_other_moves_on_the_host(
    kind: str, options: dict[str, Any], moves: str, name: str, called: list[str]
) -> None:
    found = pytsp.solve(INSTANCES[kind], solver="eax", backend=name, climbers=8, moves=moves, **options)
    there = {entry.removeprefix(f"{name} {kind}_") for entry in called if entry.startswith(f"{name} {kind}_")}
    assert there == {"load", "cross"}
    assert_same(found, pytsp.solve(INSTANCES[kind], solver="eax", backend="c", climbers=8, moves=moves, **options))


@pytest.mark.parametrize("name", [emulated.NAMED])
def test_moves_of_a_host_that_is_none_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.solvers.eax.host_kernels", lambda kernels: None)
    words = r"moves='lk' are made by a CPU, and no kernels of one can run here; take moves='flat'"
    with pytest.raises(BackendError, match=words):
        pytsp.solve(INSTANCES["grid"], solver="eax", backend=name, moves="lk")
