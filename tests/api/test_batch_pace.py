"""The likely seconds of a batch follow a table, the cores and multiprocessors, and what was seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytsp.api.batch_pace import MOST_CITIES_OF_A_THREAD, BatchPace, climbs_on_a_gpu
from pytsp.backends import open_backend
from pytsp.backends.devices import Device
from pytsp.solvers.speeds import SPEEDS

SIZES = st.lists(st.integers(8, 1_000), min_size=1, max_size=50).map(np.array)


def gpu(multiprocessors: int = 132) -> Any:
    class Paper:
        device = Device(0, "Paper GPU", 2**37, "9.0", "13.0", multiprocessors=multiprocessors)
        threads = None
        name = "cuda"

    return Paper()


def pace_of(kind: str, monkeypatch: pytest.MonkeyPatch) -> BatchPace:
    if kind == "c":
        return BatchPace(open_backend("c"), 20)
    monkeypatch.setattr("pytsp.api.batch_pace.host_kernels", lambda _: None)
    return BatchPace(gpu(), 20)


@pytest.mark.parametrize("kind", ["c", "gpu"])
@given(sizes=SIZES, seconds=st.floats(0, 100), seen=st.floats(1e-6, 10))
def test_so_many_climbers_are_in_time_and_one_more_is_not(kind: str, sizes: Any, seconds: float, seen: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        pace = pace_of(kind, patch)
    assert not pace.is_seen
    for _ in range(2):
        climbers = pace.climbers(sizes, seconds)
        assert climbers == 0 or pace.seconds(sizes, climbers) <= seconds * (1 + 1e-9)
        assert seconds <= pace.seconds(sizes, climbers + 1) * (1 + 1e-9)
        pace.observe(sizes, 20, seen)
        assert pace.is_seen and pace.seconds(sizes, 20) == pytest.approx(seen)


def test_cores_share_the_cities() -> None:
    sizes = np.array([200, 300])
    work = 200 ** (4 / 3) + 300 ** (4 / 3)
    for threads in (1, 3):
        pace = BatchPace(open_backend("multicore", threads=threads), 20)
        of_one = 500 * SPEEDS["batch"] + 7 * work * SPEEDS["batch, climber"]
        assert pace.cores == threads and pace.seconds(sizes, 7) == pytest.approx(of_one / threads)


def test_multiprocessors_share_the_climbers_and_the_host_has_those_of_more_cities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytsp.api.batch_pace.host_kernels", lambda _: None)
    most, count = MOST_CITIES_OF_A_THREAD, 1_000
    small, large = np.array([most, 50] * count), np.array([most + 1] * count)
    work = [count * n ** (4 / 3) for n in (most, 50, most + 1)]
    for multiprocessors in (100, 200):
        pace = BatchPace(gpu(multiprocessors), 20)
        once = SPEEDS["batch, generations"] + (most + 50) * count * SPEEDS["batch, GPU"]
        least = (most + 50) * SPEEDS["batch, thread"]
        each = sum(work[:2]) * SPEEDS["batch, multiprocessor"] / multiprocessors
        assert pace.seconds(small, 3) == pytest.approx(once + least) and 3 * each < least
        assert pace.climbers(small, once + 0.99 * least) == 0
        assert pace.waits(small) and not pace.waits(large)
        assert pace.seconds(small, 200) == pytest.approx(once + 200 * each) and least < 200 * each
        once = SPEEDS["batch, generations"] + (most + 1) * count * SPEEDS["batch, GPU"]
        assert pace.seconds(large, 3) == pytest.approx(once + 3 * work[2] * SPEEDS["batch, climber"])


def test_a_gpu_takes_climbers_that_its_host_would_have_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    host = open_backend("multicore", threads=2)
    monkeypatch.setattr("pytsp.api.batch_pace.host_kernels", lambda _: host)
    most = MOST_CITIES_OF_A_THREAD
    assert climbs_on_a_gpu(gpu(), most, 10**6) and not climbs_on_a_gpu(gpu(), most + 1, 10**6)
    # One multiprocessor is slower than two cores.
    assert not climbs_on_a_gpu(gpu(1), most, 10**6) and not climbs_on_a_gpu(host, most, 10**6)
    fewest = next(count for count in range(10**6) if climbs_on_a_gpu(gpu(), 100, count))
    of_host = fewest * 100 ** (4 / 3) * SPEEDS["batch, climber"] / 2
    assert of_host == pytest.approx(100 * SPEEDS["batch, thread"], rel=0.2)
