"""What does not fit the memory is refused before it is made, with what would fit."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytsp
from pytsp import Instance, InstanceError
from pytsp.backends import Backend, open_backend
from pytsp.generate import uniform
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.kernel_input import form_of
from pytsp.utils import memory as _room
from pytsp.utils.memory import check_memory, free_bytes


@pytest.mark.parametrize("solver", ["ils", "annealing", "ants", "eax"])
@pytest.mark.parametrize("climbers", [10**9, 2**40])
def test_climbers_that_do_not_fit_are_refused(solver: str, climbers: int) -> None:
    law = rf"climbers={climbers} would take about [\d,.]+ GiB of memory, and [\d,.]+ GiB are free: at most \d+ fit"
    with pytest.raises(ValueError, match=law):
        pytsp.solve(uniform(50, 0), solver=solver, climbers=climbers, backend="c")


def test_other_numbers_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = uniform(200, 0)
    monkeypatch.setattr(_room, "free_bytes", lambda: 10**6)
    with pytest.raises(ValueError, match="ants=1048576 would take about 1.0 GiB of memory, .*: at most 1000 fit"):
        pytsp.solve(instance, solver="ants", ants=2**20, backend="c")
    with pytest.raises(ValueError, match="climbers=1000 would take .*: at most 62 fit"):
        pytsp.solve_many([instance], climbers=1000, backend="c")
    # The last that fits, and one more.
    assert neighbour_lists(uniform(500, 0), 125).shape == (500, 125)
    with pytest.raises(ValueError, match="k=126 would take .*: at most 125 fit"):
        neighbour_lists(uniform(500, 0), 126)


@given(st.integers(1, 10**6), st.integers(1, 1000), st.integers(0, 1000))
def test_the_number_that_is_told_is_the_most_that_fits(count: int, each: int, besides: int) -> None:
    room = 10**5
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_room, "free_bytes", lambda: room)
        try:
            check_memory("climbers", count, lambda number: each * number + besides)
        except ValueError as error:
            fitting = int(str(error).split()[-2])
            assert fitting < count and (each * fitting + besides <= room or fitting == 0)
            assert each * (fitting + 1) + besides > room
        else:
            assert each * count + besides <= room


def directed(n: int, dtype: type = np.int64) -> Instance:
    """Random ways, which differ there and back."""
    return Instance.from_matrix(np.random.default_rng(n).integers(1, 10**4, (n, n)).astype(dtype), asymmetric=True)


def points(n: int, metric: str) -> Instance:
    """Random points of the plane or of the globe."""
    return Instance.from_coordinates(np.random.default_rng(n).random((n, 2)) * 80, metric=metric)


@pytest.mark.parametrize(
    ("make", "each"),
    [
        pytest.param(lambda: directed(800), 32, id="directed"),
        pytest.param(lambda: directed(800, np.float64), 32, id="directed floats"),
        pytest.param(lambda: Instance.from_matrix(points(2500, "EUC_2D").distance_matrix()), 8, id="matrix"),
        pytest.param(lambda: Instance.from_matrix(points(2500, "EUCLIDEAN").distance_matrix()), 8, id="floats"),
        pytest.param(lambda: points(2500, "MAN_2D"), 8, id="points"),
        pytest.param(lambda: points(1500, "HAVERSINE"), 8, id="globe"),
    ],
)
def test_matrices_for_kernels_are_refused_before_they_are_made(
    make: Callable[[], Instance], each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = make()
    needed = each * instance.n**2
    monkeypatch.setattr(_room, "free_bytes", lambda: needed - 1)
    law = rf"distances for kernels, of {instance.n} cities, would take about {needed:,} bytes .*, and {needed - 1:,} \("
    tracemalloc.start()
    try:
        with pytest.raises(InstanceError, match=law):
            form_of(JonkerVolgenant.of(instance).instance if instance.asymmetric else instance)
        assert tracemalloc.get_traced_memory()[1] < 10**6
        monkeypatch.setattr(_room, "free_bytes", lambda: needed)
        tracemalloc.reset_peak()
        form = form_of(JonkerVolgenant.of(instance).instance if instance.asymmetric else instance)
        # Kernels copy what they are given. What is written block by block takes next to nothing besides.
        copied = sum(np.asarray(argument).nbytes for argument in form.arguments)
        peak = tracemalloc.get_traced_memory()[1] + copied
        assert 0.9 * needed < peak < needed + 2**23
    finally:
        tracemalloc.stop()


def test_copies_and_matrices_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    d = np.zeros((1500, 1500), dtype=np.int64)
    monkeypatch.setattr(_room, "free_bytes", lambda: 8 * 1500**2 - 1)
    with pytest.raises(InstanceError, match=r"a copy of an array of shape \(1500, 1500\) would take about 18,000,000"):
        Instance.from_matrix(d)
    with pytest.raises(
        InstanceError, match=r"portgen-1500-0: a matrix of 1500 x 1500 distances would take about 18,000"
    ):
        uniform(1500, 0).distance_matrix()
    monkeypatch.setattr(_room, "free_bytes", lambda: 8 * 1500**2)
    assert np.array_equal(Instance.from_matrix(d).distance_matrix(), d)


def test_the_least_bound_of_system_and_containers_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, container, other = tmp_path / "meminfo", tmp_path / "memory.max", tmp_path / "limit"
    monkeypatch.setattr(_room, "_SYSTEM", system)
    monkeypatch.setattr(_room, "_CONTAINERS", (container, other))
    assert free_bytes() is None
    # Where nobody says, nothing is refused.
    check_memory("climbers", 2**40, lambda count: count**2)
    system.write_text("MemTotal:       24105 kB\nMemAvailable:    100 kB\n")
    container.write_text("max\n")
    assert free_bytes() == 100 * 1024
    other.write_text("5000\n")
    assert free_bytes() == 5000


def test_a_population_is_joined_in_few_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels, joined = open_backend("c"), []
    call = Backend.call

    def counted(self: Backend, entry: str, *arguments: Any) -> Any:
        made = call(self, entry, *arguments)
        if entry == "population_joined":
            joined.append(len(call(self, "population_lengths", made)))
        return made

    monkeypatch.setattr(Backend, "call", counted)
    result = pytsp.solve(uniform(8, 0), solver="eax", climbers=1000, iterations=0, backend="c")
    assert result.climbers == 1000 == joined[-1] and kernels.name == "c"
    # Each chunk joined with all before it would copy some tens of thousands.
    assert sum(joined) <= 1000 * (math.log2(1000) + 2)
