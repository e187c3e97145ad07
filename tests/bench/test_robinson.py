"""Robinson et al. (2018) reproduced: their rule against an oracle, their statistics, queues, blocks, large tours."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import emulated
import numpy as np
import oracle
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import pytsp
from bench.harness.machine import TSPLIB
from bench.papers import robinson2018, robinson2018_blocks, robinson2018_threads
from bench.papers.instances import instance_of
from bench.papers.tables import Figure, Table
from bench.papers.task import Task
from pytsp.backends import open_backend

PASSES = st.lists(st.integers(1, 99), min_size=1, max_size=60).map(lambda passes: np.array(passes, np.int64))


# Their rule


@given(matrix=strategies.symmetric_matrices(min_n=5, max_n=12), seed=st.integers(0, 99))
def test_one_thread_climbs_by_best_improvement(matrix: Any, seed: int) -> None:
    start = pytsp.random_tours(len(matrix), 1, seed)[0]
    found = robinson2018_threads.climb(matrix, start, 1)
    assert found.tolist() == oracle.climb(matrix.tolist(), start.tolist())[0]


def threaded(distances: list[list[int]], tour: list[int], threads: int) -> list[int]:
    """Their rule, a move at a time."""
    while True:
        kept: dict[int, tuple[int, int, int]] = {}
        for i, j in oracle.all_moves(len(tour)):
            move = (-oracle.gain(distances, tour, i, j), i, j)
            kept[i % threads] = min(kept.get(i % threads, (0, -1, -1)), move)
        moves = sorted(move for move in kept.values() if move[0] < 0)
        if not moves:
            return tour
        while moves:
            _, i, j = moves.pop(0)
            tour = oracle.apply_move(tour, i, j)
            moves = [(gain, a, b) for gain, a, b in moves if a > j or b < i]


@given(
    matrix=strategies.symmetric_matrices(min_n=5, max_n=14),
    seed=st.integers(0, 99),
    threads=st.sampled_from((2, 5, 32)),
)
def test_threads_climb_as_they_do_a_move_at_a_time(matrix: Any, seed: int, threads: int) -> None:
    start = pytsp.random_tours(len(matrix), 1, seed)[0]
    found = robinson2018_threads.climb(matrix, start, threads).tolist()
    assert found == threaded(matrix.tolist(), start.tolist(), threads)
    assert oracle.best_move(matrix.tolist(), found)[0] <= 0


def test_a_thread_keeps_one_move() -> None:
    # Two crossings far from each other: both are undone in one pass by as many threads as edges, by one thread in two.
    ends: list[int] = []

    class Counted(np.ndarray[Any, Any]):
        """Distances that count how often a pass looks at them."""

        def __getitem__(self, key: Any) -> Any:
            ends.append(0)
            return np.asarray(super().__getitem__(key))

    angles = np.arange(16) * math.pi / 8
    circle = pytsp.Instance.from_coordinates(1000 * np.column_stack([np.cos(angles), np.sin(angles)]), metric="EUC_2D")
    crossed = [0, 2, 1, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 13, 14, 15]
    for threads, passes in ((16, 2), (9, 2), (8, 3), (1, 3)):
        ends.clear()
        tour = robinson2018_threads.climb(circle.distance_matrix().view(Counted), crossed, threads)
        assert tour.tolist() == [*range(16)]
        assert len(ends) == passes, threads


def test_their_p_follows_from_their_correlations() -> None:
    for what, name, correlation, their_p in robinson2018_threads.TABLE:
        p = robinson2018_threads.fisher_p(correlation, robinson2018_threads.VALUES)
        assert p == pytest.approx(their_p, rel=0.02), (what, name)
        verdict = robinson2018_threads.tested(what, name, 32, correlation, their_p)[-1]
        assert (verdict == "retain") == ((what, name) == ("shared memory", "fl1400"))


def test_table_1_tells_a_trend() -> None:
    threads = np.array(robinson2018_threads.THREADS, np.float64)[:, None]
    noise = np.random.default_rng(0).normal(0, 1, (len(threads), 5))
    for slope, verdict in ((-0.1, "reject"), (0.1, "retain")):
        rows = robinson2018_threads.correlated(slope * threads + noise).rows[len(robinson2018_threads.TABLE) :]
        assert [row[-1] for row in rows] == [verdict, verdict]


def test_their_rule_is_tried_with_all_numbers_of_threads() -> None:
    table, figure = robinson2018_threads.correlations(Task("c"), 1e-9)
    assert isinstance(table, Table) and isinstance(figure, Figure)
    assert len(table.rows) == len(robinson2018_threads.TABLE) + 2
    assert figure.series[0].x == list(range(32, 449, 32)) and len(figure.series) == 5


# Statistics


def test_samples_of_welchs_test_share_no_climbers(monkeypatch: pytest.MonkeyPatch) -> None:
    climbed: dict[Any, list[int]] = {1: [], "inf": []}

    def climb(task: Task, instance: pytsp.Instance, climbers: int, **options: Any) -> pytsp.Result:
        first, k = options.get("first", 0), options["k"]
        if climbers > 1:
            climbed[k] += range(first, first + climbers)
        found = pytsp.solve(instance, solver="restarts", climbers=climbers, backend="c", k=k, first=first)
        return dataclasses.replace(found, seconds=climbers * (3.0 if k == 1 else 1.0))

    monkeypatch.setattr(Task, "climb", climb)
    monkeypatch.setattr(Task, "fitting", lambda *_, **__: 40)
    monkeypatch.setattr(robinson2018, "COMPARED", ("fl417",))
    monkeypatch.setattr(robinson2018, "instance_of", lambda *_: instance_of(TSPLIB, "berlin52"))
    table, figure = robinson2018.tests(Task("c"), robinson2018.Speed(52, 1e-6), 10.0)
    assert isinstance(table, Table) and isinstance(figure, Figure)
    assert len(climbed[1]) == 40 and len(climbed["inf"]) == 120
    assert len({*climbed[1], *climbed["inf"]}) == 160
    assert [row[2:4] for row in table.rows] == [[40, 40], [40, 40], [40, 120]]
    assert [series.y[-1] for series in figure.series] == [1, 1, 1]
    assert all(series.x == sorted(series.x) and len(series.x) == robinson2018.SAMPLES for series in figure.series)


# Queues


def slowly(passes: list[int], blocks: int, portion: int) -> int:
    """The most passes of a block, a pass at a time."""
    waiting = [sum(passes[first : first + portion]) for first in range(0, len(passes), portion)]
    left, made = [0] * blocks, [0] * blocks
    while waiting or any(left):
        for block in range(blocks):
            if left[block] == 0 and waiting:
                left[block] = waiting.pop(0)
            made[block] += left[block] > 0
            left[block] -= left[block] > 0
    return max(made)


@settings(max_examples=50)
@given(passes=PASSES, blocks=st.integers(1, 9), portion=st.integers(1, 7))
def test_a_queue_gives_its_climbers_to_blocks_that_are_done(passes: Any, blocks: int, portion: int) -> None:
    assert robinson2018_blocks.queued(passes, blocks, portion) == slowly(passes.tolist(), blocks, portion)


@given(passes=PASSES, blocks=st.integers(1, 9))
def test_no_way_of_giving_out_climbers_beats_the_mean(passes: Any, blocks: int) -> None:
    ranges, turns = robinson2018_blocks.in_ranges(passes, blocks), robinson2018_blocks.by_turns(passes, blocks)
    for most in (ranges, turns, robinson2018_blocks.queued(passes, blocks, 1)):
        assert max(passes.max(), passes.sum() / blocks) <= most <= passes.sum()
    same = np.full(len(passes), 3)
    rounds = -(-len(passes) // blocks)
    assert robinson2018_blocks.in_ranges(same, blocks) == robinson2018_blocks.by_turns(same, blocks) == 3 * rounds


def most_of_a_block(passes: list[int], block_of: list[int]) -> int:
    """The most passes of a block, where climber i is in block `block_of[i]`."""
    return max(sum(p for p, b in zip(passes, block_of, strict=True) if b == block) for block in set(block_of))


@given(passes=PASSES, blocks=st.integers(1, 9))
def test_turns_and_ranges_give_each_block_its_climbers(passes: Any, blocks: int) -> None:
    reported = passes.tolist()
    turns = [i % blocks for i in range(len(reported))]
    assert robinson2018_blocks.by_turns(passes, blocks) == most_of_a_block(reported, turns)
    # The first blocks have one climber more, where they cannot all have as many.
    ranges = sorted(turns)
    assert robinson2018_blocks.in_ranges(passes, blocks) == most_of_a_block(reported, ranges)


def test_turns_differ_from_ranges() -> None:
    passes = np.array([9, 1, 9, 1], np.int64)
    assert (robinson2018_blocks.by_turns(passes, 2), robinson2018_blocks.in_ranges(passes, 2)) == (18, 10)


def test_what_a_queue_is_worth_has_a_column_for_each_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each column is its own way of giving out climbers, by the mean of the blocks."""
    passes = np.array([1, 2, 5, 40, 300, 7], np.int32)
    found = dataclasses.replace(
        pytsp.solve(pytsp.generate.uniform(5, 0), solver="restarts", climbers=1, backend="c"), passes=passes
    )
    monkeypatch.setattr(robinson2018_blocks, "instance_of", lambda *_: None)
    monkeypatch.setattr(Task, "fitting", lambda *_, **__: len(passes))
    monkeypatch.setattr(Task, "climb", lambda *_, **__: found)
    monkeypatch.setattr(robinson2018_blocks, "RESIDENT", (4, 7))
    monkeypatch.setattr(robinson2018_blocks, "QUEUED_RESTARTS", (250, 411, 0))
    table = robinson2018_blocks.turns(Task("c", seed=3), 1.0)
    assert [column.head for column in table.columns[2:]] == ["queue of 1", "of 100", "none, theirs", "none, pytsp"]
    assert [row[:2] for row in table.rows] == [[blocks, count] for blocks in (4, 7) for count in (250, 411)]
    for blocks, count, *cells in table.rows:
        assert isinstance(blocks, int) and isinstance(count, int)
        drawn = np.random.default_rng(3).choice(passes, count).tolist()
        turns = [i % blocks for i in range(count)]
        most = [slowly(drawn, blocks, 1), slowly(drawn, blocks, 100)]
        most += [most_of_a_block(drawn, sorted(turns)), most_of_a_block(drawn, turns)]
        assert len(set(most)) == 4
        assert cells == pytest.approx([each * blocks / sum(drawn) for each in most])


