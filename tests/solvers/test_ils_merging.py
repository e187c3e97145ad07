"""Tours of an iterated local search that are merged: laws, turns that begin anew, limits."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import cities
import numpy as np
import pytest
import strategies
from clocks import KernelClock
from emulated import skip_where_slow
from hypothesis import example, given
from hypothesis import strategies as st
from results import solving
from tasks import task_of

import pytsp
from pytsp import Instance, random_tours
from pytsp.backends import Backend, Device, open_backend
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.kernel_input import form_of
from pytsp.solvers.common.local_search import LocalSearch, crossing_plan
from pytsp.solvers.common.starting_tours import restart_seed
from pytsp.solvers.options.ils import ILS

uniform = partial(cities.uniform, side=900)

PART = "search"

local_search_module = importlib.import_module("pytsp.solvers.common.local_search")
MERGES = (False, True)
solved = solving("ils", climbers=6, iterations=30, moves="3-opt")


def local_search_of(instance: Instance, backend: Backend, k: int = 8) -> LocalSearch:
    form = form_of(instance)
    loaded = backend.call(f"{form.kind}_load", *form.arguments)
    return LocalSearch(task_of(instance, ILS(), kernels=backend), loaded, neighbour_lists(instance, k), moves=1)


def population_of(instance: Instance, backend: Backend, tours: list[Any]) -> Any:
    """A population on the device that stands on these tours, and knows how long they are."""
    form = form_of(instance)
    given = backend.fields(backend.call("population_given", np.array(tours, dtype=np.int32)))
    given["lengths"] = np.array([form.whole.tour_length(tour) for tour in given["bests"]])
    return backend.value("population", given)


@given(instance=strategies.instances(max_n=9), seed=st.integers(0, 2**64 - 1), count=st.integers(1, 5))
@example(instance=Instance.from_coordinates([[0, 0]] * 9, metric="EUC_2D"), seed=0, count=4)
def test_a_merged_tour_is_no_longer_than_the_shortest(
    backend: Backend, instance: Instance, seed: int, count: int
) -> None:
    local_search = local_search_of(instance, backend, max(1, min(8, instance.n - 1)))
    tours = random_tours(instance.n, count, 1)
    tour = local_search.merge(population_of(instance, backend, list(tours)), seed)
    assert pytsp.is_tour(tour, instance.n)
    assert instance.tour_length(tour) <= min(instance.tour_length(each) for each in tours)


def test_what_is_best_of_two_equally_long_tours_is_joined(backend: Backend) -> None:
    """Each of two tours crosses itself once, far apart from where the other one does."""
    angles = 2 * np.pi * np.arange(40) / 40
    circle = Instance.from_coordinates(np.rint(1000 * np.c_[np.cos(angles), np.sin(angles)]), metric="EUC_2D")
    around = np.arange(40)
    left, right = around.copy(), around.copy()
    left[5:8], right[25:28] = left[5:8][::-1], right[25:28][::-1]
    assert circle.tour_length(left) == circle.tour_length(right) > circle.tour_length(around)
    local_search = local_search_of(circle, backend)
    assert circle.tour_length(
        local_search.merge(population_of(circle, backend, [left, right]), 0)
    ) == circle.tour_length(around)
    alone = local_search.merge(population_of(circle, backend, [left]), 0)
    assert circle.tour_length(alone) == circle.tour_length(left)


def test_only_the_best_of_many_climbers_are_merged(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.solvers.policy.MOST_MERGED", 4)
    local_search = local_search_of(uniform(30), backend)
    tours = sorted(random_tours(30, 9, 2), key=uniform(30).tour_length)
    mixed = [tours[place] for place in (8, 2, 5, 0, 7, 1, 6, 3, 4)]
    best = [tours[place] for place in (2, 0, 1, 3)]
    merged = [local_search.merge(population_of(uniform(30), backend, each), 7) for each in (mixed, best)]
    assert np.array_equal(*merged)


def test_no_generation_is_begun_without_time(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    local_search = local_search_of(uniform(30), backend)
    tours = sorted(random_tours(30, 5, 2), key=uniform(30).tour_length)
    assert np.array_equal(local_search.merge(population_of(uniform(30), backend, tours), 0, seconds_left=0.0), tours[0])


@pytest.mark.parametrize(
    ("changed", "most", "unions"),
    [(1.0, 150, 0), (0.999, 150, 3), (0.1, 150, 3), (0.099, 1_000, 3), (0.0, 1_000, 3)],
)
def test_the_fewer_tours_change_the_more_a_generation_tries(changed: float, most: int, unions: int) -> None:
    assert crossing_plan(changed) == {"most": most, "cap": 1_500, "rounds": 8, "unions": unions, "thrift": 70}


def test_a_generation_knows_what_share_of_the_tours_the_one_before_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares: list[float] = []
    lengths: list[Any] = []
    breed, read = LocalSearch.breed, LocalSearch.lengths

    def noted(self: LocalSearch, climbers: Any, seed: int, generation: int, *, changed: float = 1.0) -> Any:
        shares.append(changed)
        lengths.append(read(self, climbers))
        return breed(self, climbers, seed, generation, changed=changed)

    monkeypatch.setattr(LocalSearch, "breed", noted)
    solve = partial(pytsp.solve, uniform(200), climbers=12, moves="or-opt", backend="c")
    solve(solver="ils", iterations=5, merge=True)
    merged = len(shares)
    solve(solver="eax")
    assert 3 < merged < len(shares) - 3
    for first, end in ((0, merged), (merged, len(shares))):
        assert shares[first] == 1.0
        for at in range(first + 1, end):
            assert shares[at] == pytest.approx(np.mean(lengths[at] != lengths[at - 1]))
    assert len(set(shares)) > 2


class PaperGPU:
    """The kernels of another backend, as if they were on a GPU."""

    def __init__(self, kernels: Backend, part: str) -> None:
        self.kernels, self.part, self.name = kernels, part, "cuda"
        self.device = Device(3, "Paper GPU", 2**37, "9.0", "13.0")
        self.threads = None
        self.calls: list[str] = []

    def call(self, entry: str, *arguments: Any) -> Any:
        self.calls.append(entry)
        return self.kernels.call(entry, *arguments)

    def keep(self, array: Any) -> Any:
        return self.kernels.keep(array)

    def fields(self, value: Any) -> dict[str, Any]:
        return self.kernels.fields(value)

    def value(self, name: str, fields: dict[str, Any]) -> Any:
        return self.kernels.value(name, fields)


@pytest.mark.parametrize("host", ["c", None])
def test_climbers_of_a_gpu_cross_on_its_host_or_by_the_part_that_crosses(
    host: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, kernels = uniform(80), open_backend("c")
    tours = list(random_tours(80, 6, 1))
    gpu: Any = PaperGPU(kernels, "search")
    crossing: Any = kernels if host else PaperGPU(kernels, "flat")
    asked: list[Any] = []
    monkeypatch.setattr(local_search_module, "host_kernels", lambda _: kernels if host else None)
    monkeypatch.setattr(local_search_module, "open_backend", lambda *a, **b: asked.append((a, b)) or crossing)
    local_search = local_search_of(instance, gpu)
    merged = local_search.merge(population_of(instance, kernels, tours), 7)
    there = local_search._crossing
    assert there is not local_search and there.kernels is crossing and there is there._crossing
    assert asked == ([] if host else [(("cuda",), {"device": 3, "part": "flat"})])
    assert not any("_cross" in entry for entry in gpu.calls)
    monkeypatch.undo()
    alone = local_search_of(instance, kernels)
    assert alone._crossing is alone
    assert np.array_equal(merged, alone.merge(population_of(instance, kernels, tours), 7))


# In a solve


@pytest.mark.parametrize("options", [{}, {"restart": 10}, {"restart": 10, "temperature": 0}, {"exchange": 7}])
def test_merging_makes_a_tour_shorter_or_leaves_it(backend: Backend, options: dict[str, Any]) -> None:
    for seed in range(3):
        plain, merged = (solved(uniform(150), backend, seed=seed, merge=merge, **options) for merge in MERGES)
        assert merged.length <= plain.length
        assert (merged.lengths <= plain.lengths).all()
        assert merged.lengths[merged.climber] == merged.length == merged.lengths.min()
        assert merged.done.all()
        assert merged.history[-1].length == merged.length == uniform(150).tour_length(merged.tour)
    assert merged.length < plain.length


@pytest.mark.parametrize("iterations", [0, 30])
def test_one_climber_has_nothing_to_merge_until_it_begins_anew(backend: Backend, iterations: int) -> None:
    alone: dict[str, Any] = dict(climbers=1, iterations=iterations)
    plain, merged = (solved(uniform(150), backend, merge=merge, **alone) for merge in MERGES)
    assert (merged.length, merged.steps.tolist()) == (plain.length, plain.steps.tolist())
    alone |= {"iterations": 120, "restart": 20}
    found = [[solved(uniform(300), backend, seed=s, merge=merge, **alone).length for s in range(3)] for merge in MERGES]
    assert all(merged <= plain for plain, merged in zip(*found, strict=True))
    assert found[1] != found[0]


def test_a_time_limit_leaves_time_to_merge(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_where_slow(backend)
    seen: list[float] = []
    merge = LocalSearch.merge

    def noted(self: LocalSearch, population: Any, seed: int, seconds_left: float) -> Any:
        # A GPU's climbers cross on its host, by another search.
        if self.kernels.name == backend.name:
            seen.append(seconds_left)
        return merge(self, population, seed, seconds_left)

    monkeypatch.setattr(LocalSearch, "merge", noted)
    KernelClock(monkeypatch, 0.01)
    # By lists that take no other kernels.
    result = solved(uniform(300), backend, iterations=None, time_limit=1.0, merge=True, neighbours=10)
    assert result.stop_reason == "time limit"
    assert len(seen) == 1 and 0 < seen[0] <= 0.101


def test_a_temperature_falls_to_nothing_in_each_turn(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns differ by their seeds, and otherwise are runs of the same iterations."""
    seen: list[tuple[int, int, int, int]] = []
    call = Backend.call

    def record(self: Backend, entry: str, *arguments: Any) -> Any:
        plan = self.fields(arguments[3]) if "_ils" in entry else {"iterations": 0}
        if plan["iterations"] > 0:
            seen.append((plan["seed"], plan["from"], plan["iterations"], plan["cooled"]))
        return call(self, entry, *arguments)

    monkeypatch.setattr(Backend, "call", record)
    result = solved(uniform(60), backend, seed=8, iterations=25, restart=10)
    assert result.iterations == 25
    made = 0
    for seed, start, count, cooled in seen:
        turn, at = divmod(made, 10)
        assert (seed, start, cooled) == (restart_seed(8, turn), at, 10)
        assert at + count <= 10
        made += count
    assert made == 25


def test_the_first_turn_is_a_run_of_its_own(backend: Backend) -> None:
    first, both = solved(uniform(60), backend, iterations=20), solved(uniform(60), backend, iterations=40, restart=20)
    assert (both.lengths <= first.lengths).all()
    assert (both.lengths < first.lengths).any()


def test_seeds_of_turns_are_always_the_same() -> None:
    assert [restart_seed(seed, 0) for seed in (0, 2**64 - 1)] == [0, 2**64 - 1]
    numbers = [restart_seed(seed, turn) for seed in (0, 1, 2**64 - 1) for turn in (1, 2, 2**62)]
    assert len(set(numbers)) == len(numbers)
    assert all(0 <= number < 2**64 for number in numbers)
    assert restart_seed(0, 1) == 5836529245451711556


@pytest.mark.parametrize("value", ["no", 1, None])
def test_merge_is_true_or_false(value: Any) -> None:
    with pytest.raises(TypeError, match="merge must be True or False"):
        pytsp.solve(uniform(9), solver="ils", merge=value)
