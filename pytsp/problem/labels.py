"""Cities by their labels."""

from __future__ import annotations

from typing import Any

from pytsp.problem.instance import Instance
from pytsp.utils.arguments import whole_number
from pytsp.utils.suggestions import hint


def city_number(instance: Instance, name: str, value: Any) -> int | None:
    """Return the number of a city that the argument `name` gives by its number or its label; None for None."""
    if value is None:
        return None
    if not isinstance(value, str):
        return whole_number(name, value, 0, instance.n - 1)
    if instance.labels is None:
        raise ValueError(
            f"{name}={value!r} is a label, but the cities of {instance.name or 'the instance'} have none; give a "
            f"number from 0 to {instance.n - 1}"
        )
    found = [city for city, label in enumerate(instance.labels) if label == value]
    if not found:
        raise ValueError(f"{name}={value!r} is no city's label{hint(value, instance.labels)}")
    if len(found) > 1:
        numbers = ", ".join(map(str, found[:3])) + (", …" if len(found) > 3 else "")
        raise ValueError(f"{name}={value!r} is the label of {len(found)} cities; give the number of one: {numbers}")
    return found[0]
