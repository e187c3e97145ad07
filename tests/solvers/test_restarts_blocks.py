"""Thread blocks that take climbers in turn, of chosen lanes and rows: where climbers end, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import emulated
import numpy as np
import pytest
from cities import uniform
from cuts import cut
from gpus import gpu_params
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from results import assert_best_climber, assert_is_tour, assert_same, solving
from tasks import task_of

import pytsp
from pytsp import Instance, KernelError, Progress, RandomRestarts
from pytsp.backends import Backend, open_backend
from pytsp.backends.devices import Device
from pytsp.cli.commands import main
from pytsp.solvers.common.placement import TURNS, Blocks, choose_blocks
from pytsp.solvers.options.restarts import LANES, ROWS
from pytsp.solvers.restarts import Batches

HOPPER = 227 * 2**10
POINTS = np.random.default_rng(4).integers(0, 900, (41, 2))
NEAR = Instance.from_coordinates(POINTS, metric="EUC_2D")
INSTANCES = {
    "grid": NEAR,
    "plane": Instance.from_coordinates(POINTS / 4, metric="EUC_2D"),
    # Too far apart for single precision.
    "far plane": Instance.from_coordinates(POINTS * 1000 + 0.25, metric="CEIL_2D"),
    "matrix": Instance.from_coordinates(POINTS, metric="MAN_2D"),
}
SHAPES = [(lanes, rows) for lanes in LANES for rows in ROWS]
solved = solving("restarts")


@pytest.fixture(params=[*gpu_params(), emulated.NAMED])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Backend:
    """Every GPU that there is; the emulated one's blocks have the shared memory of large ones."""
    backend = open_backend(request.param, part="blocks")
    if backend.name == emulated.NAME:
        emulated.slow_down(monkeypatch)
        assert backend.device is not None
        monkeypatch.setattr(backend, "device", dataclasses.replace(backend.device, shared_memory=HOPPER))
    return backend


# What is found


@pytest.mark.parametrize(("lanes", "rows"), SHAPES)
@pytest.mark.parametrize("kind", INSTANCES)
def test_blocks_of_every_shape_find_what_c_finds(gpu: Backend, kind: str, lanes: int, rows: int) -> None:
    for k in (1, 3, "inf"):
        expected = pytsp.solve(INSTANCES[kind], solver="restarts", climbers=5, k=k, backend="c")
        for blocks in (None, 2):
            found = solved(INSTANCES[kind], gpu, climbers=5, k=k, blocks=blocks, lanes=lanes, rows=rows)
            assert_same(found, expected)
            assert found.mapping == "block"


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(24, 40),
    blocks=st.integers(1, 30),
    k=st.sampled_from((1, 2, "inf")),
    call_seconds=st.sampled_from((1e-12, 1e-5, 1e-3, 1e3)),
    batch_bytes=st.sampled_from((1, 700, 2**26)),
    turns=st.sampled_from((1, 2, 128)),
)
def test_any_cut_gives_the_same_result(
    gpu: Backend, n: int, blocks: int, k: Any, call_seconds: float, batch_bytes: int, turns: int
) -> None:
    expected = pytsp.solve(uniform(n), solver="restarts", climbers=23, first=5, k=k, backend="c")
    reported: list[Progress] = []
    with cut(call_seconds, 1e5, batch_bytes), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytsp.solvers.restarts.TURNS", turns)
        found = solved(uniform(n), gpu, climbers=23, first=5, k=k, blocks=blocks, lanes=32, progress=reported.append)
    assert_same(found, expected)
    done = [each.climbers_done for each in reported]
    assert done == sorted(done) and done[-1] == 23


@pytest.mark.parametrize("blocks", [1, 2, 5, 12, None])
def test_a_block_takes_its_next_climber_when_one_is_done(gpu: Backend, blocks: int | None) -> None:
    """With a pass a call, the calls are the passes of the block that has most to do."""
    reported: list[Progress] = []
    with cut(1e-12, 1e-12, 2**26):
        found = solved(uniform(30), gpu, climbers=12, blocks=blocks, lanes=32, rows=3, progress=reported.append)
    each = blocks or 12
    assert len(reported) == max(int(found.passes[block::each].sum()) for block in range(min(each, 12)))


