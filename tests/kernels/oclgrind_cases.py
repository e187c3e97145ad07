"""A program that test_oclgrind.py runs under oclgrind: climbers of the opencl backend, compared with those of c.

Its argument is a part of the kernels; or "several_blocks" for reductions over more cities than a block has threads; or
"no_barriers": then blocks climb without waiting for each other.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import numpy as np
from kernel_calls import climbing_entry, stretch_of
from kernel_values import bulk_plan, generation_plan, search_plan

from pytsp import Instance, random_tours, solve
from pytsp.backends import open_backend, opencl
from pytsp.bound import near_graph
from pytsp.exceptions import PytspError
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.kernel_input import form_of
from pytsp.solvers.options.restarts import ENUMERATIONS, LANES, ROWS

# What begins a kernel in the source, the name of one in which blocks climb, and what has threads wait for each other.
KERNEL, CLIMBING, BARRIER = b"FUTHARK_KERNEL", b"grid_climb_block", b"barrier"


def instance_of(kind: str, n: int) -> Instance:
    """Random cities that a kernel takes for a fine or a coarse grid, points of the plane, a short or a long matrix."""
    side = {"coarse": 30_000, "long matrix": 200_000}.get(kind, 60)
    points = np.random.default_rng(n).integers(0, side, (n, 2))
    if kind.endswith("matrix"):
        return Instance.from_coordinates(points, metric="MAN_2D")
    return Instance.from_coordinates(points / 2 if kind == "plane" else points, metric="EUC_2D")


def compare(kind: str, n: int, mapping: str, k: int | str, **options: Any) -> None:
    """Say whether three climbers of opencl end where those of c do."""
    instance = instance_of(kind, n)
    found = solve(instance, solver="restarts", climbers=3, backend="opencl", mapping=mapping, k=k, **options)
    expected = solve(instance, solver="restarts", climbers=3, backend="c", k=k)
    fields = ("lengths", "steps", "passes", "tour")
    equal = all(np.array_equal(getattr(found, field), getattr(expected, field)) for field in fields)
    ways = [found.mapping, str(k), *map(str, options.values())]
    print(f"{kind} {n} {' '.join(ways)}: {'equal' if equal else 'DIFFERENT'}", flush=True)


def iterate(kind: str, n: int) -> None:
    """Say whether three climbers of the iterated local search stand where those of c do."""
    instance = instance_of(kind, n)
    form = form_of(instance)
    lists = neighbour_lists(instance, 6)
    found = []
    for name in ("opencl", "c"):
        backend = open_backend(name, part="search")
        loaded = backend.call(f"{form.kind}_load", *form.arguments)
        population = backend.call("population_given", random_tours(n, 3, 0))
        for start, pivot, kick in ((0, 0, 0), (3, 0, 1), (6, 2, 2), (9, 0, 3)):
            entry = climbing_entry(f"{form.kind}_ils", form, backend)
            numbers = {"from": start, "iterations": 3, "cooled": start}
            how = {"pivot": pivot, "kick": kick, "acceptance": int(kick == 3)}
            plan = search_plan(backend, draws=20, temperature=float(start), **how, **numbers)
            population = backend.call(entry, loaded, lists, population, plan, *stretch_of(backend))
        found.append([backend.fields(population)[what] for what in ("bests", "lengths", "steps")])
    equal = all(np.array_equal(*each) for each in zip(*found, strict=True))
    print(f"{kind} {n} ils: {'equal' if equal else 'DIFFERENT'}", flush=True)


def cross(kind: str, n: int) -> None:
    """Say whether climbers that start in bulk, and four generations of them, stand where those of c do."""
    instance = instance_of(kind, n)
    form = form_of(instance)
    lists = neighbour_lists(instance, 6)
    spots = np.random.default_rng(n).integers(0, 2**20, (2, n)).astype(np.int32)
    found = []
    for name in ("opencl", "c"):
        backend = open_backend(name, part="flat")
        loaded = backend.call(f"{form.kind}_load", *form.arguments)
        given = backend.call("population_given", random_tours(n, 2, 0))
        stands = [backend.call(f"{form.kind}_rounds", loaded, lists, given, bulk_plan(backend, rounds=2))]
        for curved in (False, True):
            plan = bulk_plan(backend, curved=curved, rounds=2 * (not curved), wide=4)
            stands.append(backend.call(f"{form.kind}_bulk", loaded, lists, *spots, 3, plan))
        climbers = backend.call("population_joined", stands[0], backend.call("population_joined", *stands[1:]))
        # Children, their unions, and which of them wait.
        for generation in range(4):
            choice = {"cap": 2, "unions": 2 * (generation % 2), "thrift": 70 * (generation // 2)}
            plan = generation_plan(backend, generation=generation, **choice)
            climbers = backend.call(f"{form.kind}_cross", loaded, lists, climbers, plan)
            stands.append(climbers)
        found.append([backend.fields(each)[what] for each in stands for what in ("bests", "lengths", "steps")])
    equal = all(np.array_equal(*each) for each in zip(*found, strict=True))
    print(f"{kind} {n} eax: {'equal' if equal else 'DIFFERENT'}", flush=True)


def keep_step(kind: str, n: int) -> None:
    """Say whether three climbers in step with each other stand where those of c do, however draws are shared out."""
    instance = instance_of(kind, n)
    options: dict[str, Any] = {"solver": "ils", "climbers": 3, "iterations": 4, "seed": 3, "moves": "3-opt"}
    equal = True
    for more, layout in (
        ({}, {"mapping": "lockstep"}),
        ({"pivot": "random-k", "draws": 300}, {"draw_blocks": 1}),
        ({"pivot": "random-k", "draws": 300}, {"draw_blocks": 3}),
    ):
        found = solve(instance, backend="opencl", **options, **more, **layout)
        expected = solve(instance, backend="c", **options, **more)
        fields = ("lengths", "steps", "tour")
        equal = equal and all(np.array_equal(getattr(found, field), getattr(expected, field)) for field in fields)
    print(f"{kind} {n} in step: {'equal' if equal else 'DIFFERENT'}", flush=True)


def descend(kind: str, n: int, k: int | str) -> None:
    """Say whether one tour stands after three passes over the complete neighbourhood where it does with c."""
    instance = instance_of(kind, n)
    found, expected = (
        solve(instance, solver="two-opt", start="random", iterations=3, backend=name, k=k) for name in ("opencl", "c")
    )
    fields = ("lengths", "steps", "passes", "tour")
    equal = all(np.array_equal(getattr(found, field), getattr(expected, field)) for field in fields)
    print(f"{kind} {n} two-opt {k}: {'equal' if equal else 'DIFFERENT'}", flush=True)


def load(kind: str, n: int) -> None:
    """Say whether three random tours have the lengths that c tells, and a turn without moves ends a descent."""
    form = form_of(instance_of(kind, n))
    tour = random_tours(n, 1, 0)[0]
    found = []
    for name, entry in (("opencl", "climb_thread"), ("c", "climb")):
        backend = open_backend(name, part="restarts")
        batch = backend.call("batch_random", n, 0, 0, 3)
        batch = backend.call(f"{form.kind}_{entry}", backend.call(f"{form.kind}_load", *form.arguments), batch, 1, 0)
        turned = backend.call("descent_turn", backend.call("descent_given", tour), 2)
        found.append((backend.call("batch_found", batch)[0], backend.call("descent_counts", turned)))
    equal = all(np.array_equal(*each) for each in zip(*found, strict=True))
    print(f"{kind} {n} loaded: {'equal' if equal else 'DIFFERENT'}", flush=True)


def contrast(kind: str, n: int, solver: str, **options: Any) -> None:
    """Say whether three chains or colonies stand after six iterations where those of c do."""
    instance = instance_of(kind, n)
    found, expected = (
        solve(instance, solver=solver, climbers=3, iterations=6, start="random", backend=name, **options)
        for name in ("opencl", "c")
    )
    equal = all(
        np.array_equal(getattr(found, field), getattr(expected, field)) for field in ("lengths", "steps", "tour")
    )
    print(f"{kind} {n} {solver} {options}: {'equal' if equal else 'DIFFERENT'}", flush=True)


def restarts() -> None:
    """Run the cases of random restarts and of one tour by its whole neighbourhood."""
    for n in (24, 30):
        for mapping in ("block", "thread"):
            for k in (1, "inf"):
                compare("fine", n, mapping, k)
    for kind in ("coarse", "plane", "matrix", "long matrix"):
        for mapping in ("block", "thread"):
            compare(kind, 30, mapping, 1)
    compare("fine", 9, "auto", 2)
    for kind in ("plane", "matrix"):
        for k in (1, "inf"):
            descend(kind, 20, k)


def search() -> None:
    """Run the cases of local search."""
    for kind in ("fine", "plane", "matrix"):
        iterate(kind, 14)


def flat() -> None:
    """Run the cases of starts in bulk and of crossover."""
    for kind in ("fine", "plane", "matrix"):
        cross(kind, 20)


def lists() -> None:
    """Say whether cities along a curve, and their nearest, are those of c; and whether these join all."""
    for n in (20, 40):
        xs, ys = instance_of("plane", n).coordinates.T
        found = []
        for name in ("opencl", "c"):
            call = open_backend(name, part="lists").call
            order, places = call("plane_along", np.ascontiguousarray(xs), np.ascontiguousarray(ys))
            boxed = call("boxes_around", xs[order], ys[order], np.zeros(len(order)))
            near = call("boxes_nearest", boxed, 3, np.arange(n, dtype=np.int32))
            around = call("boxes_quadrants", boxed, order, 5, 12, np.arange(n, dtype=np.int32))
            found.append((order, places, near, around, call("many_connected", near, np.array([n], np.int32))))
        equal = all(np.array_equal(*each) for each in zip(*found, strict=True))
        print(f"{n} lists: {'equal' if equal else 'DIFFERENT'}", flush=True)


def strategies() -> None:
    """Run the cases of climbers in step with each other."""
    for kind in ("fine", "plane", "matrix"):
        keep_step(kind, 20)


def comparators() -> None:
    """Run the cases of annealing and ants."""
    for kind in ("fine", "plane", "matrix"):
        contrast(kind, 20, "annealing")
        contrast(kind, 20, "ants", ants=5)
    contrast("fine", 20, "annealing", moves="2-opt", pairs="random")
    contrast("fine", 20, "ants", ants=5, variant="rank", alpha=1.75)
    contrast("fine", 20, "ants", ants=5, variant="ant-system", moves="2-opt")
    contrast("matrix", 20, "ants", ants=5, moves="3-opt")


def neighbourhoods() -> None:
    """Run the cases of random restarts by other neighbourhoods."""
    for name in ENUMERATIONS:
        for mapping in ("block", "thread"):
            compare("fine", 30, mapping, 1, neighbourhood=name)
        compare("fine", 24, "block", 1, neighbourhood=name, shared_matrix=True)
    for kind in ("coarse", "plane", "matrix", "long matrix"):
        compare(kind, 24, "block", 1, neighbourhood="flat")
    compare("plane", 24, "block", 1, neighbourhood="zipped", shared_matrix=True)


def blocks() -> None:
    """Run the cases of thread blocks that take climbers in turn."""
    # Those of 512 lanes need more shared memory than the simulated device has.
    for lanes in LANES[:2]:
        for rows in ROWS:
            compare("coarse", 30, "auto", "inf", blocks=2, lanes=lanes, rows=rows)
    for kind in ("plane", "long matrix"):
        for k in (1, "inf"):
            compare(kind, 30, "auto", k, blocks=2, lanes=32)


def bound(sizes: tuple[tuple[int, int], ...] = ((5, 4), (20, 4), (40, 3))) -> None:
    """Run the cases of 1-trees, the ascent and α-nearness: graphs with no more edges than a block has threads."""
    for n, k in sizes:
        instance = instance_of("coarse", n)
        lists = neighbour_lists(instance, k)
        found = []
        for name in ("opencl", "c"):
            backend = open_backend(name, part="bound")
            graph = near_graph.load(backend, instance, near_graph.listed(lists), 128)
            state = backend.call("ascent_given", np.zeros(n, np.int64))
            state = backend.call("ascend", graph, state, near_graph.steps(100.0, 0.1, 4))
            best, (bound, _) = backend.call("ascent_best", state), backend.call("ascent_bound", state)
            tree = backend.call("one_tree", graph, best)
            found.append((best, bound, *tree, backend.call("alpha_lists", graph, best, 2, k)))
        equal = all(np.array_equal(*each) for each in zip(*found, strict=True))
        print(f"{n} bound: {'equal' if equal else 'DIFFERENT'}", flush=True)


def several_blocks() -> None:
    """Load more cities than a block has threads: blocks leave their results to the last one."""
    for kind in ("fine", "coarse", "plane", "matrix"):
        load(kind, 300)
    bound(((300, 6),))


class WithoutBarriers(bytes):
    """A prefix of the kernels' source that takes the barriers out of blocks that climb."""

    def __add__(self, source: Any, /) -> bytes:
        """Give the source behind the prefix."""
        kernels = bytes(source).split(KERNEL)
        assert any(CLIMBING in kernel and BARRIER in kernel for kernel in kernels)
        return bytes(self) + KERNEL.join(
            kernel.replace(BARRIER, b"(void)") if CLIMBING in kernel else kernel for kernel in kernels
        )


def no_barriers() -> None:
    """Make one pass with the barriers taken out of it, and of nothing else."""
    opencl.PREFIX = WithoutBarriers(opencl.PREFIX)
    form = form_of(instance_of("fine", 24))
    backend = open_backend("opencl", part="restarts")
    loaded = backend.call(f"{form.kind}_load", *form.arguments)
    batch = backend.call(f"{form.kind}_climb_block", loaded, backend.call("batch_random", 24, 0, 0, 1), 1, 1)
    # What races leave behind is hardly a tour.
    with suppress(PytspError):
        backend.call("batch_found", batch)


if __name__ == "__main__":
    # These cases are the test of this driver.
    opencl.OpenCL.self_test = ""
    parts = (
        restarts,
        search,
        flat,
        lists,
        comparators,
        neighbourhoods,
        strategies,
        blocks,
        bound,
        several_blocks,
        no_barriers,
    )
    {part.__name__: part for part in parts}[sys.argv[1]]()
