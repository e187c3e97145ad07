"""Segments in order: few of them as by brute force, many no worse than an independent 2-opt with flips leaves them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import pytsp
from pytsp import InstanceError, Limits, order_segments


def segments(m: int, seed: int = 0, long: float = 60.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Random short lines of a square."""
    numbers = np.random.default_rng([m, seed])
    starts = numbers.uniform(0, 1000, (m, 2))
    return starts, starts + numbers.normal(0, long, (m, 2))


def moves(points: NDArray[np.float64]) -> float:
    """The length of the way through points of pairs: from each second one to the next first one."""
    return math.fsum(np.hypot(*(points[1:, 0] - points[:-1, 1]).T))


def air(starts: Any, ends: Any, order: Any, flips: Any, home: Any = None, goal: Any = None) -> float:
    """The length of all moves, by what is said of an order."""
    pairs = np.stack([np.asarray(starts, float), np.asarray(ends, float)], axis=1)[np.asarray(order)]
    turned = np.asarray(flips)
    pairs[turned] = pairs[turned, ::-1]
    before = [] if home is None else [[home, home]]
    behind = [] if goal is None else [[goal, goal]]
    return moves(np.concatenate([np.array(each, float).reshape(-1, 2, 2) for each in (before, pairs, behind)]))


@settings(max_examples=30)
@given(
    m=st.integers(1, 4),
    seed=st.integers(0, 2**32),
    reversible=st.booleans(),
    is_open=st.booleans(),
    has_home=st.booleans(),
    has_goal=st.booleans(),
)
def test_few_segments_are_in_the_best_order(
    m: int, seed: int, reversible: bool, is_open: bool, has_home: bool, has_goal: bool
) -> None:
    starts, ends = segments(m, seed, 300.0)
    # Some are points.
    ends[::3] = starts[::3]
    home, goal = [0.0, 0.0] if has_home else None, [900.0, 50.0] if has_goal and is_open else None
    found = order_segments(starts, ends, reversible=reversible, open=is_open, start=home, end=goal, backend="c")
    best = math.inf
    for order in itertools.permutations(range(m)):
        for flips in itertools.product([False, True] if reversible else [False], repeat=m):
            first = ends[order[0]] if flips[0] else starts[order[0]]
            back = goal if is_open else first if home is None else home
            best = min(best, air(starts, ends, order, flips, home, back))
    begin = ends[found.order[0]] if found.flips[0] else starts[found.order[0]]
    back = goal if is_open else begin if home is None else home
    assert sorted(found.order.tolist()) == list(range(m)) and (reversible or not found.flips.any())
    assert found.after == pytest.approx(air(starts, ends, found.order, found.flips, home, back))
    assert found.after == pytest.approx(best) and found.after <= found.before
    given_back = goal if is_open else starts[0] if home is None else home
    assert found.before == pytest.approx(air(starts, ends, range(m), [False] * m, home, given_back))


def shortened_by_2_opt(starts: Any, ends: Any, order: Any, flips: Any) -> float:
    """What 2-opt with flips makes of an order: any stretch turned round, as long as that shortens it."""
    pairs = np.stack([starts, ends], axis=1)[order]
    pairs[flips] = pairs[flips, ::-1]
    while True:
        head, tail = pairs[:, 0], pairs[:, 1]
        # Stretch i … j turned: its outer ways change; the path is open.
        before = np.append(0.0, np.hypot(*(head[1:] - tail[:-1]).T))
        into = np.linalg.norm(tail[None, :] - np.roll(tail, 1, 0)[:, None], axis=2)
        out = np.linalg.norm(head[:, None] - np.roll(head, -1, 0)[None, :], axis=2)
        into[0], out[:, -1] = 0.0, 0.0
        gains = before[:, None] + np.append(before[1:], 0.0)[None, :] - into - out
        gains[np.tril_indices(len(pairs), -1)] = -np.inf
        i, j = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[i, j] <= 1e-9:
            return moves(pairs)
        pairs[i : j + 1] = pairs[i : j + 1][::-1, ::-1].copy()


