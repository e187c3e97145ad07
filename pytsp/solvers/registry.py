"""The solvers by their names; light to import: the command line asks before NumPy is there."""

from __future__ import annotations

from functools import cache

from pytsp.solvers.options.annealing import Annealing
from pytsp.solvers.options.ants import AntColony
from pytsp.solvers.options.eax import EAX
from pytsp.solvers.options.fields import Field, Options
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.options.large import LargeTour
from pytsp.solvers.options.restarts import RandomRestarts
from pytsp.solvers.options.two_opt import TwoOpt

OPTIONS: dict[str, type[Options]] = {
    kind.name: kind for kind in (RandomRestarts, ILS, EAX, LargeTour, TwoOpt, Annealing, AntColony)
}
"""The options of each solver, by its name."""

SOLVERS = ("auto", *OPTIONS)
"""The names that `solver` takes."""

MODULES = {
    "restarts": "pytsp.solvers.restarts",
    "ils": "pytsp.solvers.ils.solver",
    "eax": "pytsp.solvers.eax",
    "large": "pytsp.solvers.large.solver",
    "two-opt": "pytsp.solvers.two_opt",
    "annealing": "pytsp.solvers.annealing",
    "ants": "pytsp.solvers.ants",
}
"""The module of each solver, whose function `begin` makes its search of a `Task`."""


@cache
def fields() -> dict[str, dict[str, Field]]:
    """Return all options by their names, as each solver has them that has one of that name."""
    found: dict[str, dict[str, Field]] = {}
    for solver, kind in OPTIONS.items():
        for name, spec in kind.fields().items():
            found.setdefault(name, {})[solver] = spec
    return found
