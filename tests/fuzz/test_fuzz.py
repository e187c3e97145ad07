"""The fuzzer's corpus, replayed: what once reached new code in the reader does no harm today."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from checkout import needs_checkout
from paths import DATA

needs_checkout("fuzz")

from fuzz import laws  # noqa: E402
from fuzz.reduce import steps_of  # noqa: E402

FILES = sorted(laws.CORPUS.iterdir())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_input_of_the_corpus_does_harm(file: Path) -> None:
    laws.check(file.read_bytes())


def test_the_corpus_is_small_and_reads_instances_and_tours() -> None:
    assert 20 <= len(FILES) <= 200
    assert sum(file.stat().st_size for file in FILES) < 50_000
    laws.check(b"")
    reached = {step[0].rpartition("/")[2] for file in FILES for step in steps_of(file.read_bytes())}
    assert {"reader.py", "sections.py", "lexer.py", "writer.py", "tours.py"} <= reached


def test_a_reader_that_reads_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    good, tour = (DATA / "good.tsp").read_bytes(), (DATA / "good.tour").read_bytes()
    read_tour, write = laws.read_tour, laws.write
    moved = laws.Instance.from_coordinates(np.arange(10.0).reshape(5, 2), metric="EUC_2D")
    with monkeypatch.context() as patch:
        patch.setattr(laws, "write", lambda target, _: write(target, moved))
        with pytest.raises(AssertionError):
            laws.check(good)
    monkeypatch.setattr(laws, "read_tour", lambda stream: np.roll(read_tour(stream), 1))
    with pytest.raises(AssertionError):
        laws.check(tour)
