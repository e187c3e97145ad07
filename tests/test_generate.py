"""Generated instances, and instances written as TSPLIB files."""

from __future__ import annotations

import io
import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from paths import ROOT, SHARED

import pytsp
from pytsp import generate
from pytsp.cli.commands import main
from pytsp.io.tsplib.writer import write
from pytsp.problem.instance import Instance

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


def portcgen(n: int, seed: int, clusters: int) -> list[tuple[int, int]]:
    """The cities of the challenge's generator of clusters, restated in plain loops."""
    state, last, following = [0] * 55, seed, 1
    state[0] = seed
    for i in range(1, 55):
        state[21 * i % 55], following = following, (last - following) % 10**9
        last = state[21 * i % 55]
    places, kept = [0, 24], []

    def share() -> float:
        places[:] = [(places[0] - 1) % 55, (places[1] - 1) % 55]
        state[places[0]] = (state[places[0]] - state[places[1]]) % 10**9
        return state[places[0]] / 10**9

    def deviate() -> float:
        """Knuth's polar method: two at a time, the second of which is kept for the next call."""
        if kept:
            return kept.pop()
        square = 1.0
        while not 0 < square < 1:
            first, second = 2 * share() - 1, 2 * share() - 1
            square = first**2 + second**2
        scale = math.sqrt(-2 * math.log(square) / square)
        kept.append(first * scale)
        return second * scale

    for _ in range(165):
        share()
    centres = [(int(share() * 10**6), int(share() * 10**6)) for _ in range(clusters)]
    spread, cities = 1.0 / math.sqrt(n), []
    for _ in range(n):
        x, y = centres[int(share() * clusters)]
        dx, dy = deviate(), deviate()
        cities.append((x + int(dx * spread * 10**6), y + int(dy * spread * 10**6)))
    return cities


@given(n=st.integers(1, 350), seed=st.integers(0, 10**9 - 1), clusters=st.none() | st.integers(1, 9))
@example(n=99, seed=3, clusters=None)
@example(n=100, seed=3, clusters=None)
@example(n=199, seed=3, clusters=None)
@example(n=200, seed=3, clusters=None)
def test_clustered_cities_are_those_of_the_challenge(n: int, seed: int, clusters: int | None) -> None:
    instance = generate.clustered(n, seed, clusters)
    assert instance.name == f"portcgen-{n}-{seed}" + ("" if clusters is None else f"-{clusters}")
    assert instance.metric == "EUC_2D"
    assert instance.coordinates is not None
    expected = portcgen(n, seed, clusters or max(1, n // 100))
    assert instance.coordinates.tolist() == [list(point) for point in expected]


@pytest.mark.slow
def test_a_clustered_instance_has_the_optimum_that_the_challenge_published() -> None:
    c1k_0 = generate.clustered(1000, 1000)
    assert pytsp.solve(c1k_0, target=11387430, time_limit=60).length == 11387430


@given(n=st.integers(1, 300), seed=st.integers(0, 10**9 - 1), share=st.floats(0.01, 1))
@example(n=1, seed=0, share=1)
@example(n=9, seed=0, share=1)
@example(n=10, seed=0, share=1)
@example(n=8, seed=0, share=0.5)
@example(n=9, seed=0, share=0.5)
def test_cities_on_a_grid_have_places_of_their_own(n: int, seed: int, share: float) -> None:
    points = generate.grid(n, seed, share).coordinates
    assert points is not None
    places = points / 100
    assert np.array_equal(places, np.floor(places))
    assert len({tuple(place) for place in places.tolist()}) == n
    # The smallest square grid on which they are no more than the share.
    side = next(side for side in range(1, 10**4) if n / share <= side * side)
    assert places.min() >= 0
    assert places.max() < side
    assert np.array_equal(points, generate.grid(n, seed, share).coordinates)


def test_every_place_of_a_full_grid_is_taken() -> None:
    points = generate.grid(100, 5, share=1).coordinates
    assert points is not None
    assert sorted(points.tolist()) == [[100 * x, 100 * y] for x in range(10) for y in range(10)]
    assert not np.array_equal(points, generate.grid(100, 6, share=1).coordinates)
    assert pytsp.solve(generate.grid(100, 5, share=1)).length == 10_000


@pytest.mark.parametrize(
    ("kind", "arguments", "words"),
    [
        (generate.clustered, (0, 0), "n must be a whole number from 1"),
        (generate.clustered, (1, 10**9), "seed must be a whole number from 0 to 999999999"),
        (generate.clustered, (1, 0, 0), "clusters must be a whole number from 1"),
        (generate.grid, (0, 0), "n must be a whole number from 1"),
        (generate.grid, (1, -1), "seed must be a whole number from 0"),
        (generate.grid, (1, 0, 0), "share must be more than 0 and at most 1; it is 0"),
        (generate.grid, (1, 0, 1.1), "share must be more than 0 and at most 1; it is 1.1"),
        (generate.grid, (1, 0, float("nan")), "share must be more than 0 and at most 1; it is nan"),
        (
            generate.grid,
            (10**7, 0, 0.01),
            "n=10000000 cities with share=0.01 need a grid of more than",
        ),
    ],
)
def test_numbers_of_other_kinds_out_of_range_are_refused(kind: Any, arguments: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        kind(*arguments)


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
