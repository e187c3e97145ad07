"""Arguments of a solve besides its instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from pytsp.api.bounded import Bounded
    from pytsp.api.restating import Step
    from pytsp.run.monitor import Improved, Progress
    from pytsp.solvers.options.fields import Options

__all__ = ["Request"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `pytsp.solve` that concern every solver, and `keywords`, the options of its solver.

    `reading` is how data are read that are no instance yet, as `pytsp.as_instance` takes it; `began` is when the solve
    did, by the clock of `time.perf_counter`; `executor` and `devices` are as `pytsp.distributed.coordinator.places_of`
    takes them. `fixed` are the edges that are given in place of the instance's. `given_ends` are numbers or labels,
    `start_city` and `end_city` the numbers, once the instance is read. `quick_tour` and `is_doubled` are those of a
    `Task`, and `bounded` what a checkpoint is to hold of the bound; `steps` lead from the user's instance to the one
    that is solved, the outermost first.
    """

    reading: Mapping[str, Any] = field(default_factory=dict)
    solver: str | Options = "auto"
    fixed: Any = None
    open: bool = False
    given_ends: tuple[int | str | None, int | str | None] = (None, None)
    start_city: int | None = None
    end_city: int | None = None
    seed: int | None = 0
    backend: str = "auto"
    threads: int | None = None
    device: str | int | None = None
    time_limit: float | None = None
    target: float | None = None
    target_gap: float | None = None
    patience: float | None = None
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
