"""What backends have in common of a program is made once, for whoever asks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from checkout import needs_checkout

needs_checkout("buildtools")

from buildtools.errors import BuildError  # noqa: E402
from buildtools.halfway import PIPELINES, Halfway  # noqa: E402

PROGRAM, PASSES = Path("pytsp.fut"), ("--simplify",)


def test_who_comes_first_makes_it_and_others_wait() -> None:
    halfway, made, both = Halfway(), [], threading.Barrier(2)

    def make() -> str:
        # Somebody else has asked by then.
        both.wait(timeout=10)
        made.append(1)
        return "text"

    def ask(number: int) -> str:
        if number == 1:
            both.wait(timeout=10)
        return halfway.of(PROGRAM, PASSES, make)

    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(ask, number) for number in range(20)]
        assert {each.result() for each in found} == {"text"}
    assert made == [1]


def test_other_programs_and_other_passes_are_made_for_themselves() -> None:
    halfway = Halfway()
    assert halfway.of(PROGRAM, PASSES, lambda: "one") == "one"
    assert halfway.of(PROGRAM, ("--gpu-mem",), lambda: "two") == "two"
    assert halfway.of(Path("other.fut"), PASSES, lambda: "three") == "three"


def test_a_failure_is_told_to_all_that_wait_for_it() -> None:
    halfway = Halfway()

    def fail() -> str:
        raise BuildError("it does not type")

    for make in (fail, lambda: "never made"):
        with pytest.raises(BuildError, match="it does not type"):
            halfway.of(PROGRAM, PASSES, make)


def test_backends_that_share_passes_read_the_same_file() -> None:
    shared = {name: (each.shared, each.suffix) for name, each in PIPELINES.items()}
    assert shared["c"] == shared["multicore"] != shared["cuda"] == shared["opencl"]
