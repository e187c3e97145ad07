"""Generated instances, and instances written as TSPLIB files."""

from __future__ import annotations

import io
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from paths import ROOT, SHARED

import pytsp
from pytsp import generate
from pytsp._tsplib_write import write
from pytsp.cli import main
from pytsp.instance import Instance

DATA = ROOT / "data"


def portgen(n: int, seed: int) -> list[tuple[int, int]]:
    """The cities of the challenge's generator, restated in plain loops."""
    state, last, following = [0] * 55, seed, 1
    state[0] = seed
    for i in range(1, 55):
        state[21 * i % 55], following = following, (last - following) % 10**9
        last = state[21 * i % 55]
    numbers, a, b = [], 0, 24
    for _ in range(165 + 2 * n):
        a, b = (a - 1) % 55, (b - 1) % 55
        state[a] = (state[a] - state[b]) % 10**9
        numbers.append(state[a] // 1000)
    return list(zip(numbers[165::2], numbers[166::2], strict=True))


@given(n=st.integers(1, 200), seed=st.integers(0, 10**9 - 1))
@example(n=1, seed=0)
@example(n=11, seed=10**9 - 1)
@example(n=12, seed=1)
@example(n=13, seed=1)
def test_uniform_cities_are_those_of_the_challenge(n: int, seed: int) -> None:
    instance = generate.uniform(n, seed)
    assert instance.name == f"portgen-{n}-{seed}"
    assert instance.metric == "EUC_2D"
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == [list(point) for point in portgen(n, seed)]


def test_uniform_agrees_with_the_program_beside_the_checkout() -> None:
    program = SHARED / "tools" / "portgen.py"
    if not program.is_file():
        pytest.skip(f"the reference generator is expected in {program}")
    points = runpy.run_path(str(program))["uniform_cities"](1000, 1000)
    assert np.array_equal(generate.uniform(1000, 1000).coordinates, points)


@pytest.mark.parametrize(("n", "seed"), [(0, 0), (-1, 0), (10**8 + 1, 0), (1, -1), (1, 10**9)])
def test_numbers_out_of_range_are_refused(n: int, seed: int) -> None:
    with pytest.raises(ValueError, match="must be a whole number from"):
        generate.uniform(n, seed)


coordinates = st.floats(-1e6, 1e6) | st.integers(-(2**53), 2**53).map(float)


@given(
    points=st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8),
    metric=st.sampled_from(["EUC_2D", "CEIL_2D", "ATT", "MAN_2D", "MAX_2D"]),
)
@example(points=[(0.1, 1e-300), (-0.0, 5e-324)], metric="EUC_2D")
def test_a_written_instance_of_points_is_read_back(points: list[tuple[float, float]], metric: str) -> None:
    try:
        instance = Instance.from_coordinates(points, metric=metric, name="points", comment="one\ntwo")
    except pytsp.InstanceError:
        return
    file = io.BytesIO()
    write(file, instance)
    file.seek(0)
    again = pytsp.read(file)
    assert (again.name, again.metric, again.comment) == ("points", metric, "one\ntwo")
    assert np.array_equal(again.coordinates, instance.coordinates)


@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.integers(0, 10**6), min_size=n * n, max_size=n * n)))
def test_a_written_matrix_is_read_back(numbers: list[int]) -> None:
    n = int(len(numbers) ** 0.5)
    upper = np.triu(np.reshape(numbers, (n, n)), 1)
    file = io.StringIO()
    write(file, Instance.from_matrix(upper + upper.T, name="matrix"))
    file.seek(0)
    assert np.array_equal(pytsp.read(file).distance_matrix(), upper + upper.T)


def test_floating_point_distances_are_not_written(tmp_path: Path) -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 1]], metric="EUCLIDEAN", name="pair")
    with pytest.raises(pytsp.InstanceError, match="pair: metric EUCLIDEAN has floating-point distances"):
        write(tmp_path / "pair.tsp", instance)
    assert not (tmp_path / "pair.tsp").exists()


@pytest.mark.parametrize("n", [100, 1000])
def test_the_generated_instances_in_data_are_what_the_command_makes(
    tmp_path: Path, n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["generate", "uniform", "--n", str(n), "--seed", str(n)]
    assert main([*command, "--output", str(tmp_path / "made.tsp")]) == 0
    made = (tmp_path / "made.tsp").read_bytes()
    assert made == (DATA / f"uniform{n}.tsp").read_bytes()
    assert main(command) == 0
    assert capsys.readouterr().out.encode() == made


def test_a_million_cities_are_spread_over_the_square() -> None:
    points = generate.uniform(1_000_000, 1_000_000).coordinates
    assert points is not None
    assert points.min() >= 0
    assert points.max() < 10**6
    # Uniform: the mean of a million numbers of [0, 10**6) lies within five standard deviations of the middle.
    assert np.all(np.abs(points.mean(axis=0) - 499_999.5) < 5 * 10**6 / 12**0.5 / 1000)
