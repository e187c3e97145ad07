"""Solve an instance by the transforms that it asks for, the outermost first.

=============================  =====================================================================================
`steps.FirstCity`              a closed tour begins with a given city
`bounded.solve_bounded`        a lower bound is computed before or after the search
`keep`                         the initial tour is the result
`collapsed.Collapsed`          few cities stand for all in one place
`rescaled.solve_rescaled`      distances that span many decades are searched on finer scales
`reductions.WithFixedEdges`    fixed edges become pairs of cities that stay together
`reductions.Path`              an open path becomes a closed tour
`reductions.Directed`          a directed tour becomes one of a symmetric instance
=============================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pytsp.api.bounded import solve_bounded
from pytsp.api.collapsed import Collapsed
from pytsp.api.dispatch import task_for
from pytsp.api.reductions import check_reduced
from pytsp.api.rescaled import solve_rescaled
from pytsp.api.steps import FirstCity, Request, Restater, solve_within, without_optimum
from pytsp.problem.fixed_edges import check_has_fixed
from pytsp.problem.insertion import is_partial, with_insertions
from pytsp.problem.instance import Instance, city_number
from pytsp.problem.location import is_located
from pytsp.problem.mistakes import warn_of_cut_off, warn_of_rounding
from pytsp.problem.open_paths import check_ends
from pytsp.problem.tours import check_tour
from pytsp.run.limits import Limits
from pytsp.run.result import Result
from pytsp.solvers.common.fallback import fallback_result
from pytsp.solvers.options.fields import Options
from pytsp.solvers.registry import fields
from pytsp.utils.arguments import is_array, truth_value

# Solvers whose moves come from lists of near cities.
LISTING = ("eax", "ils", "large", "ants")


def read_instance(data: Any, options: dict[str, Any]) -> Instance:
    """Return the instance of data, and take the options of `pytsp.as_instance` out of `options`."""
    reading = {name: options.pop(name) for name in ("metric", "asymmetric", "columns") if name in options}
    if isinstance(data, Instance) and all(value in (None, False) for value in reading.values()):
        return data
    from pytsp.io.convert import as_instance  # noqa: PLC0415

    return as_instance(data, **reading)


def solve_instance(instance: Instance, request: Request) -> Result:
    """Solve an instance as `pytsp.solve` does."""
    is_open, is_bounded = truth_value("open", request.open), truth_value("bound", request.bound)
    instance = _with_fixed(instance, request.fixed)
    warn_of_rounding(instance)
    warn_of_cut_off([instance], is_open=is_open)
    solve = partial(solve_bounded, solve=_solve_few) if is_bounded else _solve_few
    start, end = (city_number(instance, name, getattr(request, name)) for name in ("start_city", "end_city"))
    request = _with_insertions(instance, replace(request, open=is_open, start_city=start, end_city=end))
    if is_open:
        return solve(instance, request)
    if end is not None:
        raise ValueError(f"end_city={end} has no effect with a closed tour; it is for open=True")
    if start is None:
        return solve(instance, request)
    return solve_within(instance, [FirstCity(instance, start)], request, solve)


def _solve_few(instance: Instance, request: Request) -> Result:
    """Solve an instance with few cities per place, if the solver allows."""
    if request.keep:
        return _kept(instance, request)
    check_reduced(instance, request)
    if instance.fixed is None and _takes_lists(instance, request):
        collapsed = Collapsed.of(instance, **request.ends, has_initial_tour=request.initial_tour is not None)
        if collapsed is not None:
            return solve_within(instance, [collapsed], request, solve_rescaled)
    return solve_rescaled(instance, request)


def _with_fixed(instance: Instance, fixed: Any) -> Instance:
    """Return an instance with other fixed edges, by numbers or labels, if they are given."""
    if fixed is None:
        return instance
    if isinstance(fixed, str) or not isinstance(fixed, Iterable):
        raise TypeError(f"fixed must be pairs of cities; it is {fixed!r:.60}")
    if not isinstance(fixed, np.ndarray):
        fixed = [_cities_of(instance, pair) for pair in fixed]
    made = replace(instance, fixed=fixed)
    if made.fixed is None and instance.fixed is None:
        return instance
    is_same = np.array_equal(made.fixed, instance.fixed)  # type: ignore[arg-type]
    # An optimum that is known is that with the instance's own.
    return made if is_same else without_optimum(made)


def _cities_of(instance: Instance, pair: Any) -> list[int]:
    """Return the numbers of the cities of a fixed edge."""
    if isinstance(pair, str) or not isinstance(pair, Iterable) or len(cities := [*pair]) != 2:
        raise ValueError(f"fixed must be pairs of cities; one is {pair!r:.60}")
    return [number for city in cities if (number := city_number(instance, "fixed", city)) is not None]


def _with_insertions(instance: Instance, request: Request) -> Request:
    """Return a request whose initial tour has all cities, if there is one."""
    if truth_value("keep", request.keep) and request.initial_tour is None:
        raise ValueError("keep=True keeps the initial tour; give initial_tour")
    if request.initial_tour is None or not is_partial(request.initial_tour, instance.n):
        return request
    tour = with_insertions(instance, request.initial_tour, is_open=request.open, **request.ends)
    return replace(request, initial_tour=tour)


def _kept(instance: Instance, request: Request) -> Result:
    """Return the initial tour unchanged."""
    if request.checkpoint is not None:
        raise ValueError("checkpoint has no effect with keep=True, which searches nothing")
    tour = check_tour(request.initial_tour, instance.n)  # type: ignore[arg-type]
    if request.open:
        check_ends(tour, request.start_city, request.end_city)
    if instance.fixed is not None:
        check_has_fixed(instance.fixed, tour, is_open=request.open)
    # The facts are those of a search without time.
    limits = Limits(patience=request.limits.patience)
    alone = replace(request, limits=limits, initial_tour=tour, progress=None, on_improvement=None)
    found = fallback_result(task_for(replace(instance, fixed=None), alone), None)
    return replace(Restater(instance, [], alone, is_measured=True).result(found), stop_reason="finished")


def _takes_lists(instance: Instance, request: Request) -> bool:
    """Tell whether the solver may be one that makes lists of near cities, and looks for moves along them."""
    solver = request.solver
    name = solver.name if isinstance(solver, Options) else solver
    if name == "auto" and request.keywords:
        concerned = [fields().get(each, {}) for each in request.keywords]
        if not any(all(solver in each for each in concerned) for solver in LISTING):
            return False
    if name == "large" and not is_located(instance):
        # It refuses the instance, however few cities there are.
        return False
    return name in ("auto", *LISTING) and not is_array(request.option("neighbours"))
