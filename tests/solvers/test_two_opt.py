"""One tour by the complete 2-opt neighbourhood: the oracle's moves on every backend, cut anyhow, around thresholds.

And from its local optimum on by kicks: the oracle's iterated local search.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from cities import uniform
from clocks import KernelClock, fastest, seconds_of
from emulated import skip_where_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from interruptions import Interruption, assert_control_c_at_any_call_leaves_a_tour
from kernel_calls import forms_of
from kernel_values import batch_on
from numpy.typing import NDArray
from paths import tsplib_file
from results import assert_best_climber, assert_improves, assert_is_tour, assert_same, solving
from tasks import task_of

import pytsp
from pytsp import Improvement, Instance, Progress
from pytsp.backends import Backend, open_backend
from pytsp.exceptions import KernelError, TourError
from pytsp.problem.kernel_input import Form, form_of
from pytsp.problem.tours import BRIDGED_CITIES, bridge_cuts, double_bridge
from pytsp.run.result import FLOPS_A_CHECK
from pytsp.solvers import two_opt
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.options.two_opt import TwoOpt
from pytsp.solvers.selection import choose
from pytsp.solvers.two_opt import Descent
from pytsp.starts.construct import STARTS, start_tour

UNLIMITED = 2**31 - 1
KS = st.integers(1, 5) | st.just(UNLIMITED)
solved = solving("two-opt")


def descent_of(
    instance: Instance,
    backend: Backend,
    start: NDArray[np.int32],
    k: int,
    *,
    kicks: int = 0,
    seed: int = 0,
    form: Form | None = None,
) -> Descent:
    """A descent that has not begun, and the kicks that follow it."""
    return Descent(task_of(instance, TwoOpt(k=k, kicks=kicks), kernels=backend, seed=seed, form=form), start)


def tour_of(descent: Descent) -> list[int]:
    """The tour on which a descent stands."""
    tour: list[int] = descent.found().best.tour.tolist()
    return tour


def descents(instance: Instance, backend: Backend, start: NDArray[np.int32], k: int) -> list[Descent]:
    """A descent in each form in which kernels take an instance, in calls as they come."""
    return [descent_of(instance, backend, start, k, form=form) for form in forms_of(instance)]


def ended(descent: Descent) -> Descent:
    """A descent at its end."""
    while not descent.is_finished:
        descent.advance()
    return descent


def expected(form: Form, start: NDArray[np.int32], k: int) -> tuple[list[int], int, int]:
    """The oracle's tour, its length and its moves."""
    distances = form.whole.distance_matrix().tolist()
    tour, moves = oracle.k_swap(distances, start.tolist(), k)
    return tour, oracle.length(distances, tour), moves


@settings(max_examples=150)
@given(case=strategies.instances_with_tours(max_n=13), k=KS)
def test_a_descent_makes_the_oracles_moves(backend: Backend, case: tuple[Instance, NDArray[np.int32]], k: int) -> None:
    instance, start = case
    tour, length, moves = expected(form_of(instance), start, k)
    for descent in descents(instance, backend, start, k):
        now = ended(descent).standing
        assert tour_of(descent) == tour
        assert (now.length, now.moves, now.done) == (length, moves, True)
        assert k > 1 or now.passes == moves + 1
        assert oracle.best_move(form_of(instance).whole.distance_matrix().tolist(), tour) == (0, 0, 0)


