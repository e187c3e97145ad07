"""How long instances take that go together: by a table, by cores and multiprocessors, and by what was seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytsp.api.batch_pace import BatchPace
from pytsp.api.together import MOST_CITIES_OF_A_THREAD
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
        return BatchPace(open_backend("c"))
    monkeypatch.setattr("pytsp.api.batch_pace.host_kernels", lambda _: None)
    return BatchPace(gpu())


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
    for threads in (1, 3):
        pace = BatchPace(open_backend("multicore", threads=threads))
        of_one = 500 * (SPEEDS["batch"] + 7 * SPEEDS["batch, climber"])
        assert pace.cores == threads and pace.seconds(sizes, 7) == pytest.approx(of_one / threads)


def test_multiprocessors_share_the_climbers_and_the_host_has_those_of_more_cities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytsp.api.batch_pace.host_kernels", lambda _: None)
    most = MOST_CITIES_OF_A_THREAD
    small, large = np.array([most, 50]), np.array([most + 1])
    one, two = BatchPace(gpu(1)), BatchPace(gpu(2))
    once = (most + 50) * SPEEDS["batch, GPU"] + most * SPEEDS["batch, thread"]
    each = (most + 50) * SPEEDS["batch, multiprocessor"]
    assert one.seconds(small, 3) == pytest.approx(once + 3 * each)
    assert two.seconds(small, 3) == pytest.approx(once + 3 * each / 2)
    of_host = (most + 1) * (SPEEDS["batch"] + 3 * SPEEDS["batch, climber"])
    assert one.seconds(large, 3) == two.seconds(large, 3) == pytest.approx(of_host)
    both = np.concatenate([small, large])
    assert one.seconds(both, 3) == pytest.approx(one.seconds(small, 3) + of_host)
