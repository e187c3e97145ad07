"""Solve with a lower bound: before the search where that stops near it, else behind, within one time limit."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pytsp.api.dispatch import options_of, watch_of
from pytsp.api.steps import Request
from pytsp.bound.bound import PROOFS, Ascent
from pytsp.bound.certificate import Certificate
from pytsp.bound.graphs import Kind
from pytsp.checkpoint.content import Bounded
from pytsp.exceptions import PytspError
from pytsp.problem.instance import Instance
from pytsp.run.limits import Limits
from pytsp.run.monitor import Progress, Watch
from pytsp.run.result import Result

# The part of the time limit that is kept for the bound, and the seconds that an ascent takes besides its proofs.
SHARE, LONGEST_SECONDS = 0.2, 10.0
# Seconds left for a tour after an interrupted bound.
_QUICK_SECONDS = 0.1

_log = logging.getLogger("pytsp")


def solve_bounded(instance: Instance, request: Request, solve: Callable[[Instance, Request], Result]) -> Result:
    """Solve an instance, and bound its tours or paths."""
    kind = Kind(request.open, request.start_city, request.end_city)
    # Arguments are checked before the work.
    ascent = Ascent(instance, kind)
    # TSPLIB's optimum is that of a closed tour, which is all that the gap may be measured against.
    gap = None if instance.optimum is not None and not request.open else request.limits.target_gap
    limits = request.limits if gap is None else replace(request.limits, target_gap=None)
    whole = limits.time_limit
    watch = watch_of(instance, replace(request, limits=limits))
    options_of(instance, request, watch)
    searching = search_seconds(ascent, whole)
    if gap is None:
        limits = replace(limits, time_limit=searching)
        result = solve(instance, replace(request, bound=False, limits=limits, bounded=Bounded(whole)))
        return bound_result(result, ascent.kind, whole, request.progress)
    seconds = None if whole is None else whole - searching  # type: ignore[operator]
    certificate = _climb(ascent, watch, seconds, math.inf, _no_tour)
    bounded = Bounded(whole)
    if certificate is not None:
        bounded, limits = nearer(replace(bounded, lower_bound=certificate.bound), limits, gap)
    if ascent.stop_reason is not None:
        # The search then comes to a tour that takes next to no time.
        limits = replace(limits, time_limit=watch.seconds + _QUICK_SECONDS)
    result = solve(instance, replace(request, bound=False, limits=limits, bounded=bounded))
    reason = ascent.stop_reason or result.stop_reason
    result = replace(result, seconds=watch.seconds, stop_reason=reason)
    return result if certificate is None else tell_bound(result, bounded)


def nearer(bounded: Bounded, limits: Limits, gap: float) -> tuple[Bounded, Limits]:
    """Return the bound and the limits with the length that is longer than the bound by the fraction `gap`."""
    bound = bounded.lower_bound
    assert bound is not None
    # Whole numbers of more than 53 bits stay what they are.
    near = bound if gap == 0 else (1 + gap) * bound
    target = near if limits.target is None else max(limits.target, near)
    return replace(bounded, near=near), replace(limits, target=target, target_gap=None)


def tell_bound(result: Result, bounded: Bounded) -> Result:
    """Return a result with the bound that was known before the search."""
    is_near = bounded.near is not None and result.stop_reason == "target" and result.length <= bounded.near
    reason = "proven" if is_near else result.stop_reason
    return replace(result, lower_bound=bounded.lower_bound, stop_reason=reason)


def search_seconds(ascent: Ascent, time_limit: float | None) -> float | None:
    """Return how much of a time limit the search may take."""
    if time_limit is None:
        return None
    kept = min(SHARE * time_limit, LONGEST_SECONDS + PROOFS * ascent.proof_seconds)
    # Time that does not suffice for a proof goes to the search.
    return time_limit if kept < ascent.proof_seconds else time_limit - kept


def bound_result(
    result: Result, kind: Kind, time_limit: float | None, progress: Callable[[Progress], object] | None
) -> Result:
    """Return a result with the bound that is found in what is left of the time; neither costs anybody the tour."""
    if result.stop_reason in ("interrupted", "callback"):
        return result
    watch = Watch(time_limit=time_limit, progress=progress, spent=result.seconds)
    seconds = None if time_limit is None else watch.seconds_left
    certificate = None
    try:
        ascent = Ascent(replace(result.instance, optimum=None), kind)
        certificate = _climb(ascent, watch, seconds, result.length, result.tour.copy)
    except KeyboardInterrupt:
        _log.info("no bound: it was interrupted before there was one")
    except (PytspError, MemoryError) as error:
        _log.warning("no bound: %s", error)
    return replace(result, seconds=watch.seconds, lower_bound=None if certificate is None else certificate.bound)


def _climb(
    ascent: Ascent, watch: Watch, seconds: float | None, length: int | float, find: Callable[[], NDArray[np.int32]]
) -> Certificate | None:
    """Return the best certificate within the seconds, and report progress; None if there is no time for one."""
    proofs = 0

    def tell(now: Certificate) -> bool:
        nonlocal proofs
        proofs += 1
        watch.tell("lower bound", length, find, iteration=proofs, lower_bound=now.bound)
        return watch.is_stop_requested

    ascent.progress = None if watch.progress is None else tell
    began = time.perf_counter()
    certificate = ascent.run() if seconds is None else ascent.run_within(seconds)
    took = time.perf_counter() - began
    if certificate is None:
        _log.warning("no bound: %.3g s do not suffice for its proof", max(0.0, seconds or 0.0))
    else:
        _log.info("no %s is shorter than %s; that took %.2f s", ascent.kind.noun, certificate.bound, took)
    return certificate


def _no_tour() -> NDArray[np.int32]:
    raise ValueError("there is no tour yet: the bound comes first")
