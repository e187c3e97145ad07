"""Placement of climbers on a machine: of local search, with the seconds to local optima, and of random restarts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytsp.backends.context import Backend
from pytsp.backends.devices import Device
from pytsp.problem.kernel_input import Form
from pytsp.solvers import policy
from pytsp.solvers.options.restarts import RandomRestarts
from pytsp.solvers.speeds import BYTES, SPEEDS
from pytsp.utils.memory import check_memory

# Sizes of tours that fit a block.
BLOCK_CITIES = range(24, 32_768)
# Tours whose distances fit a block's shared memory.
SHARED_CITIES = range(24, 101)
# Climbers of a batch that take turns on a block.
TURNS = 128


def mapping_of(n: int, kernels: Backend, wanted: str = "auto") -> str:
    """Return how climbers on n cities are laid out, or refuse blocks where there are none, or that hold no tour.

    On a GPU "auto" is one a thread block, if its memory holds a tour.
    """
    if kernels.device is None:
        if wanted in ("block", "lockstep"):
            raise ValueError(
                f"mapping={wanted!r} needs a GPU backend; backend {kernels.name!r} has one climber a thread"
            )
        return "thread"
    most = most_cities(kernels) or 0
    if wanted == "block" and n > most:
        raise ValueError(
            f"mapping='block' takes up to {most} cities, which fit a block's shared memory, "
            f"{kernels.device.shared_memory} bytes on {kernels.device.name}; this instance has {n}: "
            "use mapping='lockstep', 'thread' or 'auto'"
        )
    if wanted == "auto":
        return "block" if n <= most else "thread"
    return wanted


def descent_seconds(n: int, climbers: int, kernels: Backend, mapping: str = "auto", kind: str = "plane") -> float:
    """Return about how long climbers on n cities, in such a form, take from good starts to their local optima."""
    if kernels.threads is None:
        mapping = mapping_of(n, kernels, mapping)
        # From 16 climbers on they share multiprocessors, up to 256 of them.
        sharing = max(16, min(climbers, 256)) if mapping == "thread" else 1
        return SPEEDS[f"descent, {mapping}"] * n * sharing
    seconds = SPEEDS["descent"] * n + (SPEEDS["descent, matrix"] * n * n if kind == "matrix" else 0.0)
    return math.ceil(climbers / kernels.threads) * seconds


def most_cities(kernels: Backend) -> int | None:
    """Return how many cities a climber of a thread block can have; None where there are no blocks."""
    if kernels.device is None:
        return None
    return (_room(kernels.device) - BYTES["search block"]) // BYTES["search block, city"]


def default_climbers(n: int, kernels: Backend) -> int:
    """Return the number of climbers of a solve that names none: one a core, or as many as keep a GPU busy."""
    return kernels.threads or max(1, min(policy.GPU_CLIMBERS, BYTES["device, climbers"] // (BYTES["device, city"] * n)))


def check_climbers(n: int, climbers: int, *, copies: int = 1) -> None:
    """Refuse more climbers on n cities, with `copies` tours each, than fit the memory."""
    bytes_of_one = copies * BYTES["ils, city"] * n + BYTES["ils, climber"]
    check_memory("climbers", climbers, lambda count: count * bytes_of_one)


# Random restarts


@dataclass(frozen=True)
class Blocks:
    """Thread blocks, with their lanes and rows: a fixed number of them, or 0 for one per climber."""

    count: int
    lanes: int
    rows: int


def choose_blocks(options: RandomRestarts, form: Form, kernels: Backend) -> Blocks | None:
    """Choose thread blocks as the options ask for them, if they do, or refuse them if a tour does not fit one."""
    asked, n = options.block_options, form.whole.n
    if not asked:
        return None
    if kernels.device is None:
        raise ValueError(f"{asked} needs a GPU backend; backend {kernels.name!r} has no thread blocks")
    lanes = options.lanes or (512 if n >= 2_000 else 128)
    blocks = Blocks(options.blocks or 0, lanes, options.rows or 7)
    a_city, a_lane, a_row, a_turn = (BYTES[f"chosen block, {each}"] for each in (form.kind, "lane", "row", "turn"))
    needed = n * a_city + lanes * (a_lane + a_row * blocks.rows) + TURNS * a_turn
    room = _room(kernels.device)
    if n not in BLOCK_CITIES or needed > room:
        raise ValueError(
            f"{asked} takes {BLOCK_CITIES[0]} cities or more that fit a block's shared memory, {room} bytes on "
            f"{kernels.device.name}; this instance has {n}, and needs {needed} with {lanes} lanes and {blocks.rows} "
            "rows: use fewer lanes, or mapping='thread' instead"
        )
    return blocks


def fits_a_block(form: Form, k: int, kernels: Backend, *, is_enumerated: bool = False) -> bool:
    """Tell whether a climber's tour fits the shared memory of a thread block."""
    n = form.whole.n
    # Enumerations have a wide grid's points in double precision, as a plane's.
    kind = "plane" if is_enumerated and form.kind == "grid" else form.kind
    # As `futhark/two_opt/gpu_climbs.fut` has them.
    has_more_lanes = form.kind == "grid" and k > 1 and n >= 2_000
    needed = n * (BYTES[f"block, {kind}"] + (BYTES["block, k"] if k > 1 else 0))
    needed += BYTES["block, many lanes" if has_more_lanes else "block"]
    return n in BLOCK_CITIES and kernels.device is not None and needed <= _room(kernels.device)


