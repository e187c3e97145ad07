"""A solve whose parts other processes search, as the loop of all solvers sees it."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.distributed.coordinator import Coordinator, Kept, Order
from pytsp.distributed.parts import Part, Parts
from pytsp.distributed.places import Places
from pytsp.distributed.plan import Plan, PlanAsk, plan
from pytsp.distributed.slices import Facts, Job
from pytsp.exceptions import KernelError
from pytsp.problem.tours import check_tour
from pytsp.run.result import Tasks
from pytsp.run.state_reader import State
from pytsp.solvers.common.incumbent import Best
from pytsp.solvers.common.loop import Found, Search
from pytsp.solvers.common.pacing import CALL_SECONDS
from pytsp.solvers.common.task import Task
from pytsp.solvers.options.fields import Options
from pytsp.utils.deadline import OutOfTime

__all__ = ["PartedSearch", "tree_of"]

# What a length that was recomputed may differ by, relatively, where distances are floating-point numbers.
ROUNDING = 1e-9


class PartedSearch(Search):
    """A solve in parts; it calls no kernel itself.

    Parameters
    ----------
    task : Task
        Its kernels are not opened.
    places : Places
        Where the parts are searched.
    placed : mapping
        Backend, threads and device that were asked for.
    options : Options
        What is asked of the parts, where that is more than what was asked of the solve.
    """

    def __init__(self, task: Task[Any], places: Places, placed: Mapping[str, Any], options: Options) -> None:
        # Not that of `Search`, which loads the instance onto a device.
        self.task, self.watch = task, task.watch
        kept = Kept()
        instance = kept.add(task.instance)
        known = (task.quick_tour, task.is_doubled)
        job = Job("", instance, options, task.seed, task.initial_tour, dict(placed), *known)
        self.job = replace(job, key=kept.add(job))
        self.coordinator = Coordinator(places, kept)
        self.parts = Parts(self.coordinator, self.job, self.watch)
        # The best of all parts, its length in the kernels' units, then as users see it; and what the searches are.
        self._best: Best | None = None
        self._length: int | float = float("inf")
        self.facts: Facts | None = None
        self.is_cut_short = False
        # Where the parts stood before what ends a solve, such as a last descent: iterations go on from there.
        self._kept_state: dict[str, Any] | None = None

    def ask_for_plan(self) -> Plan:
        """Have a worker say how the solve is to be cut.

        Raises
        ------
        OutOfTime
            If the time is over before it does.
        """
        places = self.coordinator.places.current()
        ask = PlanAsk(self.job.key, len(places), self.watch.time_limit, self.watch.seconds)
        self.coordinator.give(places[0], Order("the plan of the solve", plan, ask))
        while True:
            for _, _, found in self.coordinator.wait(CALL_SECONDS):
                planned: Plan = found
                return planned
            if self.watch.seconds_left <= 0:
                self.coordinator.end(0.0)
                raise OutOfTime

    @property
    def best(self) -> Best | None:
        return self._best

    @property
    def length(self) -> int | float:
        return self._length

    @property
    def resolution(self) -> float:
        if self.facts is None or self.task.instance.is_exact:
            return 0.0
        return float(np.ldexp(1.0, self.facts.exponent))

    @property
    def phase(self) -> str:  # type: ignore[override]
        return "" if self.facts is None else self.facts.phase

    @property
    def backend_name(self) -> str:
        return "" if self.facts is None else self.facts.backend

    @property
    def workers(self) -> int:
        return len(self.coordinator.places.current())

    @property
    def tasks(self) -> Tasks:
        return self.coordinator.tasks

    def take(self, part: Part) -> None:
        """Take what was told of a part: its best tour, if none is better."""
        self.is_cut_short = self.is_cut_short or part.reason == "time limit"
        told = part.told
        if told is None or part.tour is None:
            return
        self.facts = told.facts
        if told.tour is None:
            # It was taken when it was told.
            return
        self.offer(Best(*told.best, part.tour), told.length)

    def offer(self, best: Best, length: int | float) -> None:
        """Take a tour, in the instance's numbers, if none is better; of equals that of the smallest climber, and what
        it had last."""
        if self._best is None or (best.length, best.climber) <= (self._best.length, self._best.climber):
            self._best, self._length = best, length

    @property
    def iterations(self) -> int | None:  # type: ignore[override]
        return None if self.facts is None else self.facts.iterations

    def told(self) -> dict[str, Any]:
        """Return what a checkpoint holds of every solve in parts, for `recall_told`."""
        best = self._best
        if best is None or self.facts is None:
            return {"best": None}
        return {"best": best.state(), "length": self._length, "facts": vars(self.facts)}

    def recall_told(self, state: State) -> None:
        """Take what a checkpoint holds of the best tour."""
        if "best" not in state:
            return
        self._best = Best.restored(state.part("best"), self.task.instance.n)
        self._length = state.number("length")
        said = state.part("facts")
        self.facts = Facts(
            backend=said.text("backend"),
            mapping=said.text("mapping"),
            k=said.optional_whole("k"),
            exponent=said.whole("exponent", -(2**12), 2**12),
            is_shortened=said.flag("is_shortened"),
            phase=said.text("phase"),
            iterations=said.optional_whole("iterations"),
        )

    def stop_reason(self) -> str | None:
        reason = self.watch.stop_reason() if self.has_begun else None
        return "time limit" if reason is None and self.is_cut_short else reason

    def advance(self) -> None:
        """Hand out what waits, and hear what is told in a fraction of a second."""
        self.absorb(self.parts.go_on(min(CALL_SECONDS, max(0.0, self.watch.seconds_left))))

    def absorb(self, parts: list[Part]) -> None:
        """Take what was told of some parts."""
        for part in parts:
            self.take(part)

    def keep_state(self) -> None:
        """Have the state that a checkpoint gets in the end be that of now."""
        if self.watch.checkpoint is not None and self._kept_state is None:
            self._kept_state = self.state_now()

    def state(self) -> dict[str, Any]:
        return self._kept_state or self.state_now()

    @abstractmethod
    def state_now(self) -> dict[str, Any]:
        """Return where the parts stand."""

    def found(self) -> Found:
        self.absorb(self.parts.end(at_limit=self.stop_reason() == "time limit"))
        return self.gathered()

    @abstractmethod
    def gathered(self) -> Found:
        """Return what all parts came to, as far as it is known."""

    def checked(self, found: Found) -> tuple[NDArray[np.int32], int | float, NDArray[Any]]:
        facts, instance = self.facts, self.task.instance
        assert facts is not None
        tour = check_tour(found.best.tour, instance.n)
        length = instance.tour_length(tour)
        if length != self._length and not (
            isinstance(length, float) and abs(length - self._length) <= ROUNDING * abs(length)
        ):
            raise KernelError(
                f"a worker on backend {facts.backend} reports length {self._length} for the tour of climber "
                f"{found.best.climber} of seed {self.task.seed}, but its length is {length}: its kernels are "
                "miscompiled; please report this"
            )
        lengths: NDArray[Any] = found.lengths
        if facts.exponent or not instance.is_exact:
            lengths = np.ldexp(lengths.astype(np.float64), facts.exponent)
        return tour, length, np.maximum(lengths, length) if facts.is_shortened else lengths


def tree_of(state: bytes | None) -> Any:
    """Return a part's state as a tree of arrays and numbers, as a checkpoint holds it."""
    return None if state is None else pickle.loads(state)
