"""The search's choices: where climbers are laid out, how many go together, what happens where memory runs out."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import emulated
import numpy as np
import pytest
from tasks import task_of

import pytsp
from pytsp import Instance
from pytsp.backends import open_backend
from pytsp.backends.devices import Device
from pytsp.exceptions import DeviceMemoryError
from pytsp.solvers.common.placement import choose_mapping, fits_a_block
from pytsp.solvers.options.restarts import RandomRestarts
from pytsp.solvers.options.shared import MOST_PASSES, kernel_passes
from pytsp.solvers.restarts import Batches

HOPPER = 227 * 2**10


def gpu(shared_memory: int = HOPPER) -> Any:
    """A backend on a GPU that is not there."""
    device = Device(0, "Paper GPU", 2**37, "9.0", "13.0", shared_memory=shared_memory)
    return SimpleNamespace(name="cuda", threads=None, device=device)


CPU: Any = SimpleNamespace(name="multicore", threads=8, device=None)


def form(n: int, kind: str = "grid") -> Any:
    """The form of an instance of n cities."""
    return SimpleNamespace(kind=kind, whole=SimpleNamespace(n=n))


# Blocks


# As many as the launches of the generated kernels have room for; tests/kernels/test_shared_memory.py reads those.
@pytest.mark.parametrize(
    ("kind", "k", "most"),
    [
        ("grid", 1, 11_968),
        ("plane", 1, 7_978),
        ("matrix", 1, 15_957),
        ("grid", 2, 7_210),
        ("grid", MOST_PASSES, 7_210),
        ("plane", 2, 5_984),
        ("matrix", 2, 9_574),
    ],
)
def test_a_block_of_an_h200_takes_so_many_cities(kind: str, k: int, most: int) -> None:
    assert fits_a_block(form(most, kind), k, gpu())
    assert not fits_a_block(form(most + 1, kind), k, gpu())


@pytest.mark.parametrize("shared_memory", [48, 99, 163, 227])
@pytest.mark.parametrize("kind", ["grid", "plane", "matrix"])
@pytest.mark.parametrize("k", [1, 2])
def test_more_shared_memory_takes_more_cities(kind: str, k: int, shared_memory: int) -> None:
    for n in (24, 300, 1_999, 2_000, 5_000, 9_000):
        if fits_a_block(form(n, kind), k, gpu(shared_memory * 2**10)):
            assert fits_a_block(form(n, kind), k, gpu((shared_memory + 1) * 2**10))
            assert fits_a_block(form(n, kind), 1, gpu(shared_memory * 2**10))


def test_every_gpu_has_a_little_shared_memory() -> None:
    # What the oldest GPUs have, whatever a driver says.
    assert fits_a_block(form(512), 1, gpu(0))
    assert not fits_a_block(form(513), 1, gpu(0))


def test_a_block_takes_no_tour_that_is_too_short_for_its_tiles_or_too_long_for_its_indices() -> None:
    boundless = gpu(2**40)
    fits = [n for n in (1, 3, 23, 24, 32_767, 32_768, 10**6) if fits_a_block(form(n), 1, boundless)]
    assert fits == [24, 32_767]


def test_there_are_no_blocks_on_a_cpu() -> None:
    assert not fits_a_block(form(100), 1, CPU)
    assert [choose_mapping(mapping, form(100), 1, CPU) for mapping in ("auto", "thread")] == ["thread", "thread"]
    with pytest.raises(ValueError, match="mapping='block' needs a GPU backend; backend 'multicore'"):
        choose_mapping("block", form(100), 1, CPU)


# With several moves a pass, a thread is better for short tours.
@pytest.mark.parametrize(
    ("n", "k", "chosen"),
    [
        (23, 1, "thread"),
        (24, 1, "block"),
        (199, 1, "block"),
        (11_968, 1, "block"),
        (11_969, 1, "thread"),
        (24, 2, "thread"),
        (199, 2, "thread"),
        (199, MOST_PASSES, "thread"),
        (200, 2, "block"),
        (200, MOST_PASSES, "block"),
        (7_210, 2, "block"),
        (7_211, 2, "thread"),
    ],
)
def test_auto_takes_a_block_where_it_fits_and_is_faster(n: int, k: int, chosen: str) -> None:
    assert choose_mapping("auto", form(n), k, gpu()) == chosen


@pytest.mark.parametrize("n", [23, 20_000])
def test_a_block_that_does_not_fit_is_refused_with_the_way_out(n: int) -> None:
    assert choose_mapping("thread", form(n), 1, gpu()) == choose_mapping("auto", form(n), 1, gpu()) == "thread"
    with pytest.raises(ValueError, match="'block' takes 24 to 32767 cities") as refused:
        choose_mapping("block", form(n), 1, gpu())
    assert all(part in str(refused.value) for part in ("Paper GPU", str(HOPPER), f"has {n}", "mapping='thread'"))


def test_an_unknown_mapping_is_refused() -> None:
    with pytest.raises(ValueError, match="mapping 'warp' is not known; known: auto, block, thread"):
        RandomRestarts(mapping="warp")


# Moves a pass


@pytest.mark.parametrize(("k", "moves"), [(1, 1), (256, 256), ("inf", MOST_PASSES), (math.inf, MOST_PASSES)])
def test_moves_a_pass_are_a_number_or_infinite(k: Any, moves: int) -> None:
    assert kernel_passes(RandomRestarts(k=k).k) == moves


@pytest.mark.parametrize("k", [0, -1, 2**31, 1.5, math.nan, -math.inf, "many", None, True])
def test_other_moves_a_pass_are_refused(k: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="k must be"):
        RandomRestarts(k=k)


# Memory


class Tight:
    """A backend, on a device that has room for a number of climbers at a time."""

    def __init__(self, room: int, calls: int = 2**31, name: str = "c") -> None:
        self.kernels = open_backend(name)
        self.name, self.threads, self.device = self.kernels.name, self.kernels.threads, self.kernels.device
        self.room = room
        self.calls = calls
        self.counts: list[int] = []

    def call(self, entry: str, *arguments: Any) -> Any:
        """Call an entry point, or be out of memory."""
        if entry == "batch_random":
            self.counts.append(arguments[-1])
            if arguments[-1] > self.room:
                raise DeviceMemoryError(f"no room for {arguments[-1]} climbers")
        if "_climb" in entry:
            self.calls -= 1
            if self.calls < 0:
                raise DeviceMemoryError("no room to go on")
        return self.kernels.call(entry, *arguments)


def instance(n: int = 10) -> Instance:
    """Random cities."""
    return Instance.from_coordinates(np.random.default_rng(n).integers(0, 100, (n, 2)), metric="EUC_2D")


def search(kernels: Any, climbers: int, n: int = 10) -> Batches:
    """A search that has not begun."""
    return Batches(task_of(instance(n), RandomRestarts(climbers=climbers), kernels=kernels, seed=5))


@pytest.mark.parametrize("name", ["c", emulated.NAMED])
@pytest.mark.parametrize("room", [1, 20, 99, 100])
def test_where_memory_runs_out_fewer_climbers_go_at_a_time_to_the_same_end(room: int, name: str) -> None:
    kernels = Tight(room, name=name)
    tight = search(kernels, 100)
    while not tight.is_finished:
        tight.advance()
    lengths = np.concatenate([batch.lengths for batch in tight.batches.values()])
    expected = pytsp.solve(instance(), solver="restarts", climbers=100, seed=5, backend="c")
    assert np.array_equal(lengths, expected.lengths)
    assert tight.best is not None and tight.best.climber == expected.climber
    sizes = [len(batch.done) for batch in tight.batches.values()]
    assert sum(sizes) == 100 and max(sizes) <= room
    # Halves, and no smaller than they have to be.
    refused = [count for count in kernels.counts if count > room]
    assert refused == [100, 50, 25, 12, 6, 3][: len(refused)]
    assert max(sizes) == 100 // 2 ** len(refused)


@pytest.mark.parametrize("name", ["c", emulated.NAMED])
def test_where_not_even_one_climber_fits_the_error_is_told(name: str) -> None:
    kernels = Tight(0, name=name)
    hopeless = search(kernels, 100)
    with pytest.raises(DeviceMemoryError, match="no room for 1 climbers"):
        hopeless.advance()
    assert kernels.counts == [100, 50, 25, 12, 6, 3, 1]
    assert hopeless.best is None and not hopeless.batches


@pytest.mark.parametrize("name", ["c", emulated.NAMED])
def test_climbers_on_their_way_are_not_cut(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # One pass a call: the batch is on its way after the first.
    monkeypatch.setattr("pytsp.solvers.restarts.CALL_SECONDS", 1e-12)
    halted = search(Tight(100, calls=1, name=name), 100, n=30)
    halted.advance()
    assert halted.last is not None and not halted.last.is_done
    with pytest.raises(DeviceMemoryError, match="no room to go on"):
        halted.advance()
    assert halted.best is not None