def _room(device: Device) -> int:
    """Return how many bytes of shared memory a block may have: 48 KiB on any GPU, whatever a driver says."""
    return max(device.shared_memory, 48 * 2**10)


def choose_mapping(mapping: str, form: Form, k: int, kernels: Backend, *, is_enumerated: bool = False) -> str:
    """Choose how climbers are laid out: "block" or "thread", or refuse blocks where a tour does not fit one.

    `is_enumerated` tells that moves are taken one after the other, by one of `ENUMERATIONS`.
    """
    if kernels.device is None:
        return mapping_of(form.whole.n, kernels, mapping)
    fits = fits_a_block(form, k, kernels, is_enumerated=is_enumerated)
    if mapping == "block" and not fits:
        raise ValueError(
            f"mapping='block' takes {BLOCK_CITIES[0]} to {BLOCK_CITIES[-1]} cities that fit a block's shared memory, "
            f"{kernels.device.shared_memory} bytes on {kernels.device.name}; this instance has {form.whole.n}: "
            "use mapping='thread' or 'auto'"
        )
    if mapping == "auto":
        # Of few cities several moves per pass keep a block's lanes less busy than a thread (docs/benchmarks.md).
        return "block" if fits and (k == 1 or form.whole.n >= 200) else "thread"
    return mapping


def are_together(options: RandomRestarts, kernels: Backend) -> bool:
    """Tell whether a GPU's climbers go on together, by one map and one reduction over the moves of them all."""
    is_flat = options.neighbourhood == "flat" and options.mapping == "auto" and not options.shared_matrix
    return is_flat and kernels.device is not None


def check_neighbourhood(options: RandomRestarts, n: int, kernels: Backend) -> None:
    """Refuse a neighbourhood that the backend does not have, or not for n cities."""
    name = options.neighbourhood
    if kernels.device is None and name == "tiles":
        raise ValueError(
            f"neighbourhood='tiles' needs a GPU backend; backend {kernels.name!r} walks along 'diagonals': use those"
        )
    if name in ("flat", "zipped") and n >= BLOCK_CITIES.stop:
        raise ValueError(
            f"neighbourhood={name!r} lists the moves of up to {BLOCK_CITIES[-1]} cities; this instance has {n}: "
            "use 'closed-form' or 'auto'"
        )
    if options.shared_matrix and (options.mapping == "thread" or not fits_with_distances(n, kernels)):
        raise ValueError(
            f"shared_matrix needs the thread blocks of a GPU backend and {SHARED_CITIES[0]} to {SHARED_CITIES[-1]} "
            "cities whose distances fit a block's shared memory; this is backend "
            f"{kernels.name!r} with mapping={options.mapping!r} and {n} cities"
        )


def fits_with_distances(n: int, kernels: Backend) -> bool:
    """Tell whether the shared memory of a thread block holds all distances beside a tour."""
    needed = 4 * n * n + BYTES["block, matrix"] * n + BYTES["block, distances"]
    return n in SHARED_CITIES and kernels.device is not None and needed <= _room(kernels.device)
