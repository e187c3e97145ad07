"""Limits of a search as one object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytsp.utils.arguments import check_real

if TYPE_CHECKING:
    from pytsp.problem.instance import Instance


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a search, which ends at the first one that it reaches.

    `pytsp.solve` and `pytsp.resume` take all of them, `pytsp.solve_many` and `pytsp.lower_bound` a time limit only. The
    same names as keywords are a shorthand: ``solve(instance, time_limit=5)`` is
    ``solve(instance, limits=Limits(time_limit=5))``. Iterations are an option of each solver, such as `pytsp.ILS`.

    Parameters
    ----------
    time_limit : float, optional
        Seconds, more than 0, after which no further kernel call begins; see `pytsp.solve`.
    target : float, optional
        A length, at least 0. A tour of at most this length ends the search.
    target_gap : float, optional
        A fraction, at least 0. A tour that is longer than the known optimum by at most this fraction ends the search.
        With `bound` of `pytsp.solve` the lower bound takes the place of an unknown optimum.
    patience : float, optional
        Seconds, more than 0. The search ends if it has found no shorter tour for that long.

    Raises
    ------
    TypeError, ValueError
        If a limit is not a number in its range.

    Examples
    --------
    >>> import pytsp
    >>> square = pytsp.Instance.from_coordinates([[0, 0], [0, 9], [9, 9], [9, 0]])
    >>> limits = Limits(time_limit=60, target=36)
    >>> pytsp.solve(square, limits=limits).stop_reason
    'target'
    """

    time_limit: float | None = None
    target: float | None = None
    target_gap: float | None = None
    patience: float | None = None

    def __post_init__(self) -> None:
        kinds = {"target": "a length, at least 0", "target_gap": "a fraction, at least 0"}
        for name, value in vars(self).items():
            if value is not None:
                check_real(name, value)
                if not (value >= 0 if name in kinds else value > 0):
                    kind = kinds.get(name, "a positive number of seconds")
                    raise ValueError(f"{name} must be {kind}; it is {value!r}")

    @classmethod
    def of(cls, limits: Limits | None, **keywords: float | None) -> Limits:
        """Return the limits of a call: those of its `limits` and of its keywords, without any that is given twice."""
        given = {name: value for name, value in keywords.items() if value is not None}
        if limits is None:
            return cls(**given)
        if not isinstance(limits, Limits):
            raise TypeError(f"limits must be a pytsp.Limits; it is {limits!r:.60}")
        for name, value in given.items():
            if getattr(limits, name) is not None:
                raise ValueError(f"{name}={value!r} is also given by limits={limits!r}; give one of them")
        return replace(limits, **given)

    def only(self, name: str, function: str) -> Limits:
        """Return the limits of a function on which one limit has an effect; refuse others."""
        for other, value in vars(self).items():
            if other != name and value is not None:
                raise ValueError(f"{other}={value!r} has no effect with {function}, whose only limit is {name}")
        return self

    def with_target(self, instance: Instance) -> Limits:
        """Return the limits with a target in place of the gap to the instance's optimum."""
        gap, target, optimum = self.target_gap, self.target, instance.optimum
        if gap is None:
            return self
        if optimum is None:
            name = instance.name or "the instance"
            raise ValueError(f"target_gap={gap!r} needs the optimum, which is not known of {name}, or bound=True")
        length = (1 + gap) * optimum
        return replace(self, target=length if target is None else max(target, length), target_gap=None)
