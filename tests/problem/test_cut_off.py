"""Cities without a way are named, before a solve and in what is told of its result."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import pytsp
from pytsp import Instance, PytspWarning
from pytsp.cli.commands import main
from pytsp.problem import mistakes
from pytsp.problem.instance import FORBIDDEN
from pytsp.problem.mistakes import cut_off_cities

INF = math.inf
NAMES = ["Ulm", "Bonn", "Kiel", "Jena"]


def without(*cities: int, n: int = 4) -> NDArray[Any]:
    ways = np.ones((n, n))
    for city in cities:
        ways[city] = ways[:, city] = INF
    return ways


def test_a_solve_names_them_and_points_at_who_called() -> None:
    instance = Instance.from_matrix(without(2), "towns", labels=NAMES)
    words = "^towns: every tour has forbidden edges, since all ways of 1 of 4 cities are forbidden: Kiel$"
    with pytest.warns(PytspWarning, match=words) as warned:
        result = pytsp.solve(instance, backend="c")
    assert warned[0].filename == __file__
    assert "forbidden 2 of the edges; no tour with fewer was found; all ways are forbidden of Kiel" in str(result)
    with pytest.warns(PytspWarning, match="of 5 of 7 cities are forbidden: 0, 1, 2 and 2 more$"):
        pytsp.solve_many([np.ones((4, 4)), without(*range(5), n=7)], backend="c")


def test_a_direction_alone_may_be_missing() -> None:
    ways = np.arange(16.0).reshape(4, 4)
    ways[:, 1] = INF
    with pytest.warns(PytspWarning, match="every tour .* all ways to or from 1 of 4 cities are forbidden: 1$"):
        pytsp.solve(ways, asymmetric=True, backend="c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A path begins there.
        assert pytsp.solve(ways, asymmetric=True, open=True, backend="c").forbidden_edges == 0
    ways[1] = INF
    with pytest.warns(PytspWarning, match="every path .* all ways to and from 1 of 4 cities are forbidden: 1$"):
        pytsp.solve(ways, asymmetric=True, open=True, backend="c")


def test_the_command_line_says_it_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "towns.csv").write_text(",Ulm,Bonn,Kiel\nUlm,0,1,NA\nBonn,1,0,NA\nKiel,NA,NA,0\n")
    assert main(["solve", str(tmp_path / "towns.csv"), "--backend", "c"]) == 0
    reported = capsys.readouterr()
    assert (
        "pytsp: towns: every tour has forbidden edges, since all ways of 1 of 3 cities are forbidden: Kiel\n"
        in reported.err
    )
    assert "all ways are forbidden of Kiel" in reported.out


@given(
    n=st.integers(1, 9),
    share=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    seed=st.integers(0, 2**32),
    is_whole=st.booleans(),
    is_open=st.booleans(),
    few=st.integers(0, 9),
)
def test_they_are_those_that_a_search_of_all_ways_finds(
    n: int, share: float, seed: int, is_whole: bool, is_open: bool, few: int
) -> None:
    random = np.random.default_rng(seed)
    ways = random.integers(1, 9, (n, n)).astype(np.int64 if is_whole else np.float64)
    ways[random.random((n, n)) < share] = FORBIDDEN[ways.dtype.kind]
    instance = Instance.from_matrix(ways, asymmetric=True)
    expected = []
    for city in range(n) if n > 1 else ():
        others = [other for other in range(n) if other != city]
        none_from, none_to = (
            (each == FORBIDDEN[ways.dtype.kind]).all() for each in (ways[city, others], ways[others, city])
        )
        if none_from and none_to if is_open else none_from or none_to:
            expected.append(city)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mistakes, "_FEW", few)
        patch.setattr(mistakes, "_BLOCK", 5)
        assert cut_off_cities(instance, is_open=is_open).tolist() == expected


def test_coordinates_cut_off_nothing() -> None:
    assert cut_off_cities(Instance.from_coordinates(np.zeros((5, 2)))).size == 0
