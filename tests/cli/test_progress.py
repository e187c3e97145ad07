"""What is shown while a solve runs: its numbers, its curve, and nothing where nobody looks."""

from __future__ import annotations

import io
import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import pytsp
from pytsp import Instance, Progress
from pytsp.cli.commands import main
from pytsp.cli.progress import Display, count_work, log_to_stderr, show_progress, sparkline

POINTS = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e12)), min_size=1, max_size=20).map(sorted)


class Clock:
    """Seconds that pass by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def snapshot(length: float = 90, seconds: float = 1.0, **rest: Any) -> Progress:
    """A snapshot of five climbers."""
    return Progress(5, rest.pop("climbers_done", 0), length, seconds, **rest)


def rendered(display: Display, width: int = 120) -> list[str]:
    """The lines on a terminal of this width."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(display)
    return [line.rstrip() for line in capture.get().splitlines()]


@given(POINTS, st.floats(0, 1e6), st.integers(1, 60))
def test_a_curve_has_its_width_and_falls_as_its_values_do(points: Any, more: float, width: int) -> None:
    falling = [(at, 1e12 - k) for k, (at, _) in enumerate(points)]
    for curve in (points, falling):
        line = sparkline(curve, curve[-1][0] + more, width)
        assert len(line) == width
        assert set(line) <= set("▁▂▃▄▅▆▇█")
    assert list(line) == sorted(line, reverse=True)


def test_a_level_curve_is_flat() -> None:
    assert sparkline([(0.0, 5.0)], 0.0, 4) == "▁▁▁▁"
    assert sparkline([(0.0, 5.0), (1.0, 5.0)], 2.0, 4) == "▁▁▁▁"


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (snapshot(phase="random restarts", climbers_done=3), (3, 5, "climbers")),
        (snapshot(phase="local optima"), (5, None, "climbers")),
        (snapshot(phase="crossover", iteration=7), (7, None, "generations")),
        (snapshot(phase="kicks", iteration=7, iterations=40), (7, 40, "iterations")),
        (snapshot(phase="between pieces", iteration=2, iterations=3), (2, 3, "rounds")),
        (snapshot(phase="passes", iteration=2), (2, None, "passes")),
    ],
)
def test_a_phase_counts_what_its_solver_counts(now: Progress, said: tuple[int, int | None, str]) -> None:
    assert count_work(now) == said


def test_before_there_is_a_tour_the_time_is_shown() -> None:
    clock = Clock()
    display = Display("[b]name", None, clock)
    clock.seconds += 3725
    first, second = rendered(display)
    assert first == "[b]name: no tour yet"
    assert second.startswith("preparing") and second.endswith("1:02:05")


def test_length_gap_curve_speed_and_time_left_are_shown() -> None:
    clock = Clock()
    display = Display("berlin52", 80, clock)
    for second in range(11):
        length = 100 - second
        display.take(
            snapshot(length, second, phase="kicks", iteration=50 * second, iterations=1000, seconds_left=10 - second)
        )
    first, second_line = rendered(display)
    assert first.startswith("berlin52: length 90, gap 12.500 %  ")
    assert first.endswith("▁") and "█" in first
    assert second_line.startswith("kicks: 500/1000 iterations, 50 iterations/s")
    assert second_line.endswith("0:00:00 left")
    assert display.fraction == 1


def test_the_bound_so_far_is_shown() -> None:
    display = Display("a", None, Clock())
    display.take(snapshot(float("inf"), 0.5, phase="lower bound", iteration=1, lower_bound=80))
    first, second = rendered(display)
    assert first == "a: no tour yet, and none below 80" and second.startswith("lower bound: 1 proofs")
    display.take(snapshot(100, 1.0, phase="kicks"))
    assert rendered(display)[0] == "a: length 100, at most 25.00 % above the shortest"


def test_time_passes_between_two_snapshots() -> None:
    clock = Clock()
    display = Display("a", None, clock)
    display.take(snapshot(seconds=5.0, phase="crossover", seconds_left=15.0))
    assert (display.clock, display.fraction) == ("0:00:15 left", 0.25)
    clock.seconds += 5
    assert (display.clock, display.fraction) == ("0:00:10 left", 0.5)
    clock.seconds += 50
    assert (display.clock, display.fraction) == ("0:00:00 left", 1.0)


def test_a_speed_is_that_of_its_phase_and_of_the_last_seconds() -> None:
    display = Display("a", None, Clock())
    for second in range(20):
        display.take(snapshot(seconds=second, phase="pieces", iteration=second if second < 10 else 10 * second))
    assert display.work == "pieces: 190 rounds, 10 rounds/s"
    display.take(snapshot(seconds=21.0, phase="between pieces", iteration=190))
    assert display.work == "between pieces: 190 rounds"


def test_nothing_is_shown_to_a_pipe_or_where_it_is_to_be_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    instance = Instance.from_matrix([[0]])
    with show_progress(instance, quiet=False) as progress:
        assert progress is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with show_progress(instance, quiet=True) as progress:
        assert progress is None
    assert tuple(capsys.readouterr()) == ("", "")


@pytest.mark.parametrize(
    ("options", "phases"),
    [
        ({"solver": "restarts", "climbers": 20}, {"random restarts"}),
        ({"solver": "eax", "climbers": 20}, {"local optima", "crossover"}),
        ({"solver": "ils", "iterations": 500}, {"kicks"}),
        ({"solver": "large", "iterations": 2}, {"pieces", "between pieces"}),
        ({"solver": "two-opt", "start": "random"}, {"passes"}),
        ({"solver": "two-opt", "kicks": 3}, {"kicks"}),
    ],
)
def test_every_solver_tells_its_phases_and_the_time_left(
    options: dict[str, Any], phases: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytsp.solvers.eax.CALL_SECONDS", 1e-3)
    cities = Instance.from_coordinates(np.random.default_rng(1).integers(0, 900, (90, 2)), metric="EUC_2D")
    seen: list[Progress] = []
    pytsp.solve(cities, backend="c", time_limit=60, progress=seen.append, **options)
    assert {now.phase for now in seen} == phases
    assert all(now.seconds_left is not None and 0 < now.seconds_left < 60 for now in seen)
    seen.clear()
    pytsp.solve(cities, backend="c", progress=seen.append, **options)
    assert {now.seconds_left for now in seen} == {None}


# The log


def test_the_library_logs_and_is_silent_by_itself(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    cities = Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]], metric="EUC_2D", name="square")
    with caplog.at_level(logging.DEBUG, "pytsp"):
        pytsp.solve(cities, backend="c")
    assert "square: 4 cities, EUC_2D; solver ils" in caplog.text
    assert "square: length 36 after" in caplog.text
    assert tuple(capsys.readouterr()) == ("", "")


def test_verbose_prints_the_log_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", "uniform100", "--backend", "c", "--climbers", "9", "--solver", "eax", "--json"]
    assert main([*words, "--verbose"]) == 0
    reported = capsys.readouterr()
    assert reported.out.count("\n") == 1
    assert all(line.startswith("pytsp: ") for line in reported.err.splitlines())
    assert "100 cities, EUC_2D; solver eax\n" in reported.err
    assert main(words) == 0
    assert capsys.readouterr().err == ""


def test_warnings_are_printed_in_any_case_and_the_log_is_left_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("pytsp")
    before = (logger.level, logger.propagate, [*logger.handlers])
    with log_to_stderr(verbose=False):
        logger.warning("%s is full", "the disk")
        logger.info("nothing")
    assert tuple(capsys.readouterr()) == ("", "pytsp: the disk is full\n")
    assert (logger.level, logger.propagate, [*logger.handlers]) == before
