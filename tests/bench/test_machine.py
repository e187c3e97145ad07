"""Where benchmarks find TSPLIB's instances."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import needs_checkout

needs_checkout("bench")

from bench.harness import machine  # noqa: E402

SQUARE = """NAME: square
TYPE: TSP
DIMENSION: 4
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 3
3 4 3
4 4 0
EOF
"""


def test_an_instance_lies_in_the_folder_or_where_it_was_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloaded = tmp_path / "cache" / "square.tsp"
    downloaded.parent.mkdir()
    monkeypatch.setattr(machine, "cached", lambda name: downloaded if downloaded.is_file() else None)
    with pytest.raises(
        SystemExit, match=r"square\.tsp\.gz is not in .*; download it by 'pytsp datasets --fetch square'"
    ):
        machine.tsplib(tmp_path, "square")
    downloaded.write_text(SQUARE)
    assert machine.tsplib(tmp_path, "square").n == 4
    (tmp_path / "square.tsp").write_text(SQUARE.replace("DIMENSION: 4", "DIMENSION: 3").replace("4 4 0\n", ""))
    assert machine.tsplib(tmp_path, "square").n == 3
