"""Check that random restarts reach the expected lengths, on small instances of TSPLIB by a set number of climbers.

A run that misses its length is repeated with the next of `--seeds`; the table says which seed it was.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import pytsp
from bench.harness.arguments import parser
from bench.harness.machine import describe, tsplib
from bench.harness.tables import print_head, row


@dataclass(frozen=True)
class Goal:
    """A length that a number of climbers must reach."""

    name: str
    climbers: int
    length: int


GOALS = (
    Goal("kroA100", 100_000, 21282),
    Goal("kroB100", 200_000, 22141),
    Goal("kroC100", 200_000, 20749),
    Goal("kroD100", 200_000, 21294),
    Goal("kroE100", 200_000, 22084),
    Goal("berlin52", 200, 7542),
    Goal("swiss42", 10_000, 1273),
    Goal("bays29", 10_000, 2020),
    Goal("gr48", 10_000, 5046),
    Goal("att48", 10_000, 10628),
    Goal("ulysses22", 10_000, 7013),
)


def seeds(text: str) -> list[int]:
    """Read seeds with commas between them."""
    try:
        return [int(seed) for seed in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be whole numbers with commas between them; it is {text!r}") from None


def main() -> int:
    """Print the table; the exit code is 1 if a length was not reached."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--seeds", type=seeds, default=[0], metavar="S,S", help="in this order (default: 0)")
    arguments.add_argument("--backend", default="auto", help="default: the fastest here")
    options = arguments.parse_args()
    print(describe())
    print_head("instance", "climbers", "seed", "length", "goal", "optimum", "seconds", "reached")
    missed = 0
    for goal in GOALS:
        instance = tsplib(options.tsplib, goal.name)
        for seed in options.seeds:
            result = pytsp.solve(
                instance, solver="restarts", climbers=goal.climbers, seed=seed, backend=options.backend
            )
            reached = result.length <= goal.length
            cells = (goal.name, goal.climbers, seed, result.length, goal.length, instance.optimum)
            print(row(*cells, f"{result.seconds:.2f}", "yes" if reached else "no"), flush=True)
            if reached:
                break
        else:
            missed += 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
