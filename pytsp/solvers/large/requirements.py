"""Which instances can be cut into pieces of a tour; light to import, as every solve asks."""

from __future__ import annotations

from pytsp.problem.instance import Instance
from pytsp.problem.location import is_located

LEAST_CITIES = 8
"""Fewer cities have no pieces; iterated local search takes them."""


def can_be_large(instance: Instance) -> bool:
    """Tell whether the solver "large" takes an instance: cities of the plane, of space and of spheres."""
    return is_located(instance)
