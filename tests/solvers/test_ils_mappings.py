"""How climbers of the iterated local search are laid out on a GPU: by each mapping, they end where those of c do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import emulated
import numpy as np
import pytest
import strategies
from cities import scattered, uniform
from gpus import gpu_params
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_calls import lists_of, load
from kernel_values import search_plan
from results import assert_same

import pytsp
from pytsp import ILS, Instance, random_tours
from pytsp.backends import Device, open_backend
from pytsp.exceptions import KernelError
from pytsp.problem.kernel_input import form_of
from pytsp.solvers.common.placement import descent_seconds, mapping_of, most_cities
from pytsp.solvers.options.ils import KICKS, MAPPINGS
from pytsp.solvers.options.shared import PIVOTS
from pytsp.solvers.speeds import BYTES

BLOCKS = st.sampled_from((1, 2, 3, 30, 1024))
CPU: Any = SimpleNamespace(name="multicore", threads=8, device=None)
GPU: Any = SimpleNamespace(
    name="cuda", threads=None, device=Device(0, "Paper GPU", 2**37, "9.0", "13.0", shared_memory=227 * 2**10)
)


@pytest.fixture(scope="module", params=[*gpu_params(), emulated.NAMED])
def gpu(request: pytest.FixtureRequest) -> Any:
    """The name of every GPU's backend that runs here."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == emulated.NAME:
            emulated.slow_down(patch)
        yield request.param


def solved(instance: Instance, backend: str, **options: Any) -> pytsp.Result:
    """What three climbers come to, by moves that all backends make."""
    few = {"iterations": 12, "moves": "3-opt"}
    return pytsp.solve(instance, solver="ils", climbers=3, backend=backend, **{**few, **options})


# What climbers come to

SEARCHES = st.fixed_dictionaries(
    {},
    optional={
        "moves": st.sampled_from(("or-opt", "3-opt")),
        "kick": st.sampled_from(KICKS),
        "temperature": st.sampled_from((0.0, 2.5, 1e6)),
        "start": st.sampled_from(("random", "greedy")),
        "exchange": st.integers(1, 5),
        "restart": st.integers(1, 5),
        "neighbours": st.integers(1, 30),
        "first": st.integers(0, 2**40),
    },
).filter(lambda options: options.get("acceptance") != "shorter" or not options.get("temperature"))


@given(
    strategies.instances(max_n=12), SEARCHES, st.sampled_from(PIVOTS), st.integers(1, 400), BLOCKS, st.integers(0, 99)
)
@settings(max_examples=80)
@example(Instance.from_coordinates([[0, 0]], metric="EUC_2D"), {}, "random-k", 9, 2, 0)
@example(Instance.from_coordinates([[0, 0]] * 7, metric="EUC_2D"), {"temperature": 1e6}, "first", 1, 1, 0)
def test_in_step_climbers_come_to_what_they_come_to_alone(
    gpu: str, instance: Instance, options: dict[str, Any], pivot: str, draws: int, blocks: int, seed: int
) -> None:
    drawn = {"draws": draws} if pivot == "random-k" else {}
    shared_out = {"draw_blocks": blocks} if pivot == "random-k" else {}
    expected = solved(instance, "c", **options, **drawn, pivot=pivot, seed=seed)
    found = solved(instance, gpu, **options, **drawn, **shared_out, pivot=pivot, seed=seed, mapping="lockstep")
    assert_same(found, expected)
    assert found.mapping == "lockstep"


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "EXPLICIT"])
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("pivot", PIVOTS)
def test_every_mapping_ends_where_c_does(gpu: str, metric: str, mapping: str, pivot: str) -> None:
    instance = scattered(150, metric, 2)
    found = solved(instance, gpu, mapping=mapping, pivot=pivot, iterations=40)
    assert_same(found, solved(instance, "c", pivot=pivot, iterations=40))
    assert found.mapping == ("block" if mapping == "auto" else mapping)


@pytest.mark.parametrize("blocks", [1, 2, 7, 64, 1024])
def test_how_many_blocks_share_a_climbers_draws_does_not_matter(gpu: str, blocks: int) -> None:
    # More draws than a block has lanes, and fewer than all blocks have.
    options: dict[str, Any] = {"pivot": "random-k", "draws": 1_000}
    found = solved(uniform(60), gpu, draw_blocks=blocks, **options)
    assert_same(found, solved(uniform(60), "c", **options))
    assert found.mapping == "lockstep"


def test_one_that_is_cut_and_one_that_goes_on_from_a_checkpoint_end_alike(gpu: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"mapping": "lockstep", "exchange": 7, "restart": 11, "iterations": 60}
    whole = solved(uniform(50), gpu, **options)

    def stop(now: pytsp.Progress) -> None:
        if now.iteration >= 20:
            raise KeyboardInterrupt

    file = tmp_path / "cut"
    cut = solved(uniform(50), gpu, **options, checkpoint=file, progress=stop)
    assert cut.stop_reason == "interrupted"
    resumed = pytsp.resume(file, backend=gpu)
    assert_same(resumed, whole)
    assert resumed.mapping == "lockstep"


