"""How the climbers of random restarts are laid out on a GPU: one a thread block, or one a thread."""

from __future__ import annotations

from pytsp.backends.context import Backend
from pytsp.problem.kernel_input import Form
from pytsp.solvers.options.restarts import RandomRestarts

__all__ = ["check_neighbourhood", "choose_mapping", "fits_a_block"]

# Tours that the block form takes, and the bytes of shared memory a city that it needs; with k > 1, so many more.
BLOCK_CITIES = range(24, 32_768)
BLOCK_BYTES = {"grid": 16, "plane": 24, "matrix": 12}
K_SWAP_BYTES = 8
# What lanes and reductions need besides.
BLOCK_OVERHEAD = 40 * 2**10
# Below so many cities, several moves a pass keep a block's lanes less busy than a thread (docs/benchmarks.md).
K_SWAP_BLOCK_CITIES = 200
# Tours whose distances fit a block's shared memory, and whose moves have arrays of a size that can be had.
SHARED_CITIES = range(24, 101)
LISTED_CITIES = 32_767


def fits_a_block(form: Form, k: int, kernels: Backend) -> bool:
    """Tell whether a climber's tour fits the shared memory of a thread block."""
    n = form.whole.n
    needed = n * (BLOCK_BYTES[form.kind] + (K_SWAP_BYTES if k > 1 else 0)) + BLOCK_OVERHEAD
    return n in BLOCK_CITIES and kernels.device is not None and needed <= max(kernels.device.shared_memory, 48 * 2**10)


def choose_mapping(mapping: str, form: Form, k: int, kernels: Backend) -> str:
    """Choose how climbers are laid out on the backend: "block" or "thread"; on a CPU it is "thread".

    Raises
    ------
    ValueError
        If blocks are asked for where there are none, or where a tour does not fit one.
    """
    if kernels.device is None:
        if mapping == "block":
            raise ValueError(f"mapping='block' needs a GPU backend; backend {kernels.name!r} has one climber a thread")
        return "thread"
    fits = fits_a_block(form, k, kernels)
    if mapping == "block" and not fits:
        raise ValueError(
            f"mapping='block' takes {BLOCK_CITIES[0]} to {BLOCK_CITIES[-1]} cities that fit a block's shared memory, "
            f"{kernels.device.shared_memory} bytes on {kernels.device.name}; this instance has {form.whole.n}: "
            "use mapping='thread' or 'auto'"
        )
    if mapping == "auto":
        return "block" if fits and (k == 1 or form.whole.n >= K_SWAP_BLOCK_CITIES) else "thread"
    return mapping


def check_neighbourhood(options: RandomRestarts, n: int, kernels: Backend) -> None:
    """Refuse a way to look for the best move that there is not on the backend, or not for so many cities.

    Raises
    ------
    ValueError
    """
    name = options.neighbourhood
    if kernels.device is None and name == "tiles":
        raise ValueError(
            f"neighbourhood='tiles' needs a GPU backend; backend {kernels.name!r} walks along 'diagonals': use those"
        )
    if name in ("flat", "zipped") and n > LISTED_CITIES:
        raise ValueError(
            f"neighbourhood={name!r} lists the moves of up to {LISTED_CITIES} cities; this instance has {n}: "
            "use 'closed-form' or 'auto'"
        )
    if options.shared_matrix and (kernels.device is None or options.mapping == "thread" or n not in SHARED_CITIES):
        raise ValueError(
            f"shared_matrix needs the thread blocks of a GPU backend and {SHARED_CITIES[0]} to {SHARED_CITIES[-1]} "
            f"cities; this is backend {kernels.name!r} with mapping={options.mapping!r} and {n} cities"
        )
