"""The figures of what works on many tours, or makes them by chance: crossover, annealing, ants."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from bench.figures.canvas import BLUE, GREEN, INK, ORANGE, curves, draw, edges_of, panels, place
from bench.figures.ground import Ground
from bench.figures.one_tour import length_label
from pytsp.generate import uniform
from pytsp.run.monitor import Watch
from pytsp.solvers.ants import Colonies
from pytsp.solvers.common.local_search import PASSES, crossing_plan
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.ants import AntColony
from pytsp.solvers.options.shared import MOVES, PIVOTS
from pytsp.starts.construct import nearest_neighbour, start_tour


def crossover() -> Any:
    """Two tours and a generation: edges that differ, children that are taken over together, the new tour."""
    for seed in itertools.count():
        ground = Ground(uniform(120, 6), seed)
        start = ground.call("start", ground.loaded, ground.lists, seed, 0, 2, PASSES)
        choice = {"moves": MOVES.index("3-opt"), "pivot": PIVOTS.index("first"), "draws": 1}
        numbers = {"first": 0, "from": 0, "iterations": 0, "kick": 0, "acceptance": 0, "cooled": 0}
        plan = ground.kernels.value("search_plan", {"seed": seed, **choice, **numbers, "temperature": 0.0})
        parents = ground.call("ils", ground.loaded, ground.lists, start, plan, 0, 0)
        plan = ground.kernels.value("generation_plan", {"seed": seed, "generation": 0, **crossing_plan(1.0)})
        children = ground.call("cross", ground.loaded, ground.lists, parents, plan)
        a, b = ground.kernels.fields(parents)["bests"]
        child = ground.kernels.fields(children)["bests"][0]
        went, came = edges_of(a) - edges_of(child), edges_of(child) - edges_of(a)
        # What comes from neither has merged subtours.
        merged = came - edges_of(b)
        if merged and 8 <= len(went) <= 20 and parts_of(went | came) > 1:
            break
    figure, axes = panels(3)
    shared = edges_of(a) & edges_of(b)
    draw(axes[0], ground.instance, shared, INK, linewidth=0.8, alpha=0.6)
    draw(axes[0], ground.instance, edges_of(a) - shared, BLUE)
    draw(axes[0], ground.instance, edges_of(b) - shared, ORANGE)
    lengths = [ground.instance.tour_length(tour) / 1e6 for tour in (a, b)]
    place(axes[0], ground.instance, f"A {lengths[0]:.3f}, B {lengths[1]:.3f}")
    draw(axes[1], ground.instance, edges_of(a) - went, INK, linewidth=0.8, alpha=0.6)
    draw(axes[1], ground.instance, went, BLUE, linewidth=1.2, linestyle=(0, (3, 2)))
    draw(axes[1], ground.instance, came - merged, ORANGE, linewidth=1.4)
    draw(axes[1], ground.instance, merged, GREEN, linewidth=1.8)
    place(axes[1], ground.instance, f"{len(went)} edges go, {len(came - merged)} of B and {len(merged)} more come")
    draw(axes[2], ground.instance, edges_of(child), BLUE)
    place(axes[2], ground.instance, f"the new tour {ground.instance.tour_length(child) / 1e6:.3f}")
    for axis in axes:
        # By itself a title makes way for the exponent of an axis that is not drawn.
        axis.set_title(axis.get_title(), y=1.0)
    return figure


def parts_of(edges: set[tuple[int, int]]) -> int:
    """Count the connected parts of some edges."""
    parts: list[set[int]] = []
    for edge in edges:
        near = [part for part in parts if part & set(edge)]
        parts = [part for part in parts if part not in near] + [set(edge).union(*near)]
    return len(parts)


def annealing() -> Any:
    """A chain from a random tour: hot, cooler, cold; and its length over the iterations."""
    n, iterations = 150, 600
    ground = Ground(uniform(n, 7))
    near = float(ground.instance.distances(np.arange(n)[:, None], ground.lists[:, :2]).mean())
    temperatures = 5 * near * (0.01 ** (1 / iterations)) ** np.arange(iterations)
    chains = ground.kernels.call("chains_given", start_tour(ground.instance, "random")[None, :])
    tours = []
    for start in range(0, iterations, 5):
        stretch = np.ascontiguousarray(temperatures[start : start + 5])
        fields = {"seed": 0, "first": 0, "from": start, "trials": n, "moves": 1}
        plan = ground.kernels.value("annealing_plan", fields)
        chains = ground.call("anneal", ground.loaded, ground.lists, chains, plan, stretch)
        tours.append(ground.kernels.fields(chains)["tours"][0].copy())
    figure, axes = panels(4, rows=2)
    for axis, number in zip(axes, (20, 60, len(tours) - 1), strict=False):
        draw(axis, ground.instance, edges_of(tours[number]), BLUE)
        made = 5 * (number + 1)
        heat = temperatures[made - 1] / near
        length = length_label(ground.instance, tours[number])
        place(axis, ground.instance, f"iteration {made}, T = {heat:.2f} u: {length}")
    numbers = np.arange(5, iterations + 1, 5)
    lengths = [ground.instance.tour_length(tour) / 1e6 for tour in tours]
    axes[3].plot(numbers, lengths, color=BLUE, label="length of the tour")
    axes[3].plot(numbers, temperatures[numbers - 1] / near, color=ORANGE, label="temperature, in u")
    axes[3].set_yscale("log")
    curves(axes[3], "one chain", "iterations", "")
    return figure


def ants() -> Any:
    """Trails of a colony after some iterations, and the best tour then."""
    n = 60
    ground = Ground(uniform(n, 8))
    reference = nearest_neighbour(ground.instance)
    colonies = Colonies(
        Task(ground.instance, AntColony(climbers=1), Watch(), 0, None, lambda: ground.kernels),
        iterations=100,
        reference=float(ground.instance.tour_length(reference)),
        lists=ground.lists,
        tours=reference[None, :],
    )
    handle, made = colonies.standing.handle, 0
    figure, axes = panels(3)
    for axis, iterations in zip(axes, (5, 20, 100), strict=True):
        handle = colonies.continued(handle, made, iterations - made)
        made = iterations
        trails = ground.kernels.fields(handle)["trails"][0]
        share = trails / trails.max()
        for least, most, width in ((0.02, 0.1, 0.2), (0.1, 0.4, 0.5), (0.4, 0.8, 1.0), (0.8, 2.0, 1.8)):
            strong = np.argwhere((share >= least) & (share < most))
            edges = {(min(a, b), max(a, b)) for a, b in ((int(a), int(ground.lists[a, z])) for a, z in strong)}
            draw(axis, ground.instance, edges, ORANGE, linewidth=width, alpha=0.8)
        best = ground.kernels.call("colonies_tour", handle, 0)
        place(axis, ground.instance, f"after {made} iterations: best {length_label(ground.instance, best)[7:]}")
    return figure
