"""What ends a solve early: targets, patience, and time that is over before, or that what cannot be cut does not fit."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cities
import numpy as np
import pytest
from clocks import Clock, KernelClock
from hypothesis import given
from hypothesis import strategies as st
from processes import run_python

import pytsp
from pytsp import Instance, Limits, Result
from pytsp.backends import Backend
from pytsp.cli import commands as cli
from pytsp.cli.arguments import time_left
from pytsp.neighbours.lists import neighbour_lists
from pytsp.run.monitor import Watch
from pytsp.solvers.large import pieces as _pieces
from pytsp.solvers.speeds import SPEEDS
from pytsp.starts.nearest_unvisited import nearest_neighbour_order
from pytsp.utils.deadline import OutOfTime, look, looking

uniform = partial(cities.uniform, side=5000)


def assert_whole(result: Result) -> None:
    """The tour is one, of that length, and at least as short as all that were told."""
    assert pytsp.is_tour(result.tour, result.instance.n)
    assert result.instance.tour_length(result.tour) == result.length == result.history[-1].length
    assert str(result.instance.n) in str(result)


# Targets


@given(optimum=st.integers(0, 10**6), gap=st.floats(0, 10), target=st.none() | st.integers(0, 10**7))
def test_a_gap_is_a_length_and_the_easier_of_two_targets_counts(optimum: int, gap: float, target: int | None) -> None:
    limits = Limits(target=target, target_gap=gap)
    length = limits.with_target(Instance.from_matrix([[0]], optimum=optimum)).target
    assert length == max((1 + gap) * optimum, target or 0)


def test_without_a_gap_the_target_is_as_given() -> None:
    assert Limits().with_target(uniform(5)).target is None
    assert Limits(target=7.5).with_target(uniform(5)).target == 7.5


@pytest.mark.parametrize("gap", [-0.1, float("nan")])
def test_gaps_out_of_range_are_refused(gap: float) -> None:
    with pytest.raises(ValueError, match="target_gap must be a fraction, at least 0; it is"):
        pytsp.solve(uniform(9, optimum=3), target_gap=gap)


def test_a_gap_without_an_optimum_is_refused() -> None:
    with pytest.raises(ValueError, match=r"target_gap=0\.1 needs the optimum, which is not known of uniform9"):
        pytsp.solve(uniform(9), target_gap=0.1)


def test_a_gap_ends_a_solve() -> None:
    best = pytsp.solve(uniform(80), backend="c").length
    found = pytsp.solve(uniform(80, optimum=best), solver="ils", iterations=10**9, target_gap=0.01, backend="c")
    assert found.stop_reason == "target"
    assert found.length <= 1.01 * best


# Limits as one object

LIMITS = {
    "time_limit": st.floats(1e-3, 1e9),
    "target": st.integers(0, 2**70) | st.floats(0, 1e300),
    "target_gap": st.floats(0, 1e3),
    "patience": st.floats(1e-3, 1e9),
}
CALLS: dict[str, Callable[..., Any]] = {
    "solve": lambda **limits: pytsp.solve(uniform(9), backend="c", **limits),
    "solve_many": lambda **limits: pytsp.solve_many([uniform(9)], backend="c", **limits),
    "lower_bound": lambda **limits: pytsp.lower_bound(uniform(9), **limits),
}


@given(object_=st.fixed_dictionaries({}, optional=LIMITS), keywords=st.fixed_dictionaries({}, optional=LIMITS))
def test_limits_are_the_same_in_an_object_and_as_keywords(object_: dict[str, Any], keywords: dict[str, Any]) -> None:
    limits = Limits(**object_)
    if both := object_.keys() & keywords.keys():
        with pytest.raises(ValueError, match=rf"^({'|'.join(both)})=.* is also given by limits=Limits\("):
            Limits.of(limits, **keywords)
    else:
        assert Limits.of(limits, **keywords) == Limits.of(None, **object_, **keywords) == Limits(**object_, **keywords)


@pytest.mark.parametrize("function", [pytsp.solve, pytsp.resume])
def test_each_limit_is_a_keyword_too(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    assert {field.name for field in fields(Limits)} | {"limits"} <= parameters.keys()


@pytest.mark.parametrize("call", CALLS)
def test_a_limit_that_is_given_twice_is_refused(call: str) -> None:
    with pytest.raises(ValueError, match=r"time_limit=5 is also given by limits=Limits\(time_limit=9"):
        CALLS[call](time_limit=5, limits=Limits(time_limit=9))
    with pytest.raises(TypeError, match=r"limits must be a pytsp.Limits; it is 5"):
        CALLS[call](limits=5)
    with pytest.raises(ValueError, match="time_limit must be a positive number of seconds; it is -1"):
        CALLS[call](time_limit=-1)


@pytest.mark.parametrize("call", ["solve_many", "lower_bound"])
def test_limits_without_effect_are_refused(call: str) -> None:
    with pytest.raises(ValueError, match=f"patience=3 has no effect with {call}, whose only limit is time_limit"):
        CALLS[call](limits=Limits(time_limit=60, patience=3))


def test_an_object_ends_each_call(tmp_path: Path) -> None:
    instance, file = uniform(300), tmp_path / "run.checkpoint"
    late = Limits(time_limit=1e-6)
    found = pytsp.solve(instance, backend="c", limits=late, checkpoint=file)
    assert found.stop_reason == "time limit"
    again = pytsp.resume(file, limits=Limits(target=found.length - 1), time_limit=1e6)
    assert (again.stop_reason, again.length < found.length) == ("target", True)
    assert pytsp.solve(instance, backend="c", limits=Limits(target=found.length), solver="ils").stop_reason == "target"
    bound = pytsp.lower_bound(instance, limits=late)
    assert bound.bound <= pytsp.lower_bound(instance).bound
    assert pytsp.solve_many([instance], backend="c", limits=late)[0].stop_reason == "time limit"


# Patience


@pytest.mark.parametrize("solver", ["eax", "ils", "large"])
def test_patience_ends_a_solve_that_finds_nothing_shorter(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, patience = KernelClock(monkeypatch), 3.0
    found = pytsp.solve(uniform(60), solver=solver, time_limit=300.0, patience=patience, backend="c")
    # Populations may end by themselves.
    assert found.stop_reason == "no improvement" or (solver == "eax" and found.stop_reason == "finished")
    if found.stop_reason == "no improvement":
        end = patience + found.history[-1].seconds
        assert found.seconds >= end
        assert not clock.begun("ils", "climb", after=end)
    assert_whole(found)


def test_what_holds_first_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock().install(monkeypatch)
    watch = Watch(target=5, time_limit=1, patience=1)
    watch.offer(0, 6)
    clock.seconds += 1
    assert watch.stop_reason() == "time limit"
    watch.offer(1, 5)
    assert watch.stop_reason() == "target"
    patient = Watch(patience=60)
    assert patient.stop_reason() is None
    patient.offer(0, 1)
    assert patient.stop_reason() is None


@pytest.mark.parametrize("patience", [0, -1, float("nan")])
def test_patience_out_of_range_is_refused(patience: float) -> None:
    with pytest.raises(ValueError, match="patience must be a positive number of seconds; it is"):
        pytsp.solve(uniform(9), patience=patience)


# Time that is over before


def test_lists_look_at_the_clock_between_their_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.neighbours.rows._BLOCK", 100)
    monkeypatch.setattr("pytsp.neighbours.boxes.CITIES", {"cpu": 10})
    looks: list[float] = []
    matrix = Instance.from_matrix(uniform(60).distance_matrix())
    for instance, quadrants in ((uniform(60), False), (uniform(60), True), (matrix, False)):
        looks.clear()
        with looking(looks.append):
            lists = neighbour_lists(instance, 5, quadrants=quadrants)
        assert len(looks) > 1
        assert np.array_equal(lists, neighbour_lists(instance, 5, quadrants=quadrants))
    look()


@pytest.mark.parametrize("solver", ["eax", "ils", "large", "two-opt"])
@pytest.mark.parametrize("metric", ["EUC_2D", "EXPLICIT"])
def test_a_solve_whose_time_is_over_before_tells_a_quick_tour(
    solver: str, metric: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if (solver, metric) == ("large", "EXPLICIT"):
        pytest.skip("one huge tour lies in the plane")
    monkeypatch.setattr("pytsp.neighbours.rows._BLOCK", 100)
    monkeypatch.setattr("pytsp.neighbours.boxes.CITIES", {"cpu": 10})
    instance = uniform(300) if metric == "EUC_2D" else Instance.from_matrix(uniform(300).distance_matrix())
    file = tmp_path / "run.checkpoint"
    found = pytsp.solve(instance, solver=solver, backend="c", time_limit=1e-6, checkpoint=file)
    assert (found.stop_reason, found.solver, found.backend) == ("time limit", solver, "c")
    assert_whole(found)
    given_tour = pytsp.solve(instance, solver=solver, backend="c", time_limit=1e-6, initial_tour=np.arange(300))
    assert given_tour.length <= instance.tour_length(np.arange(300))
    monkeypatch.undo()
    # With more time it goes on.
    again = pytsp.resume(file, time_limit=found.seconds + 1e6, target=found.length - 1)
    assert (again.stop_reason, again.length < found.length) == ("target", True)


@pytest.mark.parametrize("open", [False, True])
def test_preparations_that_take_longer_than_the_time_leave_the_nearest_neighbour_tour_of_a_matrix(
    open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A look at the clock takes ten microseconds, so that a tour that is begun too late is made in a hurry.
    clock = Clock(tick=1e-5).install(monkeypatch)

    def overrun(_: object) -> None:
        clock.seconds += 0.3
        raise OutOfTime

    monkeypatch.setattr("pytsp.solvers.policy.SHORT_ROWS_SECONDS", 0)
    monkeypatch.setattr("pytsp.solvers.ils.solver.begin", overrun)
    matrix = Instance.from_matrix(uniform(1500).distance_matrix())
    found = pytsp.solve(matrix, solver="ils", backend="c", time_limit=0.15, open=open)
    assert found.stop_reason == "time limit"
    first = 0 if not open else int(found.tour[0])
    nearest = nearest_neighbour_order(matrix, first, None)
    measure = matrix.path_length if open else matrix.tour_length
    assert found.length <= measure(nearest)


def test_what_was_found_before_is_worth_going_back_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("pytsp.neighbours.boxes.CITIES", {"cpu": 10})
    file = tmp_path / "run.checkpoint"
    first = pytsp.solve(uniform(300), solver="large", backend="c", iterations=20, checkpoint=file)
    again = pytsp.resume(file, time_limit=1e-6)
    assert again.length == first.length


def test_a_watch_raises_where_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock().install(monkeypatch)
    watch = Watch(time_limit=1)
    clock.seconds += 1
    with looking(watch.look), pytest.raises(OutOfTime):
        look()
    with looking(Watch(time_limit=60).look):
        look()
        look(seconds=59.0)
        with pytest.raises(OutOfTime):
            look(seconds=60.0)


# What cannot be cut


def calls_of(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[object, ...]]]:
    """The kernel calls that are made from now on."""
    made = []
    call = Backend.call

    def noted(self: Backend, entry: str, *arguments: object) -> Any:
        made.append((entry, arguments))
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", noted)
    return made


def test_a_pass_of_random_restarts_that_does_not_fit_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPEEDS, "2-opt, cpu", 1e3)
    KernelClock(monkeypatch, 1e-3)
    made = calls_of(monkeypatch)
    found = pytsp.solve(uniform(100), solver="restarts", climbers=50, time_limit=1.0, backend="c")
    assert [arguments[-1] for entry, arguments in made if entry == "grid_climb"] == [0]
    assert (found.stop_reason, int(found.passes.sum()), bool(found.done.any())) == ("time limit", 0, False)
    assert_whole(found)
    # Where there is no limit, a pass always fits.
    assert pytsp.solve(uniform(100), solver="restarts", climbers=5, backend="c").stop_reason == "finished"


def test_a_first_descent_that_does_not_fit_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPEEDS, "descent", 0.1)
    Clock().install(monkeypatch)
    made = calls_of(monkeypatch)
    found = pytsp.solve(uniform(100), solver="ils", climbers=1, time_limit=1.0, backend="c")
    assert not any(entry in ("grid_ils", "grid_polish") for entry, _ in made)
    assert (found.stop_reason, found.iterations, bool(found.done.any())) == ("time limit", 0, False)
    assert_whole(found)


def test_a_pass_between_pieces_that_does_not_fit_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPEEDS, "pieces, look", 1.0)
    clock = KernelClock(monkeypatch)
    found = pytsp.solve(uniform(300), solver="large", time_limit=6.0, backend="c")
    assert clock.begun("grid_climb_pieces") and not clock.begun("grid_large_descend")
    assert (found.stop_reason, bool(found.done.any())) == ("time limit", False)
    assert_whole(found)


# From the start of the process


def test_the_start_of_a_process_is_known() -> None:
    script = """if True:
        import time
        def now():
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        first = now()
        from pytsp.cli.arguments import seconds_since_start
        before, seconds, after = now(), seconds_since_start(), now()
        print(before - seconds, after - seconds, first)
    """
    asked = time.clock_gettime(time.CLOCK_BOOTTIME)
    earliest, latest, first = map(float, run_python("-c", script, check=True).stdout.split())
    # The system tells it in hundredths of a second.
    assert earliest <= first and asked - 0.02 <= latest


def test_a_limit_counts_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock().install(monkeypatch)
    options = cli._parser().parse_args(["solve", "any", "--time-limit", "10"])
    for began, least, most in ((3.0, 6.5, 7.0), (20.0, 1e-9, 0.01)):
        options.began = clock.seconds - began
        left = time_left(options)
        assert left is not None
        assert least <= left <= most
    assert time_left(cli._parser().parse_args(["solve", "any"])) is None


@pytest.mark.parametrize(("text", "fraction"), [("0.01", 0.01), ("1%", 0.01), ("0", 0.0), ("12.5%", 0.125)])
def test_gaps_are_fractions_or_percentages(text: str, fraction: float) -> None:
    assert cli._parser().parse_args(["solve", "any", "--target-gap", text]).target_gap == pytest.approx(fraction)


@pytest.mark.parametrize(
    "words", [["--target-gap", "-1"], ["--patience", "0"], ["--time-limit", "inf"], ["--checkpoint-interval", "nan"]]
)
def test_limits_out_of_range_are_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_code:
        cli.main(["solve", "any", *words])
    assert exit_code.value.code == 2
    assert "must be" in capsys.readouterr().err


@pytest.mark.parametrize(("n", "seconds"), [(1000, 3.0), (2**18, 3.0), (2**20, 0.75)])
def test_a_pass_is_no_longer_than_the_cities_that_it_looks_at(n: int, seconds: float) -> None:
    pieces: Any = SimpleNamespace(full_pass=3.0, n=n)
    get = _pieces.Pieces.pass_seconds.fget
    assert get is not None
    assert get(pieces) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("limit", "full_pass", "end"),
    [
        # A tenth of the limit, at most two seconds, for the passes in the end; but the time of two that are long.
        (10.0, 0.1, 9.0),
        (100.0, 0.1, 98.0),
        (100.0, 3.0, 94.0),
        (10.0, 3.5, 6.5),
        # Where none fits, nothing is kept for them.
        (10.0, 3.6, 10.0),
    ],
)
def test_rounds_leave_time_for_the_passes_that_fit(limit: float, full_pass: float, end: float) -> None:
    watch = Watch(time_limit=limit)
    pieces: Any = SimpleNamespace(watch=watch, full_pass=full_pass, standing=SimpleNamespace(rounds=2))
    assert _pieces.Pieces.end_of_rounds(pieces) == pytest.approx(end)
    watch.reserve = 0.5
    assert _pieces.Pieces.end_of_rounds(pieces) == pytest.approx(end - 0.5)
    pieces.watch = Watch()
    assert _pieces.Pieces.end_of_rounds(pieces) == float("inf")
