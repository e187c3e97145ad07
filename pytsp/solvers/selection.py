"""The solver that a call means: by its name, by its options, or by the instance; and whom an option concerns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytsp.problem.instance import Instance
from pytsp.problem.location import is_located
from pytsp.solvers import policy
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import OPTIONS, SOLVERS, fields
from pytsp.utils.text import hint

# The solvers that there are to compare others with, which "auto" does not choose but by arguments that are only theirs.
COMPARATORS = ("annealing", "ants")
# Those that it takes only where no other can be meant.
ASIDE = {"large", "two-opt", *COMPARATORS}


def given_of(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options among a call's keywords that are not as they are by default, or refuse unknown ones."""
    known = fields()
    for name in keywords:
        if name not in known:
            raise TypeError(f"solve() got an unexpected keyword argument {name!r}{hint(name, known)}")
    return {
        name: value for name, value in keywords.items() if all(spec.is_given(value) for spec in known[name].values())
    }


def choose(
    solver: str,
    given: Mapping[str, Any],
    instance: Instance,
    is_short: Callable[[bool], bool] = lambda _: False,
    on_the_cpu: Callable[[], bool] = lambda: True,
    most_on_a_gpu: Callable[[], int] = lambda: policy.MOST_NUMBERED,
    chains_fit: Callable[[], bool] = lambda: False,
    *,
    has_initial_tour: bool = False,
    may_take_the_cpu: bool = True,
) -> Options:
    """Return the options of the solver that is meant by its name, or by "auto" and the options that are given.

    Refuse unknown solvers, and options or an initial tour that have no effect with the solver. The callables are asked
    where "auto" depends on them: whether there is too little time for a population, which "large" may replace or not;
    whether the backend is a CPU's, which alone has "large"; of how many cities a GPU holds a population; and whether
    there is time for chains over the whole tour.
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver {solver!r} is not known; known: {', '.join(SOLVERS)}")
    concerned = {_shown(name, value): _concerned_by(name, value) for name, value in given.items()}
    if has_initial_tour:
        concerned["initial_tour"] = tuple(name for name, kind in OPTIONS.items() if kind.takes_initial_tour)
    chosen = solver
    if solver == "auto":
        is_large = all("large" in solvers for solvers in concerned.values())
        may_be_large = is_large and may_take_the_cpu and is_located(instance)
        # Iterations ask for one search, of as many cities on a GPU as on a CPU.
        is_counted = "iterations" in given
        every = policy.RECOMBINED_CITIES
        recombined = every if is_counted else policy.recombined(instance, on_the_cpu, most_on_a_gpu)
        is_recombined = not is_counted and instance.n in recombined
        is_hurried = is_recombined and is_short(may_be_large)
        if may_be_large and (instance.n > recombined[-1] or is_hurried):
            is_whole = all("ils" in solvers for solvers in concerned.values()) and not is_counted
            chosen = "ils" if is_whole and chains_fit() else "large"
        else:
            is_recombined = is_recombined and not is_hurried
            chosen = _single(concerned) or _first(concerned, "eax" if is_recombined else "ils")
    for shown, solvers in concerned.items():
        if chosen not in solvers:
            others = " or ".join(f"solver={other!r}" for other in solvers)
            raise ValueError(f"{shown} has no effect with solver={chosen!r}; it is for {others}")
    crossed = {"population": policy.MOST_CROSSED} if (solver, chosen) == ("auto", "eax") and "climbers" in given else {}
    return OPTIONS[chosen](**{**crossed, **given})


def check_initial_tour(options: Options) -> None:
    """Refuse an initial tour where it has no effect with the solver, or the options say how to start."""
    if not options.takes_initial_tour:
        others = " or ".join(f"solver={name!r}" for name, kind in OPTIONS.items() if kind.takes_initial_tour)
        raise ValueError(f"initial_tour has no effect with solver={options.name!r}; it is for {others}")
    start = getattr(options, "start", None)
    if start is not None:
        raise ValueError(f"initial_tour is where all climbers start; start={start!r} says otherwise")


def _shown(name: str, value: object) -> str:
    """Return an option as a message shows it."""
    return f"{name}={value!r}" if isinstance(value, int | float | str) else name


def _concerned_by(name: str, value: object) -> tuple[str, ...]:
    """Return the solvers that an option concerns as it is given, or, where none takes that, those that have it."""
    specs = fields()[name]
    return tuple(solver for solver, spec in specs.items() if spec.accepts(name, value)) or tuple(specs)


def _single(concerned: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the one solver that options concern, if one concerns only one, leaving those for one huge tour aside,
    and those to compare with, and two-opt, where not all concern them."""
    for solver in ("two-opt", *COMPARATORS):
        if (solver,) in concerned.values() and all(solver in solvers for solvers in concerned.values()):
            return solver
    others = {shown: set(solvers) - ASIDE or set(solvers) for shown, solvers in concerned.items()}
    single = {solver: shown for shown, solvers in others.items() if len(solvers) == 1 for solver in solvers}
    if len(single) > 1:
        (one, first), (other, second) = single.items()
        raise ValueError(f"{first} is for solver={one!r} and {second} for solver={other!r}; give one of the two")
    return next(iter(single), None)


def _first(concerned: Mapping[str, tuple[str, ...]], default: str) -> str:
    """Return the default solver, or the first one that all options concern if they do not concern the default."""
    others = [name for name in OPTIONS if name not in ASIDE and all(name in each for each in concerned.values())]
    return default if default in others or not others else others[0]