@given(case=strategies.float_instances(max_n=10), seed=st.integers(0, 2**64 - 1))
def test_floating_point_lengths_are_the_instances(backend: Backend, case: Instance, seed: int) -> None:
    result = solved(case, backend, start="random", seed=seed)
    assert result.length == case.tour_length(result.tour)
    assert result.history[-1].length == pytest.approx(result.length, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("n", [*range(1, 9), 17, 18, 19, 63, 64, 65, 100])
@pytest.mark.parametrize("k", [1, 2, 8, UNLIMITED])
def test_sizes_around_tiles_and_lanes(backend: Backend, n: int, k: int) -> None:
    instance = uniform(n, side=n)
    start = start_tour(instance, "random", seed=1)
    tour, length, moves = expected(form_of(instance), start, k)
    for descent in descents(instance, backend, start, k):
        now = ended(descent).standing
        assert (tour_of(descent), now.length, now.moves) == (tour, length, moves)


@pytest.mark.parametrize("n", [1023, 1024, 1025])
@pytest.mark.parametrize("k", [1, UNLIMITED])
def test_both_sides_of_a_band(backend: Backend, n: int, k: int) -> None:
    instance = uniform(n, side=9000)
    greedy = start_tour(instance, "greedy")
    result = solved(instance, backend, k=k)
    batch = batch_on(backend, greedy)
    form = form_of(instance)
    loaded = backend.call(f"{form.kind}_load", *form.arguments)
    entry = f"{form.kind}_climb" + ("" if backend.device is None else "_thread")
    batch = backend.call(entry, loaded, batch, k, UNLIMITED)
    assert result.tour.tolist() == backend.fields(batch)["tours"][0].tolist()
    _, steps, passes, _ = backend.call("batch_found", batch)
    assert (result.steps.tolist(), result.passes.tolist()) == (steps.tolist(), passes.tolist())


def iterated(form: Form, start: NDArray[np.int32], k: int, kicks: int, seed: int) -> tuple[list[int], int, int]:
    """The tour of an iterated local search in plain steps, its length, and the moves of all its descents."""
    best, length, moves = expected(form, start, k)
    for kick in range(kicks):
        kicked = double_bridge(np.array(best, np.int32), bridge_cuts(len(best), seed, kick))
        tour, found, made = expected(form, kicked, k)
        moves += made
        if found <= length:
            best, length = tour, found
    return best, length, moves


@settings(max_examples=60)
@given(
    case=strategies.instances_with_tours(min_n=BRIDGED_CITIES, max_n=13),
    k=KS,
    kicks=st.integers(1, 12),
    seed=st.integers(0, 2**64 - 1),
)
def test_kicks_make_the_oracles_iterated_local_search(
    backend: Backend, case: tuple[Instance, NDArray[np.int32]], k: int, kicks: int, seed: int
) -> None:
    instance, start = case
    tour, length, moves = iterated(form_of(instance), start, k, kicks, seed)
    for form in forms_of(instance):
        descent = ended(descent_of(instance, backend, start, k, kicks=kicks, seed=seed, form=form))
        found, now = descent.found(), descent.standing
        assert found.best.tour.tolist() == tour
        assert (found.best.length, found.steps.tolist(), found.done.tolist()) == (length, [moves], [True])
        assert descent.iteration == now.kicks == kicks
        assert found.passes == [now.passes] and (k > 1 or now.passes == moves + kicks + 1)


@pytest.mark.parametrize("n", [*range(1, BRIDGED_CITIES + 2), 65, 1025])
@pytest.mark.parametrize("k", [1, "inf"])
def test_kicks_of_sizes_around_the_first_that_has_a_double_bridge(backend: Backend, n: int, k: int | str) -> None:
    instance = uniform(n, side=1000)
    plain = solved(instance, backend, k=k, seed=2)
    kicked = solved(instance, backend, k=k, seed=2, kicks=5)
    assert kicked.iterations == (5 if n >= BRIDGED_CITIES else 0)
    assert kicked.length <= plain.length
    assert kicked.stop_reason == "finished" and kicked.done.all()
    assert_is_tour(kicked)
    assert_best_climber(kicked)
    assert_same(kicked, solved(instance, open_backend("c"), k=k, seed=2, kicks=5))


def test_more_kicks_go_on_where_fewer_end(backend: Backend) -> None:
    instance = uniform(50, side=10_000)
    runs = [solved(instance, backend, kicks=kicks, start="random", seed=7) for kicks in (0, 1, 10, 40)]
    lengths, passes = [run.length for run in runs], [int(run.passes[0]) for run in runs]
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] < lengths[0]
    assert passes == sorted({*passes})
    longest = assert_improves(runs[-1].history)
    for run in runs[1:]:
        assert run.length in longest and set(assert_improves(run.history)) >= {run.length}
    assert not np.array_equal(runs[-1].tour, solved(instance, backend, kicks=40, start="random", seed=8).tour)


