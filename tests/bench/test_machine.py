"""Where benchmarks find TSPLIB's instances."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import needs_checkout
from cities import uniform

import pytsp

needs_checkout("bench")

from bench.harness import machine  # noqa: E402


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
    pytsp.write(downloaded, uniform(4, 0))
    assert machine.tsplib(tmp_path, "square").n == 4
    pytsp.write(tmp_path / "square.tsp", uniform(3, 0))
    assert machine.tsplib(tmp_path, "square").n == 3
