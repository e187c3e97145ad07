"""The bench of the lower bound: what it counts on neighbour lists, and what it prints."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from paths import tsplib_file

from bench.solvers import bound


def test_an_edge_counts_half_from_each_end() -> None:
    tour = np.array([0, 1, 2, 3], np.int32)
    assert bound.listed_share(tour, np.array([[1], [0], [3], [2]], np.int32)) == 50
    assert bound.listed_share(tour, np.array([[1], [2], [3], [0]], np.int32)) == 50
    assert bound.listed_share(tour, np.array([[1, 3], [0, 2], [1, 3], [0, 2]], np.int32)) == 100
    assert bound.listed_share(tour, np.array([[2], [3], [0], [1]], np.int32)) == 0


def test_lists_by_alpha_have_their_share_of_the_edges_or_the_program_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("berlin52.tsp", "berlin52.opt.tour"):
        file = Path(tsplib_file(name))
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.setattr(sys, "argv", ["bound", "--edges", "--tsplib", str(tmp_path)])
    assert bound.main() == 0
    assert "| berlin52 | 91.35 | 100.0 | 100.0 |" in capsys.readouterr().out
    monkeypatch.setattr(bound, "LEAST_SHARE", 100.5)
    assert bound.main() == 1