def test_an_independent_2_opt_with_flips_finds_no_better_order_of_a_thousand() -> None:
    starts, ends = segments(1000)
    found = order_segments(starts, ends, solver="ils", iterations=20_000, climbers=1, backend="c")
    assert found.after == pytest.approx(air(starts, ends, found.order, found.flips))
    assert shortened_by_2_opt(starts, ends, found.order, found.flips) >= found.after - 1e-6
    assert found.after < 0.1 * found.before


def nearest_order(starts: Any, ends: Any) -> float:
    """The moves of the order that goes on to the nearest end that is left."""
    left, here, total = np.ones(len(starts), bool), ends[0], 0.0
    left[0] = False
    while left.any():
        numbers = np.flatnonzero(left)
        to = np.stack([np.hypot(*(starts[numbers] - here).T), np.hypot(*(ends[numbers] - here).T)])
        side, at = np.unravel_index(int(to.argmin()), to.shape)
        total += float(to[side, at])
        left[numbers[at]] = False
        here = ends[numbers[at]] if side == 0 else starts[numbers[at]]
    return total


@pytest.mark.slow
def test_many_segments_move_less_than_by_the_nearest() -> None:
    starts, ends = segments(20_000, long=10.0)
    # By iterations, so that the machine's load does not matter: they take a second or two.
    found = order_segments(starts, ends, solver="ils", climbers=1, iterations=100, backend="c")
    assert found.after <= 0.5 * found.before
    assert found.after <= 0.9 * nearest_order(starts, ends)


def contour(x: float, y: float, p: int, size: float) -> NDArray[np.float64]:
    """A closed regular polygon."""
    turns = np.linspace(0, 2 * np.pi, p + 1)
    points = np.column_stack([x + size * np.cos(turns), y + size * np.sin(turns)])
    points[-1] = points[0]
    return points


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), is_open=st.booleans(), has_home=st.booleans())
def test_contours_are_entered_where_it_is_best_for_the_order(seed: int, is_open: bool, has_home: bool) -> None:
    numbers = np.random.default_rng(seed)
    lines = [contour(*numbers.uniform(0, 100, 2), 4, 12.0) for _ in range(2)]
    lines += [numbers.uniform(0, 100, (3, 2)), numbers.uniform(0, 100, (1, 2))]
    home = [0.0, 0.0] if has_home else None
    found = order_segments(lines, open=is_open, start=home, backend="c")

    def length(entries: Any) -> float:
        here, total, first = None if home is None else np.array(home), 0.0, None
        for number, entry in zip(found.order.tolist(), entries, strict=True):
            line = lines[number]
            is_closed = len(line) > 2 and np.array_equal(line[0], line[-1])
            begin = line[entry] if is_closed else line[-1 if entry else 0]
            total += 0.0 if here is None else float(np.hypot(*(begin - here)))
            first = begin if first is None else first
            here = begin if is_closed else line[0 if entry else -1]
        if not is_open:
            total += float(np.hypot(*(here - (first if home is None else np.array(home)))))
        return total

    counts = [4 if len(lines[number]) == 5 else 2 if len(lines[number]) == 3 else 1 for number in found.order.tolist()]
    choices = list(itertools.product(*map(range, counts)))
    assert found.after == pytest.approx(length(found.entries))
    if is_open or has_home:
        assert found.after == pytest.approx(min(map(length, choices)))
    assert found.after <= found.before + 1e-9


class Line:
    """What has the interface of shapely's geometries."""

    def __init__(self, kind: str, coordinates: Any) -> None:
        self.__geo_interface__ = {"type": kind, "coordinates": coordinates}


def test_geometries_are_lines() -> None:
    square = [[[5, 0], [6, 0], [6, 1], [5, 1], [5, 0]]]
    line, point = Line("LineString", [(9, 0), (9, 5), (8, 0)]), Line("Point", (1, 0))
    found = order_segments([line, Line("Polygon", square), point])
    assert found.order.tolist() in ([2, 1, 0], [0, 1, 2]) and found.after == pytest.approx(4 + 3)
    with pytest.raises(InstanceError, match="line 0 is a Polygon with holes; accepted: Point, LineString"):
        order_segments([Line("Polygon", [*square, *square])])
    with pytest.raises(InstanceError, match="line 1 is a MultiPoint; accepted"):
        order_segments([Line("Point", (0, 0)), Line("MultiPoint", [(0, 0)])])


