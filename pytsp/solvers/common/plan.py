"""The plan of a solve whose climbers are shared out: what depends on the machine is fixed before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytsp.run.state_reader import State

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """The number of climbers, how many keep a worker busy, and options that would depend on the worker else."""

    climbers: int
    busy: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def state(self) -> dict[str, Any]:
        """Return the plan as a checkpoint holds it."""
        return {"climbers": self.climbers, "busy": self.busy, "options": dict(self.options)}

    @classmethod
    def restored(cls, state: State) -> Plan:
        """Return the plan that a checkpoint holds."""
        said, options = state.part("options"), {}
        if "climbers" in said:
            options["climbers"] = said.whole("climbers", 1, 2**40)
        if "iterations" in said:
            options["iterations"] = said.whole("iterations")
        if "moves" in said:
            options["moves"] = said.text("moves")  # type: ignore[assignment]
        return cls(state.whole("climbers", 1, 2**40), state.whole("busy", 1), options)