def test_a_trial_that_outgrows_its_log_is_taken_back_in_step_too(gpu: str) -> None:
    # Without a descent, the repair of a random tour goes on for hundreds of moves.
    backend = open_backend(gpu, part="strategies")
    form = form_of(scattered(400, "EUC_2D", 3))
    starts = random_tours(400, 2, 0)
    for pivot, draws, blocks in ((0, 1, 1), (2, 2000, 5)):
        population = backend.call("population_given", starts)
        plan = search_plan(backend, **{"from": 1}, iterations=1, pivot=pivot, draws=draws)
        loaded = load(backend, form)
        population = backend.call("grid_ils_lockstep", loaded, lists_of(form, 8), population, plan, blocks)
        assert np.array_equal(backend.fields(population)["bests"], starts)


# How they are laid out


def test_a_block_takes_the_cities_that_its_shared_memory_holds(gpu: str) -> None:
    most = most_cities(GPU)
    assert most is not None and 10_000 < most < 10_500
    assert [mapping_of(n, GPU, "block") for n in (1, most)] == ["block", "block"]
    assert [mapping_of(n, GPU) for n in (most, most + 1)] == ["block", "thread"]
    with pytest.raises(ValueError, match=f"mapping='block' takes up to {most} cities") as refused:
        mapping_of(most + 1, GPU, "block")
    assert all(part in str(refused.value) for part in ("Paper GPU", f"has {most + 1}", "mapping='lockstep'"))
    for mapping in ("thread", "lockstep"):
        assert mapping_of(1, GPU, mapping) == mapping_of(most + 1, GPU, mapping) == mapping


@pytest.mark.parametrize("backend", ["c", "multicore"])
@pytest.mark.parametrize("options", [{"mapping": "block"}, {"mapping": "lockstep"}])
def test_what_only_a_gpu_has_is_refused_on_a_cpu(backend: str, options: dict[str, Any]) -> None:
    reported = f"^mapping='{options['mapping']}' needs a GPU backend; backend '{backend}' has one climber a thread$"
    with pytest.raises(ValueError, match=reported):
        solved(uniform(9), backend, **options)
    with pytest.raises(ValueError, match="^mapping='lockstep' needs a GPU backend"):
        solved(uniform(9), backend, pivot="random-k", draw_blocks=3)
    for mapping in ("auto", "thread"):
        assert solved(uniform(9), backend, mapping=mapping).mapping == "thread"


def test_on_a_gpu_too_long_a_tour_is_refused_before_it_is_begun(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BYTES, "search block, city", 2**30)
    with pytest.raises(ValueError, match="mapping='block' takes up to 0 cities"):
        solved(uniform(9), gpu, mapping="block")
    assert solved(uniform(9), gpu).mapping == "thread"


@pytest.mark.parametrize("blocks", [0, 1025])
def test_kernels_refuse_blocks_that_they_do_not_have(gpu: str, blocks: int) -> None:
    backend = open_backend(gpu, part="strategies")
    form = form_of(scattered(6, "EUC_2D", 8))
    population = backend.call("population_given", random_tours(6, 1, 0))
    for verb in ("ils", "polish"):
        arguments = (load(backend, form), lists_of(form), population, search_plan(backend), blocks)
        with pytest.raises(KernelError):
            backend.call(f"grid_{verb}_lockstep", *arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mapping": "warp"}, "mapping 'warp' is not known; known: auto, block, thread, lockstep"),
        ({"draw_blocks": 3}, "draw_blocks=3 has no effect with pivot='first'; it is for pivot='random-k'"),
        (
            {"draw_blocks": 3, "pivot": "random-k", "mapping": "block"},
            "draw_blocks=3 has no effect with mapping='block'; it is for mapping='lockstep'",
        ),
        ({"draw_blocks": 1025, "pivot": "random-k"}, "draw_blocks must be a whole number from 1 to 1024; it is 1025"),
        ({"merge": True, "mapping": "lockstep"}, "merge=True has no effect with mapping='lockstep'"),
        ({"merge": True, "pivot": "random-k", "draw_blocks": 2}, "merge=True has no effect with mapping='lockstep'"),
    ],
)
def test_what_says_different_things_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        ILS(**options)


def test_only_who_asks_for_it_opens_the_kernels_of_climbers_in_step() -> None:
    assert {mapping: ILS(mapping=mapping).kernels_part for mapping in MAPPINGS} == {
        "auto": "search",
        "block": "search",
        "thread": "search",
        "lockstep": "strategies",
    }
    assert ILS(pivot="random-k", draw_blocks=1).kernels_part == "strategies"
    assert ILS(pivot="random-k", draws=1).kernels_part == "search"


def test_how_long_a_descent_takes_depends_on_the_mapping() -> None:
    seconds = {mapping: descent_seconds(1_000, 2_048, GPU, mapping) for mapping in MAPPINGS}
    assert seconds["auto"] == seconds["block"] < seconds["lockstep"] < seconds["thread"]
