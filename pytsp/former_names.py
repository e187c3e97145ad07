"""The names that modules had up to version 0.1, when all lay in one folder: `pytsp.tsplib`, `pytsp.tours`, …"""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

MODULES = {
    "annealing": "pytsp.solvers.annealing",
    "ants": "pytsp.solvers.ants",
    "asymmetric": "pytsp.problem.asymmetric",
    "compare": "pytsp.api.compare",
    "distances": "pytsp.problem.metrics",
    "eax": "pytsp.solvers.eax",
    "forms": "pytsp.problem.kernel_input",
    "history": "pytsp.run.monitor",
    "ils": "pytsp.solvers.ils.solver",
    "inputs": "pytsp.io.convert",
    "instance": "pytsp.problem.instance",
    "large": "pytsp.solvers.large.solver",
    "many": "pytsp.api.many",
    "optima": "pytsp.problem.optima",
    "outputs": "pytsp.io.results",
    "paths": "pytsp.problem.open_paths",
    "plots": "pytsp.plotting.figures",
    "result": "pytsp.run.result",
    "search": "pytsp.solvers.restarts.solver",
    "tours": "pytsp.problem.tours",
    "tsplib": "pytsp.io.tsplib",
    "two_opt": "pytsp.solvers.two_opt",
}


class FormerNames:
    """Have `import pytsp.tsplib` give the module that is `pytsp.io.tsplib` now: a finder of modules, and their loader.

    It has no base class, since `importlib.abc` takes longer to import than all else here.
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, module = name.partition(".")
        known = package == "pytsp" and module in MODULES
        return ModuleSpec(name, self) if known else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(MODULES[spec.name.partition(".")[2]])
        # The import system is about to replace it.
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