def test_a_time_limit_leaves_climbers_where_they_are_or_start(gpu: Backend) -> None:
    with cut(1e-12, 1e-12, 2**26):
        calls = iter(range(40))

        def interrupt(_: Progress) -> None:
            if next(calls) == 37:
                raise KeyboardInterrupt

        found = solved(uniform(40), gpu, climbers=9, blocks=2, progress=interrupt)
    assert found.stop_reason == "interrupted"
    assert_is_tour(found)
    assert_best_climber(found)
    # Two blocks have made 38 passes each: one climber is on its way on each, and the last ones stand where they start.
    assert [int(found.passes[block::2].sum()) for block in (0, 1)] == [38, 38]
    begun = found.passes > 0
    assert int((begun & ~found.done).sum()) == 2
    starts = pytsp.random_tours(40, 9, 0)
    distances = uniform(40)
    assert not begun.all()
    assert found.lengths[~begun].tolist() == [distances.tour_length(tour) for tour in starts[~begun]]


@pytest.mark.parametrize("calls", [1, 9, 60])
def test_a_solve_that_was_stopped_goes_on(gpu: Backend, calls: int, tmp_path: Path) -> None:
    options: dict[str, Any] = {"climbers": 40, "blocks": 3, "lanes": 32, "k": 2}
    whole = pytsp.solve(NEAR, solver="restarts", climbers=40, k=2, backend="c")
    seen: list[Progress] = []

    def interrupt(now: Progress) -> None:
        seen.append(now)
        if len(seen) == calls:
            raise KeyboardInterrupt

    file = tmp_path / "run.checkpoint"
    with cut(1e-12, 1e-12, 3000):
        stopped = solved(NEAR, gpu, **options, checkpoint=file, checkpoint_interval=0, progress=interrupt)
        assert (stopped.stop_reason, stopped.done.all()) == ("interrupted", False)
    assert_same(pytsp.resume(file), whole)


def test_the_first_call_is_short_where_blocks_are_few_or_of_few_lanes(gpu: Backend) -> None:
    def seconds(**options: Any) -> float:
        task = task_of(NEAR, RandomRestarts(climbers=100_000, **options), kernels=gpu)
        return Batches(task)._pass_seconds()

    with cut(1e-3, 1e6, 2**26):
        # A pass of all blocks takes as long on a few as on many, until there are more than go at a time.
        assert seconds(blocks=1) == pytest.approx(seconds(blocks=100))
        assert seconds(blocks=1, lanes=32) == pytest.approx(4 * seconds(blocks=1, lanes=128))


@pytest.mark.parametrize("blocks", [1, 4])
def test_a_call_has_the_passes_that_fit_it_for_each_block(gpu: Backend, blocks: int) -> None:
    search = Batches(task_of(NEAR, RandomRestarts(climbers=40, blocks=blocks, lanes=32), kernels=gpu))
    with cut(1e-3, 1e-3 * 20.5 * 8448 * search.pass_moves / 2e-3, 2**26):
        search = Batches(search.task)
        search.advance()
        assert search.last is not None
        assert [int(search.last.passes[block::blocks].sum()) for block in range(blocks)] == [20] * blocks
        # Now the speed is known, of as many as go at a time.
        assert search.paced_by == blocks
        search.moves_a_second = 7.5 * blocks * search.pass_moves / 2e-3
        assert search._pass_seconds() == pytest.approx(2e-3 / 7.5)
        search.advance()
    assert [int(search.last.passes[block::blocks].sum()) for block in range(blocks)] == [27] * blocks


# Refusals


@pytest.mark.parametrize("name", ["c", "multicore"])
@pytest.mark.parametrize("options", [{"blocks": 4}, {"lanes": 32}, {"rows": 3, "blocks": 2}])
def test_a_cpu_has_no_thread_blocks(name: str, options: dict[str, Any]) -> None:
    shown = ", ".join(f"{each}={options[each]}" for each in ("blocks", "lanes", "rows") if each in options)
    with pytest.raises(ValueError, match=f"^{shown} needs a GPU backend; backend '{name}' has no thread blocks"):
        pytsp.solve(NEAR, backend=name, **options)


