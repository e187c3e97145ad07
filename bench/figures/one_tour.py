"""The figures of what changes one tour: moves, kicks, pieces, and where the tour comes from."""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pytsp
from bench.figures.canvas import BLUE, GREEN, INK, ORANGE, PINK, Edge, change, curves, draw, edges_of, panels, place
from bench.figures.ground import Ground
from pytsp import Instance
from pytsp.bound.certificate import dense_one_tree
from pytsp.generate import clustered, uniform
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.tours import random_tours
from pytsp.starts.construct import STARTS, start_tour

# A limit that no climber comes to.
MANY = 2**30
GOLDEN = (5**0.5 - 1) / 2


def length_label(instance: Instance, tour: Any) -> str:
    """Say how long a tour is."""
    return f"length {instance.tour_length(tour) / 1e6:.2f}"


def descent() -> Any:
    """A climber of random restarts: its random tour, on its way, and its local optimum."""
    ground = Ground(uniform(80, 0))
    start = random_tours(80, 1, 0)[0]
    _, passes = ground.climbed(start, MANY)
    figure, axes = panels(3)
    for axis, moves in zip(axes, (0, passes // 2, passes - 1), strict=True):
        tour, _ = ground.climbed(start, moves)
        draw(axis, ground.instance, edges_of(tour), BLUE)
        # The last pass finds no move.
        place(axis, ground.instance, f"after {moves} moves: {length_label(ground.instance, tour)}")
    return figure


def move() -> Any:
    """A 2-opt move of that climber: the last that turns round 8 cities or more."""
    ground = Ground(uniform(80, 0))
    start = random_tours(80, 1, 0)[0]
    _, passes = ground.climbed(start, MANY)
    for made in range(passes - 1, 0, -1):
        before, after = (ground.climbed(start, moves)[0] for moves in (made - 1, made))
        turned = np.flatnonzero(before != after)
        if 8 <= len(turned) <= 20:
            break
    figure, axes = panels(2)
    turned_cities = before[turned[0] : turned[-1] + 1]
    stay = edges_of(before) & edges_of(after)
    for axis, when, tour, colour in zip(axes, ("before", "after"), (before, after), (ORANGE, BLUE), strict=True):
        draw(axis, ground.instance, stay, INK, linewidth=0.8, alpha=0.6)
        draw(axis, ground.instance, edges_of(turned_cities, is_open=True), GREEN, linewidth=1.6)
        draw(axis, ground.instance, edges_of(tour) - stay, colour, linewidth=1.6)
        place(axis, ground.instance, f"{when} move {made}: {length_label(ground.instance, tour)}")
    return figure


def flat() -> Any:
    """The moves of six cities: flags, a scan, a segmented scan, positions, gains, and the best of them."""
    instance, n = uniform(6, 5), 6
    pairs = [(i, j) for i in range(n) for j in range(i + 2, n) if (i, j) != (0, n - 1)]
    distances = instance.distance_matrix().astype(np.int64)
    gains = [
        distances[i, i + 1] + distances[j, (j + 1) % n] - distances[i, j] - distances[i + 1, (j + 1) % n]
        for i, j in pairs
    ]
    flags = [not k or i != pairs[k - 1][0] for k, (i, _) in enumerate(pairs)]
    counts = [j - i - 1 for i, j in pairs]
    best = int(np.argmax(gains))
    rows = {
        "flags": ["T" if flag else "" for flag in flags],
        "scan": np.cumsum(flags).tolist(),
        "segmented scan of ones": counts,
        "i = scan - 1": [i for i, _ in pairs],
        "j = i + 1 + segmented scan": [j for _, j in pairs],
        "map: gain / 1000": [f"{gain / 1000:.0f}" for gain in gains],
    }
    figure, (axes,) = panels(1)
    figure.set_size_inches(6.5, 2.6)
    axes.axis("off")
    axes.set(xlim=(-5, len(pairs)), ylim=(-len(rows) - 1.2, 0.2))
    for row, (name, values) in enumerate(rows.items()):
        axes.text(-0.3, -row - 0.5, name, ha="right", va="center", color=INK, fontsize=8)
        for k, value in enumerate(values):
            colour = ORANGE if flags[k] else BLUE
            wide = 2.0 if row == len(rows) - 1 and k == best else 0.8
            box = import_module("matplotlib.patches").Rectangle((k + 0.06, -row - 0.9), 0.88, 0.8, fill=False)
            box.set(edgecolor=GREEN if wide > 1 else colour, linewidth=wide)
            axes.add_patch(box)
            axes.text(k + 0.5, -row - 0.5, str(value), ha="center", va="center", color=INK, fontsize=8)
    reported = f"reduce: the best is move {best}, positions {pairs[best][0]} and {pairs[best][1]}"
    axes.text(len(pairs) / 2, -len(rows) - 0.6, reported, ha="center", va="center", color=GREEN, fontsize=8)
    return figure


def k_swap() -> Any:
    """Several moves a pass: one pass of a climber, and lengths over passes."""
    ground = Ground(uniform(150, 1))
    start = random_tours(150, 1, 1)[0]
    figure, axes = panels(2)
    _, passes = ground.climbed(start, MANY, MANY)
    shown = passes // 2
    before, after = (ground.climbed(start, made, MANY)[0] for made in (shown, shown + 1))
    change(axes[0], ground.instance, before, after)
    moves = len(edges_of(after) - edges_of(before)) // 2
    place(axes[0], ground.instance, f"pass {shown + 1} of {passes}, k = ∞: {moves} moves")
    for k, colour, name in ((1, ORANGE, "k = 1"), (8, GREEN, "k = 8"), (MANY, BLUE, "k = ∞")):
        _, end = ground.climbed(start, MANY, k)
        lengths = [ground.instance.tour_length(ground.climbed(start, made, k)[0]) / 1e6 for made in range(end)]
        axes[1].plot(range(end), lengths, color=colour, label=f"{name}: {end} passes")
    curves(axes[1], "from the same random tour", "passes", "length")
    return figure


def three_opt() -> Any:
    """Moves of three edges, each the only one between two local optima."""
    figure, axes = panels(2)
    for axis, moves, name in zip(axes, ("or-opt", "3-opt"), ("Or-opt", "3-opt"), strict=True):
        for seed in itertools.count():
            ground = Ground(uniform(60, seed))
            before, _ = ground.climbed(random_tours(60, 1, seed)[0], MANY)
            if moves == "3-opt":
                before = ground.descended(before, "or-opt")
            after = ground.descended(before, moves)
            if len(edges_of(after) - edges_of(before)) == 3:
                break
        change(axis, ground.instance, before, after)
        gain = ground.instance.tour_length(before) - ground.instance.tour_length(after)
        place(axis, ground.instance, f"{name}: three edges, gain {gain / 1e6:.2f}")
    return figure


def two_opt() -> Any:
    """One tour by its whole neighbourhood, from the greedy one."""
    instance = uniform(700, 1)
    start = start_tour(instance, "greedy")
    figure, axes = panels(2)
    first = pytsp.solve(instance, solver="two-opt", k="inf", iterations=1, backend="c")
    change(axes[0], instance, start, first.tour)
    moves = len(edges_of(first.tour) - edges_of(start)) // 2
    place(axes[0], instance, f"the first pass, k = ∞: {moves} moves", dots=1.0)
    for k, colour, name in ((1, ORANGE, "k = 1"), ("inf", BLUE, "k = ∞")):
        end = int(pytsp.solve(instance, solver="two-opt", k=k, backend="c").iterations or 0)
        made = sorted({0, 1, 2, 3, 5, *range(0, end, max(1, end // 12)), end})
        lengths = [
            pytsp.solve(instance, solver="two-opt", k=k, iterations=passes, backend="c").length / 1e6
            for passes in made[1:]
        ]
        axes[1].plot(made, [instance.tour_length(start) / 1e6, *lengths], color=colour, label=f"{name}: {end} passes")
    curves(axes[1], "from the greedy tour of 700 cities", "passes", "length")
    return figure


def neighbours() -> Any:
    """Neighbour lists of clustered cities: the nearest ones, and by quadrants."""
    instance = clustered(120, 1, 4)
    lists = [neighbour_lists(instance, 8, quadrants=quadrants) for quadrants in (False, True)]
    # The city whose list the quadrants make the longest.
    reach = [instance.distances(np.arange(120)[:, None], each).sum(axis=1) for each in lists]
    city = int(np.argmax(reach[1] - reach[0]))
    figure, axes = panels(2)
    for axis, each, title in zip(axes, lists, ("the 8 nearest", "2 of each quadrant, and the nearest"), strict=True):
        every = {(min(a, int(b)), max(a, int(b))) for a in range(120) for b in each[a]}
        draw(axis, instance, every, BLUE, linewidth=0.5, alpha=0.6)
        draw(axis, instance, {(city, int(b)) for b in each[city]}, ORANGE, linewidth=1.5)
        parts = _parts(every, 120)
        place(axis, instance, f"{title}: {parts} part{'s' * (parts > 1)}")
    return figure


def _parts(edges: set[tuple[int, int]], n: int) -> int:
    """Count the parts that edges leave cities in."""
    part = list(range(n))
    for a, b in edges:
        part = [part[a] if each == part[b] else each for each in part] if part[a] != part[b] else part
    return len({*part})


def starts() -> Any:
    """The tours from which searches start."""
    instance = uniform(200, 2)
    figure, axes = panels(4, rows=2)
    for axis, name in zip(axes, STARTS, strict=True):
        tour = start_tour(instance, name)  # type: ignore[arg-type]
        draw(axis, instance, edges_of(tour), BLUE, linewidth=0.7 if name == "random" else 1.0)
        place(axis, instance, f"{name.replace('-', ' ')}: {length_label(instance, tour)}")
    return figure


def kick() -> Any:
    """Kicks of both kinds, and what the local search makes of one."""
    ground = Ground(uniform(200, 3))
    tour = ground.descended(start_tour(ground.instance, "greedy"))
    figure, axes = panels(3)
    names = {"segments": "cuts along the tour", "walk": "cuts where walks end"}
    for axis, (kind, name) in zip(axes, names.items(), strict=False):
        kicked = ground.kicked(tour, kind, _iteration(ground, tour, kind))
        change(axis, ground.instance, tour, kicked)
        place(axis, ground.instance, f"{name}: {length_label(ground.instance, kicked)}")
    number = _iteration(ground, tour, "walk")
    repaired = ground.repaired(tour, "walk", number)
    change(axes[2], ground.instance, tour, repaired)
    place(
        axes[2],
        ground.instance,
        f"repaired: {length_label(ground.instance, repaired)}, was {length_label(ground.instance, tour)[7:]}",
    )
    return figure


def _iteration(ground: Ground, tour: NDArray[np.int32], kind: str) -> int:
    """Return the first iteration whose kick puts four edges in, and whose repair leaves a shorter tour."""
    length = ground.instance.tour_length(tour)
    for number in itertools.count(1):
        is_bridge = len(edges_of(ground.kicked(tour, kind, number)) - edges_of(tour)) == 4
        if is_bridge and ground.instance.tour_length(ground.repaired(tour, kind, number)) < length:
            return number
    raise AssertionError


def pieces() -> Any:
    """The pieces of one tour of many cities, of the first round and of a later one."""
    n, piece = 600, 75
    instance = uniform(n, 4)
    figure, axes = panels(2)
    colours = (BLUE, ORANGE, GREEN, PINK)
    for axis, rounds in zip(axes, (0, 10), strict=True):
        if rounds:
            tour = pytsp.solve(instance, solver="large", piece=piece, iterations=rounds, backend="c").tour
        else:
            tour = start_tour(instance, "space-filling-curve")
        first = int(rounds * GOLDEN % 1 * n)
        around = np.roll(tour, -first)
        for place_of, colour in zip(range(n // piece), itertools.cycle(colours)):
            cities = around[place_of * piece : (place_of + 1) * piece]
            draw(axis, instance, edges_of(cities, is_open=True), colour)
        borders = edges_of(tour) - {
            edge for at in range(0, n, piece) for edge in edges_of(around[at : at + piece], is_open=True)
        }
        draw(axis, instance, borders, INK, linewidth=2.0)
        place(axis, instance, f"round {rounds + 1}, from position {first}: {length_label(instance, tour)}", dots=0)
    return figure


def open_path() -> Any:
    """A tour, the shortest path, and the shortest path from a given city."""
    instance = uniform(60, 5)
    assert instance.coordinates is not None
    middle = int(np.argmin(np.abs(instance.coordinates - 5e5).sum(axis=1)))
    figure, axes = panels(3)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("a tour", {}),
        ("open", {"open": True}),
        (f"open, from city {middle}", {"open": True, "start_city": middle}),
    ]
    for axis, (title, arguments) in zip(axes, asked, strict=True):
        result = pytsp.solve(instance, solver="ils", iterations=5000, climbers=1, backend="c", **arguments)
        draw(axis, instance, edges_of(result.tour, is_open=result.is_open), BLUE)
        ends = [int(result.tour[0]), int(result.tour[-1])] if result.is_open else []
        draw(axis, instance, [(end, end) for end in ends], ORANGE, linewidth=6.0, solid_capstyle="round")
        place(axis, instance, f"{title}: length {result.length / 1e6:.2f}")
    return figure


def one_tree() -> Any:
    """The 1-tree without penalties and with those of the bound, cities by their edges, and a tour."""
    instance = uniform(60, 5)
    figure, axes = panels(3)
    certificate = pytsp.lower_bound(instance)
    for axis, penalties, title in (
        (axes[0], np.zeros(instance.n, np.int64), "no penalties"),
        (axes[1], certificate.penalties, "penalties"),
    ):
        tree = dense_one_tree(instance, penalties, certificate.scale)
        edges = [(int(a), int(b)) for a, b in tree.edges]
        edges.append(_second_edge(instance, edges, penalties / certificate.scale))
        degrees = np.bincount(np.ravel(edges), minlength=instance.n)
        draw(axis, instance, edges, BLUE)
        for colour, cities in ((GREEN, degrees == 1), (ORANGE, degrees > 2)):
            draw(
                axis,
                instance,
                [(city, city) for city in np.flatnonzero(cities).tolist()],
                colour,
                linewidth=5.0,
                solid_capstyle="round",
                zorder=4,
            )
        place(axis, instance, f"{title}: bound {tree.bound / 1e6:.2f}")
    result = pytsp.solve(instance, solver="ils", iterations=5000, climbers=1, backend="c")
    draw(axes[2], instance, edges_of(result.tour), BLUE)
    place(axes[2], instance, f"a tour: {length_label(instance, result.tour)}")
    return figure


def _second_edge(instance: Instance, tree: list[Edge], penalties: NDArray[np.float64]) -> Edge:
    """Return the edge that makes a tree a 1-tree: of the second shortest of each city that has one the longest."""
    costs = instance.distance_matrix() + penalties[:, None] + penalties
    np.fill_diagonal(costs, np.inf)
    nearest = np.argsort(costs, axis=1)[:, 1]
    leaves = np.flatnonzero(np.bincount(np.ravel(tree)) == 1)
    city = int(leaves[costs[leaves, nearest[leaves]].argmax()])
    return city, int(nearest[city])
