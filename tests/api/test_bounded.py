"""Solves that find a lower bound, too: what it holds of, what it stops, and what ends it early."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import cities
import numpy as np
import pytest
from clocks import KernelClock, fastest
from interruptions import Interruption
from processes import PATIENCE

import pytsp
from pytsp import Instance, InstanceError, Progress, Result
from pytsp.backends import Backend
from pytsp.checkpoint import container
from pytsp.cli.commands import main

CITIES = cities.uniform(40, side=2000)
WAYS = Instance.from_matrix(np.random.default_rng(5).integers(1, 10**4, (30, 30)), asymmetric=True)
# How a solve is bounded, and what of.
ASKED: dict[str, tuple[Instance, dict[str, Any]]] = {
    "tours": (CITIES, {}),
    "paths": (CITIES, {"open": True}),
    "paths from a city": (CITIES, {"open": True, "start_city": 7}),
    "directed tours": (WAYS, {}),
    "directed paths": (WAYS, {"open": True, "start_city": 7, "end_city": 3}),
    "floats": (cities.uniform(40, side=2000, metric="EUCLIDEAN"), {}),
}
# Of given neighbours, so that the first calls of kernels are those of the search.
SOLVE: dict[str, Any] = {"solver": "ils", "iterations": 300, "neighbours": 10, "backend": "c", "bound": True}


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a few hundred steps."""
    monkeypatch.setattr("pytsp.bound.held_karp.default_iterations", lambda n: 400)


@pytest.mark.parametrize("asked", ASKED)
def test_the_bound_is_that_of_what_is_solved(asked: str) -> None:
    instance, options = ASKED[asked]
    found = pytsp.solve(instance, **SOLVE, **options)
    plain = pytsp.solve(instance, **SOLVE | {"bound": False}, **options)
    assert found.lower_bound == pytsp.lower_bound(instance, **options).bound
    assert 0.9 * found.length < found.lower_bound <= found.length
    assert found.gap_bound == found.length / found.lower_bound - 1
    # The search does not know of it.
    assert found.tour.tolist() == plain.tour.tolist()
    assert (found.stop_reason, plain.lower_bound) == (plain.stop_reason, None)


@pytest.mark.parametrize("asked", ASKED)
def test_a_tour_near_the_bound_ends_a_solve(asked: str) -> None:
    instance, options = ASKED[asked]
    found = pytsp.solve(instance, **SOLVE | {"iterations": 10**9}, **options, target_gap=0.2)
    assert found.stop_reason == "proven"
    assert found.lower_bound is not None and found.length <= 1.2 * found.lower_bound
    assert found.history[-1].seconds <= found.seconds


def test_a_target_that_is_no_proof_is_none() -> None:
    found = pytsp.solve(CITIES, **SOLVE, target_gap=0, target=10**9)
    assert found.lower_bound is not None
    assert found.stop_reason == ("proven" if found.length == found.lower_bound else "target")
    assert found.length > found.lower_bound


def test_a_known_optimum_is_what_a_gap_is_measured_against() -> None:
    instance = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0], [5, 5]], "EUC_2D", optimum=39)
    found = pytsp.solve(instance, **SOLVE, target_gap=1)
    assert (found.stop_reason, found.gap) == ("target", found.length / 39 - 1)
    assert found.lower_bound is not None
    # That of tours is none of paths.
    assert pytsp.solve(instance, **SOLVE, open=True, target_gap=1).stop_reason == "proven"


def test_a_tour_as_long_as_the_bound_is_optimal() -> None:
    square = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]], "EUC_2D")
    found = pytsp.solve(square, **SOLVE | {"iterations": 10**9}, target_gap=0)
    assert found.is_proved and found.stop_reason == "proven"
    assert "bound     36 (the tour is optimal, proved)" in str(found)