def test_groups_stay_together_in_their_order() -> None:
    starts, ends = segments(60)
    pens = np.random.default_rng(1).choice(["red", "blue", "black"], 60).tolist()
    found = order_segments(starts, ends, groups=pens, start=[0, 0], end=[1000, 1000], backend="c")
    runs = [name for name, _ in itertools.groupby(pens[number] for number in found.order.tolist())]
    assert runs == list(dict.fromkeys(pens)) and sorted(found.order.tolist()) == list(range(60))
    assert found.after == pytest.approx(air(starts, ends, found.order, found.flips, [0, 0], [1000, 1000]))
    back = order_segments(starts, ends, groups=pens, open=False, backend="c")
    first = ends[back.order[0]] if back.flips[0] else starts[back.order[0]]
    assert back.after == pytest.approx(air(starts, ends, back.order, back.flips, None, first))


def test_no_segments_and_one_are_in_order() -> None:
    empty = order_segments([], [])
    assert (len(empty.order), empty.before, empty.after) == (0, 0.0, 0.0)
    one = order_segments([[5, 0]], [[0, 0]], start=[0, 0])
    assert (one.order.tolist(), one.flips.tolist(), one.before, one.after) == ([0], [True], 5.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"starts": [[0, 0]], "ends": [[1, 1], [2, 2]]}, r"the same shape; they have \(1, 2\) and \(2, 2\)"),
        ({"starts": [[0, 0]], "ends": [[1, math.nan]]}, r"ends must be finite, but \[0\] is"),
        ({"starts": [0, 1], "ends": [2, 3]}, r"starts must have shape \(m, 2\) or \(m, 3\)"),
        ({"starts": "lines"}, "segments must be starts and ends, or lines"),
        ({"starts": [[[0, 0], [1, 1]], [[0, 0, 0], [1, 1, 1]]]}, "as many coordinates each"),
        ({"starts": [[]]}, "line 0 has no points"),
        ({"starts": [[0, 0]], "ends": [[1, 1]], "start": [0, 0, 0]}, "start must be a point of 2 finite numbers"),
        ({"starts": [[0, 0]], "ends": [[1, 1]], "open": False, "end": [0, 0]}, "end has no effect with a closed tour"),
        ({"starts": [[0, 0]], "ends": [[1, 1]], "groups": [1, 2]}, "groups must be 1, one a segment; there are 2"),
        ({"starts": [[0, 0]], "ends": [[1, 1]], "metric": "EUKLID"}, "metric 'EUKLID' is not known"),
        (
            {"starts": np.zeros((12_000, 2)), "ends": np.ones((12_000, 2)), "reversible": False},
            "12000 segments that are not reversible are too many; there may be 11585",
        ),
    ],
)
def test_what_are_no_segments_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((InstanceError, ValueError, TypeError), match=message):
        order_segments(**arguments)


def test_limits_are_those_of_all_groups() -> None:
    starts, ends = segments(60)
    within = Limits(time_limit=1e-6)
    for given_ in ({"limits": within}, {"time_limit": 1e-6}):
        found = order_segments(starts, ends, groups=[number % 3 for number in range(60)], **given_)
        assert [result.stop_reason for result in found.results] == ["time limit"] * 3
    with pytest.raises(ValueError, match=r"time_limit=3 is also given by limits=Limits"):
        order_segments(starts, ends, time_limit=3, limits=within)
    with pytest.raises(ValueError, match="time_limit must be a positive number of seconds; it is -1"):
        order_segments(starts, ends, time_limit=-1)


def test_names_are_public() -> None:
    assert isinstance(order_segments([[0, 0]], [[1, 0]]), pytsp.SegmentOrder)
