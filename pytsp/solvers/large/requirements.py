"""Which instances can be cut into pieces of a tour; light to import, as every solve asks."""

from __future__ import annotations

from collections.abc import Callable

from pytsp.problem.instance import Instance
from pytsp.problem.location import is_located, is_planar

LEAST_CITIES = 8
"""Fewer cities have no pieces; iterated local search takes them."""


def can_be_large(instance: Instance, on_the_cpu: Callable[[], bool]) -> bool:
    """Tell whether the solver "large" takes an instance: cities of the plane, and on a CPU of space and of spheres."""
    return is_planar(instance) or (is_located(instance) and on_the_cpu())