@pytest.mark.parametrize("options", [{}, {"target_gap": 0.001}])
@pytest.mark.parametrize("asked", ASKED)
def test_the_bound_is_within_the_time_limit(
    asked: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = KernelClock(monkeypatch, 0.02)
    instance, more = ASKED[asked]
    found = pytsp.solve(instance, **SOLVE | {"iterations": 10**9}, **more, **options, time_limit=6)
    assert found.lower_bound is not None and 0.8 * found.length < found.lower_bound <= found.length
    # The last proof has begun, and some steps towards it; what is read of the search follows.
    assert clock.begun("ils", "near_graph_load", after=6.0) == 0
    assert clock.begun("ascend", after=6.0) < 2 and clock.begun(after=6.0) < 9


@pytest.mark.timed
@pytest.mark.parametrize("options", [{}, {"target_gap": 0.001}])
@pytest.mark.parametrize("asked", ASKED)
def test_the_bound_is_in_time(asked: str, options: dict[str, Any]) -> None:
    instance, more = ASKED[asked]
    solve = partial(pytsp.solve, instance, **SOLVE | {"iterations": 10**9}, **more, **options, time_limit=1)
    found: list[Result] = []

    def seconds() -> float:
        found.append(solve())
        return found[-1].seconds

    assert fastest(seconds, 2.0) < 2
    assert found[-1].lower_bound is not None


def test_there_is_no_bound_where_its_proof_does_not_fit(caplog: pytest.LogCaptureFixture) -> None:
    instance = cities.uniform(1500, side=10**5)
    for options in ({}, {"target_gap": 0.5}):
        found = pytsp.solve(instance, backend="c", bound=True, time_limit=0.1, **options)
        assert found.lower_bound is None
        assert "do not suffice for its proof" in caplog.text
        caplog.clear()


def raise_interrupt(_: Progress) -> None:
    raise KeyboardInterrupt


def end(_: Progress) -> bool:
    return True


@pytest.mark.parametrize("stop", [raise_interrupt, end])
@pytest.mark.parametrize("asked", ASKED)
def test_the_best_bound_so_far_is_left_where_it_is_ended(asked: str, stop: Any) -> None:
    instance, options = ASKED[asked]
    reported: list[Progress] = []

    def follow(now: Progress) -> Any:
        if now.phase == "lower bound":
            reported.append(now)
            assert now.tour.tolist() == plain.tour.tolist() and now.length == plain.length
            return stop(now) if now.iteration == 5 else None
        return None

    plain = pytsp.solve(instance, **SOLVE | {"bound": False}, **options)
    found = pytsp.solve(instance, **SOLVE, **options, progress=follow)
    assert found.lower_bound == reported[-1].lower_bound and len(reported) == 5
    assert (found.stop_reason, found.length) == (plain.stop_reason, plain.length)


@pytest.mark.parametrize(("stop", "reason"), [(raise_interrupt, "interrupted"), (end, "callback")])
@pytest.mark.parametrize("asked", ASKED)
def test_a_bound_that_comes_first_and_is_ended_leaves_a_tour(asked: str, stop: Any, reason: str) -> None:
    instance, options = ASKED[asked]
    reported: list[Progress] = []

    def follow(now: Progress) -> Any:
        if now.phase == "lower bound":
            reported.append(now)
            assert now.length == math.inf
            with pytest.raises(ValueError, match="no tour yet"):
                _ = now.tour
            return stop(now) if now.iteration == 5 else None
        return None

    found = pytsp.solve(instance, **SOLVE | {"iterations": 10**9}, **options, progress=follow, target_gap=0)
    assert (found.stop_reason, found.lower_bound) == (reason, reported[-1].lower_bound)
    measure = instance.path_length if found.is_open else instance.tour_length
    assert found.length == measure(found.tour) and len(reported) == 5


def test_a_search_that_is_ended_has_no_bound() -> None:
    found = pytsp.solve(CITIES, **SOLVE | {"iterations": 10**9}, progress=end)
    assert (found.stop_reason, found.lower_bound) == ("callback", None)


def test_a_bound_that_fails_costs_no_tour(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("pytsp.bound.held_karp.lower_bound", fail)
    found = pytsp.solve(CITIES, **SOLVE)
    assert (found.lower_bound, found.stop_reason) == (None, "finished")
    assert "no bound: no room" in caplog.text


def test_what_cannot_be_bounded_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backend, "call", None)
    many = Instance.from_coordinates(np.zeros((20_001, 2)), "MAN_2D")
    with pytest.raises(InstanceError, match="20001 cities; there are lower bounds"):
        pytsp.solve(many, bound=True)
    monkeypatch.setattr("pytsp.bound.held_karp.lower_bound", None)
    for options, said in (
        ({"bound": 1}, "bound must be True or False"),
        ({"time_limit": "1"}, "time_limit must be a number"),
        ({"target_gap": "1"}, "target_gap must be a number"),
        ({"target_gap": 0.1, "kicks": "many"}, "no such option|not known|has no effect with|kicks"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            pytsp.solve(CITIES, **{"bound": True, "backend": "c", **options})
    with pytest.raises(ValueError, match="target_gap must be a fraction"):
        pytsp.solve(CITIES, bound=True, target_gap=-1, backend="c")


def interrupted(at: int, path: Path) -> Result:
    """A solve that is interrupted at a kernel call, with its checkpoint."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", Interruption(at, after=True).call)
        return pytsp.solve(CITIES, **SOLVE, checkpoint=path, checkpoint_interval=0)


def interrupt_kicks(now: pytsp.Progress) -> None:
    if now.phase == "kicks" and now.iteration > 0:
        raise KeyboardInterrupt


def test_a_solve_that_goes_on_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.solvers.common.pacing.CALL_SECONDS", 1e-3)
    whole = pytsp.solve(CITIES, **SOLVE)
    path = tmp_path / "one"
    first = interrupted(6, path)
    assert (first.stop_reason, first.lower_bound) == ("interrupted", None)
    again = pytsp.resume(path)
    assert (again.lower_bound, again.tour.tolist()) == (whole.lower_bound, whole.tour.tolist())
    # A limit that is new is one of search and bound.
    assert pytsp.resume(path, time_limit=again.seconds + PATIENCE).lower_bound is not None


def test_a_bound_that_is_known_is_not_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.solvers.common.pacing.CALL_SECONDS", 1e-3)
    path = tmp_path / "one"
    # How many calls the bound takes depends on the machine.
    progress = interrupt_kicks
    first = pytsp.solve(CITIES, **SOLVE, target_gap=0, progress=progress, checkpoint=path, checkpoint_interval=0)
    assert first.stop_reason == "interrupted" and first.lower_bound is not None
    monkeypatch.setattr("pytsp.bound.held_karp.lower_bound", None)
    again = pytsp.resume(path)
    assert (again.lower_bound, again.stop_reason) == (first.lower_bound, "finished")
    assert pytsp.resume(path, target_gap=0.5).stop_reason == "proven"


def test_a_damaged_bound_in_a_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one"
    pytsp.solve(CITIES, **SOLVE, checkpoint=path)
    tree = container.read(path)
    tree["bound"]["lower_bound"] = "high"
    container.replace_file(path, lambda stream: container.write(stream, container.pack(tree)))
    with pytest.raises(pytsp.CheckpointError, match="bound.lower_bound of the checkpoint must be a number"):
        pytsp.resume(path)


def test_the_command_line_tells_the_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solve = ["solve", "uniform100", "--backend", "c", "--solver", "ils", "--iterations", "50", "--bound"]
    assert main(solve) == 0
    assert "% above the shortest)\n" in capsys.readouterr().out
    result = tmp_path / "one.json"
    assert main([*solve, "--json"]) == 0
    result.write_text(capsys.readouterr().out)
    reported = json.loads(result.read_text())
    assert reported["gap_bound"] == reported["length"] / reported["lower_bound"] - 1
    page = tmp_path / "one.html"
    pytest.importorskip("matplotlib")
    assert main(["report", str(result), "-o", str(page)]) == 0
    text = page.read_text()
    assert f", at most {100 * reported['gap_bound']:.2f} % above the shortest" in text
    assert f"{100 * reported['gap_bound']:.3f} %" in text and "above the shortest, at most" in text


def test_the_command_line_compares_with_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    compare = ["compare", "uniform100", "--backends", "c", "--climbers", "3", "--bound"]
    assert main([*compare, "--json"]) == 0
    gap = json.loads(capsys.readouterr().out)["comparison"][0]["gap_bound"]
    assert 0 < gap < 0.5
