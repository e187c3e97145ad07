"""The solver that the arguments of a solve mean, and the arguments that concern a solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Signature

from pytsp.problem.instance import Instance
from pytsp.solvers.large.requirements import can_be_large
from pytsp.solvers.registry import SOLVERS

__all__ = ["chosen", "given_of"]

# The solvers that an argument concerns, where these are not all, or one value of an argument, as a message shows it.
CONCERNED = {
    "climbers": ("restarts", "ils", "eax", "annealing", "ants"),
    "first": ("restarts", "ils", "eax", "annealing", "ants"),
    "mapping": ("restarts",),
    "k": ("restarts", "two-opt"),
    "iterations": ("ils", "eax", "large", "two-opt", "annealing", "ants"),
    "initial_tour": ("ils", "eax", "large", "two-opt", "annealing", "ants"),
    "neighbours": ("ils", "eax", "large", "annealing", "ants"),
    "quadrants": ("ils", "eax", "large", "annealing", "ants"),
    "moves": ("ils", "eax", "annealing", "ants"),
    "pivot": ("ils", "eax"),
    "start": ("ils", "large", "two-opt", "annealing", "ants"),
    "kick": ("ils",),
    "temperature": ("ils", "large", "annealing"),
    "exchange": ("ils",),
    "restart": ("ils",),
    "merge": ("ils",),
    "population": ("eax",),
    "draws": ("ils",),
    "piece": ("large",),
    "schedule": ("annealing",),
    "cooling": ("annealing",),
    "trials": ("annealing",),
    "pairs": ("annealing",),
    "variant": ("ants",),
    "ants": ("ants",),
    "alpha": ("ants",),
    "beta": ("ants",),
    "evaporation": ("ants",),
    "ranks": ("ants",),
    "smoothing": ("ants",),
    "moves='2-opt'": ("annealing", "ants"),
    "moves='3-opt'": ("ils", "eax", "ants"),
    "pivot='random-k'": ("ils",),
}
# The solvers that there are to compare others with, which "auto" does not choose but by arguments that are only theirs.
COMPARATORS = ("annealing", "ants")
# Instances that "auto" gives to "eax": there is something to recombine, and a population of tours is not too much.
RECOMBINED_CITIES = range(8, 12_001)
# On a GPU the first tours of a population take seconds where there are more cities.
MANY_CITIES = 5_000


def given_of(arguments: Mapping[str, object], signature: Signature) -> dict[str, str]:
    """Return the arguments that concern some solvers only and are not defaults, as a message shows them."""
    parameters = signature.parameters
    return {
        # What may be an array is None by default.
        name: f"{name}={value!r}" if isinstance(value, int | float | str) else name
        for name, value in arguments.items()
        if name in CONCERNED
        and (value is not None if parameters[name].default is None else value != parameters[name].default)
    }


def chosen(
    solver: str, given: Mapping[str, str], instance: Instance, is_slow: Callable[[], bool] = lambda: False
) -> str:
    """Return the solver that is meant, which is not "auto".

    `is_slow` is asked of many cities: whether there is too little time for a population's first tours.

    Raises
    ------
    ValueError
        If there is no such solver, or an argument does not concern it.
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver {solver!r} is not known; known: {', '.join(SOLVERS)}")
    if solver == "auto":
        may_be_large = instance.n > MANY_CITIES and can_be_large(instance)
        may_be_large = may_be_large and all("large" in _concerned_by(name, shown) for name, shown in given.items())
        if may_be_large and (instance.n > RECOMBINED_CITIES[-1] or is_slow()):
            return "large"
        is_recombined = instance.n in RECOMBINED_CITIES and "iterations" not in given
        solver = _concerned(given) or ("eax" if is_recombined else "ils")
    for name, shown in given.items():
        if solver not in _concerned_by(name, shown):
            others = " or ".join(f"solver={other!r}" for other in _concerned_by(name, shown))
            raise ValueError(f"{shown} does not concern solver={solver!r}; it is for {others}")
    return solver


def _concerned(given: Mapping[str, str]) -> str | None:
    """Return the one solver that arguments concern, if one concerns only one, leaving those for one huge tour aside,
    and those to compare with where not all concern them."""
    aside = {"large", "two-opt", *COMPARATORS}
    concerned = {shown: set(_concerned_by(name, shown)) for name, shown in given.items()}
    for solver in COMPARATORS:
        if {solver} in concerned.values() and all(solver in solvers for solvers in concerned.values()):
            return solver
    concerned = {shown: solvers - aside or solvers for shown, solvers in concerned.items()}
    single = {solver: shown for shown, solvers in concerned.items() if len(solvers) == 1 for solver in solvers}
    if len(single) > 1:
        (one, first), (other, second) = single.items()
        raise ValueError(f"{first} is for solver={one!r} and {second} for solver={other!r}; give one of the two")
    return next(iter(single), None)


def _concerned_by(name: str, shown: str) -> tuple[str, ...]:
    """Return the solvers that an argument concerns as it is given."""
    return CONCERNED.get(shown, CONCERNED[name])
