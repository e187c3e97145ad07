"""What a result says of itself."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from processes import PATIENCE
from results import SQUARE, square_result

from pytsp import Instance, Result, solve

result = partial(square_result, done=np.array([False, True, True]), stop_reason="time limit")


def iterated(**changes: Any) -> Result:
    """A result of iterated local search on the same square."""
    fields = {"solver": "ils", "iterations": 5000, "k": None, "passes": np.empty(0, np.int32)}
    return result(**(fields | changes))


def test_the_gap_is_a_fraction_of_the_optimum() -> None:
    assert result().gap == 0
    assert result(length=45).gap == 0.25


@pytest.mark.parametrize(("optimum", "shown"), [(None, "(optimum not known)"), (0, "(optimum 0)")])
def test_there_is_no_gap_without_a_positive_optimum(optimum: int | None, shown: str) -> None:
    instance = Instance.from_coordinates(SQUARE, metric="EUC_2D", optimum=optimum)
    assert result(instance).gap is None
    assert result(instance).optimum == optimum
    assert shown in str(result(instance))


def test_moves_count_each_pass() -> None:
    assert result().moves == (2 + 3) * 2
    large = np.full(3, 2**31 - 1, np.int32)
    points = np.zeros((2000, 2))
    assert (
        result(Instance.from_coordinates(points, metric="EUC_2D"), passes=large).moves
        == 3 * (2**31 - 1) * 2000 * 1997 // 2
    )
    assert result(Instance.from_coordinates([[0, 0]], metric="EUC_2D")).moves == 0


def test_a_result_tells_its_lower_bound_and_options_where_there_are_any() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Asked:
        climbers: int | None = None
        kick: str = "walk"
        temperature: float | None = None
        schedule: Any = None

    assert (result().lower_bound, result().options) == (None, None)
    assert not {"lower_bound", "options"} & result(options=object()).to_dict().keys()
    found = result(lower_bound=35, options=Asked(climbers=3, temperature=np.float32(0.5), schedule=np.ones(2)))
    reported = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (reported["lower_bound"], reported["options"]) == (
        35,
        {"climbers": 3, "temperature": 0.5, "schedule": [1.0, 1.0]},
    )
    assert reported["gap_bound"] == found.gap_bound == 36 / 35 - 1
    assert repr(found) == repr(replace(found, lower_bound=None, options=None))
    assert repr(found) == repr(result(found.instance))


@pytest.mark.parametrize(
    ("changes", "said", "gap"),
    [
        ({"lower_bound": 35}, "bound     35 (the tour is at most 2.86 % above the shortest)", 36 / 35 - 1),
        ({"lower_bound": 36}, "bound     36 (the tour is optimal, proved)", 0.0),
        ({"lower_bound": 18, "is_open": True}, "bound     18 (the path is at most 100.00 % above the shortest)", 1.0),
        ({"lower_bound": 0}, "bound     0", None),
        ({"lower_bound": 0, "length": 0}, "bound     0 (the tour is optimal, proved)", 0.0),
        (
            {"lower_bound": 4.5, "length": np.inf},
            "bound     4.5 (the tour is at most inf % above the shortest)",
            np.inf,
        ),
    ],
)
def test_a_result_says_what_its_bound_proves(changes: dict[str, Any], said: str, gap: float | None) -> None:
    found = result(**changes)
    assert said in str(found).split("\n")
    assert found.gap_bound == gap
    assert found.is_proved is (found.length == found.lower_bound)
    reported = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert reported["gap_bound"] == (None if gap == np.inf else gap)
    assert not {"lower_bound", "gap_bound"} & result().to_dict().keys()
    assert (result().gap_bound, result().is_proved, result().describe_bound()) == (None, False, "")


def test_a_result_is_plain_json() -> None:
    reported = json.loads(json.dumps(result().to_dict(), allow_nan=False))
    assert reported == {
        "instance": "square",
        "n": 4,
        "metric": "EUC_2D",
        "length": 36,
        "optimum": 36,
        "gap": 0.0,
        "seconds": 2.0,
        "solver": "restarts",
        "backend": "c",
        "climbers": 3,
        "climbers_done": 2,
        "climber": 1,
        "seed": 7,
        "steps": 3,
        "passes": 5,
        "moves": 10,
        "k": 1,
        "mapping": "thread",
        "iterations": None,
        "stop_reason": "time limit",
        "open": False,
        "resolution": 0.0,
        "history": [[0.5, 1, 44], [1.5, 2, 36]],
        "lengths": [44, 36, 36],
        "tour": [0, 1, 2, 3],
    }


def test_a_result_of_iterated_local_search_counts_iterations() -> None:
    found = iterated()
    reported = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {reported[key] for key in ("k", "moves", "passes")} == {None}
    assert (reported["solver"], reported["iterations"], reported["steps"]) == ("ils", 5000, 3)
    text = str(found)
    assert "3, 5000 iterations each, seed 7" in text
    assert "2.00 s on c, 8 k iterations/s" in text
    assert str(iterated(seconds=0.0))


def test_its_text_names_what_counts() -> None:
    text = str(result())
    for part in ("square: 4 cities, EUC_2D", "36 (optimum 36, gap 0.00 %)", "3, seed 7", "number 1", "36 … 36 … 44"):
        assert part in text
    assert "2.00 s on c" in text and "stopped: time limit" in text
    assert str(result(seconds=0.0))


@pytest.mark.parametrize(
    ("length", "shown"), [(2.5, "2.5"), (1e149, "1e+149"), (12345678.25, "1.23457e+07"), (3.0, "3")]
)
def test_floating_point_lengths_are_shown_briefly(length: float, shown: str) -> None:
    instance = Instance.from_coordinates(SQUARE, metric="euclidean")
    assert f"length    {shown} (" in str(result(instance, length=length, lengths=np.array([length])))


def test_a_result_does_not_change() -> None:
    given = np.array([0, 1, 2, 3], dtype=np.int32)
    found = result(tour=given)
    with pytest.raises(ValueError, match="read-only"):
        found.tour[0] = 1
    # What it was made of stays its owner's.
    given[:] = given[::-1].copy()
    assert found.tour.tolist() == [0, 1, 2, 3]
    # A solve begins with it all the same.
    again = solve(found.instance, solver="ils", iterations=1, initial_tour=found.tour, backend="c")
    assert sorted(again.tour) == [0, 1, 2, 3]
    with pytest.raises(FrozenInstanceError):
        result().length = 0  # type: ignore[misc]
    assert result().climbers == 3


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("restarts", {"climbers": 9, "first": 3}),
        ("ils", {"climbers": 9, "first": 3, "iterations": 40, "exchange": 10}),
        ("eax", {"climbers": 9, "first": 3}),
        ("large", {"iterations": 1}),
        ("two-opt", {}),
        ("two-opt", {"kicks": 30}),
        ("annealing", {"climbers": 9, "first": 3, "iterations": 40}),
        ("ants", {"climbers": 3, "first": 3, "iterations": 4}),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_the_climber_has_the_length(solver: str, options: dict[str, Any], seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 1000, (60, 2))
    found = solve(Instance.from_coordinates(points, metric="EUC_2D"), solver=solver, backend="c", seed=seed, **options)
    assert found.lengths[found.climber - options.get("first", 0)] == found.length == found.lengths.min()


def test_with_a_time_limit_the_best_of_eax_may_be_of_an_earlier_population() -> None:
    points = np.random.default_rng(1).integers(0, 1000, (60, 2))
    found = solve(
        Instance.from_coordinates(points, metric="EUC_2D"), solver="eax", backend="c", climbers=2, time_limit=PATIENCE
    )
    # Ten populations in a row found nothing shorter, and the climbers of each have numbers of their own.
    assert found.stop_reason == "finished"
    assert found.climber < 2 * found.iterations and found.climbers <= 2 + 11
    assert found.length <= found.lengths.min()
