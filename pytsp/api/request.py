"""Arguments of a solve besides its instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from pytsp.run.limits import Limits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from pytsp.api.bounded import Bounded
    from pytsp.api.steps import Step
    from pytsp.run.monitor import Improved, Progress
    from pytsp.solvers.options.fields import Options

__all__ = ["HERE", "Request"]

HERE: Mapping[str, Any] = {"backend": "auto", "threads": None, "device": None}
"""The placement of a solve by default."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `pytsp.solve` that concern every solver, and `keywords`, the options of its solver.

    `began` is when the solve did, by the clock of `time.perf_counter`. `start_city` and `end_city` are labels until the
    instance is read, and `fixed` replaces its edges then. `placement` has the backend, its threads and its device;
    `executor` and `devices` are as `pytsp.distributed.coordinator.places_of` takes them. `quick_tour` and `is_doubled`
    are those of a `Task`. A checkpoint holds `bounded`, and `steps`: these lead from the user's instance to the one
    that is solved, the outermost first.
    """

    solver: str | Options = "auto"
    open: bool = False
    start_city: Any = None
    end_city: Any = None
    fixed: Any = None
    seed: int | None = 0
    placement: Mapping[str, Any] = field(default_factory=lambda: HERE)
    limits: Limits = Limits()
    bound: bool = False
    initial_tour: ArrayLike | None = None
    keep: bool = False
    checkpoint: str | PathLike[str] | None = None
    checkpoint_interval: float = 30.0
    progress: Callable[[Progress], object] | None = None
    on_improvement: Callable[[Improved], object] | None = None
    executor: Any = None
    devices: Any = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    began: float
    quick_tour: Callable[[float], NDArray[np.int32]] | None = None
    is_doubled: bool = False
    bounded: Bounded | None = None
    steps: tuple[Step, ...] = ()

    @property
    def ends(self) -> dict[str, int | None]:
        """The ends of an open path; none for closed tours."""
        return {"start_city": self.start_city, "end_city": self.end_city} if self.open else {}

    def option(self, name: str) -> Any:
        """Return an option of the solver, if it is given."""
        return self.keywords.get(name, getattr(self.solver, name, None))
