"""The kernels by themselves: what futhark-ffi is given, and the program of forty lines."""

from __future__ import annotations

import re

import emulated
import numpy as np
import pytest
from checkout import needs_checkout
from paths import ROOT

import pytsp
from pytsp import kernels
from pytsp.backends import open_backend, status
from pytsp.exceptions import BackendError, BackendUnavailable


def test_entry_points_are_told_with_their_types() -> None:
    entries = kernels.entry_points("c")
    assert str(entries["batch_random"]) == "batch_random(n: i64, seed: u64, first: i64, count: i64) -> batch"
    assert entries["matrix_load"].inputs == (("distances", "[][]i32"),)
    assert set(entries) == set(open_backend("c").entry_points)


@pytest.mark.parametrize("backend", ["c", "multicore"])
def test_the_kernels_are_those_of_the_solvers(backend: str) -> None:
    futhark = kernels.load(backend)
    instance = pytsp.read("uniform100")
    cities = futhark.matrix_load(instance.distance_matrix().astype(np.int32))
    batch = futhark.batch_random(instance.n, 3, 5, 7)
    batch = futhark.matrix_climb(cities, batch, 1, 10_000)
    lengths = futhark.from_futhark(futhark.batch_found(batch)[0])
    expected = pytsp.solve(instance, solver="restarts", climbers=7, seed=3, first=5, backend="c")
    assert lengths.tolist() == expected.lengths.tolist()
    pairs = futhark.pairs_of(instance.n, 0)
    by_pairs = futhark.matrix_climb_by(cities, pairs, futhark.batch_random(instance.n, 3, 5, 7), 10_000)
    assert np.array_equal(futhark.from_futhark(futhark.batch_found(by_pairs)[0]), lengths)


def test_what_there_is_not_is_refused() -> None:
    for call in (kernels.load, kernels.entry_points):
        with pytest.raises(BackendError, match="backend 'multicor' is not known; known: .*did you mean multicore"):
            call("multicor")
        with pytest.raises(BackendError, match="part 'restart' of the kernels is not known"):
            call("c", "restart")
    for each in status():
        if not each.usable:
            with pytest.raises(BackendUnavailable, match=f"backend {each.name!r} cannot run here: "):
                kernels.load(each.name)


def forty_lines() -> str:
    """The program of the page."""
    needs_checkout("docs")
    page = (ROOT / "docs" / "how-to" / "forty-lines.md").read_text(encoding="utf-8")
    found = re.search(r"^```python\n(import .*?)^```$", page, re.M | re.S)
    assert found is not None and found[1].count("\n") <= 40
    return found[1]


def test_the_program_of_forty_lines_finds_what_a_solve_finds(capsys: pytest.CaptureFixture[str]) -> None:
    few = 3000
    program = forty_lines().replace("100_000", str(few)).replace("20_000", "1_000")
    exec(compile(program, "forty-lines.md", "exec"), {"__name__": "__main__"})
    result = pytsp.solve(pytsp.read("europe"), solver="restarts", climbers=few, seed=0)
    assert capsys.readouterr().out == f"climber {result.climber} is the best of {few}: {result.length}\n"


@pytest.mark.slow
def test_the_program_of_forty_lines_runs_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(forty_lines(), "forty-lines.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.endswith(" is the best of 100000: 23692\n")


def test_a_gpus_kernels_have_the_entry_points_that_the_page_names() -> None:
    if not emulated.IS_BUILT:
        pytest.skip("the emulated GPU is not built: run `python -m buildtools.emulated`")
    open_backend(emulated.NAME)
    entries = kernels.entry_points(emulated.NAME)
    assert str(entries["matrix_climb_block"]).endswith(
        "(instance: gpu_matrix_instance, batch: batch, k: i32, limit: i32) -> batch"
    )
    assert {"matrix_load", "batch_random", "batch_found", "batch_tour"} <= set(entries)