# Blocks, where a GPU is


@pytest.fixture
def task(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Task:
    """A task for the emulated GPU, or for c, on small instances."""
    if request.param == emulated.NAME:
        emulated.slow_down(monkeypatch)
        for part in ("blocks", "restarts"):
            backend = open_backend(request.param, part=part)
            assert backend.device is not None
            monkeypatch.setattr(backend, "device", dataclasses.replace(backend.device, shared_memory=227 * 2**10))
    for module, name, value in (
        (robinson2018_blocks, "SHAPED", ("berlin52",)),
        (robinson2018_blocks, "RESTARTS", 3),
        (robinson2018_blocks, "QUEUED", "berlin52"),
        (robinson2018_blocks, "QUEUED_RESTARTS", (2, 4, 6)),
        (robinson2018_blocks, "BLOCKS", (10, 4)),
    ):
        monkeypatch.setattr(module, name, value)
    return Task(request.param, math.inf)


@pytest.mark.parametrize("task", [emulated.NAMED], indirect=True)
def test_lanes_rows_and_blocks_are_measured_on_a_gpu(task: Task) -> None:
    table, *figures = robinson2018_blocks.shapes(task, math.inf)
    assert isinstance(table, Table)
    reported = [tuple(row[2:4]) for row in table.rows]
    assert reported == [("lanes", 32), ("lanes", 128), ("lanes", 512), ("rows", 3), ("rows", 7)]
    assert all(float(str(row[4])) <= float(str(row[5])) <= float(str(row[6])) for row in table.rows)
    assert {row[7] for row in table.rows[:3]} <= {3, 7} and {row[7] for row in table.rows[3:]} <= {32, 128, 512}
    assert {row[8] for row in table.rows} == {Task("c").climb(instance_of(TSPLIB, "berlin52"), 3, k="inf").length}
    assert [len(figure.series) for figure in figures if isinstance(figure, Figure)] == [3, 3]
    queues = robinson2018_blocks.queues(task, math.inf)
    rows = queues.rows[len(robinson2018_blocks.THEIRS) * 3 :]
    assert [row[:2] for row in rows] == [["pytsp, 4 blocks", 6], ["pytsp, a block each", 6]]
    assert queues.left_out == ["10 blocks, which are more than the 6 restarts that the time has"]


@pytest.mark.parametrize("task", ["c"], indirect=True)
def test_what_needs_a_gpu_says_so(task: Task) -> None:
    (table,) = robinson2018_blocks.shapes(task, 1.0)
    assert isinstance(table, Table)
    for reported in (table, robinson2018_blocks.queues(task, 1.0)):
        command = "python -m bench.papers.reproduce robinson2018 --backend cuda"
        assert f"a CPU has no thread blocks (`{command}`" in reported.markdown()


# Large instances


def test_the_whole_machine_climbs_as_one_climber_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robinson2018, "LARGE", ("berlin52", "kroA100"))
    table = robinson2018.large(Task("c"), 1e3)
    assert [row[:2] for row in table.rows[:6]] == [["berlin52", k] for k in (1, 4, 64, 128, 256, "inf")]
    for row in table.rows:
        expected = Task("c").climb(instance_of(TSPLIB, str(row[0])), 1, k=row[1])
        assert row[4:] == [expected.passes[0], expected.steps[0], expected.length]
    assert table.rows[0][3] == 1 and not table.left_out


def test_large_instances_are_left_out_when_time_is_up() -> None:
    table = robinson2018.large(Task("c"), 1e-9)
    assert not table.rows and table.left_out == list(robinson2018.LARGE)
