"""Solves of an instance in the place of another: each step maps a tour of the first to one of the second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytsp.api.collapsed import Collapsed
from pytsp.checkpoint.content import instance_of, stored_instance
from pytsp.checkpoint.reader import Stored
from pytsp.problem.fixed_edges import FixedEdges
from pytsp.problem.instance import Instance
from pytsp.run.monitor import Improved, Progress
from pytsp.run.result import Result
from pytsp.run.state_reader import State

__all__ = ["FirstCity", "Step", "WithFixedEdges", "restate_result", "restating", "steps_of", "stored_step"]

# Relatively, what the kernel's lengths of floating-point distances may differ by at most.
ROUNDING = 1e-6

Seen = TypeVar("Seen", Progress, Improved)


class Step(Protocol):
    """The map from the instance that is solved to the one that is given."""

    @property
    def original(self) -> Instance:
        """The instance that is given."""

    @property
    def offset(self) -> int | float:
        """The length that a tour of the original has more."""

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour of the original for one of the instance that is solved."""


@dataclass(frozen=True, eq=False)
class FirstCity:
    """A closed tour that is to begin with a given city."""

    original: Instance
    city: int
    offset: int = 0

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour from that city on."""
        return np.roll(tour, -int(np.argmax(tour == self.city)))


@dataclass(frozen=True, eq=False)
class WithFixedEdges:
    """Closed tours with fixed edges, which are solved as tours that keep pairs together."""

    fixed: FixedEdges

    @property
    def original(self) -> Instance:
        """The instance with fixed edges."""
        return self.fixed.original

    @property
    def offset(self) -> int | float:
        """The length that a tour of the original has more."""
        return -self.fixed.offset

    def restate(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour with all fixed edges."""
        return self.fixed.restate(tour)


def restating(callback: Callable[[Seen], object] | None, steps: Sequence[Step]) -> Callable[[Seen], object] | None:
    """Return a callback that receives the tours of the instance that is solved; `steps` begin with the outermost."""
    if callback is None or not steps:
        return callback

    offset = sum(step.offset for step in steps)

    def call(now: Seen) -> object:
        return callback(now.restated(now.length + offset, lambda: restate_tour(now.tour, steps)))

    return call


def restate_tour(tour: NDArray[np.int32], steps: Sequence[Step]) -> NDArray[np.int32]:
    """Return the tour of the outermost instance."""
    for step in reversed(steps):
        tour = step.restate(tour)
    return tour


def restate_result(result: Result, step: Step) -> Result:
    """Return a result of the instance that is solved as one of the original."""
    tour = step.restate(result.tour)
    measure = step.original.path_length if result.is_open else step.original.tour_length
    optimum = None if result.is_open else step.original.optimum
    length = measure(tour)
    history = tuple(each._replace(length=each.length + step.offset) for each in result.history)
    lengths: NDArray[Any] = result.lengths + step.offset
    if history and length < history[-1].length * (1 if step.original.is_exact else 1 - ROUNDING):
        # A search that was cut short left a pair apart; joined, its tour is shorter.
        history += (history[-1]._replace(length=length),)
        lengths[np.argmin(lengths)] = length
    return replace(
        result,
        instance=replace_optimum(step.original, optimum),
        tour=tour,
        length=length,
        lengths=lengths,
        history=history,
    )


def replace_optimum(instance: Instance, optimum: int | float | None) -> Instance:
    """Return the instance with this optimum; itself where that is its own."""
    return instance if instance.optimum == optimum else replace(instance, optimum=optimum)


def stored_step(step: Step) -> dict[str, Any]:
    """Return a step as a checkpoint holds it."""
    if isinstance(step, Collapsed):
        kept, owner = step.kept, step.owner
        return {"instance": stored_instance(step.original), "kept": kept, "owner": owner, "offset": step.offset}
    if isinstance(step, WithFixedEdges):
        return {"instance": stored_instance(step.original)}
    assert isinstance(step, FirstCity)
    return {"city": step.city}


def steps_of(stored: Stored) -> list[Step]:
    """Return the steps that a checkpoint holds, the outermost first.

    Raises
    ------
    CheckpointError
        If they are none.
    """
    inner, steps = stored.instance, list[Step]()
    for state in reversed(stored.steps):
        step = _step_of(state, inner)
        inner = step.original
        steps.insert(0, step)
    return steps


def _step_of(state: State, inner: Instance) -> Step:
    """Return a step that leads to the instance `inner`."""
    if "city" in state:
        return FirstCity(inner, state.whole("city", 0, inner.n - 1))
    original = instance_of(state.part("instance"))
    if original.fixed is not None:
        return WithFixedEdges(FixedEdges.of(original))
    kept = state.array("kept", np.int32, (inner.n,))
    owner = state.array("owner", np.int32, (original.n,))
    if not np.array_equal(np.unique(kept[(kept >= 0) & (kept < original.n)]), kept):
        raise state.wrong("kept", f"cities from 0 to {original.n - 1} that ascend", kept)
    if not np.array_equal(np.unique(owner), np.arange(inner.n)) or not np.array_equal(kept[owner[kept]], kept):
        raise state.wrong("owner", f"kept cities from 0 to {inner.n - 1}, each its own", owner)
    return Collapsed(original, inner, kept, owner, offset=state.whole("offset"))