def test_shapes_that_were_not_compiled_are_refused_with_those_that_were(gpu: Backend) -> None:
    with pytest.raises(ValueError, match="lanes must be one of 32, 128, 512; it is 64"):
        RandomRestarts(lanes=64)
    with pytest.raises(ValueError, match="rows must be one of 3, 7; it is 5"):
        RandomRestarts(rows=5)
    with pytest.raises(TypeError, match="lanes must be a whole number; it is 32.0"):
        RandomRestarts(lanes=32.0)  # type: ignore[arg-type]
    batch = gpu.call("batch_random", 30, 0, 0, 3)
    xs, ys = np.ascontiguousarray(uniform(30).coordinates.T, dtype=np.int32)  # type: ignore[union-attr]
    loaded = gpu.call("grid_load", xs, ys)
    for shape in ((64, 7), (32, 5), (128, 11)):
        with pytest.raises(KernelError, match="is_shape"):
            gpu.call("grid_climb_blocks", loaded, batch, 1, 1, 2, *shape)
    with pytest.raises(KernelError, match="b >= 1"):
        gpu.call("grid_climb_blocks", loaded, batch, 1, 1, -1, 32, 3)


def test_threads_have_no_blocks() -> None:
    with pytest.raises(ValueError, match="mapping='thread' has no thread blocks, and blocks=3, rows=7 is about them"):
        RandomRestarts(mapping="thread", blocks=3, rows=7)
    assert RandomRestarts(mapping="block", blocks=3).kernels_part == RandomRestarts(rows=3).kernels_part == "blocks"
    assert RandomRestarts(mapping="block").kernels_part == "restarts"


def form(n: int, kind: str = "grid") -> Any:
    """The form of an instance of n cities."""
    return SimpleNamespace(kind=kind, whole=SimpleNamespace(n=n))


def device(shared_memory: int) -> Any:
    """A backend on a GPU that is not there."""
    found = Device(0, "Paper GPU", 2**37, "9.0", "13.0", shared_memory=shared_memory)
    return SimpleNamespace(name="cuda", device=found)


@pytest.mark.parametrize(("lanes", "rows"), SHAPES)
@pytest.mark.parametrize(("kind", "bytes_a_city"), [("grid", 32), ("plane", 36), ("matrix", 28)])
def test_a_block_takes_the_cities_that_its_shared_memory_holds(
    kind: str, bytes_a_city: int, lanes: int, rows: int
) -> None:
    options = RandomRestarts(lanes=lanes, rows=rows)
    rest = lanes * (44 + 8 * rows) + 17 * TURNS
    most = (HOPPER - rest) // bytes_a_city
    assert most > 4461
    assert choose_blocks(options, form(most, kind), device(HOPPER)) == Blocks(0, lanes, rows)
    assert choose_blocks(options, form(most, kind), device(most * bytes_a_city + rest)) is not None
    for n, memory in ((most + 1, HOPPER), (most, most * bytes_a_city + rest - 1)):
        with pytest.raises(ValueError, match=f"has {n}, and needs .* with {lanes} lanes and {rows} rows: use fewer"):
            choose_blocks(options, form(n, kind), device(memory))


@pytest.mark.parametrize("n", [1, 23])
def test_tours_too_short_for_a_tile_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match=f"blocks=2 takes 24 cities or more .*; this instance has {n}"):
        choose_blocks(RandomRestarts(blocks=2), form(n), device(HOPPER))
    assert choose_blocks(RandomRestarts(blocks=2), form(24), device(HOPPER)) == Blocks(2, 128, 7)


@pytest.mark.parametrize(("n", "lanes"), [(1999, 128), (2000, 512)])
def test_the_default_lanes_follow_from_the_cities(n: int, lanes: int) -> None:
    assert choose_blocks(RandomRestarts(rows=3), form(n), device(HOPPER)) == Blocks(0, lanes, 3)
    assert choose_blocks(RandomRestarts(k="inf"), form(n), device(HOPPER)) is None


def test_the_command_line_takes_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "europe", "--backend", "c", "--blocks", "3", "--lanes", "32", "--rows", "7"]) == 1
    assert "blocks=3, lanes=32, rows=7 needs a GPU backend" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["solve", "europe", "--lanes", "64"])
    assert "--lanes: invalid choice: 64 (choose from" in capsys.readouterr().err


def test_the_kernels_are_in_a_part_of_their_own(gpu: Backend) -> None:
    entries = open_backend(gpu.name, part="blocks").entry_points
    assert [each for each in entries if "climb" in each] == [
        f"{kind}_climb_blocks" for kind in ("grid", "matrix", "plane")
    ]
