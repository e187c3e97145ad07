"""The room of decisions and the table of speeds: no other module of solvers is full of numbers, and what is measured
takes the place of what is known."""

from __future__ import annotations

import ast
import re
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import needs_checkout
from cities import uniform
from clocks import Clock
from paths import ROOT

import pytsp
from pytsp.solvers import policy
from pytsp.solvers.ils.population import Population
from pytsp.solvers.large.pieces import Pieces
from pytsp.solvers.speeds import BYTES, FITTED, SPEEDS, TABLE

SOLVERS = Path(policy.__file__).parent


def numbers_of(file: Path) -> int:
    """Count the numbers of which the constants of a module are made."""
    found = [node.value for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
    constants = [each for value in found for each in ast.walk(value) if isinstance(each, ast.Constant)]
    return sum(type(each.value) in (int, float) for each in constants)


def test_numbers_are_in_the_policy_and_the_table() -> None:
    rest = [file for file in SOLVERS.rglob("*.py") if file.name not in ("policy.py", "speeds.py")]
    assert sum(map(numbers_of, rest)) <= 60
    assert numbers_of(SOLVERS / "policy.py") > 0


def test_each_speed_tells_where_it_is_from() -> None:
    needs_checkout("bench")
    assert len(SPEEDS) == len(TABLE)
    for row in TABLE:
        assert row.value > 0 and row.unit and row.machine
        assert date(2026, 11, 20) <= date.fromisoformat(row.date)
        assert row.program == FITTED or (ROOT / f"{row.program.replace('.', '/')}.py").is_file()


def test_each_speed_and_size_is_read() -> None:
    texts = [file.read_text(encoding="utf-8") for file in SOLVERS.parent.rglob("*.py") if file.name != "speeds.py"]
    read = {name for text in texts for name in re.findall(r'(?:SPEEDS|BYTES)\[f?"([^"]*)"', text)}
    read |= {
        name for text in texts for one in re.findall(r'(?:SPEEDS|BYTES)\[("[^]]*)\]', text) for name in one.split('"')
    }
    patterns = [re.compile(re.sub(r"\{.*?\}", ".*", name)) for name in read if name]
    assert [name for name in (*SPEEDS, *BYTES) if not any(each.fullmatch(name) for each in patterns)] == []


@pytest.mark.parametrize(("lists_seconds", "solver"), [(0.3, "ils"), (0.45, "large")])
def test_chains_over_the_whole_tour_are_begun_where_the_lists_of_pieces_were_soon_made(
    lists_seconds: float, solver: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Clock().install(monkeypatch)
    large: Any = __import__("pytsp.solvers.large.solver", fromlist=["lists_of"])
    lists_of = large.lists_of

    def slowly(*arguments: Any) -> Any:
        lists, near = lists_of(*arguments)
        return lists, near._replace(seconds=lists_seconds)

    monkeypatch.setattr(large, "lists_of", slowly)
    monkeypatch.setattr(policy, "RECOMBINED_CITIES", range(8, 300))
    monkeypatch.setattr(policy, "QUICK_GREEDY_CITIES", 300)
    monkeypatch.setitem(SPEEDS, "chains, start", 2.0)
    for kind in (Pieces, Population):
        monkeypatch.setattr(kind, "stop_reason", lambda self: "time limit" if self.has_begun else None)
    options: dict[str, Any] = {"time_limit": 2.0, "backend": "c"}
    found = pytsp.solve(uniform(400), **options, checkpoint=tmp_path / "file")
    assert found.solver == solver
    assert pytsp.resume(tmp_path / "file", time_limit=0.1).solver == solver
    # Chains go on in the numbers of the pieces; their tours are told in those of the instance.
    floats = pytsp.Instance.from_coordinates(np.random.default_rng(1).random((400, 2)), "EUCLIDEAN")
    for instance in (uniform(400), floats):
        seen: list[tuple[float, float]] = []

        def told(now: pytsp.Progress, seen: Any = seen, instance: pytsp.Instance = instance) -> None:
            seen.append((now.length, instance.tour_length(now.tour)))

        found = pytsp.solve(instance, **options, initial_tour=np.arange(400), on_improvement=told)
        assert found.solver == solver and seen[-1][0] == pytest.approx(found.length, rel=1e-6)
        assert all(length == pytest.approx(recomputed, rel=1e-6) for length, recomputed in seen)
    # Who asks for pieces has them.
    assert pytsp.solve(uniform(400), solver="large", **options).solver == "large"


def test_many_threads_and_cities_and_no_limit_are_for_pieces() -> None:
    fit = policy.chains_fit
    assert fit(20_000, policy.MOST_CHAIN_THREADS + 1, 0.1, 0.51) and not fit(20_000, 1, 0.1, 0.49)
    # Ten times as many cities need 1.58 times as much each.
    assert fit(200_000, policy.MOST_CHAIN_THREADS, 0.1, 0.8) and not fit(200_000, 1, 0.1, 0.78)
    assert fit(policy.MOST_CHAINED, 1, 0.1, 9.0) and not fit(policy.MOST_CHAINED + 1, 1, 0.1, 9.0)
    assert not fit(30_000, policy.MOST_CHAIN_THREADS + 1, 0.1, 9.0)
    assert not fit(30_000, None, 0.1, 9.0)
    assert not fit(30_000, 1, 0.1, float("inf"))


@pytest.mark.parametrize(("lists_seconds", "is_near"), [(0.076, False), (0.078, True)])
def test_chains_take_the_nearest_cities_where_these_took_much_of_the_time(
    lists_seconds: float, is_near: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock, made = Clock().install(monkeypatch), []
    candidates: Any = __import__("pytsp.solvers.common.candidates", fromlist=["neighbour_lists"])
    lists_of = candidates.neighbour_lists

    def slowly(instance: pytsp.Instance, k: int, *, quadrants: bool) -> Any:
        clock.seconds += 0.0 if quadrants else lists_seconds
        made.append((k, quadrants))
        return lists_of(instance, k, quadrants=quadrants)

    monkeypatch.setattr(candidates, "neighbour_lists", slowly)
    monkeypatch.setattr(candidates, "alpha_fits", lambda task: False)
    monkeypatch.setattr(Population, "stop_reason", lambda self: "time limit" if self.has_begun else None)
    options: dict[str, Any] = {"solver": "ils", "time_limit": 2.0, "backend": "c"}
    found = pytsp.solve(uniform(400), **options, checkpoint=tmp_path / "file")
    assert made == [(8, False)] + [(10, True)] * (not is_near)
    assert found.options.neighbours == (8 if is_near else None)
    made.clear()
    pytsp.resume(tmp_path / "file", time_limit=0.1)
    assert made == [(8, False) if is_near else (10, True)]
    # What is asked for, and what has no limit, takes no notice of the time.
    made.clear()
    pytsp.solve(uniform(400), **options, neighbours=10)
    pytsp.solve(uniform(400), solver="ils", iterations=1, backend="c")
    assert made == [(10, True)] * 2


def test_a_first_call_makes_one_iteration_however_fast_a_machine_may_be() -> None:
    pace: Any = __import__("pytsp.solvers.common.pacing", fromlist=["Pace"]).Pace()
    assert pace.fitting(9.0, 9.0) == 1
    pace.observe(1, 1e-3)
    assert pace.fitting(9.0, 9.0) == 8
    pace.observe(8, 1e-3, least=0.01)
    assert pace.fitting(9.0, 9.0) == pytest.approx(15)


def test_the_last_calls_become_shorter_so_that_a_slower_machine_is_hardly_late() -> None:
    pace: Any = __import__("pytsp.solvers.common.pacing", fromlist=["Pace"]).Pace(hiding=5.0)
    pace.observe(10**6, 0.01)
    seconds = [pace.seconds * pace.fitting(9.0, left) for left in (9.0, 0.15, 0.09, 0.06, 0.01)]
    # Down to those that hide what each call reads first.
    assert seconds == pytest.approx([0.08, 0.08, 0.06, 0.06, 0.01])
    pace.observe(10**8, 1.0)
    assert pace.seconds * pace.fitting(9.0, 0.15) == pytest.approx(0.1)


def test_calls_that_read_much_first_are_several_times_as_long_as_that_takes() -> None:
    Pace: Any = __import__("pytsp.solvers.common.pacing", fromlist=["Pace"]).Pace  # noqa: N806
    pace, plain, reading, each = Pace(hiding=5.0), Pace(), 0.2, 1e-3
    for _ in range(20):
        for one in (pace, plain):
            count = int(one.fitting(9.0, 9.0))
            one.observe(count, reading + count * each)
    # Four fifths of each call are iterations; without that hardly any would be.
    assert pace.fitting(9.0, 9.0) * each == pytest.approx(4 * reading, rel=0.05)
    assert plain.fitting(9.0, 9.0) < 2
    assert pace.fitting(9.0, 0.3) < 0.3 / each
