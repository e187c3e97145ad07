"""The shared memory with which the built GPU kernels are launched, against what Python believes a block to need."""

from __future__ import annotations

import operator
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from paths import ROOT

from pytsp.backends.devices import Device
from pytsp.solvers.common import placement
from pytsp.solvers.common.placement import BLOCK_CITIES, fits_a_block, fits_with_distances
from pytsp.solvers.speeds import BYTES

# By the form of distances, the bytes a city of a launch, and whether it makes one move a pass or several.
TILES = {"grid": {16: 1, 24: 2}, "plane": {20: 1, 24: 1, 28: 2, 32: 2}, "matrix": {12: 1, 20: 2}}
# Enumerations have a wide grid's points in double precision.
ENUMERATED = {"grid": {16: 1, 24: 1}, "plane": {24: 1}, "matrix": {12: 1}}
# Sizes at which futhark/two_opt/gpu_climbs.fut changes its lanes for several moves a pass.
LONG_TOURS, MANY_LANES = 2_000, 512
# KiB that a block may have: on any GPU, and on NVIDIA's of compute capability 7.5, 8.6, 8.0 and 9.0.
ROOMS = (48, 64, 99, 163, 227)


def source(part: str) -> str:
    """The C of a part of the kernels that a build left."""
    for backend in ("cuda", "opencl"):
        file = ROOT / "pytsp" / "_kernels" / f"{backend}_{part}.c"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    pytest.skip("no backend for GPUs is built: `python build.py --backends cuda`")


def launches(
    source: str, kernel: str = r"gpu_kernel_(?:(\w+)_climb(?:_by)?_)?block(?:_\d+)?zisegmap_intrablock_\d+"
) -> Iterator[tuple[str | None, int, str]]:
    """Each launch of a climber's block: form, lanes, and its shared memory as an expression of n.

    The form is None where a function serves several.
    """
    for launch in re.finditer(kernel + r"\(ctx, (.*)\);", source):
        depth, commas, arguments = 0, [], launch[2]
        for place, sign in enumerate(arguments):
            depth += (sign == "(") - (sign == ")")
            if sign == "," and depth == 0:
                commas.append(place)
        # Three numbers are the grid's, three the block's, and then comes the shared memory.
        lanes, shared = (arguments[commas[at] + 1 : commas[at + 1]].replace("(int64_t)", "") for at in (2, 5))
        yield launch[1], int(lanes), resolved(shared, source, launch.start())


def resolved(expression: str, source: str, end: int) -> str:
    """An expression in which names stand for what they were last defined as before a place of the source."""
    if re.search(r"\w*_\d+", expression) is None:
        return expression

    def definition(name: re.Match[str]) -> str:
        if name[0].startswith(("n_", "piece_")):
            return "n"
        begin = source.rindex(reported := f"int64_t {name[0]} = ", 0, end) + len(reported)
        return f"({source[begin : source.index(';', begin)].replace('(int64_t)', '')})"

    return resolved(re.sub(r"\w*_\d+", definition, expression), source, end)


def needed(expression: str, n: int) -> int:
    """The bytes for n cities."""
    functions = {"srem64": operator.mod, "mul64": operator.mul, "add64": operator.add, "umax64": max}
    return int(eval(expression, {"n": n, **functions}))


def grows(expression: str) -> int:
    """The bytes a city; more than any tour has where all distances are in it."""
    return (needed(expression, 2_000) - needed(expression, 1_000)) // 1_000


def gpu(room: int) -> Any:
    """A backend on a GPU whose blocks have a number of KiB."""
    return SimpleNamespace(device=Device(0, "GPU", 2**37, "9.0", "13.0", shared_memory=room * 2**10))


def most_cities(fits: Callable[[int], bool], least: int) -> int:
    """The longest tour, from `least` cities on, that is thought to fit a block; one less where none is."""
    return least - 1 + bisect_left(range(least, BLOCK_CITIES[-1] + 1), True, key=lambda n: not fits(n))


@pytest.mark.parametrize(("part", "kinds"), [("restarts", TILES), ("neighbourhoods", ENUMERATED)])
def test_no_block_needs_more_shared_memory_than_is_thought(part: str, kinds: dict[str, dict[int, int]]) -> None:
    found = list(launches(source(part)))
    of_forms = [
        (form, lanes, expression)
        for named, lanes, expression in found
        for form in ([named] if named else kinds)
        if grows(expression) < 1_000 and (named or grows(expression) in kinds[form])
    ]
    assert {form for form, *_ in of_forms} == set(kinds)
    for form, lanes, expression in of_forms:
        k = kinds[form][grows(expression)]
        least = LONG_TOURS if k > 1 and form == "grid" and lanes == MANY_LANES else BLOCK_CITIES[0]
        for room in ROOMS:

            def fits(n: int, form: str = form, k: int = k, room: int = room) -> bool:
                whole: Any = SimpleNamespace(kind=form, whole=SimpleNamespace(n=n))
                return fits_a_block(whole, k, gpu(room), is_enumerated=kinds is ENUMERATED)

            most = most_cities(fits, least)
            reported = f"{form}, k {k}: {most} cities in {room} KiB"
            assert most < least or needed(expression, most) <= room * 2**10, reported


@pytest.mark.parametrize(("room", "expected"), [(48, 94), (64, 100), (227, 100)])
def test_all_distances_need_no_more_shared_memory_than_is_thought(room: int, expected: int) -> None:
    found = [expression for _, _, expression in launches(source("neighbourhoods")) if grows(expression) >= 1_000]
    assert found
    most = most_cities(lambda n: fits_with_distances(n, gpu(room)), 24)
    assert most == expected
    assert max(needed(expression, most) for expression in found) <= room * 2**10


def test_a_climber_of_the_local_search_needs_no_more_than_is_thought() -> None:
    found = list(launches(source("search"), r"gpu_kernel_(climb)_\d+zisegmap_intrablock_\d+"))
    assert len(found) == len(TILES)
    for _, _, expression in found:
        for n in (5, 100, 1_000, *(placement_cities(room) for room in ROOMS)):
            assert needed(expression, n) <= BYTES["search block, city"] * n + BYTES["search block"]
        # Nor much more is thought than is needed.
        assert needed(expression, 1_000) > BYTES["search block, city"] * 1_000 + BYTES["search block"] - 4_096


def placement_cities(room: int) -> int:
    """The most cities of a climber on a GPU whose blocks have a number of KiB."""
    most = placement.most_cities(gpu(room))
    assert most is not None
    return most