def test_kicks_without_end_go_on_until_a_limit(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = uniform(60, side=10_000)
    clock = KernelClock(monkeypatch)
    limited = solved(instance, backend, kicks="inf", time_limit=6.0)
    assert limited.stop_reason == "time limit" and limited.iterations is not None and limited.iterations > 0
    assert clock.begun("descend") > limited.iterations and not clock.begun("descend", after=6.0)
    assert solved(instance, backend, kicks="inf", patience=3.0).stop_reason == "no improvement"
    aim = solved(instance, backend, kicks=30).length
    found = solved(instance, backend, kicks="inf", target=aim)
    assert (found.stop_reason, found.length) == ("target", aim)
    for result in (limited, found):
        assert_is_tour(result)
        assert_improves(result.history)


def test_a_tour_that_is_on_its_way_counts_where_it_is_shorter(backend: Backend) -> None:
    instance = uniform(80, side=10_000)
    descent = descent_of(instance, backend, start_tour(instance, "random", seed=1), 1, kicks=60)
    seen = set()
    while not descent.is_finished:
        # Pass by pass.
        descent.moves_a_second = descent.pass_moves / CALL_SECONDS
        descent.advance()
        now, found = descent.standing, descent.found()
        shorter = now.best is None or now.length < now.best.length
        seen.add((now.best is not None, shorter, now.done))
        assert (
            found.best.length
            == descent.length
            == (now.length if now.best is None else min(now.length, now.best.length))
        )
        assert found.best.length == instance.tour_length(found.best.tour)
        assert found.done.tolist() == [now.done or not shorter]
    assert {(True, True, False), (True, False, False)} <= seen


@settings(max_examples=30)
@given(data=st.data(), n=st.integers(4, 40), k=st.sampled_from((1, 3, UNLIMITED)), kicks=st.sampled_from((0, 7)))
def test_cuts_into_calls_do_not_matter(backend: Backend, data: st.DataObject, n: int, k: int, kicks: int) -> None:
    instance = uniform(n)
    start = start_tour(instance, "random", seed=n)
    whole, cut = (descent_of(instance, backend, start, k, kicks=kicks) for _ in range(2))
    ended(whole)
    while not cut.is_finished:
        # The speed that it counts on decides how much of a pass, or how many passes, a call makes.
        cut.moves_a_second = 10.0 ** data.draw(st.integers(0, 9)) * cut.pass_moves
        if data.draw(st.booleans()):
            cut.moves_a_second = cut.pass_moves * data.draw(st.floats(0.01, 3))
        cut.advance()
    assert tour_of(cut) == tour_of(whole)
    assert cut.length == whole.length
    assert (cut.standing.moves, cut.standing.passes) == (whole.standing.moves, whole.standing.passes)


@given(case=strategies.instances_with_tours(min_n=4, max_n=13), passes=st.integers(0, 4))
def test_iterations_are_passes(backend: Backend, case: tuple[Instance, NDArray[np.int32]], passes: int) -> None:
    instance, start = case
    distances = form_of(instance).whole.distance_matrix().tolist()
    result = solved(instance, backend, initial_tour=start, iterations=passes)
    tour = start.tolist()
    for _ in range(int(result.steps[0])):
        gain, i, j = oracle.best_move(distances, tour)
        assert gain > 0
        tour = oracle.apply_move(tour, i, j)
    assert result.tour.tolist() == tour
    assert result.passes[0] == result.iterations
    assert result.passes[0] <= passes
    assert result.done[0] or result.passes[0] == passes


@pytest.mark.parametrize("start", STARTS)
def test_every_start(backend: Backend, start: Any) -> None:
    instance = uniform(60)
    result = solved(instance, backend, start=start, seed=3)
    begun = start_tour(instance, start, seed=3)
    assert result.history[0].length == instance.tour_length(begun)
    assert result.tour.tolist() == expected(form_of(instance), begun, 1)[0]
    assert result.stop_reason == "finished"


def test_what_a_result_tells(backend: Backend) -> None:
    progress: list[Progress] = []
    improvements: list[Improvement] = []
    instance = uniform(200)
    result = solved(instance, backend, progress=progress.append, on_improvement=improvements.append)
    assert result.solver == "two-opt"
    assert result.passes[0] == result.steps[0] + 1
    checks = int(result.passes[0]) * 200 * 197 // 2
    assert result.checks == result.moves == checks
    assert result.checks_per_second == pytest.approx(checks / result.seconds)
    assert result.flops_per_second == pytest.approx(FLOPS_A_CHECK * checks / result.seconds)
    assert f"{result.steps[0]} in {result.passes[0]} passes" in str(result)
    assert progress[-1].iteration == result.passes[0]
    assert list(result.history) == improvements
    assert result.history[-1].length == result.length
    assert result.to_dict()["solver"] == "two-opt"
    progress.clear()
    kicked = solved(instance, backend, kicks=3, progress=progress.append)
    assert kicked.iterations == progress[-1].iteration == progress[-1].iterations == 3
    assert (kicked.passes[0], kicked.steps[0]) > (result.passes[0], result.steps[0])
    assert f"in {kicked.passes[0]} passes over the neighbourhood, 3 kicks" in str(kicked)
    assert "kicks" not in str(result)


def test_targets_and_time_limits_end_a_descent(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = uniform(2000, side=100_000)
    random = instance.tour_length(start_tour(instance, "random"))
    result = solved(instance, backend, start="random", target=random - 1)
    assert result.stop_reason == "target"
    assert result.length < random
    clock = KernelClock(monkeypatch)
    # So many that no device is through before.
    result = solved(uniform(100_000, side=100_000), backend, start="random", time_limit=2.0)
    assert result.stop_reason == "time limit"
    assert not result.done[0]
    assert clock.begun("scan") > 1 and not clock.begun("scan", "descend", after=2.0)


@pytest.mark.timed
def test_a_time_limit_ends_a_descent_in_time(backend: Backend) -> None:
    instance = uniform(100_000, side=100_000)
    solve = partial(solved, instance, backend, start="random", time_limit=0.5)
    assert fastest(lambda: seconds_of(solve), 5.0) < 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"climbers": 3}, "climbers=3 has no effect with solver='two-opt'"),
        ({"first": 3}, "first=3 has no effect with"),
        ({"mapping": "thread"}, "mapping='thread' has no effect with"),
        ({"kick": "walk"}, "kick='walk' has no effect with"),
        ({"neighbours": 5}, "neighbours=5 has no effect with"),
        ({"start": "farthest"}, "start 'farthest' is not known"),
        ({"k": 0}, "k must be"),
        ({"iterations": -1}, "iterations must be"),
        ({"kicks": -1}, "kicks must be"),
        (
            {"kicks": 2, "iterations": 5},
            "iterations=5 bounds the passes of one descent, and has no effect with kicks=2",
        ),
    ],
)
def test_what_does_not_concern_it_is_refused(backend: Backend, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solved(uniform(9), backend, **options)


def test_kicks_choose_it_and_other_options_do_not() -> None:
    instance = uniform(20)
    for given_ in ({"kicks": 3}, {"kicks": "inf", "k": "inf"}, {"kicks": 3, "start": "random"}):
        assert choose("auto", given_, instance) == TwoOpt(**given_)
    assert choose("auto", {"k": "inf"}, instance).name == "restarts"
    with pytest.raises(ValueError, match="kicks=3 is for solver='two-opt' and merge=True for solver='ils'"):
        choose("auto", {"kicks": 3, "merge": True}, instance)


def test_an_initial_tour_must_be_one(backend: Backend) -> None:
    with pytest.raises(TourError):
        solved(uniform(5), backend, initial_tour=[0, 1, 2, 3, 3])


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("k", [1, "inf"])
def test_control_c_between_kicks_leaves_the_shortest_tour(backend: Backend, k: int | str, after: bool) -> None:
    instance = uniform(100, side=10_000)
    assert_control_c_at_any_call_leaves_a_tour(
        lambda: solved(instance, backend, k=k, kicks=6), [*range(4, 60, 3), 10**9], after
    )


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("k", [1, "inf"])
def test_control_c_at_any_call_leaves_a_tour(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, k: int | str, after: bool
) -> None:
    instance = uniform(300)
    finished = solved(instance, backend, start="random", k=k)
    for at in range(4, 40, 3):
        with monkeypatch.context() as patch:
            interruption = Interruption(at, after)
            patch.setattr(Backend, "call", lambda self, *args, seam=interruption: seam.call(self, *args))
            result = solved(instance, backend, start="random", k=k)
        assert result.stop_reason == ("interrupted" if interruption.calls > at + 1 else "finished")
        assert result.length == instance.tour_length(result.tour) >= finished.length
        if result.stop_reason == "finished":
            break


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, UNLIMITED])
def test_more_moves_than_32_bits_number(backend: Backend, k: int) -> None:
    skip_where_slow(backend)
    n = 70_000
    assert n * (n - 3) // 2 > 2**31
    points = np.column_stack([np.arange(n), np.zeros(n)])
    instance = Instance.from_coordinates(points, metric="EUC_2D")
    # A line there and back, with one stretch the wrong way round, at the very end of all pairs of positions.
    tour = np.concatenate([np.arange(0, n, 2), np.arange(n - 1, 0, -2)]).astype(np.int32)
    tour[-12:-2] = tour[-12:-2][::-1].copy()
    result = solved(instance, backend, initial_tour=tour, k=k, iterations=1)
    assert result.steps[0] == 1
    assert result.length == 2 * (n - 1)


