"""Steps to the instance that is solved: each maps tours there and back, and lengths with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytsp import Improvement, Instance, Limits, Result
from pytsp.api.collapsed import Collapsed
from pytsp.api.reductions import Directed, Path, Reduction, WithFixedEdges
from pytsp.api.steps import FirstCity, Request, Restater, Step, solve_within
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.fixed_edges import FixedEdges
from pytsp.problem.open_paths import OpenPath
from pytsp.run.monitor import Improved

ENDS = st.sampled_from([(None, None), (0, None), (None, 1), (1, 0)])


@st.composite
def step_sequences(draw: st.DrawFn) -> tuple[Instance, list[Step], Request]:
    """An instance, some steps from it, and the request that they are for."""
    kind = draw(st.sampled_from(["first city", "few a place", "fixed edges", "path", "directed", "directed path"]))
    request = Request(began=0.0)
    if kind.startswith("directed"):
        instance = Instance.from_matrix(draw(strategies.directed_matrices(2, 7)), asymmetric=True)
    else:
        instance = draw(strategies.coordinate_instances(("EUC_2D", "CEIL_2D", "MAN_2D"), min_n=3))
    steps: list[Step] = []
    if kind == "first city":
        steps = [FirstCity(instance, draw(st.integers(0, instance.n - 1)))]
    elif kind == "few a place":
        crowded = np.concatenate([np.asarray(instance.coordinates)] * 6)
        instance = Instance.from_coordinates(crowded, "EUC_2D")
        collapsed = Collapsed.of(instance)
        assert collapsed is not None
        steps = [collapsed]
    elif kind == "fixed edges":
        instance = replace(instance, fixed=[(0, 2), (2, 1)])
        steps = [WithFixedEdges(FixedEdges.of(instance))]
    if kind.endswith("path"):
        start, end = draw(ENDS)
        request = replace(request, open=True, start_city=start, end_city=end)
        steps = [Path(OpenPath.of(instance, start, end))]
    if kind.startswith("directed"):
        steps.append(Directed(JonkerVolgenant.of(steps[-1].instance if steps else instance)))
    return instance, steps, request


def lawful_tour(instance: Instance, request: Request, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """A tour, or a path, that has the fixed edges and the ends that are given."""
    tour = numbers
    if instance.fixed is not None:
        tour = np.append([0, 2, 1], numbers[numbers > 2])
    if request.start_city is not None:
        tour = np.append([request.start_city], tour[tour != request.start_city])
    if request.end_city is not None:
        tour = np.append(tour[tour != request.end_city], [request.end_city])
    return tour.astype(np.int32)


@given(st.data(), step_sequences())
def test_tours_and_lengths_are_mapped_there_and_back(
    data: st.DataObject, given_: tuple[Instance, list[Step], Request]
) -> None:
    instance, steps, request = given_
    if any(getattr(step, "problem", None) is not None and step.problem.is_shortened for step in steps):  # type: ignore[attr-defined]
        return
    restater = Restater(instance, steps, request)
    tour = lawful_tour(instance, request, data.draw(strategies.tours(instance.n)))
    asked = replace(request, initial_tour=tour)
    for step in steps:
        assert step.original.n == len(asked.initial_tour)  # type: ignore[arg-type]
        asked = step.map_request(asked)
    inner: Any = asked.initial_tour
    solved = steps[-1].instance
    back = restater.tour(inner)
    assert restater.measure(back) == solved.tour_length(inner) + restater.offset
    if any(isinstance(step, Reduction) for step in steps):
        # The same tour or path, perhaps the other way round.
        assert restater.measure(back) == restater.measure(tour)
        assert (asked.open, asked.start_city, asked.end_city) == (False, None, None)
    elif isinstance(steps[0], FirstCity):
        assert back[0] == steps[0].city
    assert sorted(back.tolist()) == list(range(instance.n))


def solved_as(solved: Instance, request: Request, tour: Any, asked: list[Request]) -> Result:
    """A result of the instance that is solved, after one improvement."""
    asked.append(request)
    length = solved.tour_length(tour)
    improved = Improved.of(Improvement(0.5, 3, length), lambda: np.asarray(tour, dtype=np.int32))
    is_enough = request.on_improvement is not None and request.on_improvement(improved) is True
    return Result(
        instance=solved,
        tour=np.asarray(tour, dtype=np.int32),
        length=length,
        climber=0,
        lengths=np.array([length]),
        steps=np.zeros(1, dtype=np.int64),
        passes=np.zeros(0, dtype=np.int32),
        done=np.ones(1, dtype=np.bool_),
        seed=0,
        k=None,
        backend="c",
        mapping="thread",
        seconds=1.0,
        stop_reason="callback" if is_enough else "finished",
        solver="ils",
        history=(Improvement(0.5, 3, length),),
    )


LINE = Instance.from_coordinates([[0, 0], [10, 0], [3, 0], [7, 0]], "EUC_2D", optimum=20)


@pytest.mark.parametrize("is_measured", [False, True])
def test_results_reports_and_targets_are_those_of_the_original(is_measured: bool) -> None:
    step = WithFixedEdges(FixedEdges.of(replace(LINE, fixed=[(0, 1)])))
    seen: list[tuple[float, list[int]]] = []
    asked: list[Request] = []

    def improve(now: Improved) -> None:
        seen.append((now.length, now.tour.tolist()))

    request = Request(began=0.0, limits=Limits(target_gap=0.5), on_improvement=improve)
    inner = step.tour([0, 1, 2, 3])
    found = solve_within(
        step.original, [step], request, lambda *given: solved_as(*given, inner, asked), is_measured=is_measured
    )
    length = LINE.tour_length([0, 1, 2, 3])
    assert found.length == length == found.history[-1].length == found.lengths.tolist()[0]
    assert seen == [(length, found.tour.tolist())]
    assert found.instance is step.original and not found.is_open
    # 1.5 times the optimum are reached where tours are measured, and are the solver's target elsewhere.
    assert asked[0].limits == Limits(target=None if is_measured else 30 - step.offset)
    assert found.stop_reason == ("target" if is_measured else "finished")
    assert asked[0].steps == (step,)


def test_a_tour_that_restating_repairs_is_told_as_an_improvement() -> None:
    step = WithFixedEdges(FixedEdges.of(replace(LINE, fixed=[(0, 1)])))
    seen: list[float] = []
    request = Request(began=0.0, on_improvement=lambda now: seen.append(now.length))
    # The pair is parted.
    parted = [0, 2, 1, 3]
    found = solve_within(step.original, [step], request, lambda *given: solved_as(*given, parted, []))
    assert found.length < found.history[0].length
    assert seen == [each.length for each in found.history] == [found.history[0].length, found.length]
    assert found.lengths.tolist() == [found.length]