def rounded_distances(some: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """EUC_2D, of each pair."""
    return np.floor(np.hypot(*(some - others).T) + 0.5)


@pytest.mark.slow
def test_pr2392_comes_to_the_end_of_rocki_and_suda_or_below(backend: Backend) -> None:
    skip_where_slow(backend)
    instance = pytsp.read(tsplib_file("pr2392.tsp"))
    result = solved(instance, backend)
    # As docs/papers/rocki2013.md has it beside their 412,085.
    assert result.length == instance.tour_length(result.tour) == 399_519
    # No move shortens it.
    points = instance.coordinates[result.tour]
    after = np.roll(points, -1, axis=0)
    edges = rounded_distances(points, after)
    for i, (here, there) in enumerate(zip(points, after, strict=True)):
        changed = rounded_distances(here, points) + rounded_distances(there, after)
        assert (edges[i] + edges <= changed)[np.arange(len(points)) != i].all()


def test_a_grid_is_a_plane_on_a_gpu(backend: Backend) -> None:
    form = two_opt._form_of(task_of(uniform(9), TwoOpt(), kernels=backend))
    assert form.kind == ("grid" if backend.device is None else "plane")
    assert len(form.arguments) == (2 if form.kind == "grid" else 3)


@pytest.mark.parametrize(("first", "end"), [(1, 3), (3, 2), (2, 7)])
def test_a_kernel_refuses_what_are_no_diagonals(backend: Backend, first: int, end: int) -> None:
    descent = descent_of(uniform(10), backend, np.arange(10, dtype=np.int32), 1)
    with pytest.raises(KernelError, match="are_diagonals"):
        descent.call("scan", descent.standing.handle, descent.k, first, end)
